package ui

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordboard/core"
)

// The send policy is set with one key: each choice tells verdict and rule before it is made, the panel what held before and holds now, and z
// takes it back.
func TestPolicyToggle(t *testing.T) {
	b := talkBoard()
	c := newConsole(t, b, 100, 30)
	c.open(talkDM)
	c.press("p")
	require.Contains(t, c.view(), "● i  inherit  ✗ denied by rules[0] (session.sendPolicy.rules[0])")
	require.Contains(t, c.view(), "○ a  allow    ✓ allowed by session override")
	require.Contains(t, c.view(), "○ d  deny     ✗ denied by session override")
	require.Contains(t, c.view(), "sending to discord groups is denied")
	require.Equal(t, "i inherit  a allow  d deny  t try any session  esc close", c.footer())

	c.press("a")
	c.live()
	require.Contains(t, c.view(), "● a  allow")
	require.Contains(t, c.view(), "before: inherit, denied by rules[0]")
	require.Contains(t, c.view(), "now: allow, allowed by session override")
	require.Contains(t, c.footer(), "send policy allow: "+talkDM+" · z takes it back")
	c.press("z")
	c.live()
	require.Contains(t, c.view(), "● i  inherit")
	require.NotContains(t, c.view(), "before:")
	c.press("d")
	c.live()
	require.Contains(t, c.view(), "now: deny, denied by session override")
	c.press("esc", "z")
	c.live()
	require.Equal(t, core.SendInherit, *b.Commands()[3].Patch.SendPolicy)
}

// Marked sessions are set together; each tells what came of it.
func TestPolicyOfMany(t *testing.T) {
	b := talkBoard()
	c := newConsole(t, b, 100, 30)
	c.open(talkMain)
	c.press("m", "m", "p")
	require.Contains(t, c.view(), "2 sessions")
	require.Contains(t, c.view(), "inherit ✗ denied by rules[0]")
	b.Delete(talkDM)
	c.press("d")
	require.Contains(t, c.view(), "send policy deny: 2 of 2 · 1 failed")
	require.Contains(t, c.view(), "✓ default → ✗ session override")
	require.Contains(t, c.view(), `no session "`+talkDM+`"`)
	c.live()
	c.press("enter", "esc")
	require.Empty(t, c.m.layers)
	require.True(t, c.m.fleet.heads[talkMain].Flags.Has(core.FlagSendDeny))
}

// The tester answers for any channel, chat type and key, as they are typed.
func TestPolicyTester(t *testing.T) {
	c := newConsole(t, talkBoard(), 100, 30)
	c.open(talkMain)
	c.press("p", "t")
	require.Contains(t, c.view(), "What would the send policy say?")
	require.Contains(t, c.view(), "✓ allowed by default")
	c.press("ctrl+u")
	c.typed("discord")
	require.Contains(t, c.view(), "✗ denied by rules[0] (session.sendPolicy.rules[0])")
	c.press("tab", "right")
	require.Contains(t, c.view(), "● group")
	c.press("esc")
	require.IsType(t, &policyPanel{}, c.m.top(), "esc closes the top layer only")
}

func TestPolicyIsReadOnly(t *testing.T) {
	_, store := newTroop(t)
	c := newConsole(t, boardOver(t, store, "", core.Actor{Kind: core.ActorOperator, ReadOnly: true}), 120, 30)
	for _, key := range []string{"p", "N", "c", "D", "K"} {
		c.press(key)
		require.Equal(t, "nothing can be changed: this was opened to read only", c.footer(), key)
	}
}

