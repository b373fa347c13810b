package openclaw

import (
	"hash/maphash"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cordboard/core"
	"cordboard/core/proptest"
)

func entriesOf(t testing.TB, text string) (keys []string, found []Problem) {
	t.Helper()
	f, err := os.Create(filepath.Join(t.TempDir(), "sessions.json"))
	require.NoError(t, err)
	defer f.Close()
	_, err = f.WriteString(text)
	require.NoError(t, err)
	_, err = f.Seek(0, 0)
	require.NoError(t, err)
	var p problems
	entries, _, _ := readEntries(t.Context(), &indexFile{file: f, path: "sessions.json", seed: maphash.MakeSeed()}, nil, &p)
	for _, e := range entries {
		raw, err := e.raw()
		require.NoError(t, err)
		require.NotContains(t, string(raw), "\n")
		s, _, _ := sessionOf(e.session.Key, raw)
		require.Equal(t, e.session.UpdatedAt, s.UpdatedAt, "the bytes found again are those of the entry")
		keys = append(keys, e.session.Key)
	}
	return keys, p.list
}

func TestBrokenSessionsFiles(t *testing.T) {
	cases := []struct {
		name, text string
		keys       []string
		line       int    // of the first problem, 0 = none
		reason     string // part of it
	}{
		{"whole", "{\n  \"a\": {\n    \"sessionId\": \"1\"\n  },\n  \"b\": {}\n}", []string{"a", "b"}, 0, ""},
		{"empty object", "{}", nil, 0, ""},
		{"byte order mark", "\ufeff{\n  \"a\": {}\n}", []string{"a"}, 0, ""},
		{"on one line", `{"a":{"updatedAt":1},"b":{"updatedAt":2}}`, []string{"a", "b"}, 0, ""},
		{"CRLF", "{\r\n  \"a\": {\r\n    \"updatedAt\": 1\r\n  },\r\n  \"b\": 7,\r\n  \"c\": {}\r\n}", []string{"a", "c"}, 5, "not an object"},
		{"keys that differ in case", `{"agent:a:X":{},"agent:a:x":{}}`, []string{"agent:a:X", "agent:a:x"}, 0, ""},
		{"uneven indentation", "{\n    \"a\": {},\n  \"b\": {\n      \"x\": {}\n  }\n}", []string{"a", "b"}, 0, ""},
		{"entry lost its first line", "{\n    \"sessionId\": \"1\",\n    \"origin\": {}\n  },\n  \"b\": {}\n}", []string{"b"}, 2, "not an object"},
		{"closing brace too many", "{\n  \"a\": {}\n  },\n  \"b\": {}\n}", []string{"a", "b"}, 3, "closing brace"},
		{"no indentation", "{\n\"a\": {\n\"x\": 1,\n\"y\": {}\n},\n\"b\": {}\n}", []string{"a", "b"}, 0, ""},
		{"tabs", "{\n\t\"a\": {\n\t\t\"label\": ,\n\t},\n\t\"b\": {}\n}", []string{"b"}, 2, "not JSON"},
		{"trailing comma", "{\n  \"a\": {},\n}", []string{"a"}, 0, ""},
		{"entry is null", "{\n  \"a\": null,\n  \"b\": {}\n}", []string{"b"}, 2, "not an object"},
		{"value missing inside an entry", "{\n  \"a\": {\n    \"label\": ,\n    \"x\": 1\n  },\n  \"b\": {}\n}", []string{"b"}, 2, "not JSON"},
		{"the same on one line", `{"a":{"label":,},"b":{}}`, []string{"b"}, 1, "not JSON"},
		{"brace missing", "{\n  \"a\": {\n    \"x\": 1,\n  \"b\": {\n    \"y\": 2\n  },\n  \"c\": {}\n}", []string{"b", "c"}, 2, "not JSON"},
		{"brace missing at the end", "{\n  \"a\": {},\n  \"b\": {\n    \"x\": 1\n}", []string{"a", "b"}, 5, "before its closing brace"},
		{"string not closed", "{\n  \"a\": {\n    \"label\": \"x\n  },\n  \"b\": {}\n}", []string{"b"}, 2, "not JSON"},
		{"key not closed", "{\n  \"a: {\n    \"x\": 1\n  },\n  \"b\": {}\n}", []string{"b"}, 2, "not JSON"},
		{"no colon", "{\n  \"a\" {\n    \"x\": 1\n  },\n  \"b\": {}\n}", []string{"b"}, 2, "not JSON"},
		{"cut off in a value", "{\n  \"a\": {\n    \"x\": 1\n  },\n  \"b\": {\n    \"lab", []string{"a"}, 5, "cut off"},
		{"cut off between entries", "{\n  \"a\": {\n    \"x\": 1\n  },", []string{"a"}, 4, "before its closing brace"},
		{"cut off in a key", "{\n  \"a\": {\n    \"x\": 1\n  },\n  \"b", []string{"a"}, 5, "cut off"},
		{"nothing at all", "", nil, 1, "not a JSON object"},
		{"NUL bytes", strings.Repeat("\x00", 64), nil, 1, "not a JSON object"},
		{"a list", `[{"a":{}}]`, nil, 1, "not a JSON object"},
		{"NUL bytes after an entry", "{\n  \"a\": {},\n" + strings.Repeat("\x00", 8), []string{"a"}, 3, "not JSON"},
		{"garbage on one line", `{"a":{},]]]]}`, []string{"a"}, 1, "not JSON"},
		{"duplicate", "{\n  \"a\": {\n    \"updatedAt\": 1\n  },\n  \"a\": {\n    \"updatedAt\": 2\n  }\n}", []string{"a"}, 5, "occurs twice"},
		{"key too long", `{"agent:a:` + strings.Repeat("x", 600) + `":{},"b":{}}`, []string{"b"}, 1, "at most 512"},
		{"NUL in a key", `{"agent:a:x\u0000y":{},"b":{}}`, []string{"b"}, 1, "NUL"},
		{"blank key", `{"  ":{},"b":{}}`, []string{"b"}, 1, "blank"},
		{"agent: without an agent", `{"agent::":{},"b":{}}`, []string{"b"}, 1, "lacks an agent id"},
		{"reserved", `{"unknown":{},"UNKNOWN":{},"Global":{},"agent:a:global":{}}`, []string{"agent:a:global"}, 1, "reserved"},
		{"global scope", `{"global":{}}`, []string{"global"}, 1, "session.scope"},
		{"keys that are not UTF-8", "{\n  \"agent:a:x\xff\": {},\n  \"agent:a:x\xfe\": {},\n  \"agent:a:x\ufffd\": {}\n}", []string{"agent:a:x\ufffd"}, 2, "not Unicode"},
		{"halves of surrogate pairs", `{"agent:a:\ud800":{},"agent:a:\udc00":{},"agent:a:\uFFFD":{},"agent:a:\ud83d\ude00":{}}`, []string{"agent:a:\ufffd", "agent:a:😀"}, 1, "not Unicode"},
		{"field of a wrong type", "{\n  \"a\": {\n    \"label\": 5,\n    \"updatedAt\": 3\n  }\n}", []string{"a"}, 2, "field label is a number"},
		{"sessionId with NUL", `{"a":{"sessionId":"x\u0000"}}`, []string{"a"}, 1, "sessionId cannot be used"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			keys, found := entriesOf(t, c.text)
			assert.Equal(t, c.keys, keys)
			if c.line == 0 {
				assert.Empty(t, found)
				return
			}
			require.NotEmpty(t, found)
			assert.Equal(t, c.line, found[0].Line, found[0])
			assert.Contains(t, found[0].String(), c.reason)
		})
	}
}

