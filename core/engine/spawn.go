package engine

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"cordboard/core"
	"cordboard/core/config"
	"cordboard/core/key"
	"cordboard/core/tool"
)

// launch is a sessions_spawn on its way: what was asked for, with the ids and the time it will have, and what was prepared outside the
// store.
type launch struct {
	asked tool.Spawn
	actor core.Actor
	once  once
	via   string
	now   int64

	runID, sessionID, chainID string
	repeated                  bool // the same was answered before
	prepared                  bool // thread and files were seen to
	files                     *core.Attachments
	filesDue                  core.Due             // owner row of the files
	route                     core.DeliveryContext // of the thread that was opened; an outbox numbers its own
}

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

// sessionsSpawn is sessions_spawn (session-tools.md §8). Every check comes before anything is made, and is made again in the transaction
// that makes the child: one commit, unless files must be written first.
func (b *board) sessionsSpawn(ctx context.Context, actor core.Actor, c core.ToolCall) (json.RawMessage, error) {
	if actor.Kind != core.ActorSession {
		return nil, core.Errorf(core.CodeForbidden, "sessions_spawn speaks for a session, which hears of the result: say which with --as KEY")
	}
	asked, _, err := tool.DecodeSpawn(c.Params)
	if err != nil {
		return nil, err
	}
	if err := b.runsHere("spawned"); err != nil {
		return nil, err
	}
	once, err := newOnce(actor, tool.SessionsSpawn, c.Key, asked)
	if err != nil {
		return nil, err
	}
	l := &launch{
		once:  once,
		asked: asked, actor: actor, via: viaOf(b.actor, actor), now: b.now(),
		runID: b.options.NewID(), sessionID: b.options.NewID(), chainID: b.options.NewID(),
	}
	if asked.Thread || len(asked.Attachments) > 0 {
		undo, err := b.prepare(ctx, l)
		if err != nil {
			return nil, err
		}
		defer func() { undo(ctx) }()
		answer, err := b.launch(ctx, l)
		if err == nil && !l.repeated {
			undo = func(context.Context) {}
		}
		return answer, err
	}
	return b.launch(ctx, l)
}

// launch makes the child, its run and its place in the queue in one transaction.
func (b *board) launch(ctx context.Context, l *launch) (answer json.RawMessage, err error) {
	_, err = b.write(ctx, func(tx core.Tx, fx *effects) error {
		if l.repeated, err = l.once.answered(tx, l.now, &answer); l.repeated || err != nil {
			return err
		}
		if err := b.stillRuns(tx); err != nil {
			return err
		}
		a, err := b.clear(tx, l)
		if err != nil {
			return err
		}
		child, err := b.accept(tx, fx, l, &a)
		if err != nil {
			return err
		}
		answer = tool.SpawnAnswer{
			RunID: l.runID, SessionKey: child.Key, ModelApplied: l.asked.Model != "", ThreadID: child.Thread.ThreadID, Files: l.files,
		}.Accepted()
		if err := b.auditCall(tx, l.actor, tool.SessionsSpawn, child.Key, map[string]string{"run": l.runID}); err != nil {
			return err
		}
		return l.once.keep(tx, l.now, answer)
	})
	return answer, err
}

// stillRuns refuses a call whose run has ended meanwhile, by a stop for one: nothing of it starts any more (engine.md §1).
func (b *board) stillRuns(tx core.Tx) error {
	if b.within == nil {
		return nil
	}
	_, _, err := held(tx, b.within.ID, b.within.Fence)
	return err
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
	switch a.agent.Runtime.Type {
	case config.RuntimeManual, config.RuntimeExternal: // no model answers there
	default:
		a.model = cmp.Or(a.agent.Subagents.Model.Primary, a.agent.Model.Primary)
	}
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

// accept writes the child, its empty transcript and its queued run. A main session that spawns comes into being by that.
func (b *board) accept(tx core.Tx, fx *effects, l *launch, a *clearance) (child core.Session, err error) {
	if !a.known {
		main := core.Session{Key: a.caller.Key, SessionID: l.chainID, CreatedAt: l.now, UpdatedAt: l.now}
		if err := b.putNew(tx, main); err != nil {
			return child, err
		}
	}
	provider, model := splitModel(a.model)
	child = core.Session{
		Key: a.child, SessionID: l.sessionID, CreatedAt: l.now, UpdatedAt: l.now, Label: l.asked.Label, SpawnedBy: a.caller.Key, SpawnDepth: a.depth + 1,
		SpawnRun: l.runID, Model: model, ModelProvider: provider, ThinkingLevel: a.thinking,
	}
	run := core.Run{
		ID: l.runID, Kind: core.RunSpawn, RequesterKey: a.caller.Key, ChainID: l.chainID, Message: l.asked.Task, Label: l.asked.Label, Cleanup: l.asked.Cleanup,
		Model: a.model, Thinking: a.thinking,
		Provenance: &core.Provenance{
			Kind: "inter_session", SourceSessionKey: a.caller.Key, SourceChannel: a.caller.LastChannel, SourceTool: tool.SessionsSpawn, Via: l.via,
		},
		Spawn: &core.Spawn{Mode: l.asked.Mode, TimeoutSeconds: b.runLimit(&l.asked), Route: a.route, Files: l.files, MountPath: l.asked.MountPath},
	}
	if err := follow(tx, &run, a.live); err != nil {
		return child, err
	}
	if err := b.bindNew(tx, fx, l, &child, &run); err != nil {
		return child, err
	}
	if err := b.keepFiles(tx, l); err != nil {
		return child, err
	}
	if err := b.putNew(tx, child); err != nil {
		return child, err
	}
	_, err = b.enqueue(tx, fx, run, child, l.now)
	return child, err
}

// putNew writes a session with its empty transcript.
func (e *Engine) putNew(tx core.Tx, s core.Session) error {
	if err := tx.PutSession(s); err != nil {
		return err
	}
	return tx.PutGeneration(core.Generation{
		ID: s.SessionID, SessionID: s.SessionID, Key: s.Key, Agent: e.names.AgentOf(s.Key), State: core.GenerationCurrent, CreatedAt: s.CreatedAt,
	})
}

func (b *board) runLimit(asked *tool.Spawn) int {
	if asked.RunTimeoutSeconds >= 0 {
		return asked.RunTimeoutSeconds
	}
	return b.config.Agents.Defaults.Subagents.RunTimeoutSeconds
}

// follow makes a spawn part of the chain that its caller's run is in.
func follow(tx core.Tx, run, live *core.Run) error {
	if live == nil {
		return nil
	}
	run.ParentRunID, run.Hop = live.ID, live.Hop+1
	if live.ChainID != "" {
		run.ChainID = live.ChainID
		return nil
	}
	live.ChainID = run.ChainID
	return tx.PutRun(*live)
}
