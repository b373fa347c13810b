package engine_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
)

func (s *stage) records(q core.RecordQuery) core.RecordPage {
	s.t.Helper()
	page, err := s.as("").Records(s.t.Context(), q)
	require.NoError(s.t, err)
	return page
}

// An exchange is told from round 1 to what became of its announce.
func TestStoryOfAnExchange(t *testing.T) {
	play(t, open+`, session: { agentToAgent: { maxPingPongTurns: 2 } }`, []string{"agent:main:main", "agent:ops:main"}, func(t *testing.T, s *stage) {
		s.put(core.Session{Key: "agent:ops:main", SessionID: "sid1", LastChannel: "irc", LastTo: "#ops"})
		s.await(s.send("agent:ops:main", "before"))
		answer, _ := s.tell("agent:main:main", "agent:ops:main", "[[say:r1]][[announce:told]]", 0)
		s.exchangeOf(answer["exchangeId"])
		s.await(s.send("agent:ops:main", "after"))
		x := s.records(core.RecordQuery{Kind: core.RecordExchange, ID: answer["exchangeId"].(string)}).Exchange
		require.NotNil(t, x)
		assert.Equal(t, core.ExchangeDone, x.State)
		var told []string
		for _, step := range x.Steps {
			told = append(told, fmt.Sprintf("%s: %s to %s %q %q", step.Name, step.From, step.Speaker, step.Message, step.Reply))
		}
		assert.Equal(t, []string{
			`round 1: agent:main:main to agent:ops:main "[[say:r1]][[announce:told]]" "r1"`,
			`turn 1: agent:ops:main to agent:main:main "r1" "r1"`,
			`turn 2: agent:main:main to agent:ops:main "r1" "r1"`,
			`announce: agent:main:main to agent:ops:main "Agent-to-agent announce step." "told"`,
		}, told)
		require.NotNil(t, x.Delivery)
		assert.Equal(t, "told", x.Delivery.Text)
		assert.Equal(t, core.DeliveryDelivered, x.Delivery.State)
		_, err := s.as("").Records(t.Context(), core.RecordQuery{Kind: core.RecordExchange, ID: "none"})
		assert.Equal(t, core.CodeNotFound, core.CodeOf(err))
	})
}

// An announce that failed is asked for again in its exchange; a turn or round 1 that failed stands alone when it is run again.
func TestAnnounceIsAskedForAgain(t *testing.T) {
	play(t, open+`, session: { agentToAgent: { maxPingPongTurns: 0 } }`, []string{"agent:main:main"}, func(t *testing.T, s *stage) {
		s.put(core.Session{Key: "agent:ops:main", SessionID: "sid1", LastChannel: "irc", LastTo: "#ops"})
		answer, _ := s.tell("agent:main:main", "agent:ops:main", "[[say:r1]][[announce:told]]", 5)
		id := answer["exchangeId"].(string)
		hold := s.do(core.Command{Hold: &core.Hold{Session: "agent:ops:main"}})
		synctest.Wait()
		s.update(func(tx core.Tx) error { // as a failed announce leaves it
			run, ok, err := tx.Run(id + "/announce")
			if err != nil || !ok {
				return errors.Join(err, errors.New("no announce"))
			}
			run.State, run.Outcome, run.Message = core.RunEnded, core.OutcomeError, "Agent-to-agent announce step."
			if err := tx.PutRun(run); err != nil {
				return err
			}
			x, _, err := tx.Exchange(id)
			if err != nil {
				return err
			}
			x.State, x.Reason = core.ExchangeFailed, "announce error"
			return tx.PutExchange(x)
		})
		s.do(*hold.Undo)
		again := s.do(core.Command{Retry: &core.Retry{Run: id + "/announce"}})
		s.await(again.Run)
		x := s.records(core.RecordQuery{Kind: core.RecordExchange, ID: id}).Exchange
		assert.Equal(t, core.ExchangeDone, x.State)
		assert.Equal(t, "told", x.Delivery.Text)
		assert.Len(t, x.Steps, 3)
	})
}

