package openclaw

import (
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cordboard/core"
	"cordboard/core/proptest"
)

func TestCutLine(t *testing.T) {
	const message = `{"role":"assistant","content":[{"type":"text","text":"a\u0000 \"}{"}],"timestamp":1796029200000}`
	const line = `{"type":"message","id":"x","timestamp":"2026-11-30T08:00:00.001Z","message":` + message + `}`
	cases := []struct {
		name, line string
		role       core.Role
		raw        string
		at         int64
		flags      core.MessageFlags
		ok         bool
		reason     string
	}{
		{"message", line, core.RoleAssistant, message, 1796029200000, 0, true, ""},
		{"CRLF", line + "\r", core.RoleAssistant, message, 1796029200000, 0, true, ""},
		{"byte order mark", "\ufeff" + line, core.RoleAssistant, message, 1796029200000, 0, true, ""},
		{"NUL bytes before it", "\x00\x00" + line, core.RoleAssistant, message, 1796029200000, 0, true, ""},
		{"space inside", `{ "message" : {"role":"user"} , "timestamp":5 }`, core.RoleUser, `{"role":"user"}`, 5, 0, true, ""},
		{"time of the line", `{"timestamp":"2026-11-30T08:00:00.001Z","message":{"role":"user"}}`, core.RoleUser, `{"role":"user"}`, 1796025600001, 0, true, ""},
		{"no time", `{"message":{"role":"user"}}`, core.RoleUser, `{"role":"user"}`, 0, 0, true, ""},
		{"tool in older files", `{"message":{"role":"tool"}}`, core.RoleToolResult, `{"role":"tool"}`, 0, 0, true, ""},
		{"strange role", `{"message":{"role":7}}`, core.RoleOther, `{"role":7}`, 0, 0, true, ""},
		{"twice: the last counts", `{"message":{"role":"user"},"message":{"role":"system"}}`, core.RoleSystem, `{"role":"system"}`, 0, 0, true, ""},
		{"the same object elsewhere", `{"x":{"role":"user"},"message":{"role":"user"}}`, core.RoleUser, `{"role":"user"}`, 0, 0, true, ""},
		{"invalid UTF-8", "{\"message\":{\"role\":\"user\",\"content\":\"\xff\"}}", core.RoleUser, "{\"role\":\"user\",\"content\":\"\xff\"}", 0, core.MessageInvalidUTF8, true, ""},
		{"error", `{"message":{"role":"assistant","stopReason":"error"}}`, core.RoleAssistant, `{"role":"assistant","stopReason":"error"}`, 0, core.MessageError, true, ""},
		{"header", strings.TrimSpace(header), core.RoleEvent, strings.TrimSpace(header), 1796025600250, 0, true, ""},
		{"message within data only", `{"data":{"message":{"role":"user"}}}`, core.RoleEvent, `{"data":{"message":{"role":"user"}}}`, 0, 0, true, ""},
		{"message is a string", `{"message":"hi"}`, core.RoleEvent, `{"message":"hi"}`, 0, 0, true, "not an object"},
		{"message is null", `{"message":null}`, core.RoleEvent, `{"message":null}`, 0, 0, true, "not an object"},
		{"empty", "", 0, "", 0, 0, false, ""},
		{"blank", " \t\r", 0, "", 0, 0, false, ""},
		{"NUL bytes only", "\x00\x00\x00", 0, "", 0, 0, false, "NUL bytes"},
		{"half a line", line[:40], 0, "", 0, 0, false, "not one JSON object"},
		{"two objects", `{} {}`, 0, "", 0, 0, false, "not one JSON object"},
		{"a number", "42", 0, "", 0, 0, false, "not one JSON object"},
		{"NUL inside", "{\"a\":\"\x00\"}", 0, "", 0, 0, false, "not one JSON object"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			m, ok, reason := cutLine([]byte(c.line))
			assert.Equal(t, c.ok, ok)
			if c.reason == "" {
				assert.Empty(t, reason)
			} else {
				assert.Contains(t, reason, c.reason)
			}
			if !ok {
				return
			}
			assert.Equal(t, c.role, m.Role)
			assert.Equal(t, c.raw, string(m.Raw))
			assert.Equal(t, c.at, m.At)
			assert.Equal(t, c.flags, m.Flags)
			assert.Equal(t, c.line, string(m.Before)+string(m.Raw)+string(m.After), "the parts are the line")
		})
	}
}

