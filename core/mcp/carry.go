package mcp

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"cordboard/core/runtime/child"
)

const (
	endByItself = 200 * time.Millisecond // from closing a command's standard input to TERM
	endGrace    = 200 * time.Millisecond // from TERM to KILL
	webGoodbye  = time.Second
	mostLine    = 1 << 10 // bytes of a line of its standard error that the log keeps
	mostLines   = 1000    // of them, for one life of the command
	dialFor     = 10 * time.Second
)

// carrier starts the command, or prepares the way to the URL.
func (s *source) carrier() (carrier, error) {
	if s.server.URL != "" {
		return newWeb(s.server.URL), nil
	}
	return s.command()
}

// command is a server that runs as a child: in a process group of its own, which ends with it, with the link, and with the owner.
type command struct {
	sdk.IOTransport
	child *child.Child
	once  sync.Once
	ended bool // by us, and not by itself
}

func (s *source) command() (*command, error) {
	in, out, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer in.Close()
	cmd := exec.Command(s.server.Command[0], s.server.Command[1:]...)
	cmd.Env, cmd.Dir = s.environment(), s.place()
	started, err := child.Start(cmd, in)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the command %q: %w", s.server.Command[0], err), out.Close())
	}
	log := s.box.options.Log.With("server", s.server.Name)
	s.box.work.Go(func() { tell(started.Stderr, log) })
	return &command{IOTransport: sdk.IOTransport{Reader: started.Stdout, Writer: out}, child: started}, nil
}

// environment is what a command is told: nothing of the owner's but where programs are and whose home it is.
func (s *source) environment() []string {
	env := []string{}
	for _, name := range []string{"PATH", "HOME"} {
		if _, set := s.server.Env[name]; !set {
			env = append(env, name+"="+s.box.options.Getenv(name))
		}
	}
	for name, value := range s.server.Env {
		env = append(env, name+"="+value)
	}
	return env
}

// place is where a command works: at home, as where MCP clients start theirs. The owner itself may work in the data directory, and a server
// that serves the files around it is to serve others.
func (s *source) place() string {
	home := s.box.options.Getenv("HOME")
	if info, err := os.Stat(home); err != nil || !info.IsDir() || !filepath.IsAbs(home) {
		return string(filepath.Separator)
	}
	return home
}

// tell writes what a command says on its standard error into the log, until it has ended.
func tell(stderr io.ReadCloser, log *slog.Logger) {
	defer stderr.Close()
	lines := bufio.NewReaderSize(stderr, mostLine)
	for n := 0; ; {
		line, long, err := lines.ReadLine()
		if text := strings.TrimSpace(strings.ToValidUTF8(string(line), "\uFFFD")); text != "" && n < mostLines {
			log.Info("an MCP server says", "stderr", text)
			n++
		}
		for long && err == nil {
			_, long, err = lines.ReadLine()
		}
		if err != nil {
			return
		}
	}
}

func (c *command) end() {
	c.once.Do(func() {
		_ = c.Writer.Close() // which asks it to end
		timer := time.NewTimer(endByItself)
		defer timer.Stop()
		select {
		case <-c.child.Exited():
		case <-timer.C:
			c.ended = true
			c.child.End(endGrace)
		}
		<-c.child.Exited()
		_ = c.Reader.Close()
	})
}

func (c *command) goodbye() time.Duration { return 0 } // to close its standard input says all

func (c *command) why() string {
	select {
	case <-c.child.Exited():
	default:
		return ""
	}
	if err := c.child.Err(); err != nil && !c.ended {
		return err.Error()
	}
	return ""
}

// web is a server behind a URL. Its connections are known, so that none outlives the link, whatever the other side does.
type web struct {
	sdk.StreamableClientTransport
	transport *http.Transport

	mu    sync.Mutex
	conns map[net.Conn]struct{}
	over  bool
}

func newWeb(url string) *web {
	w := &web{conns: map[net.Conn]struct{}{}}
	w.transport = &http.Transport{Proxy: http.ProxyFromEnvironment, DialContext: w.dial, ForceAttemptHTTP2: true}
	w.StreamableClientTransport = sdk.StreamableClientTransport{
		Endpoint: url, HTTPClient: &http.Client{Transport: w.transport}, DisableStandaloneSSE: true, MaxRetries: -1,
	}
	return w
}

func (w *web) dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := (&net.Dialer{Timeout: dialFor}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.over {
		return nil, errors.Join(net.ErrClosed, c.Close())
	}
	known := &knownConn{Conn: c, web: w}
	w.conns[known] = struct{}{}
	return known, nil
}

type knownConn struct {
	net.Conn
	web *web
}

func (c *knownConn) Close() error {
	c.web.mu.Lock()
	delete(c.web.conns, c)
	c.web.mu.Unlock()
	return c.Conn.Close()
}

func (w *web) end() {
	w.mu.Lock()
	w.over = true
	var open []net.Conn
	for c := range w.conns {
		open = append(open, c)
	}
	w.mu.Unlock()
	for _, c := range open {
		_ = c.Close()
	}
	w.transport.CloseIdleConnections()
}

func (w *web) goodbye() time.Duration { return webGoodbye }

func (w *web) why() string { return "" }
