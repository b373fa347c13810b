package safe

import "github.com/charmbracelet/x/ansi"

// ambiguousIsWide says that this terminal draws box characters and most signs two cells wide: RUNEWIDTH_EASTASIAN is set. The console
// then draws its signs in ASCII, and so they are measured.
var ambiguousIsWide = ansi.StringWidth("─") != 1

// signs are those that the console and the tables draw, in ASCII.
var signs = map[rune]rune{
	'─': '-', '━': '=', '│': '|', '┃': '|', '├': '|', '└': '`', '▌': '>', '▎': '|', '▏': '_', '█': '#', '░': '.', '▓': '#', '▒': '#',
	'▾': 'v', '▸': '>', '▼': 'v', '▲': '^', '◂': '<', '●': '*', '◌': 'o', '◐': '%', '·': '.', '✗': 'x', '✓': '+', '⊘': '/', '▫': '-',
	'⇣': 'v', '⇄': '=', '↓': 'v', '↑': '^', '←': '<', '→': '>', '…': '~', '–': '-', '—': '-', '×': 'x', '⏎': '$', '•': '*', '“': '"', '”': '"',
	'‘': '\'', '’': '\'', '◆': '#', '◉': 'O', '◎': '@', '‖': '"', '⊗': '!', '›': '>',
}

// ASCII is a sign that we draw as it is drawn in ASCII; any other rune is itself.
func ASCII(r rune) rune {
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