// A value that is too long for us is that entry's loss, also where all entries share a line.
func TestAnEntryThatIsTooLarge(t *testing.T) {
	large := `{"note":"` + strings.Repeat("x", 200) + `}{","more":{"a":[{}]}}`
	for name, text := range map[string]string{
		"one line":       `{"a":{"x":1},"b":` + large + `,"c":{"x":{"y":2}}}`,
		"lines":          "{\n  \"a\": {},\n  \"b\": " + large + ",\n  \"c\": {}\n}",
		"several lines":  "{\n  \"a\": {},\n  \"b\": {\n    \"note\": \"" + strings.Repeat("x", 200) + "\"\n  },\n  \"c\": {}\n}",
		"twice":          `{"b":` + large + `,"a":{},"b":` + large + `,"c":{}}`,
		"key as well":    `{"a":{},"` + strings.Repeat("k", 200) + `":{},"c":{}}`,
		"not an object":  `{"a":{},"b":[` + large + `],"c":{}}`,
		"at the end":     `{"a":{},"c":{},"b":` + large + `}`,
		"cut off in it":  `{"a":{},"c":{},"b":` + large[:150],
		"lines, cut off": "{\n  \"a\": {},\n  \"c\": {},\n  \"b\": " + large[:150],
	} {
		in := newObjectReader(strings.NewReader(text))
		in.limit = 100
		var keys []string
		reasons := 0
		for tries := 0; ; tries++ {
			require.Less(t, tries, 10)
			m, err := in.next()
			if err != nil {
				break
			}
			if m.reason != "" {
				reasons++
				continue
			}
			keys = append(keys, m.key)
		}
		if name == "key as well" {
			assert.Equal(t, []string{"a"}, keys[:1], name)
			continue
		}
		assert.Equal(t, []string{"a", "c"}, keys, name)
		assert.NotZero(t, reasons, name)
	}
}

