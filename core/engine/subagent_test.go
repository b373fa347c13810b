package engine_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/core/runtime/echo"
)

// told is the text of the only delivery there is.
func (s *stage) told() string {
	s.t.Helper()
	rows := s.rows()
	require.Len(s.t, rows, 1)
	return rows[0].Text
}

// figures cuts the line of figures off a report.
func figures(report string) string {
	report, _, _ = strings.Cut(report, "\nstats:")
	return report
}

// What a requester is told of each way a sub-agent can end (R115-R119, R121, R122, R124, R125, J224-J237).
func TestAnnounceTexts(t *testing.T) {
	for _, c := range []struct {
		name, task, params string
		want               string // without figures; "" = nothing is told
		state              core.AnnounceState
		result             string
	}{
		{"as the child says", "[[say:raw]] [[announce:deployed]]", "", "Status: ok\nResult: deployed\nNotes: - (none)", core.AnnounceSent, "raw"},
		{"sections", "x [[announce:Result: 7\nNotes: slowly]]", "", "Status: ok\nResult: 7\nNotes: slowly", core.AnnounceSent, "x"},
		{"the token", "done", "", "", core.AnnounceSkipped, "done"},
		{"the token among white space", "done [[announce: ANNOUNCE_SKIP\n]]", "", "", core.AnnounceSkipped, "done"},
		{"the token below a text", "done [[announce:told\nANNOUNCE_SKIP]]", "", "Status: ok\nResult: told\nNotes: - (none)", core.AnnounceSent, "done"},
		{"a blank answer", "the final words [[announce:]]", "", "Status: ok\nResult: the final words\nNotes: - (none)", core.AnnounceSent, "the final words"},
		{"empty after a tool", `[[tool:rm {}]][[say:]] [[announce:]]`, "", "Status: ok\nResult: (tool output) ", core.AnnounceSent, "(tool output) "},
		{"nothing at all", "[[say:]] [[announce:]]", "", "Status: ok\nResult: (no output)\nNotes: - (none)", core.AnnounceSent, ""},
		{"a failing model", "[[fail:boom]] [[announce:all well]]", "", "Status: error\nResult: (no output)\nNotes: Error: boom", core.AnnounceSent, ""},
		{
			"R115 cut after three calls", "[[tool:a1 {}]][[tool:a2 {}]][[tool:a3 {}]][[sleep:1h]] never", `,"runTimeoutSeconds":60`,
			"Status: timeout\nResult: (tool output) ", core.AnnounceSent, "(tool output) ",
		},
	} {
		play(t, "", []string{mainKey}, func(t *testing.T, s *stage) {
			s.put(core.Session{Key: mainKey, LastChannel: "telegram", LastTo: "42"})
			child, id := s.spawn(mainKey, `{"task":`+jsonOf(t, c.task)+c.params+`}`)
			later(2 * time.Hour)
			run := s.spawned(id)
			assert.Equal(t, c.state, run.Spawn.Announce, c.name)
			if strings.HasSuffix(c.result, " ") {
				assert.Contains(t, run.Result, c.result, c.name)
			} else {
				assert.Equal(t, c.result, run.Result, c.name)
			}
			if c.want == "" {
				assert.Empty(t, s.rows(), c.name)
				assert.Empty(t, s.transcript(mainKey), c.name)
				return
			}
			text := s.told()
			assert.True(t, strings.HasPrefix(text, c.want), "%s: %s", c.name, text)
			assert.Contains(t, text, " • sessionKey "+child+" • sessionId "+s.row(child).SessionID, c.name)
			assert.Equal(t, []string{"user " + text}, s.transcript(mainKey), c.name)
			page, err := s.as("").Messages(t.Context(), core.MessageQuery{Session: mainKey})
			require.NoError(t, err)
			p, _ := core.ProvenanceOf(page.Messages[0].Raw)
			assert.Equal(t, core.Provenance{Kind: "inter_session", SourceSessionKey: child, SourceTool: "subagent_announce"}, p, c.name)
			if strings.Contains(c.name, "three calls") {
				assert.Contains(t, text, "Error: the run was cut after 1m0s (runTimeoutSeconds)")
				assert.Contains(t, text, "stats:  runtime 1m0s")
				assert.Len(t, s.transcript(child), 1+6+1, "all three calls are there")
			}
		})
	}
}

