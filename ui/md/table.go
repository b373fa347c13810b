package md

import (
	"bytes"
	"slices"
	"strings"

	"github.com/yuin/goldmark/ast"
	extast "github.com/yuin/goldmark/extension/ast"

	"cordboard/ui/safe"
)

// table is a table's cells, the header's first.
type table struct {
	rows   [][]rich
	aligns []extast.Alignment
}

// Between columns; minCell is what a column keeps of its cells, if they have as much, when the table is too wide.
const (
	minCell     = 8
	betweenCols = 3
)

func (d *drawer) tableOf(n *extast.Table) table {
	t := table{aligns: n.Alignments}
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		style := Text
		if row.Kind() == extast.KindTableHeader {
			style = Bold
		}
		cells := make([]rich, 0, len(t.aligns))
		for c := row.FirstChild(); c != nil; c = c.NextSibling() {
			over := ""
			if c.NextSibling() == nil {
				over = d.overflow(c)
			}
			cells = append(cells, d.cell(c, over, style))
		}
		for len(cells) < len(t.aligns) {
			cells = append(cells, rich{})
		}
		t.rows = append(t.rows, cells)
	}
	return t
}

// overflow is what stands in a row after its last cell: a cell too many, most often a pipe that nobody escaped.
func (d *drawer) overflow(last ast.Node) string {
	if last.Lines() == nil || last.Lines().Len() == 0 {
		return ""
	}
	rest, _, _ := bytes.Cut(d.src[last.Lines().At(0).Stop:], []byte("\n"))
	if rest = bytes.Trim(rest, " \t\r|"); len(rest) == 0 {
		return ""
	}
	return " | " + string(rest)
}

// table draws a table in columns, or as a list of its rows where columns would be too narrow to read.
func (d *drawer) table(n ast.Node) {
	t := d.tableOf(n.(*extast.Table))
	natural := t.widths()
	room := d.room() - betweenCols*(len(natural)-1)
	least := 0
	for _, w := range natural {
		least += min(w, minCell)
	}
	switch {
	case d.o.Wrap == WrapNone:
		d.columns(t, natural)
	case room < least:
		d.records(t)
	default:
		d.columns(t, shrink(natural, room))
	}
}

// widths are the widest cells of each column.
func (t table) widths() []int {
	widths := make([]int, len(t.aligns))
	for _, row := range t.rows {
		for i, c := range row {
			widths[i] = max(widths[i], safe.Width(c.text), 1)
		}
	}
	return widths
}

// shrink takes from the widest columns until all of them fit into room.
func shrink(natural []int, room int) []int {
	sorted := slices.Clone(natural)
	slices.Sort(sorted)
	limit, rest := 0, room
	for i, w := range sorted {
		share := rest / (len(sorted) - i)
		if w > share {
			limit = share
			rest -= share * (len(sorted) - i)
			break
		}
		limit = w
		rest -= w
	}
	out := slices.Clone(natural)
	for i, w := range out {
		if w > limit {
			out[i] = limit
			if rest > 0 {
				out[i]++
				rest--
			}
		}
	}
	return out
}

// columns draws the table in columns of these widths. Rows are ruled off when one of them takes several lines.
func (d *drawer) columns(t table, widths []int) {
	between, cross, glyph := " │ ", "─┼─", "─"
	if d.o.ASCII {
		between, cross, glyph = " | ", "-+-", "-"
	}
	var parts []string
	for _, w := range widths {
		parts = append(parts, strings.Repeat(glyph, w/safe.Width(glyph)))
	}
	rule := inStyle(strings.Join(parts, cross), Mark)
	var drawn [][]rich
	ruled := false
	for _, row := range t.rows {
		lines := t.row(row, widths, between)
		drawn = append(drawn, lines)
		ruled = ruled || len(lines) > 1
	}
	for i, lines := range drawn {
		if i == 1 || i > 1 && ruled {
			d.cut(rule)
		}
		for _, l := range lines {
			d.cut(l)
		}
	}
	if len(drawn) == 1 {
		d.cut(rule)
	}
}

// row are the lines of a row.
func (t table) row(cells []rich, widths []int, between string) []rich {
	wrapped := make([][]rich, len(widths))
	height := 1
	for i, c := range cells {
		wrapped[i] = c.wrap(widths[i])
		height = max(height, len(wrapped[i]))
	}
	lines := make([]rich, height)
	for y := range lines {
		var text strings.Builder
		var spans []Span
		for i, cell := range wrapped {
			if i > 0 {
				spans = append(spans, Span{text.Len(), text.Len() + len(between), Mark, nil})
				text.WriteString(between)
			}
			var c rich
			if y < len(cell) {
				c = cell[y]
			}
			spans = t.pad(&text, spans, c, widths[i], t.aligns[i])
		}
		lines[y] = rich{text.String(), spans}
	}
	return lines
}

// pad writes a cell's line into its column.
func (t table) pad(text *strings.Builder, spans []Span, c rich, width int, align extast.Alignment) []Span {
	free := width - safe.Width(c.text)
	left := 0
	switch align {
	case extast.AlignRight:
		left = free
	case extast.AlignCenter:
		left = free / 2
	}
	add := func(s string, style Style, link *Hyperlink) {
		if s != "" {
			spans = append(spans, Span{text.Len(), text.Len() + len(s), style, link})
			text.WriteString(s)
		}
	}
	add(spaces(left), Text, nil)
	if c.spans == nil {
		add(c.text, Text, nil)
	}
	for _, s := range c.spans {
		add(c.text[s.Start:s.End], s.Style, s.Link)
	}
	add(spaces(free-left), Text, nil)
	return spans
}

// records draws each row as an item that names its columns.
func (d *drawer) records(t table) {
	bullet := "• "
	if d.o.ASCII {
		bullet = "- "
	}
	rows := t.rows[1:]
	if len(rows) == 0 {
		rows = t.rows
	}
	for _, row := range rows {
		before := d.enter(bullet, spaces(safe.Width(bullet)))
		var cells []rich
		for i, c := range row {
			if c.text != "" {
				cells = append(cells, named(t.rows[0][i], c))
			}
		}
		if len(cells) == 0 {
			cells = make([]rich, 1)
		}
		d.flow(cells)
		d.leave(before)
	}
}

// named is a cell with its column's name before it.
func named(name, c rich) rich {
	if name.text == "" || name.text == c.text {
		return c
	}
	const colon = ": "
	head := name.text + colon
	spans := append(slices.Clone(name.spans), Span{len(name.text), len(head), Mark, nil})
	if c.spans == nil && c.text != "" {
		spans = append(spans, Span{Start: len(head), End: len(head) + len(c.text)})
	}
	for _, s := range c.spans {
		spans = append(spans, Span{s.Start + len(head), s.End + len(head), s.Style, s.Link})
	}
	return rich{head + c.text, spans}
}
