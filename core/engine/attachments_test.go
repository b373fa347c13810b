package engine_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/core/runtime/echo"
)

const png = "\x89PNG\r\n\x1a\n0000"

func sumOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// R099: files are under the target's workspace, for nobody else to read, with receipts; names are kept as they are; the child is told where
// they are and, when its runtime cannot look, what is in them.
func TestAttachments(t *testing.T) {
	var turns []core.Turn
	synctest.Test(t, func(t *testing.T) {
		s := &stage{
			dir: t.TempDir(), runtime: listening{echo.Runtime{Sleep: sleep}, &turns},
			config: `agents: { list: [{ id: "main", subagents: { allowAgents: ["*"] } }, { id: "research" }] }`,
		}
		s.open(t)
		defer s.close()
		s.put(core.Session{Key: mainKey})
		answer, code := s.call(mainKey, "sessions_spawn", `{"task":"x","agentId":"research","attachAs":{"mountPath":"in"},"attachments":[`+strings.Join([]string{
			attachment("notes.txt", "read me", "utf8"), attachment("empty", "", "utf8"), attachment("ends with dots..", "a", "utf8"),
			attachment("pic.png", base64.StdEncoding.EncodeToString([]byte(png)), "base64"),
		}, ",")+`]}`)
		require.Empty(t, code, "%v", answer)
		receipt := answer["attachments"].(map[string]any)
		dir := receipt["relDir"].(string)
		assert.Regexp(t, `^\.openclaw/attachments/n\d+$`, dir)
		assert.Equal(t, map[string]any{"name": "notes.txt", "bytes": 7.0, "sha256": sumOf("read me")}, receipt["files"].([]any)[0])
		assert.Equal(t, 4.0, receipt["count"])
		assert.Equal(t, []string{
			` drwx------ ""`, `/research drwx------ ""`, `/research/.openclaw drwx------ ""`, `/research/.openclaw/attachments drwx------ ""`,
			`/research/` + dir + ` drwx------ ""`, `/research/` + dir + `/empty -rw------- ""`, `/research/` + dir + `/ends with dots.. -rw------- "a"`,
			`/research/` + dir + `/notes.txt -rw------- "read me"`, `/research/` + dir + `/pic.png -rw------- ` + fmt.Sprintf("%q", png),
		}, s.files())
		later(time.Second)
		require.NotEmpty(t, turns)
		told := turns[0].Context
		assert.Contains(t, told, "untrusted data")
		assert.Contains(t, told, "- "+dir+"/notes.txt, 7 bytes, sha256 "+sumOf("read me"))
		assert.Contains(t, told, "What is in notes.txt:\nread me\n")
		assert.Contains(t, told, `see them at "in"`)
		assert.NotContains(t, told, "PNG")
		assert.Equal(t, []core.Image{{MimeType: "image/png", Data: []byte(png)}}, turns[0].Images)
		assert.Empty(t, s.dues("files"), "they are the child's")

		// What was changed since is not told as if it were what was attached; the operator's delete takes the files along.
		turns = nil
		folder := filepath.Join(s.dir, "workspaces", "research", dir)
		require.NoError(t, os.WriteFile(filepath.Join(folder, "notes.txt"), []byte("forged!"), 0o600))
		require.NoError(t, os.Remove(filepath.Join(folder, "empty")))
		require.NoError(t, os.Symlink("/etc/passwd", filepath.Join(folder, "empty")))
		child := answer["childSessionKey"].(string)
		s.await(s.send(child, "again"))
		assert.Contains(t, turns[0].Context, "notes.txt cannot be read any more: it is no longer what was attached")
		assert.Contains(t, turns[0].Context, "empty cannot be read any more")
		assert.NotContains(t, turns[0].Context, "forged!")
		s.do(core.Command{Delete: &core.Delete{Session: child}})
		later(time.Second)
		assert.NoDirExists(t, folder)
		assert.FileExists(t, "/etc/passwd")
	})
}

