package ui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cordboard/core"
	"cordboard/core/proptest"
)

// newTroop is the real engine over five sessions of one agent, the most recent first.
func newTroop(t *testing.T) (core.Board, core.Store) {
	t.Helper()
	board, store := engineOn(t, false)
	for i := range 5 {
		sessionsIn(t, store, core.Session{Key: fmt.Sprintf("agent:main:s%d", i), UpdatedAt: noon.Add(-time.Duration(i) * time.Minute).UnixMilli()})
	}
	return board, store
}

func archivedIn(t *testing.T, board core.Board) []string {
	t.Helper()
	page, err := board.Sessions(t.Context(), core.SessionQuery{Archived: true})
	require.NoError(t, err)
	var keys []string
	for _, row := range page.Rows {
		if row.Flags.Has(core.FlagArchived) {
			keys = append(keys, strings.TrimPrefix(row.Key, "agent:main:"))
		}
	}
	slices.Sort(keys)
	return keys
}

// marked are the sessions with a mark, sorted.
func (c *console) marked() string {
	var keys []string
	for key := range c.m.marks.keys {
		keys = append(keys, strings.TrimPrefix(key, "agent:main:"))
	}
	slices.Sort(keys)
	return strings.Join(keys, " ")
}

// Marks: one by one, a range, on the way, all; they are kept by key and shown with a sign of their own.
func TestMarks(t *testing.T) {
	cases := []struct {
		name, want string
		keys       []string
	}{
		{"one, and on to the next", "s0", []string{"m"}},
		{"m takes it away again", "", []string{"m", "up", "m"}},
		{"a range down", "s0 s1 s2 s3", []string{"m", "down", "down", "M"}},
		{"a range up", "s2 s3 s4", []string{"G", "m", "up", "up", "M"}},
		{"a range without a beginning is the row", "s0", []string{"M"}},
		{"on the way down", "s0 s1 s2", []string{"shift+down", "shift+down"}},
		{"on the way up", "s3 s4", []string{"G", "shift+up"}},
		{"all", "s0 s1 s2 s3 s4", []string{"ctrl+a"}},
		{"all, once more", "", []string{"ctrl+a", "ctrl+a"}},
		{"all that the filter leaves", "s3", []string{"/", "s", "3", "enter", "ctrl+a", "F"}},
		{"esc takes them away", "", []string{"m", "m", "esc"}},
		{"an agent is nothing to mark", "", []string{"g", "m"}},
	}
	for _, k := range cases {
		t.Run(k.name, func(t *testing.T) {
			c := newConsole(t, fleetOf(5), 120, 30)
			c.press(k.keys...)
			require.Equal(t, k.want, strings.ReplaceAll(c.marked(), "s0", "s"))
			require.Equal(t, len(c.m.marks.keys), strings.Count(c.pane(paneTree), "◆"))
			if k.want != "" {
				require.Contains(t, c.header(), fmt.Sprintf("%d marked", len(c.m.marks.keys)))
			}
		})
	}
}

// An operator tidies up: marks three, is asked with their names, cannot answer by a key that was meant for the list, types the count, and
// takes it back.
func TestArchiveMany(t *testing.T) {
	board, _ := newTroop(t)
	c := newConsole(t, board, 120, 30)
	c.press("shift+down", "shift+down", "x")
	require.Contains(t, c.view(), "Archive 3 sessions?")
	for _, name := range []string{"agent:main:s0", "agent:main:s1", "agent:main:s2"} {
		require.Contains(t, c.view(), name)
	}
	c.press("3", "enter", "y")
	require.Len(t, c.m.layers, 1, "keys of the first 400 ms were meant for what was there before")
	c.now = c.now.Add(confirmGrace)
	c.press("y", "enter")
	require.Contains(t, c.view(), "that is not 3")
	c.press("backspace", "3", "enter")
	require.Empty(t, c.m.layers)
	require.Equal(t, "archived 3 sessions · z takes it back", c.footer())
	require.Equal(t, []string{"s0", "s1", "s2"}, archivedIn(t, board))
	c.live()
	require.Equal(t, []string{"agent:main:s3", "agent:main:s4"}, c.inTree())
	require.Empty(t, c.m.marks.keys)
	c.press("z")
	require.Equal(t, "undid: archived 3 sessions", c.footer())
	require.Empty(t, archivedIn(t, board))
	c.press("z")
	require.Equal(t, "nothing was done that can be taken back", c.footer())
}

// One session is asked about with one key; esc leaves everything as it was; what is archived is restored by the same key.
func TestArchiveOne(t *testing.T) {
	board, _ := newTroop(t)
	c := newConsole(t, board, 80, 24)
	c.press("x")
	c.now = c.now.Add(confirmGrace)
	c.press("esc")
	require.Empty(t, archivedIn(t, board))
	c.press("x")
	c.now = c.now.Add(confirmGrace)
	c.press("y")
	require.Equal(t, []string{"s0"}, archivedIn(t, board))
	require.Equal(t, "archived agent:main:s0 · z takes it back", c.footer())
	c.live()
	c.press("a")
	c.open("agent:main:s0")
	c.press("x")
	require.Contains(t, c.view(), "Restore 1 session?")
	c.now = c.now.Add(confirmGrace)
	c.press("enter") // only what the box names does it
	require.Len(t, c.m.layers, 1)
	c.press("y")
	require.Empty(t, archivedIn(t, board))
}

