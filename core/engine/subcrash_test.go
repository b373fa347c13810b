package engine_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
)

// Whatever the children do, whatever the sink says and whenever the engine dies: every spawn that was accepted ends, each is told of at
// most once in one delivery and one note, and what is told is what happened.
func TestAnnounceIsOnceOverCrashes(t *testing.T) {
	tasks := []string{
		"quick [[announce:done]]", "[[sleep:40000]] slow [[announce:done]]", "[[fail:boom]]", "silent", "[[sleep:90000]]", "[[tool:agents_list]][[say:]] [[announce:]]",
		"[[sleep:10000]] [[crash]]",
	}
	for seed := range 25 {
		random := rand.New(rand.NewPCG(1, uint64(seed)))
		chat := &carrier{}
		for range 40 {
			var failed error
			if random.IntN(3) == 0 {
				failed = errors.New("stored, and failed to say so")
			}
			chat.fail = append(chat.fail, failed)
		}
		stageWith(t, chatChannel+`, engine: { drain: "0s" }, agents: { defaults: { subagents: { maxConcurrent: 2, maxChildrenPerAgent: 20 } } }`, chat, func(t *testing.T, s *stage) {
			s.put(core.Session{Key: mainKey, LastChannel: "chat", LastTo: "1"})
			accepted := map[string]string{}
			for range 8 {
				cleanup := []string{"keep", "delete"}[random.IntN(2)]
				task := tasks[random.IntN(len(tasks))]
				_, id := s.spawn(mainKey, fmt.Sprintf(`{"task":%s,"cleanup":%q,"runTimeoutSeconds":%d}`, jsonOf(t, task), cleanup, random.IntN(2)*60))
				accepted[id] = task
				later(time.Duration(random.IntN(30_000)) * time.Millisecond)
				if random.IntN(3) == 0 {
					s.kill()
					later(time.Duration(random.IntN(120)) * time.Second)
					s.open(t)
				}
			}
			later(3 * time.Hour)
			told, noted := map[string]int{}, map[string]int{}
			require.NoError(t, s.store.View(t.Context(), func(r core.Reader) error {
				if err := r.Deliveries(func(d *core.Delivery) bool { told[d.RunID]++; return true }); err != nil {
					return err
				}
				return r.Runs("", func(run *core.Run) bool {
					assert.Equal(t, core.RunEnded, run.State, run.ID)
					if run.Kind == core.RunNote {
						noted[run.ParentRunID]++
						assert.Equal(t, core.OutcomeOK, run.Outcome)
					}
					return true
				})
			}))
			for id, task := range accepted {
				run := s.spawned(id)
				require.NotEmpty(t, run.Outcome, "seed %d: %s", seed, task)
				want := 0
				if run.Spawn.Announce == core.AnnounceSent {
					want = 1
				}
				assert.Equal(t, want, told[id], "seed %d: %s %s %s", seed, task, run.Outcome, run.Spawn.Announce)
				assert.Equal(t, want, noted[id], "seed %d: %s", seed, task)
				if run.Outcome != core.OutcomeOK {
					assert.Equal(t, core.AnnounceSent, run.Spawn.Announce, "seed %d: every failure is told", seed)
				}
				if h, there := s.head(run.SessionKey); there {
					assert.True(t, h.Flags.Has(core.FlagArchived), "seed %d: archived by then", seed)
					if run.Cleanup == core.CleanupDelete {
						assert.Equal(t, core.AnnounceFailed, run.Spawn.Announce, "seed %d: only a failed announce keeps it", seed)
					}
				} else {
					assert.Equal(t, core.CleanupDelete, run.Cleanup, "seed %d", seed)
				}
			}
			assert.Len(t, s.transcript(mainKey), len(noted))
			ids := map[string]string{}
			for _, d := range chat.seen {
				if before, again := ids[d.ID]; again {
					assert.Equal(t, before, d.Text, "the same key carries the same text")
				}
				ids[d.ID] = d.Text
			}
		})
	}
}

// A spawn under a key happens once, its files too; another under the same key is refused.
func TestSpawnUnderAKey(t *testing.T) {
	play(t, `agents: { defaults: { subagents: { maxChildrenPerAgent: 1 } } }`, []string{mainKey}, func(t *testing.T, s *stage) {
		s.do(core.Command{Hold: &core.Hold{}}) // so that it is live, and another would be refused
		params := []byte(`{"task":"x","attachments":[` + attachment("a", "x", "utf8") + `]}`)
		var answers []string
		for range 2 {
			result, err := s.as(mainKey).Call(t.Context(), core.ToolCall{Tool: "sessions_spawn", Params: params, Key: "k"})
			require.NoError(t, err)
			require.Nil(t, result.Refused)
			answers = append(answers, string(result.Body))
		}
		assert.Equal(t, answers[0], answers[1])
		assert.Len(t, s.detail(mainKey).Children, 1)
		files := s.files()
		assert.Len(t, files, 6, "%v", files)
		assert.Empty(t, s.dues("files"))
		result, err := s.as(mainKey).Call(t.Context(), core.ToolCall{Tool: "sessions_spawn", Params: []byte(`{"task":"y"}`), Key: "k"})
		require.NoError(t, err)
		assert.Equal(t, core.CodeIdempotency, result.Refused.Code)
	})
}
