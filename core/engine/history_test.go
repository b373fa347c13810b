package engine_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
)

func trimmed(s string) string { return strings.TrimSpace(s) }

func replaceAll(raw []byte, part string) []byte {
	return bytes.ReplaceAll(raw, []byte(part), []byte("X"))
}

func texts(answer map[string]any) []string {
	list := []string{}
	for _, m := range answer["messages"].([]any) {
		list = append(list, fmt.Sprint(m.(map[string]any)["content"]))
	}
	return list
}

// E100, E101: tool results are left out before the limit counts.
func TestHistoryTools(t *testing.T) {
	b := newBench(t, "", session("agent:main:main"))
	b.say("agent:main:main", `{"role":"assistant","content":"old"}`, `{"role":"assistant","content":"ok"}`, `{"role":"toolResult","content":"r"}`, `{"role":"tool","content":"r2"}`)
	for _, as := range []string{"", "agent:main:main"} {
		answer, _ := b.call(as, "sessions_history", `{"sessionKey":"agent:main:main","limit":1}`)
		assert.Equal(t, []string{"ok"}, texts(answer))
		answer, _ = b.call(as, "sessions_history", `{"sessionKey":"agent:main:main","includeTools":true}`)
		assert.Equal(t, []string{"old", "ok", "r", "r2"}, texts(answer))
	}
}

// The operator gets every byte, odd numbers, escapes and order included; a session the same text without what it must not have.
func TestHistoryIsByteExactForTheOperator(t *testing.T) {
	b := newBench(t, "", session("agent:main:main"))
	raw := `{"z":1.0,"role":"assistant","big":12345678901234567890,"content":[{"type":"text","text":"\u00e9 <b> \/ sk-1234567890abcdef1234"}],"a":{},"usage":{"input":1}}`
	b.say("agent:main:main", raw)
	result, err := b.as("").Call(t.Context(), core.ToolCall{Tool: "sessions_history", Params: json.RawMessage(`{"sessionKey":"main"}`)})
	require.NoError(t, err)
	assert.Contains(t, string(result.Body), raw)

	answer, _ := b.call("agent:main:main", "sessions_history", `{"sessionKey":"main"}`)
	assert.Equal(t, true, answer["contentRedacted"])
	assert.NotContains(t, fmt.Sprint(answer), "1234567890abcdef")
	assert.NotContains(t, fmt.Sprint(answer), "usage")

	off := newBench(t, `logging: { redactSensitive: "off" }`, session("agent:main:main"))
	off.say("agent:main:main", raw)
	answer, _ = off.call("agent:main:main", "sessions_history", `{"sessionKey":"main"}`)
	assert.Contains(t, fmt.Sprint(answer), "sk-1234567890abcdef1234")
}

// R069: paging backwards sees each message once while new ones arrive.
func TestHistoryPagesWhileItGrows(t *testing.T) {
	b := newBench(t, "", session("agent:main:main"))
	for i := range 150 {
		b.say("agent:main:main", fmt.Sprintf(`{"role":"user","content":"m%03d"}`, i))
	}
	for _, as := range []string{"", "agent:main:main"} {
		seen, before := map[string]int{}, ""
		for page := 0; ; page++ {
			params := `{"sessionKey":"agent:main:main","limit":50}`
			if before != "" {
				params = fmt.Sprintf(`{"sessionKey":"agent:main:main","limit":50,"before":%q}`, before)
			}
			answer, code := b.call(as, "sessions_history", params)
			require.Empty(t, code, "%v", answer)
			for _, text := range texts(answer) {
				seen[text]++
			}
			b.say("agent:main:main", `{"role":"user","content":"new"}`)
			next, more := answer["nextBefore"]
			if !more {
				break
			}
			before = next.(string)
		}
		for i := range 150 {
			assert.Equal(t, 1, seen[fmt.Sprintf("m%03d", i)], as)
		}
	}
}

