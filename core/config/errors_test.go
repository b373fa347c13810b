package config_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/core/config"
)

const serverName = "cannot be the name of a server: its tools are called <server>__<tool>, so a name is up to 32 letters, digits, - and single _ between them"

// Each text has exactly these mistakes, a line each.
func TestMistakes(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{"unknown key at the top", `{sesion: {}}`, `1:2: sesion: unknown key with value an object: did you mean session?`},
		{"other case", `{session: {mainkey: "x"}}`, `1:12: session.mainkey: unknown key with value (not shown): did you mean mainKey?`},
		{"swapped letters", `{tools: {sessions: {visiblity: "all"}}}`, `1:21: tools.sessions.visiblity: unknown key with value "all": did you mean visibility?`},
		{"key that lives elsewhere", `{session: {visibility: "all"}}`, `1:12: session.visibility: unknown key with value "all": did you mean tools.sessions.visibility?`},
		{
			"part of a key of the same object", `{session: {sendPolicy: {rules: [{action: "deny", match: {key: "x"}}]}}}`,
			`1:58: session.sendPolicy.rules[0].match.key: unknown key with value (not shown): did you mean keyPrefix?`,
		},
		{"nothing near", `{store: {compress: true}}`, `1:10: store.compress: unknown key with value true: allowed here are mirror, retention`},
		{"close to a key of OpenClaw's", `{gateway: {prot: 1}}`, `1:12: gateway.prot: unknown key with value 1: did you mean OpenClaw's port, which has no effect here?`},
		{
			"a secret is not repeated", `{models: {providers: {p: {baseUrl: "http://h", apikeyenv: "sk-1"}}}}`,
			`1:48: models.providers.p.apikeyenv: unknown key with value (not shown): did you mean apiKeyEnv?`,
		},
		{
			"a secret in place of its variable", `{gateway: {tokenEnv: "sk-1234"}}`,
			`1:22: gateway.tokenEnv: must be the name of an environment variable, such as MY_TOKEN (never the secret itself), not (not shown)`,
		},
		{
			"variable of a wrong type", `{channels: {a: {inboundTokenEnv: 12345}}}`,
			`1:34: channels.a.inboundTokenEnv: must be the name of an environment variable, such as MY_TOKEN (never the secret itself), not (not shown)`,
		},
		{
			"long value", `{ui: {theme: {a: 1}, colour: "` + strings.Repeat("é", 60) + `"}}`,
			"1:14: ui.theme: must be text that is not blank, not an object\n" +
				`1:22: ui.colour: unknown key with value "` + strings.Repeat("é", 40) + `…": allowed here are theme, fps, mouse, keymap, notifications, accessible`,
		},

		{
			"servers without a way, and with two", `{mcp: {servers: {a: {}, b: {command: ["x"], url: "http://h"}, c: {url: "http://h", env: {A: "b"}}}}}`,
			"1:18: mcp.servers.a: needs a command or a url, and not both\n1:25: mcp.servers.b: needs a command or a url, and not both\n" +
				"1:84: mcp.servers.c.env: belongs to a command, not to a url",
		},
		{
			"names that no tool could have", `{mcp: {servers: {"a__b": {url: "http://h"}, "a_": {url: "http://h"}, "ä": {url: "http://h"}}}}`,
			"1:18: mcp.servers.a__b: " + serverName + "\n1:45: mcp.servers.a_: " + serverName + "\n1:70: mcp.servers[\"ä\"]: " + serverName,
		},
		{
			"allowed tools that are none", `{tools: {subagents: {tools: {allow: ["sessions_lst", "files__read", "x*", "sessions_*", "*"], deny: ["nothing"]}}}}`,
			"1:38: tools.subagents.tools.allow[0]: names no tool: \"sessions_lst\" is neither a session tool nor one of a server in mcp.servers\n" +
				"1:54: tools.subagents.tools.allow[1]: names no tool: \"files__read\" is neither a session tool nor one of a server in mcp.servers\n" +
				"1:69: tools.subagents.tools.allow[2]: names no tool: \"x*\" is neither a session tool nor one of a server in mcp.servers",
		},

		{"turns 6", `{session: {agentToAgent: {maxPingPongTurns: 6}}}`, `1:45: session.agentToAgent.maxPingPongTurns: must be an integer from 0 to 5, not 6`},
		{"turns -1", `{session: {agentToAgent: {maxPingPongTurns: -1}}}`, `1:45: session.agentToAgent.maxPingPongTurns: must be an integer from 0 to 5, not -1`},
		{"turns 2.5", `{session: {agentToAgent: {maxPingPongTurns: 2.5}}}`, `1:45: session.agentToAgent.maxPingPongTurns: must be an integer from 0 to 5, not 2.5`},
		{"turns text", `{session: {agentToAgent: {maxPingPongTurns: "3"}}}`, `1:45: session.agentToAgent.maxPingPongTurns: must be an integer from 0 to 5, not "3"`},
		{"turns null", `{session: {agentToAgent: {maxPingPongTurns: null}}}`, `1:45: session.agentToAgent.maxPingPongTurns: must be an integer from 0 to 5, not null`},
		{"huge number", `{agents: {defaults: {timeoutSeconds: 1e300}}}`, `1:38: agents.defaults.timeoutSeconds: must be an integer from 0 to 2147483647, not 1e300`},
		{"negative hours", `{session: {threadBindings: {idleHours: -0.5}}}`, `1:40: session.threadBindings.idleHours: must be a number from 0 to 876000, not -0.5`},
		{"visibility", `{tools: {sessions: {visibility: "everything"}}}`, `1:33: tools.sessions.visibility: must be "self", "tree", "agent" or "all", not "everything"`},
		{"words keep their case", `{tools: {sessions: {visibility: "All"}}}`, `1:33: tools.sessions.visibility: must be "self", "tree", "agent" or "all", not "All"`},
		{"boolean as text", `{ui: {mouse: "off"}}`, `1:14: ui.mouse: must be true or false, not "off"`},
		{"boolean as number", `{store: {mirror: 1}}`, `1:18: store.mirror: must be true or false, not 1`},
		{"text as list", `{tools: {agentToAgent: {allow: "main"}}}`, `1:32: tools.agentToAgent.allow: must be a list, not "main"`},
		{
			"item of a list", `{tools: {agentToAgent: {allow: ["main", 7, " "]}}}`,
			"1:41: tools.agentToAgent.allow[1]: must be an agent id or glob, not 7\n1:44: tools.agentToAgent.allow[2]: must be an agent id or glob, not \" \"",
		},
		{"object as list", `{agents: {list: {id: "a"}}}`, `1:17: agents.list: must be a list, not an object`},
		{"list as object", `{session: [1]}`, `1:11: session: must be an object, not a list`},
		{"the whole file", `[]`, `1:1: must be an object, not a list`},
		{
			"duration without unit", `{engine: {drain: 30, resumeWithin: "10 min"}}`,
			"1:18: engine.drain: must be a duration such as \"10m\", \"90s\" or \"1h30m\", not 30\n" +
				`1:36: engine.resumeWithin: must be a duration such as "10m", "90s" or "1h30m", not "10 min"`,
		},
		{"negative duration", `{engine: {drain: "-1s"}}`, `1:18: engine.drain: must be a duration such as "10m", "90s" or "1h30m", not "-1s"`},
		{"pattern", `{logging: {redactPatterns: ["ok", "(?=x)"]}}`, `1:35: logging.redactPatterns[1]: must be an RE2 expression: invalid or unsupported Perl syntax: "(?="`},
		{"reserved main key", `{session: {mainKey: "Global"}}`, `1:21: session.mainKey: must be a word without colons and white space, and not "global" or "unknown", not "Global"`},
		{"main key with a colon", `{session: {mainKey: "a:b"}}`, `1:21: session.mainKey: must be a word without colons and white space, and not "global" or "unknown", not "a:b"`},
		{
			"thinking", `{agents: {list: [{id: "a", thinking: "banana"}]}}`,
			`1:38: agents.list[0].thinking: must be "off", "minimal", "low", "medium", "high", "xhigh" or "adaptive", not "banana"`,
		},
		{"model", `{agents: {defaults: {model: "/x"}}}`, `1:29: agents.defaults.model: must be a model as "provider/model", not "/x"`},
		{"address", `{gateway: {listen: "18790"}}`, `1:20: gateway.listen: must be host:port, such as 127.0.0.1:18790, not "18790"`},
		{"url", `{models: {providers: {p: {baseUrl: "localhost:11434"}}}}`, `1:36: models.providers.p.baseUrl: must be an http:// or https:// address, not "localhost:11434"`},
		{"url with a password", `{models: {providers: {p: {baseUrl: "u:pw@h"}}}}`, `1:36: models.providers.p.baseUrl: must be an http:// or https:// address, not (not shown)`},
		{
			"environment", `{mcp: {servers: {s: {command: ["x"], env: {"A-B": "1", C: 2}}}}}`,
			"1:44: mcp.servers.s.env.A-B: the name of an environment variable has only letters, digits and _\n1:59: mcp.servers.s.env.C: must be text, not (not shown)",
		},

		{
			"R144: unknown match field", `{session: {sendPolicy: {rules: [{match: {to: "x"}, action: "deny"}]}}}`,
			`1:42: session.sendPolicy.rules[0].match.to: unknown key with value "x": allowed here are channel, chatType, keyPrefix, rawKeyPrefix`,
		},
		{"rule without action", `{session: {sendPolicy: {rules: [{match: {channel: "x"}}]}}}`, `1:33: session.sendPolicy.rules[0]: needs an action: "allow" or "deny"`},
		{"blank match", `{session: {sendPolicy: {rules: [{match: {channel: ""}, action: "deny"}]}}}`, `1:51: session.sendPolicy.rules[0].match.channel: must be a channel name, not ""`},
		{"agent id", `{agents: {list: [{id: "a b"}]}}`, `1:23: agents.list[0].id: must be an agent id: a letter or digit, then up to 63 letters, digits, _ or -, not "a b"`},
		{"agent without id", `{agents: {list: [{name: "A"}]}}`, `1:18: agents.list[0]: needs an id`},
		{"agent twice", "{agents: {list: [\n{id: 'a'},\n{id: 'b'},\n{id: 'A'}]}}", `4:2: agents.list[2].id: the id "a" is here twice: first at 2:2`},
		{
			"agents behind a mistake keep their places", `{agents: {list: [7, {id: "a"}, {name: "x"}]}}`,
			"1:18: agents.list[0]: must be an object, not 7\n1:32: agents.list[2]: needs an id",
		},
		{
			"two prompts", `{agents: {list: [{id: "a", systemPrompt: "x", systemPromptFile: "y"}]}}`,
			`1:47: agents.list[0].systemPromptFile: cannot stand beside systemPrompt: keep one of the two`,
		},
		{
			"exec without command", `{agents: {defaults: {runtime: "exec"}}}`,
			`1:22: agents.defaults.runtime: type exec needs a command: { type: "exec", command: ["program", "argument"] }`,
		},
		{
			"command without exec", `{agents: {list: [{id: "a", runtime: {type: "openai", command: ["x"]}}]}}`,
			`1:54: agents.list[0].runtime.command: belongs to the types acp and exec, not to openai`,
		},
		{"runtime without type", `{agents: {list: [{id: "a", runtime: {command: ["x"]}}]}}`, `1:28: agents.list[0].runtime: needs a type: acp or exec`},
		{
			"misspelt runtime is one mistake", `{agents: {list: [{id: "a", runtime: {type: "exce", command: ["x"]}}]}}`,
			`1:44: agents.list[0].runtime.type: must be "echo", "openai", "acp", "exec", "manual" or "external", not "exce"`,
		},
		{
			"sandbox without command", `{agents: {defaults: {sandbox: {mode: "all"}}, list: [{id: "a", runtime: {type: "exec", command: ["x"]}}, {id: "b"}]}}`,
			`1:54: agents.list[0]: is sandboxed (sandbox.mode "all") and its runtime exec runs a program here: it needs sandbox.command, such as ["bwrap", …]`,
		},
		{
			"provider without url", `{models: {providers: {p: {models: [{id: "a"}, {}, {id: "a"}]}}}}`,
			"1:23: models.providers.p: needs a baseUrl\n1:47: models.providers.p.models[1]: needs an id\n1:52: models.providers.p.models[2].id: the model \"a\" is here twice",
		},
		{
			"server with two ways", `{mcp: {servers: {s: {command: ["x"], url: "http://h"}, t: {env: {A: "1"}}}}}`,
			"1:18: mcp.servers.s: needs a command or a url, and not both\n1:56: mcp.servers.t: needs a command or a url, and not both",
		},
		{
			"webhook without url", `{channels: {a: {type: "webhook"}, b: {type: "exec", command: [" "]}}}`,
			"1:13: channels.a: type webhook needs a url\n1:35: channels.b: type exec needs a command",
		},
		{
			"url without webhook", `{channels: {a: {url: "https://h/x"}, b: {type: "webhook", url: "https://h", command: ["x"]}}}`,
			"1:17: channels.a.url: belongs to the type webhook, not to outbox\n1:77: channels.b.command: belongs to the type exec, not to webhook",
		},
		{
			"misspelt channel type is one mistake", `{channels: {a: {type: "webhok", url: "https://h/x"}}}`,
			`1:23: channels.a.type: must be "outbox", "webhook" or "exec", not "webhok"`,
		},
		{
			"misspelt key in a channel of OpenClaw's", `{channels: {discord: {typ: "webhook"}}}`,
			`1:23: channels.discord.typ: unknown key with value "webhook": did you mean type?`,
		},
		{
			"channel name", `{channels: {Discord: {type: "outbox"}, "": {}}}`,
			"1:13: channels: the name \"Discord\" must have 1 to 64 letters, digits and marks other than white space and /, a channel's in lower case\n" +
				"1:40: channels: the name \"\" must have 1 to 64 letters, digits and marks other than white space and /, a channel's in lower case",
		},
		{"half of TLS", `{gateway: {tls: {cert: "c.pem"}}}`, `1:12: gateway.tls: needs both cert and key`},
		{
			"open to others", `{gateway: {listen: ":18790"}}`,
			`1:12: gateway.listen: ":18790" is reachable from other machines: it needs gateway.tls.cert and gateway.tls.key`,
		},

		{"syntax", "{\n  session: {\n    mainKey: main\n  }\n}", `3:14: session.mainKey: unexpected 'm': a value was expected (text needs quotes)`},
		{"key twice", `{ui: {fps: 30, fps: 60}}`, `1:16: ui.fps: the key "fps" is here twice: first at 1:7`},
		{"too deep", strings.Repeat("[", 20_000), `1:65: ` + strings.Repeat("[0]", 64) + `: lists and objects nest too deep: 64 levels at most`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, _, err := config.Parse("c.json5", []byte(tt.text))
			assert.Nil(t, c)
			require.Error(t, err)
			var want []string
			for _, line := range strings.Split(tt.want, "\n") {
				want = append(want, "c.json5:"+line)
			}
			assert.Equal(t, strings.Join(want, "\n"), err.Error())
			assert.Equal(t, core.CodeConfig, core.CodeOf(err))
		})
	}
}