// R126, R058: the announce goes to where the requester was when it spawned, whatever it does meanwhile.
func TestAnnounceRouteIsFrozen(t *testing.T) {
	chat := &carrier{}
	stageWith(t, `channels: { telegram: { type: "webhook", url: "http://127.0.0.1:1/" } }`, chat, func(t *testing.T, s *stage) {
		s.channels["telegram"] = chat
		s.receive(core.Inbound{Channel: "telegram", Peer: "mira", SenderID: "mira", AccountID: "acct2", ThreadID: "7", Text: `[[tool:sessions_spawn {"task":"[[sleep:60000]] x [[announce:deployed]]"}]]`})
		later(time.Second)
		s.receive(core.Inbound{Channel: "discord", Peer: "mira", Text: "and now here"})
		later(time.Hour)
		last := chat.seen[len(chat.seen)-1]
		assert.Equal(t, core.DeliveryContext{Channel: "telegram", To: "mira", AccountID: "acct2", ThreadID: "7"}, last.Route)
		assert.Equal(t, "Status: ok\nResult: deployed\nNotes: - (none)", figures(last.Text))
		assert.Equal(t, "discord", s.row(mainKey).LastChannel)
	})
}

// R110: where the requester has no chat outside, its transcript is the place; the one row says that it has arrived.
func TestAnnounceInside(t *testing.T) {
	for _, row := range []core.Session{
		{Key: mainKey},
		{Key: "cron:nightly", LastChannel: "telegram", LastTo: "1"},
		{Key: "agent:main:hook:h", LastChannel: "telegram", LastTo: "1"},
		{Key: "node-mac"},
		{Key: "agent:main:web", LastChannel: "webchat", LastTo: "me"},
	} {
		play(t, "", nil, func(t *testing.T, s *stage) {
			s.put(row)
			_, id := s.spawn(row.Key, `{"task":"x [[announce:done]]"}`)
			later(time.Second)
			assert.Nil(t, s.spawned(id).Spawn.Route, row.Key)
			d := s.rows()[0]
			assert.Equal(t, core.DeliveryDelivered, d.State, row.Key)
			assert.Equal(t, id, d.RunID)
			assert.Equal(t, []string{"user " + d.Text}, s.transcript(row.Key), row.Key)
		})
	}
	// The main session of a configured agent spawns before anybody wrote to it: it comes into being by that.
	play(t, "", nil, func(t *testing.T, s *stage) {
		s.spawn(mainKey, `{"task":"x [[announce:done]]"}`)
		later(time.Second)
		assert.Len(t, s.transcript(mainKey), 1)
	})
}

// The send policy is asked of the requester's session with the frozen channel: one row, blocked with its rule, never attempted; the note is
// there all the same.
func TestAnnounceIsDenied(t *testing.T) {
	chat := &carrier{}
	stageWith(t, chatChannel+`, session: { sendPolicy: { rules: [{ match: { channel: "chat" }, action: "deny" }] } }`, chat, func(t *testing.T, s *stage) {
		s.put(core.Session{Key: mainKey, LastChannel: "chat", LastTo: "1"})
		_, id := s.spawn(mainKey, `{"task":"x [[announce:done]]","cleanup":"delete"}`)
		later(time.Hour)
		d := s.rows()[0]
		assert.Equal(t, core.DeliveryBlocked, d.State)
		assert.Contains(t, d.Rule, "rules[0]")
		assert.Empty(t, chat.seen)
		assert.Len(t, s.transcript(mainKey), 1)
		_, there := s.head(s.spawned(id).SessionKey)
		assert.False(t, there, "the announce is over")
	})
	// A policy that denies only once the text is on its way blocks it there.
	stageWith(t, chatChannel, &carrier{fail: []error{errors.New("down")}}, func(t *testing.T, s *stage) {
		s.put(core.Session{Key: mainKey, LastChannel: "chat", LastTo: "1"})
		s.spawn(mainKey, `{"task":"x [[announce:done]]"}`)
		later(time.Second)
		deny := core.SendDeny
		s.do(core.Command{Patch: &core.Patch{Session: mainKey, SendPolicy: &deny}})
		later(time.Hour)
		assert.Equal(t, core.DeliveryBlocked, s.rows()[0].State)
	})
}

