package ui

import (
	"context"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	_ "github.com/charmbracelet/x/exp/golden" // owns the -update flag
	"github.com/muesli/termenv"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"cordboard/core"
	"cordboard/themes"
)

// TestMain fixes what the process could lend to a frame and runs in the top directory, where the goldens are.
func TestMain(m *testing.M) {
	for _, name := range []string{"NO_COLOR", "CLICOLOR_FORCE", "COLORTERM"} {
		_ = os.Unsetenv(name)
	}
	_ = os.Setenv("TZ", "UTC")
	lipgloss.SetColorProfile(termenv.Ascii)
	lipgloss.SetHasDarkBackground(true)
	if err := os.Chdir(".."); err != nil {
		panic(err)
	}
	// teatest waits for an interrupt for as long as the process lives
	goleak.VerifyTestMain(m, goleak.IgnoreTopFunction("github.com/charmbracelet/x/exp/teatest.NewTestModel.func2"))
}

// noon is the time all tests are run at.
var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

func styles(t tester, name string, profile termenv.Profile) *themes.Styles {
	t.Helper()
	p, err := themes.Load(name)
	require.NoError(t, err)
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(profile)
	return themes.Compile(p, r)
}

// tester is a test or a rapid check.
type tester interface {
	require.TestingT
	Helper()
	Cleanup(func())
	Context() context.Context
}

// console drives a Model without a program: every command is run at once, what would block waits for the test.
type console struct {
	t      tester
	m      *Model
	now    time.Time
	timers []tea.Msg   // waiting
	stream core.Stream // listened to
	quit   bool
}

func newConsole(t tester, board core.Board, w, h int, set ...func(*Env)) *console {
	t.Helper()
	return consoleIn(t, Env{Board: board}, noon, w, h, set...)
}

// consoleIn is a console whose surroundings and time are given; what the surroundings leave out is plain.
func consoleIn(t tester, env Env, now time.Time, w, h int, set ...func(*Env)) *console {
	t.Helper()
	c := &console{t: t, now: now}
	env.Theme, env.Title, env.Zone = styles(t, themes.Dark, termenv.Ascii), "~/data", time.UTC
	env.Now = func() time.Time { return c.now }
	for _, each := range set {
		each(&env)
	}
	c.m = New(env)
	c.m.seams = seams{
		after:  func(_ time.Duration, msg tea.Msg) tea.Cmd { c.timers = append(c.timers, msg); return nil },
		listen: func(s core.Stream) tea.Cmd { c.stream = s; return nil },
	}
	t.Cleanup(func() { require.NoError(t, c.m.Close()) })
	c.run(c.m.Init())
	c.send(tea.WindowSizeMsg{Width: w, Height: h})
	return c
}

func (c *console) send(msg tea.Msg) {
	_, cmd := c.m.Update(msg)
	c.run(cmd)
}

func (c *console) run(cmd tea.Cmd) {
	if cmd == nil {
		return
	}
	switch msg := cmd().(type) {
	case nil:
	case tea.BatchMsg:
		for _, each := range msg {
			c.run(each)
		}
	case tea.QuitMsg:
		c.quit = true
	default:
		c.send(msg)
	}
}

// live takes what the stream holds; there must be something.
func (c *console) live() {
	c.t.Helper()
	require.NotNil(c.t, c.stream, "nobody listens to the board")
	s := c.stream
	c.stream = nil
	batch, err := s.Next(c.t.Context())
	c.send(batchMsg{s, batch, err})
}

// elapse fires the timers that wait.
func (c *console) elapse(d time.Duration) {
	c.now = c.now.Add(d)
	due := c.timers
	c.timers = nil
	for _, msg := range due {
		c.send(msg)
	}
}

var named = map[string]tea.KeyType{
	"enter": tea.KeyEnter, "esc": tea.KeyEsc, "tab": tea.KeyTab, "shift+tab": tea.KeyShiftTab, "up": tea.KeyUp, "down": tea.KeyDown,
	"left": tea.KeyLeft, "right": tea.KeyRight, "pgup": tea.KeyPgUp, "pgdown": tea.KeyPgDown, "home": tea.KeyHome, "end": tea.KeyEnd,
	"ctrl+c": tea.KeyCtrlC, "ctrl+d": tea.KeyCtrlD, "ctrl+u": tea.KeyCtrlU, "backspace": tea.KeyBackspace, "ctrl+t": tea.KeyCtrlT, "ctrl+n": tea.KeyCtrlN, "ctrl+l": tea.KeyCtrlL, "f1": tea.KeyF1, "f2": tea.KeyF2,
	"ctrl+f": tea.KeyCtrlF, "ctrl+o": tea.KeyCtrlO, "ctrl+x": tea.KeyCtrlX, "shift+down": tea.KeyShiftDown, "shift+up": tea.KeyShiftUp,
	"ctrl+a": tea.KeyCtrlA, "ctrl+y": tea.KeyCtrlY, "ctrl+r": tea.KeyCtrlR, "ctrl+s": tea.KeyCtrlS, "ctrl+w": tea.KeyCtrlW, "ctrl+k": tea.KeyCtrlK, "delete": tea.KeyDelete,
}

func keyMsg(key string) tea.KeyMsg {
	if kind, ok := named[key]; ok {
		return tea.KeyMsg{Type: kind}
	}
	if key == " " {
		return tea.KeyMsg{Type: tea.KeySpace, Runes: []rune{' '}}
	}
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(key)}
}

func (c *console) press(keys ...string) {
	for _, key := range keys {
		c.send(keyMsg(key))
	}
}

// together sends keys in one go, and lets the time pass in which they might turn out to be text.
func (c *console) together(keys string) {
	c.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(keys)})
	c.elapse(rushQuiet)
}

// typed presses every rune of a text.
func (c *console) typed(text string) {
	for _, r := range text {
		c.press(string(r))
	}
}

func (c *console) view() string { return c.m.View() }

// pane is the inside of a pane as it is on the screen, blanks at the ends of lines left out.
func (c *console) pane(p pane) string {
	var out []string
	for _, l := range c.m.boxes[p] {
		out = append(out, strings.TrimRight(strings.Trim(l, "│┃"), " "))
	}
	return strings.Join(out, "\n")
}

func (c *console) footer() string {
	lines := strings.Split(c.view(), "\n")
	return strings.TrimSpace(lines[len(lines)-1])
}

// golden compares a screen with testdata/ui/<name>.txt. Blanks at line ends do not count: editors strip them.
func golden(t *testing.T, name, screen string) {
	t.Helper()
	lines := strings.Split(screen, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	got := strings.Join(lines, "\n") + "\n"
	path := filepath.Join("testdata", "ui", name+".txt")
	if update := flag.Lookup("update"); update != nil && update.Value.String() == "true" {
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
		require.NoError(t, os.WriteFile(path, []byte(got), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	for i, was := range splitLines(string(want)) {
		if now := splitLines(got); i >= len(now) || was != now[i] {
			require.Equal(t, was, now[min(i, len(now)-1)], "%s differs first in line %d", path, i+1)
		}
	}
	require.Len(t, got, len(want))
}

func splitLines(frame string) []string { return strings.Split(frame, "\n") }

// open puts the tree's cursor on a session.
func (c *console) open(key string) {
	c.t.Helper()
	require.True(c.t, c.m.tree.goTo(key), "no session %q", key)
	c.send(nil)
}

func windowOf(w, h int) tea.WindowSizeMsg { return tea.WindowSizeMsg{Width: w, Height: h} }
