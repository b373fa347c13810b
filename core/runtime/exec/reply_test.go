package exec

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cordboard/core"
	"cordboard/core/proptest"
)

type written struct {
	core.Sink
	strings.Builder
	valid bool
}

func (w *written) Text(delta string) error {
	w.valid = w.valid && utf8.ValidString(delta) && delta != ""
	w.WriteString(delta)
	return nil
}

func replied(t require.TestingT, pieces ...[]byte) string {
	out := &written{valid: true}
	r := reply{out: out}
	for _, p := range pieces {
		require.NoError(t, r.write(p))
	}
	require.NoError(t, r.close())
	require.True(t, out.valid)
	return out.String()
}

// However the output comes, the reply is the same: each byte that belongs to no character replaced, line breaks at the end removed.
func TestPiecesDoNotMatter(t *testing.T) {
	piece := rapid.SliceOfN(rapid.OneOf(rapid.ByteRange(0, 255), rapid.SampledFrom([]byte("\n\r\xe2\x9c\x93\xf0\x9f"))), 0, 12)
	proptest.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOfN(piece, 0, 8).Draw(t, "pieces")
		whole := []byte{}
		for _, p := range pieces {
			whole = append(whole, p...)
		}
		want := strings.TrimRight(string([]rune(string(whole))), "\r\n")
		require.Equal(t, want, replied(t, pieces...))
	})
}

func TestCutReply(t *testing.T) {
	x := func(n int) []byte { return []byte(strings.Repeat("x", n)) }
	told := func(n string) string {
		return "\n[cut: the command wrote " + n + " bytes more than the 1048576 that a reply may have]"
	}
	for name, c := range map[string]struct {
		pieces [][]byte
		length int
		end    string
	}{
		"full":               {[][]byte{x(MaxReply)}, MaxReply, ""},
		"one more":           {[][]byte{x(MaxReply), x(1)}, MaxReply, told("1")},
		"breaks at the end":  {[][]byte{x(MaxReply - 1), []byte("\n")}, MaxReply - 1, ""},
		"too many breaks":    {[][]byte{x(MaxReply - 1), []byte("\n"), []byte("\n")}, MaxReply, told("1")},
		"within a character": {[][]byte{x(MaxReply - 1), []byte("é")}, MaxReply - 1, told("2")},
		"half at the end":    {[][]byte{x(MaxReply), []byte("\xe2\x9c")}, MaxReply, told("6")},
		"long after":         {[][]byte{x(MaxReply), x(5), x(70), []byte("\xff")}, MaxReply, told("76")},
	} {
		got := replied(t, c.pieces...)
		assert.True(t, strings.HasSuffix(got, c.end), name)
		assert.Len(t, strings.TrimSuffix(got, c.end), c.length, name)
	}
}

func FuzzReply(f *testing.F) {
	f.Add([]byte("a\xffb\xe2\x9c\x93\r\n\n"), 3)
	f.Fuzz(func(t *testing.T, whole []byte, at int) {
		at = min(max(at, 0), len(whole))
		assert.Equal(t, replied(t, whole), replied(t, whole[:at], whole[at:]))
	})
}
