package ui

import (
	"cmp"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"sync"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/core"
)

// draft is what was written in a form and not sent yet. It outlives the form, an error, the owner of the store and this console.
type draft struct {
	Text string `json:"text"`
	As   string `json:"as,omitempty"` // session it was to be sent as
	Wait *int   `json:"wait,omitempty"`
	// Key is the idempotency key of an attempt whose fate nobody knows: the same text is sent under it again, and is one message.
	Key string `json:"key,omitempty"`
	At  int64  `json:"at"`

	Spawn *spawnDraft `json:"spawn,omitempty"` // what else a spawn form holds
}

// drafts are kept by form and session: "send agent:main:main". They are a file of their own: they are far larger than the rest of what is
// remembered, and change with every key.
type drafts struct {
	all     map[string]draft
	touched map[string]bool // since the last save
	mu      *sync.Mutex     // one writer at a time
}

const (
	draftsName = "drafts"
	draftsMost = 6 << 20 // bytes that are written; what does not fit is kept as long as the console runs
)

// drafting is a layer with a text that is to be kept.
type drafting interface{ keepDraft(m *Model) }

// orphaned keeps a form open that esc closed while its session is gone: a draft is found again by its session, so this text never would be.
// It says so once, with what can be done; the next esc is taken.
func (m *Model) orphaned(l layer, key string, warned *bool, way string) bool {
	if *warned || m.fleet.heads[key] != nil {
		return false
	}
	*warned = true
	m.open(l)
	m.said = "its session is gone: " + way + "; esc again leaves it behind"
	return true
}

func newDrafts() drafts {
	return drafts{all: map[string]draft{}, touched: map[string]bool{}, mu: &sync.Mutex{}}
}

// recallDrafts takes up what an earlier run kept; what is damaged is told and left out.
func (m *Model) recallDrafts() {
	if m.env.State == nil {
		return
	}
	data, err := m.env.State.Load(draftsName)
	if err == nil && len(data) > 0 {
		err = json.Unmarshal(data, &m.drafts.all)
	}
	if err != nil {
		m.early = append(m.early, "drafts of earlier could not be read: "+err.Error())
	}
	if m.drafts.all == nil {
		m.drafts.all = map[string]draft{}
	}
}

// put keeps a draft, or forgets it when there is nothing in it.
func (d *drafts) put(id string, now draft) {
	was, had := d.all[id]
	if now.Text == "" && now.Spawn == nil {
		if had {
			delete(d.all, id)
			d.touched[id] = true
		}
		return
	}
	sameWait := (was.Wait == nil) == (now.Wait == nil) && (was.Wait == nil || *was.Wait == *now.Wait)
	if had && was.Text == now.Text && was.As == now.As && was.Key == now.Key && sameWait && reflect.DeepEqual(was.Spawn, now.Spawn) {
		return
	}
	d.all[id] = now
	d.touched[id] = true
}

// keepDrafts has every open form keep its text.
func (m *Model) keepDrafts() {
	for _, l := range m.layers {
		if d, ok := l.(drafting); ok {
			d.keepDraft(m)
		}
	}
}

// changedDrafts are those to be written; nil stands for one that is gone.
func (m *Model) changedDrafts() map[string]*draft {
	m.keepDrafts()
	changed := map[string]*draft{}
	for id := range m.drafts.touched {
		changed[id] = nil
		if d, ok := m.drafts.all[id]; ok {
			changed[id] = &d
		}
	}
	clear(m.drafts.touched)
	return changed
}

// saveDraftsCmd writes what changed beside the screen.
func (m *Model) saveDraftsCmd() tea.Cmd {
	changed := m.changedDrafts()
	if len(changed) == 0 || m.env.State == nil {
		return nil
	}
	state, mu := m.env.State, m.drafts.mu
	return func() tea.Msg {
		_, err := guarded(func() (any, error) { return nil, saveDrafts(state, mu, changed) })
		return draftsSavedMsg{err, changed}
	}
}

type draftsSavedMsg struct {
	err     error
	changed map[string]*draft
}

// apply has what could not be written written with what changes next.
func (msg draftsSavedMsg) apply(m *Model) tea.Cmd {
	if msg.err == nil {
		return nil
	}
	for id := range msg.changed {
		m.drafts.touched[id] = true
	}
	return savedMsg{msg.err}.apply(m)
}

// saveDrafts brings the file up to date: another console on the same store may have written its own since.
func saveDrafts(state State, mu *sync.Mutex, changed map[string]*draft) error {
	mu.Lock()
	defer mu.Unlock()
	data, err := state.Load(draftsName)
	if err != nil {
		return err
	}
	all := map[string]draft{}
	if json.Unmarshal(data, &all) != nil || all == nil {
		all = map[string]draft{} // damaged, and told when it was read
	}
	for id, d := range changed {
		if d == nil {
			delete(all, id)
		} else {
			all[id] = *d
		}
	}
	kept := fitting(all)
	if data, err = json.Marshal(kept); err != nil {
		return err
	}
	if err = state.Save(draftsName, append(data, '\n')); err != nil {
		return err
	}
	for id, d := range changed {
		if d != nil && kept[id] == nil {
			return core.Errorf(core.CodeInvalidParams, "a draft of %s is more than is kept over a restart (%s in all)", bytesOf(int64(len(d.Text))), bytesOf(draftsMost))
		}
	}
	return nil
}

// fitting are the newest drafts, as many as a file takes.
func fitting(all map[string]draft) map[string]json.RawMessage {
	ids := slices.SortedFunc(maps.Keys(all), func(a, b string) int {
		return cmp.Or(cmp.Compare(all[b].At, all[a].At), cmp.Compare(a, b))
	})
	kept, room := map[string]json.RawMessage{}, draftsMost
	for _, id := range ids {
		raw, err := json.Marshal(all[id])
		if err != nil || len(raw)+len(id)+8 > room {
			continue
		}
		kept[id] = raw
		room -= len(raw) + len(id) + 8
	}
	return kept
}
