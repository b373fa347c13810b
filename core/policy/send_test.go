package policy_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"cordboard/core"
	"cordboard/core/key"
	"cordboard/core/policy"
)

func TestMaySend(t *testing.T) {
	deny := func(m policy.SendMatch) policy.SendRule { return policy.SendRule{Match: m, Action: core.SendDeny} }
	allow := func(m policy.SendMatch) policy.SendRule { return policy.SendRule{Match: m, Action: core.SendAllow} }
	discordGroup := policy.SendMatch{Channel: "discord", ChatType: core.ChatGroup}
	list := func(rules ...policy.SendRule) []policy.SendRule { return rules }
	const override, byDefault = "session override", "default"
	type match = policy.SendMatch
	cases := []struct {
		id        string
		rules     []policy.SendRule
		otherwise core.SendPolicy
		session   policy.Sending
		allowed   bool
		rule      string
	}{
		{"G148", nil, "", policy.Sending{Key: mainKey}, true, byDefault},
		{"G149", nil, "allow", policy.Sending{Key: mainKey, Override: "deny"}, false, override},
		{"override allows over a deny rule", list(deny(match{})), "deny", policy.Sending{Key: mainKey, Override: "allow"}, true, override},
		{
			"G150", list(deny(discordGroup)), "allow",
			policy.Sending{Key: "agent:main:x", Channel: " Discord", ChatType: "group"},
			false,
			`rules[0] { channel: "discord", chatType: "group" }`,
		},
		{
			"G150 by key", list(deny(discordGroup)), "allow",
			policy.Sending{Key: "agent:main:discord:group:dev"},
			false,
			`rules[0] { channel: "discord", chatType: "group" }`,
		},
		{"all fields must match", list(deny(discordGroup)), "allow", policy.Sending{Key: "agent:main:discord:direct:dev"}, true, byDefault},
		{"another channel", list(deny(discordGroup)), "allow", policy.Sending{Key: "agent:main:slack:group:dev"}, true, byDefault},
		{"what is recorded goes before the key", list(deny(discordGroup)), "", policy.Sending{Key: "agent:main:discord:group:1", Channel: "webchat"}, true, byDefault},
		{"G151", list(deny(match{KeyPrefix: "cron:"})), "", policy.Sending{Key: "cron:job-1"}, false, `rules[0] { keyPrefix: "cron:" }`},
		{"G151 of an agent", list(deny(match{KeyPrefix: " cron:"})), "", policy.Sending{Key: "agent:main:cron:job-1"}, false, `rules[0] { keyPrefix: " cron:" }`},
		{"keyPrefix with the agent", list(deny(match{KeyPrefix: "agent:ops:"})), "", policy.Sending{Key: opsMain}, false, `rules[0] { keyPrefix: "agent:ops:" }`},
		{
			"keyPrefix with the default agent on a bare key", list(deny(match{KeyPrefix: "agent:main:cron:"})), "",
			policy.Sending{Key: "cron:x"},
			false, `rules[0] { keyPrefix: "agent:main:cron:" }`,
		},
		{"keyPrefix keeps case", list(deny(match{KeyPrefix: "matrix:group:!abc"})), "", policy.Sending{Key: "agent:main:matrix:group:!AbC"}, true, byDefault},
		{"rawKeyPrefix", list(deny(match{RawKeyPrefix: "agent:ops:"})), "", policy.Sending{Key: opsMain}, false, `rules[0] { rawKeyPrefix: "agent:ops:" }`},
		{"rawKeyPrefix is not the rest", list(deny(match{RawKeyPrefix: "cron:"})), "", policy.Sending{Key: "agent:main:cron:x"}, true, byDefault},
		{"rawKeyPrefix is not the canonical form", list(deny(match{RawKeyPrefix: "agent:main:"})), "", policy.Sending{Key: "cron:x"}, true, byDefault},
		{
			"G153", list(allow(match{Channel: "telegram"})), "deny",
			policy.Sending{Key: "agent:main:x", Channel: "telegram"},
			true,
			`rules[0] { channel: "telegram" }`,
		},
		{"G153 others", list(allow(match{Channel: "telegram"})), "deny", policy.Sending{Key: "agent:main:x", Channel: "slack"}, false, byDefault},
		{
			"any deny beats any allow", list(allow(match{}), deny(match{ChatType: "direct"})), "allow",
			policy.Sending{Key: "agent:main:direct:1"},
			false, `rules[1] { chatType: "direct" }`,
		},
		{
			"a thread of a denied room", list(deny(match{Channel: "telegram", ChatType: "group"})), "",
			policy.Sending{Key: "agent:main:telegram:group:-100:topic:7"},
			false, `rules[0] { channel: "telegram", chatType: "group" }`,
		},
		{"G156", list(allow(match{}), allow(match{}), deny(match{})), "", policy.Sending{Key: "x"}, false, "rules[2] { any session }"},
		{"G156 reserved", list(deny(match{})), "allow", policy.Sending{Key: "unknown"}, false, "rules[0] { any session }"},
	}
	for _, c := range cases {
		t.Run(c.id, func(t *testing.T) {
			r := &policy.Rules{Send: policy.SendPolicy{Rules: c.rules, Default: c.otherwise}}
			verdict := r.MaySend(c.session)
			assert.Equal(t, c.allowed, verdict.Allowed)
			assert.Equal(t, c.rule, verdict.Rule)
			assert.Equal(t, c.allowed, verdict.Message == "")
			switch c.rule {
			case override:
				assert.Empty(t, verdict.ConfigKey)
			case byDefault:
				assert.Equal(t, "session.sendPolicy.default", verdict.ConfigKey)
			default:
				assert.Equal(t, "session.sendPolicy."+c.rule[:len("rules[0]")], verdict.ConfigKey)
			}
			if !c.allowed {
				assert.Contains(t, verdict.Message, c.session.Key)
				assert.Contains(t, verdict.Message, map[bool]string{true: "override", false: verdict.ConfigKey}[c.rule == override])
			}
		})
	}
}

func TestSendingTo(t *testing.T) {
	s := &core.Session{Key: "agent:main:x", Channel: " ", LastChannel: "slack", ChatType: "dm", SendPolicy: core.SendDeny}
	assert.Equal(t, policy.Sending{Key: "agent:main:x", Channel: "slack", ChatType: core.ChatDirect, Override: core.SendDeny}, policy.SendingTo(s))
	s.Channel = "telegram"
	assert.Equal(t, "telegram", policy.SendingTo(s).Channel)
}

func TestKeyPrefixOfABareKeyFollowsTheDefaultAgent(t *testing.T) {
	r := &policy.Rules{
		Names: key.NewNames(core.Naming{DefaultAgent: "ops"}, ""),
		Send:  policy.SendPolicy{Rules: []policy.SendRule{{Match: policy.SendMatch{KeyPrefix: "agent:ops:"}, Action: core.SendDeny}}},
	}
	assert.False(t, r.MaySend(policy.Sending{Key: "hook:1"}).Allowed)
	assert.True(t, r.MaySend(policy.Sending{Key: "agent:main:hook:1"}).Allowed)
}
