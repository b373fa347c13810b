package key_test

import (
	"testing"

	"github.com/stretchr/testify/assert"

	"cordboard/core"
	"cordboard/core/key"
)

// kindCases is R052: one classifier, with the channel field that follows from it.
var kindCases = []struct {
	id, key        string
	chat           core.ChatType
	recorded, last string
	kind           core.Kind
	channel        string
}{
	{"D68 main", "agent:main:main", core.ChatDirect, "", "whatsapp", core.KindMain, "whatsapp"},
	{"D68 bare main", "main", "", "", "whatsapp", core.KindMain, "whatsapp"},
	{"main ignores the recorded channel", "agent:main:main", "", "telegram", "", core.KindMain, "unknown"},
	{"main of another agent", "agent:work:main", "", "webchat", "webchat", core.KindMain, "webchat"},
	{"main with a group chat type", "agent:main:main", core.ChatGroup, "", "slack", core.KindMain, "slack"},
	{"D68 group", "discord:group:dev", "", "", "", core.KindGroup, "discord"},
	{"sample: the recorded channel goes first", "agent:main:telegram:group:-100", "", "webchat", "webchat", core.KindGroup, "webchat"},
	{"recorded is folded", "agent:main:telegram:group:-100", core.ChatGroup, " Matrix ", "", core.KindGroup, "matrix"},
	{"blank recorded", "agent:main:telegram:group:-100", core.ChatGroup, " ", "webchat", core.KindGroup, "telegram"},
	{"D96", "slack:channel:c1", "", "", "", core.KindGroup, "slack"},
	{"group by chat type", "agent:main:room", core.ChatChannel, "", "slack", core.KindGroup, "unknown"},
	{"group topic", "agent:main:telegram:group:-100:topic:7", "", "", "", core.KindGroup, "telegram"},
	{"D97", "agent:main:telegram:direct:5", core.ChatDirect, "", "", core.KindOther, "unknown"},
	{"direct", "agent:main:telegram:direct:5", core.ChatDirect, "x", "Telegram", core.KindOther, "telegram"},
	{"D69", "cron:job-1", "", "", "slack", core.KindCron, "internal"},
	{"cron of an agent", "agent:main:cron:job-1:run:r", core.ChatGroup, "slack", "slack", core.KindCron, "internal"},
	{"cron named like a group", "agent:main:cron:group:x", "", "", "", core.KindCron, "internal"},
	{"D99 hook", "hook:uuid", "", "", "", core.KindHook, "internal"},
	{"hook in upper case", "AGENT:Main:Hook:Webhook:42", "", "", "", core.KindHook, "internal"},
	{"D99 node-", "node-mac", "", "", "", core.KindNode, "internal"},
	{"D99 node:", "agent:main:node:mac", "", "", "", core.KindNode, "internal"},
	{"spawned", "agent:ghost:subagent:a791c011", "", "", "", core.KindOther, "unknown"},
	{"spawned, classed as direct", "agent:main:subagent:d2fbc54a", core.ChatDirect, "webchat", "webchat", core.KindOther, "webchat"},
	{"thread of main", "agent:main:main:thread:1", "", "", "slack", core.KindOther, "slack"},
	{"odd", "agent:main:nodes", "", "", "", core.KindOther, "unknown"},
	{"reserved", "unknown", "", "", "", core.KindOther, "unknown"},
	{"global out of global scope", "global", "", "", "", core.KindOther, "unknown"},
	{"malformed", "agent:main", "", "", "", core.KindOther, "unknown"},
	{"mixed-case main is another session", "agent:main:Main", "", "", "", core.KindOther, "unknown"},
	{"blank", "", "", "", "", core.KindOther, "unknown"},
}

func TestKindAndChannel(t *testing.T) {
	n := names("", "")
	for _, c := range kindCases {
		t.Run(c.id, func(t *testing.T) {
			kind := n.Kind(c.key, c.chat)
			assert.Equal(t, c.kind, kind)
			assert.Equal(t, c.channel, key.ChannelField(kind, c.recorded, c.last, c.key))
			if base := key.BaseKind(c.key, c.chat); c.kind != core.KindMain {
				assert.Equal(t, c.kind, base)
			} else {
				assert.NotEqual(t, core.KindMain, base)
			}
		})
	}
}

func TestKindFollowsTheMainKeyAndScope(t *testing.T) {
	n := names("work", "")
	assert.Equal(t, core.KindMain, n.Kind("agent:ops:work", ""))
	assert.Equal(t, core.KindOther, n.Kind("agent:ops:main", ""))
	assert.Equal(t, core.KindMain, globalNames.Kind("global", ""), "D93")
	assert.Equal(t, core.KindMain, names("cron:x", "").Kind("agent:a:cron:x", ""), "main goes first")
}

