package openclaw

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"cordboard/core"
)

func texts(t testing.TB, s core.Store, generation string) (all []string) {
	t.Helper()
	for _, m := range messages(t, s, generation) {
		for b := range core.Blocks(m.Raw) {
			if m.Role != core.RoleEvent {
				all = append(all, b.Text)
			}
		}
	}
	return all
}

func TestTranscriptTraps(t *testing.T) {
	a, b := said("user", "a"), said("assistant", "b")
	cases := []struct {
		name, text string
		want       []string
		problem    string // part of the only problem
		partial    int
	}{
		{"plain", header + a + b, []string{"a", "b"}, "", 0},
		{"several headers and roots", header + a + header + b, []string{"a", "b"}, "", 0},
		{"no header", a + b, []string{"a", "b"}, "", 0},
		{"CRLF and empty lines", strings.ReplaceAll(header+"\n"+a+"\n\n"+b, "\n", "\r\n"), []string{"a", "b"}, "", 0},
		{"byte order mark", "\ufeff" + header + a, []string{"a"}, "", 0},
		{"blank file", "", nil, "", 0},
		{"blank lines only", "\n\n", nil, "", 0},
		{"partial last line", header + a + b[:30], []string{"a"}, "", 1},
		{"whole last line without a newline", header + a + strings.TrimSpace(b), []string{"a", "b"}, "", 0},
		{"broken line", header + a + "{\"type\":\n" + b, []string{"a", "b"}, "s.jsonl:3: is not one JSON object: skipped", 0},
		{"NUL bytes of a crash", header + a + "\x00\x00\x00\n" + b, []string{"a", "b"}, "s.jsonl:3: holds NUL bytes only", 0},
		{"message is no object", header + a + "{\"type\":\"message\",\"message\":[]}\n" + b, []string{"a", "b"}, "s.jsonl:3: its `message` is not an object", 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			d := newState(t)
			d.write("a", "sessions.json", `{"agent:a:main":{"sessionId":"s","updatedAt":7}}`)
			d.write("a", "s.jsonl", c.text)
			s := newStore(t)
			report := imported(t, s, d.dir)
			assert.Equal(t, c.want, texts(t, s, "s"))
			assert.Equal(t, len(c.want), generation(t, s, "s").Messages)
			assert.Equal(t, c.partial, report.Partial)
			if c.problem == "" {
				assert.Empty(t, report.Problems)
			} else if assert.Len(t, report.Problems, 1) {
				assert.Contains(t, report.Problems[0].String(), "agents/a/sessions/"+c.problem)
			}
		})
	}
}

// R067, R072: a session keeps its key while its transcript is finished line by line, reset, and finally deleted.
func TestFollowingASessionThroughItsLife(t *testing.T) {
	d := newState(t)
	entry := func(id string) {
		d.write("a", "sessions.json", fmt.Sprintf(`{"agent:a:main":{"sessionId":%q,"updatedAt":7}}`, id))
	}
	entry("s1")
	line := said("assistant", "half")
	d.write("a", "s1.jsonl", header+said("user", "one")+line[:50])
	s := newStore(t)
	report := imported(t, s, d.dir)
	assert.Equal(t, 1, report.Partial)
	assert.Equal(t, []string{"one"}, texts(t, s, "s1"))

	d.append("a", "s1.jsonl", line[50:]+said("user", "two"))
	report = imported(t, s, d.dir)
	assert.Equal(t, 2, report.Messages, "only what is new")
	assert.Equal(t, int64(len(line)+len(said("user", "two"))), report.Bytes)
	assert.Equal(t, []string{"one", "half", "two"}, texts(t, s, "s1"))

	d.rename("a", "s1.jsonl", "s1.jsonl.reset.2026-11-30T21-28-10.272Z")
	entry("s2")
	d.write("a", "s2.jsonl", header+said("user", "three"))
	report = imported(t, s, d.dir)
	assert.Equal(t, 1, report.Messages, "a renamed file is not read again")
	assert.Equal(t, "s2", session(t, s, "agent:a:main").SessionID)
	old := generation(t, s, "s1")
	assert.Equal(t, core.GenerationReset, old.State)
	assert.Equal(t, "agent:a:main", old.Key, "it stays the session's although nothing on disk says so")
	assert.Equal(t, int64(1796074090272), old.EndedAt)
	assert.Equal(t, []string{"one", "half", "two"}, texts(t, s, "s1"))

	d.write("a", "s1.jsonl", header+said("user", "another file of an old name"))
	report = imported(t, s, d.dir)
	assert.Equal(t, []string{"another file of an old name"}, texts(t, s, "s1"))
	assert.Equal(t, []string{"one", "half", "two"}, texts(t, s, "s1.reset.2026-11-30T21-28-10.272Z"))

	d.rename("a", "s2.jsonl", "s2.jsonl.deleted.2026-11-30T22-00-00.000Z")
	d.write("a", "sessions.json", `{}`)
	imported(t, s, d.dir)
	assert.Equal(t, core.GenerationDeleted, generation(t, s, "s2").State)
	assert.Equal(t, "agent:a:main", generation(t, s, "s2").Key)
	assert.Equal(t, []string{"agent:a:main"}, sessionKeys(t, s), "what disappeared from the source stays")
	assert.Equal(t, generation(t, s, "s2").EndedAt, session(t, s, "agent:a:main").ArchivedAt, "in the archive")

	before := dumped(t, s)
	imported(t, s, d.dir)
	assert.Equal(t, before, dumped(t, s))
}

