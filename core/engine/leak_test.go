package engine_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
)

// Ways in which a session once learned of what it may not see.

// A search cursor opens nothing, whoever made it: a session that it names must be in the caller's sight.
func TestForgedSearchCursorFindsNothing(t *testing.T) {
	b := newBench(t, "", session("agent:main:main"), session("agent:ops:main"), session("agent:main:child", spawnedBy("agent:main:main")))
	for _, key := range []string{"agent:main:main", "agent:ops:main", "agent:main:child"} {
		b.say(key, user("needle"))
	}
	b.update(func(tx core.Tx) error {
		if err := tx.PutGeneration(core.Generation{ID: "lost", SessionID: "lost", State: core.GenerationOrphan}); err != nil {
			return err
		}
		_, _, err := tx.Append("lost", core.Message{Role: core.RoleUser, Raw: json.RawMessage(user("needle"))})
		return err
	})
	board := b.as("agent:main:main")
	for _, forged := range []map[string]any{
		{"u": noon.UnixMilli() + 1, "k": "agent:ops:main", "g": "id-of-agent:ops:main"},
		{"o": true, "g": "lost"},
		{"k": "agent:ops:main", "g": "lost", "o": true},
		{"u": noon.UnixMilli() + 1, "k": "agent:main:child", "g": "id-of-agent:ops:main"},
		{"k": "agent:main:main", "g": "id-of-agent:ops:main", "s": 9},
	} {
		raw, err := json.Marshal(forged)
		require.NoError(t, err)
		for _, q := range []core.SearchQuery{{}, {Generation: true}, {Session: "agent:main:main"}, {Session: "main", Generation: true}} {
			q.Text, q.Cursor = "needle", base64.RawURLEncoding.EncodeToString(raw)
			hits, _ := everyHit(t, board, q)
			for _, hit := range hits {
				assert.Contains(t, []string{"agent:main:main", "agent:main:child"}, hit.Session, "%v %+v", forged, q)
			}
		}
	}
}

// A session cannot ask under another scope than the one in force for it.
func TestSessionsCannotWidenTheirScope(t *testing.T) {
	b := newBench(t, "", session("agent:main:main"), session("agent:main:hidden"))
	for _, scope := range core.Visibilities {
		_, err := b.as("agent:main:main").Sessions(t.Context(), core.SessionQuery{Scope: scope})
		assert.Equal(t, core.CodeForbidden, core.CodeOf(err), scope)
	}
	page, err := b.as("").Sessions(t.Context(), core.SessionQuery{Viewpoint: "main", Scope: core.VisibilityAgent})
	require.NoError(t, err)
	assert.Len(t, page.Rows, 2)
}

// Where two sessions share a sessionId, or a hidden session's key is one, the caller's own still resolves: that it would not tells of the
// other.
func TestSharedSessionIDsTellNothing(t *testing.T) {
	shared := func(s *core.Session) { s.SessionID = "s1" }
	b := newBench(t, "", session("agent:main:main", shared), session("agent:other:y", shared),
		session("agent:main:child", spawnedBy("agent:main:main"), func(s *core.Session) { s.SessionID = "s2" }), session("agent:other:z", func(s *core.Session) { s.SessionID = "s2" }),
		session("agent:main:bare", func(s *core.Session) { s.SessionID = "s3" }))
	b.put(session("s3"))
	for _, c := range []struct{ as, id, key string }{{"agent:main:main", "s1", "main"}, {"agent:main:main", "s2", "agent:main:child"}, {"agent:main:bare", "s3", "agent:main:bare"}} {
		answer, code := b.call(c.as, "sessions_history", fmt.Sprintf(`{"sessionKey":%q}`, c.id))
		assert.Empty(t, code, "%+v: %v", c, answer)
		assert.Equal(t, c.key, answer["sessionKey"])
	}
}

// Info tells a session how many sessions it may see, not how many there are nor where they are kept.
func TestInfoKeepsToScope(t *testing.T) {
	b := newBench(t, `agents: {list: [{id: "main"}, {id: "ops"}, {id: "idle"}]}, channels: {chat: {type: "outbox"}}`, session("agent:main:main"), session("agent:main:hidden"), session("agent:ops:main"))
	info, err := b.as("agent:main:main").Info(t.Context())
	require.NoError(t, err)
	assert.Equal(t, 1, info.Store.Sessions)
	assert.Empty(t, info.Store.Path)
	assert.Zero(t, info.Store.Bytes)
	assert.Empty(t, info.Channels)
	require.Len(t, info.Agents, 1, "others that are configured are not named")
	assert.Equal(t, "main", info.Agents[0].ID)
	info, err = b.as("").Info(t.Context())
	require.NoError(t, err)
	assert.Len(t, info.Agents, 3)
	assert.Equal(t, []string{"chat"}, info.Channels)
	assert.Equal(t, 3, info.Store.Sessions)
	assert.NotEmpty(t, info.Store.Path)
}
