package engine

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"time"

	"cordboard/core"
)

// Threads of sub-agents (session-tools.md §8). A thread is asked of the channel before anything is stored; its binding is a record of its
// own, so that what is said in the thread finds its session, and ends after a while without a word, or when it is old.

const (
	dueThread   = "thread"         // a binding's end: its ID is the session's key
	openWithin  = 10 * time.Second // for a channel to open a thread, or to let one go
	maxTitle    = 80               // characters of a thread's title
	msPerHour   = 3_600_000
	keyBindings = "session.threadBindings.enabled"
)

func (b *board) checkThread(_ core.Reader, l *launch, a *clearance) error {
	if !l.asked.Thread || l.prepared {
		return nil
	}
	if a.route == nil {
		return core.Errorf(core.CodeUnsupported, "thread=true needs a chat channel, and session %q has none that threads could be opened in: "+
			`mode="run" without thread does without`, a.caller.Key)
	}
	rules, threads := b.config.Bindings(a.route.Channel)
	at := "channels." + a.route.Channel
	switch {
	case !threads:
		return core.Errorf(core.CodeUnsupported, `the channel %q has no threads (%s.threads is false): mode="run" without thread does without`, a.route.Channel, at).
			Because(at + ".threads").Accept("true")
	case !rules.Enabled:
		return core.Errorf(core.CodeUnsupported, "threads are not bound to sub-agents in the channel %q: %s or %s.threadBindings.enabled is false", a.route.Channel,
			keyBindings, at).Because(keyBindings).Accept("true")
	}
	return nil
}

// openThread asks the channel for a thread; undo lets it go again. An outbox needs nobody to open one: its threads are numbered when they
// are bound.
func (b *board) openThread(ctx context.Context, l *launch, a *clearance) (undo func(context.Context), err error) {
	undo = func(context.Context) {}
	if !l.asked.Thread {
		return undo, nil
	}
	l.route = *a.route
	if b.outbox(l.route.Channel) {
		return undo, nil
	}
	channel, ok := b.options.Channels[l.route.Channel]
	if !ok {
		return nil, core.Errorf(core.CodeUnsupported, "the channel %q is configured, and nothing carries it", l.route.Channel)
	}
	limited, cancel := context.WithTimeout(ctx, openWithin)
	defer cancel()
	id, err := channel.OpenThread(limited, l.route, threadTitle(&l.asked.Label, l.asked.Task))
	if err == nil && strings.TrimSpace(id) == "" {
		err = errors.New("it named none")
	}
	if err != nil {
		return nil, core.Errorf(core.CodeUnsupported, "the channel %q opened no thread: %w", l.route.Channel, err)
	}
	l.route.ThreadID = strings.TrimSpace(id)
	return func(ctx context.Context) { b.letGo(ctx, l.route) }, nil
}

// threadTitle is the label, else the beginning of the task.
func threadTitle(label *string, task string) string {
	if *label != "" {
		return *label
	}
	runes := []rune(oneLine(strings.TrimSpace(task)))
	if len(runes) > maxTitle {
		return string(runes[:maxTitle]) + "…"
	}
	return string(runes)
}

// letGo tells a channel that a thread is no longer ours. One that does not listen is no reason to keep it.
func (e *Engine) letGo(ctx context.Context, route core.DeliveryContext) {
	channel, ok := e.options.Channels[route.Channel]
	if !ok {
		return
	}
	limited, cancel := context.WithTimeout(ctx, openWithin)
	defer cancel()
	if err := channel.Unbind(limited, route); err != nil {
		e.options.Log.Warn("a thread was not let go", "channel", route.Channel, "thread", route.ThreadID, "error", err)
	}
}

// bindNew binds the thread that was opened for a child: its replies go there, and what is said there comes to it.
func (b *board) bindNew(tx core.Tx, fx *effects, l *launch, child *core.Session, run *core.Run) error {
	if !l.asked.Thread {
		return nil
	}
	route := l.route
	if b.outbox(route.Channel) {
		route.ThreadID = strconv.FormatUint(uint64(tx.Rev()), 10) // no two commits have the same
	}
	child.Thread = route
	child.LastChannel, child.LastTo, child.LastAccountID, child.LastThreadID = route.Channel, route.To, route.AccountID, route.ThreadID
	run.Answer = &route
	return b.bind(tx, fx, child, core.Binding{Route: threadKey(route), Session: child.Key, CreatedAt: l.now}, l.now)
}