// The real engine sets, explains and takes back.
func TestPolicyOverTheEngine(t *testing.T) {
	_, store := newTroop(t)
	c := newConsole(t, boardOver(t, store, `session: { sendPolicy: { rules: [{ match: { keyPrefix: "s" }, action: "deny" }] } }`, core.Operator), 120, 30)
	c.open("agent:main:s1")
	c.press("p")
	require.Contains(t, c.view(), "● i  inherit  ✗ denied by")
	c.press("a")
	c.live()
	require.Contains(t, c.view(), "now: allow, allowed by session override")
	s, _, err := sessionOf(t, store, "agent:main:s1")
	require.NoError(t, err)
	require.Equal(t, core.SendAllow, s.SendPolicy)
	c.press("z")
	c.live()
	s, _, err = sessionOf(t, store, "agent:main:s1")
	require.NoError(t, err)
	require.Equal(t, core.SendInherit, s.SendPolicy)
	c.press("t")
	c.press("ctrl+u", "tab", "tab", "ctrl+u")
	c.typed("other")
	require.Contains(t, c.view(), "✓ allowed by default")
}

func sessionOf(t tester, store core.Store, key string) (s core.Session, ok bool, err error) {
	err = store.View(t.Context(), func(r core.Reader) error {
		s, ok, err = r.Session(key)
		return err
	})
	return s, ok, err
}

// A session is made, and the console opens on it, wherever the cursor was.
func TestNewSession(t *testing.T) {
	b := talkBoard()
	b.Agents(core.AgentInfo{ID: "main", Name: "Mira", Configured: true, Default: true}, core.AgentInfo{ID: "ops", Configured: true}, core.AgentInfo{ID: "old"})
	c := newConsole(t, b, 100, 30)
	c.open(talkMain)
	c.press("down", "N")
	require.Contains(t, c.view(), "● Mira")
	require.NotContains(t, c.view(), "○ old", "only what is configured can be asked for")
	c.press("right", "tab")
	c.typed("night watch")
	c.press("tab")
	c.typed("mock/one")
	b.Refuse(core.Errorf(core.CodeInvalidParams, "model mock/one is not configured").Accept("openai/gpt"))
	c.press("ctrl+s")
	require.Contains(t, c.view(), "✗ model mock/one is not configured · accepted: openai/gpt")
	b.Refuse(nil)
	c.press("ctrl+s")
	require.Equal(t, core.New{Agent: "ops", Label: "night watch", Model: "mock/one"}, *b.Commands()[1].New)
	c.live()
	require.Equal(t, "agent:ops:new-2", c.m.tree.selected())
	require.Equal(t, paneTranscript, c.m.focus)
	require.Empty(t, c.m.layers)
}

// Only what was changed is patched, and z takes it back.
func TestSettings(t *testing.T) {
	b := talkBoard()
	b.Models("mock/one", "mock/two")
	c := newConsole(t, b, 100, 30)
	c.open(talkOps)
	c.press("c", "ctrl+s")
	require.Equal(t, "nothing was changed", c.footer())
	c.press("c")
	c.typed("deploys at night")
	c.press("tab", "right", "tab", "right", "right", "ctrl+s")
	p := b.Commands()[0].Patch
	require.Equal(t, "deploys at night", *p.Label)
	require.Equal(t, "mock/one", *p.Model)
	require.Equal(t, "minimal", *p.ThinkingLevel)
	require.Equal(t, "set "+talkOps+" · z takes it back", c.footer())
	c.live()
	c.press("c")
	require.Contains(t, c.view(), "Settings of deploys at night")
	c.press("esc", "z")
	require.Empty(t, *b.Commands()[1].Patch.Label)
}

// What ends something of sessions is asked about: which, how many, and what becomes of it.
func TestEnds(t *testing.T) {
	cases := []struct {
		name, key, asks string
		want            core.Command
	}{
		{"reset", "ctrl+x", "Reset 1 session?", core.Command{Reset: &core.Reset{Session: talkOps}}},
		{"delete", "D", "Delete 1 session?", core.Command{Delete: &core.Delete{Session: talkOps, Abort: true}}},
		{"stop", "K", "Stop 1 session?", core.Command{Stop: &core.Stop{Session: talkOps}}},
	}
	for _, k := range cases {
		t.Run(k.name, func(t *testing.T) {
			b := talkBoard()
			c := newConsole(t, b, 100, 30)
			c.open(talkOps)
			c.press(k.key, "y")
			require.Contains(t, c.view(), k.asks)
			require.Contains(t, c.view(), "deploys · "+talkOps)
			require.Empty(t, b.Commands(), "keys of the first 400 ms are not answers")
			c.now = c.now.Add(confirmGrace)
			c.press("esc")
			require.Empty(t, b.Commands())
			c.press(k.key)
			c.now = c.now.Add(confirmGrace)
			c.press("y")
			require.Equal(t, []core.Command{k.want}, b.Commands())
		})
	}
}

