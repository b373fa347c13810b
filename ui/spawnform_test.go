package ui

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/ui/uitest"
)

// spawning is the spawn form that is open.
func (c *console) spawning() *spawnForm {
	c.t.Helper()
	f, ok := c.m.top().(*spawnForm)
	require.True(c.t, ok, "the spawn form is not open: %T", c.m.top())
	return f
}

// spawnsOf are the parameters of the spawns that a board took.
func spawnsOf(t *testing.T, b *uitest.Talk) (list []map[string]any) {
	for _, s := range b.Sent() {
		var p map[string]any
		require.NoError(t, json.Unmarshal([]byte(s.Text), &p))
		list = append(list, p)
	}
	return list
}

// A sub-agent is started: what it will be and where it will tell is shown before, and the console goes to it afterwards.
func TestSpawnForm(t *testing.T) {
	b := talkBoard()
	c := newConsole(t, b, 120, 40)
	c.open(talkMain)
	c.press("n")
	require.Contains(t, c.view(), "Spawn a sub-agent")
	require.Contains(t, c.view(), "Mira's main · "+talkMain)
	require.Contains(t, c.view(), "✓ allowed by own agent")
	require.Contains(t, c.view(), "0 of 5 sub-agents live")
	require.Contains(t, c.view(), "The result goes into the requester's transcript")
	require.Contains(t, c.view(), "Sandbox: requester open · sub-agent open · effective open")
	c.press("ctrl+s")
	require.Contains(t, c.view(), "the task is blank")
	c.typed("sweep the logs")
	c.press("tab") // to the first field
	c.typed("log sweep")
	c.press("tab", "right", "tab", "tab", "right", "tab")
	c.typed("30")
	c.press("tab", "tab", "right", "tab", "right", "ctrl+s")
	require.Equal(t, []map[string]any{{
		"task": "sweep the logs", "label": "log sweep", "agentId": "ops", "thinking": "off", "runTimeoutSeconds": 30.0, "cleanup": "delete", "sandbox": "require",
	}}, spawnsOf(t, b))
	require.Equal(t, talkMain, b.Sent()[0].As)
	require.Nil(t, c.m.top())
	c.live()
	require.Equal(t, "agent:main:subagent:run-1", c.m.subject(), "the console is at the child")
	require.Contains(t, c.told(), "spawned agent:main:subagent:run-1 for Mira's main")
	require.Empty(t, c.m.drafts.all)
}

// What the list does meanwhile does not move the form to another requester.
func TestSpawnFormIsBound(t *testing.T) {
	b := talkBoard()
	c := newConsole(t, b, 100, 40)
	c.open(talkMain)
	c.press("n")
	c.typed("x")
	b.Delete(talkMain)
	c.live()
	c.press("ctrl+s")
	require.Equal(t, talkMain, b.Sent()[0].As)
}

// Refusals stand beside the field they name, before the submit and after it; nothing that was written is lost.
func TestSpawnRefusalsBesideTheirField(t *testing.T) {
	b := talkBoard()
	b.Offspring = func(q core.SpawnQuestion) core.Explanation {
		x, _ := (&uitest.Talk{Board: uitest.New("/")}).Explain(t.Context(), core.Question{Spawn: &q})
		if strings.Contains(string(q.Params), "require") {
			x.Verdict = core.Verdict{Rule: "forbidden", Message: "it would not be sandboxed"}
			x.Spawn.Refusals = []*core.Error{core.Errorf(core.CodeForbidden, "it would not be sandboxed").About("sandbox")}
		}
		return x
	}
	c := newConsole(t, b, 120, 40)
	c.open(talkMain)
	c.press("n")
	c.typed("the task")
	c.press("shift+tab", "shift+tab")
	require.Equal(t, "sandbox", c.spawning().fields[c.spawning().at].label)
	c.press("right")
	require.Contains(t, c.view(), "✗ it would not be sandboxed")
	require.Contains(t, c.view(), "effective refused")
	c.press("ctrl+s")
	require.Empty(t, b.Sent(), "what is known to be refused is not asked for")
	c.press("left")
	require.NotContains(t, c.view(), "would not be sandboxed")

	b.Refuse(core.Errorf(core.CodeInvalidParams, "model is not configured").About("model").Because("models.providers"))
	c.press("ctrl+s")
	require.Contains(t, c.view(), "✗ model is not configured · decided by models.providers")
	require.Equal(t, 2, c.spawning().at)
	b.Refuse(core.Errorf(core.CodeForbidden, "5 live sub-agents"))
	c.press("ctrl+s")
	require.Contains(t, c.view(), "✗ 5 live sub-agents")
	require.Equal(t, "the task", c.spawning().area.text.text())
	b.Refuse(nil)
	c.press("ctrl+s")
	require.Len(t, b.Sent(), 1)
}

// A child that ends gives room: the open form says so.
func TestSpawnFormHearsOfItsRoom(t *testing.T) {
	b := talkBoard()
	live := 5
	b.Offspring = func(q core.SpawnQuestion) core.Explanation {
		x, _ := (&uitest.Talk{Board: uitest.New("/")}).Explain(t.Context(), core.Question{Spawn: &q})
		x.Spawn.Live = live
		return x
	}
	c := newConsole(t, b, 100, 40)
	c.open(talkMain)
	c.press("n")
	require.Contains(t, c.view(), "5 of 5 sub-agents live")
	live = 4
	b.PutRun(core.Run{ID: "r", SessionKey: "agent:main:subagent:x", RequesterKey: talkMain, Kind: core.RunSpawn, State: core.RunEnded, Outcome: core.OutcomeOK})
	c.live()
	require.Contains(t, c.view(), "4 of 5 sub-agents live")
}