// dues are the ids of what is due of a kind.
func (s *stage) dues(kind string) (ids []string) {
	s.t.Helper()
	require.NoError(s.t, s.store.View(s.t.Context(), func(r core.Reader) error {
		return r.Due(1<<62, func(d core.Due) bool {
			if d.Kind == kind {
				ids = append(ids, strings.Clone(d.ID))
			}
			return true
		})
	}))
	return ids
}

// cleanup=delete takes the files along, keep keeps them.
func TestAttachmentsGoWithTheSession(t *testing.T) {
	play(t, "", []string{mainKey}, func(t *testing.T, s *stage) {
		file := `"attachments":[` + attachment("a", "x", "utf8") + `]`
		s.spawn(mainKey, `{"task":"x",`+file+`}`)
		s.spawn(mainKey, `{"task":"x","cleanup":"delete",`+file+`}`)
		later(time.Second)
		files := 0
		for _, f := range s.files() {
			if strings.Contains(f, "/a -rw") {
				files++
			}
		}
		assert.Equal(t, 1, files)
		assert.Empty(t, s.dues("files"))
	})
}

// Nothing leads out of the workspace: links in the place of its directories are refused or followed within it only, and a failure leaves
// everything as it was (R098).
func TestAttachmentsStayInside(t *testing.T) {
	for name, c := range map[string]struct {
		make func(t *testing.T, workspace, outside string)
		ok   bool
	}{
		".openclaw leads out": {func(t *testing.T, workspace, outside string) {
			require.NoError(t, os.Symlink(outside, filepath.Join(workspace, ".openclaw")))
		}, false},
		".openclaw leads up": {func(t *testing.T, workspace, _ string) {
			require.NoError(t, os.Symlink("../..", filepath.Join(workspace, ".openclaw")))
		}, false},
		"attachments leads out": {func(t *testing.T, workspace, outside string) {
			require.NoError(t, os.Mkdir(filepath.Join(workspace, ".openclaw"), 0o700))
			require.NoError(t, os.Symlink(outside, filepath.Join(workspace, ".openclaw", "attachments")))
		}, false},
		"attachments is a file": {func(t *testing.T, workspace, _ string) {
			require.NoError(t, os.Mkdir(filepath.Join(workspace, ".openclaw"), 0o700))
			require.NoError(t, os.WriteFile(filepath.Join(workspace, ".openclaw", "attachments"), []byte("x"), 0o600))
		}, false},
		"a link within": {func(t *testing.T, workspace, _ string) {
			require.NoError(t, os.Mkdir(filepath.Join(workspace, "elsewhere"), 0o700))
			require.NoError(t, os.Symlink("elsewhere", filepath.Join(workspace, ".openclaw")))
		}, true},
	} {
		play(t, "", []string{mainKey}, func(t *testing.T, s *stage) {
			outside := t.TempDir()
			workspace := filepath.Join(s.dir, "workspaces", "main")
			require.NoError(t, os.MkdirAll(workspace, 0o700))
			c.make(t, workspace, outside)
			before := s.everything()
			answer, code := s.call(mainKey, "sessions_spawn", `{"task":"x","attachments":[`+attachment("a", "secret", "utf8")+`]}`)
			if entries, err := os.ReadDir(outside); assert.NoError(t, err) {
				assert.Empty(t, entries, name)
			}
			if c.ok {
				assert.Empty(t, code, "%s: %v", name, answer)
				return
			}
			assert.EqualValues(t, "attachments_write_failed", code, "%s: %v", name, answer)
			assert.NotContains(t, answer["error"], s.dir, "a session learns nothing of where things lie")
			assert.Equal(t, before, s.everything(), name)
		})
	}
}