// Each session's outcome is told on its own: what failed stays on the screen with its reason, the rest is done.
func TestSomeFail(t *testing.T) {
	board, store := newTroop(t)
	c := newConsole(t, board, 120, 30)
	c.press("shift+down", "x")
	_, err := store.Update(t.Context(), func(tx core.Tx) error { return tx.DeleteSession("agent:main:s1") })
	require.NoError(t, err)
	c.now = c.now.Add(confirmGrace)
	c.press("2", "enter")
	require.Equal(t, []string{"s0"}, archivedIn(t, board))
	require.Contains(t, c.view(), "archived 2 of 2 · 1 failed")
	require.Contains(t, c.view(), "✗ agent:main:s1")
	require.Contains(t, c.view(), `no session "agent:main:s1"`)
	c.press("enter")
	require.Empty(t, c.m.layers)
	c.press("z")
	require.Empty(t, archivedIn(t, board))
}

// What somebody else changed since is not taken back, and the operator is told.
func TestUndoMeetsAnotherHand(t *testing.T) {
	board, _ := newTroop(t)
	c := newConsole(t, board, 120, 30)
	c.press("x")
	c.now = c.now.Add(confirmGrace)
	c.press("y")
	label := "mine"
	_, err := board.Do(t.Context(), core.Command{Patch: &core.Patch{Session: "agent:main:s0", Label: &label}})
	require.NoError(t, err)
	c.press("z")
	require.Equal(t, []string{"s0"}, archivedIn(t, board))
	require.Contains(t, c.view(), "was changed since")
}

// Closing the layer of a job stops what has not begun.
func TestAJobIsStopped(t *testing.T) {
	c := newConsole(t, fleetOf(5), 80, 24)
	done := 0
	j := &job{verb: "touched"}
	for i := range 5 {
		j.tasks = append(j.tasks, task{key: fmt.Sprint(i), do: func(context.Context) (*core.Command, string, error) {
			if done++; done == 2 {
				c.press("esc")
			}
			return nil, "", nil
		}})
	}
	c.run(c.m.begin(j))
	require.Equal(t, 2, done)
	require.Equal(t, "touched 2 sessions · 3 left alone", c.footer())
}

// A console that only reads says why it archives nothing; one without a place for files why it exports nothing.
func TestReadOnly(t *testing.T) {
	_, store := newTroop(t)
	c := newConsole(t, boardOver(t, store, "", core.Actor{Kind: core.ActorOperator, ReadOnly: true}), 120, 30)
	c.press("x")
	require.Equal(t, "nothing can be changed: this was opened to read only", c.footer())
	c.press("E")
	require.Equal(t, "this console has no place to write files to", c.footer())
}

// Export tells for each session where its file is.
func TestExportMany(t *testing.T) {
	board, _ := newTroop(t)
	var asked []string
	c := consoleIn(t, Env{Board: board, Export: func(_ context.Context, key string) (string, error) {
		asked = append(asked, key)
		if strings.HasSuffix(key, "s1") {
			return "", core.Errorf(core.CodeStoreIO, "the disk is full")
		}
		return "out/" + key[len("agent:main:"):] + ".jsonl", nil
	}}, noon, 120, 30)
	c.press("shift+down", "shift+down", "E")
	require.Equal(t, []string{"agent:main:s0", "agent:main:s1", "agent:main:s2"}, asked, "in the order of the tree")
	require.Contains(t, c.view(), "out/s0.jsonl")
	require.Contains(t, c.view(), "the disk is full")
	require.Contains(t, c.view(), "exported 3 of 3 · 1 failed")
	c.press("enter")
	c.press("E")
	require.Equal(t, "exported out/s2.jsonl", c.footer())
}

// However marks are set, they are sessions, and what is chosen is what is marked.
func TestChosenIsWhatIsMarked(t *testing.T) {
	keys := []string{"m", "M", "shift+down", "shift+up", "ctrl+a", "up", "down", "g", "G", " ", "-", "+", "S", "a"}
	proptest.Check(t, func(t *rapid.T) {
		c := newConsole(t, fleetOf(5), 80, 24)
		for _, key := range rapid.SliceOfN(rapid.SampledFrom(keys), 0, 30).Draw(t, "keys") {
			c.press(key)
			for key := range c.m.marks.keys {
				require.NotNil(t, c.m.fleet.heads[key])
			}
			if n := len(c.m.marks.keys); n > 0 {
				chosen := c.m.chosen()
				require.Len(t, chosen, n)
				for _, key := range chosen {
					require.True(t, c.m.marks.keys[key])
				}
			}
		}
	})
}