// A deletion that was taken back, or a new session of the old key, takes the session out of the archive again; one that was archived here stays.
func TestDeletedAndThereAgain(t *testing.T) {
	for _, again := range []string{"s", "s2"} {
		d, s := newState(t), newStore(t)
		d.write("a", "sessions.json", `{"agent:a:main":{"sessionId":"s","updatedAt":7},"agent:a:mine":{"sessionId":"m","updatedAt":7}}`)
		d.write("a", "s.jsonl", header+said("user", "one"))
		d.write("a", "m.jsonl", header)
		imported(t, s, d.dir)
		mine := session(t, s, "agent:a:mine")
		mine.ArchivedAt = 99
		_, err := s.Update(t.Context(), func(tx core.Tx) error { return tx.PutSession(mine) })
		require.NoError(t, err)
		d.rename("a", "s.jsonl", "s.jsonl.deleted.2026-11-30T22-00-00.000Z")
		d.rename("a", "m.jsonl", "m.jsonl.deleted.2026-11-30T22-00-00.000Z")
		d.write("a", "sessions.json", `{}`)
		imported(t, s, d.dir)
		assert.NotZero(t, session(t, s, "agent:a:main").ArchivedAt)
		if again == "s" {
			d.rename("a", "s.jsonl.deleted.2026-11-30T22-00-00.000Z", "s.jsonl")
		} else {
			d.write("a", "s2.jsonl", header)
		}
		d.write("a", "sessions.json", fmt.Sprintf(`{"agent:a:main":{"sessionId":%q,"updatedAt":9}}`, again))
		imported(t, s, d.dir)
		assert.Zero(t, session(t, s, "agent:a:main").ArchivedAt, again)
		assert.Equal(t, int64(99), session(t, s, "agent:a:mine").ArchivedAt)
	}
}

func TestCompactionReadsTheFileAnew(t *testing.T) {
	d := newState(t)
	d.write("a", "sessions.json", `{"agent:a:main":{"sessionId":"s","updatedAt":7}}`)
	d.write("a", "s.jsonl", header+said("user", "one")+said("assistant", "two"))
	s := newStore(t)
	imported(t, s, d.dir)
	d.rename("a", "s.jsonl", "s.jsonl.bak.2026-11-30T21-28-10.323Z")
	d.write("a", "s.jsonl", header+said("user", "three")+said("user", "four")+said("user", "five"))
	report := imported(t, s, d.dir)
	assert.Equal(t, []string{"three", "four", "five"}, texts(t, s, "s"))
	assert.Equal(t, []string{"one", "two"}, texts(t, s, "s.backup.2026-11-30T21-28-10.323Z"))
	assert.Len(t, generations(t, s), 2)
	require.Len(t, report.Problems, 1)
	assert.Contains(t, report.Problems[0].Reason, "in an archive beside it")
}

