package ui

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/charmbracelet/lipgloss"
	"github.com/charmbracelet/x/ansi"
	"github.com/muesli/termenv"
	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/themes"
	"cordboard/ui/uitest"
)

// closet is the built-in themes for a terminal of one profile, and those that are broken.
type closet struct {
	profile termenv.Profile
	broken  map[string]error
}

func (c closet) Names() []string { return append(themes.Names(), "mine") }

func (c closet) Load(name string) (*themes.Styles, error) {
	if err := c.broken[name]; err != nil {
		return nil, err
	}
	p, err := themes.Load(name)
	if err != nil {
		return nil, err
	}
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(c.profile)
	return themes.Compile(p, r), nil
}

// wearing gives a console themes to choose from.
func wearing(e *Env) {
	e.Looks = closet{termenv.TrueColor, map[string]error{"mine": errors.New(`theme mine.json: roles.accent is "reddish", which is no colour`)}}
	e.ThemeName, e.ThemeAsked = themes.Dark, "auto"
	e.Theme, _ = e.Looks.Load(themes.Dark)
}

// Screens of what lies around the panes.
func TestScreensAround(t *testing.T) {
	board, _ := engineOn(t, true)
	screens := []struct {
		name string
		set  func(*Env)
		do   func(*console)
	}{
		{"palette", nil, func(c *console) { c.press(":"); c.typed("theme") }},
		{"palette-fold", nil, func(c *console) { c.press(":"); c.typed("fold"); c.press("down") }},
		{"palette-nothing", nil, func(c *console) { c.press(":"); c.typed("zzz") }},
		{"themes", wearing, func(c *console) { c.press("ctrl+t", "down"); c.dress(themes.HighContrast, termenv.Ascii) }},
		{"notices", nil, func(c *console) {
			c.run(c.m.toast("exported to ~/export.jsonl"))
			c.elapse(time.Minute)
			c.run(c.m.warn("the theme stays dark: theme mine.json: roles.accent is \"reddish\", which is no colour: write \"#rrggbb\""))
			c.press("ctrl+n")
		}},
		{"toasts", nil, func(c *console) {
			c.run(c.m.toast("theme dark, kept for this store"))
			c.run(c.m.warn("failed: nightly-report"))
		}},
		{"ascii", func(e *Env) { e.ASCII = true }, func(c *console) { c.press("enter") }},
		{"accessible", accessible, func(*console) {}},
		{"accessible-transcript", accessible, func(c *console) { c.press("enter") }},
		{"accessible-palette", accessible, func(c *console) { c.press(":"); c.typed("quit") }},
	}
	for _, size := range sizes {
		for _, s := range screens {
			t.Run(fmt.Sprintf("%s-%dx%d", s.name, size[0], size[1]), func(t *testing.T) {
				set := s.set
				if set == nil {
					set = func(*Env) {}
				}
				c := newConsole(t, board, size[0], size[1], set)
				c.now = evening
				c.send(agesMsg{})
				s.do(c)
				fits(t, c.view(), size[0], size[1])
				require.Equal(t, c.view(), c.m.compose(), "drawing changes nothing")
				golden(t, fmt.Sprintf("%s-%dx%d", s.name, size[0], size[1]), sgr.ReplaceAllString(c.view(), ""))
			})
		}
	}
}

func accessible(e *Env) { e.Accessible = true }

// The palette finds an action by its name, its key or what it says, runs it where it belongs and says why one cannot be done.
func TestPalette(t *testing.T) {
	board, _ := engineOn(t, true)
	for query, id := range map[string]string{
		"quit": "console.quit", "q": "console.quit", "QUIT": "console.quit", "wrap": "transcript.wrap", "theme": "theme.choose", "tree.foldAll": "tree.foldAll",
		"older transcript": "transcript.older", "inspec": "inspector.toggle", "ctrl+z": "console.suspend",
	} {
		c := newConsole(t, board, 120, 30)
		c.press(":")
		c.typed(query)
		require.Equal(t, id, c.m.top().(*palette).found[0].id, query)
	}

	c := newConsole(t, board, 120, 30)
	c.press(":")
	c.typed("quit")
	c.press("enter")
	require.True(t, c.quit, "R175: :quit leaves")
	require.Empty(t, c.m.Farewell())

	c = newConsole(t, board, 120, 30)
	c.press(":")
	c.typed("wrap")
	c.press("enter")
	require.Nil(t, c.m.top())
	require.Equal(t, paneTranscript, c.m.focus, "it runs in its pane")
	require.False(t, c.m.trans.read.wrap)

	c.press(":")
	require.Equal(t, "transcript.wrap", c.m.top().(*palette).found[0].id, "the last command stands first")
	c.press("esc")

	c.press("w", "esc", ":")
	c.typed("first column")
	require.Contains(t, c.view(), "to the first column — lines are wrapped: w lets them run on")
	c.press("enter")
	require.NotNil(t, c.m.top(), "what cannot be done stays where it is")
	require.Equal(t, "lines are wrapped: w lets them run on", c.footer())
	c.press("esc")
	require.Nil(t, c.m.top())
}