// threadKey names a thread: by the address as messages from there name it, without the word that some routes have before it.
func threadKey(route core.DeliveryContext) core.DeliveryContext {
	for _, word := range [...]string{"group:", "channel:", "user:"} {
		if rest, ok := strings.CutPrefix(route.To, word); ok {
			route.To = rest
			break
		}
	}
	return route
}

// bind stores a binding with its end, which moves with every use.
func (e *Engine) bind(tx core.Tx, fx *effects, s *core.Session, binding core.Binding, now int64) error {
	if binding.EndsAt != 0 {
		if err := tx.DeleteDue(core.Due{At: binding.EndsAt, Kind: dueThread, ID: s.Key}); err != nil {
			return err
		}
	}
	rules, _ := e.config.Bindings(binding.Route.Channel)
	binding.EndsAt = 0
	if rules.IdleHours > 0 {
		binding.EndsAt = now + int64(rules.IdleHours*msPerHour)
	}
	if oldest := binding.CreatedAt + int64(rules.MaxAgeHours*msPerHour); rules.MaxAgeHours > 0 && (binding.EndsAt == 0 || oldest < binding.EndsAt) {
		binding.EndsAt = oldest
	}
	if binding.EndsAt != 0 {
		if err := putChore(tx, fx, core.Due{At: binding.EndsAt, Kind: dueThread, ID: s.Key}); err != nil {
			return err
		}
	}
	return tx.PutBinding(binding)
}

// usedThread puts the end of a session's binding off.
func (e *Engine) usedThread(tx core.Tx, fx *effects, s *core.Session, now int64) error {
	if s.Thread == (core.DeliveryContext{}) {
		return nil
	}
	binding, ok, err := tx.Binding(threadKey(s.Thread))
	if err != nil || !ok {
		return err
	}
	return e.bind(tx, fx, s, binding, now)
}

// boundTo is the session that a message from a thread belongs to, and its binding; ok is false when the thread is bound to none.
func (e *Engine) boundTo(r core.Reader, in *core.Inbound, to string) (s core.Session, binding core.Binding, ok bool, err error) {
	if in.ThreadID == "" {
		return s, binding, false, nil
	}
	binding, ok, err = r.Binding(threadKey(core.DeliveryContext{Channel: in.Channel, To: to, AccountID: in.AccountID, ThreadID: in.ThreadID}))
	if err != nil || !ok {
		return s, binding, false, err
	}
	s, ok, err = r.Session(binding.Session)
	return s, binding, ok && !s.Mirrored(), err
}

// endBinding takes the binding of a session away, and leaves it to a chore to tell the channel.
func (e *Engine) endBinding(tx core.Tx, fx *effects, s *core.Session, now int64) error {
	if s.Thread == (core.DeliveryContext{}) {
		return nil
	}
	binding, ok, err := tx.Binding(threadKey(s.Thread))
	if err != nil || !ok {
		return err
	}
	if binding.EndsAt != 0 {
		if err := tx.DeleteDue(core.Due{At: binding.EndsAt, Kind: dueThread, ID: s.Key}); err != nil {
			return err
		}
	}
	if err := tx.DeleteBinding(binding.Route); err != nil {
		return err
	}
	fx.letGo = append(fx.letGo, s.Thread)
	s.Thread = core.DeliveryContext{}
	return nil
}

// unbindDue ends a binding that was not used for long, or is old: the session stays as it is, and is archived later.
func (e *Engine) unbindDue(ctx context.Context, entry core.Due) error {
	now := e.now()
	_, err := e.write(ctx, func(tx core.Tx, fx *effects) error {
		if err := tx.DeleteDue(entry); err != nil {
			return err
		}
		s, ok, err := tx.Session(entry.ID)
		if err != nil || !ok || s.Thread == (core.DeliveryContext{}) {
			return err
		}
		binding, ok, err := tx.Binding(threadKey(s.Thread))
		if err != nil || ok && binding.EndsAt != entry.At {
			return err // used meanwhile
		}
		if err := e.endBinding(tx, fx, &s, now); err != nil {
			return err
		}
		s.Thread = core.DeliveryContext{}
		if err := tx.PutSession(s); err != nil {
			return err
		}
		return e.rest(tx, fx, s.Key, now)
	})
	return err
}
