package config_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/core/config"
)

func parse(t *testing.T, text string) (*config.Config, config.Report) {
	t.Helper()
	c, report, err := config.Parse("c.json5", []byte(text))
	require.NoError(t, err)
	return c, report
}

func TestDefaultIsWhatAnEmptyFileGives(t *testing.T) {
	for _, text := range []string{"", "  \n// nothing\n", "{}", "{ session: {}, agents: { list: [] }, channels: {}, store: { retention: {} } }"} {
		c, report := parse(t, text)
		assert.Equal(t, config.Default(), c, "%q", text)
		assert.Empty(t, report.NoEffect)
		assert.Empty(t, report.NotYet)
		assert.Empty(t, report.Warnings)
	}
	c, report, err := config.Load("")
	require.NoError(t, err)
	assert.Equal(t, config.Default(), c)
	assert.Equal(t, "default", report.Source("session.scope"))
}

// The documented defaults, once more by hand.
func TestDefaults(t *testing.T) {
	c := config.Default()
	assert.Equal(t, core.VisibilityTree, c.Tools.Sessions.Visibility, "R041")
	assert.False(t, c.Tools.AgentToAgent.Enabled)
	assert.Equal(t, core.SendAllow, c.Session.SendPolicy.Default)
	assert.Equal(t, "main", c.Session.MainKey, "case 34")
	assert.Equal(t, config.ScopePerSender, c.Session.Scope, "case 34")
	assert.Equal(t, config.Exchange{MaxPingPongTurns: 5, MaxHops: 8, Announce: true}, c.Session.AgentToAgent)
	assert.Equal(t, config.ThreadBindings{Enabled: true, IdleHours: 24}, c.Session.ThreadBindings)
	assert.Equal(t, config.Attachments{Enabled: true, MaxFiles: 50, MaxFileBytes: 1048576, MaxTotalBytes: 5242880}, c.Tools.SessionsSpawn.Attachments)
	assert.Equal(t, "echo/echo", c.Agents.Defaults.Model.Primary)
	assert.Equal(t, 10*time.Minute, c.Engine.ResumeWithin)
	assert.Equal(t, config.RedactTools, c.Logging.RedactSensitive)
	assert.Equal(t, "main", c.DefaultAgent())
}

