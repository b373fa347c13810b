package tool

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"unicode/utf8"

	"cordboard/core"
)

// A mask keeps the first and last characters of a credential of at least maskMin characters, so that a person can tell which one it is.
const (
	maskMin   = 18
	maskFirst = 6
	maskLast  = 4
	maskAll   = "***"
	maskGap   = "…"
)

// Redactor masks what looks like a credential: the forms that secrets.go knows and further patterns. It only ever makes new text; what it
// is given stays as it is. A nil *Redactor is "mask nothing" wherever this package takes one. Safe for concurrent use.
type Redactor struct{ patterns []*regexp.Regexp }

// NewRedactor takes the patterns of logging.redactPatterns (RE2, in addition to the built-in forms; of a pattern with groups the last one
// that took part is masked, else the whole match). They see one decoded text at a time. A pattern that does not compile is an error of
// code config that names it.
func NewRedactor(patterns []string) (*Redactor, error) {
	r := &Redactor{}
	for i, p := range patterns {
		re, err := regexp.Compile(p)
		if err != nil {
			return nil, core.Errorf(core.CodeConfig, "logging.redactPatterns[%d] is no regular expression (RE2): %w", i, err).
				Because(fmt.Sprintf("logging.redactPatterns[%d]", i))
		}
		r.patterns = append(r.patterns, re)
	}
	return r, nil
}

// Mask returns text with every credential masked, and whether there was one.
func (r *Redactor) Mask(text string) (string, bool) {
	masked, changed := r.mask([]byte(text))
	if !changed {
		return text, false
	}
	return string(masked), true
}

// mask masks a text until nothing more of it looks like a credential: what stands around a masked one may look like one only then, as in
// `API_KEY:token=x`. Further patterns see the text once, for what they ask for may be in every mask.
func (r *Redactor) mask(text []byte) (masked []byte, changed bool) {
	const most = 8 // masks only ever grow together, so a text settles long before
	spans := r.find(text)
	for range most {
		if len(spans) == 0 {
			break
		}
		text, changed = maskSpans(text, spans), true
		spans = secrets(text)
	}
	return text, changed
}

// MaskJSON masks inside the strings of a JSON value; of a member whose name says so (`apiKey`, `password`, `OPENAI_API_KEY`) the whole
// string. Everything else stays byte for byte, and a value without a credential is returned itself.
func (r *Redactor) MaskJSON(raw json.RawMessage) (json.RawMessage, bool) {
	changed := false
	masked := eachString(core.Member{Value: raw}, func(name, literal []byte) []byte {
		after, masked := r.maskLiteral(name, literal)
		changed = changed || masked
		return after
	})
	return masked, changed
}

// maskLiteral masks inside a string literal; name is the literal of its key, nil when it has none.
func (r *Redactor) maskLiteral(name, literal []byte) ([]byte, bool) {
	text := literal[1 : len(literal)-1]
	if bytes.IndexByte(text, '\\') >= 0 {
		decoded, _ := core.Unquote(literal)
		text = []byte(decoded)
	}
	masked, changed := r.mask(text)
	if len(name) > 2 && credentialName(name[1:len(name)-1]) {
		if from := afterScheme(text, 0); isSecret(text[from:], true) {
			masked, changed = maskSpans(text, []span{{from: from, to: len(text)}}), true
		}
	}
	if !changed {
		return literal, false
	}
	return AppendString(make([]byte, 0, len(literal)), masked), true
}

// span is a credential in a text. All says that not even its ends are shown.
type span struct {
	from, to int
	all      bool
}

// find returns the credentials of a text in order, none overlapping another.
func (r *Redactor) find(text []byte) []span {
	spans := secrets(text)
	if len(r.patterns) == 0 {
		return spans
	}
	for _, re := range r.patterns {
		for _, at := range re.FindAllSubmatchIndex(text, -1) {
			from, to := at[0], at[1]
			for g := 2; g < len(at); g += 2 {
				if at[g] >= 0 {
					from, to = at[g], at[g+1]
				}
			}
			if from < to && !isMasked(text[from:to]) {
				spans = append(spans, span{from: from, to: to})
			}
		}
	}
	return united(spans)
}

func united(spans []span) []span {
	slices.SortFunc(spans, func(a, b span) int { return cmp.Compare(a.from, b.from) })
	kept := spans[:0]
	for _, s := range spans {
		if n := len(kept); n > 0 && s.from < kept[n-1].to {
			kept[n-1].to = max(kept[n-1].to, s.to)
			kept[n-1].all = kept[n-1].all || s.all
			continue
		}
		kept = append(kept, s)
	}
	return kept
}

func maskSpans(text []byte, spans []span) []byte {
	out := make([]byte, 0, len(text))
	done := 0
	for _, s := range spans {
		out = append(out, text[done:s.from]...)
		out = append(out, maskOf(text[s.from:s.to], s.all)...)
		done = s.to
	}
	return append(out, text[done:]...)
}

func maskOf(secret []byte, all bool) string {
	runes := []rune(string(secret))
	if all || len(runes) < maskMin {
		return maskAll
	}
	return string(runes[:maskFirst]) + maskGap + string(runes[len(runes)-maskLast:])
}

// isMasked reports whether a text is what maskOf makes, so that masking twice is masking once.
func isMasked(text []byte) bool {
	if string(text) == maskAll {
		return true
	}
	if len(text) > (maskFirst+maskLast)*utf8.UTFMax+len(maskGap) || !bytes.Contains(text, []byte(maskGap)) {
		return false
	}
	runes := []rune(string(text))
	return len(runes) == maskFirst+1+maskLast && string(runes[maskFirst]) == maskGap
}
