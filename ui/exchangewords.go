package ui

import (
	"strconv"
	"strings"

	"cordboard/core"
)

// exchangeOver reports whether nothing of an exchange is still to come.
func exchangeOver(x *core.Exchange) bool {
	switch x.State {
	case core.ExchangePrimary, core.ExchangeLooping, core.ExchangeAnnouncing:
		return false
	}
	return true
}

// exchangeSign is how an exchange stands: glyph, words and ink.
func exchangeSign(k *shades, x *core.Exchange) (glyph, words string, paint ink) {
	switch x.State {
	case core.ExchangePrimary:
		return "●", "round 1", k.busy
	case core.ExchangeLooping:
		return "●", "turn " + strconv.Itoa(x.Turn) + " of " + strconv.Itoa(x.Turns), k.busy
	case core.ExchangeAnnouncing:
		return "●", "announcing", k.busy
	case core.ExchangeDone:
		return "✓", "announced", k.ok
	case core.ExchangeSkipped:
		return "✓", "kept silent", k.ok
	case core.ExchangeUndeliverable:
		return "▲", "not told", k.warn
	case core.ExchangeFailed:
		return "✗", "failed", k.err
	case core.ExchangeStopped:
		return "⊘", "stopped", k.warn
	}
	return "·", string(x.State), k.muted
}

// exchangeStory says in words why the loop of an exchange ended, or what it waits for, and what became of the announce.
func (m *Model) exchangeStory(x *core.Exchange) string {
	target := m.placed(x.TargetKey)
	switch x.State {
	case core.ExchangePrimary:
		return target + " was asked and has not answered yet."
	case core.ExchangeLooping:
		return m.placed(speaker(x)) + " is asked in turn " + strconv.Itoa(x.Turn) + " of at most " + strconv.Itoa(x.Turns) + "."
	case core.ExchangeAnnouncing:
		return m.loopEnd(x) + " " + target + " is asked what to tell its chat."
	case core.ExchangeDone:
		return m.loopEnd(x) + " " + target + " wrote what its chat is told."
	case core.ExchangeSkipped:
		if !x.Announce {
			return m.loopEnd(x) + " Nothing is announced after it."
		}
		return m.loopEnd(x) + " " + target + " chose to tell nobody."
	case core.ExchangeUndeliverable:
		if x.Reason == "blocked" {
			return "The send policy keeps " + target + " from telling its chat: the text is kept, and not sent."
		}
		return m.loopEnd(x) + " " + target + " has no chat that could be told."
	case core.ExchangeFailed:
		return m.exchangeFailure(x)
	case core.ExchangeStopped:
		if x.Reason == "aborted" {
			return "A turn was aborted by hand: the exchange ended without an announce."
		}
		return "The exchange was stopped by hand: nothing more of it runs or is announced."
	}
	return ""
}

func (m *Model) exchangeFailure(x *core.Exchange) string {
	target := m.placed(x.TargetKey)
	if how, ok := strings.CutPrefix(x.Reason, "announce "); ok {
		return target + " was asked what to tell its chat, and that run ended with " + how + ". It is not repeated by itself."
	}
	if refused := refusedWords(x.Reason); refused != "" {
		return "The next step " + refused + "."
	}
	return target + " did not answer: its run ended with " + firstOf(x.Reason, "an error") + ". So there is neither a loop nor an announce."
}

// loopEnd says why no further turn was taken.
func (m *Model) loopEnd(x *core.Exchange) string {
	switch x.Reason {
	case "skip":
		return m.placed(speaker(x)) + " answered REPLY_SKIP, which ends the talk."
	case "blank":
		return m.placed(speaker(x)) + " said nothing, which ends the talk."
	case "turns":
		if x.Turns == 0 {
			return "No turns follow round 1 (session.agentToAgent.maxPingPongTurns is 0)."
		}
		return "All " + plural(x.Turns, "turn") + " were taken."
	case "self":
		return "A session that writes to itself gets one answer and no turns."
	case "child":
		return "A session that writes to its own child gets one answer and no turns."
	case "external":
		return "The agent is played from outside, so no turn is run here."
	case "error", "timeout", "aborted", "interrupted":
		return "Turn " + strconv.Itoa(x.Turn) + " ended with " + x.Reason + "."
	case "":
		return "The talk is over."
	}
	if refused := refusedWords(x.Reason); refused != "" {
		return "The next turn " + refused + "."
	}
	return "The talk ended: " + x.Reason + "."
}

// refusedWords say why a step was refused, "" when the reason is no refusal.
func refusedWords(reason string) string {
	switch reason {
	case string(core.CodeSendDenied), "denied":
		return "was denied by the send policy"
	case string(core.CodeMirrored):
		return "was refused: the session is mirrored, so nobody answers for it here"
	case string(core.CodeNotFound):
		return "was refused: the session is gone"
	case string(core.CodeHopLimit):
		return "was refused: the chain of messages is too long (session.agentToAgent.maxHops)"
	}
	return ""
}

// speaker is who is asked in the turn at hand, or was in the last: odd ones are the requester's (session-tools.md §6).
func speaker(x *core.Exchange) string {
	if x.Turn%2 == 1 {
		return x.RequesterKey
	}
	return x.TargetKey
}

// deliverySign is how an outbound text stands: glyph, word and ink.
func deliverySign(k *shades, d *core.Delivery) (glyph, word string, paint ink) {
	if d.Kept() {
		return "✓", "kept here", k.muted
	}
	switch d.State {
	case core.DeliveryPending:
		return "◌", "waiting", k.busy
	case core.DeliveryAttempting:
		return "●", "sending", k.busy
	case core.DeliveryDelivered:
		return "✓", "delivered", k.ok
	case core.DeliveryGaveUp:
		return "✗", "gave up", k.err
	case core.DeliveryUnknown:
		return "▲", "unknown", k.warn
	case core.DeliveryBlocked:
		return "▲", "blocked", k.warn
	case core.DeliveryCancelled:
		return "⊘", "cancelled", k.warn
	case core.DeliveryUndeliverable:
		return "▲", "no route", k.warn
	case core.DeliveryExpired:
		return "⊘", "expired", k.warn
	}
	return "·", string(d.State), k.muted
}

// deliveryStory says in words what a state means and what to do about it.
func (m *Model) deliveryStory(d *core.Delivery) string {
	switch d.State {
	case core.DeliveryDelivered:
		if d.Kept() {
			return "The channel " + d.Route.Channel + " is not configured to go anywhere (channels." + d.Route.Channel + "): the text is kept here."
		}
	case core.DeliveryPending:
		if d.Attempts > 0 {
			return "It could not be sent yet and is tried again."
		}
		return "It is to be sent."
	case core.DeliveryAttempting:
		return "It is being sent."
	case core.DeliveryGaveUp:
		return "It could not be sent, and is not tried again by itself."
	case core.DeliveryUnknown:
		return "It was being sent when the owner ended: it may have arrived. Look there before it is sent again."
	case core.DeliveryBlocked:
		return "The send policy does not let it out."
	case core.DeliveryCancelled:
		return "It was stopped by hand before it was sent."
	case core.DeliveryUndeliverable:
		return "The session has no chat that could be told."
	case core.DeliveryExpired:
		return "It was too old to be sent when the owner started."
	}
	return ""
}