// Whoever runs in the workspace may exchange directories for links while files are written: nothing is ever written outside.
func TestAttachmentsWhileDirectoriesAreExchanged(t *testing.T) {
	dir := t.TempDir()
	s := &stage{dir: dir}
	s.open(t)
	defer s.close()
	s.put(core.Session{Key: mainKey})
	outside := t.TempDir()
	workspace := filepath.Join(dir, "workspaces", "main")
	require.NoError(t, os.MkdirAll(workspace, 0o700))
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		place, aside := filepath.Join(workspace, ".openclaw"), filepath.Join(workspace, "aside")
		for {
			select {
			case <-stop:
				return
			default:
			}
			if os.Rename(place, aside) == nil {
				_ = os.Symlink(outside, place)
				_ = os.Remove(place)
				_ = os.Rename(aside, place)
			}
			_ = filepath.WalkDir(place, func(path string, d fs.DirEntry, err error) error {
				if err == nil && d.IsDir() && filepath.Dir(path) == filepath.Join(place, "attachments") {
					_ = os.Rename(path, path+".aside")
					_ = os.Symlink(outside, path)
				}
				return nil
			})
		}
	}()
	written := 0
	for range 40 {
		answer, code := s.call(mainKey, "sessions_spawn", `{"task":"x","attachments":[`+attachment("a", "secret", "utf8")+`]}`)
		if code == "" {
			written++
			s.await(answer["runId"].(string))
		}
	}
	close(stop)
	<-stopped
	entries, err := os.ReadDir(outside)
	require.NoError(t, err)
	assert.Empty(t, entries, "%d of 40 were written", written)
}

// A launch that the engine died in left its folder: it is found by its row and removed at the next start. One whose child was made keeps it.
func TestAttachmentsOverACrash(t *testing.T) {
	play(t, "", []string{mainKey}, func(t *testing.T, s *stage) {
		s.spawn(mainKey, `{"task":"x","attachments":[`+attachment("a", "kept", "utf8")+`]}`)
		workspace := filepath.Join(s.dir, "workspaces", "main")
		lost := filepath.Join(workspace, ".openclaw", "attachments", "lost")
		require.NoError(t, os.Mkdir(lost, 0o700))
		require.NoError(t, os.WriteFile(filepath.Join(lost, "half"), []byte("half"), 0o600))
		s.update(func(tx core.Tx) error {
			return tx.PutDue(core.Due{At: time.Now().Add(5 * time.Minute).UnixMilli(), Kind: "files", ID: "lost:" + workspace})
		})
		s.engine.Stop(context.Background())
		require.NoError(t, s.store.Close())
		s.open(t)
		assert.NoDirExists(t, lost)
		assert.Contains(t, strings.Join(s.files(), "\n"), `"kept"`)
		assert.Empty(t, s.dues("files"))
	})
}

// A child whose runtime reads files gets any bytes, and is not told what is in them.
func TestAttachmentsForACommand(t *testing.T) {
	var turns []core.Turn
	synctest.Test(t, func(t *testing.T) {
		s := &stage{
			dir: t.TempDir(), more: map[string]core.Runtime{"exec": listening{echo.Runtime{Sleep: sleep}, &turns}},
			config: `agents: { list: [{ id: "main", runtime: { type: "exec", command: ["true"] } }] }`,
		}
		s.open(t)
		defer s.close()
		s.put(core.Session{Key: mainKey})
		s.spawn(mainKey, `{"task":"x","attachments":[`+attachment("b", base64.StdEncoding.EncodeToString([]byte{0, 255}), "base64")+`,`+
			attachment("big", strings.Repeat("word ", 20_000), "utf8")+`]}`)
		later(time.Second)
		require.NotEmpty(t, turns)
		assert.Contains(t, turns[0].Context, "/b, 2 bytes")
		assert.NotContains(t, turns[0].Context, "word word")
		assert.Empty(t, turns[0].Images)
	})
	play(t, "", []string{mainKey}, func(t *testing.T, s *stage) {
		half := strings.Repeat("x", 32<<10)
		_, code := s.call(mainKey, "sessions_spawn", `{"task":"x","attachments":[`+attachment("a", half, "utf8")+`,`+attachment("b", half, "utf8")+`]}`)
		assert.Empty(t, code, "64 KiB of text are told")
		_, code = s.call(mainKey, "sessions_spawn", `{"task":"x","attachments":[`+attachment("a", half, "utf8")+`,`+attachment("b", half+"x", "utf8")+`]}`)
		assert.EqualValues(t, "attachments_unsupported", code)
	})
}
