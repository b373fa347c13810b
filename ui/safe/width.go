package safe

import (
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// next measures the first grapheme cluster of s, which is not empty: its length in bytes and its cells.
func next(s string) (n, cells int) {
	if b := s[0]; b >= 0x20 && b < 0x7f && (len(s) == 1 || s[1] < utf8.RuneSelf) {
		return 1, 1
	}
	if isIdeograph(s) && (len(s) == 3 || s[3] < utf8.RuneSelf || isIdeograph(s[3:])) {
		return 3, 2
	}
	if ambiguousIsWide {
		if r, n := utf8.DecodeRuneInString(s); ASCII(r) != r {
			if after, m := utf8.DecodeRuneInString(s[n:]); m < 2 || ASCII(after) != after {
				return n, 1 // drawn in ASCII there
			}
		}
	}
	cluster, cells := ansi.FirstGraphemeCluster(s, ansi.GraphemeWidth)
	return max(len(cluster), 1), cells
}

// isIdeograph spots U+5000–U+8FFF by its first byte: always wide, and a cluster of its own before another one.
func isIdeograph(s string) bool {
	return len(s) >= 3 && s[0] >= 0xE5 && s[0] <= 0xE8 && s[1]&0xC0 == 0x80 && s[2]&0xC0 == 0x80
}

// Width is the number of cells s takes.
func Width(s string) int {
	i := plainASCII(s, 0)
	if i == len(s) {
		return i
	}
	i = max(i-1, 0) // the last ASCII may be the base of a mark
	w := i
	for i < len(s) {
		n, cells := next(s[i:])
		i, w = i+n, w+cells
	}
	return w
}

// prefix is the longest beginning of s that fits w cells: its length in bytes and its cells.
func prefix(s string, w int) (n, cells int) {
	for n < len(s) {
		step, c := next(s[n:])
		if cells+c > w {
			break
		}
		n, cells = n+step, cells+c
	}
	return n, cells
}

// suffix is where the longest end of s that fits w cells begins. total is Width(s).
func suffix(s string, w, total int) int {
	at := 0
	for at < len(s) && total > w {
		n, cells := next(s[at:])
		at, total = at+n, total-cells
	}
	return at
}

// ellipsis is what a cut shows; where ambiguous runes are drawn wide (RUNEWIDTH_EASTASIAN) it must not be one of them.
func ellipsis() string {
	if ambiguousIsWide {
		return string(ASCII('…'))
	}
	return "…"
}

// Cut shortens s to at most w cells, a cut end is shown as "…".
func Cut(s string, w int) string {
	if w <= 0 {
		return ""
	}
	if len(s) <= w {
		return s
	}
	n, _ := prefix(s, w)
	if n == len(s) {
		return s
	}
	n, _ = prefix(s[:n], w-1)
	return s[:n] + ellipsis()
}

// KeepTail shortens s to at most w cells and keeps its end: "…:discord:channel:42".
func KeepTail(s string, w int) string {
	if w <= 0 {
		return ""
	}
	total := Width(s)
	if total <= w {
		return s
	}
	return ellipsis() + s[suffix(s, w-1, total):]
}

// CutMiddle shortens s to at most w cells and keeps both ends, the end more of it: keys differ in their tail.
func CutMiddle(s string, w int) string {
	if w <= 0 {
		return ""
	}
	total := Width(s)
	if total <= w {
		return s
	}
	n, cells := prefix(s, (w-1)/3)
	return s[:n] + ellipsis() + s[suffix(s, w-1-cells, total):]
}

// Pad returns exactly w cells of s: filled with spaces, or cut without a sign; half a wide rune at the edge becomes a space.
func Pad(s string, w int) string {
	if w <= 0 {
		return ""
	}
	n, cells := prefix(s, w)
	if n == len(s) && cells == w {
		return s
	}
	return s[:n] + spaces(w-cells)
}

// PadLeft is Pad with the text at the right edge, for numbers.
func PadLeft(s string, w int) string {
	if w <= 0 {
		return ""
	}
	n, cells := prefix(s, w)
	return spaces(w-cells) + s[:n]
}

// Fit is exactly w cells of s, a cut shown as "…": a column of a table.
func Fit(s string, w int) string { return Pad(Cut(s, w), w) }

const blank = "                                                                                                                                "

func spaces(n int) string {
	if n <= len(blank) {
		return blank[:n]
	}
	return strings.Repeat(" ", n)
}

// Column is Line for aligned columns: a cluster that terminals draw at different widths is reduced to a part they agree on. Flags
// become their letters, joined or toned emoji their first pictograph, ☁️ becomes ☁; what has no such part becomes ▯.
func Column(s string) string {
	s = Line(s)
	if plainASCII(s, 0) == len(s) {
		return s
	}
	var out strings.Builder
	done := 0
	for i := 0; i < len(s); {
		n, cells := next(s[i:])
		if n > 1 {
			if cluster := s[i : i+n]; cells != ansi.StringWidthWc(cluster) || isFlag(cluster) {
				out.WriteString(s[done:i])
				out.WriteString(plainest(cluster))
				done = i + n
			}
		}
		i += n
	}
	if done == 0 {
		return s
	}
	return out.String() + s[done:]
}

const regionalA = 0x1F1E6

func isFlag(cluster string) bool {
	first, _ := utf8.DecodeRuneInString(cluster)
	return first >= regionalA && first < regionalA+26
}

func plainest(cluster string) string {
	if isFlag(cluster) {
		return strings.Map(regionalLetter, cluster)
	}
	_, n := utf8.DecodeRuneInString(cluster)
	if ansi.StringWidth(cluster[:n]) == ansi.StringWidthWc(cluster[:n]) {
		return cluster[:n]
	}
	return narrowMark
}

// regionalLetter maps the letters of a flag to ASCII and drops what hangs on them.
func regionalLetter(r rune) rune {
	if r >= regionalA && r < regionalA+26 {
		return 'A' + r - regionalA
	}
	return -1
}
