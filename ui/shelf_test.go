package ui

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/store/bolt"
)

// shelf is the real engine on a store of its own, for stories about reading.
type shelf struct {
	t     testing.TB
	store *bolt.Store
	board core.Board
	at    time.Time // of the next message
}

func newShelf(t testing.TB) *shelf {
	t.Helper()
	board, store := engineOn(t, false)
	return &shelf{t: t, store: store, board: board, at: noon.Add(-2 * time.Hour)}
}

func idOf(key string) string { return "id-of-" + key[len("agent:"):] }

func (s *shelf) update(fn func(core.Tx) error) {
	s.t.Helper()
	_, err := s.store.Update(context.Background(), fn)
	require.NoError(s.t, err)
}

// session writes a session and what was said in it, as JSON objects or as an agent's texts.
func (s *shelf) session(key string, said ...string) {
	s.t.Helper()
	s.update(func(tx core.Tx) error {
		id := idOf(key)
		if err := tx.PutSession(core.Session{Key: key, SessionID: id, UpdatedAt: s.at.UnixMilli()}); err != nil {
			return err
		}
		return tx.PutGeneration(core.Generation{ID: id, SessionID: id, Key: key, State: core.GenerationCurrent, CreatedAt: s.at.UnixMilli()})
	})
	s.say(idOf(key), said...)
}

// orphan writes a transcript that no session names.
func (s *shelf) orphan(id string, said ...string) {
	s.t.Helper()
	s.update(func(tx core.Tx) error {
		return tx.PutGeneration(core.Generation{ID: id, SessionID: id, Agent: "main", State: core.GenerationOrphan, CreatedAt: s.at.UnixMilli()})
	})
	s.say(id, said...)
}

// say appends to a transcript, a minute between messages.
func (s *shelf) say(id string, said ...string) {
	s.t.Helper()
	s.update(func(tx core.Tx) error {
		list := make([]core.Message, len(said))
		for i, text := range said {
			list[i] = s.message(text)
		}
		_, _, err := tx.Append(id, list...)
		return err
	})
}

func (s *shelf) message(said string) core.Message {
	s.t.Helper()
	raw := []byte(said)
	if !json.Valid(raw) || raw[0] != '{' {
		raw = fmt.Appendf(nil, `{"role":"assistant","content":%s}`, quoted(said))
	}
	role, flags, at, err := core.Inspect(raw)
	require.NoError(s.t, err)
	if at == 0 {
		s.at = s.at.Add(time.Minute)
		at = s.at.UnixMilli()
	}
	if _, event := core.Field(raw, "type"); event {
		role, flags = core.RoleEvent, 0
	}
	return core.Message{Role: role, Flags: flags, At: at, Raw: raw}
}

func quoted(text string) string {
	out, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(out)
}

// read opens the transcript of a session.
func (s *shelf) read(key string, w, h int) *console {
	s.t.Helper()
	c := newConsole(s.t, s.board, w, h)
	c.open(key)
	c.press("enter")
	return c
}

// find opens the search line and types a text into it.
func (c *console) find(text string) {
	c.press("/")
	c.typed(text)
	c.press("enter")
}

// under is the text of the message under the cursor.
func (c *console) under() string {
	c.t.Helper()
	m := c.m.trans.current()
	require.NotNil(c.t, m, "no message is under the cursor")
	text := ""
	for b := range core.Blocks(m.Raw) {
		text += b.Text
	}
	return text
}
