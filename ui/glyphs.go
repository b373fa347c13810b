package ui

import (
	"slices"
	"strings"

	"cordboard/ui/safe"
)

// inGlyphs redraws lines with the signs that this terminal is to be shown. Stored text goes through the same table, so that no sign of ours
// is one that such a terminal draws two cells wide.
func (m *Model) inGlyphs(lines []string) []string {
	if !m.env.Accessible && !m.env.ASCII {
		return lines
	}
	lines = slices.Clone(lines) // they may be kept as they are
	for i := range lines {
		if m.env.Accessible {
			lines[i] = strings.Map(withoutBoxes, lines[i])
		}
		if m.env.ASCII {
			lines[i] = strings.Map(safe.ASCII, lines[i])
		}
	}
	return lines
}

// withoutBoxes leaves out what only draws: boxes, guides, bars. The mark of the cursor's row is no drawing.
func withoutBoxes(r rune) rune {
	if r == '▌' {
		return '>'
	}
	if r >= 0x2500 && r <= 0x259f {
		return ' '
	}
	return r
}