// A key without end makes no line without end, and nothing in it reaches a terminal.
func TestHostileKeysAreHarmless(t *testing.T) {
	_, _, err := config.Parse("c.json5", []byte(`{ui: {'`+strings.Repeat("a", 100_000)+`': 1, '\x1b[2J': '\x1b]0;x\x07\u202e'}}`))
	var problems config.Problems
	require.ErrorAs(t, err, &problems)
	require.Len(t, problems, 2)
	assert.Less(t, len(problems[0].Error()), 400)
	assert.Equal(t, `c.json5:1:100014: ui["\x1b[2J"]: unknown key with value "\x1b]0;x\a\u202e": `+
		`allowed here are theme, fps, mouse, keymap, notifications, accessible`, problems[1].Error())
}

func TestProblemsAreErrorsOfTheContract(t *testing.T) {
	_, _, err := config.Parse("c.json5", []byte(`{tools: {sessions: {visibility: 1}}, ui: {fps: 0}}`))
	var refusal *core.Error
	require.ErrorAs(t, err, &refusal)
	assert.Equal(t, "tools.sessions.visibility", refusal.ConfigKey)
	assert.Equal(t, []string{"self", "tree", "agent", "all"}, refusal.Allowed)
	assert.Equal(t, "c.json5:1:33: tools.sessions.visibility: must be \"self\", \"tree\", \"agent\" or \"all\", not 1", refusal.Message)
	var problems config.Problems
	require.True(t, errors.As(err, &problems))
	require.Len(t, problems, 2)
	assert.Equal(t, 48, problems[1].Col)
	assert.Equal(t, "message", config.Problem{Message: "message"}.Error())
	assert.Equal(t, "f: message", config.Problem{File: "f", Message: "message"}.Error())
	assert.Equal(t, "1:2: a.b: message", config.Problem{Line: 1, Col: 2, Key: "a.b", Message: "message"}.Error())
}

func TestManyMistakesAreCut(t *testing.T) {
	var text strings.Builder
	text.WriteString("{store: {")
	for i := range 50_000 {
		fmt.Fprintf(&text, "x%d: 1,", i)
	}
	text.WriteString("}}")
	_, _, err := config.Parse("c.json5", []byte(text.String()))
	var problems config.Problems
	require.ErrorAs(t, err, &problems)
	require.Len(t, problems, 101)
	assert.Equal(t, "c.json5: and 49900 more mistakes", problems[100].Error())
}
