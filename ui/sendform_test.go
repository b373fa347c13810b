package ui

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/ui/uitest"
)

const (
	talkMain = "agent:main:main"
	talkOps  = "agent:ops:deploys"
	talkDM   = "agent:main:discord:group:77"
	talkOld  = "agent:main:telegram:group:-100"
)

// talkBoard has sessions to talk to: two of agents, one in a group that a rule denies, one that is mirrored.
func talkBoard() *uitest.Talk {
	b := uitest.NewTalk("/data")
	for i, h := range []core.Head{
		{Key: talkMain, Kind: core.KindMain, Title: "Mira's main", Channel: "webchat"},
		{Key: talkOps, Title: "deploys"},
		{Key: talkDM, Kind: core.KindGroup, Channel: "discord"},
		{Key: talkOld, Kind: core.KindGroup, Channel: "telegram", Flags: core.FlagMirrored},
	} {
		h.UpdatedAt = noon.Add(-time.Duration(i) * time.Minute).UnixMilli()
		b.Put(h, core.SessionDetail{})
	}
	b.Append(talkMain, say(1, "What shall I do?")...)
	return b
}

// form is the send form that is open.
func (c *console) form() *sendForm {
	c.t.Helper()
	f, ok := c.m.top().(*sendForm)
	require.True(c.t, ok, "the send form is not open: %T", c.m.top())
	return f
}

// slowly types as a person does.
func (c *console) slowly(keys ...string) {
	for _, key := range keys {
		c.now = c.now.Add(time.Second / 5)
		c.press(key)
	}
}

// A message is sent and answered: what will happen is told before, how far it is while it is waited for, and what came of it.
func TestSendAndAnswer(t *testing.T) {
	b := talkBoard()
	c := newConsole(t, b, 100, 30)
	c.open(talkMain)
	c.press("s")
	require.Contains(t, c.view(), "✓ allowed by default")
	require.Contains(t, c.view(), "It starts at once · played by echo")
	require.Contains(t, c.view(), "this is your own message")
	require.Equal(t, "ctrl+s send  tab next field  enter new line  esc close", c.footer())
	c.typed("run the tests")
	c.press("enter")
	c.typed("all of them")
	c.press("ctrl+s")
	require.Equal(t, []uitest.Sent{{Run: "run-1", To: talkMain, Text: "run the tests\nall of them"}}, b.Sent())
	require.Contains(t, c.view(), "◌ queued · 0 s of 30 s")
	require.Empty(t, c.m.drafts.all)
	c.live()

	c.elapse(time.Second)
	b.Start("run-1")
	c.live()
	require.Contains(t, c.view(), "● running · 1 s of 30 s")
	b.End("run-1", core.OutcomeOK, "All green.")
	c.live()
	c.elapse(time.Second)
	require.Contains(t, c.view(), "✓ answered after 2.0 s")
	require.Contains(t, c.view(), "All green.")
	c.slowly("enter")
	require.Empty(t, c.m.layers)
	require.Equal(t, "All green.", c.lastLine())
}

// A wait that runs out on what is held says so, and how to let it go; closed, it is told as a notice.
func TestAWaitOnWhatIsHeldRunsOut(t *testing.T) {
	b := talkBoard()
	_, err := b.Do(t.Context(), core.Command{Hold: &core.Hold{Session: talkOps}})
	require.NoError(t, err)
	c := newConsole(t, b, 100, 30)
	c.open(talkOps)
	c.press("s")
	c.typed("deploy")
	c.press("shift+tab")
	c.press("backspace", "backspace", "5", "ctrl+s")
	c.live()
	for range 6 {
		c.elapse(time.Second)
	}
	require.Contains(t, c.view(), "It waits: the session is held: H lets it go")
}

