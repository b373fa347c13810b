package ui

import (
	"path/filepath"
	"slices"
	"strconv"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/core"
	"cordboard/ui/safe"
)

// pickedFile is a file that was chosen.
type pickedFile struct {
	FileEntry
	gone string // why it cannot be read
}

func (p *pickedFile) name() string { return filepath.Base(p.Path) }

// filesControl is a field of files, chosen in the file picker.
type filesControl struct {
	list []pickedFile
	why  string // none are taken
	max  *core.Offspring
}

func (c *filesControl) opener() hint {
	if len(c.list) > 0 {
		return hint{"enter", "choose files, backspace leaves one out"}
	}
	return hint{"enter", "choose files"}
}

func (c *filesControl) paths() (list []string) {
	for i := range c.list {
		list = append(list, c.list[i].Path)
	}
	return list
}

// wrong is what is wrong with the files, "" for nothing.
func (c *filesControl) wrong(o *core.Offspring) string {
	c.max = o
	return wrongFiles(c.list, o)
}

func (c *filesControl) press(m *Model, msg tea.KeyMsg, changed func(*Model) tea.Cmd) (tea.Cmd, bool) {
	switch msg.String() {
	case "enter", " ", "right":
		switch why := firstOf(noOutside(m), c.why); {
		case m.tooQuick():
			return nil, true
		case why != "":
			m.said = why
			return nil, true
		}
		return m.openFilePicker(c, changed), true
	case "backspace", "delete":
		if n := len(c.list); n > 0 {
			c.list = c.list[:n-1]
			return changed(m), true
		}
		return nil, true
	case "up", "down":
		return nil, false
	}
	return nil, true
}

// toggle takes a file or leaves it out.
func (c *filesControl) toggle(e FileEntry) {
	if i := slices.Index(c.paths(), e.Path); i >= 0 {
		c.list = slices.Delete(c.list, i, i+1)
		return
	}
	c.list = append(c.list, pickedFile{FileEntry: e})
}

func (c *filesControl) draw(_ *Model, k *shades, w int, focus bool) string {
	l := newLine(w)
	total := int64(0)
	text := ""
	for i := range c.list {
		total += c.list[i].Size
		if i > 0 {
			text += ", "
		}
		text += safe.Line(c.list[i].name())
	}
	note := ""
	switch {
	case c.why != "":
		note = "none: " + c.why
	case len(c.list) > 0:
		note = plural(len(c.list), "file") + ", " + bytesOf(total)
		if c.max != nil {
			note += " of " + bytesOf(c.max.MaxTotalBytes)
		}
	case focus:
		note = "enter chooses"
		if c.max != nil {
			note += ": up to " + strconv.Itoa(c.max.MaxFiles) + " files of " + bytesOf(c.max.MaxFileBytes) + ", " + bytesOf(c.max.MaxTotalBytes) + " in all"
		}
	default:
		note = "none"
	}
	if text != "" {
		l.add(k.text, safe.Cut(text, max(l.left-safe.Width(note)-3, 8))).space(k.text, 2)
	}
	return l.add(k.dim, safe.Cut(safe.Line(note), max(l.left-1, 0))).end(k.text)
}

type recalledMsg struct {
	form *spawnForm
	list []pickedFile
}

// recallFiles looks for the files of a draft: they may be others by now, or gone.
func (f *spawnForm) recallFiles(m *Model) tea.Cmd {
	d, out := m.drafts.all[spawnDraftID(f.key)], m.env.Outside
	if d.Spawn == nil || len(d.Spawn.Files) == 0 || out == nil {
		return nil
	}
	for _, path := range d.Spawn.Files {
		f.files.list = append(f.files.list, pickedFile{FileEntry: FileEntry{Path: path}})
	}
	paths := slices.Clone(d.Spawn.Files)
	return func() tea.Msg {
		list, err := guarded(func() (list []pickedFile, err error) {
			for _, path := range paths {
				e, err := out.Stat(path)
				p := pickedFile{FileEntry: e}
				if p.Path = path; err != nil {
					p.gone = err.Error()
				}
				list = append(list, p)
			}
			return list, nil
		})
		if err != nil {
			return nil
		}
		return recalledMsg{f, list}
	}
}

func (msg recalledMsg) apply(m *Model) tea.Cmd {
	c := msg.form.files
	for _, found := range msg.list {
		if i := slices.Index(c.paths(), found.Path); i >= 0 {
			c.list[i] = found
		}
	}
	m.dirty = true
	return nil
}
