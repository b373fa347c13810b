package ui

import (
	"encoding/base64"
	"io"
	"strings"

	"github.com/aymanbagabas/go-osc52/v2"
	tea "github.com/charmbracelet/bubbletea"

	"cordboard/core"
	"cordboard/ui/md"
	"cordboard/ui/safe"
	"cordboard/ui/transcribe"
)

// maxClip is the longest base64 that goes to a terminal: several take no sequence above 100,000 bytes, and cut it or hang before.
const maxClip = 74_994

// clip is the sequence that hands a text to the terminal's clipboard (OSC 52), as the multiplexers between us and it need it. Inside
// tmux it goes both ways that tmux may let through, its own clipboard and the passthrough; screen's passthrough is in pieces.
func clip(text string, getenv func(string) string) string {
	plain := osc52.New(text)
	term := getenv("TERM")
	switch {
	case getenv("TMUX") != "" || strings.HasPrefix(term, "tmux"):
		return plain.String() + plain.Tmux().String()
	case getenv("STY") != "":
		return plain.Screen().String()
	case strings.HasPrefix(term, "screen"): // tmux or screen, at the other end of an ssh: each leaves out what is for the other
		return plain.String() + plain.Screen().String()
	}
	return plain.String()
}

func clipFits(text string) bool { return base64.StdEncoding.EncodedLen(len(text)) <= maxClip }

// copiedMsg says what became of a copy.
type copiedMsg struct {
	text string
	file bool // the text names one: it stays in the log
	err  error
}

func (msg copiedMsg) apply(m *Model) tea.Cmd {
	switch {
	case msg.err != nil:
		return m.warn("not copied: " + msg.err.Error())
	case msg.file:
		return m.toast(msg.text)
	}
	m.said, m.barsDirty = msg.text, true
	return nil
}

// handOver gives a text to the terminal's clipboard, or writes it to a file where that cannot take it. Whether the terminal did take
// it nobody can know, so this is not called copied (R158).
func (m *Model) handOver(what, text string) tea.Cmd {
	if text == "" {
		m.said = "there is no text in it to copy"
		return nil
	}
	out := m.env.Outside
	if clipFits(text) {
		return func() tea.Msg {
			_, err := io.WriteString(out.Terminal(), clip(text, out.Getenv))
			return copiedMsg{what + " sent to the terminal's clipboard · " + bytesOf(int64(len(text))), false, err}
		}
	}
	return func() tea.Msg {
		f, err := out.Scratch("copy", ".txt")
		if err == nil {
			err = written(f, func(w io.Writer) error { _, err := io.WriteString(w, text); return err })
		}
		if err != nil {
			return copiedMsg{err: err}
		}
		return copiedMsg{text: what + " is too large for a terminal's clipboard (" + bytesOf(int64(len(text))) + "): written to " + f.Name(), file: true}
	}
}

// copyMessage copies what the message under the cursor says.
func (m *Model) copyMessage() tea.Cmd {
	msg := m.trans.current()
	if msg == nil {
		m.said = "no message is under the cursor"
		return nil
	}
	return m.handOver("message", transcribe.Said(msg))
}

// snippet is something of a message that may be copied by itself.
type snippet struct{ name, text string }

// snippets are the code blocks of a message, the arguments of its tool calls and a tool's answer.
func (t *transcript) snippets(m *core.Message) []snippet {
	var list []snippet
	for b := range core.Blocks(m.Raw) {
		switch {
		case b.Type == "toolCall":
			list = append(list, snippet{firstOf(b.Name, "tool call"), transcribe.Clean(transcribe.Pretty(b.Arguments))})
		case b.Type == "text" && m.Role == core.RoleToolResult:
			list = append(list, snippet{"result", transcribe.Clean(b.Text)})
		case b.Type == "text":
			list = append(list, t.codeIn(b.Text)...)
		}
	}
	return list
}

func (t *transcript) codeIn(text string) []snippet {
	var list []snippet
	var last *md.CodeBlock
	for _, l := range t.items.maker.md.Render(text, max(t.w, 1), md.Options{Wrap: md.WrapNone}).Lines {
		if l.Code != nil && l.Code != last {
			list = append(list, snippet{firstOf(l.Code.Language(), "code"), transcribe.Clean(l.Code.Text)})
		}
		if l.Code != nil {
			last = l.Code
		}
	}
	return list
}

// copyCode copies the code block of the message under the cursor; where there are several it asks which.
func (m *Model) copyCode() tea.Cmd {
	msg := m.trans.current()
	if msg == nil {
		m.said = "no message is under the cursor"
		return nil
	}
	switch list := m.trans.snippets(msg); len(list) {
	case 0:
		m.said = "there is no code block in this message"
		return nil
	case 1:
		return m.handOver("code", list[0].text)
	default:
		m.open(&snippetPicker{list: list})
		return nil
	}
}

// snippetPicker asks which code block is meant.
type snippetPicker struct {
	list []snippet
	at   int
}

func (p *snippetPicker) press(m *Model, msg tea.KeyMsg) tea.Cmd {
	key := msg.String()
	switch {
	case key == "down" || key == "j":
		p.at = min(p.at+1, len(p.list)-1)
	case key == "up" || key == "k":
		p.at = max(p.at-1, 0)
	case key == "enter" || key == "Y" || key == "y":
		m.closeTop()
		return m.handOver("code", p.list[p.at].text)
	case len(key) == 1 && key[0] >= '1' && int(key[0]-'1') < len(p.list):
		m.closeTop()
		return m.handOver("code", p.list[key[0]-'1'].text)
	}
	return nil
}

func (p *snippetPicker) draw(m *Model) []string {
	const wide = 88
	w, room := m.layerRoom(wide)
	rows, top := middle(p.at, len(p.list), room-2)
	var lines []string
	for i := top; i < top+rows; i++ {
		sh, mark := &m.k.panel, "   "
		if i == p.at {
			sh, mark = &m.k.sel, " ▌ "
		}
		s := p.list[i]
		note := bytesOf(int64(len(s.text)))
		l := newLine(w-2).add(sh.accent, mark).add(sh.strong, safe.Cut(safe.Column(s.name), 16)).space(sh.text, 2)
		l.add(sh.muted, safe.Cut(glance(s.text), l.left-len(note)-2))
		lines = append(lines, l.space(sh.text, l.left-len(note)-1).add(sh.dim, note).end(sh.text))
	}
	return m.panel("Copy which", "enter or its number copies", lines, w, rows+2)
}

func (p *snippetPicker) point(m *Model) (x, y int) {
	_, room := m.layerRoom(0)
	_, top := middle(p.at, len(p.list), room-2)
	return 1, 1 + p.at - top
}