// Every action there is can be found in the palette by its id.
func TestPaletteHasEveryAction(t *testing.T) {
	c := newConsole(t, uitest.New("/data"), 120, 30)
	for _, a := range actions() {
		if a.id == "palette.open" {
			continue
		}
		c.press(":")
		c.send(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(a.id), Paste: true})
		require.Equal(t, a.id, c.m.top().(*palette).found[0].id)
		c.press("esc")
	}
}

func TestKeymap(t *testing.T) {
	cases := []struct{ name, file, want string }{
		{"a key", `{"tree.fold": "§"}`, ""},
		{"several", `{"tree.fold": ["§", "F5", "Space"], "tree.first": "g g"}`, ""},
		{"off the keyboard", `{"mouse.toggle": []}`, ""},
		{"another pane's key", `{"tree.fold": "$"}`, ""},
		{"as in the README", `{"tree.fold": "f5", "notices.open": ["ctrl+n", "g n"], "mouse.toggle": "alt+m"}`, ""},
		{"alt", `{"tree.fold": "alt+X"}`, ""},
		{"two change places", `{"transcript.tools": "T", "transcript.thinking": "t"}`, ""},
		{"no object", `["x"]`, `a keymap is an object of action ids and keys, such as {"tree.fold": "x"}`},
		{"null", `null`, `a keymap is an object of action ids and keys, such as {"tree.fold": "x"}`},
		{"unknown action", `{"tree.folds": "x"}`, `there is no action "tree.folds", did you mean "tree.fold"?`},
		{"nothing like it", `{"zzzzzzzzzzzz": "x"}`, `there is no action "zzzzzzzzzzzz"`},
		{"no key", `{"tree.fold": 7}`, `tree.fold: give a key or a list of keys; [] takes it off the keyboard`},
		{"null key", `{"tree.fold": null}`, `tree.fold: give a key or a list of keys; [] takes it off the keyboard`},
		{"mistyped", `{"tree.fold": "pgdwn"}`, `tree.fold: "pgdwn" is no key, did you mean "pgdn"?`},
		{"blank", `{"tree.fold": ""}`, `tree.fold: "" is no key: give one, or a sequence of two such as "g /"`},
		{"three", `{"tree.fold": "a b c"}`, `tree.fold: "a b c" is no key: give one, or a sequence of two such as "g /"`},
		{"ctrl+i", `{"tree.fold": "ctrl+i"}`, `tree.fold: ctrl+i cannot be used: a terminal cannot tell it from tab`},
		{"ctrl+m", `{"tree.fold": "Ctrl+M"}`, `tree.fold: ctrl+m cannot be used: a terminal cannot tell it from enter`},
		{"ctrl+[", `{"tree.fold": "ctrl+["}`, `tree.fold: ctrl+[ cannot be used: a terminal cannot tell it from esc`},
		{"esc", `{"tree.fold": "esc"}`, `tree.fold: esc cannot be used: it always closes what is open`},
		{"ctrl+c", `{"tree.fold": "ctrl+c"}`, `tree.fold: ctrl+c cannot be used: it always quits`},
		{"twice in the file", `{"tree.fold": "§", "tree.first": "§"}`, `tree.fold and tree.first are both on "§"`},
		{"taken by default", `{"tree.fold": "G"}`, `tree.fold and tree.last are both on "G" by default: give that one another key too`},
		{"taken by default, named first", `{"tree.last": "space"}`, `tree.last and tree.fold are both on "space" by default: give that one another key too`},
		{"two mistakes", `{"tree.fodl": "x", "tree.last": "nokey"}`, "there is no action \"tree.fodl\", did you mean \"tree.fold\"?\ntree.last: \"nokey\" is no key"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := ReadKeys([]byte(c.file))
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.EqualError(t, err, c.want)
			require.Equal(t, core.CodeConfig, core.CodeOf(err))
		})
	}
}

