package engine

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"cordboard/core"
	"cordboard/core/tool"
)

// needle is a text to look for in message JSON, case-insensitively. Most messages do not hold it, so they are turned down on their raw
// bytes: probe is a run of the text that JSON always writes as it is. Only a message that passes is decoded and searched for real.
type needle struct {
	folded string // the whole text in lower case
	probe  []byte // in lower case; empty when the text has no such run, then every message is decoded
	rare   int    // index in probe of its rarest byte
}

const (
	maxNeedle     = 1000 // bytes
	snippetBefore = 40   // bytes of text shown around a match
	snippetAfter  = 120
)

func newNeedle(text string) (needle, error) {
	if strings.TrimSpace(text) == "" {
		return needle{}, core.Errorf(core.CodeInvalidParams, "text is blank: give what to look for")
	}
	if len(text) > maxNeedle {
		return needle{}, core.Errorf(core.CodeInvalidParams, "text is %d bytes: at most %d", len(text), maxNeedle)
	}
	n := needle{folded: strings.Map(fold, text)}
	n.probe = []byte(longestPlain(n.folded))
	for i, c := range n.probe {
		if frequency(c) < frequency(n.probe[n.rare]) {
			n.rare = i
		}
	}
	return n, nil
}

// fold is lower case, rune by rune. Two signs that have an ASCII letter for it keep to themselves, so that a text of ASCII letters is found
// by its bytes.
func fold(r rune) rune {
	if r == '\u0130' || r == '\u212a' { // İ and the Kelvin sign
		return r
	}
	return unicode.ToLower(r)
}

// longestPlain is the longest run of letters, digits and punctuation that no JSON writer escapes and no case folding changes in length.
func longestPlain(s string) string {
	best, start := "", 0
	for i := 0; i <= len(s); i++ {
		if i < len(s) && plain(s[i]) {
			continue
		}
		if run := s[start:i]; len(run) > len(best) {
			best = run
		}
		start = i + 1
	}
	return best
}

func plain(c byte) bool {
	if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
		return true
	}
	return strings.IndexByte(" -_.,:;!?()[]{}@#$%*=~^|`", c) >= 0
}

// frequency ranks how often a byte occurs in message JSON; only the order counts.
func frequency(c byte) int {
	const common = "zqxj^~|`%$#*@!?=;(){}[]kvwybpgfmuc-_.9876543hdlr2sn10ioat,:e "
	if at := strings.IndexByte(common, c); at >= 0 {
		return at
	}
	return 0
}

// find looks for the text in a message's texts and returns one line around the first match with its place in it.
func (n needle) find(raw []byte) (snippet string, match [2]int, ok bool) {
	if len(n.probe) > 0 && !n.probeIn(raw) {
		return "", match, false
	}
	for _, text := range [...]string{tool.Text(raw), tool.Thinking(raw)} {
		if at, end := indexFold(text, n.folded); at >= 0 {
			snippet, match = cutSnippet(text, at, end)
			return snippet, match, true
		}
	}
	return "", match, false
}

// probeIn reports whether the probe occurs in data, letters in either case. It jumps from one occurrence of the rarest byte to the next.
func (n needle) probeIn(data []byte) bool {
	low := n.probe[n.rare]
	high := low
	if low >= 'a' && low <= 'z' {
		high = low - 'a' + 'A'
	}
	nextLow, nextHigh := bytes.IndexByte(data, low), -1
	if high != low {
		nextHigh = bytes.IndexByte(data, high)
	}
	for nextLow >= 0 || nextHigh >= 0 {
		at := nextLow
		if at < 0 || nextHigh >= 0 && nextHigh < at {
			at = nextHigh
		}
		if start := at - n.rare; start >= 0 && start+len(n.probe) <= len(data) && equalFoldASCII(data[start:start+len(n.probe)], n.probe) {
			return true
		}
		if at == nextLow {
			nextLow = advance(data, at, low)
		} else {
			nextHigh = advance(data, at, high)
		}
	}
	return false
}

func advance(data []byte, at int, c byte) int {
	next := bytes.IndexByte(data[at+1:], c)
	if next < 0 {
		return -1
	}
	return at + 1 + next
}

func equalFoldASCII(data, low []byte) bool {
	for i, c := range data {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != low[i] {
			return false
		}
	}
	return true
}

// indexFold finds folded (in lower case) in s without regard to case and returns where the match starts and ends in s, -1 when absent.
func indexFold(s, folded string) (start, end int) {
	for at := 0; at < len(s); {
		if n, ok := prefixFold(s[at:], folded); ok {
			return at, at + n
		}
		_, size := utf8.DecodeRuneInString(s[at:])
		at += size
	}
	return -1, -1
}

func prefixFold(s, folded string) (length int, ok bool) {
	rest := s
	for _, want := range folded {
		if rest == "" {
			return 0, false
		}
		got, size := utf8.DecodeRuneInString(rest)
		if fold(got) != want {
			return 0, false
		}
		rest = rest[size:]
	}
	return len(s) - len(rest), true
}

// cutSnippet takes the surroundings of s[start:end] as one line: whole words where there are some, whole runes always, white space runs
// as one blank.
func cutSnippet(s string, start, end int) (string, [2]int) {
	from, to := wordStart(s, max(0, start-snippetBefore), start), wordEnd(s, end, min(len(s), end+snippetAfter))
	before := strings.TrimLeft(oneLine(s[from:start]), " ")
	found := oneLine(s[start:end])
	return before + found + strings.TrimRight(oneLine(s[end:to]), " "), [2]int{len(before), len(before) + len(found)}
}

// wordStart is where the first whole word of s[from:start] begins; without one, where its first rune does.
func wordStart(s string, from, start int) int {
	for from > 0 && !utf8.RuneStart(s[from]) {
		from--
	}
	if from == 0 || endsBlank(s[:from]) {
		return from
	}
	if blank := strings.IndexFunc(s[from:start], unicode.IsSpace); blank >= 0 {
		return from + blank
	}
	return from
}

// wordEnd is where the last whole word of s[end:to] ends; without one, where its last rune does.
func wordEnd(s string, end, to int) int {
	for to < len(s) && !utf8.RuneStart(s[to]) {
		to++
	}
	if r, _ := utf8.DecodeRuneInString(s[to:]); to == len(s) || unicode.IsSpace(r) {
		return to
	}
	if blank := strings.LastIndexFunc(s[end:to], unicode.IsSpace); blank >= 0 {
		return end + blank
	}
	return to
}

func endsBlank(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return unicode.IsSpace(r)
}

// oneLine writes every run of white space as one blank, at the edges too, so that parts may be joined.
func oneLine(s string) string {
	var out strings.Builder
	blank := false
	for _, r := range s {
		if unicode.IsSpace(r) {
			blank = true
			continue
		}
		if blank {
			out.WriteByte(' ')
		}
		blank = false
		out.WriteRune(r)
	}
	if blank {
		out.WriteByte(' ')
	}
	return out.String()
}
