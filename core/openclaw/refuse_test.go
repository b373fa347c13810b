package openclaw

import (
	"context"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
)

// A file takes over a generation whose file is still there: the session goes on in s.jsonl, or in an archive, and a.jsonl is nobody's any more.
func TestFilesThatChangeRoles(t *testing.T) {
	const entry = `{"agent:a:main":{"sessionId":"s","sessionFile":"/x/a.jsonl","updatedAt":5}}`
	for _, c := range []struct {
		name, index, file string
		current           []string // of the session afterwards
		orphan            []string
	}{
		{"goes on beside it", `{"agent:a:main":{"sessionId":"s","updatedAt":7}}`, "s.jsonl", []string{"two"}, []string{"one"}},
		{"an archive appears and the entry goes", `{}`, "s.jsonl.bak.2026-11-30T21-28-10.323Z", []string{"one"}, nil},
		{"an archive appears", entry, "s.jsonl.bak.2026-11-30T21-28-10.323Z", []string{"one"}, nil},
		{"its id goes to another", `{"agent:a:other":{"sessionId":"s","updatedAt":7}}`, "s.jsonl", []string{"two"}, []string{"one"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newState(t)
			d.write("a", "a.jsonl", said("user", "one"))
			d.write("a", indexName, entry)
			s := newStore(t)
			imported(t, s, d.dir)
			require.Equal(t, []string{"one"}, texts(t, s, "s"))
			d.write("a", c.file, said("user", "two"))
			d.write("a", indexName, c.index)
			assert.Empty(t, imported(t, s, d.dir).Problems)
			assert.Equal(t, c.current, texts(t, s, "s"))
			if c.orphan != nil {
				assert.Equal(t, core.GenerationOrphan, generation(t, s, "a").State)
				assert.Equal(t, c.orphan, texts(t, s, "a"))
			}
			assert.Len(t, generations(t, s), 2)
			before := dumped(t, s)
			imported(t, s, d.dir)
			assert.Equal(t, before, dumped(t, s))
		})
	}
}

// What a session's file held that it shares its name with another's no more is in no file: it is kept.
func TestWhatIsTakenOverIsKept(t *testing.T) {
	d := newState(t)
	d.write("a", "a.jsonl", said("user", "one"))
	d.write("a", indexName, `{"agent:a:main":{"sessionId":"s","sessionFile":"/x/a.jsonl","updatedAt":5}}`)
	s := newStore(t)
	imported(t, s, d.dir)
	d.write("a", "a.jsonl", said("user", "something else"))
	d.write("a", "s.jsonl", said("user", "two"))
	d.write("a", indexName, `{"agent:a:main":{"sessionId":"s","updatedAt":7}}`)
	imported(t, s, d.dir)
	assert.Equal(t, []string{"two"}, texts(t, s, "s"))
	assert.Equal(t, []string{"something else"}, texts(t, s, "a"))
	kept := 0
	for id, g := range generations(t, s) {
		if g.State == core.GenerationBackup {
			assert.Equal(t, []string{"one"}, texts(t, s, id))
			kept++
		}
	}
	assert.Equal(t, 1, kept)
}

// A sessions.json that is cut, empty or gone makes no orphans of what a stored session names, and nor does one without the entry.
func TestAStoredSessionKeepsItsTranscript(t *testing.T) {
	const whole = "{\n  \"agent:a:x\": {\n    \"sessionId\": \"x\"\n  },\n  \"agent:a:main\": {\n    \"sessionId\": \"s\",\n    \"updatedAt\": 7\n  }\n}"
	for _, text := range []string{whole[:len(whole)/2], whole[:len(whole)-9], "", "{}", "[]"} {
		d := newState(t)
		d.write("a", indexName, whole)
		d.write("a", "x.jsonl", said("user", "of x"))
		d.write("a", "s.jsonl", said("user", "one"))
		s := newStore(t)
		imported(t, s, d.dir)
		d.write("a", indexName, text)
		d.append("a", "s.jsonl", said("user", "two"))
		imported(t, s, d.dir)
		for k, id := range map[string]string{"agent:a:x": "x", "agent:a:main": "s"} {
			assert.Equal(t, id, session(t, s, k).SessionID)
			assert.Equal(t, core.GenerationCurrent, generation(t, s, id).State, text)
			assert.Equal(t, k, generation(t, s, id).Key)
		}
		assert.Equal(t, []string{"one", "two"}, texts(t, s, "s"), "and it is read on")
	}
}

// crooked is a store in which someone else has read on in one file.
type crooked struct {
	core.Store
	path string
}

func (c crooked) Update(ctx context.Context, fn func(core.Tx) error) (core.Rev, error) {
	return c.Store.Update(ctx, func(tx core.Tx) error { return fn(crookedTx{tx, c.path}) })
}

type crookedTx struct {
	core.Tx
	path string
}

func (c crookedTx) SourceFile(source, path string) (core.SourceFile, bool, error) {
	f, ok, err := c.Tx.SourceFile(source, path)
	if strings.HasSuffix(path, c.path) {
		f.Offset++
	}
	return f, ok, err
}