// Several are ended only when their count is typed, and each tells what came of it.
func TestDeleteMany(t *testing.T) {
	b := talkBoard()
	b.Update(talkOps, func(h *core.Head) { h.Run = core.RunRunning })
	c := newConsole(t, b, 100, 30)
	c.press("ctrl+a", "D")
	require.Contains(t, c.view(), "Delete 4 sessions?")
	require.Contains(t, c.view(), "1 of them has a run that is under way or queued")
	c.now = c.now.Add(confirmGrace)
	c.press("y", "enter")
	require.Empty(t, b.Commands())
	c.press("backspace", "4", "enter")
	require.Len(t, b.Commands(), 4)
	require.Contains(t, c.view(), "deleted 4 of 4")
}

// A mirrored session says so, and how it becomes one's own.
func TestMirroredNamesAdopt(t *testing.T) {
	b := talkBoard()
	c := newConsole(t, b, 120, 30)
	c.open(talkOld)
	for _, key := range []string{"s", "c", "ctrl+x", "D"} {
		c.press(key)
		require.Contains(t, c.footer(), "mirrored, read only: o adopts", key)
	}
	c.press("o")
	c.now = c.now.Add(time.Second)
	c.press("y")
	require.Equal(t, talkOld, b.Commands()[0].Adopt.Session)
	c.live()
	c.press("o")
	require.Equal(t, "it is not mirrored: there is nothing to adopt", c.footer())
	c.press("s")
	require.IsType(t, &sendForm{}, c.m.top())
	c.press("esc")
	c.open(talkMain)
	c.press("D")
	require.Equal(t, "a main session cannot be deleted: ctrl+x begins it anew", c.footer())
}

// A run that waits on the operator is answered in a form that shows what was asked and is bound to that run.
func TestManualReply(t *testing.T) {
	b := talkBoard()
	c := newConsole(t, b, 100, 30)
	c.open(talkOps)
	c.press("ctrl+y")
	require.Equal(t, "no run of deploys waits for you", c.footer())
	b.PutRun(core.Run{ID: "r1", SessionKey: talkOps, State: core.RunRunning, Message: "May I deploy?\n\x1b[31mnow"})
	b.Update(talkOps, func(h *core.Head) { h.Flags |= core.FlagAsks })
	c.live()
	c.press("ctrl+y")
	require.Contains(t, c.view(), "Answer for deploys")
	require.Contains(t, c.view(), "May I deploy?")
	require.Contains(t, c.view(), "␛[31mnow")
	c.press("ctrl+s")
	require.Contains(t, c.view(), "✗ the reply is blank")
	c.typed("Yes.")
	c.press("esc")
	require.Equal(t, "kept as a draft: ctrl+y opens it again", c.footer())
	c.slowly("enter", "enter") // a session that waits is answered, not written to
	require.IsType(t, &replyForm{}, c.m.top())
	b.Refuse(core.Errorf(core.CodeConflict, "run r1 has ended"))
	c.press("ctrl+s")
	require.Contains(t, c.view(), "✗ run r1 has ended")
	b.Refuse(nil)
	c.press("ctrl+s")
	require.Equal(t, core.Reply{Run: "r1", Text: "Yes."}, *b.Commands()[1].Reply)
	require.Equal(t, "answered for deploys", c.footer())
	require.Empty(t, c.m.drafts.all)

	b.PutRun(core.Run{ID: "r2", SessionKey: talkOps, State: core.RunRunning}) // once it has begun, its message is in the transcript
	b.Append(talkOps, core.Message{Role: core.RoleUser, Raw: []byte(`{"role":"user","content":"And roll it back?"}`)})
	c.live()
	c.press("ctrl+y")
	require.Contains(t, c.view(), "▎ And roll it back?")
}
