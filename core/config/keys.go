package config

import "cordboard/core"

// keyRow is one key of ours: its path, where `*` is any name and `[]` any item, how its value is written, and what it does.
type keyRow struct {
	path   string
	kind   kind
	effect string
}

// keyRows lists every key of ours (config.md) in the order they are shown. Defaults are in Default, what is not built yet in notYetRows.
func keyRows() []keyRow {
	rows := []keyRow{
		{"session.scope", oneOf("per-sender", "global"), "one bucket per direct chat, or one for all"},
		{"session.mainKey", mainKey(), "name of the main bucket"},
		{"session.dmScope", oneOf("main", "per-peer", "per-channel-peer", "per-account-channel-peer"), "where direct messages go"},
		{"session.sendPolicy.default", oneOf("allow", "deny"), "what no rule decides"},
		{"session.sendPolicy.rules[].match.channel", folded("a channel name"), "channel that the rule is about"},
		{"session.sendPolicy.rules[].match.chatType", oneOf("direct", "group", "channel", "dm=direct"), "chat type that the rule is about"},
		{"session.sendPolicy.rules[].match.keyPrefix", anyText(), "start of the key, with or without agent:<id>:"},
		{"session.sendPolicy.rules[].match.rawKeyPrefix", anyText(), "start of the key as it is stored"},
		{"session.sendPolicy.rules[].action", oneOf("allow", "deny"), "what happens when the rule matches"},
		{"session.agentToAgent.maxPingPongTurns", integer(0, 5), "reply-back turns"},
		{"session.agentToAgent.maxHops", integer(1, 64), "longest chain across sessions"},
		{"session.agentToAgent.announce", boolean(), "announce step after sessions_send"},
		{"tools.sessions.visibility", oneOf(core.Visibilities...), "which sessions a session may see"},
		{"tools.agentToAgent.enabled", boolean(), "access to other agents' sessions"},
		{"tools.agentToAgent.allow", list(folded("an agent id or glob")), "agents that may reach each other; empty is any"},
		{"tools.sessions_spawn.attachments.enabled", boolean(), "files with a spawn"},
		{"tools.sessions_spawn.attachments.maxFiles", integer(0, most), "files per spawn"},
		{"tools.sessions_spawn.attachments.maxFileBytes", integer(0, 1<<40), "bytes per file"},
		{"tools.sessions_spawn.attachments.maxTotalBytes", integer(0, 1<<40), "bytes per spawn"},
		{"tools.subagents.tools.allow", list(anyText()), "tools of sub-agents; unset is all but the session tools"},
		{"tools.subagents.tools.deny", list(anyText()), "tools that sub-agents never get"},
	}
	rows = append(rows, bindingRows("session.threadBindings")...)
	rows = append(rows, agentRows()...)
	rows = append(rows, outsideRows()...)
	return append(rows, programRows()...)
}

func bindingRows(at string) []keyRow {
	const century = 876_000 // hours
	return []keyRow{
		{at + ".enabled", boolean(), "threads bound to a child session"},
		{at + ".idleHours", number(century), "unbound after so long without a message; 0 is never"},
		{at + ".maxAgeHours", number(century), "unbound when so old; 0 is never"},
	}
}

func agentRows() []keyRow {
	const century = 52_560_000 // minutes
	rows := []keyRow{
		{"agents.defaults.maxConcurrent", integer(1, most), "runs side by side in lane main"},
		{"agents.defaults.timeoutSeconds", integer(0, most), "limit of an ordinary run; 0 is none"},
		{"agents.defaults.maxToolCalls", integer(1, most), "tool calls per run"},
		{"agents.defaults.subagents.maxConcurrent", integer(1, most), "sub-agent runs side by side"},
		{"agents.defaults.subagents.maxSpawnDepth", integer(1, 5), "generations of sub-agents"},
		{"agents.defaults.subagents.maxChildrenPerAgent", integer(1, 20), "live children per requester"},
		{"agents.defaults.subagents.runTimeoutSeconds", integer(0, most), "limit of a sub-agent run; 0 is none"},
		{"agents.defaults.subagents.archiveAfterMinutes", integer(0, century), "archived so long after the last run; 0 is never"},
		{"agents.defaults.subagents.announce", boolean(), "announce step of sub-agents"},
		{"agents.list[].id", agentID(), "the agent's id"},
		{"agents.list[].default", boolean(), "owns keys without agent:<id>:"},
		{"agents.list[].name", anyText(), "name that is shown"},
		{"agents.list[].systemPrompt", anyText(), "system prompt"},
		{"agents.list[].systemPromptFile", anyText(), "file that holds the system prompt"},
		{"agents.list[].thinking", thinking(), "thinking level"},
	}
	for _, at := range []string{"agents.defaults", "agents.list[]"} {
		rows = append(rows, modelRows(at+".model", "model")...)
		rows = append(rows, []keyRow{
			{at + ".runtime.type", oneOf("echo", "openai", "acp", "exec", "manual", "external"), "who plays the agent"},
			{at + ".runtime.command", argv(), "command of an acp or exec agent"},
			{at + ".runtime.env", environment(), "its environment"},
			{at + ".workspace", anyText(), "working directory; unset is <data>/workspaces/<agentId>"},
		}...)
		rows = append(rows, modelRows(at+".subagents.model", "model of sub-agents")...)
		rows = append(rows, []keyRow{
			{at + ".subagents.thinking", thinking(), "thinking level of sub-agents"},
			{at + ".subagents.allowAgents", list(allowedAgent()), "agents that a spawn may name"},
			{at + ".sandbox.mode", oneOf("off", "all", "non-main"), "which sessions are sandboxed"},
			{at + ".sandbox.sessionToolsVisibility", oneOf("spawned", "all"), "what sandboxed sessions may see"},
			{at + ".sandbox.command", argv(), "argv prefix of sandboxed acp and exec agents"},
		}...)
	}
	return rows
}