// R127, R128: a sink that stores and then says it failed, with a restart between the attempts: the same key each time and one row.
func TestAnnounceIsDeliveredOnce(t *testing.T) {
	down := errors.New("stored, and failed to say so")
	chat := &carrier{fail: []error{down, down}}
	stageWith(t, chatChannel, chat, func(t *testing.T, s *stage) {
		s.put(core.Session{Key: mainKey, LastChannel: "chat", LastTo: "1"})
		_, id := s.spawn(mainKey, `{"task":"x [[announce:done]]"}`)
		later(time.Second)
		s.kill()
		s.open(t)
		later(time.Hour)
		require.Len(t, chat.seen, 3)
		for _, d := range chat.seen {
			assert.Equal(t, id+"/announce", d.ID)
			assert.Equal(t, chat.seen[0].Text, d.Text)
		}
		assert.Len(t, s.rows(), 1)
		assert.Equal(t, core.DeliveryDelivered, s.rows()[0].State)
		assert.Len(t, s.transcript(mainKey), 1)
	})
	fails := &carrier{fail: []error{down, down, down, down}}
	stageWith(t, chatChannel, fails, func(t *testing.T, s *stage) {
		s.put(core.Session{Key: mainKey, LastChannel: "chat", LastTo: "1"})
		child, id := s.spawn(mainKey, `{"task":"x [[announce:done]]","cleanup":"delete"}`)
		later(30 * time.Second)
		_, there := s.head(child)
		assert.True(t, there, "never before the announce is over")
		later(time.Hour)
		assert.Equal(t, core.DeliveryGaveUp, s.rows()[0].State)
		_, there = s.head(child)
		assert.False(t, there)
		assert.Equal(t, "x", s.spawned(id).Result, "the result survives on the run")
		s.do(core.Command{Retry: &core.Retry{Delivery: id + "/announce"}})
		later(time.Second)
		assert.Equal(t, core.DeliveryDelivered, s.rows()[0].State)
		assert.Len(t, fails.seen, 5)
	})
}

// brittle is an echo that fails in announce steps as long as it is told to.
type brittle struct {
	echo.Runtime
	fails *bool
	hangs bool
}

func (b brittle) Turn(ctx context.Context, t core.Turn, out core.Sink) (core.TurnResult, error) {
	if t.Run.Kind == core.RunAnnounce && *b.fails {
		if b.hangs {
			<-ctx.Done()
			return core.TurnResult{}, ctx.Err()
		}
		_ = out.Text("raw text that nobody asked for")
		return core.TurnResult{}, errors.New("rate limited")
	}
	return b.Runtime.Turn(ctx, t, out)
}