// A keymap moves actions: keys, footer, help, palette and every text that names a key say the new one.
func TestOwnKeys(t *testing.T) {
	keys, err := ReadKeys([]byte(`{"tree.fold": "§", "transcript.wrap": "F2", "help.open": "f1", "tree.first": "g g", "console.redraw": []}`))
	require.NoError(t, err)
	board, _ := engineOn(t, true)
	c := newConsole(t, board, 120, 30, func(e *Env) { e.Keys = keys })
	require.Contains(t, c.footer(), "§ fold")
	require.Contains(t, c.footer(), "f1 help")
	c.open(agentNode("ops"))
	before := len(c.m.tree.rows)
	c.press(" ")
	require.Len(t, c.m.tree.rows, before, "the old key is free")
	c.press("§")
	require.Less(t, len(c.m.tree.rows), before)
	c.press("tab", "$")
	require.Equal(t, "lines are wrapped: f2 lets them run on", c.footer())
	c.press("esc", "g")
	require.Equal(t, "g …", c.footer())
	require.NotZero(t, c.m.tree.index)
	c.press("g")
	require.Zero(t, c.m.tree.index)
	c.press("g", "esc", "G", "g")
	c.elapse(time.Hour)
	require.NotZero(t, c.m.tree.index, "g alone means nothing now")
	require.Contains(t, strings.Join(c.m.helpLines(200), "\n"), "  gg ")
}

// The first key of a sequence that means something by itself does it when no second one comes.
func TestSequenceOrNot(t *testing.T) {
	keys, err := ReadKeys([]byte(`{"theme.choose": "g t", "notices.open": "g n"}`))
	require.NoError(t, err)
	board, _ := engineOn(t, true)
	c := newConsole(t, board, 120, 30, func(e *Env) { e.Keys = keys })
	c.press("G", "g")
	require.NotZero(t, c.m.tree.index)
	c.elapse(sequenceFor)
	require.Zero(t, c.m.tree.index)
	c.press("G", "g", "n")
	require.IsType(t, &notices{}, c.m.top())
	require.NotZero(t, c.m.tree.index)
	c.press("esc", "g", "k")
	require.Zero(t, c.m.tree.index, "g and k, one after the other")
}