// Runs are newest first, and those that live are there however many have ended since; those that wait have a place in line.
func TestListOfRuns(t *testing.T) {
	play(t, "", []string{"agent:main:main", "agent:main:b"}, func(t *testing.T, s *stage) {
		hold := s.do(core.Command{Hold: &core.Hold{Session: "main"}})
		var held, ended []string
		for i := range 3 {
			held = append(held, s.send("main", fmt.Sprint(i)))
			time.Sleep(time.Second)
		}
		for i := range 9 {
			id := s.send("agent:main:b", fmt.Sprint(i))
			s.await(id)
			ended = append(ended, id)
			time.Sleep(time.Second)
		}
		ids := func(q core.RecordQuery) (list []string, places map[string]int) {
			page := s.records(q)
			for _, run := range page.Runs {
				list = append(list, run.ID)
			}
			return list, page.Positions
		}
		list, places := ids(core.RecordQuery{Kind: core.RecordRuns, Limit: 5})
		assert.Equal(t, []string{ended[8], ended[7], held[2], held[1], held[0]}, list)
		assert.Equal(t, map[string]int{held[0]: 1, held[1]: 2, held[2]: 3}, places)
		list, places = ids(core.RecordQuery{Kind: core.RecordRuns, Live: true})
		assert.Equal(t, []string{held[2], held[1], held[0]}, list)
		assert.Len(t, places, 3)
		list, _ = ids(core.RecordQuery{Kind: core.RecordRuns, Live: true, Limit: 1})
		assert.Equal(t, held[:1], list, "first in line")
		list, _ = ids(core.RecordQuery{Kind: core.RecordRuns, Limit: 2})
		assert.Equal(t, []string{held[1], held[0]}, list, "first in line")
		list, places = ids(core.RecordQuery{Kind: core.RecordRuns})
		assert.Len(t, list, 12)
		assert.Equal(t, held[0], list[11])
		assert.Len(t, places, 3)
		list, places = ids(core.RecordQuery{Kind: core.RecordRuns, Session: "agent:main:b", Limit: 3})
		assert.Equal(t, []string{ended[8], ended[7], ended[6]}, list)
		assert.Empty(t, places)
		_, places = ids(core.RecordQuery{Kind: core.RecordRun, Run: held[2]})
		assert.Equal(t, map[string]int{held[2]: 3}, places)
		assert.Equal(t, map[string]int{held[0]: 1, held[1]: 2, held[2]: 3}, s.records(core.RecordQuery{Kind: core.RecordSession, Session: "main"}).Positions)
		s.do(*hold.Undo)
		s.await(held[2])
	})
}

// What runs cost is counted by day, agent and model as they end; a run that does not tell counts as a run only.
func TestUsage(t *testing.T) {
	play(t, twoModels, []string{"agent:main:main"}, func(t *testing.T, s *stage) {
		s.await(s.send("main", "[[tokens:12/34]]"))
		s.await(s.send("main", "[[tokens:1/2]]"))
		s.await(s.send("main", "no figures"))
		row := s.detail("main").Session
		assert.Equal(t, int64(49), *row.TotalTokens)
		assert.Nil(t, row.ContextTokens, "the window of echo is not known")
		model := "p/big"
		s.do(core.Command{Patch: &core.Patch{Session: "main", Model: &model}})
		time.Sleep(24 * time.Hour)
		s.await(s.send("main", "[[tokens:5/0]]"))
		hold := s.do(core.Command{Hold: &core.Hold{}})
		never := s.send("main", "never begun")
		s.do(core.Command{Abort: &core.Abort{Run: never}})
		s.do(*hold.Undo)
		assert.Equal(t, []core.UsageRow{
			{Day: "2000-01-02", Agent: "main", Model: "p/big", Runs: 1, Usage: core.Usage{Input: 5}},
			{Day: "2000-01-01", Agent: "main", Model: "echo/echo", Runs: 3, Usage: core.Usage{Input: 13, Output: 36}},
		}, s.records(core.RecordQuery{Kind: core.RecordUsage}).Usage)
		assert.Equal(t, int64(1000), *s.detail("main").Session.ContextTokens)
	})
}

