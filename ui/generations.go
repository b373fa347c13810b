package ui

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"cordboard/core"
	"cordboard/ui/safe"
)

// generations lists the transcripts of the session shown, the current one first.
func (m *Model) generations() []core.Generation {
	if m.insp.detail == nil || m.insp.key != m.trans.key {
		return nil
	}
	return inOrder(m.insp.detail.Generations)
}

// generationAt is which of them is shown.
func (m *Model) generationAt(list []core.Generation) int {
	for i := range list {
		if m.trans.generation == list[i].ID {
			return i
		}
	}
	return 0
}

// turn goes to an older or newer transcript of the session, around at either end.
func (m *Model) turn(by int) {
	list := m.generations()
	i := (m.generationAt(list) + by + len(list)) % len(list)
	id := list[i].ID
	if list[i].State == core.GenerationCurrent {
		id = ""
	}
	m.trans.show(m.trans.key, id)
}

// transcriptNote is what the title ends in: what is left out, and which transcript of the session this is.
func (m *Model) transcriptNote() []run {
	note := m.generationNote()
	if text := m.readFilter.text(); text != "" {
		filter := run{m.k.filterNote, "shows " + text}
		filter.text = safe.Cut(filter.text, max(m.trans.w-12-widthOf(note), 8))
		if len(note) > 0 {
			note = append([]run{{m.k.dim, " · "}}, note...)
		}
		note = append([]run{filter}, note...)
	}
	return note
}

func (m *Model) generationNote() []run {
	if m.trans.generation == "" {
		return nil
	}
	if m.trans.key == "" {
		return []run{{m.k.warn, safe.Line(string(m.trans.gen.State))}}
	}
	list := m.generations()
	i := m.generationAt(list)
	if i >= len(list) {
		return nil
	}
	note := safe.Line(string(list[i].State)) + " " + strconv.Itoa(i+1) + " of " + strconv.Itoa(len(list))
	if at := list[i].EndedAt; at > 0 {
		note += " · " + ago(m.env.Now(), at)
	}
	return []run{{m.k.warn, note}}
}

// inOrder sorts generations as o walks them: the current one, then the newest of the older.
func inOrder(list []core.Generation) []core.Generation {
	sorted := slices.Clone(list)
	slices.SortStableFunc(sorted, func(a, b core.Generation) int {
		if x, y := a.State == core.GenerationCurrent, b.State == core.GenerationCurrent; x != y {
			return trueFirst(x)
		}
		return cmp.Or(cmp.Compare(max(b.EndedAt, b.CreatedAt), max(a.EndedAt, a.CreatedAt)), strings.Compare(a.ID, b.ID))
	})
	return sorted
}
