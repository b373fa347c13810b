// Package config is what a user may set: it loads, validates and explains a JSON5 file (spec: config.md).
//
// A key is one of three things. Ours: keys.go lists every one with its type, range and effect. OpenClaw's without an effect here:
// foreign.go, so that a user's file can be used as it is. Anything else is an error with its place and a suggestion. read.go walks the
// file along that table, check.go asks what single keys cannot tell, show.go explains the result. The file is never written.
package config

import (
	"time"

	"cordboard/core"
	"cordboard/core/key"
)

// Config holds every key of ours, defaults filled in. Field and key names agree. It is not to be changed once loaded.
type Config struct {
	Session  Session            `json:"session"`
	Tools    Tools              `json:"tools"`
	Agents   Agents             `json:"agents"`
	Models   Models             `json:"models"`
	MCP      MCP                `json:"mcp"`
	Channels map[string]Channel `json:"channels"` // by name, lower case; a channel that is not here is an outbox
	Engine   Engine             `json:"engine"`
	Store    Store              `json:"store"`
	Logging  Logging            `json:"logging"`
	Gateway  Gateway            `json:"gateway"`
	UI       UI                 `json:"ui"`
}

// Scope is session.scope.
type Scope string

const (
	ScopePerSender Scope = "per-sender"
	ScopeGlobal    Scope = "global"
)

// Session is how sessions are named and what may be sent into them (session-tools.md §1, §6, §7).
type Session struct {
	Scope          Scope          `json:"scope"`
	MainKey        string         `json:"mainKey"` // trimmed, lower case
	DMScope        key.DMScope    `json:"dmScope"`
	SendPolicy     SendPolicy     `json:"sendPolicy"`
	AgentToAgent   Exchange       `json:"agentToAgent"`
	ThreadBindings ThreadBindings `json:"threadBindings"`
}

// SendPolicy decides what no session's own override decides: any matching deny, else any matching allow, else Default.
type SendPolicy struct {
	Default core.SendPolicy `json:"default"` // SendAllow or SendDeny
	Rules   []SendRule      `json:"rules,omitzero"`
}

// SendRule is session.sendPolicy.rules[].
type SendRule struct {
	Match  SendMatch       `json:"match"`
	Action core.SendPolicy `json:"action"` // SendAllow or SendDeny
}

// SendMatch holds when all its fields that are not empty hold; without any it always does.
type SendMatch struct {
	Channel      string        `json:"channel,omitzero"`      // trimmed, lower case
	ChatType     core.ChatType `json:"chatType,omitzero"`     // `dm` is read as direct
	KeyPrefix    string        `json:"keyPrefix,omitzero"`    // of the key with or without `agent:<id>:`, byte for byte
	RawKeyPrefix string        `json:"rawKeyPrefix,omitzero"` // of the key as it is stored, byte for byte
}

// Exchange is session.agentToAgent: what follows a sessions_send.
type Exchange struct {
	MaxPingPongTurns int  `json:"maxPingPongTurns"` // 0..5
	MaxHops          int  `json:"maxHops"`          // 1..64
	Announce         bool `json:"announce"`
}

// ThreadBindings is how long a thread stays with its child session. 0 hours is no limit.
type ThreadBindings struct {
	Enabled     bool    `json:"enabled"`
	IdleHours   float64 `json:"idleHours"`
	MaxAgeHours float64 `json:"maxAgeHours"`
}

// Tools is who may see whom, and what sub-agents get (session-tools.md §3, §8).
type Tools struct {
	Sessions      SessionTools  `json:"sessions"`
	AgentToAgent  AgentToAgent  `json:"agentToAgent"`
	SessionsSpawn SessionsSpawn `json:"sessions_spawn"`
	Subagents     SubagentTools `json:"subagents"`
}

// SessionTools is tools.sessions.
type SessionTools struct {
	Visibility core.Visibility `json:"visibility"`
}

// AgentToAgent is access across agents. Both agents must match Allow, globs with `*` in lower case; an empty list allows any.
type AgentToAgent struct {
	Enabled bool     `json:"enabled"`
	Allow   []string `json:"allow,omitzero"`
}

// SessionsSpawn is tools.sessions_spawn.
type SessionsSpawn struct {
	Attachments Attachments `json:"attachments"`
}

// Attachments bounds the files of one spawn.
type Attachments struct {
	Enabled       bool  `json:"enabled"`
	MaxFiles      int   `json:"maxFiles"`
	MaxFileBytes  int64 `json:"maxFileBytes"`
	MaxTotalBytes int64 `json:"maxTotalBytes"`
}

// SubagentTools is tools.subagents.
type SubagentTools struct {
	Tools ToolList `json:"tools"`
}

// ToolList changes a set of tools; deny wins. A nil Allow leaves the set as it is.
type ToolList struct {
	Allow []string `json:"allow,omitzero"`
	Deny  []string `json:"deny,omitzero"`
}

// Models is what `openai` agents can talk to.
type Models struct {
	Providers map[string]Provider `json:"providers"`
}

// Provider is one chat-completions endpoint.
type Provider struct {
	BaseURL   string     `json:"baseUrl"`
	APIKeyEnv string     `json:"apiKeyEnv,omitzero"` // name of an environment variable
	Models    []ModelDef `json:"models,omitzero"`
}