// One file that the store does not take keeps no other out.
func TestAConflictIsOneFilesProblem(t *testing.T) {
	d := newState(t)
	d.write("a", indexName, `{"agent:a:x":{"sessionId":"x","updatedAt":7},"agent:a:y":{"sessionId":"y","updatedAt":7},"agent:a:z":{"sessionId":"z","updatedAt":7}}`)
	for _, id := range []string{"x", "y", "z"} {
		d.write("a", id+".jsonl", said("user", "one"))
	}
	s := newStore(t)
	imported(t, s, d.dir)
	for _, id := range []string{"x", "y", "z"} {
		d.append("a", id+".jsonl", said("user", "two")+said("user", "three"))
	}
	for _, records := range []int{1, 100} {
		report, err := Import(t.Context(), crooked{s, "y.jsonl"}, d.dir, Options{BatchRecords: records})
		require.NoError(t, err)
		require.Len(t, report.Problems, 1)
		assert.Contains(t, report.Problems[0].String(), "agents/a/sessions/y.jsonl: agent:a:y: is left out:")
		assert.Equal(t, 1, report.Transcripts.Skipped)
	}
	all := []string{"one", "two", "three"}
	assert.Equal(t, [][]string{all, {"one"}, all}, [][]string{texts(t, s, "x"), texts(t, s, "y"), texts(t, s, "z")})
	assert.Empty(t, imported(t, s, d.dir).Problems)
	assert.Equal(t, all, texts(t, s, "y"))
}

// A row that the store does not take, here for what was written into it since, keeps neither its transcript nor other rows out.
func TestARowThatIsTooLarge(t *testing.T) {
	d := newState(t)
	entries := func(name string) string {
		return `{"agent:a:x":{"sessionId":"x","updatedAt":7,"displayName":"` + name + `"},"agent:a:y":{"sessionId":"y","updatedAt":7,"displayName":"` + name + `"}}`
	}
	d.write("a", indexName, entries("n"))
	d.write("a", "x.jsonl", said("user", "one"))
	s := newStore(t)
	imported(t, s, d.dir)
	row := session(t, s, "agent:a:x")
	row.Label = strings.Repeat("l", 3700)
	_, err := s.Update(t.Context(), func(tx core.Tx) error { return tx.PutSession(row) })
	require.NoError(t, err)
	name := strings.Repeat("n", 900)
	d.write("a", indexName, entries(name))
	d.append("a", "x.jsonl", said("user", "two"))
	report := imported(t, s, d.dir)
	require.Len(t, report.Problems, 1)
	assert.Contains(t, report.Problems[0].String(), "agents/a/sessions/sessions.json:1: agent:a:x: is left out: the row of session")
	assert.Equal(t, Counts{Changed: 1, Skipped: 1}, report.Sessions)
	assert.Equal(t, name, session(t, s, "agent:a:y").DisplayName)
	assert.Equal(t, []string{"one", "two"}, texts(t, s, "x"))
}

// Whatever stands in the registry, it is a problem of its run and no other.
func TestKeysOfTheRegistry(t *testing.T) {
	long := strings.Repeat("k", core.MaxKeyBytes+1)
	control := "agent:a:" + strings.Repeat("\\u0001", core.MaxKeyBytes-8)
	for _, bad := range []string{long, `agent:a:\u0000`, `agent::`, "  ", control} {
		for _, field := range []string{"requesterSessionKey", "childSessionKey", "label", "task"} {
			d := newState(t)
			d.write("a", indexName, `{"agent:a:main":{"sessionId":"s","updatedAt":7},"agent:a:subagent:x":{"sessionId":"x","updatedAt":7}}`)
			run := func(id, field, value string) string {
				fields := map[string]string{"requesterSessionKey": "agent:a:main", "childSessionKey": "agent:a:subagent:x", "label": "l", "task": "t"}
				fields[field] = value
				text := `"` + id + `":{"createdAt":5,"outcome":{"status":"ok"}`
				for name, value := range fields {
					text += `,"` + name + `":"` + value + `"`
				}
				return text + "}"
			}
			d.writeAt("subagents/runs.json", "{\"version\":2,\"runs\":{\n"+run("bad", field, bad)+",\n"+run("good", "task", "t")+"}}")
			s := newStore(t)
			report := imported(t, s, d.dir)
			assert.ElementsMatch(t, []string{"agent:a:main", "agent:a:subagent:x"}, sessionKeys(t, s))
			view(t, s, func(r core.Reader) error {
				_, ok, err := r.Run("good")
				assert.True(t, ok, "%s %.20q", field, bad)
				return err
			})
			if strings.HasSuffix(field, "Key") && bad != control {
				require.Len(t, report.Problems, 1)
				assert.Contains(t, report.Problems[0].String(), "subagents/runs.json:2: bad: its "+field+" cannot be used")
			}
		}
	}
}
