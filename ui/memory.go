package ui

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// State keeps what a console remembers between two runs, per user and store (console.md §6). Load returns no bytes and no error for a
// name that was never saved. A console that has none remembers nothing.
type State interface {
	Load(name string) ([]byte, error)
	Save(name string, data []byte) error
}

// memory is one thing that is remembered. Its name is its key in the file.
type memory struct {
	name string
	keep func(*Model) any // what encoding/json writes; nil = nothing to remember
	// recall takes up what an earlier run kept. An error leaves the console as it was and is told as a toast.
	recall func(*Model, json.RawMessage) error
}

// memories lists everything that is remembered. Each area lists its own.
func memories() []memory {
	return slices.Concat([]memory{lookMemory()}, consoleMemories(), seeMemories(), transcriptMemories())
}

// memoryName is the file's name for a State; saveAfter how long what changed waits to be written with what changes next.
const (
	memoryName = "console"
	saveAfter  = time.Second
)

// keeper writes what is remembered. Another console on the same store may have written since: only what changed here is replaced, and
// what this version does not know stays (so that an older and a newer one can share a file).
type keeper struct {
	state State
	mu    sync.Mutex                 // one writer at a time: a command of the last second, and Close
	known map[string]json.RawMessage // as it was read or last handed to a save
	armed bool                       // a timer runs
}

type (
	saveMsg  struct{}
	savedMsg struct{ err error }
)

// checkable is a State that can tell at the start that nothing will be kept.
type checkable interface{ Check() error }

// recallAll takes up what an earlier run kept. What is damaged is told and left out, part by part.
func (m *Model) recallAll() {
	m.keeper.known = map[string]json.RawMessage{}
	if m.keeper.state == nil {
		return
	}
	if c, ok := m.keeper.state.(checkable); ok {
		if err := c.Check(); err != nil {
			m.early = append(m.early, "what this console remembers cannot be saved: "+err.Error())
		}
	}
	data, err := m.keeper.state.Load(memoryName)
	if err == nil && len(bytes.TrimSpace(data)) > 0 {
		err = json.Unmarshal(data, &m.keeper.known)
	}
	if m.keeper.known == nil {
		m.keeper.known = map[string]json.RawMessage{} // the file says null
	}
	if err != nil {
		m.keeper.known = map[string]json.RawMessage{}
		m.early = append(m.early, "what the last console remembered cannot be read, so this one starts afresh: "+err.Error())
		return
	}
	for _, each := range m.memories {
		raw, ok := m.keeper.known[each.name]
		if !ok {
			continue
		}
		if _, err := guarded(func() (any, error) { return nil, each.recall(m, raw) }); err != nil {
			m.early = append(m.early, "what was remembered of "+each.name+" is left out: "+err.Error())
		}
	}
}

// rememberSoon has what changed written once the operator pauses.
func (m *Model) rememberSoon() tea.Cmd {
	if m.keeper.state == nil || m.keeper.armed {
		return nil
	}
	m.keeper.armed = true
	return m.seams.after(saveAfter, saveMsg{})
}

func (saveMsg) apply(m *Model) tea.Cmd {
	m.keeper.armed = false
	drafts := m.saveDraftsCmd()
	changed := m.changedMemories()
	if len(changed) == 0 {
		return drafts
	}
	return tea.Batch(drafts, func() tea.Msg { return savedMsg{m.keeper.save(changed)} })
}

func (msg savedMsg) apply(m *Model) tea.Cmd {
	if msg.err == nil {
		return nil
	}
	return m.warn("what this console remembers could not be saved: " + msg.err.Error())
}

// changedMemories are those that differ from what was read or saved last; it takes them as handed to a save.
func (m *Model) changedMemories() map[string]json.RawMessage {
	changed := map[string]json.RawMessage{}
	for _, each := range m.memories {
		value := each.keep(m)
		if value == nil {
			continue
		}
		raw, err := json.Marshal(value)
		if err != nil || bytes.Equal(raw, m.keeper.known[each.name]) {
			continue // what cannot be written now is written when it can
		}
		changed[each.name], m.keeper.known[each.name] = raw, raw
	}
	return changed
}

func (k *keeper) save(changed map[string]json.RawMessage) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	data, err := k.state.Load(memoryName)
	if err != nil {
		return err
	}
	all := map[string]json.RawMessage{}
	if json.Unmarshal(data, &all) != nil || all == nil {
		all = map[string]json.RawMessage{} // damaged, and told when it was read
	}
	maps.Copy(all, changed)
	data, err = json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	return k.state.Save(memoryName, append(data, '\n'))
}

// saveNow writes what changed; it is for the end, when no command runs any more.
func (m *Model) saveNow() error {
	if m.keeper.state == nil {
		return nil
	}
	_, err := guarded(func() (any, error) {
		var err error
		if drafts := m.changedDrafts(); len(drafts) > 0 {
			err = saveDrafts(m.keeper.state, m.drafts.mu, drafts)
		}
		if changed := m.changedMemories(); len(changed) > 0 {
			err = errors.Join(err, m.keeper.save(changed))
		}
		return nil, err
	})
	return err
}
