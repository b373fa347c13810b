package ui

import (
	"io"
	"strings"

	tea "github.com/charmbracelet/bubbletea"
)

// A text can be written in the operator's own editor: it goes there in a file of its own, and comes back as it was saved.

type (
	draftReadyMsg struct {
		form *form
		file File
		err  error
	}
	draftBackMsg struct {
		form    *form
		text    string
		program string
		err     error
		path    string // the file, where it stays
	}
)

// editOutside hands the text of a form to the editor.
func (m *Model) editOutside(f *form) tea.Cmd {
	if why := noOutside(m); why != "" {
		m.said = why
		return nil
	}
	text, out := f.area.text.text(), m.env.Outside
	return func() tea.Msg {
		file, err := out.Scratch("message", ".md")
		if err == nil {
			err = written(file, func(w io.Writer) error { _, err := io.WriteString(w, text); return err })
		}
		return draftReadyMsg{f, file, err}
	}
}

func (msg draftReadyMsg) apply(m *Model) tea.Cmd {
	if msg.err != nil {
		return m.warn("cannot hand it to the editor: " + msg.err.Error())
	}
	path, out := msg.file.Name(), m.env.Outside
	program, name := out.Editor(path)
	return m.seams.exec(program, func(err error) tea.Msg {
		if err != nil {
			return draftBackMsg{form: msg.form, program: name, err: err, path: path}
		}
		data, err := out.Read(path)
		if err != nil {
			return draftBackMsg{form: msg.form, program: name, err: err, path: path}
		}
		_ = out.Remove(path) // what was in it is here
		return draftBackMsg{form: msg.form, text: string(data), program: name}
	})
}

// apply takes the text back. The newline that editors put at the end of a file is not part of it unless it was before.
func (msg draftBackMsg) apply(m *Model) tea.Cmd {
	if msg.err != nil {
		return m.warn(msg.program + ": " + reasonOf(msg.err) + " · what was written there is in " + msg.path)
	}
	e := &msg.form.area.text
	text := msg.text
	if before := e.text(); !strings.HasSuffix(before, "\n") {
		text = strings.TrimSuffix(text, "\n")
	}
	if text != e.text() {
		e.set(text)
		msg.form.area.wrong, msg.form.trouble = "", ""
	}
	m.dirty, m.barsDirty = true, true
	return m.rememberSoon()
}
