package ui

import (
	"fmt"
	"os/exec"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/core"
)

// Messages that commands bring back. Each carries the number of the request it answers; an older one is dropped.
type (
	infoMsg struct {
		load int
		info core.Info
		err  error
	}
	headsMsg struct {
		load int
		page core.SessionPage
		err  error
	}
	watchMsg struct {
		load   int
		stream core.Stream
		err    error
	}
	batchMsg struct {
		stream core.Stream
		batch  core.Batch
		err    error
	}
	builtMsg struct {
		forest *forest
		err    error
	}
	foundMsg struct {
		number int
		query  string
		findings
		err error
	}
	pageMsg struct {
		number int
		query  core.MessageQuery
		page   core.MessagePage
		err    error
	}
	detailMsg struct {
		number int
		detail *core.SessionDetail
		err    error
	}
	retryMsg  struct{ load int } // load again
	againMsg  struct{}           // ask again for what failed
	resortMsg struct{}
	agesMsg   struct{}
)

const (
	agesEvery  = 20 * time.Second       // how often ages are drawn anew
	restFor    = 400 * time.Millisecond // rows are sorted anew when the cursor has rested that long
	buildGap   = 50 * time.Millisecond  // between two forests while sessions come and go
	retryFirst = 250 * time.Millisecond
	retryMost  = 4 * time.Second
)

// seams are the commands that block for long; tests put their own in.
type seams struct {
	after  func(d time.Duration, msg tea.Msg) tea.Cmd
	listen func(s core.Stream) tea.Cmd
	exec   func(cmd *exec.Cmd, done func(error) tea.Msg) tea.Cmd
}

// after brings msg after d, or nothing when the console ends before.
func (m *Model) after(d time.Duration, msg tea.Msg) tea.Cmd {
	return func() tea.Msg {
		t := time.NewTimer(d)
		defer t.Stop()
		select {
		case <-m.ctx.Done():
			return nil
		case <-t.C:
			return msg
		}
	}
}

// listen is the one outstanding command on the stream: it is issued again when its batch has been applied, which holds a flood back.
func (m *Model) listen(s core.Stream) tea.Cmd {
	return func() tea.Msg {
		batch, err := guarded(func() (core.Batch, error) { return s.Next(m.ctx) })
		if m.ctx.Err() != nil {
			return nil
		}
		return batchMsg{s, batch, err}
	}
}

// guarded turns a panic of a command into an error, so that the console lives on and tells of it.
func guarded[T any](work func() (T, error)) (result T, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = core.Errorf(core.CodeInternal, "the console failed inside: %s", fmt.Sprint(p))
		}
	}()
	return work()
}

func (m *Model) infoCmd(load int) tea.Cmd {
	return func() tea.Msg {
		info, err := guarded(func() (core.Info, error) { return m.env.Board.Info(m.ctx) })
		return infoMsg{load, info, err}
	}
}

func (m *Model) headsCmd(load int, cursor string) tea.Cmd {
	return func() tea.Msg {
		page, err := guarded(func() (core.SessionPage, error) {
			return m.env.Board.Sessions(m.ctx, core.SessionQuery{Archived: true, Cursor: cursor})
		})
		return headsMsg{load, page, err}
	}
}

func (m *Model) watchCmd(load int, from core.Cursor) tea.Cmd {
	return func() tea.Msg {
		stream, err := guarded(func() (core.Stream, error) { return m.env.Board.Watch(m.ctx, from) })
		return watchMsg{load, stream, err}
	}
}

func (m *Model) buildCmd(in buildInput) tea.Cmd {
	return func() tea.Msg {
		f, err := guarded(func() (*forest, error) { return build(in), nil })
		return builtMsg{f, err}
	}
}

func (m *Model) askCmd(number int, q question, list []candidate, counted bool) tea.Cmd {
	return func() tea.Msg {
		a, err := guarded(func() (findings, error) { return ask(q, list, counted), nil })
		return foundMsg{number, q.query, a, err}
	}
}

func (m *Model) pageCmd(number int, q core.MessageQuery) tea.Cmd {
	return func() tea.Msg {
		page, err := guarded(func() (core.MessagePage, error) { return m.env.Board.Messages(m.ctx, q) })
		return pageMsg{number, q, page, err}
	}
}

func (m *Model) detailCmd(number int, key string) tea.Cmd {
	return func() tea.Msg {
		page, err := guarded(func() (core.RecordPage, error) {
			return m.env.Board.Records(m.ctx, core.RecordQuery{Kind: core.RecordSession, Session: key})
		})
		return detailMsg{number, page.Session, err}
	}
}

// ended reports whether an error only says that the console was closed.
func (m *Model) ended(err error) bool { return err != nil && m.ctx.Err() != nil }

type panicMsg struct{ err error }

// guard turns a panic of any command into a notice: the program goes on (R209). Commands of a batch are guarded one by one.
func (m *Model) guard(cmd tea.Cmd) tea.Cmd {
	if cmd == nil {
		return nil
	}
	return func() tea.Msg {
		msg, err := guarded(func() (tea.Msg, error) { return cmd(), nil })
		if err != nil {
			return panicMsg{err}
		}
		if batch, ok := msg.(tea.BatchMsg); ok {
			for i := range batch {
				batch[i] = m.guard(batch[i])
			}
		}
		return msg
	}
}

func (msg panicMsg) apply(m *Model) tea.Cmd { return m.warn(msg.err.Error()) }