// R130: an announce step that fails or hangs tells nobody anything; the result stays, and the operator asks again, by the run or by the step.
func TestAnnounceFails(t *testing.T) {
	for _, hangs := range []bool{false, true} {
		for _, by := range []string{"", "/announce"} {
			fails := true
			synctest.Test(t, func(t *testing.T) {
				s := &stage{dir: t.TempDir(), runtime: brittle{echo.Runtime{Sleep: sleep}, &fails, hangs}}
				s.open(t)
				defer s.close()
				s.put(core.Session{Key: mainKey, LastChannel: "telegram", LastTo: "1"})
				child, id := s.spawn(mainKey, `{"task":"x [[announce:done]]","cleanup":"delete"}`)
				later(time.Hour)
				run := s.spawned(id)
				assert.Equal(t, core.AnnounceFailed, run.Spawn.Announce)
				assert.Contains(t, run.Spawn.AnnounceError, "announce failed")
				assert.True(t, s.row(child).Undelivered, "the operator sees that something is missing")
				assert.Equal(t, "x", run.Result)
				assert.Empty(t, s.rows())
				assert.Empty(t, s.transcript(mainKey))
				_, there := s.head(child)
				assert.True(t, there, "it is not over")
				fails = false
				s.do(core.Command{Retry: &core.Retry{Run: id + by}})
				later(time.Second)
				assert.Equal(t, "Status: ok\nResult: done\nNotes: - (none)", figures(s.told()))
				assert.Equal(t, core.AnnounceSent, s.spawned(id).Spawn.Announce)
				_, there = s.head(child)
				assert.False(t, there)
				s.refuse(core.CodeConflict, core.Command{Retry: &core.Retry{Run: id}})
			})
		}
	}
}

// R123: switched off, nothing is told whatever the model says.
func TestAnnounceOff(t *testing.T) {
	play(t, `agents: { defaults: { subagents: { announce: false } } }`, []string{mainKey}, func(t *testing.T, s *stage) {
		for _, task := range []string{"x [[announce:done]]", "[[fail:boom]]"} {
			child, id := s.spawn(mainKey, `{"task":"`+task+`","cleanup":"delete"}`)
			later(time.Second)
			assert.Equal(t, core.AnnounceOff, s.spawned(id).Spawn.Announce)
			_, there := s.head(child)
			assert.False(t, there)
		}
		assert.Empty(t, s.rows())
		assert.Empty(t, s.transcript(mainKey))
	})
}

// J285, R075: deleted once the announce is over, and never while something runs there; the transcript is kept as a deleted one, what was
// not spawned to be deleted stays.
func TestCleanup(t *testing.T) {
	play(t, "", []string{mainKey}, func(t *testing.T, s *stage) {
		kept, _ := s.spawn(mainKey, `{"task":"x [[announce:a]]"}`)
		gone, id := s.spawn(mainKey, `{"task":"y [[announce:b]]","cleanup":"delete"}`)
		silent, _ := s.spawn(mainKey, `{"task":"z","cleanup":"delete"}`)
		busy, busyRun := s.spawn(mainKey, `{"task":"w [[announce:c]]","cleanup":"delete"}`)
		queued := s.send(busy, "[[sleep:300000]] still here")
		later(time.Minute)
		for key, there := range map[string]bool{kept: true, gone: false, silent: false, busy: true, mainKey: true} {
			_, ok := s.head(key)
			assert.Equal(t, there, ok, key)
		}
		_, reply := s.await(queued)
		assert.Equal(t, "still here", reply)
		later(time.Second)
		_, ok := s.head(busy)
		assert.False(t, ok, "gone with its last run")
		assert.Equal(t, core.AnnounceSent, s.spawned(busyRun).Spawn.Announce)
		run := s.spawned(id)
		page, err := s.as("").Messages(t.Context(), core.MessageQuery{Session: run.SessionID})
		require.NoError(t, err)
		assert.Len(t, page.Messages, 4)
		assert.Equal(t, core.GenerationDeleted, page.Generation.State)
	})
}

// A child that is aborted is told of as such, queued or running (engine.md §1).
func TestAbortedChild(t *testing.T) {
	play(t, `agents: { defaults: { subagents: { maxConcurrent: 1 } } }`, []string{mainKey}, func(t *testing.T, s *stage) {
		_, running := s.spawn(mainKey, `{"task":"[[sleep:1h]] [[announce:well]]"}`)
		_, queued := s.spawn(mainKey, `{"task":"never [[announce:well]]"}`)
		synctest.Wait()
		for _, id := range []string{queued, running} {
			s.do(core.Command{Abort: &core.Abort{Run: id}})
		}
		later(time.Second)
		rows := s.rows()
		require.Len(t, rows, 2)
		for _, d := range rows {
			assert.Equal(t, "Status: aborted\nResult: (no output)\nNotes: Error: aborted by the operator", figures(d.Text))
		}
	})
}

