package ui

import (
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/ui/safe"
)

// toast is a notice that nobody asked for: it lies over the lower right corner for a while and stays in the log.
type toast struct {
	at   time.Time
	bad  bool
	text string
	over bool // no longer on the screen
}

const (
	toastFor  = 6 * time.Second
	toastLong = 12 * time.Second // of one that says that something failed
	toastMost = 3                // on the screen
	toastKept = 200              // in the log
)

// toasts are the notices of this console, the newest last.
type toasts struct {
	log     []toast
	pending bool // a timer runs
}

type toastMsg struct{}

// Notice is a message to the console from who opened it: something went wrong beside it, which it tells as a toast.
type Notice string

func (n Notice) apply(m *Model) tea.Cmd { return m.warn(string(n)) }

// toast tells the operator something in passing. A text that the last one said already only stays longer.
func (m *Model) toast(text string) tea.Cmd { return m.addToast(toast{text: text}) }

// warn tells that something failed; the rest goes on.
func (m *Model) warn(text string) tea.Cmd { return m.addToast(toast{text: text, bad: true}) }

func (m *Model) addToast(t toast) tea.Cmd {
	t.at, t.text = m.env.Now(), safe.Line(t.text)
	log := m.toasts.log
	if n := len(log); n > 0 && log[n-1].text == t.text && !log[n-1].over {
		log = log[:n-1]
	}
	m.toasts.log = append(slices.Delete(log, 0, max(len(log)+1-toastKept, 0)), t)
	m.dirty = true
	if m.env.Accessible {
		m.toasts.log[len(m.toasts.log)-1].over = true
		m.announce(t.text)
	}
	return m.toastTimer()
}

func (m *Model) toastTimer() tea.Cmd {
	if m.toasts.pending || len(m.shownToasts()) == 0 {
		return nil
	}
	m.toasts.pending = true
	return m.seams.after(time.Second, toastMsg{})
}

// apply takes down what has been seen long enough.
func (toastMsg) apply(m *Model) tea.Cmd {
	m.toasts.pending = false
	now := m.env.Now()
	for i := range m.toasts.log {
		t := &m.toasts.log[i]
		long := toastFor
		if t.bad {
			long = toastLong
		}
		if !t.over && now.Sub(t.at) >= long {
			t.over, m.dirty = true, true
		}
	}
	return m.toastTimer()
}

// shownToasts are those on the screen, the newest last.
func (m *Model) shownToasts() []toast {
	var shown []toast
	for _, t := range m.toasts.log[max(len(m.toasts.log)-toastMost, 0):] {
		if !t.over {
			shown = append(shown, t)
		}
	}
	return shown
}

// toastLines are the notices as they lie on the screen, one below the other.
func (m *Model) toastLines() (lines []string, w int) {
	shown := m.shownToasts()
	if len(shown) == 0 {
		return nil, 0
	}
	room := min(m.lay.w-4, 64)
	k := &m.k.bar
	for _, t := range shown {
		edge, mark, ground := k.accent, "· ", k.text
		if t.bad {
			edge, mark, ground = k.err, "! ", k.err
		}
		wrapped := safe.Wrap(mark+t.text, room-3)
		for _, text := range wrapped[:min(len(wrapped), 3)] {
			lines = append(lines, newLine(room).add(edge, "▌ ").add(ground, text).end(ground))
		}
	}
	return lines[max(len(lines)-(m.lay.h-2), 0):], room
}
