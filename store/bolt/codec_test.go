package bolt

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cordboard/core"
	"cordboard/core/proptest"
)

// FuzzDecoders: no bytes make a decoder panic or reach beyond them.
func FuzzDecoders(f *testing.F) {
	head := encodeHead(&core.Head{Key: "k", Title: "t", Parent: "p", Channel: "c", Tokens: 5, Kind: core.KindCron, Run: core.RunQueued})
	row, err := encodeRow(&core.Session{Key: "k", SessionID: "s"}, 3)
	require.NoError(f, err)
	f.Add(head)
	f.Add(row)
	f.Add(encodeMessage(&core.Message{Role: core.RoleUser, Raw: []byte("raw"), Before: []byte("b"), After: []byte("a")}))
	f.Add(encodeChanges([]core.Change{{Kind: core.ChangeRun, ID: "r", Deleted: true}, {Kind: core.ChangeMessages, ID: "g", FirstSeq: 1, LastSeq: 9}}))
	f.Add((&genHeader{number: 1, key: []byte("k")}).append(nil))
	f.Add(dueKey(core.Due{At: 1, Kind: "k", ID: "i"}))
	f.Add(bytes.Repeat([]byte{0xFF}, 40))
	f.Fuzz(func(_ *testing.T, data []byte) {
		var h core.Head
		decodeHead(append(make([]byte, 8), 'k'), data, &h)
		decodeHead(data, head, &h)
		var m core.Message
		_ = decodeMessage(make([]byte, 16), data, &m)
		_ = decodeMessage(data, data, &m)
		_, _, _ = decodeRow("k", data)
		_, _ = decodeGen("g", data)
		_, _, _ = decodeRun("r", data)
		_, _ = decodeChanges(data)
		_, _ = decodeDue(data)
	})
}

func TestMessagesSurvive(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		some := rapid.SliceOf(rapid.Byte())
		want := core.Message{
			Seq: rapid.Uint64().Draw(t, "seq"), Role: core.Role(rapid.Byte().Draw(t, "role")), Flags: core.MessageFlags(rapid.Byte().Draw(t, "flags")),
			At: rapid.Int64().Draw(t, "at"), Raw: some.Draw(t, "raw"), Before: some.Draw(t, "before"), After: some.Draw(t, "after"),
		}
		var got core.Message
		require.NoError(t, decodeMessage(messageKey(1, want.Seq), encodeMessage(&want), &got))
		require.True(t, bytes.Equal(want.Raw, got.Raw) && bytes.Equal(want.Before, got.Before) && bytes.Equal(want.After, got.After))
		want.Raw, want.Before, want.After, got.Raw, got.Before, got.After = nil, nil, nil, nil, nil, nil
		require.Equal(t, want, got)
	})
}

func TestTimesSort(t *testing.T) {
	times := []int64{math.MinInt64, -5, -1, 0, 1, 1 << 40, math.MaxInt64}
	var up, down [][]byte
	for _, at := range times {
		up = append(up, be64(ascending(at)))
		down = append(down, be64(descending(at)))
		require.Equal(t, at, fromAscending(ascending(at)))
		require.Equal(t, at, fromDescending(descending(at)))
	}
	require.True(t, slices.IsSortedFunc(up, bytes.Compare))
	slices.Reverse(down)
	require.True(t, slices.IsSortedFunc(down, bytes.Compare))
}

func TestRangesUnite(t *testing.T) {
	var c changeSet
	c.note(core.Change{Kind: core.ChangeMessages, ID: "g", FirstSeq: 5, LastSeq: 6})
	c.note(core.Change{Kind: core.ChangeGeneration, ID: "g"})
	c.note(core.Change{Kind: core.ChangeMessages, ID: "g", FirstSeq: 7, LastSeq: 9})
	c.note(core.Change{Kind: core.ChangeGeneration, ID: "g", Deleted: true})
	require.Equal(t, []core.Change{
		{Kind: core.ChangeMessages, ID: "g", FirstSeq: 5, LastSeq: 9},
		{Kind: core.ChangeGeneration, ID: "g", Deleted: true},
	}, c.list)
	got, err := decodeChanges(encodeChanges(c.list))
	require.NoError(t, err)
	require.Equal(t, c.list, got)
}
