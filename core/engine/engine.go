// Package engine is the one place that does what the tools and front ends ask: it reads and writes the Store under the rules of policy
// and config, and gives every actor a core.Board of its own.
//
// Reading is one file a verb: list.go and history.go are session tools; heads.go, messages.go, records.go, search.go, info.go, explain.go
// and watch.go the rest of the Board. call.go takes a tool call to its file and holds agents_list. resolve.go finds the session a caller
// means, view.go says what a caller may see; every verb goes through these two, so that no rule is missing at one exit.
//
// do.go carries every command out in the same way, with audit.go and once.go: patch.go, lifecycle.go (reset, delete, adopt), hold.go,
// rerun.go, stop.go, sendmode.go (/send) and others say what it does. prospect.go tells beforehand what a message would meet.
//
// Running is the other half, and only an engine that was started has it. Decisions are transactions on the store:
//
//	runs.go       the life of a run: queued, begun, appended to, ended
//	send.go       sessions_send; chat.go the operator's message, reply.go his answer for a manual agent; wait.go waits for a run's end
//	exchange.go   what follows a send, step by step; announce.go what a target tells its chat
//	spawn.go      sessions_spawn, clearance.go its checks; attachments.go and folder.go its files, thread.go its thread
//	subagent.go   what follows a sub-agent's run; subreport.go what its requester is told
//	chores.go     what is due beside deliveries; archive.go the end of a sub-agent's session
//	deliver.go    texts on their way to people; flights.go which of them may leave now
//	usage.go      what runs cost, by day
//	recover.go    what an earlier life left; children.go the processes that played its runs, token.go what these may
//	approvals.go  what runs ask the operator's permission for
//	toolbox.go    the tools of a run, those of other servers too
//	voice.go      what runs are saying, before it is in a transcript; hear.go tells streams of it
//
// and what they set going lives in memory: queue.go is who comes next, drive.go plays runs on their runtimes, sink.go writes what a
// runtime produces, lines.go as lines of a transcript.
package engine

import (
	"context"
	"log/slog"
	"time"

	"github.com/google/uuid"

	"cordboard/core"
	"cordboard/core/config"
	"cordboard/core/key"
	"cordboard/core/policy"
	"cordboard/core/tool"
)

// Clock is the time an engine lives in.
type Clock interface {
	Now() time.Time
	// Sleep waits for d or until ctx ends, whose error it then returns.
	Sleep(ctx context.Context, d time.Duration) error
}

// Options are what an engine is told beside its config.
type Options struct {
	Version string
	Owner   string // who runs it, as Info shows; "" when the store is only read
	Clock   Clock  // nil is the real one
	// Runtimes play the agents, by type (agents.*.runtime.type).
	Runtimes map[string]core.Runtime
	// Channels carry texts to people, by configured name. A channel that is not configured is an outbox and needs none.
	Channels map[string]core.Channel
	// Workspace is the working directory of an agent, absolute; nil = there are none, and attachments are refused.
	Workspace func(agentID string) string
	// NewID makes ids of runs, sessions and exchanges; nil makes random UUIDs.
	NewID func() string
	// Toolbox holds the tools of mcp.servers; nil = there are none.
	Toolbox core.Toolbox
	// KillChild kills the child that an earlier life of the engine recorded on a run, if it still is that child, and reports whether it was.
	// nil where no runtime has children.
	KillChild func(runID string, p core.Process) (killed bool, err error)
	// Log hears what is no answer to anybody: never message text. nil is nowhere.
	Log *slog.Logger
}

// Engine does the work behind every Board over one store. It does not own the store: whoever opened it closes it.
type Engine struct {
	store   core.Store
	config  *config.Config
	names   key.Names
	rules   policy.Rules
	masker  *tool.Redactor
	redact  *tool.Redactor // what sessions get: masker, or nil when logging.redactSensitive is off
	clock   Clock
	options Options
	drive   *driver // nil until Start
	floor   floor

	approvals approvals
}

// New makes an engine over an open store. The config must have been validated; an error names a pattern that does not compile.
func New(store core.Store, cfg *config.Config, options Options) (*Engine, error) {
	if options.Clock == nil {
		options.Clock = realClock{}
	}
	if options.NewID == nil {
		options.NewID = uuid.NewString
	}
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	e := &Engine{store: store, config: cfg, clock: options.Clock, options: options, floor: newFloor()}
	e.names = namesOf(cfg)
	e.rules = rulesOf(cfg, e.names)
	masker, err := tool.NewRedactor(cfg.Logging.RedactPatterns)
	if err != nil {
		return nil, err
	}
	e.masker = masker
	if cfg.Logging.RedactSensitive != config.RedactOff {
		e.redact = masker
	}
	return e, nil
}

// Board is the engine as one actor may use it. A session actor must be one that exists or a configured agent's main.
func (e *Engine) Board(ctx context.Context, actor core.Actor) (core.Board, error) {
	b := &board{Engine: e, actor: actor}
	if actor.Kind == core.ActorSession {
		resolved, err := e.caller(ctx, actor.Session)
		if err != nil {
			return nil, err
		}
		b.actor.Session = resolved
	}
	return b, nil
}

// board is an Engine bound to an actor.
type board struct {
	*Engine
	actor  core.Actor
	within *core.Run // the run that calls, when it is one: what it does is told in its transcript and not in the audit
}

// Close ends the board, not the engine: a board holds nothing of its own.
func (b *board) Close() error { return nil }

type realClock struct{}

func (realClock) Now() time.Time { return time.Now() }

func (realClock) Sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