// R001, R004: a wait that runs out says that the run goes on, offers to wait again, and a second message is asked about first.
func TestAWaitRunsOut(t *testing.T) {
	b := talkBoard()
	c := newConsole(t, b, 100, 30)
	c.open(talkOps)
	c.press("s")
	c.typed("deploy")
	c.press("shift+tab")
	c.press("backspace", "backspace", "5", "ctrl+s")
	c.live()
	b.Start("run-1")
	c.live()
	for range 6 {
		c.elapse(time.Second)
	}
	require.Contains(t, c.view(), "still running after")
	require.Contains(t, c.view(), "The message was delivered and the run goes on")
	require.NotContains(t, c.view(), "failed")
	require.Equal(t, "w wait again  l let it run  n write another  esc close", c.footer())

	c.press("w")
	require.Contains(t, c.view(), "● running · 6 s of 11 s")
	for range 6 {
		c.elapse(time.Second)
	}
	c.press("n")
	require.Contains(t, c.view(), "Run run-1 that you sent here is still running")
	c.typed("deploy")
	c.press("ctrl+s")
	require.Contains(t, c.view(), "Send another message?")
	c.press("esc")
	require.Len(t, b.Sent(), 1, "to cancel leaves one message")
	require.Equal(t, "deploy", c.form().area.text.text())
	c.press("ctrl+s")
	c.now = c.now.Add(time.Second)
	c.press("y")
	require.Len(t, b.Sent(), 2)
}

// A wait goes on when its form is closed, and its end is told.
func TestTheWaitOutlivesItsForm(t *testing.T) {
	b := talkBoard()
	rang := ""
	c := newConsole(t, b, 100, 30, func(e *Env) { e.Notify = func(text string) { rang = text } })
	c.open(talkMain)
	c.press("s")
	c.typed("hello")
	c.press("ctrl+s", "esc")
	require.Equal(t, "the run goes on: its reply will be in the transcript", c.footer())
	c.live()
	b.End("run-1", core.OutcomeOK, "hi there")
	c.live()
	c.elapse(time.Second)
	require.Equal(t, "Mira's main answered: hi there", c.told())
	require.Equal(t, c.told(), rang)

	c.press("s")
	c.typed("and now?")
	c.press("ctrl+s", "l")
	c.live()
	b.End("run-2", core.OutcomeError, "the model is down")
	c.live()
	c.elapse(time.Second)
	require.Equal(t, "Mira's main: the run failed: the model is down", c.told())
}

// What the board refuses stands in the form with the rule and the key; the text stays.
func TestARefusalKeepsTheText(t *testing.T) {
	b := talkBoard()
	c := newConsole(t, b, 100, 30)
	c.open(talkDM)
	b.Refuse(core.Errorf(core.CodeSendDenied, "denied by rules[0] {channel: discord}").Because("session.sendPolicy.rules[0]"))
	c.press("s")
	c.typed("hello")
	c.press("ctrl+s")
	require.Contains(t, c.view(), "✗ denied by rules[0] {channel: discord} · decided by session.sendPolicy.rules[0]")
	require.Equal(t, "hello", c.form().area.text.text())
	b.Refuse(nil)
	c.press("ctrl+s")
	require.Len(t, b.Sent(), 1)
}

// A message that is a command to the session starts no run: what it did is said, and nothing is waited for.
func TestACommandIsNotWaitedFor(t *testing.T) {
	b := talkBoard()
	c := newConsole(t, b, 100, 30)
	c.open(talkMain)
	c.press("s")
	c.typed("/send off")
	c.press("ctrl+s")
	require.Empty(t, c.m.layers)
	require.Empty(t, c.m.flights)
	require.Empty(t, c.m.drafts.all)
	require.Equal(t, "Mira's main: send policy deny", c.footer())
}

// As a session it is that session's sessions_send, with what that means told before.
func TestSendAsASession(t *testing.T) {
	b := talkBoard()
	b.Foresee = func(q core.MessageQuestion) (core.Explanation, error) {
		x := core.Prospect{To: q.To, Runtime: "openai", Queued: 2, Live: "r"}
		if q.As != "" {
			x.Loop, x.Announce = true, &core.DeliveryContext{Channel: "webchat", To: "mira"}
		}
		return core.Explanation{Verdict: core.Verdict{Allowed: true, Rule: "default"}, Message: &x}, nil
	}
	c := newConsole(t, b, 100, 30)
	c.open(talkOps)
	c.press("s")
	require.Contains(t, c.view(), "It waits its turn: 2 runs before it")
	require.NotContains(t, c.view(), "announced to")
	c.press("shift+tab", "shift+tab", "enter")
	c.typed("mira")
	c.press("enter")
	require.Equal(t, talkMain, c.form().as.key)
	require.Contains(t, c.view(), "The two agents may talk on. The outcome is announced to webchat mira")
	c.press("tab", "tab")
	c.typed("what is deployed?")
	c.press("ctrl+s")
	require.Equal(t, []uitest.Sent{{Run: "run-1", As: talkMain, To: talkOps, Text: "what is deployed?"}}, b.Sent())
}