func FuzzKeymap(f *testing.F) {
	for _, seed := range []string{`{"tree.fold":"x"}`, `{"tree.fold":["g g","alt+space"]}`, `{}`, `[]`, `{"a":{}}`, `{"tree.fold":"\u0000"}`, `{"tree.last":"é"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		keys, err := ReadKeys(data)
		if err != nil {
			require.NotEmpty(t, err.Error())
			return
		}
		m := New(Env{Board: uitest.New("/data"), Theme: themes.Compile(themes.Palette{}, lipgloss.NewRenderer(io.Discard)), Now: time.Now, Zone: time.UTC, Keys: keys})
		for id, own := range keys {
			for _, key := range own {
				require.Equal(t, id, m.keys.find(m.action(id).scope, key).id)
			}
		}
		require.NoError(t, m.Close())
	})
}

// A theme is tried on as the cursor comes to it, put back by esc, kept by enter.
func TestThemes(t *testing.T) {
	state := uitest.NewState()
	board, _ := engineOn(t, true)
	c := newConsole(t, board, 120, 30, wearing, keeping(state))
	dark := c.view()
	c.press("ctrl+t", "down")
	require.Equal(t, themes.HighContrast, c.m.attire.name)
	require.NotEqual(t, dark, c.view())
	c.press("esc")
	require.Equal(t, themes.Dark, c.m.attire.name)
	require.Equal(t, dark, c.view())
	c.press("ctrl+t", "G")
	require.Contains(t, strings.Join(c.m.noticeLines(300), ""), "the theme stays dark: theme mine.json: roles.accent is \"reddish\"")
	require.Equal(t, themes.Dark, c.m.attire.name)
	c.press("up", "up", "enter")
	require.Equal(t, themes.Light, c.m.attire.name)
	require.NoError(t, c.m.Close())

	next := newConsole(t, board, 120, 30, wearing, keeping(state))
	require.Equal(t, themes.Light, next.m.attire.name, "the next console wears it")
	fixed := newConsole(t, board, 120, 30, wearing, keeping(state), func(e *Env) { e.ThemeFixed = true })
	require.Equal(t, themes.Dark, fixed.m.attire.name, "--theme goes before")
	changed := newConsole(t, board, 120, 30, wearing, keeping(state), func(e *Env) { e.ThemeAsked = themes.Dark })
	require.Equal(t, themes.Dark, changed.m.attire.name, "who changes the config means it")
	next.press("ctrl+t", "x")
	require.Equal(t, themes.Dark, next.m.attire.name)
	require.NoError(t, next.m.Close())
	require.Equal(t, themes.Dark, newConsole(t, board, 120, 30, wearing, keeping(state)).m.attire.name)

	none := newConsole(t, board, 120, 30)
	none.press("ctrl+t")
	require.Nil(t, none.m.top())
	require.Contains(t, none.footer(), "no colours")
}

// What a console was left with is there in the next one: selection, folds, widths, wrap (R182, R184).
func TestRemembers(t *testing.T) {
	state := uitest.NewState()
	board, _ := engineOn(t, true)
	c := newConsole(t, board, 160, 45, keeping(state))
	c.open(agentNode("ops"))
	c.press(" ", "}", "}")
	c.open("agent:main:telegram:group:-1001843377")
	c.press("enter", "w")
	panes := c.m.lay.panes
	c.elapse(saveAfter)
	require.Contains(t, state.Text("console"), `"agent:main:telegram:group:-1001843377"`, "written while it runs")

	next := newConsole(t, board, 160, 45, keeping(state))
	require.Equal(t, "agent:main:telegram:group:-1001843377", next.m.tree.selected())
	require.True(t, next.m.tree.folded[agentNode("ops")])
	require.False(t, next.m.trans.read.wrap)
	require.Equal(t, panes, next.m.lay.panes)
	require.Empty(t, next.m.toasts.log)
}

// Two consoles share a file: each changes what it changed, and what neither knows stays.
func TestRemembersTogether(t *testing.T) {
	state := uitest.NewState()
	state.Set("console", `{"from the future": {"a": [1]}}`)
	board, _ := engineOn(t, true)
	one := newConsole(t, board, 160, 45, keeping(state))
	two := newConsole(t, board, 160, 45, keeping(state))
	one.press("enter", "w")
	one.elapse(saveAfter)
	two.open(agentNode("ops"))
	two.press(" ")
	two.elapse(saveAfter)
	var kept map[string]json.RawMessage
	require.NoError(t, json.Unmarshal([]byte(state.Text("console")), &kept))
	require.JSONEq(t, `{"a": [1]}`, string(kept["from the future"]))
	require.Contains(t, string(kept["reading"]), "false")
	require.Contains(t, string(kept["folds"]), "ops")
}

// What is damaged is told and left out; the rest is in force and nothing breaks.
func TestDamagedState(t *testing.T) {
	cases := []struct{ file, want string }{
		{`{"selection": "agent:main`, "what the last console remembered cannot be read, so this one starts afresh"},
		{`[1, 2]`, "starts afresh"},
		{`{"folds": 7, "reading": {"wrap": false}}`, "what was remembered of folds is left out"},
		{`{"selection": {"x": 1}}`, "what was remembered of selection is left out"},
		{`{"panes": "wide", "theme": []}`, "what was remembered of panes is left out"},
	}
	for _, each := range cases {
		state := uitest.NewState()
		state.Set("console", each.file)
		board, _ := engineOn(t, true)
		c := newConsole(t, board, 160, 45, keeping(state))
		require.Contains(t, c.view()+strings.Join(c.m.noticeLines(300), "\n"), each.want)
		c.press("down", "enter")
		c.elapse(saveAfter)
		require.True(t, json.Valid([]byte(state.Text("console"))))
	}

	state := uitest.NewState()
	state.Fail(errors.New("disk on fire"))
	c := newConsole(t, uitest.New("/data"), 160, 45, keeping(state))
	require.Contains(t, c.view(), "disk on fire")
	c.press("tab", "w")
	c.elapse(saveAfter)
	require.Contains(t, strings.Join(c.m.noticeLines(300), "\n"), "could not be saved: disk on fire")
	state.Fail(nil)
}

func FuzzState(f *testing.F) {
	for _, seed := range []string{
		`{"selection":"agent:main:main","folds":["\u0000agent\u0000ops"],"panes":{"wide":999999999999},"reading":{"wrap":true},"theme":{"name":"light","over":"auto"}}`,
		`{}`, `null`, `{"panes":{"wide":-9e18}}`, `{"selection":"\u001b[2J"}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		state := uitest.NewState()
		state.Set("console", string(data))
		b := talk(3)
		c := newConsole(t, b, 160, 45, keeping(state), wearing)
		sound(t, c.view(), 160, 45)
		c.press("enter", "down", "}", "esc")
		sound(t, c.view(), 160, 45)
		require.NoError(t, c.m.Close())
	})
}

// A deep link opens on its session, archived or not, and says so when there is none.
func TestStartsOnASession(t *testing.T) {
	b := fleetOf(60)
	on := func(key string) func(*Env) { return func(e *Env) { e.Start.Session = key } }
	c := newConsole(t, b, 80, 24, on("agent:main:s40"))
	require.Equal(t, "agent:main:s40", c.m.tree.selected())
	require.Equal(t, "agent:main:s40", c.m.Left().Session)
	b.Update("agent:main:s41", func(h *core.Head) { h.Flags |= core.FlagArchived })
	require.Equal(t, "agent:main:s41", newConsole(t, b, 80, 24, on("agent:main:s41")).m.tree.selected())
	c = newConsole(t, b, 80, 24, on("agent:main:nobody"))
	require.Contains(t, c.view(), "there is no session agent:main:nobody")
}

// Toasts leave by themselves and stay in the log; one that is told twice shows once.
func TestToasts(t *testing.T) {
	c := newConsole(t, talk(3), 80, 24)
	c.run(c.m.toast("exported"))
	c.run(c.m.toast("exported"))
	c.send(Notice("failed: \x1b[31mred"))
	require.Equal(t, 1, strings.Count(c.view(), "exported"))
	require.Contains(t, c.view(), "! failed: ␛[31mred")
	c.elapse(toastFor)
	require.NotContains(t, c.view(), "exported")
	require.Contains(t, c.view(), "failed")
	c.elapse(toastLong)
	require.NotContains(t, c.view(), "failed")
	c.press("ctrl+n")
	require.Contains(t, c.view(), "exported")
	c.press("esc")
	for i := range 2 * toastKept {
		c.run(c.m.toast(fmt.Sprint("toast ", i)))
	}
	require.Len(t, c.m.toasts.log, toastKept)
	require.LessOrEqual(t, strings.Count(c.view(), "toast "), toastMost)
}

// A run that fails while the console is open is told, and outside the screen where that is wanted.
func TestFailureIsTold(t *testing.T) {
	var rung []string
	b := talk(3)
	c := newConsole(t, b, 80, 24, func(e *Env) { e.Notify = func(text string) { rung = append(rung, text) } })
	require.Empty(t, rung)
	b.Update("agent:main:main", func(h *core.Head) { h.Flags |= core.FlagFailed })
	c.live()
	require.Contains(t, c.view(), "! failed: ")
	require.Len(t, rung, 1)
	b.Update("agent:main:main", func(h *core.Head) { h.Tokens++ })
	c.live()
	require.Len(t, rung, 1, "once")
}

// The accessible console draws no boxes, shows one pane, tells what changes in added lines and keeps the cursor at the selection.
func TestAccessible(t *testing.T) {
	b := fleetOf(3)
	b.Append("agent:main:s00", say(1, "hello")...)
	c := newConsole(t, b, 120, 30, accessible)
	for _, r := range c.view() {
		require.False(t, r >= 0x2500 && r <= 0x259f, "%q", r)
	}
	row, _ := c.m.Cursor()
	selected := splitLines(c.view())[row-1]
	require.Contains(t, selected, "s00")
	c.press("down")
	next, _ := c.m.Cursor()
	require.Equal(t, row+1, next)
	c.press("up")
	b.Update("agent:main:s01", func(h *core.Head) { h.Flags |= core.FlagFailed })
	c.live()
	c.press("enter")
	b.Append("agent:main:s00", say(2, "world")...)
	c.live()
	c.press("esc")
	b.Put(core.Head{Key: "agent:main:fresh", UpdatedAt: noon.UnixMilli()}, core.SessionDetail{})
	c.live()
	lines := splitLines(c.view())
	require.Contains(t, strings.Join(lines[len(lines)-5:len(lines)-1], "\n"), "1 more in agent:main:s00")
	require.Contains(t, lines[len(lines)-2], "new session: fresh", "the newest last")
	c.press(":")
	c.typed("wr")
	row, col := c.m.Cursor()
	require.Contains(t, splitLines(c.view())[row-1], ": wr")
	before, _, _ := strings.Cut(splitLines(c.view())[row-1], ": wr")
	require.Equal(t, ansi.StringWidth(before+": wr")+1, col)
}

// In ASCII every sign of ours is ASCII, so that no terminal draws one two cells wide (R170).
func TestASCII(t *testing.T) {
	b := fleetOf(12)
	b.Put(core.Head{Key: "agent:main:kid", Parent: "agent:main:s00", UpdatedAt: 5, Flags: core.FlagFailed | core.FlagSendDeny}, core.SessionDetail{})
	b.Append("agent:main:s00", say(1, "hello")...)
	c := newConsole(t, b, 160, 45, func(e *Env) { e.ASCII = true })
	for _, keys := range [][]string{{}, {"?"}, {"esc", ":"}, {"esc", "/", "s"}, {"esc", "enter"}, {"i"}, {"ctrl+n"}} {
		c.press(keys...)
		for _, r := range c.view() {
			require.Less(t, r, rune(0x80), "%q in %v", r, keys)
		}
	}
}

// The wheel scrolls what it points at and a click goes there, when the mouse is wanted and only then (R158, R160).
func TestMouse(t *testing.T) {
	b := fleetOf(60)
	c := newConsole(t, b, 80, 24)
	wheel := tea.MouseMsg{X: 3, Y: 5, Button: tea.MouseButtonWheelDown, Action: tea.MouseActionPress}
	c.send(wheel)
	require.Equal(t, 1, c.m.tree.index, "nobody asked for it")
	c.run(c.m.perform(c.m.action("mouse.toggle")))
	c.send(wheel)
	require.Equal(t, 1+wheelLines, c.m.tree.index)
	c.send(tea.MouseMsg{X: 3, Y: 2, Button: tea.MouseButtonLeft, Action: tea.MouseActionPress})
	require.Equal(t, c.m.tree.top, c.m.tree.index)
	c.send(tea.MouseMsg{X: 60, Y: 8, Button: tea.MouseButtonLeft, Action: tea.MouseActionPress})
	require.Equal(t, paneTranscript, c.m.focus)
	for x := -2; x < 90; x += 7 {
		for y := -2; y < 30; y++ {
			for _, button := range []tea.MouseButton{tea.MouseButtonLeft, tea.MouseButtonWheelUp, tea.MouseButtonWheelDown, tea.MouseButtonRight} {
				c.send(tea.MouseMsg{X: x, Y: y, Button: button, Action: tea.MouseActionPress})
			}
		}
	}
	_, cmd := c.m.Update(tea.ResumeMsg{})
	require.Len(t, cmd(), 2, "it is asked for again after fg")
	c.run(c.m.perform(c.m.action("mouse.toggle")))
	before := c.m.tree.index
	c.send(wheel)
	require.Equal(t, before, c.m.tree.index)
}

// Panes are resized with keys, within bounds, and what cannot be is said.
func TestPanesAreResized(t *testing.T) {
	board, _ := engineOn(t, true)
	c := newConsole(t, board, 160, 45)
	was := c.m.lay.panes
	c.press("}")
	require.Equal(t, was[paneTree].w+4, c.m.lay.panes[paneTree].w)
	c.press("enter", "}")
	require.Equal(t, was, c.m.lay.panes, "the transcript takes it back")
	c.press("tab", "}")
	require.Equal(t, was[paneInspector].w+4, c.m.lay.panes[paneInspector].w)
	for range 60 {
		c.press("}")
		fits(t, c.view(), 160, 45)
	}
	require.Contains(t, c.footer(), "cannot be parted any further")
	c.press("{")
	require.Less(t, c.m.lay.panes[paneInspector].w, 160-leastTree-leastTranscript)
	c.send(tea.WindowSizeMsg{Width: 60, Height: 20})
	c.press("}")
	require.Equal(t, "the window shows one pane at a time", c.footer())
}

// keeping gives a console a memory.
func keeping(s *uitest.State) func(*Env) { return func(e *Env) { e.State = s } }
