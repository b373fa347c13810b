package ui

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/ui/uitest"
)

func asking(id, title string) core.Approval {
	return core.Approval{
		ID: id, Run: "r1", Session: talkOps, At: noon.UnixMilli(), Call: "call-1", Title: title, Params: json.RawMessage(`{"command":"rm -rf build","cwd":"/srv/app"}`),
		Options: []core.ApprovalOption{
			{ID: "once", Name: "Allow", Kind: "allow_once"},
			{ID: "ever", Name: "Always allow", Kind: "allow_always"},
			{ID: "no", Name: "Reject", Kind: "reject_once"},
			{ID: "other", Name: "Reject and say why", Kind: "reject_once"},
		},
	}
}

// askedBoard has a run that asks for permission.
func askedBoard(list ...core.Approval) *uitest.Talk {
	b := talkBoard()
	b.PutRun(core.Run{ID: "r1", SessionKey: talkOps, State: core.RunRunning, Kind: core.RunSend, StartedAt: noon.UnixMilli()})
	b.Ask(list...)
	return b
}

// An agent asks: the row says so, the key that answers a run opens the request, and one key answers it.
func TestPermission(t *testing.T) {
	b := askedBoard(asking("a1", "Run rm -rf build"))
	c := newConsole(t, b, 120, 40)
	require.Contains(t, c.view(), "? deploys")
	c.open(talkOps)
	c.press("ctrl+y")
	for _, text := range []string{
		"Permission for deploys", "Run rm -rf build", `"command": "rm -rf build"`, "y  Allow  allow once", "a  Always allow  allow always", "n  Reject  reject once",
		"4  Reject and say why", "call-1",
	} {
		require.Contains(t, c.view(), text)
	}
	require.Contains(t, c.footer(), "y Allow")
	c.press("y")
	require.Empty(t, b.Commands(), "it was meant for what was there before")
	c.elapse(confirmGrace)
	c.press("x", "esc")
	require.Empty(t, b.Commands(), "esc answers nothing")
	c.press("ctrl+y")
	c.elapse(confirmGrace)
	c.press("4")
	require.Equal(t, &core.Approve{ID: "a1", Option: "other"}, b.Commands()[0].Approve)
	c.live()
	require.Nil(t, c.m.top())
	require.Contains(t, c.view(), "answered deploys: Reject and say why")
	require.NotContains(t, c.view(), "? deploys")
}

// Several requests are listed; the next one is deaf anew, and one that goes away leaves the others.
func TestPermissions(t *testing.T) {
	b := askedBoard(asking("a1", "the first"), asking("a2", "the second"), asking("a3", "the third"))
	c := newConsole(t, b, 120, 40)
	c.open(talkOps)
	c.press("ctrl+y", "tab")
	require.Contains(t, c.view(), "▌ the second")
	c.elapse(confirmGrace)
	c.press("y", "y")
	require.Len(t, b.Commands(), 1, "the second key was meant for the request before")
	require.Equal(t, "a2", b.Commands()[0].Approve.ID)
	require.Contains(t, c.view(), "▌ the first")
	require.NotContains(t, c.view(), "the second")
	b.Refuse(core.Errorf(core.CodeNotFound, "it was answered elsewhere"))
	c.elapse(confirmGrace)
	c.press("n")
	require.Contains(t, c.view(), "✗ it was answered elsewhere")
	b.Refuse(nil)
	c.press("n")
	c.elapse(confirmGrace)
	c.press("a")
	c.live()
	require.Nil(t, c.m.top())
	require.Equal(t, []string{"once", "no", "ever"}, []string{b.Commands()[0].Approve.Option, b.Commands()[2].Approve.Option, b.Commands()[3].Approve.Option})
}

// What is asked is told in the inspector and in the runs too, which open it as well.
func TestPermissionInInspectorAndRuns(t *testing.T) {
	b := askedBoard()
	c := newConsole(t, b, 160, 45)
	c.open(talkOps)
	require.NotContains(t, c.view(), "Asks for permission")
	b.Ask(asking("a1", "Run rm -rf build"))
	c.live()
	require.Contains(t, c.view(), "Asks for permission")
	require.Contains(t, c.view(), "Run rm -rf build")
	c.press("r")
	require.Contains(t, c.view(), "Run rm -rf build")
	c.press("ctrl+y")
	require.Contains(t, c.view(), "Permission for deploys")
	c.elapse(confirmGrace)
	c.press("y")
	c.live()
	require.Len(t, b.Commands(), 1)
	require.NotContains(t, c.view(), "Run rm -rf build")
}
