package openclaw

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/store/bolt"
)

// fleet is the state directory that the whole project tests with.
const fleet = "../../testdata/openclaw"

func openStore(t testing.TB, dir string) *bolt.Store {
	t.Helper()
	s, err := bolt.Open(bolt.Options{Dir: dir})
	require.NoError(t, err)
	t.Cleanup(func() { s.Close() })
	return s
}

func newStore(t testing.TB) *bolt.Store { return openStore(t, t.TempDir()) }

func imported(t testing.TB, s core.Store, dir string) Report {
	t.Helper()
	r, err := Import(t.Context(), s, dir, Options{})
	require.NoError(t, err)
	return r
}

func view(t testing.TB, s core.Store, fn func(core.Reader) error) {
	t.Helper()
	require.NoError(t, s.View(t.Context(), fn))
}

func session(t testing.TB, s core.Store, key string) core.Session {
	t.Helper()
	var row core.Session
	view(t, s, func(r core.Reader) error {
		var ok bool
		var err error
		row, ok, err = r.Session(key)
		require.True(t, ok, "session %q is there", key)
		return err
	})
	return row
}

func generation(t testing.TB, s core.Store, id string) core.Generation {
	t.Helper()
	var g core.Generation
	view(t, s, func(r core.Reader) error {
		var ok bool
		var err error
		g, ok, err = r.Generation(id)
		require.True(t, ok, "generation %q is there", id)
		return err
	})
	return g
}

func generations(t testing.TB, s core.Store) map[string]core.Generation {
	t.Helper()
	all := map[string]core.Generation{}
	view(t, s, func(r core.Reader) error {
		return r.AllGenerations("", func(g *core.Generation) bool {
			all[g.ID] = *g
			return true
		})
	})
	return all
}

func messages(t testing.TB, s core.Store, generation string) []core.Message {
	t.Helper()
	var all []core.Message
	view(t, s, func(r core.Reader) error {
		return r.Messages(generation, core.SeqRange{}, func(m *core.Message) bool {
			c := *m
			c.Raw, c.Before, c.After = bytes.Clone(m.Raw), bytes.Clone(m.Before), bytes.Clone(m.After)
			all = append(all, c)
			return true
		})
	})
	return all
}

func sessionKeys(t testing.TB, s core.Store) []string {
	t.Helper()
	var keys []string
	view(t, s, func(r core.Reader) error {
		return r.Heads(core.HeadCursor{}, func(h *core.Head) bool {
			keys = append(keys, string([]byte(h.Key)))
			return true
		})
	})
	return keys
}

// dump writes everything an import puts into a store, so that two stores can be compared.
func dump(t testing.TB, s core.Store, w io.Writer) {
	t.Helper()
	put := func(v any) {
		text, err := json.Marshal(v)
		require.NoError(t, err)
		fmt.Fprintf(w, "%s\n", text)
	}
	for _, k := range sessionKeys(t, s) {
		put(session(t, s, k))
		view(t, s, func(r core.Reader) error {
			entry, _, err := r.Entry(k)
			fmt.Fprintf(w, "entry %s\n", entry)
			return err
		})
	}
	var source string
	view(t, s, func(r core.Reader) error {
		if err := r.Runs("", func(run *core.Run) bool { put(run); return true }); err != nil {
			return err
		}
		return r.AllGenerations("", func(g *core.Generation) bool {
			put(g)
			if g.File != "" {
				source = filepath.Join(filepath.Dir(g.File), "../../..")
			}
			fmt.Fprintln(w, "messages")
			err := r.Messages(g.ID, core.SeqRange{}, func(m *core.Message) bool {
				fmt.Fprintf(w, "%d %v %d %d %s%s%s\n", m.Seq, m.Role, m.Flags, m.At, m.Before, m.Raw, m.After)
				return true
			})
			require.NoError(t, err)
			return true
		})
	})
	view(t, s, func(r core.Reader) error {
		return r.SourceFiles(source, func(f *core.SourceFile) bool { put(f); return true })
	})
}

func dumped(t testing.TB, s core.Store) string {
	t.Helper()
	var b bytes.Buffer
	dump(t, s, &b)
	return b.String()
}

// state is a state directory under construction.
type state struct {
	t   testing.TB
	dir string
}

func newState(t testing.TB) state {
	s := state{t, t.TempDir()}
	require.NoError(t, os.MkdirAll(filepath.Join(s.dir, "agents"), 0o700))
	return s
}

// copyOf is a state directory that may be changed.
func copyOf(t testing.TB, dir string) state {
	s := state{t, t.TempDir()}
	require.NoError(t, os.CopyFS(s.dir, os.DirFS(dir)))
	return s
}

func (s state) path(agent, name string) string {
	return filepath.Join(s.dir, "agents", agent, "sessions", name)
}

// write puts a file among an agent's sessions.
func (s state) write(agent, name, text string) {
	s.t.Helper()
	p := s.path(agent, name)
	require.NoError(s.t, os.MkdirAll(filepath.Dir(p), 0o700))
	require.NoError(s.t, os.WriteFile(p, []byte(text), 0o600))
}

// writeAt puts a file anywhere in the directory.
func (s state) writeAt(name, text string) {
	s.t.Helper()
	p := filepath.Join(s.dir, name)
	require.NoError(s.t, os.MkdirAll(filepath.Dir(p), 0o700))
	require.NoError(s.t, os.WriteFile(p, []byte(text), 0o600))
}

func (s state) append(agent, name, text string) {
	s.t.Helper()
	f, err := os.OpenFile(s.path(agent, name), os.O_APPEND|os.O_WRONLY, 0)
	require.NoError(s.t, err)
	_, err = f.WriteString(text)
	require.NoError(s.t, err)
	require.NoError(s.t, f.Close())
}

func (s state) rename(agent, from, to string) {
	s.t.Helper()
	require.NoError(s.t, os.Rename(s.path(agent, from), s.path(agent, to)))
}

// said is a transcript line of a message.
func said(role, text string) string {
	return fmt.Sprintf(`{"type":"message","id":"0a1b2c3d","parentId":null,"timestamp":"2026-11-30T09:00:00.000Z","message":{"role":%q,"content":%q,"timestamp":1796029200000}}`,
		role, text) + "\n"
}

const header = `{"type":"session","version":3,"id":"s","timestamp":"2026-11-30T08:00:00.250Z","cwd":"/w"}` + "\n"

func sorted(s []string) []string {
	slices.Sort(s)
	return s
}
