package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/core/config"
	"cordboard/core/engine"
	"cordboard/store/bolt"
)

// noon is the time all tests live in.
var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// fakeClock stands still until someone sleeps.
type fakeClock struct{ now time.Time }

func (c *fakeClock) Now() time.Time { return c.now }

func (c *fakeClock) Sleep(ctx context.Context, d time.Duration) error {
	c.now = c.now.Add(d)
	return ctx.Err()
}

// bench is one engine over one store, with what a test asks most.
type bench struct {
	t      *testing.T
	store  *bolt.Store
	engine *engine.Engine
}

// newBench opens an engine under a config given as JSON5 ("" for the defaults) over a store with the given sessions.
func newBench(t *testing.T, configText string, sessions ...core.Session) *bench {
	t.Helper()
	cfg, _, err := config.Parse("test.json5", []byte("{"+configText+"}"))
	require.NoError(t, err)
	store, err := bolt.Open(bolt.Options{Dir: t.TempDir()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close()) })
	e, err := engine.New(store, cfg, engine.Options{Version: "test", Owner: "test", Clock: &fakeClock{now: noon}})
	require.NoError(t, err)
	b := &bench{t: t, store: store, engine: e}
	for i, s := range sessions {
		if s.UpdatedAt == 0 {
			s.UpdatedAt = noon.UnixMilli() - int64(i)*1000
		}
		b.put(s)
	}
	return b
}

// put writes a session with an empty current transcript named as its key when it names none.
func (b *bench) put(s core.Session) {
	b.t.Helper()
	if s.SessionID == "" {
		s.SessionID = "id-of-" + s.Key
	}
	b.update(func(tx core.Tx) error {
		if err := tx.PutSession(s); err != nil {
			return err
		}
		return tx.PutGeneration(core.Generation{ID: s.SessionID, SessionID: s.SessionID, Key: s.Key, State: core.GenerationCurrent})
	})
}

func (b *bench) update(fn func(core.Tx) error) {
	b.t.Helper()
	_, err := b.store.Update(context.Background(), fn)
	require.NoError(b.t, err)
}

// say appends messages given as JSON objects to a session's transcript.
func (b *bench) say(key string, raws ...string) {
	b.t.Helper()
	b.update(func(tx core.Tx) error {
		s, ok, err := tx.Session(key)
		if err != nil || !ok {
			return fmt.Errorf("session %s: %v %v", key, ok, err)
		}
		for _, raw := range raws {
			role, flags, at, err := core.Inspect([]byte(raw))
			if err != nil {
				return err
			}
			if _, _, err := tx.Append(s.SessionID, core.Message{Role: role, Flags: flags, At: at, Raw: json.RawMessage(raw)}); err != nil {
				return err
			}
		}
		return nil
	})
}

// as is the board of a session, or the operator's for "".
func (b *bench) as(key string) core.Board {
	b.t.Helper()
	actor := core.Operator
	if key != "" {
		actor = core.Actor{Kind: core.ActorSession, Session: key}
	}
	board, err := b.engine.Board(context.Background(), actor)
	require.NoError(b.t, err)
	return board
}

// call runs a tool as a session and returns its answer decoded, with the refusal's code or "".
func (b *bench) call(as, tool, params string) (map[string]any, core.Code) {
	b.t.Helper()
	result, err := b.as(as).Call(context.Background(), core.ToolCall{Tool: tool, Params: json.RawMessage(params)})
	require.NoError(b.t, err)
	var answer map[string]any
	require.NoError(b.t, json.Unmarshal(result.Body, &answer), "%s", result.Body)
	if result.Refused != nil {
		return answer, result.Refused.Code
	}
	return answer, ""
}

// keys are the keys sessions_list shows, in order.
func (b *bench) keys(as, params string) []string {
	b.t.Helper()
	answer, code := b.call(as, "sessions_list", params)
	require.Empty(b.t, code, "%v", answer)
	keys := []string{}
	for _, row := range answer["sessions"].([]any) {
		keys = append(keys, row.(map[string]any)["key"].(string))
	}
	return keys
}

func session(key string, change ...func(*core.Session)) core.Session {
	s := core.Session{Key: key}
	for _, fn := range change {
		fn(&s)
	}
	return s
}

func spawnedBy(parent string) func(*core.Session) {
	return func(s *core.Session) { s.SpawnedBy = parent }
}
