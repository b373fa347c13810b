package engine_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
)

// everyHit takes all pages of a search.
func everyHit(t *testing.T, b core.Board, q core.SearchQuery) (hits []core.SearchHit, pages int) {
	t.Helper()
	for {
		page, err := b.Search(t.Context(), q)
		require.NoError(t, err)
		hits, pages = append(hits, page.Hits...), pages+1
		require.Less(t, pages, 10_000, "the cursor stands still")
		if q.Cursor = page.Next; q.Cursor == "" {
			return hits, pages
		}
	}
}

func user(text string) string {
	raw, _ := json.Marshal(map[string]any{"role": "user", "content": []any{map[string]any{"type": "text", "text": text}}})
	return string(raw)
}

func TestSearchFindsTextAsPeopleReadIt(t *testing.T) {
	for _, c := range []struct{ name, raw, text, match string }{
		{"upper and lower case", user("The Rollback was fine"), "rollBACK", "Rollback"},
		{"string content", `{"role":"user","content":"plain words"}`, "plain", "plain"},
		{"escaped quote", user(`he said "stop" twice`), `"stop"`, `"stop"`},
		{"escaped newline reads as a blank between words", user("one\ntwo"), "one\ntwo", "one two"},
		{"escaped unicode", `{"role":"user","content":"caf\u00e9"}`, "café", "café"},
		{"written unicode", user("café"), "CAFÉ", "café"},
		{"cjk", user("会議室を予約する"), "予約", "予約"},
		{"emoji", user("done 🎉 today"), "🎉", "🎉"},
		{"backslash", user(`C:\temp`), `c:\temp`, `C:\temp`},
		{"escaped slash", `{"role":"user","content":"a\/b"}`, "a/b", "a/b"},
		{"html", user("a <b> & c"), "<b> &", "<b> &"},
		{"tool call arguments", `{"role":"assistant","content":[{"type":"toolCall","id":"1","name":"exec","arguments":{"cmd":"df -h"}}]}`, "df -h", "df -h"},
		{"thinking", `{"role":"assistant","content":[{"type":"thinking","thinking":"perhaps not"}]}`, "perhaps", "perhaps"},
		{"cause of a failure", `{"role":"assistant","content":[],"stopReason":"error","errorMessage":"429 too many"}`, "too many", "too many"},
		{"a dotted capital", user("İstanbul trip"), "İstanbul trip", "İstanbul trip"},
		{"the Kelvin sign", user("at 273\u212a now"), "273\u212a", "273\u212a"},
		{"letters k and s", user("sinks and risks"), "SINKS AND", "sinks and"},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, "", session("agent:main:main"))
			b.say("agent:main:main", user("nothing of it"), c.raw)
			hits, _ := everyHit(t, b.as(""), core.SearchQuery{Text: c.text})
			require.Len(t, hits, 1)
			assert.Equal(t, c.match, hits[0].Snippet[hits[0].Match[0]:hits[0].Match[1]])
			assert.Equal(t, "agent:main:main", hits[0].Session)
		})
	}
}

// What JSON adds around a text is not text.
func TestSearchDoesNotFindMarkup(t *testing.T) {
	b := newBench(t, "", session("agent:main:main"))
	b.say("agent:main:main", user("hello"))
	for _, text := range []string{"toolCall", "role", `"type"`, "user"} {
		hits, _ := everyHit(t, b.as(""), core.SearchQuery{Text: text})
		assert.Empty(t, hits, text)
	}
}

// However small the steps, a search that goes on from its cursor finds each message exactly once, newest session and message first.
func TestSearchSteps(t *testing.T) {
	b := newBench(t, "", session("agent:main:a"), session("agent:main:empty"), session("agent:main:b"), session("agent:ops:c"))
	var want []string
	for _, key := range []string{"agent:main:a", "agent:main:b", "agent:ops:c"} {
		for i := range 7 {
			b.say(key, user(fmt.Sprintf("needle %d", i)), user("hay"))
		}
		for i := 6; i >= 0; i-- {
			want = append(want, fmt.Sprintf("%s needle %d", key, i))
		}
	}
	for _, limit := range []int{1, 2, 3, 50} {
		hits, _ := everyHit(t, b.as(""), core.SearchQuery{Text: "needle", Limit: limit})
		var got []string
		for _, hit := range hits {
			got = append(got, hit.Session+" "+hit.Snippet)
		}
		assert.Equal(t, want, got, "limit %d", limit)
	}
	hits, _ := everyHit(t, b.as(""), core.SearchQuery{Text: "needle", Agent: "ops", Limit: 2})
	assert.Len(t, hits, 7)
	hits, _ = everyHit(t, b.as(""), core.SearchQuery{Text: "needle", Session: "agent:main:b", Limit: 3})
	assert.Len(t, hits, 7)
}

