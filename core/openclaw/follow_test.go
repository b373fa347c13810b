package openclaw

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
)

// one is a directory of one session with a user's message, followed.
func one(t *testing.T) (d state, s core.Store, r *rig) {
	d = newState(t)
	d.write("a", "sessions.json", `{"agent:a:main":{"sessionId":"s","updatedAt":7}}`)
	d.write("a", "s.jsonl", header+said("user", "one"))
	s = newStore(t)
	r = follow(t, s, d.dir)
	t.Cleanup(r.f.close)
	r.told()
	return d, s, r
}

func TestFollowTakesLinesWhenTheyAreWhole(t *testing.T) {
	d, s, r := one(t)
	line := said("assistant", "two")
	d.append("a", "s.jsonl", line[:40])
	r.settle()
	assert.Equal(t, []string{"one"}, texts(t, s, "s"))
	d.append("a", "s.jsonl", line[40:]+said("user", "three")+line[:7])
	r.look()
	assert.Equal(t, []string{"one", "two", "three"}, texts(t, s, "s"))
	kinds, problems, changes := r.told()
	assert.Equal(t, []FollowKind{FollowChanged}, kinds)
	assert.Empty(t, problems)
	assert.Equal(t, map[string]SessionChange{"s": {Key: "agent:a:main", Generation: "s", Messages: 2}}, changes)
	row := session(t, s, "agent:a:main")
	assert.Equal(t, core.OutcomeOK, row.LastOutcome)
	assert.True(t, row.Mirrored())
}

// A sessions.json that is caught half-written ends nobody's session; when it stays like that, that is told of once.
func TestFollowKeepsSessionsWhileTheirIndexIsTorn(t *testing.T) {
	for name, torn := range map[string]string{
		"empty": "", "cut off": "{\n  \"agent:a:main\": {\n    \"sess", "something else": "[]", "entry broken": "{\n  \"agent:a:main\": {\n    \"label\": ,\n  }\n}",
	} {
		t.Run(name, func(t *testing.T) {
			d, s, r := one(t)
			before := rev(t, s)
			d.write("a", "sessions.json", torn)
			r.look()
			assert.Empty(t, r.events, "not told of before it is sure")
			r.quieten()
			_, problems, _ := r.told()
			require.NotEmpty(t, problems)
			assert.Equal(t, "agents/a/sessions/sessions.json", problems[0].File)
			r.sweep()
			r.sweep()
			d.write("a", "sessions.json", torn+" ")
			r.settle()
			assert.Empty(t, r.events, "nor again")
			assert.Equal(t, before, rev(t, s), "nothing was written")
			assert.Equal(t, core.GenerationCurrent, generation(t, s, "s").State)

			d.write("a", "sessions.json", `{"agent:a:main":{"sessionId":"s","updatedAt":8}}`)
			r.settle()
			assert.Equal(t, int64(8), session(t, s, "agent:a:main").UpdatedAt)
		})
	}
}

// The same for the registry, and for an index that is not there for a moment.
func TestFollowKeepsWhatIsGoneForAMoment(t *testing.T) {
	d, s, r := one(t)
	require.NoError(t, os.Mkdir(filepath.Join(d.dir, "subagents"), 0o700))
	registry := filepath.Join(d.dir, registryPath)
	runs := `{"runs":{"r1":{"childSessionKey":"agent:a:main","requesterSessionKey":"agent:a:p","createdAt":5,"endedAt":6,"outcome":{"status":"error"}}}}`
	require.NoError(t, os.WriteFile(registry, []byte(runs), 0o600))
	r.settle()
	assert.Equal(t, core.OutcomeError, session(t, s, "agent:a:main").LastOutcome)
	assert.Equal(t, "agent:a:p", session(t, s, "agent:a:main").SpawnedBy)
	before := rev(t, s)
	require.NoError(t, os.Remove(d.path("a", "sessions.json")))
	require.NoError(t, os.WriteFile(registry, []byte(runs[:30]), 0o600))
	r.settle()
	r.sweep()
	require.NoError(t, os.Remove(registry))
	r.settle()
	assert.Equal(t, before, rev(t, s))

	// A run that is under way has no outcome before it ends.
	now := r.clock.now.UnixMilli()
	require.NoError(t, os.WriteFile(registry, fmt.Appendf(nil, `{"runs":{"r2":{"childSessionKey":"agent:a:main","createdAt":%d}}}`, now), 0o600))
	r.settle()
	view(t, s, func(rd core.Reader) error {
		_, there, err := rd.Run("r2")
		assert.False(t, there)
		return err
	})
	require.NoError(t, os.WriteFile(registry, fmt.Appendf(nil, `{"runs":{"r2":{"childSessionKey":"agent:a:main","createdAt":%d,"endedAt":%d,"outcome":{"status":"timeout"}}}}`, now, now+9), 0o600))
	r.told()
	r.settle()
	assert.Equal(t, core.OutcomeTimeout, session(t, s, "agent:a:main").LastOutcome)
	assert.Equal(t, 1, r.events[0].Runs)
}

