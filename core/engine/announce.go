package engine

import (
	"strings"

	"cordboard/core"
	"cordboard/core/config"
	"cordboard/core/key"
)

// announce stores the text a target wants told to its chat (session-tools.md §6). A chat nobody can reach makes the exchange
// undeliverable; a send policy that denies leaves the row blocked with its rule, never attempted.
func (e *Engine) announce(tx core.Tx, x core.Exchange, run core.Run, text string, now int64) (core.Exchange, error) {
	s, ok, err := tx.Session(x.TargetKey)
	if err != nil {
		return x, err
	}
	d := core.Delivery{ID: run.ID, SessionKey: x.TargetKey, RunID: run.ID, Text: text, CreatedAt: now}
	if ok {
		d.Route = routeOf(&s)
	}
	switch verdict := e.send(&s); {
	case !ok, d.Route.Channel == "", d.Route.To == "":
		d.State, x.State = core.DeliveryUndeliverable, core.ExchangeUndeliverable
	case !verdict.Allowed:
		d.State, d.Rule, x.State, x.Reason = core.DeliveryBlocked, verdict.Rule, core.ExchangeUndeliverable, "blocked"
	default:
		d.State = e.firstState(d.Route.Channel)
	}
	return x, tx.PutDelivery(d)
}

// routeOf is where a session's chat is: what was recorded last, else of a group or channel what its key says. A main or internal session
// without either has no route.
func routeOf(s *core.Session) core.DeliveryContext {
	route := key.Delivery(s)
	if route.Channel != "" && route.To != "" {
		return route
	}
	parts, ok := key.Parse(s.Key)
	if !ok || parts.Channel == "" || parts.ChatType != core.ChatGroup && parts.ChatType != core.ChatChannel {
		return route
	}
	kind := string(parts.ChatType)
	if parts.Channel == "discord" || parts.Channel == "slack" {
		kind = string(core.ChatChannel) // there a group is a channel
	}
	return core.DeliveryContext{Channel: parts.Channel, To: kind + ":" + strings.TrimSpace(parts.ID), AccountID: route.AccountID, ThreadID: parts.Thread}
}

// firstState is how a delivery begins. An outbox delivers by keeping and showing the text (engine.md §5).
func (e *Engine) firstState(channel string) core.DeliveryState {
	if c, ok := e.config.Channels[channel]; ok && c.Type != config.ChannelOutbox {
		return core.DeliveryPending
	}
	return core.DeliveryDelivered
}
