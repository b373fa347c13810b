package ui

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cordboard/core"
	"cordboard/core/proptest"
	"cordboard/store/bolt"
)

// header is the first line of the screen.
func (c *console) header() string { return splitLines(c.view())[0] }

// inTree are the sessions that stand in the tree's rows, sorted.
func (c *console) inTree() []string {
	keys := c.m.tree.between(0, len(c.m.tree.rows)-1)
	slices.Sort(keys)
	return keys
}

// listed are the keys that sessions_list, archived ones included, tells a session, sorted; `main` is written out.
func listed(t tester, b core.Board, as string) []string {
	t.Helper()
	var keys []string
	for before := ""; ; {
		params := map[string]any{"includeArchived": true, "limit": 7}
		if before != "" {
			params["before"] = before
		}
		raw, err := json.Marshal(params)
		require.NoError(t, err)
		result, err := b.Call(t.Context(), core.ToolCall{As: as, Tool: "sessions_list", Params: raw})
		require.NoError(t, err)
		require.Nil(t, result.Refused)
		var page struct {
			Sessions   []struct{ Key string }
			NextBefore string
		}
		require.NoError(t, json.Unmarshal(result.Body, &page))
		for _, s := range page.Sessions {
			if s.Key == "main" {
				agent, _, _ := strings.Cut(strings.TrimPrefix(as, "agent:"), ":")
				s.Key = "agent:" + agent + ":main"
			}
			keys = append(keys, s.Key)
		}
		if before = page.NextBefore; before == "" {
			slices.Sort(keys)
			return keys
		}
	}
}

// An operator asks what the main session's agent sees: the header names the eyes, the rest is dimmed with the rule that hides it, d leaves
// it out, and then the tree is sessions_list of that session.
func TestLookThroughASession(t *testing.T) {
	board, _ := engineOn(t, true)
	c := newConsole(t, board, 160, 45)
	require.Contains(t, c.header(), "as operator   scope all")
	c.press("V")
	require.Contains(t, c.header(), "looking as agent:main:main · scope tree · 20 hidden")
	require.Len(t, c.inTree(), 23)
	require.Equal(t, 20, strings.Count(c.pane(paneTree), " hidden"))

	c.open("agent:ops:main")
	require.Contains(t, c.pane(paneInspector), "Hidden from")
	require.Contains(t, c.pane(paneInspector), "rule      visibility and\n           agentToAgent")
	require.Contains(t, c.pane(paneInspector), " opened by\n tools.sessions.visibility\n")
	require.Contains(t, c.view(), "hidden from agent:main:main", "the transcript can be read, and says whose eyes it is not for")
	require.NotEmpty(t, c.m.trans.lines)

	c.press("d")
	require.Equal(t, listed(t, board, "agent:main:main"), c.inTree())
	require.Len(t, c.inTree(), 3)
	require.Contains(t, c.header(), "1 agent · 3 sessions")
	c.open("agent:main:main")
	c.press("V")
	require.Contains(t, c.header(), "as operator", "V on the viewpoint is the way back")
	require.Len(t, c.inTree(), 23)
	c.press("V", "/")
	c.typed("sweep")
	c.press("enter", "esc")
	require.Contains(t, c.header(), "filter: none")
	require.Contains(t, c.header(), "looking as")
	c.press("esc")
	require.Contains(t, c.header(), "as operator", "esc goes back one step at a time")
}

// v tries the four scopes one after the other; the header tells the configured one, and what a sandbox makes of it.
func TestTryScopes(t *testing.T) {
	_, store := engineOn(t, true)
	board := boardOver(t, store, `tools: {sessions: {visibility: "all"}}, agents: {defaults: {sandbox: {mode: "all"}}}`, core.Operator)
	c := newConsole(t, board, 160, 45)
	c.press("v")
	require.Contains(t, c.footer(), "the operator sees everything: V looks through this session's eyes, L through another's")
	c.press("V")
	require.Contains(t, c.header(), "scope all → tree (sandbox) · 20 hidden")
	c.press("v")
	require.Contains(t, c.header(), "scope self (config: all) · 22 hidden")
	c.press("v")
	require.Contains(t, c.header(), "scope tree (config: all) · 20 hidden")
	c.press("v")
	require.Contains(t, c.header(), "scope agent → tree (sandbox, config: all) · 20 hidden")
	c.press("v")
	require.Contains(t, c.header(), "scope all → tree (sandbox) · 20 hidden")
	c.press("v")
	for w := minWidth; w <= 170; w++ {
		header := c.headerAt(w)
		require.Contains(t, header, "22 hidden", "width %d", w)
		if w >= mediumWidth {
			require.True(t, strings.HasSuffix(header, " filter: none "), "width %d: %q", w, header)
		}
	}
}

func (c *console) headerAt(w int) string {
	c.send(tea.WindowSizeMsg{Width: w, Height: 24})
	return c.header()
}