// Wherever a file is cut off, every entry before the cut comes in, and the cut is told.
func TestTruncatedSessionsFileKeepsWhatIsWhole(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(fleet, "agents/ops/sessions/sessions.json"))
	require.NoError(t, err)
	all, found := entriesOf(t, string(text))
	require.Empty(t, found)
	proptest.Check(t, func(rt *rapid.T) {
		at := rapid.IntRange(0, len(text)-1).Draw(rt, "cut")
		whole := strings.Count(string(text[:at]), "\n  }")
		keys, found := entriesOf(t, string(text[:at]))
		assert.Equal(rt, all[:whole], append([]string{}, keys...))
		assert.NotEmpty(rt, found)
	})
}

// Whatever happens to one line, the entries that it is no part of come in.
func TestOneDamagedLineCostsOneEntry(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(fleet, "agents/main/sessions/sessions.json"))
	require.NoError(t, err)
	lines := strings.Split(string(text), "\n")
	all, _ := entriesOf(t, string(text))
	proptest.Check(t, func(rt *rapid.T) {
		at := rapid.IntRange(1, len(lines)-2).Draw(rt, "line")
		junk := rapid.SampledFrom([]string{"", "    {", "    }}}", `    "x`, "\x00\x00\x00", `    "a": ,`, "]"}).Draw(rt, "junk")
		damaged := append([]string{}, lines...)
		damaged[at] = junk
		keys, _ := entriesOf(t, strings.Join(damaged, "\n"))
		// The entry itself; the one behind it when the line that divides the two is gone.
		assert.GreaterOrEqual(rt, len(keys), len(all)-2)
		for _, k := range keys {
			assert.Contains(rt, all, k)
		}
	})
}

func TestSessionOf(t *testing.T) {
	n := func(v int64) *int64 { return &v }
	yes, no := true, false
	cases := []struct {
		name, entry string
		want        core.Session
	}{
		{"R057 tokens known", `{"totalTokens":0,"totalTokensFresh":true}`, core.Session{TotalTokens: n(0)}},
		{"R057 tokens unknown", `{"totalTokens":null,"totalTokensFresh":false}`, core.Session{}},
		{"R057 tokens stale", `{"totalTokens":12,"totalTokensFresh":false}`, core.Session{TotalTokens: n(12), TokensStale: true}},
		{"tokens negative", `{"totalTokens":-1,"contextTokens":"many"}`, core.Session{}},
		{"dm is direct", `{"chatType":"dm"}`, core.Session{ChatType: core.ChatDirect}},
		{"unknown chat type", `{"chatType":"forum"}`, core.Session{}},
		{"override", `{"model":"a","modelProvider":"p","modelOverride":"b","providerOverride":"q"}`, core.Session{Model: "b", ModelProvider: "q"}},
		{"override of the model only", `{"model":"a","modelProvider":"p","modelOverride":"b"}`, core.Session{Model: "b", ModelProvider: "p"}},
		{"send policy", `{"sendPolicy":"deny"}`, core.Session{SendPolicy: core.SendDeny}},
		{"send policy of no meaning", `{"sendPolicy":"maybe"}`, core.Session{}},
		{"flags", `{"systemSent":true,"abortedLastRun":false}`, core.Session{SystemSent: &yes, AbortedLastRun: &no}},
		{"R058 route of the context", `{"deliveryContext":{"channel":" Telegram ","to":"-100","threadId":42}}`, core.Session{
			LastChannel: "telegram", LastTo: "-100", LastThreadID: "42",
			Delivery: core.DeliveryContext{Channel: "telegram", To: "-100", ThreadID: "42"},
		}},
		{"two channels: no mixing", `{"lastChannel":"telegram","deliveryContext":{"channel":"discord","to":"c"}}`, core.Session{
			LastChannel: "telegram", Delivery: core.DeliveryContext{Channel: "telegram"},
		}},
		{"time with a fraction", `{"updatedAt":12.7}`, core.Session{UpdatedAt: 12}},
		{"lineage to whoever", `{"spawnedBy":"agent:gone:x","spawnDepth":2}`, core.Session{SpawnedBy: "agent:gone:x", SpawnDepth: 2}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			c.want.Key = "k"
			got, _, err := sessionOf("k", []byte(c.entry))
			assert.NoError(t, err)
			assert.Equal(t, c.want, got)
		})
	}
}

