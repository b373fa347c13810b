package ui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/ui/safe"
)

// form is the layer of fields that are filled in (console.md §5). Each field is checked as it is left and all of them on submit; what is
// wrong stands beside the field. The texts stay whatever happens: esc closes the form only, and keeps what its owner keeps as a draft.
type form struct {
	title  string
	verb   string // what ctrl+s does
	fields []*formField
	area   *formArea // below the fields, nil = none
	at     int       // what has the keyboard: a field, or len(fields) for the area
	// above is told over the fields, and about below them, each in at most h lines of w cells.
	above  func(m *Model, w, h int) []string
	about  func(m *Model, w, h int) []string
	submit func(m *Model) tea.Cmd
	keys   []formKey // its own
	closed func(m *Model) tea.Cmd
	// trouble is why the last submit was refused.
	trouble string
	busy    bool // its command is on its way
}

// formField is one line of a form.
type formField struct {
	label   string
	control control
	check   func(m *Model) string // what is wrong with it, "" = nothing
	wrong   string
	changed func(m *Model) tea.Cmd // after its value did
}

// formArea is a form's text of many lines.
type formArea struct {
	label string
	text  editor
	check func(m *Model) string
	wrong string
	lines int // wanted at most
}

// formKey is a key of one form.
type formKey struct {
	key, text string
	run       func(m *Model) tea.Cmd
}

// control is what a field is filled in with.
type control interface {
	// press takes a key; used says that it meant something here, changed that the value is another one now.
	press(m *Model, msg tea.KeyMsg, changed func(*Model) tea.Cmd) (cmd tea.Cmd, used bool)
	draw(m *Model, k *shades, w int, focus bool) string
}

const (
	formWide  = 96
	formLabel = 11 // cells for labels
)

func (f *form) onArea() bool { return f.area != nil && f.at == len(f.fields) }

// stops is how many places the keyboard can be in.
func (f *form) stops() int {
	if f.area != nil {
		return len(f.fields) + 1
	}
	return len(f.fields)
}

func (f *form) press(m *Model, msg tea.KeyMsg) tea.Cmd {
	switch key := msg.String(); key {
	case "ctrl+s":
		return f.trySubmit(m)
	case "tab":
		f.leaveFor(m, f.at+1)
		return nil
	case "shift+tab":
		f.leaveFor(m, f.at-1)
		return nil
	case "ctrl+e":
		if f.area != nil {
			return m.editOutside(f)
		}
	}
	for _, k := range f.keys {
		if msg.String() == k.key {
			return k.run(m)
		}
	}
	if f.onArea() {
		w, h := f.areaSize(m)
		if before := f.area.text.version; f.area.text.press(msg, w, h) && before != f.area.text.version {
			f.area.wrong, f.trouble = "", ""
		}
		return nil
	}
	return f.pressField(m, msg)
}

func (f *form) pressField(m *Model, msg tea.KeyMsg) tea.Cmd {
	field := f.fields[f.at]
	changed := func(m *Model) tea.Cmd {
		field.wrong, f.trouble = "", ""
		if field.changed != nil {
			return field.changed(m)
		}
		return nil
	}
	cmd, used := field.control.press(m, msg, changed)
	if used {
		return cmd
	}
	switch msg.String() {
	case "enter":
		if f.at == f.stops()-1 && !m.tooQuick() {
			return f.trySubmit(m)
		}
		f.leaveFor(m, f.at+1)
	case "down":
		f.leaveFor(m, f.at+1)
	case "up":
		f.leaveFor(m, f.at-1)
	}
	return nil
}

// leaveFor checks what is left and goes to another field.
func (f *form) leaveFor(m *Model, to int) {
	f.checkAt(m, f.at)
	f.at = (to + f.stops()) % f.stops()
}

func (f *form) checkAt(m *Model, i int) bool {
	check, wrong := (func(*Model) string)(nil), (*string)(nil)
	if i < len(f.fields) {
		check, wrong = f.fields[i].check, &f.fields[i].wrong
	} else {
		check, wrong = f.area.check, &f.area.wrong
	}
	if check == nil {
		return true
	}
	*wrong = check(m)
	return *wrong == ""
}

// trySubmit submits when nothing is wrong, else goes to the first thing that is.
func (f *form) trySubmit(m *Model) tea.Cmd {
	f.trouble = ""
	first := -1
	for i := range f.stops() {
		if !f.checkAt(m, i) && first < 0 {
			first = i
		}
	}
	if first >= 0 {
		f.at = first
		return nil
	}
	return f.submit(m)
}

func (f *form) dismissed(m *Model) tea.Cmd {
	if f.closed != nil {
		return f.closed(m)
	}
	return nil
}

func (f *form) hints(m *Model) []hint {
	list := []hint{{"ctrl+s", f.verb}}
	if f.busy {
		list[0].text = "on its way"
	}
	if f.stops() > 1 {
		list = append(list, hint{"tab", "next field"})
	}
	if f.onArea() {
		list = append(list, hint{"enter", "new line"})
	} else if o, ok := f.fields[f.at].control.(interface{ opener() hint }); ok {
		list = append(list, o.opener())
	}
	for _, k := range f.keys {
		list = append(list, hint{k.key, k.text})
	}
	if f.area != nil && m.env.Outside != nil {
		list = append(list, hint{"ctrl+e", "editor"})
	}
	return append(list, hint{"esc", "close"})
}

// formDrawing is a form as it is put together: lines, and which of them has the keyboard.
type formDrawing struct {
	lines []string
	focus int
}

