package storetest

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"cordboard/core"
)

var transcriptCases = []testCase{
	{"a transcript's facts come back; its numbers are the store's", func(h *harness) {
		g := core.Generation{
			ID: "g", SessionID: "s", Key: "a", Agent: "main", State: core.GenerationReset, CreatedAt: 1, EndedAt: 2, File: "f",
			Messages: 99, ToolResults: 98, FirstSeq: 97, LastSeq: 96, Bytes: 95,
		}
		h.update(func(tx core.Tx) error { return tx.PutGeneration(g) })
		g.Messages, g.ToolResults, g.FirstSeq, g.LastSeq, g.Bytes = 0, 0, 0, 0, 0
		h.Equal(g, h.dump().Generations["g"])
		h.update(func(tx core.Tx) error {
			_, _, err := tx.Append("g", core.Message{Role: core.RoleUser, Raw: []byte(`"12"`)}, core.Message{Role: core.RoleEvent, Raw: []byte(`{"e":1}`)},
				core.Message{Role: core.RoleToolResult, Raw: []byte(`"567"`)})
			return err
		})
		g.Messages, g.ToolResults, g.FirstSeq, g.LastSeq, g.Bytes = 2, 1, 1, 3, 9
		h.Equal(g, h.dump().Generations["g"], "events take a seq and count for nothing")
		g.State = core.GenerationDeleted
		h.update(func(tx core.Tx) error {
			return tx.PutGeneration(core.Generation{
				ID: "g", SessionID: "s", Key: "a", Agent: "main",
				State: core.GenerationDeleted, CreatedAt: 1, EndedAt: 2, File: "f",
			})
		})
		h.Equal(g, h.dump().Generations["g"])
	}},
	{"messages come back byte for byte", func(h *harness) {
		want := []core.Message{
			{Seq: 1, Role: core.RoleUser, At: 5, Raw: []byte("{ \"role\":\"user\", \"n\":1.0 }")},
			{Seq: 2, Role: core.RoleAssistant, Flags: core.MessageError | core.MessageThinking, At: -5, Raw: []byte("\xff\xfe not JSON")},
			{Seq: 3, Role: core.RoleEvent, Raw: []byte("{}"), Before: []byte("{\"message\":"), After: []byte(",\"x\":1}\r")},
			{Seq: 4, Role: core.RoleOther, At: math.MaxInt64, Before: []byte("b")},
			{Seq: 5, Role: core.RoleToolResult, Raw: []byte(strings.Repeat("x", 1<<20)), After: []byte("a")},
		}
		h.update(func(tx core.Tx) error {
			if err := tx.PutGeneration(core.Generation{ID: "g"}); err != nil {
				return err
			}
			in := slices.Clone(want)
			for i := range in {
				in[i].Seq = 0
			}
			first, last, err := tx.Append("g", in...)
			h.EqualValues(1, first)
			h.EqualValues(5, last)
			return err
		})
		h.reopen()
		h.Equal(want, h.dump().Messages["g"])
	}},
	{"ranges with holes", messageRanges},
	{"appends go to the end of what is there", func(h *harness) {
		h.refuse(core.CodeNotFound, func(tx core.Tx) error { return appendText(tx, "absent", "x") })
		h.update(func(tx core.Tx) error { return tx.PutGeneration(core.Generation{ID: "g"}) })
		h.update(func(tx core.Tx) error {
			first, last, err := tx.Append("g", core.Message{Seq: 10}, core.Message{}, core.Message{Seq: 20})
			h.Equal([]uint64{10, 20}, []uint64{first, last})
			return err
		})
		for _, seq := range []uint64{1, 19, 20} {
			h.refuse(core.CodeInvalidParams, func(tx core.Tx) error {
				_, _, err := tx.Append("g", core.Message{}, core.Message{Seq: seq})
				return err
			})
		}
		rev := h.rev()
		h.Equal(rev, h.update(func(tx core.Tx) error {
			_, _, err := tx.Append("g")
			return err
		}), "no messages, no write")
		h.Equal([]uint64{10, 11, 20}, seqs(h.dump().Messages["g"]))
	}},
	{"the head follows the current transcript only", func(h *harness) {
		h.update(func(tx core.Tx) error {
			for _, id := range []string{"old", "new"} {
				if err := tx.PutGeneration(core.Generation{ID: id, Key: "a"}); err != nil {
					return err
				}
			}
			return appendText(tx, "old", "1", "2", "3")
		})
		h.putSessions(core.Session{Key: "a", SessionID: "old"}, core.Session{Key: "b", SessionID: "old"})
		h.EqualValues(3, h.head("a").LastSeq)
		h.Zero(h.head("b").LastSeq, "a transcript of another session")
		rowRev := h.head("a").Rev
		h.update(func(tx core.Tx) error { return appendText(tx, "old", "4") })
		h.EqualValues(4, h.head("a").LastSeq)
		h.Equal(rowRev, h.head("a").Rev, "the revision is the row's")
		h.update(func(tx core.Tx) error { return appendText(tx, "new", "1") })
		h.EqualValues(4, h.head("a").LastSeq)
		h.putSessions(core.Session{Key: "a", SessionID: "new"})
		h.EqualValues(1, h.head("a").LastSeq)
		h.update(func(tx core.Tx) error { return tx.PutGeneration(core.Generation{ID: "old", Key: "b"}) })
		h.EqualValues(4, h.head("b").LastSeq, "it moved to that session")
		h.update(func(tx core.Tx) error { return tx.DeleteGeneration("new") })
		h.Zero(h.head("a").LastSeq)
	}},
	{"transcripts of a session, of all, and of none", func(h *harness) {
		h.update(func(tx core.Tx) error {
			for i, key := range []string{"a", "b", "", "a", "aa"} {
				if err := tx.PutGeneration(core.Generation{ID: fmt.Sprint("g", i), Key: key}); err != nil {
					return err
				}
			}
			return nil
		})
		h.view(func(r core.Reader) {
			c := h.contentOf(r, universe{keys: []string{"a", "aa", "b"}})
			h.Equal([]string{"g0", "g3"}, c.OfSession["a"])
			h.Equal([]string{"g4"}, c.OfSession["aa"])
			h.Len(c.Generations, 5)
			var rest []string
			h.NoError(r.AllGenerations("g2", func(g *core.Generation) bool {
				rest = append(rest, g.ID)
				return true
			}))
			h.Equal([]string{"g3", "g4"}, rest)
		})
	}},
	{"a deleted transcript is gone at once and its id starts anew", deleteTranscript},
	{"ids of transcripts are bounded", func(h *harness) {
		for _, bad := range []string{"", "a\x00", strings.Repeat("i", core.MaxKeyBytes+1)} {
			h.refuse(core.CodeInvalidParams, func(tx core.Tx) error { return tx.PutGeneration(core.Generation{ID: bad}) })
		}
		h.refuse(core.CodeInvalidParams, func(tx core.Tx) error { return tx.PutGeneration(core.Generation{ID: "g", Key: "a\x00"}) })
	}},
}