// R131, R132, engine.md §6: a child that ran when the engine died is told of once as interrupted, one that had not begun still runs however
// long that was, and an announce step that was under way has failed.
func TestSubagentsOverAKill(t *testing.T) {
	play(t, `agents: { defaults: { subagents: { maxConcurrent: 1 } } }`, []string{mainKey}, func(t *testing.T, s *stage) {
		_, running := s.spawn(mainKey, `{"task":"[[sleep:1h]] never"}`)
		_, queued := s.spawn(mainKey, `{"task":"after all [[announce:late]]"}`)
		synctest.Wait()
		for range 2 { // a second death changes nothing
			s.kill()
			time.Sleep(11 * time.Minute)
			s.open(t)
			later(time.Minute)
		}
		run := s.spawned(running)
		assert.Equal(t, core.OutcomeInterrupted, run.Outcome)
		texts := map[string]string{}
		for _, d := range s.rows() {
			texts[d.RunID] = figures(d.Text)
		}
		assert.Equal(t, map[string]string{
			running: "Status: interrupted\nResult: (no output)\nNotes: Error: the engine that ran it ended", queued: "Status: ok\nResult: late\nNotes: - (none)",
		}, texts)
		assert.Len(t, s.transcript(mainKey), 2)
	})
	fails := true
	synctest.Test(t, func(t *testing.T) {
		s := &stage{dir: t.TempDir(), runtime: brittle{echo.Runtime{Sleep: sleep}, &fails, true}}
		s.open(t)
		defer s.close()
		s.put(core.Session{Key: mainKey})
		_, id := s.spawn(mainKey, `{"task":"x [[announce:done]]"}`)
		later(time.Second)
		s.kill()
		s.open(t)
		later(time.Hour)
		run := s.spawned(id)
		assert.Equal(t, core.AnnounceFailed, run.Spawn.Announce)
		assert.Contains(t, run.Spawn.AnnounceError, "interrupted")
		assert.Empty(t, s.rows())
	})
}

// Stopped, nothing of a session's children starts or is told of, wherever it stands; a spawn by a run that was stopped is refused.
func TestStopEndsChildren(t *testing.T) {
	chat := &carrier{fail: []error{errors.New("down")}}
	stageWith(t, chatChannel+`, agents: { defaults: { subagents: { maxConcurrent: 1 } } }`, chat, func(t *testing.T, s *stage) {
		s.put(core.Session{Key: mainKey, LastChannel: "chat", LastTo: "1"})
		_, delivering := s.spawn(mainKey, `{"task":"x [[announce:done]]"}`)
		later(time.Second)
		_, running := s.spawn(mainKey, `{"task":"[[sleep:1h]] [[announce:well]]"}`)
		_, queued := s.spawn(mainKey, `{"task":"never [[announce:well]]"}`)
		caller := s.send(mainKey, `[[sleep:60000]] [[tool:sessions_spawn {"task":"too late"}]]`)
		later(time.Second)
		s.do(core.Command{Stop: &core.Stop{Session: mainKey}})
		later(time.Hour)
		for _, id := range []string{running, queued} {
			run := s.spawned(id)
			assert.Equal(t, core.OutcomeAborted, run.Outcome)
			assert.Equal(t, core.AnnounceStopped, run.Spawn.Announce)
		}
		require.Len(t, s.rows(), 1)
		assert.Equal(t, delivering, s.rows()[0].RunID)
		assert.Equal(t, core.DeliveryCancelled, s.rows()[0].State)
		assert.Len(t, chat.seen, 1)
		run, _ := s.await(caller)
		assert.Equal(t, core.OutcomeAborted, run.Outcome)
		runs, err := s.as("").Records(t.Context(), core.RecordQuery{Kind: core.RecordRuns})
		require.NoError(t, err)
		spawns := 0
		for _, r := range runs.Runs {
			if r.Kind == core.RunSpawn {
				spawns++
			}
		}
		assert.Equal(t, 3, spawns)
	})
}

