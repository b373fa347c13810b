package safe

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Bounds of one grapheme cluster. Real text stays below them: six marks are a Tibetan stack, three joins a family of four.
const (
	maxMarks = 6
	maxJoins = 4
	maxLinks = 5
)

const (
	zwnj         = '\u200C'
	zwj          = '\u200D'
	textStyle    = '\uFE0E'
	emojiStyle   = '\uFE0F'
	keycap       = '\u20E3'
	tagBase      = 0xE0000
	syllableFrom = 0xAC00
	syllableTo   = 0xD7A3
	finals       = 28 // syllables per leading consonant and vowel; the first of them is open
)

type class uint8

const (
	classBase   class = iota // draws cells of its own
	classMark                // combines with what stands before it
	classJoiner              // ZWJ, ZWNJ
	classStyle               // the two variation selectors for emoji
	classTone                // emoji skin tone
	classJamo                // conjoining Hangul
	classHidden              // never emitted
)

// prepended joins what follows it, whatever that is: a border too. Historic letters that look like nothing in a terminal.
var prepended = &unicode.RangeTable{
	R16: []unicode.Range16{{0x0D4E, 0x0D4E, 1}},
	R32: []unicode.Range32{
		{0x111C2, 0x111C3, 1},
		{0x113D1, 0x113D1, 1},
		{0x1193F, 0x1193F, 1},
		{0x11941, 0x11941, 1},
		{0x11A84, 0x11A89, 1},
		{0x11D46, 0x11D46, 1},
		{0x11F02, 0x11F02, 1},
	},
}

// linkers are the viramas that pull the next consonant into the cluster (GB9c).
var linkers = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0x094D, 0x0D4D, 0x80},
		{0x0ACD, 0x0ACD, 1},
		{0x1039, 0x1039, 1},
		{0x17D2, 0x17D2, 1},
		{0x1A60, 0x1A60, 1},
		{0x1B44, 0x1B44, 1},
		{0x1BAB, 0x1BAB, 1},
		{0xA9C0, 0xA9C0, 1},
		{0xAAF6, 0xAAF6, 1},
	},
	R32: []unicode.Range32{
		{0x10A3F, 0x10A3F, 1},
		{0x11133, 0x11133, 1},
		{0x1193E, 0x1193E, 1},
		{0x11A47, 0x11A47, 1},
		{0x11A99, 0x11A99, 1},
		{0x11F42, 0x11F42, 1},
	},
}

// joinerScripts are written with ZWJ or ZWNJ between letters.
var joinerScripts = []*unicode.RangeTable{
	unicode.Arabic, unicode.Syriac, unicode.Devanagari, unicode.Bengali, unicode.Gurmukhi, unicode.Gujarati, unicode.Oriya,
	unicode.Tamil, unicode.Telugu, unicode.Kannada, unicode.Malayalam, unicode.Sinhala, unicode.Khmer, unicode.Myanmar,
}

func classOf(r rune) class {
	switch {
	case plainLetter(r):
		return classBase
	case r == zwj || r == zwnj:
		return classJoiner
	case r == textStyle || r == emojiStyle:
		return classStyle
	case r >= 0x1F3FB && r <= 0x1F3FF:
		return classTone
	case invisible(r):
		return classHidden
	case isJamo(r):
		return classJamo
	case unicode.Is(unicode.M, r) || r == 0x0E33 || r == 0x0EB3 || r == 0xFF9E || r == 0xFF9F:
		return classMark // with Thai and Lao SARA AM and the halfwidth voiced marks, which attach like marks
	}
	return classBase
}

// plainLetter is a quick yes for most text: Latin, Greek, Cyrillic, kana, ideographs, Hangul syllables.
func plainLetter(r rune) bool {
	return r >= 0xA1 && r < 0x300 && r != 0xAD || r >= 0x3A3 && r <= 0x482 || r >= 0x3041 && r <= 0x3096 || r >= 0x30A1 && r <= 0x30FF ||
		r >= 0x3400 && r < 0xA000 || isSyllable(r)
}

// invisible tells of runes that draw nothing, steer the terminal or the reading order, or whose width cannot be known.
func invisible(r rune) bool {
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Zl, unicode.Zp, unicode.Other_Default_Ignorable_Code_Point,
		unicode.Variation_Selector, prepended) || unassigned(r)
}

