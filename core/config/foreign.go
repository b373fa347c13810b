package config

import (
	"slices"
	"strings"

	"cordboard/core"
	"cordboard/core/config/json5"
)

// foreignKeys lists, by the object that holds them, the keys of an OpenClaw file that have no effect here; `*` is any key that does not
// look like ours. A key that is ours never stands here; what is below a listed key is not looked at. Sources: openclaw-files.md, and OpenClaw's documented schema.
func foreignKeys() map[string][]string {
	const agent = "identity groupChat tools heartbeat humanDelay skills skillsLimits memorySearch memory params agentDir description " +
		"models modelPolicy utilityModel thinkingDefault verboseDefault reasoningDefault elevatedDefault fastModeDefault toolProgressDetail " +
		"contextInjection contextTokens contextLimits bootstrapMaxChars bootstrapTotalMaxChars experimental typingMode " +
		"typingIntervalSeconds tts embeddedPi embeddedAgent plugins compaction contextPruning blockStreamingDefault cliBackends"
	const defaults = agent + " imageModel imageGenerationModel pdfModel pdfMaxBytesMb pdfMaxPages repoRoot skipBootstrap " +
		"bootstrapPromptTruncationWarning userTimezone timeFormat envelopeTimezone envelopeTimestamp envelopeElapsed " +
		"blockStreamingBreak blockStreamingChunk blockStreamingCoalesce mediaMaxMb imageMaxDimensionPx additionalSystemPrompt"
	const subagents = "delegationMode requireAgentId announceTimeoutMs"
	const sandbox = "backend scope perSession workspaceAccess workspaceRoot docker ssh browser prune"
	const channel = "enabled name accounts defaultAccount botToken token tokenFile appToken userToken signingSecret allowFrom dmPolicy " +
		"dm dms direct groups guilds groupPolicy groupAllowFrom historyLimit dmHistoryLimit mediaMaxMb textChunkLimit chunkMode streaming " +
		"streamMode blockStreaming blockStreamingCoalesce replyToMode reactionNotifications reactionLevel ackReaction actions commands " +
		"customCommands capabilities configWrites markdown webhookUrl webhookSecret webhookPath webhookPort proxy retry network heartbeat " +
		"healthMonitor responsePrefix thread execApprovals linkPreview defaultTo selfChatMode sendReadReceipts account httpUrl"
	keys := map[string]string{
		"": "$schema meta env wizard diagnostics cli crestodian update browser secrets auth acp nodeHost bindings broadcast audio " +
			"media messages commands approvals cron hooks web discovery canvasHost talk skills plugins memory surfaces proxy",
		"session": "identityLinks transcriptRetentionDays maxRecentTurns resetTriggers idleMinutes reset resetByType resetByChannel " +
			"store typingIntervalSeconds typingMode parentForkMaxTokens maintenance",
		"session.threadBindings": "spawnSubagentSessions spawnAcpSessions",
		"tools": "profile allow alsoAllow deny byProvider toolsBySender web media links loopDetection toolSearch codeMode swarm " +
			"message elevated exec fs sandbox experimental agents",
		"tools.sessions_spawn.attachments": "retainOnSessionKeep",
		"tools.subagents":                  "model",
		"tools.subagents.tools":            "alsoAllow",
		"agents.defaults":                  defaults,
		"agents.list[]":                    agent,
		"agents.defaults.model":            "timeoutMs",
		"agents.list[].model":              "timeoutMs",
		"agents.defaults.subagents":        subagents,
		"agents.list[].subagents":          subagents,
		"agents.defaults.sandbox":          sandbox,
		"agents.list[].sandbox":            sandbox,
		"agents.list[].runtime":            "acp",
		"models":                           "mode bedrockDiscovery pricing proxy",
		"models.providers.*":               "apiKey auth api headers authHeader injectNumCtxForOpenAICompat request",
		"models.providers.*.models[]":      "name api reasoning input headers compat contextTokens params",
		"models.providers.*.models[].cost": "cacheRead cacheWrite",
		"mcp":                              "sessionIdleTtlMs",
		"mcp.servers.*":                    "args cwd workingDirectory transport headers connectionTimeoutMs",
		"channels":                         "defaults modelByChannel",
		"channels.*":                       channel,
		"channels.*.threadBindings":        "spawnSubagentSessions spawnAcpSessions",
		"logging":                          "file maxFileBytes consoleLevel consoleStyle",
		"gateway": "mode port bind customBindHost auth controlUi webchat tools trustedProxies allowRealIpFallback tailscale remote " +
			"reload http push nodes handshakeTimeoutMs channelHealthCheckMinutes channelStaleEventThresholdMinutes channelMaxRestartsPerHour",
		"gateway.tls": "enabled autoGenerate certPath keyPath caPath",
		"ui":          "seamColor assistant prefs",
	}
	for _, name := range foreignChannels() {
		keys["channels."+name] = "*"
	}
	split := make(map[string][]string, len(keys))
	for at, names := range keys {
		split[at] = strings.Fields(names)
	}
	return split
}

