package engine

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"cordboard/core"
	"cordboard/core/key"
)

// inbound takes a message from a channel: the session is found or made by the key grammar, the row learns where the chat is, an owner's
// standalone /send sets the send policy, and the agent answers to where the message came from (engine.md §5, session-tools.md §7).
func (b *board) inbound(c core.Command) (verb, error) {
	in := *c.Inbound
	err := b.checkInbound(&in)
	id, sessionID := cmp.Or(c.Key, b.options.NewID()), b.options.NewID()
	return verb{
		name: "inbound", who: in.Channel + ":" + in.SenderID, target: cmp.Or(in.ID, in.Peer),
		do: func(a *act) error { return b.takeIn(a, &in, id, sessionID) },
	}, err
}

func (b *board) takeIn(a *act, in *core.Inbound, id, sessionID string) error {
	if known, repeated, err := a.Run(id); err != nil || repeated {
		a.receipt, a.quiet = core.Receipt{Key: known.SessionKey, Run: id}, true
		return errFirst(err, sameMessage(a, &known, in.Text))
	}
	s, err := b.inboundSession(a, in, sessionID)
	if err != nil {
		return err
	}
	a.receipt.Key = s.Key
	if mode, ok := sendCommand(in.Text); ok && b.owns(in) {
		return b.sendMode(a, s, mode)
	}
	run := core.Run{ID: id, Kind: core.RunChat, Message: in.Text, Provenance: &core.Provenance{Kind: "external_user", SourceChannel: in.Channel}}
	if verdict := b.send(&s); !verdict.Allowed {
		run.Kind = core.RunNote // the people's message is kept, no agent runs
		a.receipt.Outcome = "blocked: " + verdict.Rule
		run.Label = a.receipt.Outcome
	} else {
		route := key.Delivery(&s)
		route.ThreadID = in.ThreadID
		run.Answer = &route
	}
	a.receipt.Run, a.after = id, map[string]string{"run": id}
	_, err = b.enqueue(a, a.fx, run, s, a.now)
	return err
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
	case !key.IsChannel(in.Channel):
		return core.Errorf(core.CodeInvalidParams, "channel %q: a name without white space, colons and slashes, of up to 64 bytes, "+
			"and none that means something else in a session's key, such as cron or subagent", in.Channel)
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
func (b *board) inboundSession(a *act, in *core.Inbound, sessionID string) (core.Session, error) {
	sessionKey := b.names.Direct(in.Agent, in.Channel, in.AccountID, in.Peer)
	to := in.Peer
	if in.ChatType != core.ChatDirect {
		sessionKey, to = b.names.Group(in.Agent, in.Channel, in.ChatType, in.ID), in.ID
	}
	if s, binding, ok, err := b.boundTo(a, in, to); err != nil || ok {
		if err == nil {
			err = b.bind(a, a.fx, &s, binding, a.now)
		}
		s.ArchivedAt = 0
		s.LastChannel, s.LastTo, s.LastAccountID, s.LastThreadID = in.Channel, to, in.AccountID, in.ThreadID
		return s, err
	}
	s, ok, err := a.Session(sessionKey)
	if err != nil {
		return s, err
	}
	if !ok {
		s = core.Session{Key: sessionKey, SessionID: sessionID, CreatedAt: a.now, ChatType: in.ChatType}
	}
	if s.Mirrored() {
		return s, b.mayRun(&s)
	}
	s.ArchivedAt = 0 // a message brings an archived session back
	s.LastChannel, s.LastTo, s.LastAccountID, s.LastThreadID = in.Channel, to, in.AccountID, in.ThreadID
	if in.ChatType != core.ChatDirect {
		s.Channel = in.Channel
	}
	s.ChatType = in.ChatType
	if in.Name != "" && s.DisplayName == "" {
		s.DisplayName = in.Name
	}
	return s, nil
}

// owns reports whether a sender may command the session: channels.<name>.owners.
func (b *board) owns(in *core.Inbound) bool {
	return in.SenderID != "" && slices.Contains(b.config.Channels[in.Channel].Owners, in.SenderID)
}
