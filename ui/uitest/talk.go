package uitest

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"cordboard/core"
)

// Talk is a Board that takes messages: a send becomes a run, which goes on until the test ends it, and sessions are patched, made, reset,
// deleted and adopted.
type Talk struct {
	*Board
	mu      sync.Mutex
	sent    []Sent
	runs    map[string]string // by idempotency key
	replies map[string]string
	lost    error

	// Foresee answers what a message would meet; nil = it is allowed and starts at once.
	Foresee func(core.MessageQuestion) (core.Explanation, error)
	// Offspring answers what a spawn would make; nil = it is allowed.
	Offspring func(core.SpawnQuestion) core.Explanation
	// Judge answers the policy tester; nil = the override decides, else it is allowed by default.
	Judge func(core.PolicyQuestion) core.Verdict
}

// Sent is a message that was taken.
type Sent struct{ Run, As, To, Text, Key string }

// NewTalk returns an empty one at path.
func NewTalk(path string) *Talk {
	return &Talk{Board: New(path), runs: map[string]string{}, replies: map[string]string{}}
}

// Sent are the messages that were taken, in their order.
func (t *Talk) Sent() []Sent {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]Sent(nil), t.sent...)
}

// Lose makes the next send come through while its answer is lost with err.
func (t *Talk) Lose(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.lost = err
}

// Start lets a queued run begin, End ends one with an outcome and a reply or a cause.
func (t *Talk) Start(run string) {
	t.change(run, func(r *core.Run) { r.State, r.StartedAt = core.RunRunning, r.QueuedAt+1 })
}

// End ends a run: said is its reply when it ended ok, else the cause.
func (t *Talk) End(run string, outcome core.RunOutcome, said string) {
	t.mu.Lock()
	t.replies[run] = said
	t.mu.Unlock()
	t.change(run, func(r *core.Run) {
		r.State, r.Outcome, r.EndedAt = core.RunEnded, outcome, r.QueuedAt+2
		if outcome == core.OutcomeOK {
			raw, _ := json.Marshal(map[string]string{"role": "assistant", "content": said})
			t.Append(r.SessionKey, core.Message{Role: core.RoleAssistant, Raw: raw})
		} else {
			r.Error = said
		}
	})
}

func (t *Talk) change(run string, change func(*core.Run)) {
	t.Board.mu.Lock()
	i := t.runAt(run)
	r := t.rec.runs[i]
	t.Board.mu.Unlock()
	change(&r)
	t.PutRun(r)
}

// Do implements core.Board.
func (t *Talk) Do(ctx context.Context, c core.Command) (core.Receipt, error) {
	switch {
	case c.Send != nil:
		t.note(c)
		if err := t.refused(); err != nil {
			return core.Receipt{}, err
		}
		if c.Send.Message == "/send off" { // a command to the session, which starts no run
			return core.Receipt{Key: c.Send.Session, Outcome: "send policy deny"}, nil
		}
		run, err := t.take(Sent{To: c.Send.Session, Text: c.Send.Message, Key: c.Key})
		return core.Receipt{Key: c.Send.Session, Run: run}, err
	case c.Patch != nil, c.New != nil, c.Reset != nil, c.Delete != nil, c.Adopt != nil, c.Reply != nil:
		t.note(c)
		if err := t.refused(); err != nil {
			return core.Receipt{}, err
		}
		return t.rule(c)
	}
	return t.Board.Do(ctx, c)
}

func (t *Talk) note(c core.Command) {
	t.Board.mu.Lock()
	defer t.Board.mu.Unlock()
	t.rec.commands = append(t.rec.commands, c)
}

func (t *Talk) refused() error {
	t.Board.mu.Lock()
	defer t.Board.mu.Unlock()
	return t.rec.refusal
}

// take makes a message a run, or finds the run that it already is.
func (t *Talk) take(s Sent) (string, error) {
	t.mu.Lock()
	lost := t.lost
	t.lost = nil
	if run := t.runs[s.Key]; s.Key != "" && run != "" {
		t.mu.Unlock()
		return run, lost
	}
	s.Run = fmt.Sprintf("run-%d", len(t.sent)+1)
	t.sent = append(t.sent, s)
	t.runs[s.Key] = s.Run
	t.mu.Unlock()
	raw, err := json.Marshal(map[string]string{"role": "user", "content": s.Text})
	if err != nil {
		return "", err
	}
	t.Append(s.To, core.Message{Role: core.RoleUser, Raw: raw})
	t.PutRun(core.Run{ID: s.Run, SessionKey: s.To, Kind: core.RunSend, State: core.RunQueued, QueuedAt: 1, Message: s.Text})
	return s.Run, lost
}

