package policy

import (
	"cmp"
	"fmt"
	"strings"

	"cordboard/core"
	"cordboard/core/key"
)

// SendMatch selects sessions by the fields that are present; the zero value matches every session.
type SendMatch struct {
	Channel      string        // compared without case
	ChatType     core.ChatType // read by key.ReadChatType
	KeyPrefix    string        // of the key with or without `agent:<id>:`, byte for byte
	RawKeyPrefix string        // of the key as stored, byte for byte
}

// SendRule is one of session.sendPolicy.rules.
type SendRule struct {
	Match  SendMatch
	Action core.SendPolicy // SendAllow or SendDeny
}

// SendPolicy is session.sendPolicy.
type SendPolicy struct {
	Rules   []SendRule
	Default core.SendPolicy // blank is SendAllow
}

// Sending is what the send policy asks about a session.
type Sending struct {
	Key      string
	Channel  string        // blank: the key's
	ChatType core.ChatType // blank: the key's
	Override core.SendPolicy
}

// SendingTo is what the send policy asks about a stored session: its recorded channel, else its last one.
func SendingTo(s *core.Session) Sending {
	return Sending{
		Key: s.Key, Channel: cmp.Or(strings.TrimSpace(s.Channel), s.LastChannel),
		ChatType: key.ReadChatType(string(s.ChatType)), Override: s.SendPolicy,
	}
}

// MaySend decides whether anything may be sent in or from a session (session-tools.md §7): its own override, else any matching deny,
// else any matching allow, else the default. The order of the rules does not matter.
func (r *Rules) MaySend(s Sending) core.Verdict {
	if s.Override == core.SendAllow || s.Override == core.SendDeny {
		return sendVerdict(s, s.Override, "session override", "",
			"its own override says deny, set by the operator or by /send in its chat; allow or inherit would be accepted")
	}
	s.Channel = strings.ToLower(cmp.Or(strings.TrimSpace(s.Channel), key.Channel(s.Key)))
	s.ChatType = cmp.Or(s.ChatType, key.ChatType(s.Key))
	for _, action := range [...]core.SendPolicy{core.SendDeny, core.SendAllow} {
		for i, rule := range r.Send.Rules {
			if rule.Action == action && r.matches(rule.Match, s) {
				text := fmt.Sprintf("rules[%d] %s", i, rule.Match)
				configKey := fmt.Sprintf("%s[%d]", keySendRules, i)
				return sendVerdict(s, action, text, configKey, fmt.Sprintf("%s %s says deny", configKey, rule.Match))
			}
		}
	}
	return sendVerdict(s, cmp.Or(r.Send.Default, core.SendAllow), "default", keySendDefault,
		keySendDefault+` is "deny" and no rule allows it; an allow rule, the session's own override or "allow" would be accepted`)
}

func sendVerdict(s Sending, action core.SendPolicy, rule, configKey, denied string) core.Verdict {
	v := core.Verdict{Allowed: action != core.SendDeny, Rule: rule, ConfigKey: configKey}
	if !v.Allowed {
		v.Message = fmt.Sprintf("the send policy denies session %q: %s", s.Key, denied)
	}
	return v
}

// matches reports whether every field that is present fits the session.
func (r *Rules) matches(m SendMatch, s Sending) bool {
	if channel := strings.TrimSpace(m.Channel); channel != "" && !strings.EqualFold(channel, s.Channel) {
		return false
	}
	if m.ChatType != core.ChatUnknown && m.ChatType != s.ChatType {
		return false
	}
	if prefix := strings.TrimSpace(m.RawKeyPrefix); !strings.HasPrefix(s.Key, prefix) {
		return false
	}
	prefix := strings.TrimSpace(m.KeyPrefix)
	if prefix == "" || strings.HasPrefix(s.Key, prefix) {
		return true
	}
	parts, ok := key.Parse(s.Key)
	return ok && (strings.HasPrefix(parts.Rest, prefix) || strings.HasPrefix("agent:"+r.Names.AgentOf(s.Key)+":"+parts.Rest, prefix))
}

// String writes the match out as in the configuration.
func (m SendMatch) String() string {
	var fields []string
	for _, f := range [...]struct{ name, value string }{
		{"channel", m.Channel}, {"chatType", string(m.ChatType)}, {"keyPrefix", m.KeyPrefix}, {"rawKeyPrefix", m.RawKeyPrefix},
	} {
		if f.value != "" {
			fields = append(fields, fmt.Sprintf("%s: %q", f.name, f.value))
		}
	}
	if len(fields) == 0 {
		return "{ any session }"
	}
	return "{ " + strings.Join(fields, ", ") + " }"
}
