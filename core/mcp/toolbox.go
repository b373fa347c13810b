package mcp

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"cordboard/core"
)

// Server is one of mcp.servers: a command that is started, or a URL that speaks streamable HTTP.
type Server struct {
	Name    string // letters, digits, - and single _ (config.md)
	Command []string
	Env     map[string]string // of the command, beside the owner's PATH and HOME
	URL     string
}

// ToolboxOptions are what a Toolbox needs of its surroundings.
type ToolboxOptions struct {
	Version string
	Getenv  func(string) string // the owner's environment
	Now     func() time.Time
	Log     *slog.Logger
	// StartWithin is how long a server may take until it has listed its tools; 0 is 10 s.
	StartWithin time.Duration
}

// separator stands between the names of server and tool. The name of a server does not hold it, so it is known from the tool's which server
// is meant.
const separator = "__"

// Toolbox is core.Toolbox over the tools of MCP servers, which are called <server>__<tool>. A server is started when a tool is first asked
// for and lives until Close; one that ends is started anew when it is needed again (source.go).
type Toolbox struct {
	options ToolboxOptions
	sources map[string]*source // by server name
	ctx     context.Context    // ends with Close
	close   context.CancelFunc
	work    sync.WaitGroup // whatever belongs to servers
}

// NewToolbox makes a toolbox. Nothing is started yet.
func NewToolbox(servers []Server, o ToolboxOptions) *Toolbox {
	if o.StartWithin == 0 {
		o.StartWithin = 10 * time.Second
	}
	t := &Toolbox{options: o, sources: map[string]*source{}}
	t.ctx, t.close = context.WithCancel(context.Background())
	for _, s := range servers {
		t.sources[s.Name] = &source{server: s, box: t}
	}
	return t
}

// Close ends every server and waits for all of it. Calls that wait on one fail.
func (t *Toolbox) Close() {
	t.close()
	for _, s := range t.sources {
		s.settle()
	}
	t.work.Wait()
}

// Tools implements core.Toolbox. The servers are asked side by side, so that a slow one costs no more than itself, and one that did not come
// up the last time costs nothing: it is started beside the turns, and calls of its tools wait for it.
func (t *Toolbox) Tools(ctx context.Context) []core.ToolSpec {
	names := slices.Sorted(maps.Keys(t.sources))
	lists := make([][]core.ToolSpec, len(names))
	var all sync.WaitGroup
	for i, name := range names {
		all.Go(func() {
			if _, list, err := t.sources[name].list(ctx, false); err == nil { // the log has heard of an error, and a call will
				lists[i] = list.specs
			}
		})
	}
	all.Wait()
	return slices.Concat(lists...)
}

// Has implements core.Toolbox.
func (t *Toolbox) Has(name string) bool {
	server, _, ok := strings.Cut(name, separator)
	return ok && t.sources[server] != nil
}

// Call implements core.Toolbox.
func (t *Toolbox) Call(ctx context.Context, name string, params json.RawMessage) (answer string, failed bool, err error) {
	server, _, _ := strings.Cut(name, separator)
	s := t.sources[server]
	if s == nil {
		return "", false, core.Errorf(core.CodeInvalidParams, "there is no tool %q", name)
	}
	return s.call(ctx, name, params)
}
