package engine

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"cordboard/core"
	"cordboard/core/config"
	"cordboard/core/key"
	"cordboard/core/tool"
)

// clearance is what the checks of a spawn found out, when they all passed.
type clearance struct {
	caller   core.Session
	known    bool      // the caller is stored
	live     *core.Run // the run that the call belongs to; nil = none
	depth    int       // of the caller
	agent    config.Agent
	child    string // key
	model    string
	thinking string
	route    *core.DeliveryContext // of the requester's chat; nil = none
	files    []upload
}

// clear makes the checks in the order of session-tools.md §8.
func (b *board) clear(r core.Reader, l *launch) (a clearance, err error) {
	if err := b.requester(r, l, &a); err != nil {
		return a, err
	}
	for _, check := range b.spawnChecks() {
		if err := check.pass(r, l, &a); err != nil {
			return a, err
		}
	}
	return a, nil
}

// requester reads who spawns, and from where.
func (b *board) requester(r core.Reader, l *launch, a *clearance) (err error) {
	if a.caller, a.known, err = r.Session(l.actor.Session); err != nil {
		return err
	}
	a.caller.Key = l.actor.Session
	if a.live, err = liveRun(r, &a.caller); err != nil {
		return err
	}
	a.route = b.frozenRoute(a)
	return nil
}

// spawnCheck is one of the checks of a spawn, and the parameter that it is about, "" when it is about none.
type spawnCheck struct {
	param string
	check func(core.Reader, *launch, *clearance) error
}

func (c spawnCheck) pass(r core.Reader, l *launch, a *clearance) error {
	err := c.check(r, l, a)
	if refused, ok := errors.AsType[*core.Error](err); ok {
		refused.Param = c.param
	}
	return err
}

func (b *board) spawnChecks() []spawnCheck {
	return []spawnCheck{
		{"", b.checkCaller},
		{"", b.checkChildren},
		{"agentId", b.checkTarget},
		{"sandbox", b.checkSandbox},
		{"model", b.checkModel},
		{"thinking", b.checkThinking},
		{"thread", b.checkThread},
		{"attachments", b.checkFiles},
	}
}

// liveRun is the run that a call made as a session belongs to, whoever brings it; nil = none. A note calls nobody.
func liveRun(r core.Reader, s *core.Session) (*core.Run, error) {
	if s.LiveRun == "" {
		return nil, nil
	}
	run, ok, err := r.Run(s.LiveRun)
	if err != nil || !ok || run.Kind == core.RunNote {
		return nil, err
	}
	return &run, nil
}

// frozenRoute is where the requester's chat is now: where the reply of its live run goes, else what its row says. A chat inside (webchat)
// and a session that belongs to a machine (cron, hook, node) have none: there the requester's transcript is the place.
func (b *board) frozenRoute(a *clearance) *core.DeliveryContext {
	switch b.names.Kind(a.caller.Key, a.caller.ChatType) {
	case core.KindCron, core.KindHook, core.KindNode:
		return nil
	}
	route := routeOf(&a.caller)
	if a.live != nil && a.live.Answer != nil {
		route = *a.live.Answer
	}
	switch route = key.Normal(route); route.Channel {
	case "", "webchat", key.ChannelInternal, key.ChannelUnknown:
		return nil
	}
	if route.To == "" {
		return nil
	}
	return &route
}

func (b *board) checkCaller(r core.Reader, _ *launch, a *clearance) (err error) {
	if a.caller.Mirrored() {
		return b.mayRun(&a.caller)
	}
	if a.depth, err = spawnDepth(r, &a.caller); err != nil {
		return err
	}
	return forbidden(b.rules.MaySpawnAt(a.caller.Key, a.depth))
}

// forbidden is the refusal that a verdict asks for, nil when it allows.
func forbidden(v core.Verdict) error {
	if v.Allowed {
		return nil
	}
	return core.Errorf(core.CodeForbidden, "%s", v.Message).Because(v.ConfigKey)
}

// checkChildren holds a requester to its share. A child is live while its run or its announce step is queued or running.
func (b *board) checkChildren(r core.Reader, _ *launch, a *clearance) error {
	live, most, err := b.liveChildren(r, a.caller.Key)
	if err != nil || live < most {
		return err
	}
	return core.Errorf(core.CodeForbidden, "session %q has %d live sub-agents, the most that agents.defaults.subagents.maxChildrenPerAgent allows: "+
		"spawn again when one has ended", a.caller.Key, most).Because("agents.defaults.subagents.maxChildrenPerAgent")
}