func (t *Talk) rule(c core.Command) (core.Receipt, error) {
	switch {
	case c.Patch != nil:
		return t.patch(*c.Patch)
	case c.New != nil:
		key := fmt.Sprintf("agent:%s:new-%d", c.New.Agent, len(t.Commands()))
		t.Put(core.Head{Key: key, Title: c.New.Label, UpdatedAt: 1}, core.SessionDetail{})
		return core.Receipt{Key: key}, nil
	case c.Delete != nil:
		t.Delete(c.Delete.Session)
		return core.Receipt{Key: c.Delete.Session}, nil
	case c.Adopt != nil:
		t.Update(c.Adopt.Session, func(h *core.Head) { h.Flags &^= core.FlagMirrored })
		return core.Receipt{Key: c.Adopt.Session}, nil
	case c.Reply != nil:
		t.End(c.Reply.Run, core.OutcomeOK, c.Reply.Text)
		return core.Receipt{Run: c.Reply.Run}, nil
	}
	return core.Receipt{Key: c.Reset.Session}, nil
}

func (t *Talk) patch(p core.Patch) (core.Receipt, error) {
	t.Board.mu.Lock()
	d, ok := t.detail[p.Session]
	h := t.heads[p.Session]
	t.Board.mu.Unlock()
	if !ok {
		return core.Receipt{}, core.Errorf(core.CodeNotFound, "no session %q", p.Session)
	}
	undo := core.Patch{Session: p.Session}
	set := func(now, to *string) *string {
		if to == nil {
			return nil
		}
		was := *now
		*now = *to
		return &was
	}
	undo.Label = set(&d.Session.Label, p.Label)
	undo.Model = set(&d.Session.Model, p.Model)
	undo.ThinkingLevel = set(&d.Session.ThinkingLevel, p.ThinkingLevel)
	if p.SendPolicy != nil {
		was := d.Session.SendPolicy
		undo.SendPolicy, d.Session.SendPolicy = &was, *p.SendPolicy
		h.Flags &^= core.FlagSendAllow | core.FlagSendDeny
		h.Flags |= map[core.SendPolicy]core.HeadFlags{core.SendAllow: core.FlagSendAllow, core.SendDeny: core.FlagSendDeny}[*p.SendPolicy]
	}
	if p.Label != nil {
		h.Title = *p.Label
	}
	d.Send = t.judge(core.PolicyQuestion{Session: p.Session, Override: &d.Session.SendPolicy})
	t.Put(h, d)
	return core.Receipt{Key: p.Session, Undo: &core.Command{Patch: &undo}}, nil
}

// Call implements core.Board for sessions_send and sessions_spawn.
func (t *Talk) Call(_ context.Context, c core.ToolCall) (core.ToolResult, error) {
	if c.Tool == "sessions_spawn" {
		return t.spawn(c)
	}
	var p struct{ SessionKey, Message string }
	if err := json.Unmarshal(c.Params, &p); err != nil || c.Tool != "sessions_send" {
		return core.ToolResult{}, unsupported("call " + c.Tool)
	}
	if e, ok := t.refused().(*core.Error); ok && e != nil {
		return core.ToolResult{Refused: e}, nil
	}
	run, err := t.take(Sent{As: c.As, To: p.SessionKey, Text: p.Message, Key: c.Key})
	if err != nil {
		return core.ToolResult{}, err
	}
	body, err := json.Marshal(map[string]string{"runId": run, "status": "accepted"})
	return core.ToolResult{Body: body}, err
}

