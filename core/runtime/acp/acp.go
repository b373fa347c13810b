// Package acp is the runtime that plays an agent with a local program that speaks the Agent Client Protocol on its standard input and
// output (engine.md §3).
//
// A program is started for a session at its first turn and kept for the next ones (keeper.go), so that it remembers; when it is new and the
// session is not, it is told what was said (prompt.go). What it does comes as updates (updates.go): text and thoughts stream into the run,
// its tool calls are recorded with their results, its requests for permission are put to the operator. It gets the session tools through
// an MCP server of ours that speaks for its session only.
//
// Such a program has the rights of whoever runs cordboard, unless a sandbox command stands before it. We offer it neither files nor
// terminals: it has its own.
package acp

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"cordboard/core"
	"cordboard/core/runtime/child"
)

// Agent is what of an agent matters to its program.
type Agent struct {
	ID           string
	Command      []string          // argv
	Env          map[string]string // added to the environment
	Workspace    string            // working directory, made when missing
	SystemPrompt string            // told before the first message
	Sandboxed    bool              // this session is
	Sandbox      []string          // argv prefix, needed and used when Sandboxed
}

// Server is the MCP server that a program is given, and how it is taken back when the program ends.
type Server struct {
	Command []string          // argv
	Env     map[string]string // what it needs to speak for the session
	Revoke  func()            // nil = nothing is to be done
}

// Options are what a Runtime is made of. Agent and Environ are needed.
type Options struct {
	Version string
	Agent   func(s *core.Session) (Agent, error)
	Environ func() []string
	// Server makes the MCP server of a turn's session, for the program that begins with that turn; nil, and a nil one: it gets none.
	Server func(t *core.Turn) *Server
	// Grace is how long a program may take to end a turn that is cancelled, before it is killed; 0 is 250 ms. The engine goes on without a
	// turn that takes 500 ms (engine.md §1).
	Grace time.Duration
	// Idle is how long a program is kept without a turn; 0 is 10 minutes.
	Idle time.Duration
	// Log hears of what cannot be understood in what programs say; nil is nowhere.
	Log *slog.Logger
	// After calls a function after a time unless it is stopped before; nil is time.AfterFunc.
	After func(d time.Duration, f func()) (stop func() bool)
}

const (
	defaultGrace = 250 * time.Millisecond
	defaultIdle  = 10 * time.Minute
)

// Runtime plays agents with programs. Close ends them.
type Runtime struct {
	options Options
	keeper  keeper
}

// New makes a runtime.
func New(o Options) *Runtime {
	if o.Grace == 0 {
		o.Grace = defaultGrace
	}
	if o.Idle == 0 {
		o.Idle = defaultIdle
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.After == nil {
		o.After = func(d time.Duration, f func()) func() bool { return time.AfterFunc(d, f).Stop }
	}
	return &Runtime{options: o, keeper: newKeeper()}
}

// Close ends every program and waits until they are gone. Turns fail from then on.
func (r *Runtime) Close() { r.keeper.close() }

// Turn implements core.Runtime.
func (r *Runtime) Turn(ctx context.Context, t core.Turn, out core.Sink) (core.TurnResult, error) {
	agent, err := r.options.Agent(&t.Session)
	if err != nil {
		return core.TurnResult{}, err
	}
	p, err := r.program(ctx, &agent, &t)
	if err != nil {
		return core.TurnResult{}, err
	}
	result, err := p.turn(ctx, &agent, &t, out, r.options.Grace)
	r.keeper.rest(t.Session.Key, p, r.options)
	return result, err
}

// program is the one that plays a session: the one that is kept for this transcript, else a new one.
func (r *Runtime) program(ctx context.Context, a *Agent, t *core.Turn) (*program, error) {
	if p := r.keeper.take(t.Session.Key, t.Session.SessionID); p != nil {
		if t.Started != nil {
			if err := t.Started(ctx, p.child.Process()); err != nil {
				r.keeper.drop(p)
				p.kill()
				return nil, err
			}
		}
		return p, nil
	}
	argv, key, err := a.argv()
	if err != nil {
		return nil, err
	}
	p, err := r.start(ctx, a, argv, t)
	if failed, ok := errors.AsType[*child.NotStarted](err); ok {
		err = core.Errorf(core.CodeConfig, "the program %q of agent %q cannot be started: %w", argv[0], a.ID, failed).Because(key)
	}
	return p, err
}

// argv is what is started, and the key that says what comes first.
func (a *Agent) argv() (argv []string, key string, err error) {
	key = "agents.list[].runtime.command"
	if len(a.Command) == 0 {
		return nil, key, core.Errorf(core.CodeConfig, "agent %q has the runtime acp and no command", a.ID).Because(key)
	}
	if !a.Sandboxed {
		return a.Command, key, nil
	}
	key = "agents.list[].sandbox.command"
	if len(a.Sandbox) == 0 {
		return nil, key, core.Errorf(core.CodeConfig, "agent %q is sandboxed and runs a program: a sandbox command to start it with is required", a.ID).Because(key)
	}
	return append(append([]string(nil), a.Sandbox...), a.Command...), key, nil
}

// workspace is the directory that a program works in, absolute as the protocol wants it.
func (a *Agent) workspace() (string, error) {
	dir, err := filepath.Abs(a.Workspace)
	if err == nil {
		err = os.MkdirAll(dir, 0o700)
	}
	if err != nil {
		return "", core.Errorf(core.CodeConfig, "the workspace of agent %q cannot be made: %w", a.ID, err).Because("agents.list[].workspace")
	}
	return dir, nil
}

// greet begins the protocol with a program that has just been started.
func (p *program) greet(ctx context.Context, a *Agent, dir string, server *Server, version string) error {
	hello, err := p.conn.Initialize(ctx, sdk.InitializeRequest{
		ProtocolVersion: sdk.ProtocolVersionNumber, ClientInfo: &sdk.Implementation{Name: "cordboard", Version: version},
	})
	if err != nil {
		return p.failed(ctx, a, "does not speak the Agent Client Protocol", err)
	}
	if hello.ProtocolVersion != sdk.ProtocolVersionNumber {
		return fmt.Errorf("the program %q of agent %q speaks version %d of the Agent Client Protocol, this is version %d", a.Command[0], a.ID, hello.ProtocolVersion, sdk.ProtocolVersionNumber)
	}
	servers := []sdk.McpServer{}
	if server != nil {
		stdio := &sdk.McpServerStdio{Name: "cordboard", Command: server.Command[0], Args: server.Command[1:], Env: []sdk.EnvVariable{}}
		for name, value := range server.Env {
			stdio.Env = append(stdio.Env, sdk.EnvVariable{Name: name, Value: value})
		}
		servers = append(servers, sdk.McpServer{Stdio: stdio})
	}
	session, err := p.conn.NewSession(ctx, sdk.NewSessionRequest{Cwd: dir, McpServers: servers})
	if err != nil {
		return p.failed(ctx, a, "opens no session", err)
	}
	p.session = session.SessionId
	return nil
}
