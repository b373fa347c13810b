package key

import (
	"strings"

	"cordboard/core"
)

// BaseKind classifies a key by everything but the main key, so that an index may store it: `cron`, `hook` and `node` by the first word
// after `agent:<id>:`, `group` by the stored chat type or a `:group:` or `:channel:` in the key, else `other`. It never allocates.
// Names.Kind is the whole classifier (session-tools.md §1).
func BaseKind(key string, chat core.ChatType) core.Kind {
	_, rest, _ := split(key)
	switch {
	case hasPrefixFold(rest, "cron:"):
		return core.KindCron
	case hasPrefixFold(rest, "hook:"):
		return core.KindHook
	case hasPrefixFold(rest, "node-"), hasPrefixFold(rest, "node:"):
		return core.KindNode
	case chat == core.ChatGroup, chat == core.ChatChannel, groupShaped(rest):
		return core.KindGroup
	}
	return core.KindOther
}

func groupShaped(rest string) bool {
	return indexFold(rest, ":group:") >= 0 || indexFold(rest, ":channel:") >= 0
}

// ReadChatType reads a stored or configured chat type: trimmed, in any case, `dm` as ChatDirect; anything unknown is ChatUnknown.
func ReadChatType(s string) core.ChatType { return chatWord(strings.TrimSpace(s)) }

// ChatType derives the chat type from the words of a key: `group` before `channel` before `direct` or `dm`, else ChatUnknown. It also
// reads the old `discord:[<account>:]guild-<id>:channel-<id>`. A stored chat type goes before it (session-tools.md §1).
func ChatType(key string) core.ChatType {
	_, rest, _ := split(strings.TrimSpace(key))
	var group, channel, direct bool
	for word := range strings.SplitSeq(rest, ":") {
		switch chatWord(word) {
		case core.ChatGroup:
			group = true
		case core.ChatChannel:
			channel = true
		case core.ChatDirect:
			direct = true
		}
	}
	switch {
	case group:
		return core.ChatGroup
	case channel:
		return core.ChatChannel
	case direct:
		return core.ChatDirect
	case oldDiscordChannel(rest):
		return core.ChatChannel
	}
	return core.ChatUnknown
}

func oldDiscordChannel(rest string) bool {
	guild := indexFold(rest, ":guild-")
	return hasPrefixFold(rest, "discord:") && guild >= 0 && indexFold(rest[guild:], ":channel-") > 0
}

// IsSubagent reports whether a key names a sub-agent session by its form, `subagent:…` with or without `agent:<id>:`. Stored lineage,
// not the form, decides who is whose child.
func IsSubagent(key string) bool {
	_, rest, _ := split(strings.TrimSpace(key))
	return hasPrefixFold(rest, "subagent:")
}

// SubagentDepth counts `:subagent:` in a key: 0 for a session that no one spawned, 1 for a child.
func SubagentDepth(key string) int {
	const word = ":subagent:"
	depth := 0
	for {
		at := indexFold(key, word)
		if at < 0 {
			return depth
		}
		depth++
		key = key[at+len(word):]
	}
}

// IsCron reports whether a key is an agent's cron session, `agent:<id>:cron:…`. The bare form is of KindCron but names no agent.
func IsCron(key string) bool {
	_, rest, shape := split(strings.TrimSpace(key))
	return shape == ShapeAgent && hasPrefixFold(rest, "cron:")
}
