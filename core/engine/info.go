package engine

import (
	"context"
	"slices"
	"strings"

	"cordboard/core"
)

// Info implements core.Board. Counting the agents' sessions walks the index once.
func (b *board) Info(ctx context.Context) (core.Info, error) {
	store, err := b.store.Info(ctx)
	if err != nil {
		return core.Info{}, err
	}
	info := core.Info{
		Version: b.options.Version, Actor: b.actor, Store: store, Cursor: core.Cursor{Epoch: store.Epoch, Rev: store.Rev},
		Owner: b.options.Owner, Missing: b.missing(),
		Names: b.names.Naming(),
	}
	for name := range b.config.Channels {
		info.Channels = append(info.Channels, name)
	}
	slices.Sort(info.Channels)
	for provider, p := range b.config.Models.Providers {
		for _, model := range p.Models {
			info.Models = append(info.Models, provider+"/"+model.ID)
		}
	}
	slices.Sort(info.Models)
	err = b.store.View(ctx, func(r core.Reader) error {
		info.Agents, err = b.agents(r)
		return err
	})
	if b.actor.Kind != core.ActorOperator {
		info.Store, info.Channels = visibleStore(info), nil
		info.Agents = slices.DeleteFunc(info.Agents, func(a core.AgentInfo) bool { // those it may start are told by agents_list
			return a.Sessions == 0 && a.ID != b.names.AgentOf(b.actor.Session)
		})
		s, rowErr := b.rowOf(ctx, b.actor.Session)
		err = errFirst(err, rowErr)
		for _, spec := range b.sessionTools(&s) {
			info.Tools = append(info.Tools, spec.Name)
		}
	}
	return info, err
}

// visibleStore is what a session hears of the store: how many sessions it may see, not how many there are, nor where.
func visibleStore(info core.Info) core.StoreInfo {
	seen := core.StoreInfo{Epoch: info.Store.Epoch, Rev: info.Store.Rev, Schema: info.Store.Schema, ReadOnly: info.Store.ReadOnly}
	for _, a := range info.Agents {
		seen.Sessions += a.Sessions
	}
	return seen
}

// missing lists the verbs this board cannot do, with the reason.
func (b *board) missing() map[string]string {
	switch {
	case b.actor.Kind != core.ActorOperator:
		return map[string]string{
			"do": "commands are the operator's", "records": "records are the operator's; a session uses its tools",
			"explain": "only the operator may ask why",
		}
	case b.actor.ReadOnly:
		return map[string]string{"do": "nothing can be changed: this was opened to read only"}
	case b.options.Owner == "":
		return map[string]string{"do": "the store is only read here, no engine owns it"}
	}
	return nil
}

// agents lists the configured agents in their order, then those that only the store knows, by id. A session actor hears of its own scope.
func (b *board) agents(r core.Reader) ([]core.AgentInfo, error) {
	v, err := b.viewer(r, b.actor, "")
	if err != nil {
		return nil, err
	}
	counts := map[string]*int{} // counted in place: to assign to a key that is there puts the borrowed text in its place
	err = r.Heads(core.HeadCursor{}, func(h *core.Head) bool {
		fillParent(r, h)
		if !h.Flags.Has(core.FlagArchived) && v.allows(h.Key, h.Parent) {
			agent := b.names.AgentOf(h.Key)
			n := counts[agent]
			if n == nil {
				n = new(int)
				counts[strings.Clone(agent)] = n
			}
			*n++
		}
		return true
	})
	var list []core.AgentInfo
	for _, each := range b.config.Agents.List {
		a, _ := b.config.Agent(each.ID) // with the defaults
		info := core.AgentInfo{ID: a.ID, Name: a.Name, Configured: true, Default: a.ID == b.names.DefaultAgent(), Runtime: a.Runtime.Type}
		if n := counts[a.ID]; n != nil {
			info.Sessions = *n
		}
		list = append(list, info)
		delete(counts, a.ID)
	}
	configured := len(list)
	for id, n := range counts {
		list = append(list, core.AgentInfo{ID: id, Sessions: *n})
	}
	slices.SortFunc(list[configured:], func(x, y core.AgentInfo) int { return strings.Compare(x.ID, y.ID) })
	return list, err
}
