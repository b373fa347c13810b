package ui

import (
	"cordboard/core"
	"cordboard/core/key"
)

// fleet is every session's head as the board told it last.
type fleet struct {
	info  core.Info
	known bool // info has come
	names key.Names
	heads map[string]*core.Head
	rev   core.Rev // the newest of any of them

	loading bool
	loaded  int // loads that came to their end
	from    core.Cursor
	seen    map[string]bool     // keys the load at work has brought
	gone    map[string]core.Rev // sessions deleted while it was at work
}

func newFleet() fleet {
	return fleet{names: key.NewNames(core.Naming{}, ""), heads: map[string]*core.Head{}}
}

func (f *fleet) setInfo(info core.Info) {
	f.info, f.known = info, true
	f.names = key.NewNames(info.Names, "")
}

// begin starts a load: until it ends, what is known stays.
func (f *fleet) begin() {
	f.loading = true
	f.seen, f.gone = map[string]bool{}, map[string]core.Rev{}
	f.from = core.Cursor{}
}

// addPage takes in a page of a load. Changes told meanwhile are newer than a page of an older snapshot.
func (f *fleet) addPage(page core.SessionPage) {
	if f.from == (core.Cursor{}) {
		f.from = page.At
	}
	for i := range page.Rows {
		h := page.Rows[i].Head
		f.seen[h.Key] = true
		f.rev = max(f.rev, h.Rev)
		if rev, deleted := f.gone[h.Key]; deleted && rev > page.At.Rev {
			continue
		}
		if old := f.heads[h.Key]; old == nil || old.Rev <= h.Rev {
			f.heads[h.Key] = &h
		}
	}
}

// end closes a load: what it did not bring and nobody told of since is gone.
func (f *fleet) end() {
	for k, h := range f.heads {
		if !f.seen[k] && h.Rev <= f.from.Rev {
			delete(f.heads, k)
		}
	}
	f.loading, f.seen, f.gone = false, nil, nil
	f.loaded++
}

// impact is what a change does to the tree.
type impact uint8

const (
	impactNone  impact = iota
	impactRow          // one row reads differently
	impactOrder        // rows have to be sorted and the filter asked anew, when it does not disturb
	impactShape        // rows come, go or move under another parent
)

// apply takes in a change of a session.
func (f *fleet) apply(c core.Change, at core.Rev) impact {
	old := f.heads[c.ID]
	if c.Head == nil {
		if f.gone != nil {
			f.gone[c.ID] = at
		}
		if old == nil {
			return impactNone
		}
		delete(f.heads, c.ID)
		return impactShape
	}
	if old != nil && old.Rev > c.Head.Rev {
		return impactNone
	}
	h := *c.Head
	f.heads[c.ID], f.rev = &h, max(f.rev, h.Rev)
	switch {
	case old == nil || old.Parent != h.Parent || old.Kind != h.Kind || (old.Flags ^ h.Flags).Has(core.FlagArchived):
		return impactShape
	case old.UpdatedAt != h.UpdatedAt || old.Run != h.Run || old.Flags != h.Flags || old.Tokens != h.Tokens ||
		old.Title != h.Title || old.Channel != h.Channel:
		return impactOrder
	}
	return impactRow
}

func (f *fleet) snapshot() buildInput {
	in := buildInput{heads: make([]*core.Head, 0, len(f.heads)), agents: f.info.Agents, names: f.names}
	for _, h := range f.heads {
		in.heads = append(in.heads, h)
	}
	return in
}