// R033: the form stays on the session it was opened on, whatever the list does and wherever the cursor goes.
func TestTheFormIsBoundToItsSession(t *testing.T) {
	b := talkBoard()
	c := newConsole(t, b, 100, 30)
	c.open(talkOps)
	c.press("s")
	c.typed("for ops")
	b.Update(talkDM, func(h *core.Head) { h.UpdatedAt = noon.Add(time.Hour).UnixMilli() })
	b.Delete(talkMain)
	c.live()
	c.elapse(time.Second)
	require.True(t, c.m.tree.goTo(talkDM))
	c.send(nil)
	c.press("ctrl+s")
	require.Equal(t, talkOps, b.Sent()[0].To)
}

// A form's fields are checked as they are left and on submit, and what is wrong stands beside them.
func TestFieldsAreChecked(t *testing.T) {
	b := talkBoard()
	c := newConsole(t, b, 100, 30)
	c.open(talkMain)
	c.press("s", "ctrl+s")
	require.Contains(t, c.view(), "✗ the message is blank")
	c.typed("x")
	require.NotContains(t, c.view(), "✗ the message is blank")
	c.press("shift+tab", "backspace", "backspace")
	for _, wrong := range []string{"", "-1", "1.5", "1e9", "90000", "five"} {
		c.press("ctrl+u")
		c.typed(wrong)
		c.press("tab")
		require.Contains(t, c.view(), fmt.Sprintf("✗ %q is no time to wait", wrong))
		c.press("ctrl+s")
		require.Equal(t, 2, c.form().at, "submit goes to what is wrong")
	}
	require.Empty(t, b.Sent())
	c.press("ctrl+u", "0", "ctrl+s")
	require.Len(t, b.Sent(), 1)
	require.Empty(t, c.m.layers, "nobody waits")
	require.Equal(t, "sent to Mira's main as run run-1 · nobody waits for the reply", c.footer())
}

// R153: 5,000 lines that are pasted are one message, byte for byte, with tabs, carriage returns and control characters, and send nothing.
func TestPasteOfFiveThousandLines(t *testing.T) {
	var text strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&text, "line %d\twith a tab \x1b[31m and \u202e 会議\r\n", i)
	}
	for _, keys := range [][]string{{"s"}, {"enter", "C"}} {
		b := talkBoard()
		c := newConsole(t, b, 100, 30)
		c.open(talkMain)
		c.press(keys...)
		c.send(paste(text.String()))
		require.Empty(t, b.Sent(), "to paste sends nothing")
		require.Contains(t, c.view(), "5001 lines")
		fits(t, c.view(), 100, 30)
		c.press("ctrl+s")
		require.Len(t, b.Sent(), 1)
		require.Equal(t, text.String(), b.Sent()[0].Text)
	}
}

// A draft is there again after esc, an error, and a new console on the same store; once sent it is gone.
func TestDraftsSurvive(t *testing.T) {
	b, state := talkBoard(), uitest.NewState()
	withState := func(e *Env) { e.State = state }
	c := newConsole(t, b, 100, 30, withState)
	c.open(talkMain)
	c.press("s")
	c.typed("do not lose")
	c.press("esc")
	require.Equal(t, "kept as a draft: s opens it again", c.footer())
	c.open(talkOps)
	c.press("s")
	require.Empty(t, c.form().area.text.text(), "it is that session's")
	c.press("esc")
	c.open(talkMain)
	c.press("s")
	require.Equal(t, "do not lose", c.form().area.text.text())
	c.typed(" me")
	c.elapse(time.Second)
	require.Contains(t, state.Text(draftsName), "do not lose me", "it is written while the form is open")

	other := newConsole(t, b, 100, 30, withState)
	other.open(talkMain)
	other.press("s")
	require.Equal(t, "do not lose me", other.form().area.text.text())
	other.press("ctrl+s")
	other.elapse(time.Second)
	require.NotContains(t, state.Text(draftsName), "do not lose")
}

