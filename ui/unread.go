package ui

import (
	"encoding/json"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/core"
)

// unread knows what was read here. A session has news when it holds messages beyond those last looked at; one never looked at has news
// when it was updated since the store was opened here for the first time, so that a fresh import is not one wall of marks.
type unread struct {
	Since int64             `json:"since"` // ms
	Read  map[string]uint64 `json:"read"`  // key → the last seq looked at
}

// readAfter is how long a transcript has to be on the screen to count as looked at: passing by is not reading.
const readAfter = time.Second

// news reports whether a session has unread messages.
func (u *unread) news(h *core.Head) bool {
	if last, ok := u.Read[h.Key]; ok {
		return h.LastSeq > last
	}
	return h.LastSeq > 0 && u.Since > 0 && h.UpdatedAt > u.Since
}

// look takes a session as read to its end.
func (u *unread) look(h *core.Head) {
	if u.Read == nil {
		u.Read = map[string]uint64{}
	}
	u.Read[h.Key] = h.LastSeq
}

// rewound hears that a session's messages are counted anew: it was reset.
func (u *unread) rewound(h *core.Head) {
	if last, ok := u.Read[h.Key]; ok && h.LastSeq < last {
		u.Read[h.Key] = 0
	}
}

// readingNow is the session whose transcript is on the screen.
type readingNow struct {
	key   string
	dwelt bool // for long enough to be looked at
}

// readMost is how many sessions are remembered one by one before what was read is written down anew.
const readMost = 2000

// tidy begins anew: everything without news counts as read from now on, and only what has news is remembered one by one.
func (u *unread) tidy(heads map[string]*core.Head, now time.Time) {
	fresh := unread{Since: now.UnixMilli(), Read: map[string]uint64{}}
	for key, h := range heads {
		if u.news(h) {
			fresh.Read[key] = u.Read[key]
		} else {
			fresh.Since = max(fresh.Since, h.UpdatedAt)
		}
	}
	*u = fresh
}

type readMsg struct{ key string }

// readSoon takes the session turned to as read when it stays on the screen.
func (m *Model) readSoon() tea.Cmd {
	if m.trans.key == m.reading.key {
		return nil
	}
	m.reading = readingNow{key: m.trans.key}
	if m.trans.key == "" {
		return nil
	}
	return m.seams.after(readAfter, readMsg{m.trans.key})
}

func (msg readMsg) apply(m *Model) tea.Cmd {
	if msg.key == m.reading.key {
		m.reading.dwelt = true
	}
	return nil
}

// readShown takes the session on the screen as read once its end has been there for a while.
func (m *Model) readShown() {
	h := m.fleet.heads[m.reading.key]
	if h == nil || !m.reading.dwelt || !m.trans.known || !m.trans.follow || !m.lay.panes[paneTranscript].shown() || m.lay.over {
		return
	}
	if last, ok := m.unread.Read[h.Key]; !ok || last != h.LastSeq {
		m.unread.look(h)
		m.tidyUnread()
		m.tree.dirty, m.insp.dirty = true, true
	}
}

func (m *Model) tidyUnread() {
	if len(m.unread.Read) > readMost {
		m.unread.tidy(m.fleet.heads, m.env.Now())
	}
}

// readChosen takes what is chosen as read: what is marked, else the session under the cursor.
func (m *Model) readChosen() tea.Cmd {
	for _, key := range m.chosen() {
		if h := m.fleet.heads[key]; h != nil {
			m.unread.look(h)
		}
	}
	m.tidyUnread()
	m.tree.dirty, m.insp.dirty = true, true
	return m.clearMarks()
}

// unreadMemory keeps what was read.
func unreadMemory() memory {
	return memory{
		name: "unread",
		keep: func(m *Model) any {
			if m.unread.Since == 0 {
				return nil
			}
			return m.unread
		},
		recall: func(m *Model, raw json.RawMessage) error {
			var u unread
			if err := json.Unmarshal(raw, &u); err != nil {
				return err
			}
			m.unread = u
			return nil
		},
	}
}