// A file that was overwritten takes nothing with it: what only our copy still has becomes a backup.
func TestRewrittenWithoutArchiveKeepsTheOldLines(t *testing.T) {
	d := newState(t)
	d.write("a", "sessions.json", `{"agent:a:main":{"sessionId":"s","updatedAt":7}}`)
	d.write("a", "s.jsonl", header+said("user", "one")+said("assistant", "two")+said("assistant", "three"))
	s := newStore(t)
	imported(t, s, d.dir)
	require.NoError(t, os.Truncate(d.path("a", "s.jsonl"), 0))
	report, err := Import(t.Context(), s, d.dir, Options{BatchRecords: 1})
	require.NoError(t, err)
	require.Len(t, report.Problems, 1)
	assert.Contains(t, report.Problems[0].Reason, "kept as a backup")
	assert.Empty(t, texts(t, s, "s"))
	var backup core.Generation
	for _, g := range generations(t, s) {
		if g.State == core.GenerationBackup {
			backup = g
		}
	}
	assert.Equal(t, []string{"one", "two", "three"}, texts(t, s, backup.ID))
	assert.Equal(t, "agent:a:main", backup.Key)
	assert.Equal(t, 3, backup.Messages)

	before := dumped(t, s)
	assert.Zero(t, imported(t, s, d.dir).ProblemCount)
	assert.Equal(t, before, dumped(t, s))
}

// One character that is another one in the middle of a file, which is as long as it was or longer.
func TestAnEditInTheMiddleIsNoticed(t *testing.T) {
	for _, added := range []string{"", said("user", "more")} {
		d := newState(t)
		d.write("a", "sessions.json", `{"agent:a:main":{"sessionId":"s","updatedAt":7}}`)
		filler := said("user", strings.Repeat("x", 3*sumWindow))
		d.write("a", "s.jsonl", header+filler+said("user", "teh")+filler)
		s := newStore(t)
		imported(t, s, d.dir)
		d.write("a", "s.jsonl", header+filler+said("user", "the")+filler+added)
		later := time.Now().Add(time.Second)
		require.NoError(t, os.Chtimes(d.path("a", "s.jsonl"), later, later))
		report := imported(t, s, d.dir)
		require.Len(t, report.Problems, 1)
		assert.Contains(t, report.Problems[0].Reason, "was rewritten: read anew, what it held before is kept as a backup")
		assert.Equal(t, "the", texts(t, s, "s")[1])
		assert.Len(t, generations(t, s), 2)
		assert.Zero(t, imported(t, s, d.dir).Messages)

		later = later.Add(time.Second)
		require.NoError(t, os.Chtimes(d.path("a", "s.jsonl"), later, later))
		report = imported(t, s, d.dir)
		assert.Empty(t, report.Problems, "another time alone is no edit")
		assert.Zero(t, report.Messages)
	}
}

// R079: what an operator set here survives until the source itself changes it.
func TestOwnChangesSurviveAnImport(t *testing.T) {
	d := newState(t)
	const entry = `{"agent:a:main":{"sessionId":"s","updatedAt":%d,"label":%q,"sendPolicy":"allow","model":"m1","note":{"kept":[1.0,1E3]}}}`
	d.write("a", "sessions.json", fmt.Sprintf(entry, 7, "theirs"))
	s := newStore(t)
	imported(t, s, d.dir)
	mine := session(t, s, "agent:a:main")
	mine.Label, mine.SendPolicy, mine.ArchivedAt = "mine", core.SendDeny, 99
	_, err := s.Update(t.Context(), func(tx core.Tx) error { return tx.PutSession(mine) })
	require.NoError(t, err)

	imported(t, s, d.dir)
	assert.Equal(t, mine, session(t, s, "agent:a:main"), "an unchanged entry changes nothing")

	d.write("a", "sessions.json", strings.Replace(fmt.Sprintf(entry, 8, "theirs"), "m1", "m2", 1))
	report := imported(t, s, d.dir)
	assert.Equal(t, Counts{Changed: 1}, report.Sessions)
	got := session(t, s, "agent:a:main")
	mine.UpdatedAt, mine.Model = 8, "m2"
	assert.Equal(t, mine, got, "other fields of the entry do")

	d.write("a", "sessions.json", fmt.Sprintf(entry, 8, "theirs again"))
	imported(t, s, d.dir)
	got = session(t, s, "agent:a:main")
	assert.Equal(t, "theirs again", got.Label)
	assert.Equal(t, core.SendDeny, got.SendPolicy)
	assert.Equal(t, int64(99), got.ArchivedAt)
	view(t, s, func(r core.Reader) error {
		raw, _, err := r.Entry("agent:a:main")
		assert.Contains(t, string(raw), `"note":{"kept":[1.0,1E3]}`, "unknown fields stay byte for byte")
		return err
	})
}

