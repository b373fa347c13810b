package openclaw

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/fsnotify/fsnotify"
	"github.com/stretchr/testify/require"
)

// makeState writes a state directory of so many sessions with so many messages each, and returns the bytes of its transcripts.
func makeState(b *testing.B, sessions, messages int) (dir string, size int64) {
	dir = b.TempDir()
	at := filepath.Join(dir, "agents", "main", "sessions")
	require.NoError(b, os.MkdirAll(at, 0o700))
	var transcript strings.Builder
	transcript.WriteString(header)
	for i := range messages {
		role := "user"
		if i%2 == 1 {
			role = "assistant"
		}
		fmt.Fprintf(&transcript, `{"type":"message","id":"%08x","parentId":"%08x","timestamp":"2026-11-30T09:00:00.000Z","message":{"role":%q,`+
			`"content":[{"type":"text","text":%q}],"usage":{"input":11456,"output":51,"cost":{"total":0.01}},"stopReason":"stop","timestamp":1796029200000}}`+"\n",
			i+1, i, role, strings.Repeat("words of a message, as long as they are in life. ", 8))
	}
	var index strings.Builder
	for i := range sessions {
		id := fmt.Sprintf("%08x-0000-4000-8000-000000000000", i*2654435761%(1<<32))
		require.NoError(b, os.WriteFile(filepath.Join(at, id+".jsonl"), []byte(transcript.String()), 0o600))
		fmt.Fprintf(&index, ",\n  \"agent:main:webchat:direct:peer%d\": {\n    \"sessionId\": %q,\n    \"updatedAt\": %d,\n    \"skillsSnapshot\": {\n      \"prompt\": %q\n    }\n  }",
			i, id, 1796029200000+i, strings.Repeat("a skill and what it is for; ", 40))
		size += int64(transcript.Len())
	}
	require.NoError(b, os.WriteFile(filepath.Join(at, indexName), []byte("{"+index.String()[1:]+"\n}"), 0o600))
	return dir, size
}

// BenchmarkImport imports into a new store; MB/s are those of transcripts.
func BenchmarkImport(b *testing.B) {
	for _, sessions := range []int{1000, 10000} {
		b.Run(fmt.Sprintf("%dx50", sessions), func(b *testing.B) {
			dir, size := makeState(b, sessions, 50)
			b.SetBytes(size)
			for b.Loop() {
				b.StopTimer()
				s := newStore(b)
				b.StartTimer()
				report := imported(b, s, dir)
				require.Equal(b, sessions*50, report.Messages)
				b.StopTimer()
				require.NoError(b, s.Close())
				b.StartTimer()
			}
		})
	}
}

// BenchmarkImportAgain imports a directory that has not changed.
func BenchmarkImportAgain(b *testing.B) {
	dir, size := makeState(b, 1000, 50)
	s := newStore(b)
	imported(b, s, dir)
	b.SetBytes(size)
	for b.Loop() {
		imported(b, s, dir)
	}
}

// BenchmarkFollowAppend appends a line to one of many transcripts: until it can be read from the store (visible, the moment in which more
// notifications are waited for included), and how much of that is the follower's work (it is driven by hand then).
func BenchmarkFollowAppend(b *testing.B) {
	line := said("user", strings.Repeat("words ", 60))
	b.Run("visible", func(b *testing.B) {
		d := newState(b)
		d.write("a", "sessions.json", `{"agent:a:main":{"sessionId":"s","updatedAt":7}}`)
		d.write("a", "s.jsonl", header)
		l := live(b, newStore(b), d.dir)
		l.until("start", func(e FollowEvent) bool { return e.Kind == FollowStarted })
		for b.Loop() {
			d.append("a", "s.jsonl", line)
			l.until("line", func(e FollowEvent) bool { return len(e.Changes) == 1 })
		}
		require.NoError(b, l.stop())
	})
	for _, sessions := range []int{100, 10000} {
		dir, _ := makeState(b, sessions, 2)
		d, s := state{b, dir}, newStore(b)
		r := follow(b, s, dir)
		defer r.f.close()
		name := filepath.Base(r.f.cat.last.transcripts[sessions/2].path)
		event := fsnotify.Event{Name: d.path("main", name), Op: fsnotify.Write}
		b.Run(fmt.Sprintf("work/%d", sessions), func(b *testing.B) {
			for b.Loop() {
				d.append("main", name, line)
				r.f.notice(event)
				r.f.lookAtDirty(b.Context(), false)
			}
		})
		b.Run(fmt.Sprintf("index/%d", sessions), func(b *testing.B) {
			at := d.path("main", indexName)
			text, err := os.ReadFile(at)
			require.NoError(b, err)
			b.SetBytes(int64(len(text)))
			for i := 0; b.Loop(); i++ {
				changed := strings.Replace(string(text), "a skill", fmt.Sprintf("%07d", i), 1)
				require.NoError(b, os.WriteFile(at, []byte(changed), 0o600))
				r.f.notice(fsnotify.Event{Name: at, Op: fsnotify.Write})
				r.f.lookAtDirty(b.Context(), false)
			}
		})
		b.Run(fmt.Sprintf("sweep/%d", sessions), func(b *testing.B) {
			for b.Loop() {
				r.f.sweep(b.Context())
			}
		})
	}
}
