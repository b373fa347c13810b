package ui

import "strings"

// The stripe at the left of a message, and of the one under the cursor. Both are one cell wide.
const (
	stripe       = "▎"
	cursorStripe = "▌"
	ruleOpens    = "── "
	cursorRule   = "▌─ "
)

// shown are the lines on the screen with what is laid over them: matches and the cursor. What is cached stays as it is.
func (t *transcript) shown(k *inks, n needle, focus bool) []string {
	lines := t.lines
	if n.set() {
		lines = t.marked(k, n)
	} else if focus {
		lines = append([]string(nil), lines...)
	}
	if !focus || t.cursor.at == 0 {
		return lines
	}
	for y, s := range t.spots {
		if t.message(s.i).Seq != t.cursor.at {
			continue
		}
		if p := t.item(s.i).parts[s.part]; p.kind == partRule {
			lines[y] = strings.Replace(lines[y], ruleOpens, cursorRule, 1)
		} else if p.kind != partGap {
			lines[y] = strings.Replace(lines[y], stripe, cursorStripe, 1)
		}
	}
	return lines
}

// marked are the lines with the matches of a search laid over them. Lines that were one are searched as one.
func (t *transcript) marked(k *inks, n needle) []string {
	out := make([]string, 0, len(t.lines))
	for y := 0; y < len(t.lines); {
		end := y + 1
		for end < len(t.spots) && t.spots[end].i == t.spots[y].i && t.spots[end].part == t.spots[y].part {
			end++
		}
		over := k.match
		if t.message(t.spots[y].i).Seq == t.cursor.at {
			over = k.matchCurrent
		}
		f := flowOf(t.lines[y:end])
		for i, spans := range f.matches(n) {
			out = append(out, paintSpans(t.lines[y+i], spans, over))
		}
		y = end
	}
	return out
}

// flowOf is what painted lines of a part say.
func flowOf(lines []string) *flow {
	f := &flow{}
	for _, l := range lines {
		text, _ := bare(l)
		end := len(strings.TrimRight(text, " "))
		start := 0
		if strings.HasPrefix(text, stripe+" ") {
			start = len(stripe) + 1
		}
		f.add(text, min(start, end), end)
	}
	return f
}

// lineWith is the first line of the message held at i that shows the needle.
func (t *transcript) lineWith(i int, n needle) (spot, bool) {
	it := t.item(i)
	for p := range it.parts {
		if part := &it.parts[p]; part.kind == partGap || !part.holds(n) {
			continue
		}
		if l, ok := flowOf(t.linesOf(i, p)).first(n); ok {
			return spot{i: i, part: p, line: l}, true
		}
	}
	return spot{}, false
}

// holds reports whether a part may show the needle; it spares wrapping what does not.
func (p *part) holds(n needle) bool {
	return p.lead != nil || p.kind == partMarkdown || n.in(p.text)
}
