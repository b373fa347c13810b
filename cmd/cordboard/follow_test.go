package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"cordboard/core/host"
)

const line = `{"type":"message","message":{"role":"user","content":"just said","timestamp":1796029200000}}` + "\n"

// living is a copy of the fleet and the transcript of its session agent:main:main, which a console opens with.
func living(t *testing.T) (dir, transcript string) {
	t.Helper()
	dir = t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS("../../testdata/openclaw")))
	id, ok := entries(t, dir)["agent:main:main"]["sessionId"].(string)
	require.True(t, ok)
	return dir, filepath.Join(dir, "agents", "main", "sessions", id+".jsonl")
}

func say(t *testing.T, transcript string) {
	t.Helper()
	f, err := os.OpenFile(transcript, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString(line)
	require.NoError(t, err)
	require.NoError(t, f.Close())
}

// The verb prints what happens as it happens and ends well when it is interrupted.
func TestFollowVerb(t *testing.T) {
	for _, asJSON := range []bool{false, true} {
		defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
		dir, transcript := living(t)
		h := newHome(t)
		args := []string{"follow", dir, "--data", filepath.Join(h.dir, "D"), "--config", ""}
		if asJSON {
			args = append(args, "--json")
		}
		path, err := binary()
		require.NoError(t, err)
		ctx, interrupt := context.WithCancel(t.Context())
		in, out := io.Pipe()
		var errs bytes.Buffer
		code := make(chan int, 1)
		go func() {
			code <- run(ctx, args, streams{
				in: strings.NewReader(""), out: out, err: &errs, getenv: os.Getenv, width: func() int { return 0 }, program: []string{path},
			})
			_ = out.Close()
		}()
		lines := bufio.NewScanner(in)
		lines.Buffer(nil, 1<<20)
		next := func() string {
			require.True(t, lines.Scan(), "a line comes")
			return lines.Text()
		}
		started := next()
		say(t, transcript)
		changed := next()
		interrupt()
		assert.Equal(t, exitOK, <-code)
		assert.Empty(t, errs.String())
		if !asJSON {
			assert.Contains(t, started, "23 sessions new")
			assert.Regexp(t, `^\d\d:\d\d:\d\d  agent:main:main \+1 message$`, changed)
			continue
		}
		var first, second host.FollowEvent
		require.NoError(t, json.Unmarshal([]byte(started), &first))
		require.NoError(t, json.Unmarshal([]byte(changed), &second))
		assert.Equal(t, 23, first.Report.Sessions.Added)
		require.Len(t, second.Changes, 1)
		assert.Equal(t, "agent:main:main", second.Changes[0].Key)
		assert.Equal(t, 1, second.Changes[0].Messages)
	}
}

func TestFollowLines(t *testing.T) {
	changes := make([]host.SessionChange, 7)
	for i := range changes {
		changes[i] = host.SessionChange{Key: "agent:a:k", Messages: i}
	}
	for want, e := range map[string]host.FollowEvent{
		"agent:a:k changed · agent:a:k +1 message · agent:a:k +2 messages · agent:a:k +3 messages · and 3 more sessions · 1 run": {
			Kind: host.FollowChanged, Changes: changes, Runs: 1,
		},
		"g (no session) rewritten, +3 messages": {Kind: host.FollowChanged, Changes: []host.SessionChange{{Generation: "g", Rewritten: true, Messages: 3}}},
		"␛[2Jk new":                             {Kind: host.FollowChanged, Changes: []host.SessionChange{{Key: "\x1b[2Jk", Added: true}}},
		"":                                      {Kind: host.FollowChanged, Problems: []host.Problem{{File: "f", Reason: "r"}}},
		"back: the directory is there again":    {Kind: host.FollowBack},
		"gone: it went away":                    {Kind: host.FollowGone, Message: "it went away"},
	} {
		assert.Equal(t, want, followLine(e))
	}
}

// What a follower told of while the console had the screen is told after it.
func TestSightings(t *testing.T) {
	s := newSightings()
	var out bytes.Buffer
	some := make([]host.Problem, 15)
	for i := range some {
		some[i] = host.Problem{File: "f", Line: i + 1, Reason: "is odd"}
	}
	s.add(host.FollowEvent{Kind: host.FollowStarted, Report: &host.ImportReport{Problems: some}})
	s.add(host.FollowEvent{Kind: host.FollowGone, Message: "it went away"})
	s.add(host.FollowEvent{Kind: host.FollowBack})
	s.add(host.FollowEvent{Kind: host.FollowChanged, Problems: some})
	s.write(&out)
	assert.Equal(t, shownProblems+1, strings.Count(out.String(), "\n"))
	assert.Contains(t, out.String(), "and 10 more problems")
	assert.NotContains(t, out.String(), "went away")
	s.add(host.FollowEvent{Kind: host.FollowFailed, Message: "disk full"})
	s.write(&out)
	assert.Contains(t, out.String(), "failed: disk full\n")
}

// The built program in a terminal: the console shows what is appended to a file that it follows, other verbs go on beside it, another
// follower of the directory is told that it is followed, a broken line is told of when it is found and at the end, and q ends it all.
func TestConsoleFollows(t *testing.T) {
	dir, transcript := living(t)
	h := newHome(t)
	x := console(t, h, look{w: 140, h: 40}, "--follow", dir)
	x.sees("Ops desk")
	x.sees("Done, thanks")
	for _, beside := range []struct {
		said string
		code int
		args []string
	}{
		{"agent:ops:main", exitOK, []string{"list"}},
		{"agent:main:", exitOK, []string{"new", "main"}},
		{"is followed already", exitFailed, []string{"follow", dir}},
	} {
		path, err := binary()
		require.NoError(t, err)
		cmd := exec.CommandContext(t.Context(), path, beside.args...)
		cmd.Env = h.environment("PATH=" + os.Getenv("PATH"))
		out, _ := cmd.CombinedOutput()
		assert.Contains(t, string(out), beside.said)
		assert.Equal(t, beside.code, cmd.ProcessState.ExitCode(), "%v: %s", beside.args, out)
	}
	say(t, transcript)
	x.sees("just said")
	f, err := os.OpenFile(transcript, os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(t, err)
	_, err = f.WriteString("{broken\n")
	require.NoError(t, err)
	require.NoError(t, f.Close())
	x.sees("agents/main/sessions/")

	sessions := filepath.Join(dir, "agents", "fresh", "sessions")
	write := func(name, text string) {
		require.NoError(t, os.MkdirAll(sessions, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(sessions, name), []byte(text), 0o600))
	}
	write("f.jsonl", line)
	write("sessions.json", `{"agent:fresh:main":{"sessionId":"f","updatedAt":1796029200000,"label":"a new agent"}}`)
	x.sees("a new agent")
	require.NoError(t, os.Rename(filepath.Join(sessions, "f.jsonl"), filepath.Join(sessions, "f.jsonl.deleted.2026-11-30T22-00-00.000Z")))
	write("sessions.json", "{}")
	x.loses("a new agent")

	require.NoError(t, os.Rename(transcript, transcript+".reset.2026-11-30T22-00-00.000Z"))
	id := strings.TrimSuffix(filepath.Base(transcript), ".jsonl")
	index := filepath.Join(filepath.Dir(transcript), "sessions.json")
	text, err := os.ReadFile(index)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(filepath.Dir(transcript), "new.jsonl"), []byte(strings.ReplaceAll(line, "just said", "after the reset")), 0o600))
	require.NoError(t, os.WriteFile(index+".tmp", []byte(strings.ReplaceAll(string(text), id, "new")), 0o600))
	require.NoError(t, os.Rename(index+".tmp", index))
	x.sees("after the reset")
	x.loses("Done, thanks")
	x.keys("q")
	assert.Equal(t, exitOK, x.ends())
	x.sees("--follow " + dir)
}

func TestFollowNeedsAStateDirectory(t *testing.T) {
	_, code := cordboard(t, "follow", t.TempDir(), "--data", filepath.Join(t.TempDir(), "D"), "--config", "")
	assert.Equal(t, exitUsage, code)
}

// A deep link into a directory that is followed for the first time waits for what is there to be imported.
func TestFollowOpensOnASessionOfTheFirstImport(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.CopyFS(dir, os.DirFS("../../testdata/openclaw")))
	x := console(t, newHome(t), look{w: 140, h: 40}, "--follow", dir, "--session", "agent:research:main")
	x.sees("agent:research:main ─")
	x.keys("q")
	require.Zero(t, x.ends())
}