// A transcript that is written anew with what it held, and more, is that transcript; one that holds something else is read anew, and what
// it held is kept.
func TestFollowWaitsWhatAnEmptiedTranscriptBecomes(t *testing.T) {
	d, s, r := one(t)
	whole, err := os.ReadFile(d.path("a", "s.jsonl"))
	require.NoError(t, err)
	d.write("a", "s.jsonl", "")
	r.look()
	assert.Equal(t, []string{"one"}, texts(t, s, "s"))
	d.write("a", "s.jsonl", string(whole)+said("user", "two"))
	r.settle()
	assert.Equal(t, []string{"one", "two"}, texts(t, s, "s"))
	assert.Len(t, generations(t, s), 1)
	_, problems, _ := r.told()
	assert.Empty(t, problems)

	d.write("a", "s.jsonl", header+said("user", "new"))
	r.settle()
	assert.Equal(t, []string{"new"}, texts(t, s, "s"))
	_, problems, changes := r.told()
	require.Len(t, problems, 1)
	assert.Contains(t, problems[0].Reason, "kept as a backup")
	assert.True(t, changes["s"].Rewritten)
	assert.Len(t, generations(t, s), 2)

	// One that changes all the time is not waited for forever.
	for i := range 30 {
		d.write("a", "s.jsonl", strings.Repeat(" ", i)+header)
		r.look()
		r.clock.now = r.clock.now.Add(90 * time.Millisecond)
	}
	assert.Empty(t, texts(t, s, "s"))
}

// Between the two halves of a reset or a compaction the session goes on where its transcript went, and nothing is there twice.
func TestFollowSeesAHalfDoneResetAsOneSession(t *testing.T) {
	for _, how := range []string{"reset", "bak", "deleted"} {
		t.Run(how, func(t *testing.T) {
			d, s, r := one(t)
			d.append("a", "s.jsonl", said("user", "two"))
			d.rename("a", "s.jsonl", "s.jsonl."+how+".2026-11-30T21-28-10.272Z")
			r.settle()
			assert.Equal(t, []string{"one", "two"}, texts(t, s, session(t, s, "agent:a:main").SessionID))
			assert.Len(t, generations(t, s), 1)
			assert.Equal(t, core.GenerationCurrent, generation(t, s, "s").State)
			if how == "bak" {
				d.write("a", "s.jsonl", header+said("user", "summary"))
				r.look()
				assert.Equal(t, []string{"one", "two"}, texts(t, s, "s"), "it is not sure yet")
				assert.Len(t, generations(t, s), 1)
				r.quieten()
				assert.Equal(t, []string{"summary"}, texts(t, s, "s"))
				assert.Equal(t, []string{"one", "two"}, texts(t, s, "s.backup.2026-11-30T21-28-10.272Z"))
				assert.Len(t, generations(t, s), 2)
				return
			}
			d.write("a", "sessions.json", `{"agent:a:main":{"sessionId":"s2","updatedAt":8}}`)
			r.settle()
			assert.Empty(t, texts(t, s, session(t, s, "agent:a:main").SessionID))
			assert.Equal(t, []string{"one", "two"}, texts(t, s, "s"), "an archive is read by its sessionId")
			assert.Equal(t, archiveStates[how], generation(t, s, "s").State)
			assert.Len(t, generations(t, s), 2)
		})
	}
}

