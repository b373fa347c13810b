package key_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cordboard/core"
	"cordboard/core/key"
	"cordboard/core/proptest"
)

func names(mainKey, defaultAgent string) key.Names {
	return key.NewNames(core.Naming{MainKey: mainKey, DefaultAgent: defaultAgent}, key.DMMain)
}

var globalNames = key.NewNames(core.Naming{Global: true}, key.DMPerPeer)

func TestNamesNormaliseTheConfiguration(t *testing.T) {
	cases := []struct {
		id                  string
		given               core.Naming
		mainKey, agent      string
		storedMain, aliased string
	}{
		{"B33", core.Naming{MainKey: " Primary ", Global: true}, "primary", "main", "global", "global"},
		{"B34", core.Naming{}, "main", "main", "agent:main:main", "agent:main:main"},
		{"B35", core.Naming{MainKey: "  work "}, "work", "main", "agent:main:work", "agent:main:work"},
		{"A23", core.Naming{MainKey: "work", DefaultAgent: " OPS "}, "work", "ops", "agent:ops:work", "agent:ops:work"},
	}
	for _, c := range cases {
		t.Run(c.id, func(t *testing.T) {
			n := key.NewNames(c.given, "")
			assert.Equal(t, core.Naming{MainKey: c.mainKey, DefaultAgent: c.agent, Global: c.given.Global}, n.Naming())
			assert.Equal(t, c.storedMain, n.Main(""))
			assert.Equal(t, c.aliased, n.Canonical("main", ""))
			assert.True(t, n.IsMain(n.Main("")))
		})
	}
	assert.Equal(t, names("", "").Naming(), key.Names{}.Naming(), "the zero value is an empty configuration")
	assert.Equal(t, "agent:main:main", key.Names{}.Canonical("main", ""))
}

func TestCanonical(t *testing.T) {
	cases := []struct {
		id            string
		n             key.Names
		caller, input string
		want          string
	}{
		{"A17", names("", ""), "main", "agent:main:main", "agent:main:main"},
		{"A23 main", names("work", "ops"), "", "main", "agent:ops:work"},
		{"A23 main key", names("work", "ops"), "", "work", "agent:ops:work"},
		{"A23 full", names("work", "ops"), "", "agent:ops:main", "agent:ops:work"},
		{"A23 full, upper case", names("work", "ops"), "", "agent:ops:MAIN", "agent:ops:work"},
		{"A23 upper case", names("work", "ops"), "", "MAIN", "agent:ops:work"},
		{"A24 group", names("", "ops"), "", "discord:group:123", "agent:ops:discord:group:123"},
		{"A24 other agent", names("", "ops"), "", "agent:alpha:main", "agent:alpha:main"},
		{"A25", names("", "ops"), "", "main", "agent:ops:main"},
		{"A26", names("work", ""), "", "main", "agent:main:work"},
		{"A26 custom", names("work", ""), "", "thread-1", "agent:main:thread-1"},
		{"R061 the calling agent's main", names("work", "ops"), "Beta", " main ", "agent:beta:work"},
		{"R061 its full form", names("work", "ops"), "beta", "agent:beta:main", "agent:beta:work"},
		{"bare keys are the default agent's for any caller", names("", "ops"), "beta", "cron:job-1", "agent:ops:cron:job-1"},
		{"R062 ULID", names("", ""), "", "AGENT:Main:01ARZ3NDEKTSV4RRFFQ69G5FAV", "agent:main:01ARZ3NDEKTSV4RRFFQ69G5FAV"},
		{"R065 room id", names("", ""), "", "agent:main:matrix:group:!AbC:s", "agent:main:matrix:group:!AbC:s"},
		{"inner space is kept", names("", ""), "", "agent:main: x y", "agent:main: x y"},
		{"global", globalNames, "beta", "main", "global"},
		{"global, full", globalNames, "beta", "agent:beta:main", "global"},
		{"global, by name", globalNames, "beta", "Global", "global"},
		{"global, group", globalNames, "beta", "discord:group:1", "agent:main:discord:group:1"},
		{"reserved", names("", ""), "", "unknown", "unknown"},
		{"blank", names("", ""), "", "  ", ""},
		{"malformed", names("", ""), "", " agent::broken ", "agent::broken"},
	}
	for _, c := range cases {
		t.Run(c.id, func(t *testing.T) { assert.Equal(t, c.want, c.n.Canonical(c.input, c.caller)) })
	}
}