// One call looks at a bounded number of bytes, found or not.
func TestSearchIsBoundedPerCall(t *testing.T) {
	b := newBench(t, "", session("agent:main:a"), session("agent:main:b"))
	big := user(strings.Repeat("hay ", 5<<20/4))
	for range 6 {
		b.say("agent:main:a", big)
	}
	b.say("agent:main:b", user("needle"))
	hits, pages := everyHit(t, b.as(""), core.SearchQuery{Text: "needle"})
	assert.Len(t, hits, 1)
	assert.Greater(t, pages, 1)
}

// A session's search goes where its tools go.
func TestSearchKeepsToScope(t *testing.T) {
	b := newBench(t, "", session("agent:main:main"), session("agent:main:other"), session("agent:x:child", spawnedBy("agent:main:main")))
	for _, key := range []string{"agent:main:main", "agent:main:other", "agent:x:child"} {
		b.say(key, user("needle"))
	}
	hits, _ := everyHit(t, b.as("agent:main:main"), core.SearchQuery{Text: "needle"})
	assert.Len(t, hits, 2)
	_, err := b.as("agent:main:main").Search(t.Context(), core.SearchQuery{Text: "needle", Session: "agent:main:other"})
	assert.Equal(t, core.CodeForbidden, core.CodeOf(err))
}

// Older transcripts and those without a session are searched when asked for.
func TestSearchGenerations(t *testing.T) {
	b := newBench(t, "", session("agent:main:main"))
	b.say("agent:main:main", user("needle now"))
	b.update(func(tx core.Tx) error {
		for _, g := range []core.Generation{
			{ID: "then", SessionID: "then", Key: "agent:main:main", State: core.GenerationReset},
			{ID: "lost1", SessionID: "lost1", Agent: "main", State: core.GenerationOrphan},
			{ID: "lost2", SessionID: "lost2", Key: "agent:main:gone", State: core.GenerationDeleted},
		} {
			if err := tx.PutGeneration(g); err != nil {
				return err
			}
			raw := json.RawMessage(user("needle in " + g.ID))
			if _, _, err := tx.Append(g.ID, core.Message{Role: core.RoleUser, Raw: raw}); err != nil {
				return err
			}
		}
		return nil
	})
	hits, _ := everyHit(t, b.as(""), core.SearchQuery{Text: "needle"})
	assert.Len(t, hits, 1)
	for _, limit := range []int{1, 10} {
		hits, _ = everyHit(t, b.as(""), core.SearchQuery{Text: "needle", Generation: true, Limit: limit})
		assert.Len(t, hits, 4, "limit %d", limit)
	}
}

func TestSearchRefusesWhatItCannotLookFor(t *testing.T) {
	b := newBench(t, "", session("agent:main:main"))
	for _, q := range []core.SearchQuery{{Text: "  "}, {Text: strings.Repeat("x", 2000)}, {Text: "x", Limit: -1}, {Text: "x", Cursor: "!"}, {Text: "x", Cursor: "e30x"}} {
		_, err := b.as("").Search(t.Context(), q)
		assert.Equal(t, core.CodeInvalidParams, core.CodeOf(err), "%+v", q)
	}
}

// A console looks through what was appended since it last looked.
func TestSearchAfterAMessage(t *testing.T) {
	b := newBench(t, "", session("agent:main:main"))
	for i := range 6 {
		b.say("agent:main:main", user(fmt.Sprintf("the bell %d", i)))
	}
	for after, want := range map[uint64]int{1: 5, 4: 2, 6: 0, 99: 0} {
		hits, _ := everyHit(t, b.as(""), core.SearchQuery{Text: "bell", Session: "agent:main:main", After: after, Limit: 1})
		require.Len(t, hits, want)
		for _, h := range hits {
			assert.Greater(t, h.Seq, after)
		}
	}
	_, err := b.as("").Search(t.Context(), core.SearchQuery{Text: "bell", After: 1})
	assert.Equal(t, core.CodeInvalidParams, core.CodeOf(err))
}