func TestGoodValues(t *testing.T) {
	tests := []struct {
		name, text string
		want       func(*config.Config)
	}{
		{"case 33: main key is trimmed and lower case", `{session: {mainKey: " Primary ", scope: "global"}}`, func(c *config.Config) {
			c.Session.MainKey, c.Session.Scope = "primary", config.ScopeGlobal
		}},
		{"whole numbers however written", `{session: {agentToAgent: {maxPingPongTurns: 3.0, maxHops: 0x10}}, ui: {fps: 3e1}}`, func(c *config.Config) {
			c.Session.AgentToAgent.MaxPingPongTurns, c.Session.AgentToAgent.MaxHops, c.UI.FPS = 3, 16, 30
		}},
		{"dm is direct, channels are folded, prefixes are not", `{session: {sendPolicy: {rules: [{action: "deny",
			match: {channel: " Discord ", chatType: "dm", keyPrefix: "Disc: ", rawKeyPrefix: "agent:A"}}]}}}`, func(c *config.Config) {
			c.Session.SendPolicy.Rules = []config.SendRule{{Action: core.SendDeny, Match: config.SendMatch{
				Channel: "discord", ChatType: core.ChatDirect, KeyPrefix: "Disc: ", RawKeyPrefix: "agent:A",
			}}}
		}},
		{"model and runtime as text", `{agents: {defaults: {model: "a/b/c", runtime: "manual"}}, models: {providers: {
			a: {baseUrl: "http://h/v1", models: [{id: "b/c"}]}}}}`, func(c *config.Config) {
			c.Agents.Defaults.Model.Primary, c.Agents.Defaults.Runtime.Type = "a/b/c", "manual"
			c.Models.Providers = map[string]config.Provider{"a": {BaseURL: "http://h/v1", Models: []config.ModelDef{{ID: "b/c"}}}}
		}},
		{"agent ids and globs are lower case", `{tools: {agentToAgent: {enabled: true, allow: ["Work", "W*"]}},
			agents: {list: [{id: "Work", subagents: {allowAgents: ["WORK", "*"]}}]}}`, func(c *config.Config) {
			c.Tools.AgentToAgent = config.AgentToAgent{Enabled: true, Allow: []string{"work", "w*"}}
			c.Agents.List = []config.Agent{{ID: "work", Subagents: config.Subagents{AllowAgents: []string{"work", "*"}}}}
		}},
		{"durations are Go's", `{engine: {resumeWithin: "1h30m", drain: "0s"}}`, func(c *config.Config) {
			c.Engine.ResumeWithin, c.Engine.Drain = 90*time.Minute, 0
		}},
		{"patterns between slashes", `{logging: {redactPatterns: ["/acct-\\d+/gi", "/a", "x/y/z"]}}`, func(c *config.Config) {
			c.Logging.RedactPatterns = []string{`(?i)acct-\d+`, "/a", "x/y/z"}
		}},
		{"part of an object keeps the rest", `{tools: {sessions_spawn: {attachments: {maxFiles: 0}}}}`, func(c *config.Config) {
			c.Tools.SessionsSpawn.Attachments.MaxFiles = 0
		}},
		{"channels fill in", `{session: {threadBindings: {idleHours: 3}}, channels: {a: {}, b: {type: "webhook", url: "https://h/x",
			threadBindings: {enabled: false}}}}`, func(c *config.Config) {
			bindings := config.ThreadBindings{Enabled: true, IdleHours: 3}
			c.Session.ThreadBindings = bindings
			c.Channels = map[string]config.Channel{
				"a": {Type: config.ChannelOutbox, Threads: true, ThreadBindings: bindings},
				"b": {Type: config.ChannelWebhook, URL: "https://h/x", ThreadBindings: config.ThreadBindings{IdleHours: 3}},
			}
		}},
		{"TCP on this machine needs no TLS", `{gateway: {listen: "[::1]:18790"}}`, func(c *config.Config) {
			c.Gateway.Listen = "[::1]:18790"
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, report := parse(t, tt.text)
			want := config.Default()
			tt.want(want)
			assert.Equal(t, want, c)
			assert.Empty(t, report.NoEffect)
			assert.Empty(t, report.Warnings)
		})
	}
}

func TestAgentsInheritFromTheDefaults(t *testing.T) {
	c, _ := parse(t, `{agents: {
		defaults: { model: { primary: "echo/one", fallbacks: ["echo/two"] }, workspace: "/w", runtime: "manual",
			subagents: { model: "echo/sub", thinking: "low", allowAgents: ["b"] }, sandbox: { mode: "non-main" } },
		list: [
			{ id: "a" },
			{ id: "B", default: true, model: "echo/three", workspace: "/b", runtime: "echo", name: "Bee",
				subagents: { allowAgents: [] }, sandbox: { mode: "off", sessionToolsVisibility: "all" } },
			{ id: "c", model: { fallbacks: [] } },
		] }}`)
	assert.Equal(t, "b", c.DefaultAgent())

	a, configured := c.Agent(" A ")
	assert.True(t, configured)
	assert.Equal(t, config.Agent{
		ID: "a", Workspace: "/w", Model: config.Model{Primary: "echo/one", Fallbacks: []string{"echo/two"}}, Runtime: config.Runtime{Type: "manual"},
		Subagents: config.Subagents{Model: config.Model{Primary: "echo/sub"}, Thinking: "low", AllowAgents: []string{"b"}},
		Sandbox:   config.Sandbox{Mode: "non-main", SessionToolsVisibility: "spawned"},
	}, a)

	b, _ := c.Agent("b")
	assert.Equal(t, config.Model{Primary: "echo/three"}, b.Model, "a model of its own takes no foreign fallbacks")
	assert.Equal(t, []string{}, b.Subagents.AllowAgents, "an empty list is a list")
	assert.Equal(t, config.Sandbox{Mode: "off", SessionToolsVisibility: "all"}, b.Sandbox)
	assert.Equal(t, "echo", b.Runtime.Type)

	other, _ := c.Agent("c")
	assert.Equal(t, config.Model{Primary: "echo/one", Fallbacks: []string{}}, other.Model)

	ghost, configured := c.Agent("ghost")
	assert.False(t, configured)
	assert.Equal(t, "ghost", ghost.ID)
	assert.Equal(t, "non-main", ghost.Sandbox.Mode, "an agent that only the store knows has the defaults")

	c, _ = parse(t, `{agents: {list: [{id: "x"}, {id: "y"}]}}`)
	assert.Equal(t, "x", c.DefaultAgent(), "without default: true it is the first")
	assert.Equal(t, "main", (&config.Config{}).DefaultAgent())
}

