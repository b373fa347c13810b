package engine_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
)

// weaver is a channel that opens threads.
type weaver struct {
	carrier
	ids    []string // one for each that is asked for, then none
	titles []string
	under  []core.DeliveryContext
	gone   []core.DeliveryContext
	during func() // while it is asked
}

func (w *weaver) OpenThread(_ context.Context, route core.DeliveryContext, title string) (string, error) {
	w.titles, w.under = append(w.titles, title), append(w.under, route)
	if w.during != nil {
		w.during()
	}
	if len(w.ids) == 0 {
		return "", errors.New("too many threads")
	}
	id := w.ids[0]
	w.ids = w.ids[1:]
	return id, nil
}

func (w *weaver) Unbind(_ context.Context, route core.DeliveryContext) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.gone = append(w.gone, route)
	return nil
}

// letGo are the threads that it was told to let go.
func (w *weaver) letGo() []core.DeliveryContext {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.gone)
}

const threads = `channels: { chat: { type: "webhook", url: "http://127.0.0.1:1/", threads: true } }`

// A thread is opened under the requester's chat; the child answers there, what is said there comes to it, what is said elsewhere does not.
func TestThreadOfAChild(t *testing.T) {
	chat := &weaver{ids: []string{" t1 "}}
	stageWith(t, threads, chat, func(t *testing.T, s *stage) {
		group := s.receive(core.Inbound{Channel: "chat", ChatType: core.ChatGroup, ID: "g:1", AccountID: "acct", Text: "hello"})
		later(time.Second)
		answer, code := s.call(group.Key, "sessions_spawn", `{"task":"ready to help","label":"Helper","thread":true,"cleanup":"delete"}`)
		require.Empty(t, code, "%v", answer)
		assert.Equal(t, "t1", answer["threadId"])
		child := answer["childSessionKey"].(string)
		assert.Equal(t, []string{"Helper"}, chat.titles)
		assert.Equal(t, []core.DeliveryContext{{Channel: "chat", To: "g:1", AccountID: "acct"}}, chat.under)
		later(time.Second)
		thread := core.DeliveryContext{Channel: "chat", To: "g:1", AccountID: "acct", ThreadID: "t1"}
		last := func() core.Delivery { return chat.seen[len(chat.seen)-1] }
		assert.Equal(t, thread, last().Route)
		assert.Equal(t, "ready to help", last().Text)
		run := s.spawned(answer["runId"].(string))
		assert.Equal(t, core.SpawnSession, run.Spawn.Mode)

		in := core.Inbound{Channel: "chat", ChatType: core.ChatGroup, ID: "g:1", AccountID: "acct", ThreadID: "t1", SenderID: "mira", Text: "how are you"}
		receipt := s.receive(in)
		assert.Equal(t, child, receipt.Key)
		later(time.Second)
		assert.Equal(t, thread, last().Route)
		assert.Equal(t, "how are you", last().Text)
		for _, other := range []core.Inbound{
			{Channel: "chat", ChatType: core.ChatGroup, ID: "g:1", AccountID: "acct", Text: "x"},
			{Channel: "chat", ChatType: core.ChatGroup, ID: "g:1", AccountID: "acct", ThreadID: "t2", Text: "x"},
			{Channel: "chat", ChatType: core.ChatGroup, ID: "g:2", AccountID: "acct", ThreadID: "t1", Text: "x"},
			{Channel: "chat", ChatType: core.ChatGroup, ID: "g:1", ThreadID: "t1", Text: "x"},
			{Channel: "other", ChatType: core.ChatGroup, ID: "g:1", AccountID: "acct", ThreadID: "t1", Text: "x"},
		} {
			assert.NotEqual(t, child, s.receive(other).Key, "%+v", other)
		}
		_, there := s.head(child)
		assert.True(t, there, "a session keeps")
		assert.Zero(t, s.row(child).ArchiveAt, "not while it is bound")

		// Used, it stays bound; without a word for a day it is let go, and archived an hour later.
		later(23 * time.Hour)
		assert.Equal(t, child, s.receive(in).Key)
		later(23 * time.Hour)
		assert.Empty(t, chat.letGo())
		s.kill()
		s.open(t)
		later(90 * time.Minute)
		assert.Equal(t, []core.DeliveryContext{thread}, chat.letGo())
		assert.Empty(t, s.row(child).Thread)
		assert.NotZero(t, s.row(child).ArchiveAt)
		later(time.Hour)
		assert.NotZero(t, s.row(child).ArchivedAt)
		assert.Equal(t, group.Key, s.receive(in).Key, "the thread is the group's again")
	})
}