// Holds are told, and a watcher hears of each that changes.
func TestRecordsOfHolds(t *testing.T) {
	play(t, "", []string{"agent:main:main"}, func(t *testing.T, s *stage) {
		stream, err := s.as("").Watch(t.Context(), core.Cursor{})
		require.NoError(t, err)
		heard := func() (changes []core.Change) {
			batch, err := stream.Next(t.Context())
			require.NoError(t, err)
			for _, c := range batch.Changes {
				if c.Kind == core.ChangeHold {
					changes = append(changes, c)
				}
			}
			return changes
		}
		s.do(core.Command{Hold: &core.Hold{Session: "main"}})
		assert.Equal(t, []core.Change{{Kind: core.ChangeHold, ID: "agent:main:main"}}, heard())
		s.do(core.Command{Hold: &core.Hold{Agent: "main"}})
		assert.Equal(t, []core.Change{{Kind: core.ChangeHold, ID: "agent:main"}}, heard())
		s.do(core.Command{Hold: &core.Hold{}})
		assert.Equal(t, []core.Change{{Kind: core.ChangeHold}}, heard())
		assert.Equal(t, []core.Hold{{}, {Agent: "main"}, {Session: "agent:main:main"}}, s.records(core.RecordQuery{Kind: core.RecordHolds}).Holds)
		s.do(core.Command{Hold: &core.Hold{Release: true}})
		assert.Equal(t, []core.Change{{Kind: core.ChangeHold, Deleted: true}}, heard())
		assert.Len(t, s.records(core.RecordQuery{Kind: core.RecordHolds}).Holds, 2)
		require.NoError(t, stream.Close())
		_, err = s.as("agent:main:main").Records(t.Context(), core.RecordQuery{Kind: core.RecordHolds})
		assert.Equal(t, core.CodeForbidden, core.CodeOf(err))
	})
}

// A row tells that its last outbound text did not arrive, until one does or is tried again.
func TestUndelivered(t *testing.T) {
	down := errors.New("down")
	chat := &carrier{fail: []error{down, down, down, down, nil, nil}}
	stageWith(t, chatChannel+`, session: { dmScope: "per-channel-peer" }`, chat, func(t *testing.T, s *stage) {
		key := s.receive(core.Inbound{Channel: "chat", Peer: "p", SenderID: "boss", Text: "one"}).Key
		later(time.Second)
		assert.False(t, s.detail(key).Session.Undelivered, "it is still being tried")
		later(time.Hour)
		assert.True(t, s.detail(key).Session.Undelivered)
		head := s.detail(key).Head
		assert.True(t, head.Flags.Has(core.FlagUndelivered))
		s.do(core.Command{Retry: &core.Retry{Delivery: s.rows()[0].ID}})
		assert.False(t, s.detail(key).Session.Undelivered)
		later(time.Second)
		assert.False(t, s.detail(key).Session.Undelivered)

		run := s.receive(core.Inbound{Channel: "chat", Peer: "p", SenderID: "boss", Text: "[[sleep:1000]] two"}).Run
		synctest.Wait()
		s.do(core.Command{Send: &core.Send{Session: key, Message: "/send off"}})
		s.await(run)
		assert.True(t, s.detail(key).Session.Undelivered, "blocked")
		s.do(core.Command{Send: &core.Send{Session: key, Message: "/send on"}})
		s.receive(core.Inbound{Channel: "chat", Peer: "p", SenderID: "boss", Text: "three"})
		later(time.Second)
		assert.False(t, s.detail(key).Session.Undelivered)
	})
}
