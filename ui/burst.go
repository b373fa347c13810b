package ui

import (
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// burstMost is how many different keys that came in one go are taken for keys. More are text that was pasted by a terminal which does not
// say so, and pasted text is no command (R153).
const burstMost = 7

const pastedNothing = "pasted text runs no command"

// apart takes keys that came in one go apart: over a slow link a key that is held arrives as "jjjj", and none of them may be lost.
// Two esc in one go come as alt+esc.
func apart(msg tea.KeyMsg) []tea.KeyMsg {
	if msg.Type == tea.KeyEsc && msg.Alt {
		return []tea.KeyMsg{{Type: tea.KeyEsc}, {Type: tea.KeyEsc}}
	}
	if msg.Type != tea.KeyRunes || msg.Paste || msg.Alt || len(msg.Runes) < 2 {
		return []tea.KeyMsg{msg}
	}
	same := true
	for _, r := range msg.Runes {
		same = same && r == msg.Runes[0]
	}
	if !same && len(msg.Runes) > burstMost {
		return []tea.KeyMsg{msg}
	}
	list := make([]tea.KeyMsg, len(msg.Runes))
	for i, r := range msg.Runes {
		list[i] = tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}}
		if r == ' ' {
			list[i].Type = tea.KeySpace
		}
	}
	return list
}

// typing reports whether keys are text, or belong to what lies over the panes.
func (m *Model) typing() bool {
	if s := m.topStage(); s != nil {
		return s.base().editing
	}
	return m.top() != nil || m.filter.editing || m.find.editing
}

// escFirst reports whether a key with alt is an esc after which another key came quickly: to a terminal both are the same. Where keys are
// text it closes what is open and its letter is dropped, neither typed nor a command. alt+b, alt+d and alt+f go by words in a text.
func escFirst(msg tea.KeyMsg) bool {
	if !msg.Alt || msg.Type != tea.KeyRunes && msg.Type != tea.KeySpace {
		return false
	}
	switch msg.String() {
	case "alt+b", "alt+d", "alt+f":
		return false
	}
	return true
}

// pressAll presses keys one after the other.
func (m *Model) pressAll(list []tea.KeyMsg) tea.Cmd {
	cmds := make([]tea.Cmd, len(list))
	for i, msg := range list {
		cmds[i] = m.press(msg)
	}
	return tea.Batch(cmds...)
}

// rush is keys that came faster than anybody types: a slow link that delivers what was typed, or text pasted by a terminal that does not say
// so, word by word. They wait until it is known which.
type rush struct {
	last  time.Time
	keys  []tea.KeyMsg
	turns int // times that a key differed from the one before
	flood bool
	due   bool // a timer looks after it
}

const (
	rushGap   = 5 * time.Millisecond
	rushMost  = 12 // turns that are still taken for typing
	rushQuiet = 15 * time.Millisecond
)

type rushMsg struct{}

// take presses a key, or lets it wait where it came in a rush among commands. Text fields take all that comes.
func (m *Model) take(msg tea.KeyMsg) tea.Cmd {
	r, now, keys := &m.rush, m.env.Now(), apart(msg)
	gap := now.Sub(r.last)
	r.last = now
	switch {
	case msg.String() == "ctrl+c":
		r.keys, r.flood = nil, false
		return m.pressAll(keys)
	case !r.due && (m.typing() || !several(keys) && (gap <= 0 || gap >= rushGap)): // a clock that stands still tells nothing
		return m.pressAll(keys)
	}
	for _, key := range keys {
		if n := len(r.keys); n > 0 && r.keys[n-1].String() != key.String() {
			r.turns++
		}
		r.keys = append(r.keys, key)
	}
	if r.turns > rushMost {
		r.keys, r.turns, r.flood = nil, 0, true
	}
	if r.due {
		return nil
	}
	r.due = true
	return m.seams.after(rushQuiet, rushMsg{})
}

// several reports whether keys that came in one go are different ones.
func several(keys []tea.KeyMsg) bool {
	return slices.ContainsFunc(keys, func(k tea.KeyMsg) bool { return k.String() != keys[0].String() })
}

// apply presses what waited, once it is quiet, unless it was text.
func (rushMsg) apply(m *Model) tea.Cmd {
	r := &m.rush
	if m.env.Now().Sub(r.last) < rushGap {
		return m.seams.after(rushQuiet, rushMsg{})
	}
	keys, flood := r.keys, r.flood
	r.keys, r.turns, r.flood, r.due = nil, 0, false, false
	if flood {
		m.said, m.barsDirty = pastedNothing, true
		return nil
	}
	var cmds []tea.Cmd
	for _, key := range keys {
		cmds = append(cmds, m.press(key), m.settle())
	}
	return tea.Batch(cmds...)
}
