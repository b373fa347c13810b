package engine_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
)

// A stop ends a session and all below it: what runs, what is queued, exchanges and deliveries; nothing follows, others go on.
func TestStop(t *testing.T) {
	chat := &carrier{fail: []error{errors.New("down")}}
	stageWith(t, chatChannel+","+open, chat, func(t *testing.T, s *stage) {
		s.receive(core.Inbound{Channel: "chat", Peer: "p", Text: "hello"})
		later(time.Second)
		for key, parent := range map[string]string{
			"agent:main:child": "agent:main:main", "agent:ops:grandchild": "agent:main:child", "agent:main:other": "", "agent:main:loop": "agent:ops:grandchild",
		} {
			s.put(core.Session{Key: key, SessionID: "id-" + key, SpawnedBy: parent})
		}
		s.put(core.Session{Key: "agent:main:child", SessionID: "id-agent:main:child", SpawnedBy: "agent:main:loop"}) // lineage in a circle
		s.put(core.Session{Key: "agent:ops:grandchild", SessionID: "id-agent:ops:grandchild", SpawnedBy: "agent:main:main"})
		running := s.send("agent:ops:grandchild", "[[sleep:1h]]")
		queued := s.send("agent:ops:grandchild", "never")
		bystander := s.send("agent:main:other", "[[sleep:2m]] fine")
		answer, _ := s.tell("agent:main:other", "agent:main:loop", "[[sleep:1h]]", 0)
		synctest.Wait()

		receipt, err := s.as("").Do(t.Context(), core.Command{Stop: &core.Stop{Session: "main"}})
		require.NoError(t, err)
		assert.Len(t, receipt.Runs, 3)
		for _, id := range []string{running, queued, answer["runId"].(string)} {
			run, _ := s.await(id)
			assert.Equal(t, core.OutcomeAborted, run.Outcome)
			assert.Equal(t, "stopped by the operator", run.Error)
		}
		x, runs := s.exchangeOf(answer["exchangeId"])
		assert.Equal(t, core.ExchangeStopped, x.State)
		assert.Len(t, runs, 1)
		run, reply := s.await(bystander)
		assert.Equal(t, core.OutcomeOK, run.Outcome)
		assert.Equal(t, "fine", reply)
		assert.Equal(t, core.DeliveryCancelled, s.rows()[0].State)
		assert.Len(t, chat.seen, 1)
		assert.Equal(t, []string{"user [[sleep:1h]]", "assistant "}, s.transcript("agent:ops:grandchild"))

		_, reply = s.await(s.send("agent:ops:grandchild", "again"))
		assert.Equal(t, "again", reply, "a stopped session is free")
		_, err = s.as("").Do(t.Context(), core.Command{Stop: &core.Stop{Session: "agent:main:nobody"}})
		assert.Equal(t, core.CodeNotFound, core.CodeOf(err))
	})
}
