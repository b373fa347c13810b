package engine

import (
	"errors"
	"slices"
	"strings"

	"cordboard/core"
	"cordboard/core/key"
	"cordboard/core/policy"
	"cordboard/core/tool"
)

// explainPolicy is the policy tester (session-tools.md §7): a session that is there, perhaps under another override, or any there might be.
func (b *board) explainPolicy(r core.Reader, q core.PolicyQuestion) (x core.Explanation, err error) {
	asked := policy.Sending{Key: strings.TrimSpace(q.Key), Channel: q.Channel, ChatType: key.ReadChatType(string(q.ChatType))}
	switch {
	case q.ChatType != core.ChatUnknown && asked.ChatType == core.ChatUnknown:
		return x, core.Errorf(core.CodeInvalidParams, "chatType %q: direct, group or channel", q.ChatType).Accept("direct", "group", "channel")
	case q.Override != nil && !slices.Contains([]core.SendPolicy{core.SendInherit, core.SendAllow, core.SendDeny}, *q.Override):
		return x, core.Errorf(core.CodeInvalidParams, "override %q: allow, deny, or empty to inherit", *q.Override).Accept("allow", "deny", "")
	case q.Session != "" && q.Key+q.Channel+string(q.ChatType) != "":
		return x, core.Errorf(core.CodeInvalidParams, "the question names session %q, whose key, channel and chat type are its own: leave these out", q.Session)
	}
	if q.Session != "" {
		found, err := b.resolve(r, b.operator(), q.Session)
		if err != nil {
			return x, err
		}
		if !found.exists {
			return x, notFound(q.Session)
		}
		asked = policy.SendingTo(&found.session)
	}
	if q.Override != nil {
		asked.Override = *q.Override
	}
	return core.Explanation{Verdict: b.rules.MaySend(asked)}, nil
}

// explainMessage tells what a message would meet, by the code that would admit it.
func (b *board) explainMessage(r core.Reader, q core.MessageQuestion) (x core.Explanation, err error) {
	var ad admission
	var refusal error
	if q.As == "" {
		if ad.target, refusal = b.targetOf(r, q.To, "", b.now()); refusal == nil {
			if refused := b.mayRun(&ad.target); refused != nil {
				refusal = refused
			}
		}
	} else {
		caller, err := b.callerIn(r, q.As)
		if err != nil {
			return x, err
		}
		ad, refusal = b.admit(r, core.Actor{Kind: core.ActorSession, Session: caller}, q.To)
		if err := b.mayCallIn(r, caller, tool.SessionsSend); err != nil {
			refusal = err // asked first, of a call
		}
	}
	if refusal == nil {
		refusal = b.runsHere("sent")
	}
	if x.Verdict, err = b.verdictOf(&ad.target, refusal); err != nil || ad.target.Key == "" {
		return x, err
	}
	x.Message, err = b.prospect(r, &ad.target)
	switch {
	case err != nil || !x.Verdict.Allowed:
	case q.As == "":
		x.Message.Why = "the operator's message is one run, without a loop or an announce"
	default:
		b.follow(&ad, x.Message)
	}
	return x, err
}

// verdictOf puts what an admission said as a verdict. What went wrong underneath stays an error.
func (b *board) verdictOf(target *core.Session, refusal error) (core.Verdict, error) {
	if refusal == nil {
		return b.send(target), nil
	}
	refused, ok := errors.AsType[*core.Error](refusal)
	switch {
	case !ok || faulty(refused.Code):
		return core.Verdict{}, refusal
	case refused.Code == core.CodeSendDenied:
		return b.send(target), nil
	}
	return core.Verdict{Rule: string(refused.Code), ConfigKey: refused.ConfigKey, Message: refused.Message}, nil
}

// prospect is what a message to a session would find there.
func (b *board) prospect(r core.Reader, s *core.Session) (*core.Prospect, error) {
	live, err := liveIn(r, s.Key)
	if err != nil {
		return nil, err
	}
	held, err := b.heldBy(r, s.Key)
	return &core.Prospect{To: s.Key, Live: s.LiveRun, Queued: len(live.places), Held: held, Runtime: b.playedBy(s.Key)}, err
}

// follow says what would come after a sessions_send that ends ok (session-tools.md §6), and why it would not.
func (b *board) follow(ad *admission, p *core.Prospect) {
	switch {
	case ad.target.SpawnedBy == ad.caller.Key:
		p.Why = "to one's own child there is no loop and no announce"
		return
	case b.external(ad.target.Key):
		p.Why = "a client outside plays the target's agent: it is handed the message, and no loop and no announce follow"
		return
	}
	var whys []string
	if why := b.noLoop(ad); why != "" {
		whys = append(whys, "no loop: "+why)
	} else {
		p.Loop = true
	}
	route := routeOf(&ad.target)
	switch {
	case !b.config.Session.AgentToAgent.Announce:
		whys = append(whys, "no announce: session.agentToAgent.announce is off")
	case route.Channel == "" || route.To == "":
		whys = append(whys, "no announce: the target has no chat that it could reach")
	default:
		p.Announce = &route
	}
	p.Why = strings.Join(whys, "; ")
}

// noLoop says why no turn would follow round 1, "" when one would.
func (b *board) noLoop(ad *admission) string {
	switch {
	case ad.caller.Key == ad.target.Key:
		return "a session has none with itself"
	case b.config.Session.AgentToAgent.MaxPingPongTurns == 0:
		return "session.agentToAgent.maxPingPongTurns is 0"
	case ad.caller.SessionID == "":
		return "the requester's session has not begun yet"
	case b.external(ad.caller.Key):
		return "a client outside plays the requester's agent"
	}
	if refused := b.mayRun(&ad.caller); refused != nil {
		return "no turn can be put to the requester: " + refused.Message
	}
	return ""
}
