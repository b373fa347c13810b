package ui

import (
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/ui/safe"
)

// filePicker is the layer that chooses files: a directory at a time, what is typed narrows it. Enter takes a file, or leaves it out again.
type filePicker struct {
	into    *filesControl
	changed func(*Model) tea.Cmd
	field   field
	dir     string
	list    []FileEntry
	found   []FileEntry
	at      int
	err     error
	number  int // of the last directory asked for
	busy    bool
}

type directoryMsg struct {
	picker *filePicker
	number int
	dir    string
	list   []FileEntry
	err    error
}

func (m *Model) openFilePicker(into *filesControl, changed func(*Model) tea.Cmd) tea.Cmd {
	p := &filePicker{into: into, changed: changed, field: newField()}
	m.open(p)
	return p.enter(m, "")
}

// enter reads a directory beside the screen, "" the one the console was started in.
func (p *filePicker) enter(m *Model, dir string) tea.Cmd {
	p.number++
	p.busy = true
	number, out := p.number, m.env.Outside
	return func() tea.Msg {
		msg := directoryMsg{picker: p, number: number}
		msg.list, msg.err = guarded(func() (list []FileEntry, err error) {
			msg.dir, list, err = out.Files(dir)
			return list, err
		})
		return msg
	}
}

func (msg directoryMsg) apply(m *Model) tea.Cmd {
	p := msg.picker
	if msg.number != p.number {
		return nil
	}
	p.busy, p.err, m.dirty = false, msg.err, true
	if msg.err == nil {
		p.dir, p.list, p.at = msg.dir, msg.list, 0
		p.field = newField()
		p.narrow()
	}
	return nil
}

func (p *filePicker) narrow() {
	query := strings.ToLower(p.field.text())
	p.found = nil
	for _, e := range p.list {
		if strings.Contains(strings.ToLower(e.Name), query) {
			p.found = append(p.found, e)
		}
	}
	p.at = clamp(p.at, 0, max(len(p.found)-1, 0))
}

func (p *filePicker) press(m *Model, msg tea.KeyMsg) tea.Cmd {
	last := max(len(p.found)-1, 0)
	switch key := msg.String(); {
	case key == "down", key == "ctrl+n", key == "tab":
		p.at = min(p.at+1, last)
	case key == "up", key == "ctrl+p", key == "shift+tab":
		p.at = max(p.at-1, 0)
	case key == "pgdown":
		p.at = min(p.at+10, last)
	case key == "pgup":
		p.at = max(p.at-10, 0)
	case key == "enter":
		return p.choose(m)
	case key == "left" && p.field.text() == "", key == "backspace" && p.field.text() == "":
		return p.enter(m, p.dir+"/..")
	case p.field.press(msg):
		p.at = 0
		p.narrow()
	}
	return nil
}

func (p *filePicker) choose(m *Model) tea.Cmd {
	if p.busy || len(p.found) == 0 {
		return nil
	}
	e := p.found[p.at]
	if e.Dir {
		return p.enter(m, e.Path)
	}
	p.into.toggle(e)
	return p.changed(m)
}

func (p *filePicker) draw(m *Model) []string {
	w, room := m.layerRoom(pickerWide)
	k := &m.k.panel
	h := min(room, 18)
	dir := newLine(w-2).add(k.muted, " "+safe.KeepTail(safe.Line(p.dir), w-4)).end(k.text)
	lines := []string{dir, p.field.line(w-2, "/ ", k)}
	rows := max(h-2-len(lines)-1, 1)
	top := clamp(p.at-rows+1, 0, max(len(p.found)-rows, 0))
	for i := top; i < min(top+rows, len(p.found)); i++ {
		lines = append(lines, p.line(m, i, w-2))
	}
	switch {
	case p.err != nil:
		lines = append(lines, newLine(w-2).add(k.err, safe.Cut(" ✗ "+safe.Line(p.err.Error()), w-3)).end(k.text))
	case len(p.found) == 0 && !p.busy:
		lines = append(lines, newLine(w-2).add(k.muted, "   no file matches").end(k.text))
	}
	for len(lines) < h-3 {
		lines = append(lines, newLine(w-2).end(k.text))
	}
	lines = append(lines, p.sum(m, w-2))
	return m.panel("Files for the sub-agent", "enter takes or leaves · ← up · esc done", lines, w, len(lines)+2)
}

// sum is what has been chosen so far, against the limits.
func (p *filePicker) sum(m *Model, w int) string {
	k, c := &m.k.panel, p.into
	l := newLine(w)
	if wrong := wrongFiles(c.list, c.max); wrong != "" {
		return l.add(k.err, safe.Cut(" ✗ "+safe.Line(wrong), w-1)).end(k.text)
	}
	total := int64(0)
	for i := range c.list {
		total += c.list[i].Size
	}
	text := " " + plural(len(c.list), "file") + ", " + bytesOf(total)
	if c.max != nil {
		text += " · at most " + plural(c.max.MaxFiles, "file") + ", " + bytesOf(c.max.MaxFileBytes) + " each, " + bytesOf(c.max.MaxTotalBytes) + " in all"
	}
	return l.add(k.dim, safe.Cut(text, w-1)).end(k.text)
}

func (p *filePicker) line(m *Model, i, w int) string {
	sh, mark := &m.k.panel, "   "
	if i == p.at {
		sh, mark = &m.k.sel, " ▌ "
	}
	e := p.found[i]
	taken := "  "
	for _, path := range p.into.paths() {
		if path == e.Path {
			taken = "✓ "
		}
	}
	note, ground := bytesOf(e.Size), sh.muted
	switch {
	case e.Dir:
		note = "directory"
	case p.into.max != nil && e.Size > p.into.max.MaxFileBytes:
		note, ground = note+", too large", sh.warn
	}
	l := newLine(w).add(sh.accent, mark).add(sh.ok, taken)
	l.add(sh.text, safe.CutMiddle(safe.Line(e.Name), max(l.left-safe.Width(note)-3, 1)))
	return l.space(sh.text, l.left-safe.Width(note)-1).add(ground, note).end(sh.text)
}
