package acp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	osexec "os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/coder/acp-go-sdk"

	"cordboard/core"
	"cordboard/core/runtime/child"
)

// program is a running agent and its one session.
type program struct {
	child      *child.Child
	conn       *sdk.ClientSideConnection
	stdin      *mouth
	tail       chan string // the end of what it wrote to standard error, once it has ended
	session    sdk.SessionId
	transcript string // sessionId of the transcript that it knows
	fresh      bool   // it has had no turn yet
	revoke     func()
	stop       func() bool // of the clock that runs while it is idle
	broken     bool        // a turn was broken off: what it would do next is not known
	spent      core.Usage  // it tells of all its turns together

	mu   sync.Mutex
	now  *turn // that updates belong to; nil between turns
	once sync.Once
}

// start starts a program and begins the protocol with it.
func (r *Runtime) start(ctx context.Context, a *Agent, argv []string, t *core.Turn) (*program, error) {
	dir, err := a.workspace()
	if err != nil {
		return nil, err
	}
	cmd := osexec.Command(argv[0], argv[1:]...)
	cmd.Dir, cmd.Env = dir, r.environment(a)
	in, stdin, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	c, err := child.Start(cmd, in)
	if err != nil {
		return nil, errors.Join(err, stdin.Close(), in.Close())
	}
	_ = in.Close()
	p := &program{child: c, stdin: &mouth{WriteCloser: stdin}, tail: make(chan string, 1), transcript: t.Session.SessionID, fresh: true}
	go func() { p.tail <- child.Tail(c.Stderr) }()
	answers := &gated{Reader: c.Stdout, open: make(chan struct{})}
	p.conn = sdk.NewClientSideConnection(&client{p}, p.stdin, answers)
	p.conn.SetLogger(r.options.Log)
	close(answers.open)
	if err := r.begin(ctx, p, a, dir, t); err != nil {
		r.keeper.drop(p)
		p.kill()
		return nil, err
	}
	return p, nil
}

// begin makes a program that has been started ready for its first turn.
func (r *Runtime) begin(ctx context.Context, p *program, a *Agent, dir string, t *core.Turn) error {
	if !r.keeper.begin(p) {
		return errors.New("the engine stopped")
	}
	if t.Started != nil {
		if err := t.Started(ctx, p.child.Process()); err != nil {
			return err
		}
	}
	var server *Server
	if r.options.Server != nil {
		if server = r.options.Server(t); server != nil {
			p.revoke = server.Revoke
		}
	}
	return p.greet(ctx, a, dir, server, r.options.Version)
}

// mouth is a program's standard input. The library tells of one that cannot be written to as if the program had answered with an error.
type mouth struct {
	io.WriteCloser
	shut atomic.Bool // a write failed
}

// Write implements io.Writer.
func (m *mouth) Write(p []byte) (int, error) {
	n, err := m.WriteCloser.Write(p)
	if err != nil {
		m.shut.Store(true)
	}
	return n, err
}

// gated is read from only once it is open: a connection begins to read when it is made, before it has its logger.
type gated struct {
	io.Reader
	open chan struct{}
}

// Read implements io.Reader.
func (g *gated) Read(p []byte) (int, error) {
	<-g.open
	return g.Reader.Read(p)
}

// environment is the owner's, without what is told to the owner alone, then the agent's. A sandboxed program gets little of the owner's: it
// may hold secrets.
func (r *Runtime) environment(a *Agent) []string {
	env := child.Environment(r.options.Environ(), a.Sandboxed)
	for name, value := range a.Env {
		env = append(env, name+"="+value)
	}
	return env
}

// alive reports whether the program still runs.
func (p *program) alive() bool {
	select {
	case <-p.child.Exited():
		return false
	default:
		return true
	}
}

// kill ends the program and all that it started.
func (p *program) kill() {
	p.once.Do(func() {
		_ = p.stdin.Close() // a program that is polite ends by itself
		p.child.End(100 * time.Millisecond)
		<-p.child.Exited()
		<-p.conn.Done()
		_ = p.child.Stdout.Close()
		if p.revoke != nil {
			p.revoke()
		}
	})
}

// turn lets the program answer one message. A turn whose ctx ends is cancelled; a program that goes on all the same is killed.
func (p *program) turn(ctx context.Context, a *Agent, t *core.Turn, out core.Sink, grace time.Duration) (result core.TurnResult, err error) {
	u := &turn{out: out, ctx: ctx, calls: map[string]*toolCall{}}
	p.set(u)
	defer p.set(nil)
	type answer struct {
		sdk.PromptResponse
		err error
	}
	done := make(chan answer, 1)
	go func() { // ends with the answer, or with the program
		r, err := p.conn.Prompt(context.WithoutCancel(ctx), sdk.PromptRequest{SessionId: p.session, Prompt: prompt(a, t, p.fresh)})
		done <- answer{r, err}
	}()
	var got answer
	select {
	case got = <-done:
	case <-ctx.Done():
		p.broken = true
		_ = p.conn.Cancel(context.WithoutCancel(ctx), sdk.CancelNotification{SessionId: p.session})
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case got = <-done:
			p.broken = got.err != nil
		case <-timer.C:
			p.kill()
			got = <-done
		}
		return result, context.Cause(ctx)
	}
	p.fresh = false
	if got.err != nil {
		p.broken = true
		return result, p.failed(ctx, a, "gave no answer", got.err)
	}
	if err := u.failure(); err != nil {
		return result, err
	}
	if u := got.Usage; u != nil {
		total := core.Usage{Input: int64(u.InputTokens), Output: int64(u.OutputTokens)}
		result.Usage = core.Usage{Input: total.Input - p.spent.Input, Output: total.Output - p.spent.Output}
		p.spent = total
	}
	return result, stopped(got.StopReason)
}

// stopped is what the reason of a turn's end means for its run.
func stopped(reason sdk.StopReason) error {
	switch reason {
	case sdk.StopReasonEndTurn:
		return nil
	case sdk.StopReasonMaxTokens:
		return errors.New("the agent's reply was cut: the model's token limit was reached")
	case sdk.StopReasonMaxTurnRequests:
		return errors.New("the agent ended its turn: it had made as many requests to its model as it may in one turn")
	case sdk.StopReasonRefusal:
		return errors.New("the agent refused to answer")
	case sdk.StopReasonCancelled:
		return errors.New("the agent says that its turn was cancelled, and nobody here did")
	}
	return fmt.Errorf("the agent ended its turn for a reason that is not known here: %q", reason)
}

// failed says why a request to the program failed: what it answered, or how it ended and the last it wrote to standard error.
func (p *program) failed(ctx context.Context, a *Agent, what string, err error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	name := fmt.Sprintf("the program %q of agent %q", a.Command[0], a.ID)
	if refused, ok := errors.AsType[*sdk.RequestError](err); ok && p.connected() && !p.stdin.shut.Load() {
		return fmt.Errorf("%s %s: %s", name, what, refused.Error())
	}
	p.kill()
	tail := <-p.tail
	p.tail <- tail
	if tail != "" {
		tail = ": " + tail
	}
	how := "ended"
	if err := p.child.Err(); err != nil {
		how = "ended (" + err.Error() + ")"
	}
	return fmt.Errorf("%s %s: it %s%s", name, what, how, strings.ToValidUTF8(tail, "\uFFFD"))
}

func (p *program) connected() bool {
	select {
	case <-p.conn.Done():
		return false
	default:
		return true
	}
}

func (p *program) set(t *turn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now = t
}

// current is the turn that an update belongs to, nil when there is none: what a program does between its turns belongs nowhere.
func (p *program) current() *turn {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.now
}
