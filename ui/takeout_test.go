package ui

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/stretchr/testify/require"
)

// beyond is an Outside in a directory of the test's own.
type beyond struct {
	dir     string
	sent    bytes.Buffer
	env     map[string]string
	full    bool
	opened  []string // what programs found in the files they were given
	scratch int
}

func (b *beyond) Terminal() io.Writer       { return &b.sent }
func (b *beyond) Getenv(name string) string { return b.env[name] }

func (b *beyond) Create(name, extension string) (File, error) {
	if b.full {
		return nil, errors.New("the disk is full")
	}
	f, err := os.OpenFile(filepath.Join(b.dir, strings.ReplaceAll(name, ":", "-")+extension), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (b *beyond) Scratch(name, extension string) (File, error) {
	b.scratch++
	return b.Create(fmt.Sprintf("scratch-%d-%s", b.scratch, name), extension)
}

func (b *beyond) Remove(path string) error         { return os.Remove(path) }
func (b *beyond) Read(path string) ([]byte, error) { return os.ReadFile(path) }

func (b *beyond) Files(dir string) (string, []FileEntry, error) {
	if dir == "" {
		dir = b.dir
	}
	dir = filepath.Clean(dir)
	entries, err := os.ReadDir(dir)
	var list []FileEntry
	for _, each := range entries {
		if e, err := b.Stat(filepath.Join(dir, each.Name())); err == nil {
			list = append(list, e)
		}
	}
	return dir, list, err
}

func (b *beyond) Stat(path string) (FileEntry, error) {
	info, err := os.Stat(path)
	if err != nil {
		return FileEntry{}, err
	}
	return FileEntry{Name: info.Name(), Path: path, Dir: info.IsDir(), Size: info.Size()}, nil
}

func (b *beyond) Editor(path string) (*exec.Cmd, string) {
	return exec.Command("editor", path), "the editor ed ($EDITOR)"
}

func (b *beyond) Pager(path string) (*exec.Cmd, string) {
	return exec.Command("pager", path), "the pager pg ($PAGER)"
}

// withOutside gives a console something beyond its screen; programs read their file and end.
func (c *console) withOutside() *beyond {
	b := &beyond{dir: c.t.(*testing.T).TempDir(), env: map[string]string{"TERM": "xterm-256color"}}
	c.m.env.Outside = b
	c.m.seams.exec = func(cmd *exec.Cmd, done func(error) tea.Msg) tea.Cmd {
		return func() tea.Msg {
			text, err := os.ReadFile(cmd.Args[1])
			b.opened = append(b.opened, cmd.Args[0]+": "+string(text))
			return done(err)
		}
	}
	return b
}

// told is the last notice.
func (c *console) told() string {
	log := c.m.toasts.log
	require.NotEmpty(c.t, log)
	return log[len(log)-1].text
}

// taken is the text that was sent to the terminal's clipboard.
func (b *beyond) taken(t *testing.T) string {
	t.Helper()
	sent := b.sent.String()
	b.sent.Reset()
	encoded, ok := strings.CutPrefix(sent, "\x1b]52;c;")
	require.True(t, ok, "%q", sent)
	text, err := base64.StdEncoding.DecodeString(strings.TrimSuffix(encoded, "\a"))
	require.NoError(t, err)
	return string(text)
}

// R158, R159, R160: what is copied is what was said, to the terminal, when a key asks for it.
func TestCopy(t *testing.T) {
	s := newShelf(t)
	long := strings.Repeat("0123456789", 30)
	s.session(
		mainKey,
		`{"role":"user","content":"[Mon 2026-11-30 21:27 UTC] hello there"}`,
		"first\n\n```sh\nfor i in 1 2; do\n\techo $i\ndone\n```\n\n"+long+"\n\n~~~\nsecond block\n~~~",
		`{"role":"assistant","content":[{"type":"toolCall","name":"exec","arguments":{"cmd":"ls"}}]}`,
		result("one\ntwo"),
		"no code in it",
	)
	c := s.read(mainKey, 80, 24)
	c.press("y")
	require.Equal(t, "this console has no way out of its screen", c.footer())
	b := c.withOutside()
	c.press("up", "down", "pgup", "t", "w", "home", "end", "/", "esc")
	require.Zero(t, b.sent.Len(), "nothing is copied unasked")

	c.press("end", "y")
	require.Equal(t, "no code in it", b.taken(t))
	require.Equal(t, "message sent to the terminal's clipboard · 13 B", c.footer())
	require.NotContains(t, c.footer(), "copied")
	c.press("Y")
	require.Equal(t, "there is no code block in this message", c.footer())

	c.press("K", "y")
	require.Equal(t, "one\ntwo", b.taken(t))
	c.press("K", "Y")
	require.Equal(t, "{\n  \"cmd\": \"ls\"\n}", b.taken(t))
	c.press("K", "y")
	text := b.taken(t)
	require.Contains(t, text, "\n"+long+"\n", "no breaks of ours")
	require.Contains(t, text, "\techo $i\n", "tabs stay tabs")
	c.press("Y")
	require.Contains(t, c.view(), "Copy which")
	fits(t, c.view(), 80, 24)
	c.press("1")
	require.Equal(t, "for i in 1 2; do\n\techo $i\ndone", b.taken(t))
	c.press("Y", "down", "enter")
	require.Equal(t, "second block", b.taken(t))
	c.press("K", "y")
	require.Equal(t, "hello there", b.taken(t))
}

// What no terminal takes goes to a file that only its owner may read.
func TestCopyOfALargeMessage(t *testing.T) {
	s := newShelf(t)
	large := strings.Repeat("x", maxClip/4*3+1)
	s.session(mainKey, large[1:], large)
	c := s.read(mainKey, 160, 24)
	b := c.withOutside()
	c.press("K", "y")
	require.Len(t, b.taken(t), len(large)-1)
	c.press("J", "y")
	require.Zero(t, b.sent.Len())
	path := filepath.Join(b.dir, "scratch-1-copy.txt")
	require.Equal(t, "message is too large for a terminal's clipboard (56 KB): written to "+path, c.told())
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, large, string(text))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	b.full = true
	c.press("y")
	require.Contains(t, c.view(), "not copied: the disk is full")
}

// Multiplexers pass the sequence on when it comes as they want it.
func TestClip(t *testing.T) {
	const plain = "\x1b]52;c;aGk=\a"
	for _, c := range []struct {
		name string
		env  map[string]string
		want string
	}{
		{"a terminal", map[string]string{"TERM": "xterm-256color"}, plain},
		{"tmux", map[string]string{"TERM": "screen-256color", "TMUX": "/tmp/tmux-0/default,1,0"}, plain + "\x1bPtmux;\x1b" + plain + "\x1b\\"},
		{"tmux behind ssh", map[string]string{"TERM": "tmux-256color"}, plain + "\x1bPtmux;\x1b" + plain + "\x1b\\"},
		{"screen", map[string]string{"TERM": "screen", "STY": "1.pts"}, "\x1bP" + plain + "\x1b\\"},
		{"one or the other behind ssh", map[string]string{"TERM": "screen-256color"}, plain + "\x1bP" + plain + "\x1b\\"},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.Equal(t, c.want, clip("hi", func(name string) string { return c.env[name] }))
		})
	}
	require.True(t, clipFits(strings.Repeat("x", maxClip/4*3)))
	require.False(t, clipFits(strings.Repeat("x", maxClip/4*3+3)))
}

