package key

import (
	"strings"

	"cordboard/core"
)

// Direct is the key of a direct chat by session.dmScope; `main` scope, global scope and a blank peer give the agent's main session.
// The channel is lower-cased (blank is `unknown`), a blank account is `default`, the peer is kept as it is but for white space around
// it.
func (n Names) Direct(agentID, channel, account, peer string) string {
	peer = strings.TrimSpace(peer)
	if n.global || peer == "" {
		return n.Main(agentID)
	}
	front := agentPrefix + n.agent(agentID) + ":"
	switch n.dm {
	case DMPerPeer:
		return front + "direct:" + peer
	case DMPerChannelPeer:
		return front + channelOr(channel) + ":direct:" + peer
	case DMPerAccountChannelPeer:
		if account = strings.TrimSpace(account); account == "" {
			account = "default"
		}
		return front + channelOr(channel) + ":" + account + ":direct:" + peer
	}
	return n.Main(agentID)
}

// Group is the key of a group chat or, for ChatChannel, of a channel. The id is kept as it is but for white space around it.
func (n Names) Group(agentID, channel string, chat core.ChatType, id string) string {
	word := ":group:"
	if chat == core.ChatChannel {
		word = ":channel:"
	}
	return agentPrefix + n.agent(agentID) + ":" + channelOr(channel) + word + strings.TrimSpace(id)
}

func channelOr(channel string) string {
	if channel = fold(channel); channel == "" {
		return ChannelUnknown
	}
	return channel
}
