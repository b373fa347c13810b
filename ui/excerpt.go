package ui

import "cordboard/ui/safe"

// excerpt is the beginning of a text, wrapped into at most so many lines, and whether there is more. A text of any length costs what is
// shown of it.
func excerpt(text string, w, most int) (lines []string, more bool) {
	w = max(w, 1)
	if enough := 4 * w * most; len(text) > enough {
		text, more = text[:runeStart(text, enough)], true
	}
	lines = safe.Wrap(safe.Block(text), w)
	if len(lines) > most {
		lines, more = lines[:most], true
	}
	return lines, more
}
