package key

import "strings"

// Canonical turns what a caller typed into the key a new session of that name is stored under: `main` or the main key is the calling
// agent's main session (the default agent's for a blank callerAgent), `agent:<id>:main` that agent's; a bare key belongs to the
// default agent; an agent id is lower-cased and the rest kept byte for byte. Blank and malformed keys come back trimmed, for Valid to
// refuse. It is idempotent. To find a session that exists use Lookup.
func (n Names) Canonical(input, callerAgent string) string {
	s := strings.TrimSpace(input)
	agent, rest, shape := split(s)
	switch {
	case shape == ShapeMissing, shape == ShapeMalformed:
		return s
	case shape == ShapeAgent && n.isAlias(rest):
		return n.Main(agent)
	case shape == ShapeAgent:
		return agentPrefix + strings.ToLower(agent) + ":" + rest
	case n.isAlias(s):
		return n.Main(callerAgent)
	case strings.EqualFold(s, globalKey), strings.EqualFold(s, unknownKey):
		return strings.ToLower(s)
	}
	return agentPrefix + n.DefaultAgent() + ":" + s
}

// isAlias reports whether a word stands for a main session, in any case.
func (n Names) isAlias(s string) bool {
	return strings.EqualFold(s, DefaultMain) || strings.EqualFold(s, n.MainKey())
}

// KeyShaped reports whether a sessionKey parameter can only mean a key: `main`, the main key, `agent:`, `cron:`, `hook:`, `node-` or
// `node:` in front, or `:group:` or `:channel:` in it. Anything else may be a sessionId (session-tools.md §1).
func (n Names) KeyShaped(input string) bool {
	s := strings.TrimSpace(input)
	if n.isAlias(s) || n.global && strings.EqualFold(s, globalKey) || groupShaped(s) {
		return true
	}
	for _, prefix := range [...]string{agentPrefix, "cron:", "hook:", "node-", "node:"} {
		if hasPrefixFold(s, prefix) {
			return true
		}
	}
	return false
}

// Lookup says what a sessionKey parameter may mean.
type Lookup struct {
	Input string // trimmed
	// Keys are the stored keys it may mean, the first that exists wins: for an alias the main session, else the key byte for byte as
	// given and then its canonical form. Empty for a reserved name.
	Keys []string
	// Canonical is the key that the input names when none of Keys exists; scope is asked about it.
	Canonical string
	// KeyShaped input that is not stored is a missing session; other input is then tried as a sessionId.
	KeyShaped bool
}

// Lookup prepares the resolution of a sessionKey parameter, the same for every tool: alias → exact key → sessionId (session-tools.md
// §1). A full key is found byte for byte before `agent:<id>:main` is read as an alias, so whatever a list shows can be read. The error
// is Valid's.
func (n Names) Lookup(input, callerAgent string) (Lookup, error) {
	s := strings.TrimSpace(input)
	if err := Valid(s); err != nil {
		return Lookup{}, err
	}
	l := Lookup{Input: s, Canonical: n.Canonical(s, callerAgent), KeyShaped: n.KeyShaped(s)}
	switch {
	case n.Reserved(s):
	case !n.isAlias(s):
		l.Keys = distinct(s, l.Canonical)
	case n.agent(callerAgent) == n.DefaultAgent(): // only then can a stored bare `main` be the caller's own
		l.Keys = distinct(l.Canonical, s)
	default:
		l.Keys = []string{l.Canonical}
	}
	return l, nil
}

func distinct(a, b string) []string {
	if a == b {
		return []string{a}
	}
	return []string{a, b}
}
