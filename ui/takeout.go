package ui

import (
	"errors"
	"fmt"
	"io"
	"os/exec"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/core"
	"cordboard/ui/transcribe"
)

// takeout is a way to take a message or a transcript out of the console.
type takeout struct {
	text string
	off  func(*Model) string
	run  func(*Model) tea.Cmd
}

func takeouts() []takeout {
	return []takeout{
		{"this message in the pager", noMessage, func(m *Model) tea.Cmd { return m.openMessage(Outside.Pager) }},
		{"this message in the editor", noMessage, func(m *Model) tea.Cmd { return m.openMessage(Outside.Editor) }},
		{"the transcript in the pager", noTranscript, func(m *Model) tea.Cmd { return m.openTranscript(Outside.Pager) }},
		{"the transcript in the editor", noTranscript, func(m *Model) tea.Cmd { return m.openTranscript(Outside.Editor) }},
		{"the transcript as Markdown, to a file", noTranscript, (*Model).exportMarkdown},
		{"the transcript as JSONL, to a file", noJSONL, (*Model).exportJSONL},
	}
}

func noMessage(m *Model) string {
	if m.env.Outside != nil && m.trans.current() == nil {
		return "no message is under the cursor"
	}
	return noOutside(m)
}

func noTranscript(m *Model) string {
	if m.env.Outside != nil && m.trans.gen.ID == "" {
		return "no transcript is open"
	}
	return noOutside(m)
}

func noJSONL(m *Model) string {
	if m.trans.gen.ID == "" {
		return "no transcript is open"
	} else if m.env.Export == nil {
		return "this console has no place to write files to"
	}
	return ""
}

// viewer is one of the operator's own programs.
type viewer func(o Outside, path string) (cmd *exec.Cmd, name string)

// readyMsg is a file that a program is to open.
type readyMsg struct {
	program viewer
	file    File
	err     error
}

// leftMsg comes when the program has ended and its file is gone.
type leftMsg struct {
	program string // what ran, and who says so
	err     error
}

// openMessage shows the message under the cursor in another program.
func (m *Model) openMessage(program viewer) tea.Cmd {
	text := transcribe.Message(m.trans.current(), m.env.Zone)
	if text == "" {
		text = transcribe.Said(m.trans.current()) + "\n"
	}
	return m.prepare(program, func(w io.Writer) error { _, err := io.WriteString(w, text); return err })
}

// openTranscript shows all of the transcript, filtered as it is on the screen, in another program.
func (m *Model) openTranscript(program viewer) tea.Cmd {
	m.said = "writing the transcript…"
	return m.prepare(program, m.markdown())
}

// markdown writes the transcript that is shown, through its filter.
func (m *Model) markdown() func(io.Writer) error {
	q := core.MessageQuery{Session: m.trans.key, Generation: m.trans.gen.ID, Filter: m.trans.narrow}
	ctx, board, zone := m.ctx, m.env.Board, m.env.Zone
	return func(w io.Writer) error { return transcribe.Markdown(ctx, board, q, zone, w) }
}

func (m *Model) prepare(program viewer, write func(io.Writer) error) tea.Cmd {
	name, out := firstOf(m.trans.key, m.trans.gen.ID), m.env.Outside
	return func() tea.Msg {
		f, err := out.Scratch(name, ".md")
		if err != nil {
			return readyMsg{err: err}
		}
		if err = written(f, write); err == nil {
			err = m.ctx.Err() // nobody is left to read it
		}
		if err != nil {
			_ = out.Remove(f.Name()) // the first error tells more
		}
		return readyMsg{program, f, err}
	}
}

func (msg readyMsg) apply(m *Model) tea.Cmd {
	if m.ended(msg.err) {
		return nil
	}
	if msg.err != nil {
		return m.warn("cannot hand it over: " + msg.err.Error())
	}
	m.said, m.barsDirty = "", true
	path, out := msg.file.Name(), m.env.Outside
	program, name := msg.program(out, path)
	return m.seams.exec(program, func(err error) tea.Msg {
		if removeErr := out.Remove(path); err == nil && removeErr != nil {
			return leftMsg{name, fmt.Errorf("its file stays: %w", removeErr)}
		}
		return leftMsg{name, err}
	})
}

