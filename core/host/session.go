package host

import (
	"context"
	"encoding/json"
	"io"
	"os"
	"time"

	"cordboard/core"
	"cordboard/core/gateway/board"
	"cordboard/core/gateway/wire"
	"cordboard/core/openclaw"
)

// What an owner answers beside the methods of a Board: the work on the store that needs the store itself.
const (
	methodStatus = "cordboard.status"
	methodImport = "cordboard.import"
	methodExport = "cordboard.export"
	methodBackup = "cordboard.backup"
	methodFollow = "cordboard.follow"
	methodDoctor = "cordboard.doctor"
)

type importParams struct {
	Dir string `json:"dir"` // absolute
}

type exportParams struct {
	Session string `json:"session"`
}

// session answers one connection.
type session struct {
	*board.Session
	server *server
	board  core.Board
	actor  core.Actor
}

// greet answers hello. A client of another version is sent away: what the two would say to each other is not known.
func (s *server) greet(ctx context.Context, params json.RawMessage) (wire.Session, []byte, error) {
	var h hello
	if err := json.Unmarshal(params, &h); err != nil {
		return nil, nil, core.Errorf(core.CodeInvalidParams, "hello cannot be read: %w", err)
	}
	if h.Token != "" {
		return s.greetChild(ctx, params) // who shows a token is what it is for, by whichever way it came
	}
	if h.Version != s.options.Version {
		return nil, nil, core.Errorf(core.CodeVersion, "the owner of the store (pid %d) is cordboard %s, this is %s: `cordboard serve --stop` ends it, "+
			"the next verb starts the new one", os.Getpid(), s.options.Version, h.Version)
	}
	b, err := s.engine.Board(ctx, h.Actor)
	if err != nil {
		return nil, nil, err
	}
	answer, err := wire.Marshal(welcome{Config: s.config})
	return &session{board.NewSession(b), s, b, h.Actor}, answer, err
}

// Call implements wire.Session.
func (c *session) Call(ctx context.Context, r wire.Request, out []byte) ([]byte, error) {
	verb, ok := verbs[r.Method]
	if !ok {
		return c.Session.Call(ctx, r, out)
	}
	if c.actor.Kind != core.ActorOperator {
		return out, core.Errorf(core.CodeForbidden, "%s is the operator's", r.Method)
	}
	answer, err := verb(c, ctx, r)
	if err != nil {
		return out, err
	}
	return wire.Append(out, answer)
}

var verbs = map[string]func(c *session, ctx context.Context, r wire.Request) (any, error){
	methodStatus: (*session).status,
	methodImport: (*session).importDir,
	methodExport: (*session).export,
	methodBackup: (*session).backup,
	methodFollow: (*session).follow,
	methodDoctor: (*session).doctor,
}

// importDir copies a directory into the store, one at a time, and tells how far it is.
func (c *session) importDir(ctx context.Context, r wire.Request) (any, error) {
	var p importParams
	if err := json.Unmarshal(r.Params, &p); err != nil {
		return nil, core.Errorf(core.CodeInvalidParams, "the params cannot be read: %w", err)
	}
	if c.actor.ReadOnly {
		return nil, core.Errorf(core.CodeReadOnly, "nothing is imported: this connection was opened read-only")
	}
	select {
	case c.server.imports <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-c.server.imports }()
	return openclaw.Import(ctx, c.server.store, p.Dir, openclaw.Options{Progress: func(progress openclaw.Progress) {
		if payload, err := wire.Marshal(progress); err == nil {
			_ = r.Emit(payload) // a client that is gone ends ctx
		}
	}})
}

// followNews is one of what a follower tells. The first holds nothing: it says that the directory is followed.
type followNews struct {
	Event    *FollowEvent    `json:"event,omitempty"`
	Progress *ImportProgress `json:"progress,omitempty"`
}

// follow follows a directory for as long as the call lasts.
func (c *session) follow(ctx context.Context, r wire.Request) (any, error) {
	var p importParams
	if err := json.Unmarshal(r.Params, &p); err != nil {
		return nil, core.Errorf(core.CodeInvalidParams, "the params cannot be read: %w", err)
	}
	if c.actor.ReadOnly {
		return nil, core.Errorf(core.CodeReadOnly, "nothing is followed: this connection was opened read-only")
	}
	source, err := openclaw.Check(p.Dir)
	if err != nil {
		return nil, err
	}
	tell := func(n followNews) {
		if payload, err := wire.Marshal(n); err == nil {
			_ = r.Emit(payload) // a client that is gone ends ctx
		}
	}
	ended, err := c.server.follows.start(ctx, source, func(ctx context.Context) error {
		tell(followNews{})
		return openclaw.Follow(ctx, c.server.store, source, FollowOptions{
			Event: func(e FollowEvent) { tell(followNews{Event: &e}) }, Progress: func(p ImportProgress) { tell(followNews{Progress: &p}) },
		})
	})
	if err != nil {
		return nil, err
	}
	return struct{}{}, <-ended
}