func modelRows(at, what string) []keyRow {
	return []keyRow{
		{at + ".primary", modelName(), what},
		{at + ".fallbacks", list(modelName()), what + " when that one fails"},
	}
}

// outsideRows is what cordboard talks to.
func outsideRows() []keyRow {
	rows := []keyRow{
		{"models.providers.*.baseUrl", webURL(withoutCredentials), "chat-completions endpoint"},
		{"models.providers.*.apiKeyEnv", secretEnv(), "environment variable with its key"},
		{"models.providers.*.models[].id", anyText(), "model"},
		{"models.providers.*.models[].contextWindow", integer(1, most), "tokens it can read"},
		{"models.providers.*.models[].maxTokens", integer(1, most), "tokens it can write"},
		{"models.providers.*.models[].cost.input", number(1e6), "dollars per million tokens read"},
		{"models.providers.*.models[].cost.output", number(1e6), "dollars per million tokens written"},
		{"models.providers.*.models[].thinking", list(thinking()), "thinking levels it knows"},
		{"mcp.servers.*.command", argv(), "command that starts the server"},
		{"mcp.servers.*.env", environment(), "its environment"},
		{"mcp.servers.*.url", secretURL(), "address of the server"},
		{"channels.*.type", oneOf("outbox", "webhook", "exec"), "how texts go out"},
		{"channels.*.url", secretURL(), "where a webhook posts"},
		{"channels.*.secretEnv", secretEnv(), "environment variable with the webhook's signing secret"},
		{"channels.*.command", argv(), "command that takes a text on stdin"},
		{"channels.*.threads", boolean(), "the channel can open threads"},
		{"channels.*.owners", list(anyText()), "sender ids whose /send is obeyed"},
		{"channels.*.inboundTokenEnv", secretEnv(), "environment variable with the token for inbound"},
	}
	return append(rows, bindingRows("channels.*.threadBindings")...)
}

// programRows is cordboard itself.
func programRows() []keyRow {
	return []keyRow{
		{"engine.resumeWithin", duration(), "queued runs younger than this survive a restart"},
		{"engine.drain", duration(), "grace for running runs at shutdown"},
		{"engine.maxLive", integer(1, most), "live runs, waiting ones included"},
		{"store.mirror", boolean(), "JSONL transcripts next to the store"},
		{"store.retention.archivedDays", integer(0, 36_500), "archived sessions that doctor --apply may remove; 0 is none"},
		{"store.retention.generations", integer(0, most), "older transcripts per session that are kept; 0 is all"},
		{"logging.level", oneOf("debug", "info", "warn", "error"), "log file"},
		{"logging.redactSensitive", oneOf("tools", "off"), "masking of what sessions are shown"},
		{"logging.redactPatterns", list(pattern()), "what is masked beside the built-in patterns"},
		{"gateway.listen", listenAddress(), "TCP address; unset is the unix socket only"},
		{"gateway.tokenEnv", secretEnv(), "environment variable with the gateway's token"},
		{"gateway.tls.cert", anyText(), "PEM file with the certificate"},
		{"gateway.tls.key", anyText(), "PEM file with its key"},
		{"gateway.allowedOrigins", list(anyText()), "web origins that may connect"},
		{"gateway.metrics", boolean(), "/metrics on the gateway"},
		{"ui.theme", anyText(), "auto, a theme's name, or its file"},
		{"ui.fps", integer(1, 120), "most frames per second"},
		{"ui.mouse", boolean(), "mouse capture"},
		{"ui.keymap", anyText(), "file of keys for the console"},
		{"ui.notifications", oneOf("off", "bell", "osc9"), "how the console tells of sessions that fail"},
		{"ui.accessible", boolean(), "linear output without box drawing"},
	}
}

// notYetRow is a key, or a group of keys, whose feature is not built; later work deletes its rows one by one.
type notYetRow struct{ path, feature string }

func notYetRows() []notYetRow {
	return []notYetRow{
		{"channels.*.inboundTokenEnv", "inbound on the gateway"},
		{"store.mirror", "transcript mirror"},
		{"store.retention", "retention"},
		{"gateway", "gateway"},
	}
}
