package ui

import (
	"strings"
	"unicode/utf8"

	"cordboard/core"
)

// candidate is a session as the filter reads it: in lower case, once for every forest and not once for every key pressed.
type candidate struct {
	head  *core.Head
	agent string
	id    string // the key, and what else is an id
	names []string
}

// newCandidate reads a head and what the board told beside it; about may be nil.
func newCandidate(h *core.Head, agent string, about *about) candidate {
	c := candidate{head: h, agent: agent, id: strings.ToLower(h.Key)}
	for _, name := range [...]string{h.Title, h.Channel} {
		if name != "" {
			c.names = append(c.names, strings.ToLower(name))
		}
	}
	if about != nil {
		c.id += "\n" + about.id
		c.names = append(c.names, about.names...)
	}
	return c
}

// word is a word of a query: how it is looked for among ids and among names.
type word struct {
	text         string
	inID, inName func(word, text string) bool
}

// wordsOf takes a query apart. A number must stand as it is written, and so must among ids what could be a piece of a UUID: a few hex
// digits are found anywhere in them.
func wordsOf(query string) []word {
	var list []word
	for _, text := range strings.Fields(strings.ToLower(query)) {
		w := word{text, near, near}
		if strings.Trim(text, "0123456789abcdef-") == "" {
			w.inID = asWritten
		}
		if strings.Trim(text, "0123456789") == "" {
			w.inName = asWritten
		}
		list = append(list, w)
	}
	return list
}

// matches reports whether every word is found in one of the candidate's fields.
func (c *candidate) matches(words []word) bool {
	for i := range words {
		if !c.holds(&words[i]) {
			return false
		}
	}
	return true
}

// holds looks for the letters of a word in a field, in their order and near each other.
func (c *candidate) holds(w *word) bool {
	if w.inID(w.text, c.id) {
		return true
	}
	for _, name := range c.names {
		if w.inName(w.text, name) {
			return true
		}
	}
	return false
}

func asWritten(word, text string) bool { return strings.Contains(text, word) }

// near reports whether the letters of word stand in text in their order, within a little more than twice its length. Letters beyond
// ASCII have to stand together.
func near(word, text string) bool {
	for i := range len(word) {
		if word[i] >= utf8.RuneSelf {
			return strings.Contains(text, word)
		}
	}
	for {
		at := strings.IndexByte(text, word[0])
		if at < 0 {
			return false
		}
		text = text[at+1:]
		if follows(word[1:], text[:min(2*len(word)+1, len(text))]) {
			return true
		}
	}
}

// follows reports whether the bytes of word stand in text in their order.
func follows(word, text string) bool {
	for i := range len(word) {
		at := strings.IndexByte(text, word[i])
		if at < 0 {
			return false
		}
		text = text[at+1:]
	}
	return true
}
