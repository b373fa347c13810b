package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cordboard/core"
	"cordboard/core/config"
	"cordboard/core/engine"
	"cordboard/core/proptest"
	"cordboard/store/bolt"
)

// C50-C67 and the sandbox clamp, through the tools: what a caller lists and how a hidden session refuses.
func TestScopes(t *testing.T) {
	fleet := []core.Session{
		session("agent:main:main"), session("agent:main:telegram:group:1"), session("agent:main:discord:direct:someone-else"),
		session("agent:main:subagent:c", spawnedBy("agent:main:main")), session("agent:ghost:subagent:x", spawnedBy("agent:main:main")),
		session("agent:main:subagent:g", spawnedBy("agent:main:subagent:c")), session("agent:ops:main"),
	}
	self := []string{"main"}
	tree := []string{"main", "agent:main:subagent:c", "agent:ghost:subagent:x"}
	agent := []string{"main", "agent:main:telegram:group:1", "agent:main:discord:direct:someone-else", "agent:main:subagent:c", "agent:main:subagent:g"}
	all := append(slices.Clone(agent[:4]), "agent:ghost:subagent:x", "agent:main:subagent:g")
	everything := append(slices.Clone(all), "agent:ops:main")
	for _, c := range []struct {
		name, config string
		want         []string
		effective    string
	}{
		{"unset is tree", ``, tree, "tree"},
		{"C61 self", `tools:{sessions:{visibility:"self"}}`, self, "self"},
		{"R041 agent leaves foreign children out", `tools:{sessions:{visibility:"agent"}}`, agent, "agent"},
		{"R042 all without agentToAgent", `tools:{sessions:{visibility:"all"}}`, all, "all"},
		{"C59 all, allow [] allows any", `tools:{sessions:{visibility:"all"},agentToAgent:{enabled:true}}`, everything, "all"},
		{"all, one side only", `tools:{sessions:{visibility:"all"},agentToAgent:{enabled:true,allow:["main"]}}`, all, "all"},
		{"C50 sandbox clamps all", `tools:{sessions:{visibility:"all"}},agents:{defaults:{sandbox:{mode:"all"}}}`, tree, "tree"},
		{"sandbox never widens self", `tools:{sessions:{visibility:"self"}},agents:{defaults:{sandbox:{mode:"all"}}}`, self, "self"},
		{"C51 clamp all", `tools:{sessions:{visibility:"all"}},agents:{defaults:{sandbox:{mode:"all",sessionToolsVisibility:"all"}}}`, all, "all"},
		{"non-main leaves main alone", `tools:{sessions:{visibility:"agent"}},agents:{defaults:{sandbox:{mode:"non-main"}}}`, agent, "agent"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, c.config, fleet...)
			assert.ElementsMatch(t, c.want, b.keys("agent:main:main", `{}`))
			answer, _ := b.call("agent:main:main", "sessions_list", `{}`)
			assert.Equal(t, c.effective, answer["scope"].(map[string]any)["effective"])
			for _, s := range fleet {
				shown := s.Key
				if shown == "agent:main:main" {
					shown = "main"
				}
				_, code := b.call("agent:main:main", "sessions_history", fmt.Sprintf(`{"sessionKey":%q}`, s.Key))
				if slices.Contains(c.want, shown) {
					assert.Empty(t, code, s.Key)
				} else {
					assert.Equal(t, core.CodeForbidden, code, s.Key)
				}
			}
		})
	}
}

// Nothing leaks existence: the answer about a hidden session is, but for the name, that about one that is not there.
func TestRefusalsDoNotTellExistence(t *testing.T) {
	for _, configText := range []string{
		``, `tools:{sessions:{visibility:"self"}}`, `tools:{sessions:{visibility:"all"}}`,
		`tools:{sessions:{visibility:"all"},agentToAgent:{enabled:true,allow:["main","w*"]}}`,
	} {
		b := newBench(t, configText, session("agent:main:main"), session("agent:ops:aaa"), session("agent:ops:cron:aaa"),
			session("agent:ops:main", func(s *core.Session) { s.SessionID = "11111111-1111-4111-8111-111111111111" }))
		for there, absent := range map[string]string{
			"agent:ops:aaa": "agent:ops:bbb", "agent:ops:cron:aaa": "agent:ops:cron:bbb", " agent:ops:aaa ": " agent:ops:bbb ",
			"11111111-1111-4111-8111-111111111111": "22222222-2222-4222-8222-222222222222",
		} {
			one, code1 := b.call("agent:main:main", "sessions_history", fmt.Sprintf(`{"sessionKey":%q}`, there))
			two, code2 := b.call("agent:main:main", "sessions_history", fmt.Sprintf(`{"sessionKey":%q}`, absent))
			assert.NotEmpty(t, code1)
			assert.Equal(t, code1, code2, "%s under %s", there, configText)
			assert.Equal(t, without(one, there), without(two, absent), "%s under %s", there, configText)
		}
	}
}

// without is an answer with the name that was asked for taken out of its text.
func without(answer map[string]any, name string) string {
	raw, _ := json.Marshal(answer)
	for _, part := range []string{name, trimmed(name)} {
		raw = replaceAll(raw, part)
	}
	return string(raw)
}

