package main

import (
	"context"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/core"
	"cordboard/core/host"
	"cordboard/ui"
	"cordboard/ui/uitest"
)

// underTest is a console that breaks in the way that CORDBOARD_TEST says, or a program that does as good as nothing. It runs in the
// test's own binary: the product has no such door.
func underTest(how string) int {
	if how == "empty" {
		_, err := tea.NewProgram(counting(0), tea.WithAltScreen()).Run()
		return map[bool]int{true: 0, false: 1}[err == nil]
	}
	a := &app{streams: hostStreams(), args: os.Args[1:]}
	if done, err := a.underSupervision(context.Background()); done {
		if err != nil {
			complain(a.err, err)
			return exitCode(context.Background(), err)
		}
		return 0
	}
	if err := a.breaks(how); err != nil {
		complain(a.err, err)
		return 1
	}
	return 0
}

var defaultUI = host.ConfigUI{Theme: "auto", FPS: 60, Notifications: "off"}

// breaks opens a console that breaks after its first frame, at a key.
func (a *app) breaks(how string) error {
	look, err := a.dress(defaultUI)
	if err != nil {
		return err
	}
	b := &brokenBoard{Board: uitest.New("/data"), how: how}
	b.Put(core.Head{Key: "agent:main:main", Kind: core.KindMain, UpdatedAt: 1}, core.SessionDetail{})
	b.Put(core.Head{Key: "agent:main:second", UpdatedAt: 1}, core.SessionDetail{})
	env := ui.Env{Board: b, Theme: look.styles, Zone: time.UTC, Now: func() time.Time {
		if b.armed.Load() {
			panic("out of time")
		}
		return time.Now()
	}}
	switch how {
	case "start":
		env.Theme = nil
	case "view":
		env.Zone, env.Notices = nil, []string{"look here"}
	}
	out := a.newScreen()
	m := ui.New(env)
	defer m.Close()
	return a.runProgram(context.Background(), m, setting{ui: defaultUI}, look, out)
}

// brokenBoard panics in a command, or in a goroutine of its own once a second session is looked at.
type brokenBoard struct {
	*uitest.Board
	how   string
	armed atomic.Bool // the clock panics when it is asked next
}

func (b *brokenBoard) Records(ctx context.Context, q core.RecordQuery) (core.RecordPage, error) {
	switch {
	case b.how == "command":
		panic("no such record")
	case b.how == "update" && q.Session == "agent:main:second":
		b.armed.Store(true)
	case b.how == "goroutine" && q.Session == "agent:main:second":
		go panic("nobody waits for me")
	}
	return b.Board.Records(ctx, q)
}

// counting is the least a program can do: it shows how many keys it was given.
type counting int

func (c counting) Init() tea.Cmd { return nil }

func (c counting) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	if key, ok := msg.(tea.KeyMsg); ok {
		if key.String() == "q" {
			return c, tea.Quit
		}
		return c + 1, nil
	}
	return c, nil
}

func (c counting) View() string { return "keys: " + strconv.Itoa(int(c)) }
