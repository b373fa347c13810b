package safe

// Chop breaks s, which has no newline, into pieces of at most w cells and drops nothing: for code, whose spaces count. A wide cluster
// at w = 1 becomes ▯. There is always one piece at least; w < 1 gives none. Pieces share s's memory.
func Chop(s string, w int) []string {
	if w < 1 {
		return nil
	}
	var out []string
	for {
		n, _ := prefix(s, w)
		if n == len(s) {
			return append(out, s)
		}
		if n == 0 {
			n, _ = next(s)
			out = append(out, narrowMark)
		} else {
			out = append(out, s[:n])
		}
		if s = s[n:]; s == "" {
			return out
		}
	}
}

// Window finds the cells [from, from+w) of s, which has no newline: they are s[start:end] with lead spaces before it, where the left
// edge cuts a wide cluster, and mark after it, which says that s goes on to the right. Together they take at most w cells.
func Window(s string, from, w int) (lead, start, end int, mark string) {
	if w < 1 {
		return 0, 0, 0, ""
	}
	start, cells := 0, 0
	for start < len(s) && cells < from {
		n, c := next(s[start:])
		start, cells = start+n, cells+c
	}
	if start < len(s) {
		lead = min(cells-from, w)
	}
	n, _ := prefix(s[start:], w-lead)
	if start+n < len(s) {
		mark = ellipsis()
		n, _ = prefix(s[start:start+n], w-1-lead)
	}
	if mark != "" && lead == w {
		lead--
	}
	return lead, start, start + n, mark
}
