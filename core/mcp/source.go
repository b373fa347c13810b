package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"cordboard/core"
)

const (
	firstPause = time.Second // after a server failed that had not answered a call yet, before it is started again; twice as long each time
	mostPause  = time.Minute
	freshFor   = time.Minute // how long the list of a server that cannot tell of changes holds
)

// source is one server: not started, starting, there, or failed and waiting to be tried again.
type source struct {
	server Server
	box    *Toolbox

	mu       sync.Mutex
	link     *link         // nil = there is none
	starting chan struct{} // closed when the start under way has succeeded or failed; nil = there is none
	failed   error         // why there is no link
	failures int           // in a row, without a call that was answered between them
	again    time.Time     // not started before this
}

// carrier is what a server is reached over.
type carrier interface {
	sdk.Transport
	// end ends the connection and whatever was started for it, and returns when that is gone. It may be called again.
	end()
	// goodbye is how long the protocol may take to say so before.
	goodbye() time.Duration
	// why is what can be told of an end that nobody asked for, "" for nothing.
	why() string
}

// link is a connection to a server that has listed its tools.
type link struct {
	carrier
	session *sdk.ClientSession
	useful  atomic.Bool   // it has answered a call
	gone    chan struct{} // closed when the source has heard of its end

	mu     sync.Mutex
	listed *listing
	at     time.Time // when
	stale  bool
}

