package engine_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
)

const outside = `agents: { list: [{ id: "main" }, { id: "client", runtime: "external" }] }`

// A message to an external agent waits its turn, then joins the transcript; nobody here answers, and nobody waits for that.
func TestExternalRun(t *testing.T) {
	play(t, outside+","+open, []string{"agent:client:main", "agent:main:main"}, func(t *testing.T, s *stage) {
		before, err := s.store.Info(t.Context())
		require.NoError(t, err)
		run, reply := s.await(s.send("agent:client:main", "[[say:never said]]"))
		after, err := s.store.Info(t.Context())
		require.NoError(t, err)
		assert.Equal(t, core.Rev(2), after.Rev-before.Rev, "begun and ended at once: a crash finds it queued or ended")
		assert.Equal(t, core.OutcomeOK, run.Outcome)
		assert.Empty(t, reply)
		assert.Empty(t, run.Model)
		assert.Equal(t, run.FirstSeq, run.LastSeq)
		assert.Equal(t, []string{"user [[say:never said]]"}, s.transcript("agent:client:main"))
		row := s.row("agent:client:main")
		assert.Empty(t, row.LiveRun)
		assert.False(t, row.Asks)
		assert.Nil(t, row.SystemSent, "no prompt was sent to anybody")
		assert.Equal(t, core.OutcomeOK, row.LastOutcome)

		start := time.Now()
		answer, _ := s.tell("agent:main:main", "agent:client:main", "hello", 30)
		assert.Equal(t, "ok", answer["status"])
		assert.NotContains(t, answer, "reply")
		assert.Zero(t, time.Since(start))
		x, runs := s.exchangeOf(answer["exchangeId"])
		assert.Equal(t, core.ExchangeSkipped, x.State)
		assert.Equal(t, "external", x.Reason)
		assert.Len(t, runs, 1)
		assert.Equal(t, []string{"user [[say:never said]]", "user hello"}, s.transcript("agent:client:main"))
	})
}

// The client acts as its session: the reply of an agent it wrote to is handed over as the loop's first turn, which ends the loop, and the
// target announces.
func TestExternalRequester(t *testing.T) {
	play(t, outside+","+open, []string{"agent:client:main", "agent:main:discord:channel:7"}, func(t *testing.T, s *stage) {
		answer, _ := s.tell("agent:client:main", "agent:main:discord:channel:7", "[[say:pong]][[announce:told]]", 30)
		assert.Equal(t, "pong", answer["reply"])
		x, runs := s.exchangeOf(answer["exchangeId"])
		assert.Equal(t, core.ExchangeDone, x.State)
		assert.Equal(t, "external", x.Reason)
		assert.Len(t, runs, 3)
		assert.Equal(t, 1, x.Turn)
		assert.Equal(t, []string{"user pong"}, s.transcript("agent:client:main"))
	})
}

// What is queued for an external agent when the engine dies is handed over by the next.
func TestExternalRunsOutliveACrash(t *testing.T) {
	play(t, outside, []string{"agent:client:main"}, func(t *testing.T, s *stage) {
		s.update(func(tx core.Tx) error {
			return tx.PutRun(core.Run{ID: "left", SessionKey: "agent:client:main", Kind: core.RunChat, Lane: "main", State: core.RunQueued, QueuedAt: time.Now().UnixMilli(), Message: "left behind"})
		})
		synctest.Wait()
		s.kill()
		s.open(t)
		run, _ := s.await("left")
		assert.Equal(t, core.OutcomeOK, run.Outcome)
		assert.Equal(t, []string{"user left behind"}, s.transcript("agent:client:main"))
	})
}

// A run names a model only where one of ours answers, or somebody chose one for the command.
func TestModelsOfRuns(t *testing.T) {
	for runtime, want := range map[string]string{
		`"echo"`: "echo/echo", `"manual"`: "", `"external"`: "", `{ type: "acp", command: ["x"] }`: "", `{ type: "exec", command: ["x"] }`: "",
		`{ type: "exec", command: ["x"] }, model: "local/m"`: "local/m", `{ type: "acp", command: ["x"] }, model: "local/m"`: "",
	} {
		t.Run(runtime, func(t *testing.T) {
			play(t, `agents: { list: [{ id: "main", runtime: `+runtime+` }] }, models: { providers: { local: { baseUrl: "http://localhost", models: [{ id: "m" }] } } }`,
				[]string{"agent:main:main"}, func(t *testing.T, s *stage) {
					id := s.send("main", "x")
					synctest.Wait()
					page, err := s.as("").Records(t.Context(), core.RecordQuery{Kind: core.RecordRun, Run: id})
					require.NoError(t, err)
					assert.Equal(t, want, page.Runs[0].Model)
				})
		})
	}
}

// Where the config lists agents, nobody answers for one that it does not list: not the offline runtime by accident.
func TestAgentThatIsNotListed(t *testing.T) {
	play(t, `agents: { list: [{ id: "main" }, { id: "ops" }] }, tools: { sessions: { visibility: "all" }, agentToAgent: { enabled: true } }`,
		[]string{"agent:main:main", "agent:gone:main"}, func(t *testing.T, s *stage) {
			err := s.refuse(core.CodeUnsupported, core.Command{Send: &core.Send{Session: "agent:gone:main", Message: "hello"}})
			assert.ErrorContains(t, err, `"gone" is not configured`)
			_, code := s.tell("agent:main:main", "agent:gone:main", "hello", 0)
			assert.Equal(t, core.CodeUnsupported, code)
			assert.Empty(t, s.transcript("agent:gone:main"))
		})
	play(t, "", []string{"agent:any:main"}, func(t *testing.T, s *stage) { // a store is tried out without a config
		_, reply := s.await(s.send("agent:any:main", "hello"))
		assert.Equal(t, "hello", reply)
	})
}
