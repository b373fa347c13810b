package engine

import (
	"strings"

	"cordboard/core"
	"cordboard/core/key"
)

// announce stores the text a target wants told to its chat (session-tools.md §6). A chat nobody can reach makes the exchange
// undeliverable; a send policy that denies leaves the row blocked with its rule, never attempted.
func (e *Engine) announce(tx core.Tx, fx *effects, x core.Exchange, run core.Run, text string, now int64) (core.Exchange, error) {
	s, ok, err := tx.Session(x.TargetKey)
	if err != nil {
		return x, err
	}
	d := core.Delivery{ID: run.ID, SessionKey: x.TargetKey, RunID: run.ID, Text: text}
	if ok {
		d.Route = routeOf(&s)
	}
	d, err = e.post(tx, fx, &s, d, now)
	switch d.State {
	case core.DeliveryUndeliverable:
		x.State = core.ExchangeUndeliverable
	case core.DeliveryBlocked:
		x.State, x.Reason = core.ExchangeUndeliverable, "blocked"
	}
	return x, err
}

// answer stores the reply of a run that came in from a channel, for where it came from.
func (e *Engine) answer(tx core.Tx, fx *effects, run *core.Run, s *core.Session, reply string, now int64) error {
	if run.Answer == nil || run.Outcome != core.OutcomeOK || strings.TrimSpace(reply) == "" {
		return nil
	}
	_, err := e.post(tx, fx, s, core.Delivery{ID: run.ID, SessionKey: s.Key, RunID: run.ID, Route: *run.Answer, Text: reply}, now)
	return err
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