func TestFitKeepsRowsSmall(t *testing.T) {
	hostile := strings.Repeat("\x1b", 5000)
	s := core.Session{Key: "k", Label: hostile, DisplayName: hostile}
	reason, ok := fit(&s)
	assert.True(t, ok)
	assert.Contains(t, reason, "very long")
	assert.LessOrEqual(t, len(s.Label), 120)

	s = core.Session{Key: "k", LastTo: hostile, Label: "kept"}
	_, ok = fit(&s)
	assert.True(t, ok)
	assert.Equal(t, "kept", s.Label)
	assert.Empty(t, s.LastTo)

	s = core.Session{Key: "k", SpawnedBy: strings.Repeat("p", 600)}
	reason, ok = fit(&s)
	assert.True(t, ok)
	assert.Empty(t, s.SpawnedBy)
	assert.NotEmpty(t, reason)

	s = core.Session{Key: strings.Repeat("\x1b", 512), SpawnedBy: strings.Repeat("\x1b", 512)}
	_, ok = fit(&s)
	assert.False(t, ok)
	assert.Equal(t, "über…", cut("überlang", 8))
}

func TestRegistry(t *testing.T) {
	var p problems
	reg, broken := readRegistry(strings.NewReader(`{
  "version": 2,
  "runs": {
    "r1": {
      "childSessionKey": "agent:a:subagent:1",
      "requesterSessionKey": "agent:a:main",
      "createdAt": 10,
      "endedAt": 20,
      "label": "one",
      "outcome": {
        "status": "ok"
      }
    },
    "r2": {
      "childSessionKey": "agent:a:subagent:1",
      "requesterSessionKey": "agent:a:other",
      "createdAt": 30,
      "outcome": {
        "status": "error",
        "error": "boom"
      }
    },
    "r3": {
      "task": ,
    },
    "r4": {
      "task": "nobody's"
    },
    "r5": {
      "childSessionKey": "agent:a:subagent:2",
      "createdAt": 5
    },
    "r6": {
      "childSessionKey": "agent:a:subagent:3",
      "outcome": {
        "status": "exploded"
      }
    }
  }
}
`), registryPath, math.MaxInt64, &p)
	assert.True(t, broken)
	var got []string
	for _, r := range reg.runs {
		assert.Equal(t, core.RunEnded, r.State, "nothing of a mirror is live")
		got = append(got, r.ID+" "+string(r.Outcome))
	}
	assert.Equal(t, []string{"r1 ok", "r2 error", "r5 interrupted", "r6 error"}, got)
	assert.Equal(t, "boom", reg.runs[1].Error)
	assert.Equal(t, "agent:a:main", reg.child["agent:a:subagent:1"].parent, "the first run's requester is the parent")
	assert.Equal(t, core.OutcomeError, reg.child["agent:a:subagent:1"].outcome, "the last run's outcome counts")
	require.Len(t, p.list, 2)
	assert.Equal(t, "subagents/runs.json:23: r3: its value is not JSON", p.list[0].String())
	assert.Equal(t, 26, p.list[1].Line)

	for _, text := range []string{"", "[]", `{"version":2}`, `{"runs":[]}`, `{"runs":{"a":{"childSessionKey":"k"}`} {
		var p problems
		_, broken := readRegistry(strings.NewReader(text), registryPath, math.MaxInt64, &p)
		assert.True(t, broken, text)
		assert.Len(t, p.list, 1, text)
	}
}

func FuzzObjectReader(f *testing.F) {
	for _, seed := range []string{`{"a":{}}`, "{\n  \"a\": {\n  \"b\": {}\n}", `{"a":{"label":,},"b":1`, "{]", "{\n\"a\":\n\n{}\n,:\"", `{"\`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		in := newObjectReader(strings.NewReader(text))
		for steps := 0; ; steps++ {
			m, err := in.next()
			if err != nil {
				break
			}
			if m.reason == "" {
				require.Equal(t, string(m.raw), text[m.offset:m.offset+int64(len(m.raw))])
				require.Equal(t, '{', rune(m.raw[0]))
			}
			require.LessOrEqual(t, steps, len(text), "it always comes to an end")
		}
	})
}