// late is a runtime that ignores its cancel, and calls a tool long after.
type late struct{ answers *[]string }

func (l late) Turn(_ context.Context, t core.Turn, out core.Sink) (core.TurnResult, error) {
	if t.Run.Kind != core.RunChat {
		return core.TurnResult{}, nil
	}
	time.Sleep(time.Minute)
	answer, _, err := out.Call(context.Background(), "c", "sessions_spawn", json.RawMessage(`{"task":"too late"}`))
	*l.answers = append(*l.answers, fmt.Sprint(string(answer), err))
	return core.TurnResult{}, err
}

// A runtime that woke up after a stop spawns nothing (engine.md §1).
func TestLateSpawnIsFenced(t *testing.T) {
	var answers []string
	synctest.Test(t, func(t *testing.T) {
		s := &stage{dir: t.TempDir(), runtime: late{&answers}}
		s.open(t)
		defer s.close()
		s.put(core.Session{Key: mainKey})
		s.send(mainKey, "go")
		later(time.Second)
		s.do(core.Command{Stop: &core.Stop{Session: mainKey}})
		later(time.Hour)
		require.Len(t, answers, 1)
		assert.Contains(t, answers[0], "the run has ended")
		kids := s.detail(mainKey).Children
		assert.Empty(t, kids)
	})
}

// The child is told what it is, who sent it and what becomes of its answer; its announce step what it is about; nothing of that is stored.
func TestChildIsToldWhatItIs(t *testing.T) {
	var turns []core.Turn
	synctest.Test(t, func(t *testing.T) {
		s := &stage{dir: t.TempDir(), runtime: listening{echo.Runtime{Sleep: sleep}, &turns}}
		s.open(t)
		defer s.close()
		s.put(core.Session{Key: mainKey})
		child, _ := s.spawn(mainKey, `{"task":"count [[announce:done]]"}`)
		later(time.Second)
		s.await(s.send(child, "and more"))
		require.Len(t, turns, 3)
		for _, turn := range turns {
			assert.Contains(t, turn.Context, "You are a sub-agent ("+child+"), started by the session "+mainKey)
			assert.Empty(t, turn.Tools, "the five session tools are not a sub-agent's")
		}
		assert.Contains(t, turns[0].Context, "The message is your task.")
		assert.Contains(t, turns[1].Context, "Answer exactly ANNOUNCE_SKIP")
		assert.Contains(t, turns[1].Context, "Task:\ncount [[announce:done]]")
		assert.Equal(t, "count [[announce:done]]", turns[1].Exchange.Request)
		assert.Equal(t, "count", turns[1].Exchange.LatestReply)
		assert.Contains(t, turns[2].Context, "earlier in this conversation")
		assert.NotContains(t, strings.Join(s.transcript(child), "\n"), "You are a sub-agent")
	})
}

// listening is a runtime that keeps what it was given.
type listening struct {
	core.Runtime
	turns *[]core.Turn
}

func (l listening) Turn(ctx context.Context, t core.Turn, out core.Sink) (core.TurnResult, error) {
	*l.turns = append(*l.turns, t)
	return l.Runtime.Turn(ctx, t, out)
}