// unassigned excepts the blocks that Unicode fills year by year with wide ideographs and emoji.
func unassigned(r rune) bool {
	future := r >= 0x1F300 && r <= 0x1FAFF || r >= 0x20000 && r <= 0x3FFFD && r&0xFFFE != 0xFFFE
	return !future && unicode.Is(unicode.Cn, r)
}

func isTag(r rune) bool { return r > tagBase && r < tagBase+0x80 }

func isJamo(r rune) bool {
	return r >= 0x1100 && r <= 0x11FF || r >= 0xA960 && r <= 0xA97C || r >= 0xD7B0 && r <= 0xD7FB
}

func isLeadingJamo(r rune) bool {
	return r >= 0x1100 && r < 0x115F || r >= 0xA960 && r <= 0xA97C
}

func isVowelJamo(r rune) bool { return r > 0x1160 && r <= 0x11A7 || r >= 0xD7B0 && r <= 0xD7C6 }

func isFinalJamo(r rune) bool { return r >= 0x11A8 && r <= 0x11FF || r >= 0xD7CB && r <= 0xD7FB }

func isSyllable(r rune) bool { return r >= syllableFrom && r <= syllableTo }

// isPictograph leaves out the reserved ones that are drawn as marks.
func isPictograph(r rune) bool { return unicode.Is(pictographs, r) && !unassigned(r) }

func joinsLetters(r rune) bool { return unicode.In(r, joinerScripts...) && classOf(r) == classBase }

// keeps tells whether r may stand where it stands, and counts it. next is the index of the rune after it.
func (c *cleaner) keeps(r rune, next int) bool {
	switch classOf(r) {
	case classBase:
		c.begin(r)
		return true
	case classMark:
		return c.base != 0 && c.marks < maxMarks && c.attach(r)
	case classJoiner:
		return c.keepsJoiner(r, c.at(next))
	case classStyle:
		return isPictograph(c.prev) || strings.ContainsRune("0123456789#*", c.prev) && c.prev != 0 && c.at(next) == keycap
	case classTone:
		return isPictograph(c.prev) || c.prev == emojiStyle && isPictograph(c.base)
	case classJamo:
		return c.keepsJamo(r)
	}
	return false
}

func (c *cleaner) at(i int) rune {
	if i >= len(c.src) {
		return 0
	}
	r, _ := utf8.DecodeRuneInString(c.src[i:])
	return r
}

// begin starts a new base, unless a joiner or linker pulls r into the cluster before it.
func (c *cleaner) begin(r rune) {
	joins, links := 0, 0
	if c.prev == zwj && isPictograph(r) {
		joins = c.joins
	}
	if c.linked {
		links = c.links
	}
	marks := 0
	if isLeadingJamo(c.prev) && isSyllable(r) {
		marks = c.marks + 1
	}
	c.startBase(r)
	c.joins, c.links, c.marks = joins, links, marks
}

func (c *cleaner) attach(r rune) bool {
	if unicode.Is(linkers, r) {
		if c.links >= maxLinks {
			return false
		}
		c.links, c.linked = c.links+1, true
	}
	c.marks++
	c.prev = r
	return true
}

func (c *cleaner) keepsJoiner(r, next rune) bool {
	if c.prev != zwj && c.prev != zwnj && joinsLetters(c.base) && joinsLetters(next) {
		return true
	}
	emoji := isPictograph(c.prev) || (c.prev == emojiStyle || classOf(c.prev) == classTone) && isPictograph(c.base)
	if r != zwj || !emoji || !isPictograph(next) || c.joins >= maxJoins {
		return false
	}
	c.joins++
	return true
}

// keepsJamo lets a vowel stand only after a leading consonant or vowel, a final only after a vowel or final. A leading consonant
// stands anywhere, but counts as a mark after another one, which it joins.
func (c *cleaner) keepsJamo(r rune) bool {
	openSyllable := isSyllable(c.prev) && (c.prev-syllableFrom)%finals == 0
	afterVowel := isVowelJamo(c.prev) || openSyllable
	var fits bool
	switch {
	case isLeadingJamo(r):
		if !isLeadingJamo(c.prev) {
			c.startBase(r)
			return true
		}
		fits = true
	case isVowelJamo(r):
		fits = isLeadingJamo(c.prev) || afterVowel
	default:
		fits = afterVowel || isFinalJamo(c.prev) || isSyllable(c.prev)
	}
	if !fits || c.marks >= maxMarks {
		return false
	}
	c.marks++
	return true
}