func TestBrokenIndexLosesNoTranscript(t *testing.T) {
	d := copyOf(t, fleet)
	whole, err := os.ReadFile(d.path("research", "sessions.json"))
	require.NoError(t, err)
	d.write("research", "sessions.json", string(whole[:len(whole)/2]))
	s := newStore(t)
	report := imported(t, s, d.dir)
	assert.NotEmpty(t, report.Problems)
	files, err := filepath.Glob(d.path("*", "*.jsonl*"))
	require.NoError(t, err)
	read := 0
	for _, g := range generations(t, s) {
		if g.File != "" {
			read++
		}
	}
	assert.Equal(t, len(files), read)

	// Once the index is whole again the orphans find their sessions, without being read again.
	d.write("research", "sessions.json", string(whole))
	report = imported(t, s, d.dir)
	assert.Zero(t, report.Messages)
	fresh := newStore(t)
	imported(t, fresh, d.dir)
	got := summary(t, s)
	for i, want := range summary(t, fresh) {
		require.Equal(t, want, got[i])
	}
}

// summary is what of a store does not depend on the order in which it came.
func summary(t *testing.T, s core.Store) (all []string) {
	for _, k := range sessionKeys(t, s) {
		text, err := json.Marshal(session(t, s, k))
		require.NoError(t, err)
		all = append(all, string(text))
	}
	for _, g := range generations(t, s) {
		text, err := json.Marshal(g)
		require.NoError(t, err)
		all = append(all, string(text))
	}
	return sorted(all)
}

// Two entries of one key in two files, a sessionId that two agents have, and a copy of the whole directory: nothing is mixed up.
func TestCollisions(t *testing.T) {
	d := newState(t)
	d.write("a", "sessions.json", `{"agent:a:main":{"sessionId":"s","updatedAt":7},"shared":{"sessionId":"x","updatedAt":7}}`)
	d.write("a", "s.jsonl", header+said("user", "of a"))
	d.write("b", "sessions.json", `{"agent:b:main":{"sessionId":"s","updatedAt":7},"shared":{"sessionId":"y","updatedAt":8}}`)
	d.write("b", "s.jsonl", header+said("user", "of b"))
	d.write("b", "y.jsonl", header+said("user", "of nobody"))
	s := newStore(t)
	report := imported(t, s, d.dir)
	require.Len(t, report.Problems, 1)
	assert.Contains(t, report.Problems[0].String(), "agents/b/sessions/sessions.json:1: shared: is in agents/a/")
	assert.Equal(t, Counts{Added: 3, Skipped: 1}, report.Sessions)
	assert.Empty(t, report.Others)
	first := report.Source
	assert.Equal(t, []string{"of a"}, texts(t, s, session(t, s, "agent:a:main").SessionID))
	assert.Equal(t, []string{"of b"}, texts(t, s, session(t, s, "agent:b:main").SessionID))
	assert.Equal(t, core.GenerationOrphan, generation(t, s, "y").State)

	before := summary(t, s)
	twin := copyOf(t, d.dir)
	report = imported(t, s, twin.dir)
	assert.Equal(t, Counts{Skipped: 4}, report.Sessions, "every entry is accounted for")
	assert.Equal(t, map[string]int{first: 3}, report.Others)
	all := summary(t, s)
	for _, line := range before {
		assert.Contains(t, all, line, "the first source is left as it was")
	}
	var orphans []string
	for id, g := range generations(t, s) {
		if strings.HasPrefix(g.File, twin.dir) {
			assert.Equal(t, core.GenerationOrphan, g.State)
			assert.Empty(t, g.Key)
			orphans = append(orphans, texts(t, s, id)...)
		}
	}
	assert.ElementsMatch(t, []string{"of a", "of b", "of nobody"}, orphans)
	again := imported(t, s, twin.dir)
	assert.Zero(t, again.Messages)
	assert.Equal(t, all, summary(t, s))
}