// Archived by the stored time, an hour after its last run: listed at +59, archived at +61 and readable; a restart at +30 changes nothing;
// a message brings it back, and then the hour begins anew.
func TestArchive(t *testing.T) {
	play(t, "", []string{mainKey}, func(t *testing.T, s *stage) {
		child, id := s.spawn(mainKey, `{"task":"x","label":"sweep"}`)
		later(0)
		listed := func(params string) string {
			answer, code := s.call(mainKey, "sessions_list", params)
			require.Empty(t, code)
			return fmt.Sprint(answer["sessions"])
		}
		later(30 * time.Minute)
		s.kill()
		s.open(t)
		later(29 * time.Minute)
		assert.Contains(t, listed(`{}`), child)
		updated := s.row(child).UpdatedAt
		later(2 * time.Minute)
		assert.NotContains(t, listed(`{}`), child)
		assert.Contains(t, listed(`{"includeArchived":true}`), child)
		history, code := s.call(mainKey, "sessions_history", `{"sessionKey":"`+s.spawned(id).SessionID+`"}`)
		assert.Empty(t, code)
		assert.Equal(t, child, history["sessionKey"])
		row := s.row(child)
		assert.NotZero(t, row.ArchivedAt)
		assert.Equal(t, updated, row.UpdatedAt)
		assert.Equal(t, "sweep", row.Label)
		s.kill()
		s.open(t)
		later(24 * time.Hour)
		assert.Equal(t, row.ArchivedAt, s.row(child).ArchivedAt, "once")

		s.await(s.send(child, "again"))
		assert.Contains(t, listed(`{}`), child)
		later(59 * time.Minute)
		s.await(s.send(child, "and again"))
		later(59 * time.Minute)
		assert.Contains(t, listed(`{}`), child, "after the last run")
		later(2 * time.Minute)
		assert.NotContains(t, listed(`{}`), child)
		restore := false
		s.do(core.Command{Patch: &core.Patch{Session: child, Archived: &restore}})
		later(24 * time.Hour)
		assert.Contains(t, listed(`{}`), child, "what the operator brought back stays until it runs again")
		answer, _ := s.tell(mainKey, child, "once more", 5)
		assert.Equal(t, "ok", answer["status"])
		later(61 * time.Minute)
		assert.NotContains(t, listed(`{}`), child)
		assert.Contains(t, listed(`{}`), "main", "only what was spawned")
	})
	play(t, `agents: { defaults: { subagents: { archiveAfterMinutes: 0 } } }`, []string{mainKey}, func(t *testing.T, s *stage) {
		child, _ := s.spawn(mainKey, `{"task":"x"}`)
		later(1000 * time.Hour)
		assert.Zero(t, s.row(child).ArchivedAt)
	})
	// While the engine is away nothing is archived, and everything that was due then is when it comes back.
	play(t, fleet, []string{mainKey}, func(t *testing.T, s *stage) {
		for range 12 {
			s.spawn(mainKey, `{"task":"x"}`)
		}
		later(time.Minute)
		s.kill()
		time.Sleep(48 * time.Hour)
		s.open(t)
		later(0)
		answer, _ := s.call(mainKey, "sessions_list", `{}`)
		assert.Len(t, rows(t, answer), 1)
	})
}

// What waits for a slot is told its place: dealt round-robin over requesters, in the list of sessions and in the records.
func TestPlacesOfSubagents(t *testing.T) {
	keys := []string{mainKey, "agent:main:chat:group:1"}
	play(t, `agents: { defaults: { subagents: { maxConcurrent: 1 } } }`, keys, func(t *testing.T, s *stage) {
		var order []string
		for _, key := range []string{keys[0], keys[0], keys[0], keys[1]} {
			child, _ := s.spawn(key, `{"task":"[[sleep:60000]]"}`)
			order = append(order, child)
			synctest.Wait()
		}
		answer, _ := s.call("", "sessions_list", `{}`)
		places := map[string]any{}
		for _, row := range rows(t, answer) {
			if run, ok := row["run"].(map[string]any); ok {
				places[row["key"].(string)] = run["queuePosition"]
			}
		}
		assert.Equal(t, map[string]any{order[0]: nil, order[3]: 1.0, order[1]: 2.0, order[2]: 3.0}, places)
		page, err := s.as("").Records(t.Context(), core.RecordQuery{Kind: core.RecordRuns})
		require.NoError(t, err)
		for _, run := range page.Runs {
			if run.State == core.RunQueued {
				assert.EqualValues(t, places[run.SessionKey], page.Positions[run.ID])
			}
		}
	})
}