func TestDisplay(t *testing.T) {
	cases := []struct {
		id          string
		n           key.Names
		caller, key string
		want        string
	}{
		{"B36 global", globalNames, "ops", "global", "main"},
		{"B36 main", names("", ""), "main", "agent:main:main", "main"},
		{"B36 another agent's main", names("", ""), "main", "agent:ops:main", "agent:ops:main"},
		{"own main under a main key", names("work", ""), "OPS", "agent:ops:work", "main"},
		{"agent ids that share a start", names("", ""), "op", "agent:ops:main", "agent:ops:main"},
		{"not the main key", names("work", ""), "ops", "agent:ops:main", "agent:ops:main"},
		{"D93 operator, global scope", globalNames, "", "global", "main"},
		{"operator", names("", ""), "", "agent:main:main", "agent:main:main"},
		{"a stored mixed-case main is another session", names("", ""), "main", "agent:main:MAIN", "agent:main:MAIN"},
		{"global scope, left-over main", globalNames, "main", "agent:main:main", "agent:main:main"},
	}
	for _, c := range cases {
		t.Run(c.id, func(t *testing.T) { assert.Equal(t, c.want, c.n.Display(c.key, c.caller)) })
	}
}

func TestKeyShaped(t *testing.T) {
	n := names("work", "")
	for _, s := range []string{
		"main", "work", "WORK", "agent:main:main", "cron:daily-report", "hook:1", "node:macbook", "node-mac", " telegram:group:123",
		"slack:channel:c1", "agent:x",
	} {
		assert.True(t, n.KeyShaped(s), "B39 %q", s)
	}
	for _, s := range []string{"random-slug", "d4f5a5a1-9f75-42cf-83a6-8d170e6a1538", "subagent:x", "global", "", "mainly", "nodejs"} {
		assert.False(t, n.KeyShaped(s), "B39 %q", s)
	}
	assert.True(t, globalNames.KeyShaped("global"))
}

func TestLookup(t *testing.T) {
	cases := []struct {
		id            string
		n             key.Names
		caller, input string
		keys          []string
		shaped        bool
	}{
		{"B43", names("", ""), "", " main ", []string{"agent:main:main", "main"}, true},
		{"another agent's alias never means the default agent's bare main", names("", ""), "beta", "main", []string{"agent:beta:main"}, true},
		{"a full key before its alias", names("work", ""), "", "agent:main:main", []string{"agent:main:main", "agent:main:work"}, true},
		{"canonical", names("", ""), "", "agent:main:x", []string{"agent:main:x"}, true},
		{"R064", names("", ""), "", "agent:Main:Test1", []string{"agent:Main:Test1", "agent:main:Test1"}, true},
		{"imported bare cron", names("", "ops"), "beta", "cron:x", []string{"cron:x", "agent:ops:cron:x"}, true},
		{"C64 bare child", names("", ""), "main", "subagent:child-1", []string{"subagent:child-1", "agent:main:subagent:child-1"}, false},
		{
			"a sessionId", names("", ""), "", "d4f5a5a1-9f75-42cf-83a6-8d170e6a1538",
			[]string{"d4f5a5a1-9f75-42cf-83a6-8d170e6a1538", "agent:main:d4f5a5a1-9f75-42cf-83a6-8d170e6a1538"},
			false,
		},
		{"reserved", names("", ""), "", "global", nil, false},
		{"reserved in global scope", globalNames, "", "unknown", nil, false},
		{"bucket", globalNames, "beta", "main", []string{"global"}, true},
		{"bucket by name", globalNames, "beta", "global", []string{"global"}, true},
	}
	for _, c := range cases {
		t.Run(c.id, func(t *testing.T) {
			l, err := c.n.Lookup(c.input, c.caller)
			require.NoError(t, err)
			assert.Equal(t, c.keys, l.Keys)
			assert.Equal(t, c.shaped, l.KeyShaped)
			assert.Equal(t, strings.TrimSpace(c.input), l.Input)
			assert.Equal(t, c.n.Canonical(c.input, c.caller), l.Canonical)
		})
	}
	for _, bad := range []string{"", "  ", "agent:main", "agent::broken", "agent:../../etc/passwd:x", "x\x00y", strings.Repeat("k", 513)} {
		_, err := names("", "").Lookup(bad, "")
		assert.Equal(t, core.CodeInvalidParams, core.CodeOf(err), "%q", bad)
	}
}

func TestReserved(t *testing.T) {
	n := names("", "")
	assert.True(t, n.Reserved("global") && n.Reserved("unknown") && n.Reserved("Unknown"))
	assert.False(t, n.Reserved("agent:main:unknown") || n.Reserved("main"))
	assert.False(t, globalNames.Reserved("global"), "the bucket")
	assert.True(t, globalNames.Reserved("unknown"))
}