// maxAgeHours ends a binding however much it is used; 0 hours end nothing. A channel's own rules go before the session's.
func TestThreadAge(t *testing.T) {
	for config, ends := range map[string]bool{
		`session: { threadBindings: { idleHours: 0 } }, ` + threads:                                                                                             false,
		`session: { threadBindings: { idleHours: 0, maxAgeHours: 3 } }, ` + threads:                                                                             true,
		`session: { threadBindings: { maxAgeHours: 3 } }, ` + strings.Replace(threads, `threads: true`, `threads: true, threadBindings: { maxAgeHours: 0 }`, 1): false,
	} {
		chat := &weaver{ids: []string{"t1"}}
		stageWith(t, config, chat, func(t *testing.T, s *stage) {
			s.put(core.Session{Key: mainKey, LastChannel: "chat", LastTo: "p"})
			child, _ := s.spawn(mainKey, `{"task":"x","thread":true}`)
			for range 5 {
				later(30 * time.Minute)
				s.await(s.send(child, "more"))
			}
			assert.Empty(t, chat.letGo())
			later(time.Hour)
			assert.Equal(t, ends, len(chat.letGo()) == 1, config)
			assert.Equal(t, ends, s.row(child).Thread == core.DeliveryContext{}, config)
		})
	}
}

// An outbox numbers its threads. Deleting a child lets its thread go; a child of mode run that is deleted does too.
func TestThreadsEndWithTheirSession(t *testing.T) {
	chat := &weaver{ids: []string{"t1", "t2"}}
	stageWith(t, threads, chat, func(t *testing.T, s *stage) {
		s.put(core.Session{Key: mainKey, LastChannel: "chat", LastTo: "p"})
		child, _ := s.spawn(mainKey, `{"task":"x","thread":true}`)
		later(time.Second)
		s.do(core.Command{Delete: &core.Delete{Session: child}})
		later(time.Second)
		require.Len(t, chat.letGo(), 1)
		assert.Equal(t, "t1", chat.letGo()[0].ThreadID)
		gone, _ := s.spawn(mainKey, `{"task":"x","thread":true,"mode":"run","cleanup":"delete"}`)
		later(time.Hour)
		_, there := s.head(gone)
		assert.False(t, there)
		assert.Equal(t, "t2", chat.letGo()[1].ThreadID)
		assert.Empty(t, s.dues("thread"))

		s.put(core.Session{Key: "agent:main:team:group:1", LastChannel: "team", LastTo: "1"})
		ids := map[any]bool{}
		for range 3 {
			answer, code := s.call("agent:main:team:group:1", "sessions_spawn", `{"task":"x","thread":true}`)
			require.Empty(t, code, "%v", answer)
			ids[answer["threadId"]] = true
		}
		assert.Len(t, ids, 3)
	})
}

// A thread that was opened for a child that then may not be made is let go again; nothing else is left of it (R107).
func TestThreadOfARefusedChild(t *testing.T) {
	chat := &weaver{ids: []string{"t1"}}
	stageWith(t, threads+`, agents: { defaults: { subagents: { maxChildrenPerAgent: 1 } } }`, chat, func(t *testing.T, s *stage) {
		s.put(core.Session{Key: mainKey, LastChannel: "chat", LastTo: "p"})
		chat.during = func() { s.spawn(mainKey, `{"task":"[[sleep:60000]]"}`) } // somebody is quicker
		answer, code := s.call(mainKey, "sessions_spawn", `{"task":"a task of two\nlines that is the title","thread":true,"attachments":[`+attachment("a", "x", "utf8")+`]}`)
		assert.Equal(t, core.CodeForbidden, code, "%v", answer)
		assert.Equal(t, []string{"a task of two lines that is the title"}, chat.titles)
		require.Len(t, chat.letGo(), 1)
		assert.Equal(t, "t1", chat.letGo()[0].ThreadID)
		assert.Empty(t, s.dues("files"))
		assert.Empty(t, s.files())
		chat.during = nil
		later(time.Hour)
		before := s.everything()
		_, code = s.call(mainKey, "sessions_spawn", `{"task":"x","thread":true}`)
		assert.Equal(t, core.CodeUnsupported, code)
		assert.Equal(t, before, s.everything())
	})
}

// A session that is stopped while its channel opens a thread spawns nothing: the stop was first (engine.md §1).
func TestStopWhileAThreadIsOpened(t *testing.T) {
	chat := &weaver{ids: []string{"t1"}}
	stageWith(t, threads, chat, func(t *testing.T, s *stage) {
		s.put(core.Session{Key: mainKey, LastChannel: "chat", LastTo: "p"})
		s.send(mainKey, "[[sleep:60000]]")
		later(time.Second)
		chat.during = func() { s.do(core.Command{Stop: &core.Stop{Session: mainKey}}) }
		_, err := s.as(mainKey).Call(t.Context(), core.ToolCall{Tool: "sessions_spawn", Params: []byte(`{"task":"x","thread":true}`)})
		assert.ErrorContains(t, err, "the run has ended")
		assert.Len(t, chat.letGo(), 1)
		assert.Empty(t, s.detail(mainKey).Children)
	})
}