// A transcript that is there before its entry, under a name that is not its sessionId's, is not there twice once the entry names it.
func TestFollowMovesATranscriptToItsSession(t *testing.T) {
	d, s, r := one(t)
	d.write("a", "t-topic-5.jsonl", header+said("assistant", "in a topic"))
	r.settle()
	assert.Equal(t, core.GenerationOrphan, generation(t, s, "t-topic-5").State)
	d.write("a", "sessions.json", `{"agent:a:main":{"sessionId":"s","updatedAt":7},"agent:a:topic":{"sessionId":"t","sessionFile":"/home/op/t-topic-5.jsonl","updatedAt":8}}`)
	r.settle()
	assert.Equal(t, []string{"in a topic"}, texts(t, s, "t"))
	assert.Len(t, generations(t, s), 2)
	assert.Equal(t, core.OutcomeOK, session(t, s, "agent:a:topic").LastOutcome)

	// A session that was reset has had no run since, also where its new transcript was there before its entry told.
	d.write("a", "t2.jsonl", header+said("user", "new topic"))
	r.settle()
	d.write("a", "sessions.json", `{"agent:a:main":{"sessionId":"s","updatedAt":7},"agent:a:topic":{"sessionId":"t2","updatedAt":9}}`)
	r.settle()
	assert.Equal(t, []string{"new topic"}, texts(t, s, session(t, s, "agent:a:topic").SessionID))
	assert.Empty(t, session(t, s, "agent:a:topic").LastOutcome)
}

func TestFollowFindsNewAgentsAndLosesNothingWithADirectory(t *testing.T) {
	d, s, r := one(t)
	d.write("b", "s2.jsonl", header+said("user", "of b"))
	r.settle() // the agent's directory is watched now
	d.write("b", "sessions.json", `{"agent:b:main":{"sessionId":"s2","updatedAt":9}}`)
	r.settle()
	assert.Equal(t, []string{"of b"}, texts(t, s, session(t, s, "agent:b:main").SessionID))
	before, all := rev(t, s), dumped(t, s)
	r.told()

	for _, what := range []string{d.dir, filepath.Join(d.dir, "agents")} {
		require.NoError(t, os.Rename(what, what+".away"))
		r.sweep()
		r.sweep()
		r.settle()
		kinds, problems, _ := r.told()
		assert.Equal(t, []FollowKind{FollowGone}, kinds)
		assert.Empty(t, problems)
		require.NoError(t, os.Rename(what+".away", what))
		r.sweep()
		kinds, _, changes := r.told()
		assert.Equal(t, []FollowKind{FollowBack}, kinds)
		assert.Empty(t, changes)
	}
	require.NoError(t, os.RemoveAll(filepath.Join(d.dir, "agents", "b")))
	r.settle()
	assert.Equal(t, before, rev(t, s))
	assert.Equal(t, all, dumped(t, s), "what disappears from the source stays")

	// It comes back as another directory, with another content, and is gone on with.
	require.NoError(t, os.CopyFS(d.dir+".copy", os.DirFS(d.dir)))
	require.NoError(t, os.RemoveAll(d.dir))
	r.sweep()
	require.NoError(t, os.Rename(d.dir+".copy", d.dir))
	d.append("a", "s.jsonl", said("user", "after"))
	r.sweep()
	assert.Equal(t, []string{"one", "after"}, texts(t, s, "s"))
	d.append("a", "s.jsonl", said("user", "and watched"))
	r.settle()
	assert.Equal(t, []string{"one", "after", "and watched"}, texts(t, s, "s"))
}