// R059, R072: a sessionId works like the key, an older generation is read by its own, an unknown one is an error.
func TestHistoryBySessionID(t *testing.T) {
	b := newBench(t, "", session("agent:main:main", func(s *core.Session) { s.SessionID = "now" }), session("agent:main:x"))
	b.say("agent:main:main", `{"role":"user","content":"after"}`)
	b.update(func(tx core.Tx) error {
		if err := tx.PutGeneration(core.Generation{ID: "then", SessionID: "then", Key: "agent:main:main", State: core.GenerationReset}); err != nil {
			return err
		}
		_, _, err := tx.Append("then", core.Message{Role: core.RoleUser, Raw: json.RawMessage(`{"role":"user","content":"before"}`)})
		return err
	})
	for _, as := range []string{"", "agent:main:main"} {
		byKey, _ := b.call(as, "sessions_history", `{"sessionKey":"agent:main:main"}`)
		byID, _ := b.call(as, "sessions_history", `{"sessionKey":"now"}`)
		assert.Equal(t, byKey, byID)
		old, _ := b.call(as, "sessions_history", `{"sessionKey":"then"}`)
		assert.Equal(t, []string{"before"}, texts(old))
		assert.Equal(t, true, old["archived"])
		_, code := b.call(as, "sessions_history", `{"sessionKey":"d4f5a5a1-9f75-42cf-83a6-8d170e6a1538"}`)
		assert.Equal(t, core.CodeNotFound, code)
	}
	_, code := b.call("agent:main:x", "sessions_history", `{"sessionKey":"then"}`)
	assert.Equal(t, core.CodeNotFound, code, "hidden and absent are one answer")
}

// A transcript that no session names is the operator's alone.
func TestOrphansAreTheOperators(t *testing.T) {
	b := newBench(t, `tools:{sessions:{visibility:"all"}}`, session("agent:main:main"))
	b.update(func(tx core.Tx) error {
		if err := tx.PutGeneration(core.Generation{ID: "lost", SessionID: "lost", Agent: "main", State: core.GenerationOrphan}); err != nil {
			return err
		}
		_, _, err := tx.Append("lost", core.Message{Role: core.RoleUser, Raw: json.RawMessage(`{"role":"user","content":"found"}`)})
		return err
	})
	answer, _ := b.call("", "sessions_history", `{"sessionKey":"lost"}`)
	assert.Equal(t, []string{"found"}, texts(answer))
	_, code := b.call("agent:main:main", "sessions_history", `{"sessionKey":"lost"}`)
	assert.Equal(t, core.CodeNotFound, code)
	page, err := b.as("").Records(t.Context(), core.RecordQuery{Kind: core.RecordOrphans})
	require.NoError(t, err)
	assert.Equal(t, "lost", page.Generations[0].ID)
	messages, err := b.as("").Messages(t.Context(), core.MessageQuery{Generation: "lost"})
	require.NoError(t, err)
	assert.Len(t, messages.Messages, 1)
	_, err = b.as("agent:main:main").Messages(t.Context(), core.MessageQuery{Generation: "lost"})
	assert.Equal(t, core.CodeNotFound, core.CodeOf(err))
}

// A cursor is only good for the transcript it came from: it opens no other.
func TestHistoryCursorOpensNothing(t *testing.T) {
	b := newBench(t, "", session("agent:main:main"), session("agent:ops:main"))
	for range 3 {
		b.say("agent:ops:main", `{"role":"user","content":"secret"}`)
	}
	answer, _ := b.call("agent:ops:main", "sessions_history", `{"sessionKey":"main","limit":1}`)
	refused, code := b.call("agent:main:main", "sessions_history", fmt.Sprintf(`{"sessionKey":"main","before":%q}`, answer["nextBefore"]))
	assert.Equal(t, core.CodeInvalidParams, code)
	assert.NotContains(t, fmt.Sprint(refused), "secret")
}

// Board.Messages pages both ways over holes, and Redact masks without touching the store.
func TestMessagesPages(t *testing.T) {
	b := newBench(t, "", session("agent:main:main"))
	for i := range 10 {
		b.say("agent:main:main", fmt.Sprintf(`{"role":"user","content":"key sk-1234567890abcdef1234 %d"}`, i))
	}
	board := b.as("")
	newest, err := board.Messages(t.Context(), core.MessageQuery{Session: "agent:main:main", Limit: 4})
	require.NoError(t, err)
	require.Len(t, newest.Messages, 4)
	assert.True(t, newest.More)
	older, err := board.Messages(t.Context(), core.MessageQuery{Session: "agent:main:main", Limit: 4, Before: newest.Messages[0].Seq})
	require.NoError(t, err)
	assert.Less(t, older.Messages[3].Seq, newest.Messages[0].Seq)
	first, err := board.Messages(t.Context(), core.MessageQuery{Session: "agent:main:main", Oldest: true, Limit: 9, Redact: true})
	require.NoError(t, err)
	assert.True(t, first.More)
	assert.NotContains(t, string(first.Messages[0].Raw), "1234567890abcdef")
	last, err := board.Messages(t.Context(), core.MessageQuery{Session: "agent:main:main", After: first.Messages[8].Seq})
	require.NoError(t, err)
	require.Len(t, last.Messages, 1)
	assert.False(t, last.More)
	assert.Contains(t, string(last.Messages[0].Raw), "sk-1234567890abcdef1234 9")
}