// reach returns the connection to the server, starting it when it is not there. Who only wants to know what there is does not wait for one
// that did not come up the last time: a server that hangs would hold up every turn.
func (s *source) reach(ctx context.Context, patient bool) (*link, error) {
	for {
		s.mu.Lock()
		wait := s.starting
		switch {
		case s.link != nil:
			l := s.link
			s.mu.Unlock()
			return l, nil
		case s.box.ctx.Err() != nil:
			s.mu.Unlock()
			return nil, s.error("is shut down with the owner of the store")
		case wait == nil && s.failed != nil && s.box.options.Now().Before(s.again):
			err := core.Errorf(core.CodeUnavailable, "%w; it is tried again in %s", s.failed, s.again.Sub(s.box.options.Now()).Round(time.Second))
			s.mu.Unlock()
			return nil, err.Because(s.key())
		case wait == nil:
			wait = make(chan struct{})
			s.starting = wait
			s.box.work.Go(s.start)
		}
		if err := s.failed; err != nil && s.failures > 0 && !patient {
			s.mu.Unlock()
			return nil, err
		}
		s.mu.Unlock()
		select {
		case <-wait:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		s.mu.Lock()
		err := s.failed
		s.mu.Unlock()
		if err != nil {
			return nil, err
		}
	}
}

// start makes the one attempt that everybody waits for. It is not bound to the run that asked first.
func (s *source) start() {
	ctx, cancel := context.WithTimeout(s.box.ctx, s.box.options.StartWithin)
	defer cancel()
	l, err := s.open(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	defer close(s.starting)
	s.starting = nil
	if err != nil {
		s.fail(s.error("cannot be started: %w", err))
		return
	}
	s.link, s.failed = l, nil
	s.box.options.Log.Info("an MCP server is there", "server", s.server.Name, "tools", len(l.listed.specs))
	s.box.work.Go(func() { s.keep(l) })
}

// open connects and takes the list of tools.
func (s *source) open(ctx context.Context) (*link, error) {
	c, err := s.carrier()
	if err != nil {
		return nil, err
	}
	l := &link{carrier: c, gone: make(chan struct{})}
	late := context.AfterFunc(ctx, c.end) // nothing of the library's own can hold this up then
	client := sdk.NewClient(&sdk.Implementation{Name: "cordboard", Version: s.box.options.Version}, &sdk.ClientOptions{
		Logger: nil, Capabilities: &sdk.ClientCapabilities{},
		ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { l.spoil() },
	})
	l.session, err = client.Connect(ctx, c, nil)
	if err == nil {
		err = s.relist(ctx, l)
	}
	if late() && err == nil {
		return l, nil
	}
	c.end()
	if l.session != nil {
		_ = l.session.Close()
	}
	switch why := c.why(); {
	case s.box.ctx.Err() != nil:
		return nil, errors.New("the owner of the store ends")
	case ctx.Err() != nil:
		return nil, fmt.Errorf("it did not list its tools within %s", s.box.options.StartWithin)
	case why != "":
		return nil, errors.New(why)
	}
	return nil, s.plain(err)
}

// keep waits for the end of a connection and clears up after it.
func (s *source) keep(l *link) {
	parted := make(chan struct{})
	stop := context.AfterFunc(s.box.ctx, func() {
		defer close(parted)
		l.part()
	})
	err := l.session.Wait()
	if stop() {
		l.part()
	} else {
		<-parted
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	defer close(l.gone)
	s.link = nil
	if s.box.ctx.Err() != nil {
		return
	}
	why := l.why()
	if why == "" && err != nil {
		why = s.plain(err).Error()
	}
	s.fail(s.error("has ended: %s", orText(why, "it closed the connection")))
	if l.useful.Load() { // it worked: the next call starts it at once
		s.failures, s.again = 0, time.Time{}
	}
}

// part closes the connection, with a word to the other side if that listens.
func (l *link) part() {
	closed := make(chan struct{})
	go func() {
		defer close(closed)
		_ = l.session.Close()
	}()
	timer := time.NewTimer(l.goodbye())
	defer timer.Stop()
	select {
	case <-closed:
	case <-timer.C:
	}
	l.end()
	<-closed
}

// fail notes why there is no connection. The caller holds mu.
func (s *source) fail(err error) {
	pause := min(firstPause<<min(s.failures, 10), mostPause)
	s.failures++
	s.failed, s.again = err, s.box.options.Now().Add(pause)
	if s.box.ctx.Err() == nil {
		s.box.options.Log.Warn("an MCP server failed", "server", s.server.Name, "error", err.Error(), "retry", pause.String())
	}
}

// settle waits until no start is under way, so that nothing begins any more.
func (s *source) settle() {
	s.mu.Lock()
	wait := s.starting
	s.mu.Unlock()
	if wait != nil {
		<-wait
	}
}

// error is a failure of this server, by name.
func (s *source) error(format string, args ...any) error {
	return core.Errorf(core.CodeUnavailable, "the MCP server %q "+format, append([]any{s.server.Name}, args...)...).Because(s.key())
}

func (s *source) key() string { return "mcp.servers." + s.server.Name }

// plain takes the address, which may hold a secret, out of an error.
func (s *source) plain(err error) error {
	if failed, ok := errors.AsType[*url.Error](err); ok {
		err = failed.Err
	}
	text := err.Error()
	if s.server.URL != "" {
		text = strings.ReplaceAll(text, s.server.URL, "its url")
	}
	return errors.New(strings.Join(strings.Fields(text), " "))
}

func orText(text, otherwise string) string {
	if text == "" {
		return otherwise
	}
	return text
}

// list is what the server offers now.
func (s *source) list(ctx context.Context, patient bool) (*link, *listing, error) {
	l, err := s.reach(ctx, patient)
	if err != nil {
		return nil, nil, err
	}
	if l.old(s.box.options.Now(), s.server.URL != "") {
		if err := s.relist(ctx, l); ctx.Err() != nil {
			return nil, nil, ctx.Err()
		} else if err != nil {
			return nil, nil, s.error("does not list its tools: %w", s.plain(err))
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l, l.listed, nil
}

// relist asks for the tools and tells the log what is wrong with them.
func (s *source) relist(ctx context.Context, l *link) error {
	l.mu.Lock()
	l.stale = false // what changes from here on is asked for again
	l.mu.Unlock()
	var tools []*sdk.Tool
	for tool, err := range l.session.Tools(ctx, nil) {
		if err != nil {
			l.spoil()
			return err
		}
		if tools = append(tools, tool); len(tools) > mostTools {
			return fmt.Errorf("it lists more than %d tools", mostTools)
		}
	}
	listed := newListing(s.server.Name, tools)
	for _, problem := range listed.problems {
		s.box.options.Log.Warn("a tool of an MCP server is left out", "server", s.server.Name, "error", problem.Error())
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.listed, l.at = listed, s.box.options.Now()
	return nil
}

func (l *link) old(now time.Time, deaf bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.stale || deaf && now.Sub(l.at) > freshFor
}

func (l *link) spoil() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stale = true
}

// call calls a tool. What went wrong on the way is an error; what the tool says went wrong is an answer that failed.
func (s *source) call(ctx context.Context, name string, params json.RawMessage) (answer string, failed bool, err error) {
	l, listed, err := s.list(ctx, true)
	if err != nil {
		return "", false, err
	}
	tool, err := listed.find(name)
	if err != nil {
		return "", false, err
	}
	if !isObject(params) {
		return "", false, core.Errorf(core.CodeInvalidParams, "the arguments of %s are not a JSON object", name)
	}
	result, err := l.session.CallTool(ctx, &sdk.CallToolParams{Name: tool, Arguments: params})
	switch {
	case err == nil:
		l.useful.Store(true)
		return textOf(result), result.IsError, nil
	case ctx.Err() != nil:
		return "", false, ctx.Err()
	case errors.Is(err, sdk.ErrConnectionClosed), errors.Is(err, io.EOF):
		select {
		case <-l.gone: // so that the next call finds it gone
		case <-ctx.Done():
			return "", false, ctx.Err()
		}
		return "", false, s.error("ended before %s was answered; the next call starts it again", name)
	}
	return "", false, s.error("failed at %s: %w", name, s.plain(err))
}