// A file of OpenClaw's loads as it is, what has no effect is listed, and no secret is repeated anywhere.
func TestOpenClawFile(t *testing.T) {
	c, report, err := config.Load("testdata/openclaw.json5")
	require.NoError(t, err)
	assert.Equal(t, core.VisibilityAgent, c.Tools.Sessions.Visibility)
	assert.Equal(t, "home", c.Session.MainKey)
	assert.Equal(t, "info", c.Logging.Level, "trace is not ours")
	coder, _ := c.Agent("coder")
	assert.Equal(t, config.Runtime{Type: "echo"}, coder.Runtime)
	assert.NotContains(t, c.Channels, "telegram")
	assert.Contains(t, c.Channels, "discord", "it sets a key of ours")
	assert.NotContains(t, c.MCP.Servers, "files")
	assert.Equal(t, "https://docs.example.invalid/mcp/url-secret-9", c.MCP.Servers["docs"].URL)

	assert.Equal(t, lines(`
		$schema
		meta
		gateway.mode
		gateway.bind
		gateway.port
		gateway.auth
		gateway.tls.enabled
		gateway.controlUi
		discovery
		hooks
		models.mode
		models.providers.local.apiKey
		models.providers.local.api
		models.providers.local.models[0].name
		models.providers.local.models[0].reasoning
		models.providers.local.models[0].input
		models.providers.local.models[0].cost.cacheRead
		agents.defaults.models
		agents.defaults.heartbeat
		agents.defaults.sandbox.scope
		agents.defaults.subagents.announceTimeoutMs
		agents.list[0].identity
		agents.list[1].model
		agents.list[1].runtime
		agents.list[1].tools
		agents.list[2].runtime
		bindings
		tools.profile
		session.identityLinks
		session.maintenance
		session.threadBindings.spawnAcpSessions
		channels.defaults
		channels.telegram
		channels.discord.token
		channels.discord.threadBindings.spawnSubagentSessions
		mcp.servers.files
		mcp.servers.docs.transport
		logging.level
		logging.file
		ui.seamColor`), keys(report.NoEffect))
	assert.Equal(t, config.Entry{Key: "gateway.port", Line: 6, Col: 38, Note: "cordboard's key is gateway.listen"}, report.NoEffect[4])
	assert.Equal(t, lines(`
		`), keys(report.NotYet))

	told, err := json.Marshal(struct {
		Report config.Report
		Rows   []config.Row
	}{report, config.Show(c, report)})
	require.NoError(t, err)
	for i := range 9 {
		assert.NotContains(t, string(told), "secret-"+string(rune('1'+i)))
	}
}

// Files of real users load too, where they are at hand (CORDBOARD_SAMPLES, see .ci/run).
func TestUsersFilesLoad(t *testing.T) {
	files := []string{"testdata/openclaw.json5"}
	if shared := os.Getenv("CORDBOARD_SAMPLES"); shared != "" {
		more, err := filepath.Glob(filepath.Join(shared, "samples", "*", "openclaw.json"))
		require.NoError(t, err)
		require.NotEmpty(t, more)
		files = append(files, more...)
	}
	for _, file := range files {
		c, report, err := config.Load(file)
		require.NoError(t, err)
		assert.NotEqual(t, config.Default(), c)
		assert.Contains(t, keys(report.NoEffect), "gateway.port", file)
	}
}

