package key_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/core/key"
)

func TestShape(t *testing.T) {
	cases := map[string][]string{
		key.ShapeMissing:   {"", "   "},
		key.ShapeAgent:     {"agent:main:main", "agent:research:subagent:worker", "agent:main:telegram:dm:123456", "agent:main:telegram:direct:123456", " AGENT:Main:x "},
		key.ShapeMalformed: {"agent::broken", "agent:main", "agent:", "agent:main:", "agent:../etc:x", "Agent: Ops:x", "agent:-x:y"},
		key.ShapeBare:      {"main", "custom-main", "subagent:worker", "agents:main:x", "agent"},
	}
	for want, inputs := range cases {
		for _, s := range inputs {
			assert.Equal(t, want, key.Shape(s), "A1-A5 %q", s)
			_, ok := key.Parse(s)
			assert.Equal(t, want == key.ShapeAgent || want == key.ShapeBare, ok, "%q", s)
		}
	}
}

func TestParse(t *testing.T) {
	cases := []struct {
		id, key string
		want    key.Parts
	}{
		{"A6 the rest keeps its case", "AGENT:Main:Hook:Webhook:42", key.Parts{Agent: "main", Rest: "Hook:Webhook:42"}},
		{"A31 bare group", "discord:group:dev", key.Parts{Rest: "discord:group:dev", Channel: "discord", ChatType: core.ChatGroup, ID: "dev"}},
		{
			"A31 group", "agent:ops:discord:group:dev",
			key.Parts{Agent: "ops", Rest: "discord:group:dev", Channel: "discord", ChatType: core.ChatGroup, ID: "dev"},
		},
		{"A31 neither", "foo:bar", key.Parts{Rest: "foo:bar"}},
		{"direct per peer", "agent:a:direct:U:1", key.Parts{Agent: "a", Rest: "direct:U:1", ChatType: core.ChatDirect, ID: "U:1"}},
		{
			"direct per channel, old word", "agent:a:Telegram:dm:5",
			key.Parts{Agent: "a", Rest: "Telegram:dm:5", Channel: "telegram", ChatType: core.ChatDirect, ID: "5"},
		},
		{
			"direct per account", "agent:a:slack:Acc:direct:U1",
			key.Parts{Agent: "a", Rest: "slack:Acc:direct:U1", Channel: "slack", Account: "Acc", ChatType: core.ChatDirect, ID: "U1"},
		},
		{
			"opaque id", "agent:a:matrix:group:!AbC:s:p",
			key.Parts{Agent: "a", Rest: "matrix:group:!AbC:s:p", Channel: "matrix", ChatType: core.ChatGroup, ID: "!AbC:s:p"},
		},
		{"thread", "agent:a:main:thread:T1", key.Parts{Agent: "a", Rest: "main:thread:T1", Thread: "T1", Parent: "agent:a:main"}},
		{"topic", "agent:a:telegram:group:-100:topic:7", key.Parts{
			Agent: "a", Rest: "telegram:group:-100:topic:7", Channel: "telegram",
			ChatType: core.ChatGroup, ID: "-100", Topic: "7", Parent: "agent:a:telegram:group:-100",
		}},
		{"thread in a topic", "x:group:1:topic:7:thread:9", key.Parts{
			Rest: "x:group:1:topic:7:thread:9", Channel: "x",
			ChatType: core.ChatGroup, ID: "1", Topic: "7", Thread: "9", Parent: "x:group:1:topic:7",
		}},
		{"cron is no channel", "agent:a:cron:group:x", key.Parts{Agent: "a", Rest: "cron:group:x"}},
		{"nothing before the thread", "agent:a:thread:5", key.Parts{Agent: "a", Rest: "thread:5"}},
		{"empty fields", "agent:a:::", key.Parts{Agent: "a", Rest: "::"}},
		{"no id", "agent:a:x:group:", key.Parts{Agent: "a", Rest: "x:group:"}},
	}
	for _, c := range cases {
		t.Run(c.id, func(t *testing.T) {
			got, ok := key.Parse(c.key)
			require.True(t, ok)
			assert.Equal(t, c.want, got)
			assert.Equal(t, c.want.Agent, key.AgentID(c.key))
			assert.Equal(t, c.want.Channel, key.Channel(c.key))
			assert.Equal(t, c.want.Parent, key.ThreadParent(c.key))
		})
	}
}

func TestValidAgentID(t *testing.T) {
	for _, id := range []string{"main", "my-research_agent01", "Research", "0", strings.Repeat("a", 64)} {
		assert.True(t, key.ValidAgentID(id), "A18 %q", id)
	}
	for _, id := range []string{"", "Agent not found: xyz", "../../../etc/passwd", strings.Repeat("a", 65), "-x", "_x", "日本", "a@", "a[", "a`", "a\r"} {
		assert.False(t, key.ValidAgentID(id), "A18, H192 %q", id)
	}
}

func TestValid(t *testing.T) {
	for _, k := range []string{"main", "cron:x", "agent:a:b", "agent:a:\x1b[2J", "a b", strings.Repeat("k", 512)} {
		assert.NoError(t, key.Valid(k), "%q", k)
	}
	for _, k := range []string{"", " ", " x", "x\n", "a\x00", "\xff", "agent:", "agent:a", strings.Repeat("k", 513)} {
		err := key.Valid(k)
		assert.Equal(t, core.CodeInvalidParams, core.CodeOf(err), "%q", k)
		assert.Less(t, len(err.Error()), 400, "%q", k)
	}
}

func TestLooksLikeSessionID(t *testing.T) {
	for _, s := range []string{"d4f5a5a1-9f75-42cf-83a6-8d170e6a1538", " D4F5A5A1-9F75-42CF-83A6-8D170E6A1538\n"} {
		assert.True(t, key.LooksLikeSessionID(s), "B38 %q", s)
	}
	for _, s := range []string{
		"not-a-uuid", "", "d4f5a5a1-9f75-42cf-83a6-8d170e6a153g", "d4f5a5a1x9f75-42cf-83a6-8d170e6a1538",
		"d4f5a5a1-9f75-42cf-83a6-8d170e6a15380", "d4f5a5a1-9f75-42cf-83a6-8d170e6a153\x01",
	} {
		assert.False(t, key.LooksLikeSessionID(s), "B38 %q", s)
	}
}