// Where the system cannot notify, that is said once and sweeps find everything.
func TestFollowWithoutNotifications(t *testing.T) {
	d, s, r := one(t)
	r.notifier.fail = &os.SyscallError{Syscall: "inotify_add_watch", Err: syscall.ENOSPC}
	for _, agent := range []string{"b", "c"} {
		d.write(agent, agent+".jsonl", header+said("user", "of "+agent))
		r.settle()
	}
	d.append("b", "b.jsonl", said("user", "more"))
	r.settle()
	assert.Equal(t, []string{"of b"}, texts(t, s, "b"), "nobody told")
	r.sweep()
	assert.Equal(t, []string{"of b", "more"}, texts(t, s, "b"))
	blind := 0
	for _, e := range r.events {
		if e.Kind == FollowBlind {
			blind++
			assert.Contains(t, e.Message, "no space left")
		}
	}
	assert.Equal(t, 1, blind)
	r.f.missed(fsnotify.ErrEventOverflow)
	r.f.missed(errors.New("another fault"))
	assert.Len(t, r.events, 4, "and an overflow is made up for by a sweep")
}

func TestFollowTellsOfAProblemOnce(t *testing.T) {
	d, s, r := one(t)
	require.NoError(t, os.Mkdir(d.path("a", "dir.jsonl"), 0o700))
	d.append("a", "s.jsonl", "nonsense\n")
	d.write("a", "sessions.json", `{"agent:a:main":{"sessionId":"s","updatedAt":7,"label":5},"unknown":{}}`)
	r.settle()
	_, problems, _ := r.told()
	assert.Len(t, problems, 4)
	for i := range 3 {
		d.append("a", "s.jsonl", said("user", "more"))
		d.write("a", "sessions.json", fmt.Sprintf("\n\n{\"agent:a:main\":{\"sessionId\":\"s\",\"updatedAt\":%d,\"label\":5},\"unknown\":{}}", i))
		r.settle()
		r.sweep()
	}
	_, problems, _ = r.told()
	assert.Empty(t, problems)
	d.append("a", "s.jsonl", "more nonsense\n")
	r.settle()
	_, problems, _ = r.told()
	require.Len(t, problems, 1)
	assert.Equal(t, 7, problems[0].Line)
	assert.Len(t, texts(t, s, "s"), 4)
}

// Of a sessions.json that was replaced only the entries that differ are looked at, and only those are written.
func TestFollowLooksOnlyAtEntriesThatDiffer(t *testing.T) {
	d := newState(t)
	index := func(changed int, label string) {
		entries := map[string]any{}
		for i := range 50 {
			e := map[string]any{"sessionId": fmt.Sprintf("s%d", i), "updatedAt": 7}
			if i == changed {
				e["label"] = label
			}
			entries[fmt.Sprintf("agent:a:k%d", i)] = e
		}
		text, err := json.MarshalIndent(entries, "", "  ")
		require.NoError(t, err)
		d.write("a", "sessions.json.tmp", string(text))
		d.rename("a", "sessions.json.tmp", "sessions.json")
	}
	index(-1, "")
	s := newStore(t)
	r := follow(t, s, d.dir)
	defer r.f.close()
	at := "agents/a/sessions/sessions.json"
	before := r.f.cat.indexes[at].entries
	r.told()
	index(3, "a new label")
	r.settle()
	_, _, changes := r.told()
	assert.Equal(t, map[string]SessionChange{"s3": {Key: "agent:a:k3", Generation: "s3"}}, changes)
	same := 0
	for i, e := range r.f.cat.indexes[at].entries {
		if e == before[i] {
			same++
		}
	}
	assert.Equal(t, 49, same)
	assert.Equal(t, "a new label", session(t, s, "agent:a:k3").Label)
}

