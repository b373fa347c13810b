// Package exec is the runtime that plays an agent with a local command, started anew for every turn (engine.md §3).
//
// The command reads the message on its standard input and writes the reply to its standard output; its exit status is how the turn ended,
// and the end of what it wrote to standard error says why. What else it may want to know is in the environment and in the JSON file that
// CORDBOARD_CONTEXT names (context.go). It runs in a process group of its own (package child), which ends with the turn, with cancel and,
// as far as the system can see to it, with the owner.
//
// Such a command has the rights of whoever runs cordboard, unless a sandbox command stands before it.
package exec

import (
	"context"
	"errors"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"time"

	"cordboard/core"
	"cordboard/core/runtime/child"
)

// Runtime plays agents with commands. Agent and Environ are needed.
type Runtime struct {
	// Agent is the agent that plays a session.
	Agent func(s *core.Session) Agent
	// Environ is the owner's environment, as os.Environ tells it.
	Environ func() []string
	// Grace is how long a command may take to end after it was asked to, before it is killed; 0 is 200 ms. The engine goes on without a
	// turn that takes 500 ms (engine.md §1).
	Grace time.Duration
	// TempDir is where the private directory of a turn is made; "" is the system's.
	TempDir string
	// Socket is where a child finds the owner, to come in with the token of its turn, in CORDBOARD_SOCKET; "" = none is told.
	Socket string
}

// Agent is what of an agent matters to its command.
type Agent struct {
	ID        string
	Command   []string          // argv
	Env       map[string]string // added to the environment
	Workspace string            // working directory, made when missing
	Sandboxed bool              // this session is
	Sandbox   []string          // argv prefix, needed and used when Sandboxed
}

// Turn implements core.Runtime.
func (r Runtime) Turn(ctx context.Context, t core.Turn, out core.Sink) (core.TurnResult, error) {
	agent := r.Agent(&t.Session)
	argv, key, err := agent.argv()
	if err != nil {
		return core.TurnResult{}, err
	}
	dir, err := r.private()
	if err != nil {
		return core.TurnResult{}, fmt.Errorf("there is no place for the context of agent %q: %w", agent.ID, err)
	}
	defer os.RemoveAll(dir)
	cmd, err := r.command(&agent, argv, dir, &t)
	if err != nil {
		return core.TurnResult{}, err
	}
	err = r.run(ctx, cmd, dir, t.Started, out)
	if failed, ok := errors.AsType[*child.NotStarted](err); ok {
		err = core.Errorf(core.CodeConfig, "the command %q of agent %q cannot be started: %w", argv[0], agent.ID, failed).Because(key)
	}
	return core.TurnResult{}, err
}

// private makes the directory of a turn, which only the owner may enter. Its path holds wherever the command runs.
func (r *Runtime) private() (string, error) {
	dir, err := os.MkdirTemp(r.TempDir, "cordboard-turn-")
	if err != nil {
		return "", err
	}
	return filepath.Abs(dir)
}

// argv is what is started, and the key that says what comes first.
func (a *Agent) argv() (argv []string, key string, err error) {
	key = "agents.list[].runtime.command"
	if len(a.Command) == 0 {
		return nil, key, core.Errorf(core.CodeConfig, "agent %q has the runtime exec and no command", a.ID).Because(key)
	}
	if !a.Sandboxed {
		return a.Command, key, nil
	}
	key = "agents.list[].sandbox.command"
	if len(a.Sandbox) == 0 {
		return nil, key, core.Errorf(core.CodeConfig, "agent %q is sandboxed and runs a command: a sandbox command to start it with is required", a.ID).Because(key)
	}
	return append(append([]string(nil), a.Sandbox...), a.Command...), key, nil
}

// command prepares the child: its place, its files and what it is told.
func (r *Runtime) command(a *Agent, argv []string, dir string, t *core.Turn) (*osexec.Cmd, error) {
	if a.Workspace != "" {
		if err := os.MkdirAll(a.Workspace, 0o700); err != nil {
			return nil, core.Errorf(core.CodeConfig, "the workspace of agent %q cannot be made: %w", a.ID, err).Because("agents.list[].workspace")
		}
	}
	file, err := writeContext(dir, a.ID, t)
	if err != nil {
		return nil, err
	}
	cmd := osexec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = a.Workspace, r.environment(a, file, t)
	return cmd, nil
}

// environment is the owner's, without what is told to the owner alone, then the agent's, then what is told of this turn. A sandboxed child
// gets little of the owner's: it may hold secrets.
func (r *Runtime) environment(a *Agent, context string, t *core.Turn) []string {
	env := child.Environment(r.Environ(), a.Sandboxed)
	for name, value := range a.Env {
		env = append(env, name+"="+value)
	}
	env = append(env, child.Prefix+"SESSION_KEY="+t.Session.Key, child.Prefix+"SESSION="+t.Session.Key, child.RunVariable+"="+t.Run.ID,
		child.Prefix+"AGENT_ID="+a.ID, child.Prefix+"CONTEXT="+context)
	if r.Socket != "" {
		env = append(env, child.Prefix+"SOCKET="+r.Socket)
	}
	if t.Token != nil {
		env = append(env, child.Prefix+"TOKEN="+t.Token())
	}
	return env
}

// Exit is a command that ended otherwise than well.
type Exit struct {
	Command string
	Status  int    // -1 when a signal ended it
	Signal  string // its name
	Stderr  string // the last 4 KiB
}

func (e *Exit) Error() string {
	text := fmt.Sprintf("the command %q ended with status %d", e.Command, e.Status)
	if e.Signal != "" {
		text = fmt.Sprintf("the command %q was ended by the signal %q", e.Command, e.Signal)
	}
	if e.Stderr != "" {
		text += ": " + e.Stderr
	}
	return text
}