func (c *session) export(ctx context.Context, r wire.Request) (any, error) {
	var p exportParams
	if err := json.Unmarshal(r.Params, &p); err != nil {
		return nil, core.Errorf(core.CodeInvalidParams, "the params cannot be read: %w", err)
	}
	return struct{}{}, export(ctx, c.server.store, c.board, p.Session, pieces{ctx, r.Emit})
}

func (c *session) backup(ctx context.Context, r wire.Request) (any, error) {
	_, err := c.server.store.Backup(ctx, pieces{ctx, r.Emit})
	return struct{}{}, err
}

func (c *session) doctor(ctx context.Context, _ wire.Request) (any, error) {
	report, err := c.server.store.Examine(ctx)
	if info, infoErr := c.server.store.Info(ctx); infoErr == nil {
		report.Schema, report.Epoch, report.Rev, report.Bytes = info.Schema, info.Epoch, info.Rev, info.Bytes
	}
	return report, err
}

// pieces sends what is written as events.
type pieces struct {
	ctx  context.Context
	emit func([]byte) error
}

const pieceSize = 256 << 10

// Write implements io.Writer.
func (p pieces) Write(data []byte) (n int, err error) {
	for n < len(data) {
		if err := p.ctx.Err(); err != nil {
			return n, err
		}
		piece := data[n:min(n+pieceSize, len(data))]
		payload, err := wire.Marshal(piece) // bytes are base64 in JSON
		if err == nil {
			err = p.emit(payload)
		}
		if err != nil {
			return n, err
		}
		n += len(piece)
	}
	return n, nil
}

var _ io.Writer = pieces{}

// Status is how an owner does.
type Status struct {
	Owner    string         `json:"owner"` // "" when nobody owns the store
	PID      int            `json:"pid,omitempty"`
	Version  string         `json:"version,omitempty"`
	Socket   string         `json:"socket,omitempty"`
	Config   string         `json:"config,omitempty"`
	News     string         `json:"configNews,omitempty"` // of the config's file, where it is not what is in force
	Since    int64          `json:"since,omitempty"`      // ms
	IdleExit int64          `json:"idleExit"`             // ms; 0 = it stays
	Clients  int            `json:"clients"`              // others than the one that asks
	Running  int            `json:"running"`
	Queued   int            `json:"queued"`
	Draining bool           `json:"draining,omitempty"`
	Store    core.StoreInfo `json:"store"`
}

func (c *session) status(ctx context.Context, _ wire.Request) (any, error) {
	s := c.server
	info, err := s.store.Info(ctx)
	if err != nil {
		return nil, err
	}
	socket, err := s.options.socket()
	if err != nil {
		return nil, err
	}
	status := Status{
		Owner: "serve", PID: os.Getpid(), Version: s.options.Version, Socket: socket, Config: s.config, Since: s.since.UnixMilli(),
		IdleExit: s.idles.Milliseconds(), Clients: max(0, int(s.open.Load())-1), Draining: s.draining.Load(), Store: info,
	}
	status.News, _ = s.configNews.Load().(string)
	return status, countLive(ctx, s.store, &status)
}

func countLive(ctx context.Context, store core.Store, status *Status) error {
	return store.View(ctx, func(r core.Reader) error {
		return r.LiveRuns(func(run *core.Run) bool {
			if run.State == core.RunRunning {
				status.Running++
			} else {
				status.Queued++
			}
			return true
		})
	})
}

// StatusOf tells of the owner of a store, or of a store that nobody owns: what it then counts as running was left so by an owner that was
// killed, and is put in order by the next.
func StatusOf(ctx context.Context, o Options) (status Status, err error) {
	h, err := Read(ctx, o)
	if err != nil {
		return status, err
	}
	defer h.Close()
	err = h.roam.try(func(h *Host) error {
		status, err = h.status(ctx)
		return err
	})
	return status, err
}

func (h *Host) status(ctx context.Context) (status Status, err error) {
	if h.owner != nil {
		answer, err := h.owner.ask(ctx, methodStatus, struct{}{}, nil)
		if err != nil {
			return status, err
		}
		return status, json.Unmarshal(answer, &status)
	}
	if status.Store, err = h.store.Info(ctx); err != nil {
		return status, err
	}
	return status, countLive(ctx, h.store, &status)
}

// Stop asks the owner of a store to go and waits until it has let go of the store. It returns the owner's pid, 0 when there was none. An
// owner of any version understands.
func Stop(ctx context.Context, o Options) (pid int, err error) {
	l := newLink(o, false)
	pid, err = l.terminate(ctx)
	if err != nil || pid == 0 {
		return pid, err
	}
	for {
		held, now, err := heldBy(o)
		if err != nil || !held || now != 0 && now != pid {
			return pid, err
		}
		if err := l.options.Clock.Sleep(ctx, 10*time.Millisecond); err != nil {
			return pid, err
		}
	}
}