// A session that is adopted while its directory is followed is left alone from then on, and all others are gone on with.
func TestFollowLeavesAdoptedSessionsAlone(t *testing.T) {
	d, s, r := one(t)
	d.write("b", "sessions.json", `{"agent:b:main":{"sessionId":"b","updatedAt":7}}`)
	d.write("b", "b.jsonl", header)
	r.settle()
	adopted := session(t, s, "agent:a:main")
	adopted.Source = ""
	_, err := s.Update(t.Context(), func(tx core.Tx) error { return tx.PutSession(adopted) })
	require.NoError(t, err)
	r.told()
	for i := range 3 {
		d.append("a", "s.jsonl", said("user", "not for us"))
		d.append("b", "b.jsonl", said("user", "for us"))
		d.write("a", "sessions.json", fmt.Sprintf(`{"agent:a:main":{"sessionId":"s","updatedAt":%d}}`, 10+i))
		r.settle()
	}
	assert.Equal(t, adopted, session(t, s, "agent:a:main"))
	assert.Equal(t, []string{"one"}, texts(t, s, "s"))
	assert.Equal(t, []string{"for us", "for us", "for us"}, texts(t, s, "b"))
	kinds, problems, _ := r.told()
	assert.Equal(t, []FollowKind{FollowChanged}, kinds)
	assert.Len(t, problems, 2, "one for the row, one for the transcript: %v", problems)
}

// refusing is a store that takes nothing for a while.
type refusing struct {
	core.Store
	err  error
	once error
}

func (s *refusing) Update(ctx context.Context, fn func(core.Tx) error) (core.Rev, error) {
	if s.err != nil {
		return 0, s.err
	}
	if err := s.once; err != nil {
		s.once = nil
		return 0, err
	}
	return s.Store.Update(ctx, fn)
}

func TestFollowGoesOnWhenTheStoreTakesAgain(t *testing.T) {
	d := newState(t)
	d.write("a", "s.jsonl", header)
	s := &refusing{Store: newStore(t)}
	r := follow(t, s, d.dir)
	defer r.f.close()
	r.told()
	s.err = core.Errorf(core.CodeStoreIO, "no space left on device")
	d.append("a", "s.jsonl", said("user", "one"))
	r.settle()
	d.append("a", "s.jsonl", said("user", "two"))
	r.settle()
	r.sweep()
	kinds, _, _ := r.told()
	assert.Equal(t, []FollowKind{FollowFailed}, kinds)
	s.err = nil
	r.sweep()
	assert.Equal(t, []string{"one", "two"}, texts(t, s, "s"))
	before := rev(t, s)
	r.sweep()
	assert.Equal(t, before, rev(t, s))
	kinds, _, _ = r.told()
	assert.Equal(t, []FollowKind{FollowChanged}, kinds)

	// What someone else wrote in between is looked up and gone on from, without a word.
	s.once = core.Errorf(core.CodeConflict, "session came into being while it was imported")
	d.append("a", "s.jsonl", said("user", "three"))
	r.settle()
	assert.Equal(t, []string{"one", "two", "three"}, texts(t, s, "s"))
	kinds, _, _ = r.told()
	assert.Equal(t, []FollowKind{FollowChanged}, kinds)
}

// Reading a large index may not take the whole machine.
func TestFollowReadsALargeIndexNowAndThen(t *testing.T) {
	now := time.UnixMilli(1796029200000)
	p := newPatience(func() time.Time { return now })
	var r reading
	require.True(t, r.due(nil, p))
	begun := now
	now = now.Add(time.Second)
	r.took(begun, p)
	r.done("x", nil, &problems{}, false, p, &problems{})
	r.again = true
	assert.False(t, r.due(nil, p))
	assert.Equal(t, 4*time.Second, p.wanted)
	now = now.Add(4 * time.Second)
	assert.True(t, r.due(nil, p))
}

func TestFollowRefusesWhatImportRefuses(t *testing.T) {
	empty := t.TempDir()
	err := Follow(t.Context(), newStore(t), empty, FollowOptions{})
	assert.Equal(t, core.CodeInvalidParams, core.CodeOf(err))
	assert.ErrorContains(t, err, "holds agents/<agentId>/sessions")
	_, err = Check(empty)
	assert.ErrorContains(t, err, "holds agents/<agentId>/sessions")
	_, err = Check(filepath.Join(empty, "nowhere"))
	assert.Equal(t, core.CodeNotFound, core.CodeOf(err))
	source, err := Check(fleet)
	require.NoError(t, err)
	assert.True(t, filepath.IsAbs(source))
}