func keys(entries []config.Entry) []string {
	all := make([]string, len(entries))
	for i, e := range entries {
		all[i] = e.Key
	}
	return all
}

func lines(text string) []string { return strings.Fields(text) }

func TestWarnings(t *testing.T) {
	tests := []struct{ name, text, want string }{
		{
			"rule without match", `{session: {sendPolicy: {rules: [{action: "deny"}]}}}`,
			"c.json5:1:33: session.sendPolicy.rules[0]: has no match, so it matches everything",
		},
		{
			"rule with empty match", `{session: {sendPolicy: {rules: [{match: {}, action: "deny"}]}}}`,
			"c.json5:1:33: session.sendPolicy.rules[0]: has no match, so it matches everything",
		},
		{
			"spawn depth", `{agents: {defaults: {subagents: {maxSpawnDepth: 2}}}}`,
			"c.json5:1:34: agents.defaults.subagents.maxSpawnDepth: 2 lets sub-agents spawn: an extension of cordboard's, the contract is 1",
		},
		{
			"two default agents", `{agents: {list: [{id: "a", default: true}, {id: "b", default: true}]}}`,
			"c.json5:1:54: agents.list[1].default: is not the default agent: a is, which comes first",
		},
		{
			"agent that is not there", `{agents: {list: [{id: "a", subagents: {allowAgents: ["*", "b"]}}]}}`,
			`c.json5:1:59: agents.list[0].subagents.allowAgents[1]: names the agent "b", which agents.list does not have`,
		},
		{
			"model that is not there", `{agents: {list: [{id: "a", model: "x/y"}]}}`,
			`c.json5:1:28: agents.list[0].model: the model "x/y" is not in models.providers`,
		},
		{
			"a key in place of its variable", `{models: {providers: {p: {baseUrl: "http://h", apiKey: "sk-1"}}}}`,
			"c.json5:1:48: models.providers.p.apiKey: is not read, so requests go out without a key: write apiKeyEnv: the name of an environment variable that holds it",
		},
		{
			"a model that nobody asks", `{agents: {list: [{id: "a", runtime: "openai"}]}}`,
			`c.json5:1:18: agents.list[0]: runtime openai needs a model of models.providers, and its model is "echo/echo": write model: "provider/model"`,
		},
		{
			"reach of an agent that is not there", `{agents: {list: [{id: "ops"}]}, tools: {agentToAgent: {allow: ["o*", "*s", "ops", "*", "opps"]}}}`,
			`c.json5:1:88: tools.agentToAgent.allow[4]: "opps" matches no agent of agents.list`,
		},
		{
			"pattern for nothing", `{logging: {redactPatterns: ["a*"]}}`,
			"c.json5:1:29: logging.redactPatterns[0]: matches the empty text, so it masks between all letters",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, report := parse(t, tt.text)
			require.Len(t, report.Warnings, 1)
			assert.Equal(t, tt.want, report.Warnings[0].Error())
		})
	}
}

func TestChoose(t *testing.T) {
	home := t.TempDir()
	env := func(values map[string]string) func(string) string {
		return func(name string) string { return values[name] }
	}
	write := func(dir string) string {
		path := filepath.Join(dir, "cordboard", "config.json5")
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, []byte("{}"), 0o600))
		return path
	}
	assert.Empty(t, config.Choose("", false, env(map[string]string{"HOME": home})), "there is none")
	assert.Empty(t, config.Choose("", false, env(nil)), "no home")
	underHome := write(filepath.Join(home, ".config"))
	underXDG := write(filepath.Join(home, "xdg"))
	both := env(map[string]string{"HOME": home, "XDG_CONFIG_HOME": filepath.Join(home, "xdg")})
	assert.Equal(t, underXDG, config.Choose("", false, both))
	assert.Equal(t, underHome, config.Choose("", false, env(map[string]string{"HOME": home})))
	assert.Equal(t, underHome, config.Choose("", false, env(map[string]string{"HOME": home, "XDG_CONFIG_HOME": "relative"})))
	assert.Equal(t, "x.json5", config.Choose("x.json5", true, both))
	assert.Empty(t, config.Choose("", true, both), "the defaults on purpose")
}