func (msg leftMsg) apply(m *Model) tea.Cmd {
	if msg.err != nil {
		return m.warn(msg.program + ": " + reasonOf(msg.err))
	}
	return nil
}

// reasonOf tells how a program failed that a shell was to start, and what to do about it.
func reasonOf(err error) string {
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		return err.Error()
	}
	switch exit.ExitCode() {
	case 126:
		return "it cannot be run: name a program that can in that variable"
	case 127:
		return "there is no such program: install it or name another one in that variable"
	}
	return "it ended with " + exit.String()
}

// exportedMsg is where an export was written.
type exportedMsg struct {
	where string
	err   error
}

func (msg exportedMsg) apply(m *Model) tea.Cmd {
	m.said, m.barsDirty = "", true
	switch {
	case m.ended(msg.err):
		return nil
	case msg.err != nil:
		return m.warn("not exported: " + msg.err.Error())
	}
	return m.toast("written to " + msg.where)
}

func (m *Model) exportMarkdown() tea.Cmd {
	m.said = "exporting…"
	name, out, write := firstOf(m.trans.key, m.trans.gen.ID), m.env.Outside, m.markdown()
	note := ""
	if m.readFilter.active() {
		note = ", without what the filter leaves out"
	}
	return func() tea.Msg {
		f, err := out.Create(name, ".md")
		if err != nil {
			return exportedMsg{err: err}
		}
		if err = written(f, write); err != nil {
			_ = out.Remove(f.Name()) // half of it is worth nothing
		}
		return exportedMsg{f.Name() + note, err}
	}
}

func (m *Model) exportJSONL() tea.Cmd {
	m.said = "exporting…"
	export, name := m.env.Export, m.trans.gen.ID
	if m.trans.generation == "" && m.trans.key != "" {
		name = m.trans.key
	}
	return func() tea.Msg {
		path, err := guarded(func() (string, error) { return export(m.ctx, name) })
		return exportedMsg{path, err}
	}
}

// takeoutMenu is the layer that lists them.
type takeoutMenu struct{ at int }

func (m *Model) openTakeouts() tea.Cmd {
	m.open(&takeoutMenu{})
	return nil
}

func (t *takeoutMenu) press(m *Model, msg tea.KeyMsg) tea.Cmd {
	list := takeouts()
	key := msg.String()
	switch {
	case key == "down" || key == "j":
		t.at = min(t.at+1, len(list)-1)
	case key == "up" || key == "k":
		t.at = max(t.at-1, 0)
	case key == "enter":
		return t.choose(m, t.at)
	case len(key) == 1 && key[0] >= '1' && int(key[0]-'1') < len(list):
		return t.choose(m, int(key[0]-'1'))
	case key == "q" || key == "x":
		m.closeTop()
	}
	return nil
}

func (t *takeoutMenu) choose(m *Model, i int) tea.Cmd {
	m.closeTop()
	chosen := takeouts()[i]
	if why := chosen.off(m); why != "" {
		m.said = why
		return nil
	}
	return chosen.run(m)
}

func (t *takeoutMenu) draw(m *Model) []string {
	const wide = 54
	w, room := m.layerRoom(wide)
	list := takeouts()
	rows, top := middle(t.at, len(list), room-2)
	var lines []string
	for i := top; i < top+rows; i++ {
		sh, mark := &m.k.panel, "   "
		if i == t.at {
			sh, mark = &m.k.sel, " ▌ "
		}
		ground := sh.text
		if list[i].off(m) != "" {
			ground = sh.dim
		}
		lines = append(lines, newLine(w-2).add(sh.accent, mark).add(sh.muted, string(rune('1'+i))+" ").add(ground, list[i].text).end(sh.text))
	}
	return m.panel("Open or export", "enter or its number", lines, w, rows+2)
}

func (t *takeoutMenu) point(m *Model) (x, y int) {
	_, room := m.layerRoom(0)
	_, top := middle(t.at, len(takeouts()), room-2)
	return 1, 1 + t.at - top
}

// execute hands the terminal to a program until it ends.
func (m *Model) execute(cmd *exec.Cmd, done func(error) tea.Msg) tea.Cmd {
	return tea.ExecProcess(cmd, done)
}
