package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"cordboard/ui/safe"
)

// column is one column of a table. The one with grow takes what the others leave; right-aligned ones hold figures.
type column struct {
	title string
	right bool
	grow  bool
	tail  bool // when cut keep the end, as keys need
	spare int  // > 0: left out where the terminal is too narrow, the highest first, and where it has nothing to say
}

// table lays rows out for people: as wide as the terminal, every cell safe to show. Without a terminal nothing is cut.
type table struct {
	columns []column
	rows    [][]string
}

func (t *table) add(cells ...string) {
	for i, cell := range cells {
		cells[i] = safe.Column(cell)
	}
	t.rows = append(t.rows, cells)
}

// write prints the table for a terminal of the given width; 0 means there is none.
func (t *table) write(w io.Writer, width int) error {
	t.dropEmpty()
	widths := t.widths(width)
	for width > 0 && t.short(widths, width) && t.dropSpare() {
		widths = t.widths(width)
	}
	titles := make([]string, len(t.columns))
	for i, c := range t.columns {
		titles[i] = c.title
	}
	var out strings.Builder
	for _, row := range append([][]string{titles}, t.rows...) {
		t.writeRow(&out, row, widths)
	}
	_, err := io.WriteString(w, out.String())
	return err
}

func (t *table) writeRow(out *strings.Builder, row []string, widths []int) {
	line := make([]string, len(row))
	for i, cell := range row {
		c := t.columns[i]
		switch {
		case safe.Width(cell) > widths[i] && c.tail:
			cell = safe.KeepTail(cell, widths[i])
		case safe.Width(cell) > widths[i]:
			cell = safe.Cut(cell, widths[i])
		}
		if c.right {
			line[i] = safe.PadLeft(cell, widths[i])
		} else {
			line[i] = safe.Pad(cell, widths[i])
		}
	}
	out.WriteString(strings.TrimRight(strings.Join(line, "  "), " "))
	out.WriteByte('\n')
}

const (
	nothing  = "–" // a cell without a value
	readable = 32  // cells the growing column should have before spare columns get any
)

// dropEmpty leaves out spare columns that hold no value.
func (t *table) dropEmpty() {
	for i := len(t.columns) - 1; i >= 0; i-- {
		empty := t.columns[i].spare > 0
		for _, row := range t.rows {
			empty = empty && (row[i] == "" || row[i] == nothing)
		}
		if empty {
			t.drop(i)
		}
	}
}

// short reports whether the growing column is cut below what can be read, or the rest does not fit.
func (t *table) short(widths []int, width int) bool {
	total := 2 * (len(widths) - 1)
	cut := false
	for i, w := range widths {
		total += w
		cut = cut || t.columns[i].grow && w < min(readable, t.natural(i))
	}
	return cut || total > width
}

func (t *table) dropSpare() bool {
	least := -1
	for i, c := range t.columns {
		if c.spare > 0 && (least < 0 || c.spare > t.columns[least].spare) {
			least = i
		}
	}
	if least >= 0 {
		t.drop(least)
	}
	return least >= 0
}

func (t *table) drop(i int) {
	t.columns = slices.Delete(slices.Clone(t.columns), i, i+1)
	for n, row := range t.rows {
		t.rows[n] = slices.Delete(row, i, i+1)
	}
}

// natural is how wide a column would like to be.
func (t *table) natural(i int) int {
	widest := safe.Width(t.columns[i].title)
	for _, row := range t.rows {
		widest = max(widest, safe.Width(row[i]))
	}
	return widest
}

const narrowest = 12 // cells the growing column keeps however narrow the terminal

func (t *table) widths(width int) []int {
	widths := make([]int, len(t.columns))
	total, grow := 2*(len(t.columns)-1), -1
	for i, c := range t.columns {
		widths[i] = t.natural(i)
		total += widths[i]
		if c.grow {
			grow = i
		}
	}
	if width > 0 && grow >= 0 && total > width {
		widths[grow] = max(narrowest, widths[grow]-(total-width))
	}
	return widths
}

// instant writes a time (ms) for people, in UTC so that output does not depend on where it is read.
func instant(ms int64) string {
	if ms == 0 {
		return "–"
	}
	return time.UnixMilli(ms).UTC().Format("2006-01-02 15:04:05")
}

// bytesText writes a size for people.
func bytesText(n int64) string {
	const unit = 1024
	switch {
	case n < unit:
		return fmt.Sprintf("%d B", n)
	case n < unit*unit:
		return fmt.Sprintf("%.1f KiB", float64(n)/unit)
	case n < unit*unit*unit:
		return fmt.Sprintf("%.1f MiB", float64(n)/(unit*unit))
	}
	return fmt.Sprintf("%.1f GiB", float64(n)/(unit*unit*unit))
}

// counted is "1 hit", "2 hits".
func counted(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %ss", n, one)
}