func TestLoadNamesFilesItCannotRead(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	large := filepath.Join(dir, "large.json5")
	require.NoError(t, os.WriteFile(large, make([]byte, config.MaxFileBytes+1), 0o600))
	tests := []struct{ name, path, want string }{
		{"absent", filepath.Join(dir, "none.json5"), `cannot be read: no such file or directory (--config "" starts with the defaults)`},
		{"directory", dir, "is a directory: name the configuration file in it"},
		{"a pipe that nobody writes to", pipe, "is no regular file, and might never end: name one that is"},
		{"a device without an end", "/dev/zero", "is no regular file, and might never end: name one that is"},
		{"large", large, "is larger than 1048576 bytes, which no configuration is"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c, _, err := config.Load(tt.path)
			assert.Nil(t, c)
			require.EqualError(t, err, tt.path+": "+tt.want)
			assert.Equal(t, core.CodeConfig, core.CodeOf(err))
		})
	}
}

func TestSourcesAndExplain(t *testing.T) {
	c, report := parse(t, "{\n session: { mainKey: 'x' },\n agents: { defaults: { model: 'echo/m' }, list: [{ id: 'a', sandbox: { mode: 'all' } }] },\n"+
		" engine: { drain: '90s' },\n logging: { redactPatterns: ['<a&b>'] }\n}")
	for key, want := range map[string]struct{ text, source string }{
		"session.mainKey":                {"x", "c.json5:2:13"},
		"session.scope":                  {"per-sender", "default"},
		"agents.defaults.model.primary":  {"echo/m", "c.json5:3:24"},
		"agents.list[0].model.primary":   {"echo/m", "agents.defaults.model.primary"},
		"agents.list[0].sandbox.mode":    {"all", "c.json5:3:72"},
		"agents.defaults.workspace":      {"", "default"},
		"engine.drain":                   {"1m30s", "c.json5:4:12"},
		"engine.resumeWithin":            {"10m0s", "default"},
		"logging.redactPatterns":         {`["<a&b>"]`, "c.json5:5:13"},
		"tools.sessions.visibility":      {"tree", "default"},
		"session.threadBindings.enabled": {"true", "default"},
	} {
		rows, err := config.Explain(c, report, key)
		require.NoError(t, err)
		require.Len(t, rows, 1, key)
		assert.Equal(t, want.text, rows[0].Text(), key)
		assert.Equal(t, want.source, rows[0].Source, key)
		assert.NotEmpty(t, rows[0].Effect)
	}
	rows, err := config.Explain(c, report, "session.sendPolicy")
	require.NoError(t, err)
	assert.Len(t, rows, 1)
	rows, err = config.Explain(c, report, "")
	require.NoError(t, err)
	assert.Equal(t, config.Show(c, report), rows)

	_, err = config.Explain(c, report, "session.mainkee")
	require.EqualError(t, err, `there is no key "session.mainkee": did you mean session.mainKey?`)
	assert.Equal(t, core.CodeConfig, core.CodeOf(err))
	_, err = config.Explain(c, report, "channels")
	require.EqualError(t, err, `there is no key "channels", or nothing is set below it`)
}

// Every row of the documentation is one line of JSON that a program can read.
func TestShowIsJSON(t *testing.T) {
	rows := config.Show(config.Default(), config.Report{})
	text, err := json.Marshal(rows)
	require.NoError(t, err)
	var back []config.Row
	require.NoError(t, json.Unmarshal(text, &back))
	assert.Equal(t, rows, back)
	plain := regexp.MustCompile(`^[a-z]+(\.[a-zA-Z_]+|\[0\])+$`)
	for _, row := range rows {
		assert.Regexp(t, plain, row.Key)
	}
}