// ModelDef describes a model. Zero tokens and a nil Cost are unknown.
type ModelDef struct {
	ID            string   `json:"id"`
	ContextWindow int      `json:"contextWindow,omitzero"` // tokens
	MaxTokens     int      `json:"maxTokens,omitzero"`
	Cost          *Cost    `json:"cost,omitzero"`
	Thinking      []string `json:"thinking,omitzero"` // levels it knows
}

// Cost is a price in dollars per million tokens.
type Cost struct {
	Input  float64 `json:"input"`
	Output float64 `json:"output"`
}

// MCP is where `openai` agents get more tools.
type MCP struct {
	Servers map[string]MCPServer `json:"servers"`
}

// MCPServer is a command to start or a URL, never both.
type MCPServer struct {
	Command []string          `json:"command,omitzero"`
	Env     map[string]string `json:"env,omitzero"`
	URL     string            `json:"url,omitzero"`
}

// ChannelType is channels.<name>.type.
type ChannelType string

const (
	ChannelOutbox  ChannelType = "outbox"
	ChannelWebhook ChannelType = "webhook"
	ChannelExec    ChannelType = "exec"
)

// Channel is where texts go out and come in (engine.md §5).
type Channel struct {
	Type            ChannelType    `json:"type"`
	URL             string         `json:"url,omitzero"`       // webhook
	SecretEnv       string         `json:"secretEnv,omitzero"` // webhook: name of an environment variable
	Command         []string       `json:"command,omitzero"`   // exec
	Threads         bool           `json:"threads"`            // true for an outbox unless set
	Owners          []string       `json:"owners,omitzero"`    // sender ids whose `/send` is obeyed
	InboundTokenEnv string         `json:"inboundTokenEnv,omitzero"`
	ThreadBindings  ThreadBindings `json:"threadBindings"` // session.threadBindings where not set
}

// Engine is engine.*.
type Engine struct {
	ResumeWithin time.Duration `json:"resumeWithin"`
	Drain        time.Duration `json:"drain"`
	MaxLive      int           `json:"maxLive"` // live runs, waiting ones included (engine.md §1)
}

// Store is store.*.
type Store struct {
	Mirror    bool      `json:"mirror"`
	Retention Retention `json:"retention"`
}

// Retention is what `doctor --apply` may remove; 0 removes nothing.
type Retention struct {
	ArchivedDays int `json:"archivedDays"` // archived sessions untouched for longer
	Generations  int `json:"generations"`  // older transcripts of a session beyond the newest so many
}

// Redact is logging.redactSensitive.
type Redact string

const (
	RedactTools Redact = "tools"
	RedactOff   Redact = "off"
)

// Logging is the log file and the masking of what sessions are shown.
type Logging struct {
	Level           string   `json:"level"` // debug, info, warn, error
	RedactSensitive Redact   `json:"redactSensitive"`
	RedactPatterns  []string `json:"redactPatterns,omitzero"` // RE2, each one compiles
}

// Gateway is gateway.*; an empty Listen is the unix socket only.
type Gateway struct {
	Listen         string   `json:"listen,omitzero"`   // host:port
	TokenEnv       string   `json:"tokenEnv,omitzero"` // name of an environment variable
	TLS            TLS      `json:"tls"`
	AllowedOrigins []string `json:"allowedOrigins,omitzero"`
	Metrics        bool     `json:"metrics"`
}

// TLS is a pair of PEM files; both or neither.
type TLS struct {
	Cert string `json:"cert,omitzero"`
	Key  string `json:"key,omitzero"`
}

// UI is ui.*.
type UI struct {
	Theme         string `json:"theme"` // auto, or a theme's name
	FPS           int    `json:"fps"`   // 1..120
	Mouse         bool   `json:"mouse"`
	Keymap        string `json:"keymap,omitzero"` // path of a keymap file
	Notifications string `json:"notifications"`   // off, bell, osc9
	Accessible    bool   `json:"accessible"`
}

// Default is what an empty file gives.
func Default() *Config {
	bindings := ThreadBindings{Enabled: true, IdleHours: 24}
	return &Config{
		Session: Session{
			Scope: ScopePerSender, MainKey: key.DefaultMain, DMScope: key.DMMain,
			SendPolicy:     SendPolicy{Default: core.SendAllow},
			AgentToAgent:   Exchange{MaxPingPongTurns: 5, MaxHops: 8, Announce: true},
			ThreadBindings: bindings,
		},
		Tools: Tools{
			Sessions:      SessionTools{Visibility: core.VisibilityTree},
			SessionsSpawn: SessionsSpawn{Attachments{Enabled: true, MaxFiles: 50, MaxFileBytes: 1 << 20, MaxTotalBytes: 5 << 20}},
		},
		Agents:  Agents{Defaults: defaultAgents(), List: []Agent{{ID: key.DefaultMain}}},
		Engine:  Engine{ResumeWithin: 10 * time.Minute, Drain: 30 * time.Second, MaxLive: 64},
		Store:   Store{Mirror: true},
		Logging: Logging{Level: "info", RedactSensitive: RedactTools},
		UI:      UI{Theme: "auto", FPS: 60, Notifications: "off"},
	}
}