func TestKindDoesNotAllocate(t *testing.T) {
	n := names("", "")
	for _, c := range kindCases {
		allocs := testing.AllocsPerRun(20, func() {
			if n.Kind(c.key, c.chat) == "" || key.BaseKind(c.key, c.chat) == "" || n.Reserved("x") || n.Display("agent:a:b", "a") == "" {
				t.Fatal("blank kind")
			}
		})
		assert.Zero(t, allocs, c.id)
	}
	assert.Zero(t, testing.AllocsPerRun(20, func() { _ = n.AgentOf("agent:main:telegram:group:1") }))
}

func TestChatType(t *testing.T) {
	cases := []struct {
		id, key string
		want    core.ChatType
	}{
		{"A13 direct", "agent:main:discord:direct:user1", core.ChatDirect},
		{"A13 group", "agent:main:telegram:group:g1", core.ChatGroup},
		{"A13 channel", "agent:main:discord:channel:c1", core.ChatChannel},
		{"A14", "telegram:dm:123456", core.ChatDirect},
		{"A15", "discord:acc-1:guild-123:channel-456", core.ChatChannel},
		{"A15 no account", "agent:main:discord:guild-123:channel-456", core.ChatChannel},
		{"another channel's name", "slack:guild-1:channel-2", core.ChatUnknown},
		{"main", "agent:main:main", core.ChatUnknown},
		{"the agent's name is not looked at", "agent:group:main", core.ChatUnknown},
		{"group first", "agent:main:x:channel:group", core.ChatGroup},
		{"malformed", "agent:main", core.ChatUnknown},
		{"blank", "", core.ChatUnknown},
	}
	for _, c := range cases {
		assert.Equal(t, c.want, key.ChatType(c.key), c.id)
	}
	assert.Equal(t, core.ChatDirect, key.ReadChatType(" DM "))
	assert.Equal(t, core.ChatChannel, key.ReadChatType("channel"))
	assert.Equal(t, core.ChatUnknown, key.ReadChatType("thread"))
}

func TestSubagentAndCron(t *testing.T) {
	depths := map[string]int{
		"agent:main:main": 0, "main": 0, "": 0, "subagent:x": 0, // A8
		"agent:main:subagent:parent:subagent:child": 2, // A9
		"agent:main:SubAgent:parent":                1, // H172, H184
	}
	for k, want := range depths {
		assert.Equal(t, want, key.SubagentDepth(k), k)
	}
	for _, k := range []string{"subagent:x", "agent:main:subagent:x", " agent:a:SUBAGENT:x"} {
		assert.True(t, key.IsSubagent(k), k)
	}
	for _, k := range []string{"", "agent:subagent:x", "agent:main:x:subagent:y", "subagents:x"} {
		assert.False(t, key.IsSubagent(k), k)
	}
	for _, k := range []string{"agent:main:cron:job-1", "agent:main:cron:job-1:run:run-1"} {
		assert.True(t, key.IsCron(k), "A11 %s", k)
	}
	for _, k := range []string{"agent:main:main", "agent:main:subagent:w", "cron:job-1", ""} {
		assert.False(t, key.IsCron(k), "A12 %s", k)
	}
}

func TestDelivery(t *testing.T) {
	d := func(channel, to, account, thread string) core.DeliveryContext {
		return core.DeliveryContext{Channel: channel, To: to, AccountID: account, ThreadID: thread}
	}
	cases := []struct {
		id                 string
		last, stored, want core.DeliveryContext
	}{
		{"D80", d("whatsapp", "+1555", "work", ""), d("", "", "", ""), d("whatsapp", "+1555", "work", "")},
		{"trimmed", d(" WhatsApp ", " +1 ", " ", " 7\n"), d("", "", "Acc", ""), d("whatsapp", "+1", "Acc", "7")},
		{"only stored", d("", "", "", ""), d("Slack", "C1", "a", "t"), d("slack", "C1", "a", "t")},
		{"same channel fills in", d("Slack", "C1", "", ""), d("slack", "C2", "a", "t"), d("slack", "C1", "a", "t")},
		{"another channel speaks for itself", d("telegram", "", "", ""), d("slack", "C2", "a", "t"), d("telegram", "", "", "")},
		{"nothing", d(" ", "", "", ""), d("", " ", "", ""), core.DeliveryContext{}},
	}
	for _, c := range cases {
		s := &core.Session{LastChannel: c.last.Channel, LastTo: c.last.To, LastAccountID: c.last.AccountID, LastThreadID: c.last.ThreadID, Delivery: c.stored}
		assert.Equal(t, c.want, key.Delivery(s), c.id)
		assert.Equal(t, c.want, key.Normal(c.want), c.id)
	}
}
