package key

import (
	"strings"
	"unicode/utf8"

	"cordboard/core"
)

const agentPrefix = "agent:"

// Parts are the fields of a key. Fields that the key does not have are empty; all text but Agent and Channel is as written.
type Parts struct {
	Agent    string        // lower case; empty for a bare key, which belongs to the default agent
	Rest     string        // everything after `agent:<id>:`, suffixes included
	Channel  string        // lower case; of `<channel>:group|channel|direct:<id>`
	Account  string        // of `<channel>:<account>:direct:<peer>`
	ChatType core.ChatType // of the group, channel or direct form, ChatUnknown for any other key
	ID       string        // group, channel or peer, without thread and topic
	Thread   string        // of the last `:thread:<id>`
	Topic    string        // of the last `:topic:<n>`
	Parent   string        // the key before the last `:thread:` or `:topic:`
}

// Parse splits a key into its fields. It reports false for a blank key and for one that starts with `agent:` but lacks a valid agent
// id or a rest (see Shape). White space around the key is ignored.
func Parse(key string) (Parts, bool) {
	key = strings.TrimSpace(key)
	agent, rest, shape := split(key)
	if shape != ShapeAgent && shape != ShapeBare {
		return Parts{}, false
	}
	p := Parts{Agent: strings.ToLower(agent), Rest: rest, Parent: ThreadParent(key)}
	p.setChat(p.cutSuffixes())
	return p, true
}

// cutSuffixes takes every thread and topic off the rest and returns what is left.
func (p *Parts) cutSuffixes() string {
	body := p.Rest
	for {
		at, word := lastSuffix(body)
		if at <= 0 {
			return body
		}
		id := body[at+len(word):]
		if word == threadWord && p.Thread == "" {
			p.Thread = id
		} else if word == topicWord && p.Topic == "" {
			p.Topic = id
		}
		body = body[:at]
	}
}

// setChat reads `direct:<peer>`, `<channel>:group|channel|direct:<id>` and `<channel>:<account>:direct:<peer>`.
func (p *Parts) setChat(body string) {
	first, tail, ok := strings.Cut(body, ":")
	if !ok || tail == "" {
		return
	}
	if chatWord(first) == core.ChatDirect {
		p.ChatType, p.ID = core.ChatDirect, tail
		return
	}
	if first == "" || ownWord(first) {
		return
	}
	second, id, ok := strings.Cut(tail, ":")
	if !ok || id == "" {
		return
	}
	if chat := chatWord(second); chat != core.ChatUnknown {
		p.Channel, p.ChatType, p.ID = strings.ToLower(first), chat, id
		return
	}
	third, peer, ok := strings.Cut(id, ":")
	if ok && peer != "" && second != "" && chatWord(third) == core.ChatDirect {
		p.Channel, p.Account, p.ChatType, p.ID = strings.ToLower(first), second, core.ChatDirect, peer
	}
}

// ownWord reports whether a first field names a kind of session and so cannot be a channel.
func ownWord(word string) bool {
	for _, w := range [...]string{"cron", "hook", "node", "subagent", "acp"} {
		if strings.EqualFold(word, w) {
			return true
		}
	}
	return false
}

func chatWord(word string) core.ChatType {
	switch {
	case strings.EqualFold(word, "group"):
		return core.ChatGroup
	case strings.EqualFold(word, "channel"):
		return core.ChatChannel
	case strings.EqualFold(word, "direct"), strings.EqualFold(word, "dm"):
		return core.ChatDirect
	}
	return core.ChatUnknown
}

// AgentID is the agent a key names, in lower case, and empty for a bare or malformed key. Names.AgentOf answers whose session it is.
func AgentID(key string) string {
	agent, _, _ := split(strings.TrimSpace(key))
	return strings.ToLower(agent)
}

// Channel is the channel a group, channel or direct key names, in lower case, else empty.
func Channel(key string) string {
	p, _ := Parse(key)
	return p.Channel
}

// Shapes of a text given as a key.
const (
	ShapeMissing   = "missing"         // nothing but white space
	ShapeAgent     = "agent"           // agent:<valid agent id>:<rest>
	ShapeMalformed = "malformed_agent" // starts with agent: and is not that
	ShapeBare      = "legacy_or_alias" // anything else: an alias, a bare key, a session id
)

// Shape says which of the four shapes a text has.
func Shape(s string) string {
	_, _, shape := split(strings.TrimSpace(s))
	return shape
}

