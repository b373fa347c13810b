package main

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cordboard/core/proptest"
)

// pieces is a terminal whose bytes come in pieces; slow ones come after the time in which an ESC may go on.
type pieces struct {
	list []string
	slow bool
}

func (p *pieces) Read(b []byte) (int, error) {
	if len(p.list) == 0 {
		return 0, io.EOF
	}
	n := copy(b, p.list[0])
	if p.list[0] = p.list[0][n:]; p.list[0] == "" {
		p.list = p.list[1:]
	}
	return n, nil
}

// reads is what comes of the pieces, read by read.
func reads(t require.TestingT, slow bool, list ...string) []string {
	from := &pieces{list: list, slow: slow}
	k := &keyFrames{from: from, soon: func() bool { return !from.slow && len(from.list) > 0 }}
	var got []string
	buf := make([]byte, 256)
	for {
		n, err := k.Read(buf)
		require.Less(t, n, len(buf), "a full buffer is a key that may go on")
		if n > 0 {
			got = append(got, string(buf[:n]))
		}
		if err != nil {
			require.ErrorIs(t, err, io.EOF)
			return got
		}
	}
}

// No key is cut at any place, however quickly its parts follow each other.
func TestKeysComeWhole(t *testing.T) {
	for _, key := range []string{"\x1b[A", "\x1bOP", "\x1bx", "\x1bé", "\x1b\x1b[A", "\x1b\x1b", "\x1b[1;5C", "\x1b[<35;10;20M", "\x1b[M !!", "\x1b[[A", "é", "会", "👍", pasteStart} {
		for i := 1; i < len(key); i++ {
			got := reads(t, false, key[:i], key[i:])
			require.Equal(t, []string{key}, got, "%q cut after %d", key, i)
		}
	}
}

// A paste is between its marks wherever the line is slow: the only thing that may come before them is the ESC of the first, which is
// no command.
func TestASlowPasteStaysAPaste(t *testing.T) {
	paste := pasteStart + "axq\x03é\x1b[2q" + pasteEnd
	for i := 1; i < len(paste); i++ {
		got := strings.Join(reads(t, true, "j"+paste[:i], paste[i:]+"k"), "")
		if i == 1 {
			require.Equal(t, "j\x1b"+paste+"k", got)
			continue
		}
		if i == 2 { // nobody can tell what follows an ESC [ that stands alone
			continue
		}
		require.Equal(t, "j"+paste+"k", got, "cut after %d", i)
		require.Equal(t, "j"+paste+"k", strings.Join(reads(t, false, "j"+paste[:i], paste[i:]+"k"), ""))
	}
}

// Whatever is typed and pasted comes through as it is and in its order.
func TestNothingIsLostOfWhatIsTyped(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "\x1b[A", "\x1bOP", "é", "会", "\r", "\x1bx", "\x1b[Z", "\xff", pasteStart + "q\x1bé" + pasteEnd}), 0, 40)
		text := strings.Join(keys.Draw(t, "keys"), "")
		var list []string
		for rest := text; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			list, rest = append(list, rest[:n]), rest[n:]
		}
		require.Equal(t, text, strings.Join(reads(t, false, list...), ""))
	})
}

// esc alone is a key, and what is typed a while after it is no part of it.
func TestEscAlone(t *testing.T) {
	assert.Equal(t, []string{"\x1b", "q"}, reads(t, true, "\x1b", "q"))
	assert.Equal(t, []string{"\x1b", "[", "q"}, reads(t, true, "\x1b", "[", "q"))
	assert.Equal(t, []string{"\x1b", "\x1b[A"}, reads(t, true, "\x1b", "[A"), "an arrow on a slow line")
	assert.Equal(t, []string{"\x1bq"}, reads(t, false, "\x1b", "q"))
	assert.Equal(t, []string{"\x1b[", "q"}, reads(t, true, "\x1b[", "q"))
}

// A long paste comes in pieces, each between marks of its own and no rune of it cut; the library reads none of them anew too often.
func TestALongPasteComesInPieces(t *testing.T) {
	text := strings.Repeat("aé会q\r", 1<<17)
	got := strings.Join(reads(t, true, pasteStart+text+pasteEnd+"j"), "")
	list := strings.Split(strings.TrimSuffix(got, "j"), pasteEnd+pasteStart)
	require.Greater(t, len(list), 20)
	for _, each := range list {
		require.Less(t, len(each), 2*pastePiece)
		require.True(t, strings.ToValidUTF8(each, "") == each)
	}
	require.Equal(t, pasteStart+text+pasteEnd, strings.Join(list, ""))
}

// What was typed and pasted before the program read any: keys are keys, a paste runs nothing, also one that is still coming.
func TestPastedBeforeTheStart(t *testing.T) {
	for text, want := range map[string][2]string{
		"j" + pasteStart + "q" + pasteEnd + "k": {"jk", ""},
		"j" + pasteStart + "axq":                {"j", pasteStart},
		"j" + pasteStart + "axq\x1b[20":         {"j", pasteStart + "\x1b[20"},
		"j\x1b[20":                              {"j", "\x1b[20"},
		"j\x1b":                                 {"j", "\x1b"},
	} {
		typed, begun := cutTyped([]byte(text))
		var keys bytes.Buffer
		for _, msg := range keysOf(typed) {
			keys.WriteString(msg.(interface{ String() string }).String())
		}
		assert.Equal(t, want, [2]string{keys.String(), string(begun)}, "%q", text)
	}
}
