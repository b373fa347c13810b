package ui

import (
	"encoding/json"
	"io"

	tea "github.com/charmbracelet/bubbletea"
)

// exporting is a view whose rows can be written to a file: what each is called there.
type exporting interface {
	table
	record(id string) any
	fileName() string
}

func (v *runsView) record(id string) any     { return v.runs[id] }
func (v *exchangeList) record(id string) any { return v.all[id] }
func (v *deliveries) record(id string) any   { return v.all[id] }
func (v *auditView) record(id string) any    { return v.all[id] }

// record is a row of usage with what it is by.
func (v *usageView) record(id string) any {
	s := v.sums[id]
	out := map[string]any{v.by.word(): id, "tokens": s.total}
	if s.head == nil {
		out["runs"], out["input"], out["output"] = s.runs, s.input, s.output
	}
	if s.priced {
		out["cost"] = s.cost
	}
	return out
}

func (v *runsView) fileName() string     { return "runs" }
func (v *exchangeList) fileName() string { return "exchanges" }
func (v *deliveries) fileName() string   { return "deliveries" }
func (v *auditView) fileName() string    { return "audit" }
func (v *usageView) fileName() string    { return "usage-by-" + v.by.word() }

// exportRows writes the rows as they are filtered to a file, one JSON object a line.
func (m *Model) exportRows() tea.Cmd {
	t := m.stage().(exporting)
	var text []byte
	for _, id := range t.base().rows.ids {
		row, err := json.Marshal(t.record(id))
		if err != nil {
			return m.warn("not exported: " + err.Error())
		}
		text = append(append(text, row...), '\n')
	}
	out, name := m.env.Outside, t.fileName()
	return func() tea.Msg {
		f, err := out.Create(name, ".jsonl")
		if err != nil {
			return exportedMsg{err: err}
		}
		if err = written(f, func(w io.Writer) error { _, err := w.Write(text); return err }); err != nil {
			_ = out.Remove(f.Name()) // half of it is worth nothing
		}
		return exportedMsg{f.Name() + " · " + plural(len(t.base().rows.ids), "row"), err}
	}
}

func cannotExportRows(m *Model) string {
	t, ok := m.stage().(exporting)
	switch {
	case !ok:
		return "an exchange is read as a whole"
	case len(t.base().rows.ids) == 0:
		return "there are no rows"
	}
	return noOutside(m)
}