// split cuts a trimmed key into agent id as written and rest. It never allocates.
func split(key string) (agent, rest, shape string) {
	if key == "" {
		return "", "", ShapeMissing
	}
	if !hasPrefixFold(key, agentPrefix) {
		return "", key, ShapeBare
	}
	agent, rest, ok := strings.Cut(key[len(agentPrefix):], ":")
	if !ok || rest == "" || !ValidAgentID(agent) {
		return "", "", ShapeMalformed
	}
	return agent, rest, ShapeAgent
}

// ValidAgentID reports whether id is an agent id, `^[a-z0-9][a-z0-9_-]{0,63}$` in any case; ids are compared in lower case.
func ValidAgentID(id string) bool {
	if id == "" || len(id) > 64 || id[0] == '_' || id[0] == '-' {
		return false
	}
	for i := range len(id) {
		c := id[i] | 0x20
		if letter := 'a' <= c && c <= 'z'; !letter && (id[i] < '0' || id[i] > '9') && id[i] != '_' && id[i] != '-' {
			return false
		}
	}
	return true
}

// Valid returns why a key cannot be stored, as CodeInvalidParams, or nil. It is lenient about what ids hold: control characters are
// kept (and shown as marks), only what could never be looked up again is refused.
func Valid(key string) error {
	switch {
	case strings.TrimSpace(key) == "":
		return core.Errorf(core.CodeInvalidParams, "a session key must not be blank").Accept("main", "agent:<agentId>:<name>", "a sessionId")
	case len(key) > core.MaxKeyBytes:
		return core.Errorf(core.CodeInvalidParams, "the session key starting with %.40q has %d bytes, at most %d are accepted", key, len(key), core.MaxKeyBytes)
	case strings.ContainsRune(key, 0):
		return core.Errorf(core.CodeInvalidParams, "the session key %q holds a NUL character", key)
	case !utf8.ValidString(key):
		return core.Errorf(core.CodeInvalidParams, "the session key %q is not valid UTF-8", key)
	case strings.TrimSpace(key) != key:
		return core.Errorf(core.CodeInvalidParams, "the session key %q starts or ends with white space", key)
	case Shape(key) == ShapeMalformed:
		return core.Errorf(core.CodeInvalidParams,
			"the session key %q starts with `agent:` but lacks an agent id (a-z, 0-9, - and _, at most 64) or a name behind it", key).
			Accept("agent:<agentId>:<name>")
	}
	return nil
}

// LooksLikeSessionID reports whether s, trimmed, is a UUID in its 8-4-4-4-12 form, in any case.
func LooksLikeSessionID(s string) bool {
	s = strings.TrimSpace(s)
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if s[i] != '-' {
				return false
			}
		} else if c := s[i] | 0x20; (s[i] < '0' || s[i] > '9') && (c < 'a' || c > 'f') {
			return false
		}
	}
	return true
}

const (
	threadWord = ":thread:"
	topicWord  = ":topic:"
)

// ThreadParent is the key before the last `:thread:` or `:topic:`, and empty when the key has neither.
func ThreadParent(key string) string {
	key = strings.TrimSpace(key)
	_, rest, _ := split(key)
	at, _ := lastSuffix(rest)
	if at <= 0 {
		return ""
	}
	return strings.TrimSpace(key[:len(key)-len(rest)+at])
}

// lastSuffix finds the last thread or topic in the rest of a key; at is -1 when there is none.
func lastSuffix(rest string) (at int, word string) {
	thread, topic := lastIndexFold(rest, threadWord), lastIndexFold(rest, topicWord)
	if topic > thread {
		return topic, topicWord
	}
	return thread, threadWord
}

// hasPrefixFold compares a prefix of ASCII letters without case.
func hasPrefixFold(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// indexFold is strings.Index without case for an ASCII word that starts with a colon.
func indexFold(s, word string) int {
	for from := 0; ; {
		at := strings.IndexByte(s[from:], ':')
		if at < 0 {
			return -1
		}
		if from += at; hasPrefixFold(s[from:], word) {
			return from
		}
		from++
	}
}

// lastIndexFold is strings.LastIndex without case for an ASCII word that starts with a colon.
func lastIndexFold(s, word string) int {
	for to := len(s); ; {
		at := strings.LastIndexByte(s[:to], ':')
		if at < 0 || hasPrefixFold(s[at:], word) {
			return at
		}
		to = at
	}
}