// Every entry of a sessions.json is counted: added or skipped, and a skipped one is a problem.
func TestEveryEntryIsCounted(t *testing.T) {
	d := newState(t)
	fields := []string{}
	for _, name := range []string{"spawnedBy", "label", "displayName", "model"} {
		fields = append(fields, `"`+name+`":"`+strings.Repeat(`\u0001`, 500)+`"`)
	}
	control := strings.Repeat(`\u0001`, 450)
	d.write("a", "sessions.json", `{"unknown":{},"UNKNOWN":{},"GLOBAL":{},"agent::":{},"agent:a:x":7,"agent:a:twice":{},"agent:a:twice":{},"agent:a:\ud800":{},
		"agent:a:cut":{`+strings.Join(fields, ",")+`},"agent:a:`+control+`":{"sessionId":"`+control[:len(control)/2]+`"},"agent:a:main":{},"global":{}}`)
	report := imported(t, newStore(t), d.dir)
	added := report.Sessions.Added
	assert.Equal(t, 12, added+report.Sessions.Skipped, report.Problems)
	for _, p := range report.Problems {
		if strings.Contains(p.Reason, "whole in the entry") {
			assert.NotContains(t, p.Reason, "the session is left out")
		}
	}
	assert.GreaterOrEqual(t, report.ProblemCount, report.Sessions.Skipped)
}

// A session of our own, or one that was adopted, is never written to by an import.
func TestSessionsAnsweredHereAreLeftAlone(t *testing.T) {
	d := newState(t)
	d.write("a", "sessions.json", `{"agent:a:main":{"sessionId":"s","updatedAt":7}}`)
	d.write("a", "s.jsonl", header+said("user", "theirs"))
	s := newStore(t)
	imported(t, s, d.dir)
	adopted := session(t, s, "agent:a:main")
	adopted.Source = ""
	_, err := s.Update(t.Context(), func(tx core.Tx) error {
		if err := tx.PutSession(adopted); err != nil {
			return err
		}
		_, _, err := tx.Append("s", core.Message{Role: core.RoleAssistant, At: 1796029300000, Raw: []byte(`{"role":"assistant","content":"ours"}`)})
		return err
	})
	require.NoError(t, err)
	d.append("a", "s.jsonl", said("user", "theirs, later"))
	report := imported(t, s, d.dir)
	assert.Equal(t, adopted, session(t, s, "agent:a:main"))
	assert.Equal(t, []string{"theirs", "ours"}, texts(t, s, "s"))
	assert.Equal(t, 2, report.ProblemCount)
	assert.Equal(t, Counts{Skipped: 1}, report.Sessions)
	assert.Equal(t, map[string]int{"": 1}, report.Others)
	assert.Len(t, generations(t, s), 1)

	var out strings.Builder
	require.NoError(t, Export(t.Context(), s, &out, "s"))
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	require.Len(t, lines, 3)
	assert.Equal(t, `{"type":"message","id":"00000003","parentId":"0a1b2c3d","timestamp":"2026-11-30T09:01:40.000Z","message":{"role":"assistant","content":"ours"}}`, lines[2])
}

func TestExportOfOurOwnMessages(t *testing.T) {
	s := newStore(t)
	_, err := s.Update(t.Context(), func(tx core.Tx) error {
		if err := tx.PutGeneration(core.Generation{ID: "g", SessionID: "g", State: core.GenerationCurrent, CreatedAt: 1796025600250}); err != nil {
			return err
		}
		_, _, err := tx.Append("g",
			core.Message{Role: core.RoleUser, At: 1796025600251, Raw: []byte(`{"role":"user","content":"<&> 1.0"}`)},
			core.Message{Role: core.RoleAssistant, At: 1796025600252, Raw: []byte(`{"role":"assistant","content":[]}`)})
		return err
	})
	require.NoError(t, err)
	var out strings.Builder
	require.NoError(t, Export(t.Context(), s, &out, "g"))
	assert.Equal(t, `{"type":"session","version":3,"id":"g","timestamp":"2026-11-30T08:00:00.250Z","cwd":""}
{"type":"message","id":"00000001","parentId":null,"timestamp":"2026-11-30T08:00:00.251Z","message":{"role":"user","content":"<&> 1.0"}}
{"type":"message","id":"00000002","parentId":"00000001","timestamp":"2026-11-30T08:00:00.252Z","message":{"role":"assistant","content":[]}}
`, out.String())

	// What was written out is read in again as the same messages.
	d := newState(t)
	d.write("a", "g.jsonl", out.String())
	other := newStore(t)
	imported(t, other, d.dir)
	for i, m := range messages(t, other, "g")[1:] {
		assert.Equal(t, string(messages(t, s, "g")[i].Raw), string(m.Raw))
	}
	assert.Equal(t, core.CodeNotFound, core.CodeOf(Export(t.Context(), s, &out, "absent")))
}

