package ui

import (
	"github.com/charmbracelet/bubbles/cursor"
	"github.com/charmbracelet/bubbles/key"
	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"

	"cordboard/ui/safe"
)

// field is one line of text that is typed.
type field struct{ input textinput.Model }

func newField() field {
	in := textinput.New()
	in.CharLimit = 200
	in.Cursor.SetMode(cursor.CursorStatic)
	in.KeyMap.Paste = key.NewBinding(key.WithDisabled()) // it reads the clipboard of the machine; a terminal's own paste comes as keys
	in.Focus()
	return field{in}
}

func (f *field) text() string { return f.input.Value() }

// press takes a key and reports whether the text is another one now.
func (f *field) press(msg tea.KeyMsg) bool {
	before := f.input.Value()
	f.input, _ = f.input.Update(msg)
	return f.input.Value() != before
}

// line draws the field behind a prompt; the end of a long text before the cursor is in view.
func (f *field) line(w int, prompt string, k *shades) string {
	l := newLine(w).add(k.accent, " "+prompt)
	value, at := []rune(f.input.Value()), f.input.Position()
	before, after := safe.Line(string(value[:at])), safe.Line(string(value[at:]))
	room := max(l.left-2, 1)
	l.add(k.text, safe.KeepTail(before, room)).add(k.accent, "▏")
	return l.add(k.text, safe.Cut(after, max(room-safe.Width(before), 0))).end(k.text)
}