// liveChildren counts the live children of a requester, up to the most that it may have.
func (b *board) liveChildren(r core.Reader, requester string) (live, most int, err error) {
	most = b.config.Agents.Defaults.Subagents.MaxChildrenPerAgent
	err = r.LiveRuns(func(run *core.Run) bool {
		if run.RequesterKey == requester && (run.Kind == core.RunSpawn || ofSpawn(run)) {
			live++
		}
		return live < most
	})
	return live, most, err
}

// ofSpawn reports whether a run is the announce step of a sub-agent.
func ofSpawn(run *core.Run) bool {
	return run.Kind == core.RunAnnounce && run.ExchangeID == "" && run.ParentRunID != ""
}

func (b *board) checkTarget(_ core.Reader, l *launch, a *clearance) error {
	own := b.names.AgentOf(a.caller.Key)
	target := l.asked.AgentID
	if target == "" {
		target = own
	}
	if err := forbidden(b.rules.MaySpawn(own, target)); err != nil {
		return err
	}
	configured := false
	a.agent, configured = b.config.Agent(target)
	if !configured && target != own {
		var ids []string
		for _, agent := range b.rules.SpawnableAgents(own).Agents {
			if agent.Configured {
				ids = append(ids, agent.ID)
			}
		}
		return core.Errorf(core.CodeInvalidParams, "agentId %q is allowed and no configured agent: of those in agents.list %s are accepted", target,
			strings.Join(ids, ", ")).Because("agents.list").Accept(ids...)
	}
	a.child = "agent:" + target + ":subagent:" + l.sessionID
	return nil
}

func (b *board) checkSandbox(r core.Reader, l *launch, a *clearance) error {
	confined, err := b.confined(r, a)
	if err != nil {
		return err
	}
	return forbidden(b.rules.MayReach(confined, a.child, l.asked.Sandbox == tool.SandboxRequire))
}

const maxConfined = 256 // steps back from a caller

// confined is the sandboxed session on whose behalf a call is made, "" for none: the caller, whoever spawned it, or whoever set the run
// going that the call belongs to, however many sessions lie between (session-tools.md §8: by any route).
func (b *board) confined(r core.Reader, a *clearance) (string, error) {
	seen := map[string]bool{}
	line := []string{a.caller.Key}
	for run, n := a.live, 0; run != nil && n < maxConfined; n++ {
		line = append(line, run.SessionKey, run.RequesterKey)
		parent, ok, err := r.Run(run.ParentRunID)
		if err != nil {
			return "", err
		}
		if run = nil; ok {
			run = &parent
		}
	}
	for len(line) > 0 && len(seen) < maxConfined {
		at := line[0]
		line = line[1:]
		if at == "" || seen[at] {
			continue
		}
		seen[at] = true
		if b.rules.Sandboxed(at) {
			return at, nil
		}
		s, _, err := r.Session(at)
		if err != nil {
			return "", err
		}
		line = append(line, s.SpawnedBy)
	}
	return "", nil
}

func (b *board) checkModel(_ core.Reader, l *launch, a *clearance) error {
	a.model = agentModel(&a.agent, cmp.Or(a.agent.Subagents.Model.Primary, a.agent.Model.Primary))
	if l.asked.Model == "" {
		return nil
	}
	found := b.config.FindModel(l.asked.Model)
	if len(found) == 1 {
		a.model = found[0]
		return nil
	}
	known := b.config.ModelNames()
	if len(found) > 1 {
		return core.Errorf(core.CodeInvalidParams, "model %q is not one model: %s", l.asked.Model, strings.Join(found, ", ")).Because("models.providers").Accept(found...)
	}
	return core.Errorf(core.CodeInvalidParams, "model %q is not configured: models.providers and the runtime echo have %s", l.asked.Model,
		strings.Join(known, ", ")).Because("models.providers").Accept(known...)
}

func (b *board) checkThinking(_ core.Reader, l *launch, a *clearance) error {
	a.thinking = l.asked.Thinking
	if a.thinking == "" {
		a.thinking = a.agent.Subagents.Thinking
	}
	switch {
	case a.thinking != "" && !slices.Contains(thinkingLevels, a.thinking):
		return core.Errorf(core.CodeInvalidParams, "Invalid thinking level %q: one of %s", a.thinking, strings.Join(thinkingLevels, ", ")).Accept(thinkingLevels...)
	case a.thinking == "" || a.thinking == "off":
		return nil
	}
	levels, ok := b.config.DeclaresThinking(a.model, a.thinking)
	if ok {
		return nil
	}
	provider, _, _ := strings.Cut(a.model, "/")
	at := "models.providers." + provider + ".models[].thinking"
	return core.Errorf(core.CodeInvalidParams, "thinking %q is no level of the model %s: %s declares %q", a.thinking, a.model, at, strings.Join(levels, ", ")).
		Because(at).Accept(append([]string{"off"}, levels...)...)
}