// A path in an entry is that of the machine it was written on.
func TestAttach(t *testing.T) {
	cases := []struct{ name, entry, want string }{
		{"by sessionId", `{"sessionId":"s","updatedAt":1}`, "plain"},
		{"by the name of a foreign path", `{"sessionId":"s","sessionFile":"/home/op/.openclaw/agents/a/sessions/s-topic-5.jsonl","updatedAt":1}`, "topic"},
		{"by a Windows path", `{"sessionId":"s","sessionFile":"C:\\Users\\op\\s-topic-5.jsonl","updatedAt":1}`, "topic"},
		{"named file absent", `{"sessionId":"s","sessionFile":"/elsewhere/gone.jsonl","updatedAt":1}`, "plain"},
		{"a file the session has left", `{"sessionId":"s","sessionFile":"/elsewhere/old.jsonl","updatedAt":1}`, "plain"},
		{"no sessionId", `{"sessionFile":"/elsewhere/old.jsonl","updatedAt":1}`, "old"},
		{"outside of the directory", `{"sessionId":"none","sessionFile":"../../../../etc/passwd","updatedAt":1}`, ""},
		{"in the directory", `{"sessionId":"other","sessionFile":"DIR/agents/b/sessions/far.jsonl","updatedAt":1}`, "far"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			d := newState(t)
			real, err := filepath.EvalSymlinks(d.dir)
			require.NoError(t, err)
			d.write("a", "sessions.json", `{"agent:a:main":`+strings.ReplaceAll(c.entry, "DIR", real)+`}`)
			d.write("a", "s.jsonl", said("user", "plain"))
			d.write("a", "s-topic-5.jsonl", said("user", "topic"))
			d.write("a", "old.jsonl", said("user", "old"))
			d.write("b", "far.jsonl", said("user", "far"))
			s := newStore(t)
			imported(t, s, d.dir)
			row := session(t, s, "agent:a:main")
			if c.want == "" {
				assert.Empty(t, texts(t, s, row.SessionID))
			} else {
				assert.Equal(t, []string{c.want}, texts(t, s, row.SessionID))
			}
			assert.GreaterOrEqual(t, len(generations(t, s)), 4, "files that no session names are orphans")
		})
	}
}

func TestTimesWhereTheEntryHasNone(t *testing.T) {
	d := newState(t)
	d.write("a", "sessions.json", `{"agent:a:x":{"sessionId":"s"},"agent:a:y":{"sessionId":"none"}}`)
	d.write("a", "s.jsonl", header+said("user", "x"))
	s := newStore(t)
	imported(t, s, d.dir)
	assert.Equal(t, int64(1796029200000), session(t, s, "agent:a:x").UpdatedAt, "the last message's")
	assert.Equal(t, int64(1796025600250), session(t, s, "agent:a:x").CreatedAt, "the header's")
	info, err := os.Stat(d.path("a", "sessions.json"))
	require.NoError(t, err)
	assert.Equal(t, info.ModTime().UnixMilli(), session(t, s, "agent:a:y").UpdatedAt, "the file's")
}