// spawn makes a child with a queued run, or finds the one that it already is.
func (t *Talk) spawn(c core.ToolCall) (core.ToolResult, error) {
	if e, ok := t.refused().(*core.Error); ok && e != nil {
		return core.ToolResult{Refused: e}, nil
	}
	t.mu.Lock()
	lost, run := t.lost, t.runs[c.Key]
	t.lost = nil
	t.mu.Unlock()
	var p struct{ Task, Label string }
	if err := json.Unmarshal(c.Params, &p); err != nil {
		return core.ToolResult{}, err
	}
	if run == "" || c.Key == "" {
		t.mu.Lock()
		run = fmt.Sprintf("run-%d", len(t.sent)+1)
		t.sent = append(t.sent, Sent{Run: run, As: c.As, Text: string(c.Params), Key: c.Key})
		t.runs[c.Key] = run
		t.mu.Unlock()
		t.Put(core.Head{Key: "agent:main:subagent:" + run, Parent: c.As, Title: p.Label, UpdatedAt: 1}, core.SessionDetail{})
		t.PutRun(core.Run{
			ID: run, SessionKey: "agent:main:subagent:" + run, RequesterKey: c.As, Kind: core.RunSpawn, State: core.RunQueued, QueuedAt: 1, Message: p.Task,
			Spawn: &core.Spawn{Mode: core.SpawnOnce},
		})
	}
	body, err := json.Marshal(map[string]string{"status": "accepted", "runId": run, "childSessionKey": "agent:main:subagent:" + run})
	if lost != nil {
		err = lost
	}
	return core.ToolResult{Body: body}, err
}

// Records implements core.Board; it answers for a run at once, however long is to be waited.
func (t *Talk) Records(ctx context.Context, q core.RecordQuery) (core.RecordPage, error) {
	if q.Kind != core.RecordRun {
		return t.Board.Records(ctx, q)
	}
	t.Board.mu.Lock()
	defer t.Board.mu.Unlock()
	i := t.runAt(q.Run)
	if t.err != nil || i < 0 {
		return core.RecordPage{}, firstError(t.err, core.Errorf(core.CodeNotFound, "no run %q", q.Run))
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return core.RecordPage{Runs: []core.Run{t.rec.runs[i]}, Reply: t.replies[q.Run]}, nil
}

func firstError(list ...error) error {
	for _, err := range list {
		if err != nil {
			return err
		}
	}
	return nil
}

// Explain implements core.Board for messages and policies too.
func (t *Talk) Explain(ctx context.Context, q core.Question) (core.Explanation, error) {
	switch {
	case q.Message != nil && t.Foresee != nil:
		return t.Foresee(*q.Message)
	case q.Message != nil:
		x := core.Prospect{To: q.Message.To, Runtime: "echo", Why: "this is your own message"}
		return core.Explanation{Verdict: core.Verdict{Allowed: true, Rule: "default"}, Message: &x}, nil
	case q.Spawn != nil && t.Offspring != nil:
		return t.Offspring(*q.Spawn), nil
	case q.Spawn != nil:
		return core.Explanation{Verdict: core.Verdict{Allowed: true, Rule: "own agent"}, Spawn: &core.Offspring{
			Requester: q.Spawn.As, Agents: []string{"main", "ops"}, Most: 5, Agent: "main", Runtime: "echo", Model: "echo/echo", Announce: true,
			Send: core.Verdict{Allowed: true, Rule: "default"}, NoThread: "it has no chat that threads could be opened in",
			MaxFiles: 3, MaxFileBytes: 100, MaxTotalBytes: 150,
		}}, nil
	case q.Policy != nil:
		return core.Explanation{Verdict: t.judge(*q.Policy)}, nil
	}
	return t.Board.Explain(ctx, q)
}

func (t *Talk) judge(q core.PolicyQuestion) core.Verdict {
	if t.Judge != nil {
		return t.Judge(q)
	}
	override := core.SendInherit
	if q.Session != "" {
		t.Board.mu.Lock()
		override = t.detail[q.Session].Session.SendPolicy
		t.Board.mu.Unlock()
	}
	if q.Override != nil {
		override = *q.Override
	}
	switch {
	case override != core.SendInherit:
		return core.Verdict{Allowed: override == core.SendAllow, Rule: "session override"}
	case strings.Contains(q.Key+q.Session, "discord") || q.Channel == "discord":
		return core.Verdict{Rule: "rules[0]", ConfigKey: "session.sendPolicy.rules[0]", Message: "sending to discord groups is denied"}
	}
	return core.Verdict{Allowed: true, Rule: "default"}
}

// Agents and Models are what the board says is configured.
func (t *Talk) Agents(list ...core.AgentInfo) {
	t.Board.mu.Lock()
	defer t.Board.mu.Unlock()
	t.info.Agents = list
}

// Models are the configured models.
func (t *Talk) Models(names ...string) {
	t.Board.mu.Lock()
	defer t.Board.mu.Unlock()
	t.info.Models = names
}
