package engine

import (
	"errors"

	"cordboard/core"
	"cordboard/core/tool"
)

// explainSpawn tells what a sessions_spawn would meet, by its own checks: all of them, so that each refusal stands beside its parameter.
func (b *board) explainSpawn(r core.Reader, q core.SpawnQuestion) (x core.Explanation, err error) {
	caller, err := b.callerIn(r, q.As)
	if err != nil {
		return x, err
	}
	asked, _, malformed := tool.DecodeSpawn(q.Params)
	l := &launch{asked: asked, actor: core.Actor{Kind: core.ActorSession, Session: caller}}
	o := &core.Offspring{Requester: caller}
	x.Spawn = o
	if malformed != nil {
		refused, ok := errors.AsType[*core.Error](malformed)
		if !ok {
			return x, malformed
		}
		o.Refusals = append(o.Refusals, refused)
		l.asked = tool.Spawn{RunTimeoutSeconds: -1} // what else there is to tell hangs on no parameter
	}
	if refused, ok := errors.AsType[*core.Error](b.runsHere("spawned")); ok {
		o.Refusals = append(o.Refusals, refused)
	}
	var a clearance
	if err := b.requester(r, l, &a); err != nil {
		return x, err
	}
	if err := b.tryChecks(r, l, &a, o); err != nil {
		return x, err
	}
	if err := b.describeChild(r, l, &a, o); err != nil {
		return x, err
	}
	x.Verdict = b.spawnVerdict(&a, o)
	return x, nil
}

// tryChecks makes every check that can be made: after an agent that may not be spawned nothing is known of the child.
func (b *board) tryChecks(r core.Reader, l *launch, a *clearance, o *core.Offspring) error {
	for _, check := range b.spawnChecks() {
		err := check.pass(r, l, a)
		refused, ok := errors.AsType[*core.Error](err)
		switch {
		case err == nil:
			continue
		case !ok || faulty(refused.Code):
			return err
		}
		o.Refusals = append(o.Refusals, refused)
		if a.child == "" && check.param == "agentId" {
			return nil
		}
	}
	return nil
}

// describeChild fills in what the requester may ask for and what would come of it.
func (b *board) describeChild(r core.Reader, l *launch, a *clearance, o *core.Offspring) (err error) {
	for _, agent := range b.rules.SpawnableAgents(b.names.AgentOf(a.caller.Key)).Agents {
		o.Agents = append(o.Agents, agent.ID)
	}
	if o.Live, o.Most, err = b.liveChildren(r, a.caller.Key); err != nil {
		return err
	}
	limits := b.config.Tools.SessionsSpawn.Attachments
	o.MaxFiles, o.MaxFileBytes, o.MaxTotalBytes = limits.MaxFiles, limits.MaxFileBytes, limits.MaxTotalBytes
	if refused := b.takesFiles(a); refused != nil {
		o.NoFiles = refused.Message
	}
	threaded := *l
	threaded.asked.Thread = true
	if refused := b.checkThread(r, &threaded, a); refused != nil {
		o.NoThread = refused.Error()
	}
	if o.Confined, err = b.confined(r, a); err != nil {
		return err
	}
	o.Announce, o.Route = b.config.Agents.Defaults.Subagents.Announce, a.route
	d := core.Delivery{RequesterKey: a.caller.Key}
	if a.route != nil {
		d.Route = *a.route
	}
	speaks, err := policySession(r, &d)
	if err != nil {
		return err
	}
	o.Send = b.send(&speaks)
	if a.child == "" {
		return nil
	}
	o.Agent, o.Runtime, o.Sandboxed = b.names.AgentOf(a.child), b.playedBy(a.child), b.rules.Sandboxed(a.child)
	o.Model, o.Thinking, o.TimeoutSeconds = a.model, a.thinking, b.runLimit(&l.asked)
	return nil
}

// spawnVerdict is the first refusal, else what allows the spawn.
func (b *board) spawnVerdict(a *clearance, o *core.Offspring) core.Verdict {
	if len(o.Refusals) > 0 {
		first := o.Refusals[0]
		return core.Verdict{Rule: string(first.Code), ConfigKey: first.ConfigKey, Message: first.Message}
	}
	return b.rules.MaySpawn(b.names.AgentOf(a.caller.Key), o.Agent)
}