// A sub-agent's run that did not end ok can be run again by the operator: it is a spawn as before, and is told of anew.
func TestRerunOfASubagent(t *testing.T) {
	play(t, "", []string{mainKey}, func(t *testing.T, s *stage) {
		child, id := s.spawn(mainKey, `{"task":"[[sleep:60000]] fine [[announce:done]]","cleanup":"delete","runTimeoutSeconds":0}`)
		synctest.Wait()
		archived := true
		s.do(core.Command{Abort: &core.Abort{Run: id}})
		later(time.Second)
		_, there := s.head(child)
		assert.False(t, there, "told as aborted, and gone")
		s.refuse(core.CodeNotFound, core.Command{Retry: &core.Retry{Run: id}})

		child, id = s.spawn(mainKey, `{"task":"[[sleep:60000]] fine [[announce:done]]"}`)
		synctest.Wait()
		s.do(core.Command{Abort: &core.Abort{Run: id}})
		later(time.Second)
		s.do(core.Command{Patch: &core.Patch{Session: child, Archived: &archived}})
		again := s.do(core.Command{Retry: &core.Retry{Run: id}}).Run
		later(2 * time.Minute)
		run := s.spawned(again)
		assert.Equal(t, core.OutcomeOK, run.Outcome)
		assert.Equal(t, core.AnnounceSent, run.Spawn.Announce)
		assert.Equal(t, core.AnnounceSent, s.spawned(id).Spawn.Announce)
		assert.Zero(t, s.row(child).ArchivedAt)
		rows := s.rows()
		require.Len(t, rows, 3)
		assert.Equal(t, "Status: ok\nResult: done\nNotes: - (none)", figures(rows[0].Text))
	})
}

// Where no engine runs, a session that is due to be archived is listed as if it were.
func TestArchiveWithoutAnEngine(t *testing.T) {
	b := newBench(t, "", session(mainKey), session("agent:main:subagent:1", spawnedBy(mainKey)), session("agent:main:subagent:2", spawnedBy(mainKey)))
	b.update(func(tx core.Tx) error {
		if err := tx.PutDue(core.Due{At: noon.UnixMilli(), Kind: "archive", ID: "agent:main:subagent:1"}); err != nil {
			return err
		}
		return tx.PutDue(core.Due{At: noon.UnixMilli() + 1, Kind: "archive", ID: "agent:main:subagent:2"})
	})
	for _, as := range []string{"", mainKey} {
		assert.Equal(t, []string{"agent:main:subagent:2"}, b.keys(as, `{"kinds":["other"]}`), as)
		assert.Len(t, b.keys(as, `{"kinds":["other"],"includeArchived":true}`), 2, as)
	}
	page, err := b.as("").Sessions(t.Context(), core.SessionQuery{Archived: true})
	require.NoError(t, err)
	for _, row := range page.Rows {
		assert.Equal(t, row.Key == "agent:main:subagent:1", row.Flags.Has(core.FlagArchived), row.Key)
	}
}

// parrot says what it hears.
type parrot struct{}

func (parrot) Turn(_ context.Context, t core.Turn, out core.Sink) (core.TurnResult, error) {
	return core.TurnResult{}, out.Text(t.Run.Message)
}

// R125: what the engine asks in the announce step is never what people are told.
func TestTheQuestionIsNoAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &stage{dir: t.TempDir(), runtime: parrot{}}
		s.open(t)
		defer s.close()
		s.put(core.Session{Key: mainKey})
		s.spawn(mainKey, `{"task":"say this"}`)
		later(time.Second)
		assert.Equal(t, "Status: ok\nResult: say this\nNotes: - (none)", figures(s.told()))
	})
}