// An answer that is lost with the owner leaves the text; to send it again is the same message, also from a new console.
func TestALostAnswerIsNoSecondMessage(t *testing.T) {
	b, state := talkBoard(), uitest.NewState()
	n := 0
	set := func(e *Env) { e.State = state; e.NewID = func() string { n++; return fmt.Sprint("id", n) } }
	c := newConsole(t, b, 100, 30, set)
	c.open(talkMain)
	c.press("s")
	c.typed("once")
	b.Lose(core.Errorf(core.CodeInternal, "the owner of the store went away"))
	c.press("ctrl+s")
	require.Contains(t, c.view(), "✗ the owner of the store went away")
	require.Equal(t, "once", c.form().area.text.text())
	require.NoError(t, c.m.Close())

	again := newConsole(t, b, 100, 30, set)
	again.open(talkMain)
	again.press("s", "ctrl+s")
	require.Len(t, b.Sent(), 1, "the same key is the same run")
	require.Equal(t, flightAwaited, again.form().flight.state)
}

// The operator's own editor gets the text and gives it back.
func TestTheOperatorsEditor(t *testing.T) {
	c := newConsole(t, talkBoard(), 100, 30)
	c.open(talkMain)
	c.press("s")
	c.typed("first")
	c.send(tea.KeyMsg{Type: tea.KeyCtrlE})
	require.Equal(t, "this console has no way out of its screen", c.footer())
	out := c.withOutside()
	edit := func(text string, fails error) {
		c.m.seams.exec = func(cmd *exec.Cmd, done func(error) tea.Msg) tea.Cmd {
			return func() tea.Msg {
				before, err := os.ReadFile(cmd.Args[1])
				require.NoError(t, err)
				out.opened = append(out.opened, string(before))
				require.NoError(t, os.WriteFile(cmd.Args[1], []byte(text), 0o600))
				return done(fails)
			}
		}
		c.send(tea.KeyMsg{Type: tea.KeyCtrlE})
	}
	edit("first\nsecond\r\n\tthird\n", nil)
	require.Equal(t, []string{"first"}, out.opened)
	require.Equal(t, "first\nsecond\r\n\tthird", c.form().area.text.text())
	edit("thrown away", fmt.Errorf("it crashed"))
	require.Equal(t, "first\nsecond\r\n\tthird", c.form().area.text.text())
	require.Contains(t, c.told(), "what was written there is in")
}

// A session that is mirrored, or a board that only reads, says why nothing is sent.
func TestCannotSend(t *testing.T) {
	c := newConsole(t, talkBoard(), 100, 30)
	c.open(talkOld)
	c.press("s")
	require.Contains(t, c.footer(), "mirrored, read only: o adopts")
	require.Empty(t, c.m.layers)
	_, store := newTroop(t)
	c = newConsole(t, boardOver(t, store, "", core.Actor{Kind: core.ActorOperator, ReadOnly: true}), 100, 30)
	c.press("s")
	require.Equal(t, "nothing can be changed: this was opened to read only", c.footer())
}

// What a message meets is asked anew when something changes at its target.
func TestTheProspectIsKeptUpToDate(t *testing.T) {
	b := talkBoard()
	held := ""
	b.Foresee = func(q core.MessageQuestion) (core.Explanation, error) {
		return core.Explanation{Verdict: core.Verdict{Allowed: true, Rule: "default"}, Message: &core.Prospect{To: q.To, Runtime: "echo", Held: held}}, nil
	}
	c := newConsole(t, b, 100, 30)
	c.open(talkMain)
	c.press("s")
	require.Contains(t, c.view(), "It starts at once")
	held = "this session is held"
	b.Update(talkMain, func(h *core.Head) { h.Flags |= core.FlagHeld })
	c.live()
	require.Contains(t, c.view(), "It waits: this session is held")
}

// A form that is closed while its message is being handed over leaves no draft of what was sent.
func TestClosedWhileItIsHandedOver(t *testing.T) {
	b := talkBoard()
	c := newConsole(t, b, 100, 30)
	c.open(talkMain)
	c.press("s")
	c.typed("once")
	_, cmd := c.m.Update(keyMsg("ctrl+s")) // not run yet
	require.Contains(t, c.view(), "handing it over")
	c.press("esc")
	require.NotEmpty(t, c.m.drafts.all)
	c.run(cmd)
	require.Len(t, b.Sent(), 1)
	require.Empty(t, c.m.drafts.all)
	c.press("s")
	require.Empty(t, c.form().area.text.text())
	require.Contains(t, c.view(), "Run run-1 that you sent here is still queued")
}