// A form that is closed keeps all that was filled in, and one whose answer was lost asks for the same sub-agent again.
func TestSpawnDraft(t *testing.T) {
	b := talkBoard()
	c := newConsole(t, b, 100, 40)
	ids := 0
	c.m.env.NewID = func() string { ids++; return "id-" + string(rune('0'+ids)) }
	c.open(talkMain)
	c.press("n")
	c.typed("sweep")
	c.press("tab")
	c.typed("a label")
	c.press("esc")
	require.Contains(t, c.view(), "kept as a draft")
	c.press("n")
	require.Contains(t, c.view(), "a label")
	require.Equal(t, "sweep", c.spawning().area.text.text())
	b.Lose(errors.New("the line broke"))
	c.press("ctrl+s")
	require.Contains(t, c.view(), "the line broke")
	c.press("esc", "n", "ctrl+s")
	require.Len(t, b.Sent(), 1, "the same sub-agent")
	require.Equal(t, "id-1", b.Sent()[0].Key)
}

// Files are chosen in the console, held to the limits before the submit, and read when it is made.
func TestSpawnFiles(t *testing.T) {
	b := talkBoard()
	c := newConsole(t, b, 120, 40)
	out := c.withOutside()
	require.NoError(t, os.MkdirAll(filepath.Join(out.dir, "more"), 0o700))
	for name, text := range map[string]string{"a.txt": "aaa", "b.bin": "\xff\x00", "big.txt": strings.Repeat("x", 101), "more/a.txt": "b"} {
		require.NoError(t, os.WriteFile(filepath.Join(out.dir, name), []byte(text), 0o600))
	}
	c.open(talkMain)
	c.press("n")
	c.typed("read them")
	c.press("shift+tab")
	require.Contains(t, c.view(), "up to 3 files of 100 B")
	c.slowly("enter")
	require.Contains(t, c.view(), "too large")
	c.typed("a.t")
	c.slowly("enter")
	require.Contains(t, c.view(), "✓ a.txt")
	c.press("ctrl+u")
	c.typed("big")
	c.slowly("enter")
	require.Contains(t, c.view(), "big.txt has 101 B")
	c.press("esc", "ctrl+s")
	require.Empty(t, b.Sent())
	require.Contains(t, c.view(), "✗ big.txt has 101 B, and a file may have 100 B")
	c.press("backspace")
	c.slowly("enter")
	c.typed("more")
	c.slowly("enter")
	c.typed("a")
	c.slowly("enter")
	c.press("esc")
	require.Contains(t, c.view(), "two files are named a.txt")
	c.press("backspace")
	c.slowly("enter")
	c.typed("b.b")
	c.slowly("enter")
	c.press("esc", "esc", "n")
	require.Contains(t, c.view(), "a.txt, b.bin  2 files, 5 B of 150 B", "the draft keeps them")
	require.NoError(t, os.WriteFile(filepath.Join(out.dir, "a.txt"), []byte(strings.Repeat("a", 500)), 0o600))
	c.press("ctrl+s")
	require.Contains(t, c.view(), "it has 500 B now")
	require.NoError(t, os.WriteFile(filepath.Join(out.dir, "a.txt"), []byte("aaa"), 0o600))
	require.Empty(t, b.Sent())
	c.press("ctrl+s")
	require.Equal(t, []any{
		map[string]any{"name": "a.txt", "content": "aaa", "encoding": "utf8"}, map[string]any{"name": "b.bin", "content": "/wA=", "encoding": "base64"},
	}, spawnsOf(t, b)[0]["attachments"])
}

// A thread can be chosen only where the channel can open one; the reason stands there.
func TestSpawnThreads(t *testing.T) {
	b := talkBoard()
	c := newConsole(t, b, 120, 40)
	c.open(talkMain)
	c.press("n", "tab", "tab", "tab", "tab", "tab", "tab")
	require.Equal(t, "mode", c.spawning().fields[c.spawning().at].label)
	require.Contains(t, c.view(), "No thread: it has no chat that threads could be opened in")
	c.press("right")
	require.Equal(t, modeRun, c.spawning().mode.value())
	b.Offspring = func(q core.SpawnQuestion) core.Explanation {
		x, _ := (&uitest.Talk{Board: uitest.New("/")}).Explain(t.Context(), core.Question{Spawn: &q})
		x.Spawn.NoThread, x.Spawn.Route = "", &core.DeliveryContext{Channel: "telegram", To: "-100", ThreadID: "7"}
		return x
	}
	b.Update(talkMain, func(h *core.Head) { h.Channel = "telegram" })
	c.live()
	require.Contains(t, c.view(), "The result is announced to telegram -100 thread 7")
	c.press("right", "right")
	require.Equal(t, modeSession, c.spawning().mode.value())
	c.press("tab", "tab", "tab", "tab")
	c.typed("stay")
	c.press("ctrl+s")
	require.Equal(t, []map[string]any{{"task": "stay", "thread": true, "mode": "session"}}, spawnsOf(t, b))
}

// What cannot be done says why instead of opening a form.
func TestSpawnIsOff(t *testing.T) {
	b := talkBoard()
	c := newConsole(t, b, 100, 30)
	c.open(talkOld)
	c.press("n")
	require.Nil(t, c.m.top())
	require.Contains(t, c.view(), "mirror")
}