func TestAnAgentOnlyOnDiskAndLinksOut(t *testing.T) {
	d := newState(t)
	outside := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(outside, "secret.jsonl"), []byte(said("user", "secret")), 0o600))
	d.write("ghost", "s.jsonl", header+said("user", "boo"))
	d.write("ghost", "s.jsonl.lock", "12")
	d.write("ghost", "notes.txt", "not ours")
	require.NoError(t, os.Symlink(filepath.Join(outside, "secret.jsonl"), d.path("ghost", "link.jsonl")))
	require.NoError(t, os.Symlink(outside, filepath.Join(d.dir, "agents", "elsewhere")))
	require.NoError(t, os.Mkdir(d.path("ghost", "dir.jsonl"), 0o700))
	require.NoError(t, os.MkdirAll(filepath.Join(d.dir, "agents", "empty", "agent"), 0o700))
	d.writeAt("agents/.DS_Store", "a stray file")
	s := newStore(t)
	report := imported(t, s, d.dir)
	all := generations(t, s)
	require.Len(t, all, 1)
	assert.Equal(t, "ghost", all["s"].Agent)
	var files []string
	for _, p := range report.Problems {
		files = append(files, p.File)
	}
	assert.ElementsMatch(t, []string{"agents/ghost/sessions/link.jsonl", "agents/ghost/sessions/dir.jsonl", "agents/elsewhere/sessions"}, files)
}

func TestNotAStateDirectory(t *testing.T) {
	d := newState(t)
	d.write("a", "s.jsonl", "")
	home := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(home, ".openclaw", "agents"), 0o700))
	empty := t.TempDir()
	real, err := filepath.EvalSymlinks(d.dir)
	require.NoError(t, err)
	cases := []struct {
		name, dir string
		code      core.Code
		message   string
	}{
		{"absent", filepath.Join(empty, "nowhere"), core.CodeNotFound, "there is no directory"},
		{"a file", d.path("a", "s.jsonl"), core.CodeInvalidParams, "is not a directory"},
		{"the agents directory", filepath.Join(d.dir, "agents"), core.CodeInvalidParams, real + " is one"},
		{"a sessions directory", filepath.Join(d.dir, "agents", "a", "sessions"), core.CodeInvalidParams, real + " is one"},
		{"a home directory", home, core.CodeInvalidParams, ".openclaw is one"},
		{"no path", "", core.CodeInvalidParams, "the path is empty"},
		{"anything else", empty, core.CodeInvalidParams, "holds agents/<agentId>/sessions"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := Import(t.Context(), newStore(t), c.dir, Options{})
			assert.Equal(t, c.code, core.CodeOf(err))
			assert.ErrorContains(t, err, c.message)
		})
	}
}

func TestCancelledBetweenBatchesAndGoneOnWith(t *testing.T) {
	s, whole := newStore(t), newStore(t)
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	ctx, cancel := context.WithCancel(t.Context())
	batches := 0
	_, err := Import(ctx, s, fleet, Options{BatchRecords: 7, Progress: func(p Progress) {
		if batches++; batches == 5 {
			cancel()
		}
	}})
	assert.ErrorIs(t, err, context.Canceled)
	assert.NotEmpty(t, sessionKeys(t, s))
	imported(t, s, fleet)
	imported(t, whole, fleet)
	assert.Equal(t, dumped(t, whole), dumped(t, s))
}

func TestProgressEndsWhereItSaid(t *testing.T) {
	for _, records := range []int{1, 10, 100000} {
		var last Progress
		_, err := Import(t.Context(), newStore(t), fleet, Options{BatchRecords: records, Progress: func(p Progress) {
			assert.GreaterOrEqual(t, p.Bytes, last.Bytes)
			last = p
		}})
		require.NoError(t, err)
		assert.Equal(t, last.TotalBytes, last.Bytes)
		assert.Equal(t, last.TotalFiles, last.Files)
		assert.Equal(t, 23, last.Sessions.Added)
		assert.Equal(t, 26, last.Transcripts.Added)
	}
}

func TestProblemsAreCappedAndCounted(t *testing.T) {
	d := newState(t)
	d.write("a", "s.jsonl", strings.Repeat("nonsense\n", maxProblems+500))
	report := imported(t, newStore(t), d.dir)
	assert.Len(t, report.Problems, maxProblems)
	assert.Equal(t, maxProblems+500, report.ProblemCount)
	assert.Equal(t, fmt.Sprintf("agents/a/sessions/s.jsonl:%d: is not one JSON object: skipped", maxProblems), report.Problems[maxProblems-1].String())
}