// The set that sessions_list shows is the set that sessions_history reads and Explain says yes to, whatever the lineage, the agents and
// the config; and with an id in place of the key it is the same set.
func TestListEqualsHistory(t *testing.T) {
	proptest.Check(t, func(rt *rapid.T) {
		agents := []string{"main", "ops", "ghost"}
		n := rapid.IntRange(1, 12).Draw(rt, "sessions")
		keys := make([]string, n)
		for i := range keys {
			agent := rapid.SampledFrom(agents).Draw(rt, "agent")
			rest := rapid.SampledFrom([]string{"main", "telegram:group:%d", "cron:%d", "subagent:%d", "Custom-%d", "discord:channel:A%d"}).Draw(rt, "rest")
			if rest == "main" {
				keys[i] = "agent:" + agent + ":main"
			} else {
				keys[i] = "agent:" + agent + ":" + fmt.Sprintf(rest, i)
			}
		}
		slices.Sort(keys)
		keys = slices.Compact(keys)
		cfg, _, err := config.Parse("t", fmt.Appendf(nil,
			`{tools:{sessions:{visibility:%q},agentToAgent:{enabled:%t,allow:%s},subagents:{tools:{allow:["*"]}}},agents:{defaults:{sandbox:{mode:%q,sessionToolsVisibility:%q}},list:[{id:"main"},{id:"ops"}]}}`,
			rapid.SampledFrom(core.Visibilities).Draw(rt, "visibility"), rapid.Bool().Draw(rt, "enabled"),
			rapid.SampledFrom([]string{`[]`, `["*"]`, `["main"]`, `["o*","main"]`}).Draw(rt, "allow"),
			rapid.SampledFrom([]string{"off", "all", "non-main"}).Draw(rt, "mode"), rapid.SampledFrom([]string{"spawned", "all"}).Draw(rt, "clamp")))
		require.NoError(rt, err)
		store, err := bolt.Open(bolt.Options{Dir: t.TempDir()})
		require.NoError(rt, err)
		defer store.Close()
		_, err = store.Update(context.Background(), func(tx core.Tx) error {
			for i, key := range keys {
				s := core.Session{Key: key, SessionID: fmt.Sprintf("id%d", i), UpdatedAt: int64(1 + i%3)}
				s.SpawnedBy = rapid.SampledFrom(append([]string{"", "agent:gone:main"}, keys...)).Draw(rt, "parent")
				if rapid.Bool().Draw(rt, "archived") {
					s.ArchivedAt = 1
				}
				if err := tx.PutSession(s); err != nil {
					return err
				}
				if err := tx.PutGeneration(core.Generation{ID: s.SessionID, SessionID: s.SessionID, Key: key, State: core.GenerationCurrent}); err != nil {
					return err
				}
			}
			return nil
		})
		require.NoError(rt, err)
		e, err := engine.New(store, cfg, engine.Options{})
		require.NoError(rt, err)
		caller := rapid.SampledFrom(keys).Draw(rt, "caller")
		checkSameSet(rt, e, keys, caller)
	})
}

func checkSameSet(t *rapid.T, e *engine.Engine, keys []string, caller string) {
	ctx := context.Background()
	operator, err := e.Board(ctx, core.Operator)
	require.NoError(t, err)
	b, err := e.Board(ctx, core.Actor{Kind: core.ActorSession, Session: caller})
	require.NoError(t, err)
	ask := func(tool, params string) ([]byte, bool) {
		result, err := b.Call(ctx, core.ToolCall{Tool: tool, Params: json.RawMessage(params)})
		require.NoError(t, err)
		return result.Body, result.Refused == nil
	}
	body, ok := ask("sessions_list", `{"includeArchived":true}`)
	require.True(t, ok, "%s", body)
	var list struct {
		Sessions []struct{ SessionID, Key string }
	}
	require.NoError(t, json.Unmarshal(body, &list))
	listed := map[string]bool{}
	for _, row := range list.Sessions {
		listed[row.SessionID] = true
		again, ok := ask("sessions_history", fmt.Sprintf(`{"sessionKey":%q}`, row.Key))
		assert.True(t, ok, "the key a list shows must be readable: %s: %s", row.Key, again)
	}
	for i, key := range keys {
		id := fmt.Sprintf("id%d", i)
		_, byKey := ask("sessions_history", fmt.Sprintf(`{"sessionKey":%q}`, key))
		_, byID := ask("sessions_history", fmt.Sprintf(`{"sessionKey":%q}`, id))
		x, err := operator.Explain(ctx, core.Question{See: &core.SeeQuestion{Caller: caller, Target: key}})
		require.NoError(t, err)
		assert.Equal(t, listed[id], byKey, "list and history by key of %s", key)
		assert.Equal(t, listed[id], byID, "list and history by id of %s", key)
		assert.Equal(t, listed[id], x.Verdict.Allowed, "list and explain of %s", key)
		if !x.Verdict.Allowed {
			assert.NotEmpty(t, x.Verdict.ConfigKey)
			assert.NotEmpty(t, x.Verdict.Message)
		}
	}
	page, err := b.Sessions(ctx, core.SessionQuery{Archived: true})
	require.NoError(t, err)
	assert.Len(t, page.Rows, len(list.Sessions), "heads and rows")
}