// foreignChannels lists OpenClaw's own channels and its extensions. Each has keys by the dozen, so any key is taken there that does not
// look like a misspelt one of ours.
func foreignChannels() []string {
	return strings.Fields("bluebubbles discord feishu googlechat imessage irc line matrix mattermost msteams nextcloud-talk nostr " +
		"signal slack synology-chat telegram tlon twitch webchat whatsapp zalo zalouser")
}

// foreignNotes says what to use instead, by path in the table.
func foreignNotes() map[string]string {
	return map[string]string{
		"agents.defaults.thinkingDefault": "cordboard's key is agents.list[].thinking",
		"agents.list[].thinkingDefault":   "cordboard's key is thinking",
		"gateway.auth":                    "cordboard names an environment variable in gateway.tokenEnv",
		"gateway.bind":                    "cordboard's key is gateway.listen",
		"gateway.port":                    "cordboard's key is gateway.listen",
		"gateway.tls.certPath":            "cordboard's key is gateway.tls.cert",
		"gateway.tls.keyPath":             "cordboard's key is gateway.tls.key",
		"models.providers.*.apiKey":       "write apiKeyEnv: the name of an environment variable that holds the key",
		"session.maintenance":             "cordboard's key is store.retention",
	}
}

// foreignForm is a way to write one of our keys that OpenClaw takes and we do not: the key is then without effect.
type foreignForm struct {
	path string
	is   func(r *reader, name string, v *json5.Value) bool // name: the key, or the free name
	note string
}

func foreignForms() []foreignForm {
	alias := func(_ *reader, _ string, v *json5.Value) bool {
		return v.Kind == json5.String && strings.TrimSpace(v.Text) != "" && !strings.Contains(v.Text, "/")
	}
	runtime := func(_ *reader, _ string, v *json5.Value) bool {
		kind, _ := member(v, "type")
		_, acp := member(v, "acp")
		_, command := member(v, "command")
		return kind != nil && kind.Text == "embedded" || acp && !command
	}
	const aliasNote = `an alias of OpenClaw's; cordboard takes "provider/model"`
	return []foreignForm{
		{"logging.level", func(_ *reader, _ string, v *json5.Value) bool {
			return slices.Contains([]string{"silent", "fatal", "trace"}, v.Text)
		}, "cordboard's levels are debug, info, warn and error"},
		{"agents.defaults.model", alias, aliasNote},
		{"agents.list[].model", alias, aliasNote},
		{"agents.defaults.subagents.model", alias, aliasNote},
		{"agents.list[].subagents.model", alias, aliasNote},
		{"agents.list[].runtime", runtime, "OpenClaw's way to run an agent"},
		{"mcp.servers.*", func(_ *reader, _ string, v *json5.Value) bool {
			command, ok := member(v, "command")
			return ok && command.Kind == json5.String
		}, "cordboard takes command as a list of words"},
		{"channels.*", foreignChannel, "a channel of OpenClaw's; cordboard's channels have a type"},
	}
}

// foreignChannel reports whether an entry says nothing to us: the name of a channel of OpenClaw's and no key that is or looks like ours.
func foreignChannel(r *reader, name string, v *json5.Value) bool {
	n := r.root.find("channels.*")
	return v.Kind == json5.Object && len(v.Members) > 0 && slices.Contains(foreignChannels(), name) &&
		!slices.ContainsFunc(v.Members, func(m json5.Member) bool {
			return n.field(m.Name) != nil || likeOurs(m.Name, n.names(), r.foreign[n.path])
		})
}

func member(v *json5.Value, name string) (*json5.Value, bool) {
	for _, m := range v.Members {
		if m.Name == name {
			return m.Value, true
		}
	}
	return nil, false
}

// likeOurs reports whether a key is one slip away from a key of ours and not a known key itself.
func likeOurs(name string, ours, known []string) bool {
	return !slices.Contains(known, name) && slices.ContainsFunc(ours, func(o string) bool { return core.Distance(name, o) <= 1 })
}