func FuzzCutLine(f *testing.F) {
	f.Add([]byte(said("user", "x")))
	f.Add([]byte(`{"message":{"message":{}}}`))
	f.Add([]byte("\ufeff{\"message\":{}}\x00"))
	f.Fuzz(func(t *testing.T, line []byte) {
		m, ok, _ := cutLine(line)
		if ok {
			require.Equal(t, string(line), string(m.Before)+string(m.Raw)+string(m.After))
			_, _, _, err := core.Inspect(m.Raw)
			require.NoError(t, err)
		}
	})
}

// A file comes apart into its lines and nothing else, at any size of a read; and it does so from the end of any line, when what lies
// before has not changed.
func TestLinesAreTheFile(t *testing.T) {
	proptest.Check(t, func(rt *rapid.T) {
		parts := rapid.SliceOfN(rapid.StringMatching(`[a-c]{0,9}`), 0, 30).Draw(rt, "lines")
		text := strings.Join(parts, "\n")
		size := rapid.IntRange(1, 40).Draw(rt, "chunk")
		var again strings.Builder
		type place struct {
			offset int64
			sum    string
		}
		places := []place{}
		r := newLineReader(strings.NewReader(text), 0, int64(len(text)))
		r.chunk = size
		for {
			line, complete, err := r.next()
			if err == io.EOF {
				break
			}
			require.NoError(rt, err)
			again.Write(line)
			if complete {
				again.WriteByte('\n')
			}
			require.Equal(rt, int64(again.Len()), r.offset)
			places = append(places, place{r.offset, r.sum()})
		}
		require.Equal(rt, text, again.String())
		for _, p := range places {
			r, ok, err := resume(strings.NewReader(text), int64(len(text)), p.offset, p.sum, rapid.Bool().Draw(rt, "ends"))
			require.NoError(rt, err)
			require.True(rt, ok)
			var rest strings.Builder
			for {
				line, complete, err := r.next()
				if err == io.EOF {
					break
				}
				rest.Write(line)
				if complete {
					rest.WriteByte('\n')
				}
			}
			require.Equal(rt, text[p.offset:], rest.String())
			require.Equal(rt, places[len(places)-1].sum, r.sum())
		}
	})
}

func TestSumCoversAllThatWasRead(t *testing.T) {
	text := bytes.Repeat([]byte("0123456789abcde\n"), 4096) // 64 KiB
	r := newLineReader(bytes.NewReader(text), 0, int64(len(text)))
	for r.offset < 60000 {
		_, _, err := r.next()
		require.NoError(t, err)
	}
	offset, sum := r.offset, r.sum()
	old, _, ok := splitSum(sum)
	require.True(t, ok)
	for at, atEnd := range map[int64]bool{0: true, 4000: true, 4096: false, 30000: false, offset - 4097: false, offset - 4000: true, offset - 1: true} {
		other := bytes.Clone(text)
		other[at] = 'X'
		is := func(sum string, ends bool) bool {
			_, same, err := resume(bytes.NewReader(other), int64(len(other)), offset, sum, ends)
			require.NoError(t, err)
			return same
		}
		assert.False(t, is(sum, false), at)
		assert.Equal(t, !atEnd, is(sum, true), "both ends only: %d", at)
		assert.Equal(t, !atEnd, is(old, false), "a sum of an older store: %d", at)
	}
	r, same, err := resume(bytes.NewReader(text), int64(len(text)), offset, old, true)
	require.NoError(t, err)
	assert.True(t, same)
	assert.Equal(t, sum, r.sum(), "it is made whole when it is gone on with")
	_, same, err = resume(bytes.NewReader(text[:offset-1]), offset-1, offset, sum, false)
	require.NoError(t, err)
	assert.False(t, same, "a file that was cut short")
	_, same, err = resume(bytes.NewReader(text), int64(len(text)), offset, sum, false)
	require.NoError(t, err)
	assert.True(t, same)
}

func TestLinesOverTheLimitAreSkipped(t *testing.T) {
	text := "short\n" + strings.Repeat("x", 100) + "\nnext\n" + strings.Repeat("y", 100)
	r := newLineReader(strings.NewReader(text), 0, int64(len(text)))
	r.chunk, r.limit = 7, 50
	var got []string
	for {
		line, _, err := r.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			require.ErrorIs(t, err, errLineTooLong)
			line = []byte("skipped")
		}
		got = append(got, string(line))
	}
	assert.Equal(t, []string{"short", "skipped", "next", "skipped"}, got)
	assert.Equal(t, int64(len(text)), r.offset)
}