// For any fleet, config, viewpoint and scope, what is in the tree is what that session's sessions_list tells.
func TestTheTreeIsWhatTheToolsShow(t *testing.T) {
	agents := []string{"main", "ops", "Ghost"}
	proptest.Check(t, func(rt *rapid.T) {
		store, err := bolt.Open(bolt.Options{Dir: t.TempDir()})
		require.NoError(rt, err)
		defer store.Close()
		var keys []string
		var fleet []core.Session
		for i := range rapid.IntRange(1, 14).Draw(rt, "sessions") {
			key := fmt.Sprintf("agent:%s:%s", strings.ToLower(rapid.SampledFrom(agents).Draw(rt, "agent")), rapid.SampledFrom([]string{
				"main", "subagent:", "telegram:group:", "cron:",
			}).Draw(rt, "kind"))
			if strings.HasSuffix(key, ":") {
				key += fmt.Sprint(i)
			}
			s := core.Session{Key: key, UpdatedAt: int64(rapid.IntRange(0, 3).Draw(rt, "at"))}
			if len(keys) > 0 && rapid.Bool().Draw(rt, "spawned") {
				s.SpawnedBy = rapid.SampledFrom(keys).Draw(rt, "parent")
			}
			if rapid.IntRange(0, 3).Draw(rt, "archive") == 0 {
				s.ArchivedAt = 5
			}
			keys, fleet = append(keys, key), append(fleet, s)
		}
		sessionsIn(rt, store, fleet...)
		text := fmt.Sprintf(`agents: {defaults: {sandbox: {mode: %q, sessionToolsVisibility: %q}}}, tools: {subagents: {tools: {allow: ["sessions_list"]}}, agentToAgent: {enabled: %t, allow: %s}, `,
			rapid.SampledFrom([]string{"off", "all", "non-main"}).Draw(rt, "sandbox"), rapid.SampledFrom([]string{"spawned", "all"}).Draw(rt, "clamp"),
			rapid.Bool().Draw(rt, "a2a"), rapid.SampledFrom([]string{`[]`, `["main"]`, `["main", "o*"]`}).Draw(rt, "allow"))
		scope := rapid.SampledFrom(core.Visibilities).Draw(rt, "scope")
		configured := boardOver(rt, store, text+fmt.Sprintf(`sessions: {visibility: %q}}`, scope), core.Operator)
		other := boardOver(rt, store, text+`sessions: {visibility: "self"}}`, core.Operator)
		viewpoint := rapid.SampledFrom(keys).Draw(rt, "viewpoint")
		want := listed(rt, configured, viewpoint)

		c := newConsole(rt, configured, 80, 24)
		c.press("a", "d")
		c.run(c.m.lookAs(viewpoint, ""))
		c.press("d")
		require.Equal(rt, want, c.inTree(), "as configured")
		require.Equal(rt, len(c.m.fleet.heads)-len(want), c.m.tree.forest.hidden)

		tried := newConsole(rt, other, 80, 24)
		tried.press("a")
		tried.run(tried.m.lookAs(viewpoint, scope))
		require.Equal(rt, want, slices.DeleteFunc(tried.inTree(), func(key string) bool { return !tried.m.sight.sees(key) }), "as tried, dimmed")
		for _, key := range tried.inTree() {
			if !tried.m.sight.sees(key) {
				require.NotEmpty(rt, tried.m.sight.hidden[key].Rule)
				require.NotEmpty(rt, tried.m.sight.hidden[key].Message)
			}
		}
	})
}

// Sessions that come while one looks through a session's eyes are hidden until the board has told of them, and then shown as it tells.
func TestTheSightStaysTrue(t *testing.T) {
	board, store := engineOn(t, true)
	c := newConsole(t, board, 120, 40)
	c.press("V", "d")
	require.Len(t, c.inTree(), 3)
	sessionsIn(t, store, core.Session{Key: "agent:ops:subagent:new", SpawnedBy: "agent:main:main", UpdatedAt: 1}, core.Session{Key: "agent:ops:other", UpdatedAt: 1})
	c.live()
	require.Len(t, c.inTree(), 3, "nothing is shown before it is known to be seen")
	c.elapse(lookGap)
	require.Equal(t, listed(t, board, "agent:main:main"), c.inTree())
	require.Contains(t, c.inTree(), "agent:ops:subagent:new")
	require.Contains(t, c.header(), "21 hidden")
}

// A viewpoint that is deleted is no longer looked through, and the operator is told.
func TestTheViewpointIsDeleted(t *testing.T) {
	board, store := engineOn(t, true)
	c := newConsole(t, board, 120, 40)
	c.open("agent:research:main")
	c.press("V")
	require.Contains(t, c.header(), "looking as agent:research:main")
	_, err := store.Update(t.Context(), func(tx core.Tx) error { return tx.DeleteSession("agent:research:main") })
	require.NoError(t, err)
	c.live()
	c.elapse(lookGap)
	require.Contains(t, c.header(), "as operator")
}

