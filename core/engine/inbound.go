package engine

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"cordboard/core"
	"cordboard/core/key"
)

// inbound takes a message from a channel: the session is found or made by the key grammar, the row learns where the chat is, an owner's
// standalone /send sets the send policy, and the agent answers to where the message came from (engine.md §5, session-tools.md §7).
func (b *board) inbound(ctx context.Context, c core.Command) (receipt core.Receipt, err error) {
	in := *c.Inbound
	if err := b.checkInbound(&in); err != nil {
		return receipt, err
	}
	id, sessionID := c.Key, b.options.NewID()
	if id == "" {
		id = b.options.NewID()
	}
	now := b.now()
	rev, err := b.write(ctx, func(tx core.Tx, fx *effects) error {
		known, repeated, err := tx.Run(id)
		if err != nil || repeated {
			receipt = core.Receipt{Key: known.SessionKey, Run: id}
			return err
		}
		s, err := b.inboundSession(tx, &in, sessionID, now)
		if err != nil {
			return err
		}
		receipt = core.Receipt{Key: s.Key}
		if mode, ok := sendCommand(in.Text); ok && b.owns(&in) {
			s.SendPolicy = mode
			receipt.Outcome = "send policy " + modeName(mode)
			if err := tx.PutSession(s); err != nil {
				return err
			}
			return tx.AddAudit(core.AuditEntry{At: now, Who: in.Channel + ":" + in.SenderID, Verb: "/send", Target: s.Key, Result: modeName(mode)})
		}
		run := core.Run{ID: id, Kind: core.RunChat, Message: in.Text, Provenance: &core.Provenance{Kind: "external_user", SourceChannel: in.Channel}}
		if verdict := b.send(&s); !verdict.Allowed {
			run.Kind = core.RunNote // the people's message is kept, no agent runs
			receipt.Outcome = "blocked: " + verdict.Rule
		} else {
			route := key.Delivery(&s)
			route.ThreadID = in.ThreadID
			run.Answer = &route
		}
		receipt.Run = id
		_, err = b.enqueue(tx, fx, run, s, now)
		return err
	})
	receipt.Rev = rev
	return receipt, err
}

func (b *board) checkInbound(in *core.Inbound) error {
	in.Channel, in.ID, in.Peer = strings.ToLower(strings.TrimSpace(in.Channel)), strings.TrimSpace(in.ID), strings.TrimSpace(in.Peer)
	in.Agent = strings.ToLower(strings.TrimSpace(in.Agent))
	if in.Agent == "" {
		in.Agent = b.names.DefaultAgent()
	}
	if in.ChatType == core.ChatUnknown {
		in.ChatType = core.ChatDirect
	}
	_, configured := b.config.Agent(in.Agent)
	switch {
	case b.drive == nil:
		return core.Errorf(core.CodeUnsupported, "no engine runs agents here")
	case in.Channel == "":
		return core.Errorf(core.CodeInvalidParams, "channel is blank: name the channel the message came from")
	case strings.TrimSpace(in.Text) == "" || !utf8.ValidString(in.Text):
		return core.Errorf(core.CodeInvalidParams, "text must be UTF-8 and not blank")
	case in.ChatType == core.ChatDirect && in.Peer == "":
		return core.Errorf(core.CodeInvalidParams, "peer is blank: a direct message names who wrote it")
	case in.ChatType != core.ChatDirect && in.ChatType != core.ChatGroup && in.ChatType != core.ChatChannel:
		return core.Errorf(core.CodeInvalidParams, "chatType %q: direct, group or channel", in.ChatType).Accept("direct", "group", "channel")
	case in.ChatType != core.ChatDirect && in.ID == "":
		return core.Errorf(core.CodeInvalidParams, "id is blank: a %s names itself", in.ChatType)
	case !configured:
		return core.Errorf(core.CodeInvalidParams, "agent %q is not configured", in.Agent).Because("agents.list")
	}
	return nil
}

// inboundSession is the session a message belongs to, with what the message tells of its chat; it is made by its first message.
func (b *board) inboundSession(tx core.Tx, in *core.Inbound, sessionID string, now int64) (core.Session, error) {
	sessionKey := b.names.Direct(in.Agent, in.Channel, in.AccountID, in.Peer)
	to := in.Peer
	if in.ChatType != core.ChatDirect {
		sessionKey, to = b.names.Group(in.Agent, in.Channel, in.ChatType, in.ID), in.ID
	}
	s, ok, err := tx.Session(sessionKey)
	if err != nil {
		return s, err
	}
	if !ok {
		s = core.Session{Key: sessionKey, SessionID: sessionID, CreatedAt: now, ChatType: in.ChatType}
	}
	if s.Mirrored() {
		return s, b.mayRun(&s)
	}
	s.ArchivedAt = 0 // a message brings an archived session back
	s.LastChannel, s.LastTo, s.LastAccountID, s.LastThreadID = in.Channel, to, in.AccountID, in.ThreadID
	if in.ChatType != core.ChatDirect {
		s.Channel = in.Channel
	}
	if in.Name != "" && s.DisplayName == "" {
		s.DisplayName = in.Name
	}
	return s, nil
}

// owns reports whether a sender may command the session: channels.<name>.owners.
func (b *board) owns(in *core.Inbound) bool {
	return in.SenderID != "" && slices.Contains(b.config.Channels[in.Channel].Owners, in.SenderID)
}

// sendCommand reads a standalone `/send on|off|inherit`: the whole message, in any case, with or without a colon (session-tools.md §7).
func sendCommand(text string) (mode core.SendPolicy, ok bool) {
	rest, ok := strings.CutPrefix(strings.ToLower(strings.TrimSpace(text)), "/send")
	if !ok {
		return "", false
	}
	switch strings.TrimSpace(strings.TrimPrefix(rest, ":")) {
	case "on":
		return core.SendAllow, strings.TrimLeft(rest, " \t:") != rest
	case "off":
		return core.SendDeny, strings.TrimLeft(rest, " \t:") != rest
	case "inherit":
		return core.SendInherit, strings.TrimLeft(rest, " \t:") != rest
	}
	return "", false
}

func modeName(mode core.SendPolicy) string {
	if mode == core.SendInherit {
		return "inherit"
	}
	return string(mode)
}