func TestAgentOf(t *testing.T) {
	n := names("", "ops")
	assert.Equal(t, "alpha", n.AgentOf("agent:Alpha:x"))
	assert.Equal(t, "ops", n.AgentOf("cron:job-1"))
	assert.Equal(t, "ops", n.AgentOf("global"))
}

func TestDirectAndGroupKeys(t *testing.T) {
	dm := func(scope key.DMScope) key.Names { return key.NewNames(core.Naming{}, scope) }
	cases := []struct{ id, got, want string }{
		{"A20 direct", dm(key.DMMain).Direct("main", "discord", "", "user123"), "agent:main:main"},
		{"A20 channel", dm(key.DMMain).Group("main", "discord", core.ChatChannel, "channel456"), "agent:main:discord:channel:channel456"},
		{"A21", dm(key.DMPerPeer).Direct("main", "discord", "", " user123 "), "agent:main:direct:user123"},
		{"per channel", dm(key.DMPerChannelPeer).Direct("Ops", "Discord", "", "User:1"), "agent:ops:discord:direct:User:1"},
		{"per account", dm(key.DMPerAccountChannelPeer).Direct("", "discord", "acc", "u"), "agent:main:discord:acc:direct:u"},
		{"no account", dm(key.DMPerAccountChannelPeer).Direct("", "", " ", "u"), "agent:main:unknown:default:direct:u"},
		{"no peer", dm(key.DMPerPeer).Direct("ops", "discord", "", " "), "agent:ops:main"},
		{"global scope", globalNames.Direct("ops", "discord", "", "u"), "global"},
		{"group in global scope", globalNames.Group("ops", "Telegram", core.ChatGroup, "-100"), "agent:ops:telegram:group:-100"},
		{"opaque id", dm("").Group("ops", "matrix", core.ChatGroup, "!AbC:s"), "agent:ops:matrix:group:!AbC:s"},
	}
	for _, c := range cases {
		assert.Equal(t, c.want, c.got, c.id)
	}
}

// Whatever is taken for a channel's name, the keys of its chats are those of groups and direct chats and of nothing else.
func TestChannelNamesStandForNothingElse(t *testing.T) {
	for _, name := range []string{"", " ", "cron", "Hook", "node", "node-red", "subagent", "internal", "unknown", "global", "group", "a:b", "x y", "a/b", "a\x00", strings.Repeat("x", 65)} {
		assert.False(t, key.IsChannel(name), "%q", name)
	}
	proptest.Check(t, func(t *rapid.T) {
		words := []string{"discord", "zalo.me", "my_chat", "nodes", "main", "agent", "thread", "cron", "hook", "node", "subagent", "group", "direct"}
		channel := rapid.OneOf(rapid.SampledFrom(words), rapid.String()).Draw(t, "channel")
		if !key.IsChannel(channel) {
			return
		}
		n := key.NewNames(core.Naming{}, key.DMPerChannelPeer)
		direct, group := n.Direct("a", channel, "", "p"), n.Group("a", channel, core.ChatGroup, "g")
		assert.Equal(t, core.KindOther, n.Kind(direct, core.ChatDirect), direct)
		assert.Equal(t, core.KindGroup, n.Kind(group, core.ChatGroup), group)
		for _, k := range []string{direct, group} {
			assert.False(t, key.IsSubagent(k), k)
			p, ok := key.Parse(k)
			require.True(t, ok)
			assert.Equal(t, strings.ToLower(strings.TrimSpace(channel)), p.Channel)
		}
	})
}

func TestDirectKeysParseBack(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		scope := rapid.SampledFrom(key.DMScopes).Draw(t, "scope")
		n := key.NewNames(core.Naming{MainKey: "m", DefaultAgent: "d"}, scope)
		channel := rapid.SampledFrom([]string{"discord", "whatsapp", "x", "node-red"}).Draw(t, "channel")
		account := rapid.StringMatching(`[A-Za-z0-9@.]{1,8}`).Filter(notChatWord).Draw(t, "account")
		peer := rapid.StringMatching(`[A-Za-z0-9+@.!-][A-Za-z0-9+@.!:-]{0,12}`).Draw(t, "peer")
		p, ok := key.Parse(n.Direct("a", channel, account, peer))
		require.True(t, ok)
		assert.Equal(t, "a", p.Agent)
		if scope != key.DMMain {
			assert.Equal(t, core.ChatDirect, p.ChatType)
			assert.Equal(t, peer, p.ID)
		}
		if scope == key.DMPerAccountChannelPeer {
			assert.Equal(t, account, p.Account)
		}
	})
}

func notChatWord(s string) bool { return key.ReadChatType(s) == core.ChatUnknown }