// L chooses the eyes: the operator stands first, then the session under the cursor, and typing finds any other.
func TestPickAViewpoint(t *testing.T) {
	board, _ := engineOn(t, true)
	c := newConsole(t, board, 120, 40)
	c.press("L")
	require.Contains(t, c.view(), "the operator, who sees everything")
	require.Regexp(t, "▌ · Mira +this session · agent:main:main", c.view())
	c.press("enter")
	require.Contains(t, c.header(), "looking as agent:main:main")
	c.press("L")
	c.typed("ops desk")
	c.press("enter")
	require.Contains(t, c.header(), "looking as agent:ops:main")
	c.press("L")
	require.Contains(t, c.view(), "▌ the operator", "the way back is one key")
	c.typed("zzz")
	require.Contains(t, c.view(), "no session matches")
	c.press("enter", "esc")
	require.Contains(t, c.header(), "looking as agent:ops:main", "nothing chosen, nothing changed")
	c.press("L", "enter")
	require.Contains(t, c.header(), "as operator")
}

// X tells what each tool would say, from the code the tools ask; the panel goes on to other targets, other scopes and the other way.
func TestRights(t *testing.T) {
	_, store := engineOn(t, false)
	sessionsIn(t, store, core.Session{Key: "agent:main:main", UpdatedAt: 3}, core.Session{Key: "agent:ops:main", UpdatedAt: 2},
		core.Session{Key: "agent:main:telegram:group:1", UpdatedAt: 1, SendPolicy: core.SendDeny})
	board := boardOver(t, store, `agents: {list: [{id: "main", default: true, subagents: {allowAgents: ["main"]}}, {id: "ops"}]}`, core.Operator)
	c := newConsole(t, board, 160, 45)
	c.open("agent:ops:main")
	c.press("X")
	require.Contains(t, c.view(), "Rights of which session?")
	c.typed("main:main")
	c.press("enter")
	require.Equal(t, 4, strings.Count(c.view(), "✗ refused"))
	require.Contains(t, c.view(), "tools.agentToAgent")
	require.Contains(t, c.view(), "allowAgents")
	c.press("x")
	require.Contains(t, c.view(), "caller    agent:ops:main")
	c.press("x", "v")
	require.Contains(t, c.view(), "agent, tried")
	c.press("[")
	require.Contains(t, c.view(), "target    agent:main:telegram:group:1")
	require.Equal(t, 3, strings.Count(c.view(), "✓ allowed"), "list, history and spawn; send is denied by the session's own policy")
	require.Contains(t, c.view(), "session override")
	c.press("esc")
	require.Empty(t, c.m.layers)
}

// The panel's verdicts are Explain's, for every pair.
func TestRightsAreExplains(t *testing.T) {
	board, _ := engineOn(t, true)
	c := newConsole(t, board, 160, 45)
	for _, caller := range []string{"agent:main:main", "agent:research:main", "agent:ops:main"} {
		for _, target := range c.inTree() {
			c.open(target)
			c.run(c.m.lookAs(caller, ""))
			c.press("X")
			x, err := board.Explain(t.Context(), core.Question{Rights: &core.SeeQuestion{Caller: caller, Target: target}})
			require.NoError(t, err)
			shown := c.m.top().(*rights).answer
			require.Equal(t, x, *shown)
			refused := 0
			for _, r := range x.Rights {
				if !r.Verdict.Allowed {
					refused++
				}
			}
			require.Equal(t, refused, strings.Count(c.view(), "✗ refused"))
			c.press("enter")
		}
	}
}

// A board that is a session's own has no other eyes, and says so.
func TestOnlyTheOperatorLooks(t *testing.T) {
	_, store := engineOn(t, true)
	c := newConsole(t, boardOver(t, store, "", core.Actor{Kind: core.ActorSession, Session: "agent:main:main"}), 120, 40)
	for _, key := range []string{"V", "L", "X"} {
		c.press(key)
		require.Equal(t, "only the operator looks through another session's eyes", c.footer())
	}
}

// The answer to a question that was overtaken is dropped, and a failure leaves the eyes as they were.
func TestStaleSight(t *testing.T) {
	board, _ := engineOn(t, true)
	c := newConsole(t, board, 120, 40)
	c.press("V")
	c.send(sightMsg{number: c.m.looking.number - 1, sight: sight{viewpoint: "agent:old:main"}})
	require.Contains(t, c.header(), "looking as agent:main:main")
	c.run(c.m.lookAs("nobody-has-this-id", ""))
	require.Contains(t, c.header(), "looking as agent:main:main")
	require.Contains(t, c.view(), "cannot look as nobody-has-this-id")
}

// Ten thousand sessions are looked at in pages, and a head that the board does not tell of is asked for again.
func TestUnasked(t *testing.T) {
	c := newConsole(t, fleetOf(3), 80, 24)
	all := map[string]bool{"agent:main:s00": true, "agent:main:s01": true}
	require.True(t, c.m.unasked(sight{seen: all}))
	require.False(t, c.m.unasked(sight{seen: all, hidden: map[string]core.Verdict{"agent:main:s02": {}}}))
}