func seqs(messages []core.Message) []uint64 {
	out := []uint64{}
	for i := range messages {
		out = append(out, messages[i].Seq)
	}
	return out
}

func messageRanges(h *harness) {
	h.update(func(tx core.Tx) error {
		for _, id := range []string{"before", "g", "later", "empty"} { // neighbours must not show
			if err := tx.PutGeneration(core.Generation{ID: id}); err != nil {
				return err
			}
			if id == "empty" {
				return nil
			}
			if _, _, err := tx.Append(id, core.Message{Seq: 3}, core.Message{Seq: 4}, core.Message{Seq: 8}, core.Message{Seq: math.MaxUint64}); err != nil {
				return err
			}
		}
		return nil
	})
	const top = math.MaxUint64
	for _, c := range []struct {
		after, before uint64
		want          []uint64
	}{
		{0, 0, []uint64{3, 4, 8, top}},
		{3, 0, []uint64{4, 8, top}},
		{5, 0, []uint64{8, top}},
		{0, 8, []uint64{3, 4}},
		{0, 9, []uint64{3, 4, 8}},
		{3, 8, []uint64{4}},
		{4, 8, []uint64{}},
		{7, 3, []uint64{}},
		{8, top, []uint64{}},
		{7, top, []uint64{8}},
		{top, 0, []uint64{}},
		{0, 1, []uint64{}},
	} {
		h.view(func(r core.Reader) {
			got := seqs(h.messages(r, "g", core.SeqRange{After: c.after, Before: c.before}))
			h.Equal(c.want, got, "after %d before %d", c.after, c.before)
			back := seqs(h.messages(r, "g", core.SeqRange{After: c.after, Before: c.before, Backward: true}))
			slices.Reverse(back)
			h.Equal(c.want, back, "backwards, after %d before %d", c.after, c.before)
			h.Empty(h.messages(r, "empty", core.SeqRange{After: c.after, Before: c.before}))
			h.Empty(h.messages(r, "absent", core.SeqRange{Backward: true}))
		})
	}
	h.refuse(core.CodeInvalidParams, func(tx core.Tx) error { return appendText(tx, "g", "full") })
}

func deleteTranscript(h *harness) {
	const many = 5000 // more than any store removes in one go
	h.update(func(tx core.Tx) error {
		for _, id := range []string{"f", "g", "h"} {
			if err := tx.PutGeneration(core.Generation{ID: id, Key: "a"}); err != nil {
				return err
			}
			if _, _, err := tx.Append(id, make([]core.Message, many)...); err != nil {
				return err
			}
		}
		return tx.PutSession(core.Session{Key: "a", SessionID: "g"})
	})
	h.update(func(tx core.Tx) error { return tx.DeleteGeneration("g") })
	h.view(func(r core.Reader) {
		_, ok, err := r.Generation("g")
		h.NoError(err)
		h.False(ok)
		h.Empty(h.messages(r, "g", core.SeqRange{}))
		h.Len(h.messages(r, "f", core.SeqRange{}), many)
		h.Len(h.messages(r, "h", core.SeqRange{}), many)
		h.Zero(h.head("a").LastSeq)
	})
	h.update(func(tx core.Tx) error {
		if err := tx.PutGeneration(core.Generation{ID: "g", Key: "a"}); err != nil {
			return err
		}
		return appendText(tx, "g", "anew")
	})
	h.reopen()
	h.Equal([]uint64{1}, seqs(h.dump().Messages["g"]))
	h.EqualValues(1, h.head("a").LastSeq)
	rev := h.rev()
	h.Equal(rev, h.update(func(tx core.Tx) error { return tx.DeleteGeneration("absent") }))
}
