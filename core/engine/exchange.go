package engine

import (
	"fmt"
	"strings"

	"cordboard/core"
)

// What a model answers to end a loop, and to announce nothing (session-tools.md §6).
const (
	replySkip    = "REPLY_SKIP"
	announceSkip = "ANNOUNCE_SKIP"
)

// announceStep is the message of the step in which a target is asked what to tell its chat; request and replies are in the run's context.
const announceStep = "Agent-to-agent announce step."

// order is a run that an exchange wants queued. Its id is derived, so that the same step is never queued twice.
type order struct {
	id      string
	kind    core.RunKind
	session string // in which it runs
	source  string // whose message it carries
	message string
}

// outcome is what an exchange makes of a run that ended.
type outcome struct {
	exchange core.Exchange
	next     *order // the next step
	announce string // text for the target's chat, "" = none
}

// step moves an exchange on when one of its runs has ended; reply is that run's text, external says that nobody here answered it
// (engine.md §4, external.go). It is a pure function: it is applied in the transaction that ends the run, and applying it again makes the
// same orders.
func step(x core.Exchange, ended core.Run, reply string, external bool) outcome {
	switch {
	case over(x.State):
		return outcome{exchange: x}
	case ended.Kind == core.RunAnnounce:
		return announced(x, ended, reply)
	case external && ended.Outcome == core.OutcomeOK:
		return handedOver(x, ended)
	case ended.Kind == core.RunSend:
		return answered(x, ended, reply)
	}
	return turned(x, ended, reply)
}

func over(s core.ExchangeState) bool {
	switch s {
	case core.ExchangeDone, core.ExchangeSkipped, core.ExchangeUndeliverable, core.ExchangeFailed, core.ExchangeStopped:
		return true
	}
	return false
}

// answered begins the loop after round 1. A round 1 that did not end ok has neither loop nor announce.
func answered(x core.Exchange, ended core.Run, reply string) outcome {
	if ended.Outcome != core.OutcomeOK {
		x.State, x.Reason, x.Why = core.ExchangeFailed, string(ended.Outcome), ended.Error
		return outcome{exchange: x}
	}
	x.FirstReply, x.LatestReply = reply, reply
	return goOn(x, reply)
}

// turned takes a ping-pong turn. One that failed, or was interrupted or refused, ends the loop and the announce follows; one that the
// operator aborted ends the exchange.
func turned(x core.Exchange, ended core.Run, reply string) outcome {
	switch ended.Outcome {
	case core.OutcomeOK:
	case core.OutcomeAborted:
		x.State, x.Reason, x.Why = core.ExchangeStopped, "aborted", ended.Error
		return outcome{exchange: x}
	default:
		x.Why = ended.Error
		return toAnnounce(x, string(ended.Outcome))
	}
	if reason := ends(reply); reason != "" {
		return toAnnounce(x, reason)
	}
	x.LatestReply = reply
	return goOn(x, reply)
}

// handedOver ends the loop at a side that a client outside plays. Only a target that is played here can be asked what to announce.
func handedOver(x core.Exchange, ended core.Run) outcome {
	const reason = "external"
	if ended.SessionKey != x.TargetKey {
		return toAnnounce(x, reason)
	}
	x.State, x.Reason = core.ExchangeSkipped, reason
	return outcome{exchange: x}
}

// ends says why a reply ends the loop, "" when it does not.
func ends(reply string) string {
	switch strings.TrimSpace(reply) {
	case "":
		return "blank"
	case replySkip:
		return "skip"
	}
	return ""
}

// goOn orders the next turn: odd ones are the requester's, even ones the target's.
func goOn(x core.Exchange, reply string) outcome {
	if x.Turn == 0 {
		if reason := ends(reply); reason != "" {
			return toAnnounce(x, reason)
		}
		if x.RequesterKey == x.TargetKey {
			return toAnnounce(x, "self")
		}
	}
	if x.Turn >= x.Turns {
		return toAnnounce(x, "turns")
	}
	x.Turn++
	x.State = core.ExchangeLooping
	speaker, other := x.RequesterKey, x.TargetKey
	if x.Turn%2 == 0 {
		speaker, other = other, speaker
	}
	return outcome{exchange: x, next: &order{
		id: turnID(x.ID, x.Turn), kind: core.RunTurn, session: speaker, source: other, message: reply,
	}}
}

func turnID(exchange string, turn int) string { return fmt.Sprintf("%s/t%d", exchange, turn) }

// toAnnounce ends the loop for a reason and asks the target once more.
func toAnnounce(x core.Exchange, reason string) outcome {
	x.Reason = reason
	if !x.Announce {
		x.State = core.ExchangeSkipped
		return outcome{exchange: x}
	}
	x.State = core.ExchangeAnnouncing
	return outcome{exchange: x, next: &order{
		id: x.ID + "/announce", kind: core.RunAnnounce, session: x.TargetKey, source: x.RequesterKey, message: announceStep,
	}}
}

// announced ends the exchange. An announce step that failed is never repeated by itself.
func announced(x core.Exchange, ended core.Run, reply string) outcome {
	if ended.Outcome != core.OutcomeOK {
		x.State, x.Reason, x.Why = core.ExchangeFailed, "announce "+string(ended.Outcome), ended.Error
		return outcome{exchange: x}
	}
	text := announcement(reply)
	if text == "" {
		x.State = core.ExchangeSkipped
		return outcome{exchange: x}
	}
	x.State = core.ExchangeDone
	return outcome{exchange: x, announce: text}
}

// announcement is what of an announce answer reaches people: nothing when it is blank or the token, else the text without a last line
// that is nothing but the token.
func announcement(reply string) string {
	text := strings.TrimSpace(reply)
	if at := strings.LastIndexByte(text, '\n'); at >= 0 && strings.TrimSpace(text[at:]) == announceSkip {
		text = strings.TrimSpace(text[:at])
	}
	if text == announceSkip {
		return ""
	}
	return text
}