// A message and the transcript open in the operator's programs, and leave no file behind.
func TestEditorAndPager(t *testing.T) {
	s := newShelf(t)
	s.session(mainKey, `{"role":"user","content":"a\u001b[2Jb"}`, "**the** answer", result("out"))
	c := s.read(mainKey, 80, 24)
	b := c.withOutside()
	c.press("K", "E")
	require.Equal(t, []string{"editor: ## agent · 2026-11-30 10:02:00\n\n**the** answer\n"}, b.opened)
	c.press("K", "p")
	require.Equal(t, "pager: ## user · 2026-11-30 10:01:00\n\na␛[2Jb\n", b.opened[1])
	c.press("P")
	require.Contains(t, b.opened[2], "pager: # agent:main:main\n")
	require.Contains(t, b.opened[2], "**the** answer\n\n## result of cat")
	c.press("f", "down", "enter", "esc", "x", "4")
	require.Contains(t, b.opened[3], "editor: # agent:main:main\n")
	require.Contains(t, b.opened[3], "**the** answer")
	require.NotContains(t, b.opened[3], "result of cat", "what is filtered out stays out")
	left, err := os.ReadDir(b.dir)
	require.NoError(t, err)
	require.Empty(t, left)

	b.full = true
	c.press("P")
	require.Contains(t, c.view(), "cannot hand it over: the disk is full")
}

// A program that cannot be run is told of, and its file is gone all the same.
func TestPagerFails(t *testing.T) {
	s := newShelf(t)
	s.session(mainKey, "x")
	c := s.read(mainKey, 80, 24)
	b := c.withOutside()
	for script, says := range map[string]string{
		"exit 127": "there is no such program: install it or name another one in that variable",
		"exit 126": "it cannot be run: name a program that can in that variable",
		"exit 3":   "it ended with exit status 3",
	} {
		c.m.seams.exec = func(_ *exec.Cmd, done func(error) tea.Msg) tea.Cmd {
			return func() tea.Msg { return done(exec.Command("sh", "-c", script).Run()) }
		}
		c.press("p")
		require.Equal(t, "the pager pg ($PAGER): "+says, c.told())
	}
	c.m.seams.exec = func(_ *exec.Cmd, done func(error) tea.Msg) tea.Cmd {
		return func() tea.Msg { return done(errors.New("no shell")) }
	}
	c.press("p")
	require.Equal(t, "the pager pg ($PAGER): no shell", c.told())
	left, err := os.ReadDir(b.dir)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestExports(t *testing.T) {
	s := newShelf(t)
	s.session(mainKey, "hello", result("out"))
	c := s.read(mainKey, 120, 30)
	b := c.withOutside()
	c.press("x")
	fits(t, c.view(), 120, 30)
	c.press("6")
	require.Equal(t, "this console has no place to write files to", c.footer())
	var asked string
	c.m.env.Export = nil
	c.press("x", "down", "down", "down", "down", "enter")
	require.Equal(t, "written to "+filepath.Join(b.dir, "agent-main-main.md"), c.told())
	text, err := os.ReadFile(filepath.Join(b.dir, "agent-main-main.md"))
	require.NoError(t, err)
	require.Contains(t, string(text), "hello")
	c.press("x", "5")
	require.Contains(t, c.view(), "not exported: ", "nothing is overwritten")

	c.m.env.Export = func(_ context.Context, session string) (string, error) { asked = session; return "/x/y.jsonl", nil }
	c.press("x", "6")
	require.Equal(t, "written to /x/y.jsonl", c.told())
	require.Equal(t, mainKey, asked)
}
