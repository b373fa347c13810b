package ui

import "strings"

// glyphs says how the signs of the console are drawn. Stored text goes through the same table, so that no cell of a frame is one that
// such a terminal draws two cells wide.
type glyphs func(frame string) string

func (m *Model) glyphs() glyphs {
	switch {
	case m.env.ASCII && m.env.Accessible:
		return func(frame string) string { return strings.Map(asASCII, strings.Map(withoutBoxes, frame)) }
	case m.env.ASCII:
		return func(frame string) string { return strings.Map(asASCII, frame) }
	case m.env.Accessible:
		return func(frame string) string { return strings.Map(withoutBoxes, frame) }
	}
	return func(frame string) string { return frame }
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

// signs are ours in ASCII.
var signs = map[rune]rune{
	'─': '-', '━': '=', '│': '|', '┃': '|', '├': '|', '└': '`', '▌': '>', '▎': '|', '▏': '_', '█': '#', '░': '.', '▓': '#', '▒': '#',
	'▾': 'v', '▸': '>', '▼': 'v', '▲': '^', '◂': '<', '●': '*', '◌': 'o', '◐': '%', '·': '.', '✗': 'x', '✓': '+', '⊘': '/', '▫': '-',
	'⇣': 'v', '⇄': '=', '↓': 'v', '↑': '^', '←': '<', '→': '>', '…': '~', '–': '-', '—': '-', '×': 'x', '⏎': '$', '•': '*', '“': '"', '”': '"',
	'‘': '\'', '’': '\'', '◆': '#', '◉': 'O', '›': '>',
}

func asASCII(r rune) rune {
	switch {
	case r < 0x80:
		return r
	case r >= 0x2581 && r <= 0x2588:
		return '#'
	case r >= 0x250c && r <= 0x254b:
		if a, ok := signs[r]; ok {
			return a
		}
		return '+'
	}
	if a, ok := signs[r]; ok {
		return a
	}
	return r
}
