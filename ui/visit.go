package ui

import (
	"context"
	"encoding/json"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/core"
)

// target is a place in any transcript. Without a key it is in one that no session names; without a seq it is its end.
type target struct {
	key, generation string
	seq             uint64
	needle          needle
}

// visit is a transcript that is read although the tree's cursor is elsewhere: it has no row there. It ends when that cursor moves.
type visit struct {
	key, generation string
	from            string // what the cursor was on
}

// maxTrail bounds how many jumps can be gone back.
const maxTrail = 64

// visitTo opens a place, and remembers the one it came from.
func (m *Model) visitTo(to target) tea.Cmd {
	t := &m.trans
	if !t.nothing() {
		m.trail = append(m.trail[max(len(m.trail)+1-maxTrail, 0):], m.here())
	}
	m.showTarget(to)
	return m.focusOn(paneTranscript)
}

// here is where the transcript is.
func (m *Model) here() target {
	t := &m.trans
	at := target{key: t.key, generation: t.generation}
	if !t.follow {
		at.seq = t.cursor.at
	}
	return at
}

func (m *Model) showTarget(to target) {
	t := &m.trans
	m.visit = nil
	if to.key == "" || !m.tree.goTo(to.key) {
		m.visit = &visit{key: to.key, generation: to.generation, from: m.tree.selected()}
	}
	m.tree.dirty = true
	if to.generation == t.gen.ID && t.gen.State == core.GenerationCurrent {
		to.generation = t.generation // the one that is shown, by its name or as the current one
	}
	if t.key != to.key || t.generation != to.generation {
		t.show(to.key, to.generation)
	}
	switch {
	case to.seq > 0:
		t.goTo(jump{seq: to.seq, needle: to.needle})
	default:
		t.toEnd()
	}
}

// goBack goes where the last jump began.
func (m *Model) goBack() tea.Cmd {
	last := len(m.trail) - 1
	to := m.trail[last]
	m.trail = m.trail[:last]
	m.showTarget(to)
	return m.focusOn(paneTranscript)
}

func noTrail(m *Model) string {
	if len(m.trail) == 0 {
		return "nothing to go back to: no jump was made"
	}
	return ""
}

// enterMessage unfolds what is under the cursor; on a message from another session it goes there.
func (m *Model) enterMessage() tea.Cmd {
	msg := m.trans.current()
	if msg == nil {
		return m.composeIf("")
	}
	if p, ok := core.ProvenanceOf(msg.Raw); ok && p.Kind == "inter_session" && p.SourceSessionKey != "" {
		return m.cross()
	}
	if !m.trans.toggle() {
		return m.composeIf("nothing is folded in this message")
	}
	return nil
}

// composeIf opens the composer where enter has nothing to open, or says why it does not.
func (m *Model) composeIf(said string) tea.Cmd {
	why := cannotCompose(m)
	if why == "" {
		return m.openComposer()
	}
	m.said = said + prefixed(" · ", why)
	if said == "" {
		m.said = why
	}
	return nil
}

// end is which end of a way between two sessions a message is.
type end uint8

const (
	noEnd    end = iota
	arrived      // it came from the other session
	calling      // its tool call names the other
	answered     // it is the tool's answer
)

// otherSide is the session a message came from, or the one that its tool call or result names.
func otherSide(m *core.Message) (key string, is end) {
	if p, ok := core.ProvenanceOf(m.Raw); ok && p.SourceSessionKey != "" {
		return p.SourceSessionKey, arrived
	}
	for b := range core.Blocks(m.Raw) {
		named, is := b.Arguments, calling
		if m.Role == core.RoleToolResult {
			named, is = json.RawMessage(b.Text), answered
		} else if b.Type != "toolCall" {
			continue
		}
		var names struct{ ChildSessionKey, SessionKey string }
		if json.Unmarshal(named, &names) == nil {
			if key := firstOf(names.ChildSessionKey, names.SessionKey); key != "" {
				return key, is
			}
		}
	}
	return "", noEnd
}

func oneSided(m *Model) string {
	if msg := m.trans.current(); msg == nil {
		return "no message is under the cursor"
	} else if key, _ := otherSide(msg); key == "" {
		return "this message names no other session"
	}
	return ""
}

// crossMsg is where the other side is.
type crossMsg struct {
	to  target
	err error
}

func (msg crossMsg) apply(m *Model) tea.Cmd {
	if m.ended(msg.err) {
		return nil
	}
	if msg.err != nil {
		m.said, m.barsDirty = msg.err.Error(), true
		return nil
	}
	return m.visitTo(msg.to)
}

// cross goes to the other side of the message under the cursor, to what was said there at that time: from a message to the call that
// sent it, from a call to what arrived, from an answer to what was said last before it.
func (m *Model) cross() tea.Cmd {
	msg := m.trans.current()
	here, at := m.trans.key, msg.At
	key, is := otherSide(msg)
	return func() tea.Msg {
		to, err := guarded(func() (target, error) {
			to, err := atTime(m.ctx, m.env.Board, key, at, is != calling)
			if err != nil || is == answered {
				return to, err
			}
			return meeting(m.ctx, m.env.Board, to, here, is)
		})
		return crossMsg{to, err}
	}
}

// nearby is how many messages around a time are looked at for the other end.
const nearby = 40

// meeting moves a place found by time to the other end near it: the last call before it that names a session, for a message that came
// from there, or the first message after it that came from one, for a call.
func meeting(ctx context.Context, b core.Board, to target, key string, is end) (target, error) {
	q, wanted := core.MessageQuery{Session: to.key, Limit: nearby, Before: to.seq + 1}, calling
	if is == calling {
		wanted = arrived
		if q.Before, q.After = 0, to.seq-min(to.seq, 1); q.After == 0 {
			q.Oldest = true
		}
	}
	page, err := b.Messages(ctx, q)
	for i := range page.Messages {
		if other, found := otherSide(&page.Messages[i]); key != "" && other == key && found == wanted {
			to.seq = page.Messages[i].Seq
			if is == calling {
				break
			}
		}
	}
	return to, err
}

// atTime finds the last message of a session at or before a time or, when it is not before, the first at or after it. Times rise along
// a transcript, so a few reads find it.
func atTime(ctx context.Context, b core.Board, key string, at int64, before bool) (target, error) {
	page, err := b.Messages(ctx, core.MessageQuery{Session: key, Limit: 1})
	if err != nil || len(page.Messages) == 0 {
		return target{key: page.Session}, err
	}
	low, high := page.Generation.FirstSeq, page.Messages[0].Seq
	to := target{key: page.Session, seq: high}
	if before {
		to.seq = low
	}
	for low <= high {
		mid := low + (high-low)/2
		page, err := b.Messages(ctx, core.MessageQuery{Session: key, Before: mid + 1, Limit: 1})
		if err != nil {
			return to, err
		}
		switch {
		case len(page.Messages) == 0:
			low = mid + 1
		case before && page.Messages[0].At <= at:
			to.seq, low = page.Messages[0].Seq, mid+1
		case !before && page.Messages[0].At < at:
			low = mid + 1
		case before:
			high = page.Messages[0].Seq - 1
		default:
			to.seq, high = page.Messages[0].Seq, page.Messages[0].Seq-1
		}
	}
	return to, nil
}