func (f *form) draw(m *Model) []string {
	w, room := m.layerRoom(formWide)
	d := f.drawing(m, w-2, room-2)
	rows, top := middle(d.focus, len(d.lines), room-2)
	return m.panel(f.title, "", d.lines[top:top+rows], w, rows+2)
}

func (f *form) drawing(m *Model, w, room int) formDrawing {
	d := formDrawing{lines: f.lead(m, w, room)}
	for i, field := range f.fields {
		if i == f.at {
			d.focus = len(d.lines)
		}
		d.lines = append(d.lines, f.fieldLine(m, field, i == f.at, w))
		d.lines = append(d.lines, wrongLines(m, field.wrong, w)...)
	}
	areaH, aboutH := f.heights(m, w, room)
	if f.area != nil {
		d.lines = append(d.lines, f.caption(m, w))
		if f.onArea() {
			cursor := f.area.text.cursorRow(w - areaMargin - 1)
			d.focus = len(d.lines) + f.area.text.rowOnScreen(cursor, w-areaMargin, areaH)
		}
		gutter := newLine(areaMargin).add(m.k.panel.dim, " │ ").end(m.k.panel.text)
		for _, text := range f.area.text.draw(&m.k.panel, w-areaMargin, areaH, f.onArea()) {
			d.lines = append(d.lines, gutter+text)
		}
		d.lines = append(d.lines, wrongLines(m, f.area.wrong, w)...)
	}
	return formDrawing{append(d.lines, f.tail(m, w, aboutH)...), d.focus}
}

const (
	areaMargin = 3
	areaLeast  = 2 // lines of text that what is told below leaves
)

// heights shares the lines that the fields leave among the text and what is told below it.
func (f *form) heights(m *Model, w, room int) (area, about int) {
	room -= len(f.lead(m, w, room))
	for _, field := range f.fields {
		room -= 1 + len(wrongLines(m, field.wrong, w))
	}
	if f.area == nil {
		return 0, max(room, 1)
	}
	room -= 1 + len(wrongLines(m, f.area.wrong, w))
	about = len(f.tail(m, w, max(room-areaLeast, 1)))
	return clamp(room-about, 1, max(f.area.lines, 1)), about
}

// lead is what stands over the fields: a third of the room at most.
func (f *form) lead(m *Model, w, room int) []string {
	if f.above == nil {
		return nil
	}
	return f.above(m, w, max(room/3, 1))
}

// tail is what stands below the fields: what was refused, and what the form tells.
func (f *form) tail(m *Model, w, h int) []string {
	var lines []string
	if f.trouble != "" {
		lines = append(lines, troubleLines(m, f.trouble, w)...)
	}
	if f.about != nil {
		lines = append(lines, f.about(m, w, max(h-len(lines), 1))...)
	}
	if len(lines) > 0 && len(lines) < h {
		lines = append([]string{newLine(w).end(m.k.panel.text)}, lines...)
	}
	return lines[:min(len(lines), max(h, 1))]
}

// areaSize is the screen that the text has.
func (f *form) areaSize(m *Model) (w, h int) {
	w, room := m.layerRoom(formWide)
	h, _ = f.heights(m, w-2, room-2)
	return w - 2 - areaMargin, h
}

func (f *form) fieldLine(m *Model, field *formField, focus bool, w int) string {
	k := &m.k.panel
	mark, ground := "  ", k.muted
	if focus {
		mark, ground = "▌ ", k.accent
	}
	l := newLine(w).add(k.accent, " "+mark).add(ground, safe.Pad(field.label, formLabel-2)).space(k.text, 1)
	rest := l.left
	l.raw(field.control.draw(m, k, rest, focus), rest)
	return l.end(k.text)
}

// caption is the line above the text: what it is, and how much there is of it once that is not seen at a glance.
func (f *form) caption(m *Model, w int) string {
	k := &m.k.panel
	mark, ground := "  ", k.muted
	if f.onArea() {
		mark, ground = "▌ ", k.accent
	}
	note := ""
	if e := &f.area.text; e.lines() > 1 || e.bytes > 200 {
		note = plural(e.lines(), "line") + " · " + bytesOf(int64(e.bytes))
	}
	l := newLine(w).add(k.accent, " "+mark).add(ground, f.area.label)
	return l.space(k.text, l.left-safe.Width(note)-1).add(k.dim, note).end(k.text)
}

func wrongLines(m *Model, wrong string, w int) []string {
	if wrong == "" {
		return nil
	}
	var lines []string
	for _, text := range safe.Wrap("✗ "+safe.Line(wrong), max(w-formLabel-3, 8)) {
		lines = append(lines, newLine(w).space(m.k.panel.text, formLabel+1).add(m.k.panel.err, text).end(m.k.panel.text))
	}
	return lines
}

func troubleLines(m *Model, trouble string, w int) []string {
	var lines []string
	for i, text := range safe.Wrap(safe.Line(trouble), max(w-5, 8)) {
		mark := "   "
		if i == 0 {
			mark = " ✗ "
		}
		lines = append(lines, newLine(w).add(m.k.panel.err, mark+text).end(m.k.panel.text))
	}
	return lines
}

// point is where the terminal's own cursor belongs.
func (f *form) point(m *Model) (x, y int) {
	w, room := m.layerRoom(formWide)
	d := f.drawing(m, w-2, room-2)
	_, top := middle(d.focus, len(d.lines), room-2)
	y = 1 + d.focus - top
	box := f.draw(m)
	if y < len(box) {
		if before, _, ok := strings.Cut(box[y], "▏"); ok {
			return safe.Width(stripped(before)), y
		}
	}
	return 2, y
}
