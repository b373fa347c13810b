package ui

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/muesli/termenv"
	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/themes"
	"cordboard/ui/uitest"
)

// at is a time before noon, in ms.
func at(before time.Duration) int64 { return noon.Add(-before).UnixMilli() }

// floor is a fleet at work: runs in every state, exchanges in every state, texts that went out and some that did not.
func floor() *uitest.Board {
	b := uitest.New("/data")
	for i, s := range []struct {
		key, title, channel, parent string
		kind                        core.Kind
	}{
		{"agent:main:main", "Mira", "webchat", "", core.KindMain},
		{"agent:main:telegram:group:-100184", "Ops Lounge", "telegram", "", core.KindGroup},
		{"agent:main:subagent:4df511fc", "log-sweep", "", "agent:main:main", core.KindOther},
		{"agent:main:subagent:77a0c1d2", "", "", "agent:main:subagent:4df511fc", core.KindOther},
		{"agent:ops:main", "Ops desk", "webchat", "", core.KindMain},
		{"agent:ops:discord:channel:991", "#incidents", "discord", "", core.KindGroup},
		{"agent:research:main", "Research desk", "webchat", "", core.KindMain},
		{"agent:research:cron:weekly", "weekly digest", "", "", core.KindCron},
	} {
		b.Put(core.Head{Key: s.key, Title: s.title, Channel: s.channel, Kind: s.kind, Parent: s.parent, UpdatedAt: at(time.Duration(i) * time.Hour), Flags: core.FlagTokensKnown | core.FlagContextKnown, Tokens: int64(i*i) * 2100, ContextTokens: 200_000}, core.SessionDetail{
			Session: core.Session{SessionID: fmt.Sprintf("s%d", i)},
		})
		b.Append(fmt.Sprintf("s%d", i), say(-200, "good morning", "what is new?")...)
	}
	for _, r := range floorRuns() {
		b.PutRun(r)
	}
	for _, x := range floorExchanges() {
		b.PutExchange(x)
	}
	for _, d := range floorDeliveries() {
		b.PutDelivery(d)
	}
	b.AddAudit(floorAudit()...)
	b.AddUsage(floorUsage()...)
	return b
}

func floorAudit() []core.AuditEntry {
	return []core.AuditEntry{
		{Rev: 3, At: at(26 * time.Hour), Who: "operator", Verb: "patch", Target: "agent:ops:discord:channel:991", Before: []byte(`{"sendPolicy":""}`), After: []byte(`{"sendPolicy":"deny"}`), Result: "ok"},
		{Rev: 9, At: at(3 * time.Hour), Who: "operator", Verb: "send", Target: "agent:main:main", Result: "ok"},
		{Rev: 12, At: at(2 * time.Hour), Who: "client wren", Verb: "delete", Target: "agent:main:main", Result: "refused: a main session is never deleted"},
		{Rev: 12, At: at(2 * time.Hour), Who: "client wren", Verb: "hold", Target: "all sessions", Before: []byte(`{"held":false}`), After: []byte(`{"held":true}`), Result: "ok"},
		{Rev: 15, At: at(20 * time.Minute), Who: "operator", Verb: "abort", Target: "agent:research:main", Result: "ok"},
	}
}

func floorUsage() []core.UsageRow {
	dollars := func(d float64) *float64 { return &d }
	return []core.UsageRow{
		{Day: "2026-11-29", Agent: "main", Model: "anthropic/claude-sonnet-4-5", Runs: 31, Usage: core.Usage{Input: 812_000, Output: 40_100, Cost: dollars(3.04)}},
		{Day: "2026-11-30", Agent: "main", Model: "anthropic/claude-sonnet-4-5", Runs: 12, Usage: core.Usage{Input: 210_000, Output: 11_900, Cost: dollars(0.81)}},
		{Day: "2026-11-30", Agent: "main", Model: "anthropic/claude-haiku-4", Runs: 4, Usage: core.Usage{Input: 9_400, Output: 700, Cost: dollars(0.0042)}},
		{Day: "2026-11-30", Agent: "ops", Model: "ollama/qwen3:32b", Runs: 58, Usage: core.Usage{Input: 402_000, Output: 22_000}},
		{Day: "2026-11-28", Agent: "research", Runs: 1},
	}
}

// floorDeliveries are outbound texts in every state.
func floorDeliveries() []core.Delivery {
	lounge, incidents, ops := "agent:main:telegram:group:-100184", "agent:ops:discord:channel:991", "agent:ops:main"
	telegram, discord := core.DeliveryContext{Channel: "telegram", To: "group:-100184"}, core.DeliveryContext{Channel: "discord", To: "channel:991", ThreadID: "3"}
	return []core.Delivery{
		{ID: "d-sent", SessionKey: lounge, Route: telegram, Text: "The freeze is over.", State: core.DeliveryDelivered, Attempts: 1, CreatedAt: at(3 * time.Hour)},
		{ID: "d-lost", SessionKey: incidents, RunID: "r-slow", Route: discord, Text: "db-1 is slow since 02:00.\nWe are on it.", State: core.DeliveryUnknown, Attempts: 1, CreatedAt: at(2 * time.Hour)},
		{ID: "d-gave", SessionKey: ops, RunID: "x-five/announce", Route: core.DeliveryContext{Channel: "slack", To: "channel:ops", ThreadID: "7"}, Text: "logrotate restarted orders-api at 05:40; the line is being removed.", State: core.DeliveryGaveUp, Attempts: 4, LastError: "webhook: 503 Service Unavailable", CreatedAt: at(48 * time.Minute)},
		{ID: "d-block", SessionKey: incidents, Route: discord, Text: "hello", State: core.DeliveryBlocked, Rule: "session.sendPolicy.rules[0]: deny {channel: discord, chatType: group}", CreatedAt: at(5 * time.Hour)},
		{ID: "d-wait", SessionKey: lounge, Route: telegram, Text: "Backup is through.", State: core.DeliveryPending, Attempts: 2, LastError: "webhook: connection refused", NextAttemptAt: at(-17 * time.Second), CreatedAt: at(20 * time.Second)},
		{ID: "d-nowhere", SessionKey: ops, Text: "to whom?", State: core.DeliveryUndeliverable, CreatedAt: at(26 * time.Hour)},
	}
}

func floorRuns() []core.Run {
	cost := 0.0042
	min := time.Minute
	return []core.Run{
		{ID: "r-digest", SessionKey: "agent:research:cron:weekly", Kind: core.RunChat, Lane: "main", State: core.RunEnded, Outcome: core.OutcomeOK, QueuedAt: at(90 * min), StartedAt: at(90*min) + 40, EndedAt: at(88 * min), Model: "anthropic/claude-sonnet-4-5", Message: "Write the weekly digest.", Usage: &core.Usage{Input: 12400, Output: 1830, Cost: &cost}},
		{ID: "r-lounge", SessionKey: "agent:main:telegram:group:-100184", Kind: core.RunChat, Lane: "main", State: core.RunEnded, Outcome: core.OutcomeError, Error: "openai: 429 rate limit: try again in 20 s", QueuedAt: at(31 * min), StartedAt: at(31*min) + 1200, EndedAt: at(30 * min), Model: "openai/gpt-5", Message: "Is the freeze over?\nWe need to ship.", Answer: &core.DeliveryContext{Channel: "telegram", To: "group:-100184"}},
		{ID: "r-slow", SessionKey: "agent:ops:discord:channel:991", Kind: core.RunChat, Lane: "main", State: core.RunEnded, Outcome: core.OutcomeTimeout, Error: "the run took longer than 600 s", QueuedAt: at(28 * min), StartedAt: at(28 * min), EndedAt: at(18 * min), Model: "ollama/qwen3:32b", Message: "Which hosts are full?"},
		{ID: "r-cut", SessionKey: "agent:main:subagent:77a0c1d2", Kind: core.RunSpawn, Lane: "subagent", State: core.RunEnded, Outcome: core.OutcomeInterrupted, Error: "the owner ended", QueuedAt: at(16 * min), StartedAt: at(16 * min), EndedAt: at(15 * min), RequesterKey: "agent:main:subagent:4df511fc", Message: "Count the errors in db-2."},
		{ID: "r-stopped", SessionKey: "agent:research:main", Kind: core.RunChat, Lane: "main", State: core.RunEnded, Outcome: core.OutcomeAborted, QueuedAt: at(14 * min), EndedAt: at(13 * min), Message: "never mind"},
		{ID: "r-main", SessionKey: "agent:main:main", Kind: core.RunChat, Lane: "main", State: core.RunRunning, QueuedAt: at(75 * time.Second), StartedAt: at(74 * time.Second), WaitingOn: "r-ops", Model: "anthropic/claude-sonnet-4-5", Message: "Summarise the incident of last night.", ChainID: "c-7", Owner: "this process"},
		{ID: "r-ops", SessionKey: "agent:ops:main", Kind: core.RunSend, Lane: "main", State: core.RunRunning, QueuedAt: at(60 * time.Second), StartedAt: at(58 * time.Second), RequesterKey: "agent:main:main", ParentRunID: "r-main", ExchangeID: "x-live", ChainID: "c-7", Hop: 1, Model: "ollama/qwen3:32b", Message: "What did you find about the latency of db-1 between 02:00 and 06:00?", Provenance: &core.Provenance{Kind: "inter_session", SourceSessionKey: "agent:main:main", SourceTool: "sessions_send"}},
		{ID: "r-sweep", SessionKey: "agent:main:subagent:4df511fc", Kind: core.RunSpawn, Lane: "subagent", State: core.RunRunning, QueuedAt: at(5 * min), StartedAt: at(5*min) + 300, RequesterKey: "agent:main:main", Label: "log-sweep", Model: "anthropic/claude-haiku-4", Message: "Sweep the logs of the last night for restarts."},
		{ID: "r-q1", SessionKey: "agent:main:main", Kind: core.RunChat, Lane: "main", State: core.RunQueued, QueuedAt: at(40 * time.Second), Message: "And tell Jonas."},
		{ID: "r-q2", SessionKey: "agent:main:main", Kind: core.RunNote, Lane: "exchange", State: core.RunQueued, QueuedAt: at(12 * time.Second), Message: "log-sweep is done"},
		{ID: "r-q3", SessionKey: "agent:ops:main", Kind: core.RunSend, Lane: "main", State: core.RunQueued, QueuedAt: at(9 * time.Second), RequesterKey: "agent:research:main", Message: "一二三 can you check the backup?"},
	}
}

// floorConsole is a console on the floor in a theme.
func floorConsole(t tester, b core.Board, theme string, w, h int) *console {
	c := newConsole(t, b, w, h)
	c.dress(theme, termenv.TrueColor)
	return c
}

// standScreens compares screens of views at every size in two themes: what is on them without colours, and with those of the dark theme, their escapes as text.
func standScreens(t *testing.T, board func() core.Board, screens map[string]func(*console)) {
	for name, do := range screens {
		for _, size := range sizes {
			t.Run(fmt.Sprintf("%s-%dx%d", name, size[0], size[1]), func(t *testing.T) {
				c := floorConsole(t, board(), themes.NoColour, size[0], size[1])
				do(c)
				sound(t, c.view(), size[0], size[1])
				plain := sgr.ReplaceAllString(c.view(), "")
				golden(t, fmt.Sprintf("%s-%dx%d", name, size[0], size[1]), plain)
				c.dress(themes.Dark, termenv.TrueColor)
				sound(t, c.view(), size[0], size[1])
				require.Equal(t, plain, sgr.ReplaceAllString(c.view(), ""), "colours change no cell")
				golden(t, fmt.Sprintf("%s-dark-%dx%d", name, size[0], size[1]), strings.ReplaceAll(c.view(), "\x1b", "␛"))
			})
		}
	}
}

// hostileRecords puts hostile text into every field of what is told about a session beside its messages.
func hostileRecords(b *uitest.Board, i int, key string) {
	pick := func(n int) string { return hostile[(i+n)%len(hostile)] }
	states := []core.RunState{core.RunEnded, core.RunQueued, core.RunRunning, core.RunState(pick(0))}
	b.PutRun(core.Run{
		ID: fmt.Sprintf("r%d%s", i, pick(1)), SessionKey: key, Kind: core.RunKind(pick(2)), Lane: pick(3), State: states[i%4], Outcome: core.RunOutcome(pick(4)),
		Error: pick(5), QueuedAt: int64(i), StartedAt: int64(i) * 1e9, EndedAt: int64(i) * 1e12, RequesterKey: pick(6), ChainID: pick(7), Hop: -i,
		ExchangeID: pick(8), ParentRunID: pick(9), WaitingOn: pick(10), Owner: pick(11), Message: pick(12), Label: pick(13), Model: pick(14),
		Thinking: pick(15), Result: pick(16), Answer: &core.DeliveryContext{Channel: pick(17), To: pick(18), AccountID: pick(19), ThreadID: pick(20)},
		Usage: &core.Usage{Input: -5, Output: 1 << 60}, Provenance: &core.Provenance{Kind: pick(1), SourceTool: pick(2), Via: pick(3)},
	})
	x := core.ExchangeDetail{Exchange: core.Exchange{
		ID: pick(0) + fmt.Sprint(i), RequesterKey: key, TargetKey: pick(1), ChainID: pick(2), Hop: i, Request: pick(3), FirstReply: pick(4), LatestReply: pick(5), Turn: i - 3, Turns: -i,
		Announce: i%2 == 0, State: core.ExchangeState(pick(6)), Reason: pick(7), CreatedAt: int64(i), UpdatedAt: int64(i) * 1e12,
	}, Delivery: &core.Delivery{
		ID: pick(8), SessionKey: pick(9), Route: core.DeliveryContext{Channel: pick(10), To: pick(11), ThreadID: pick(12)}, Text: pick(13), State: core.DeliveryState(pick(14)),
		Rule: pick(15), LastError: pick(16), Attempts: -i, CreatedAt: int64(i) * 1e12,
	}}
	for n := range 3 {
		x.Steps = append(x.Steps, core.ExchangeStep{Name: pick(n), Speaker: pick(n + 1), From: pick(n + 2), Message: pick(n + 3), Reply: pick(n + 4), Run: core.Run{ID: pick(n + 5), State: core.RunState(pick(n)), Model: pick(n + 6)}})
	}
	b.PutExchange(x)
	b.PutDelivery(*x.Delivery)
	b.AddAudit(core.AuditEntry{Rev: core.Rev(i), At: int64(i) * 1e12, Who: pick(0), Verb: pick(1), Target: pick(2), Before: []byte(pick(3)), After: []byte(pick(4)), Result: pick(5)})
	b.AddUsage(core.UsageRow{Day: pick(6), Agent: pick(7), Model: pick(8), Runs: -1, Usage: core.Usage{Input: 1 << 62, Output: int64(-i)}})
}

// floorExchanges are exchanges in most states they may be in; the first has five turns and told its chat.
func floorExchanges() []core.ExchangeDetail {
	const ops, main, lounge = "agent:ops:main", "agent:main:main", "agent:main:telegram:group:-100184"
	texts := []string{
		"db-1 was slow between 02:00 and 06:00: p50 1.9 ms, p99 41 ms, and 212 ms while the backup ran.", "Was that the backup alone, or is something else in it?",
		"Not alone. At 05:40 logrotate restarted orders-api because of a leftover postrotate line.", "Who left it there?",
		"The deploy of 12 November. The line is in /etc/logrotate.d/orders-api.", "Thanks. I shall have it removed.",
	}
	five := core.ExchangeDetail{Exchange: core.Exchange{
		ID: "x-five", RequesterKey: main, TargetKey: ops, Channel: "webchat", ChainID: "c-1", Request: "What did you find about the latency of db-1 in the night?\nNumbers, please.",
		FirstReply: texts[0], LatestReply: texts[5], Turn: 5, Turns: 5, Announce: true, State: core.ExchangeDone, Reason: "turns", CreatedAt: at(50 * time.Minute), UpdatedAt: at(48 * time.Minute),
	}}
	begin := 50 * time.Minute
	for i, text := range texts {
		speaker, from, name, kind := ops, main, "round 1", core.RunSend
		if i > 0 {
			name, kind = fmt.Sprintf("turn %d", i), core.RunTurn
		}
		if i%2 == 1 {
			speaker, from = main, ops
		}
		start := begin - time.Duration(i)*12*time.Second
		five.Steps = append(five.Steps, core.ExchangeStep{Name: name, Speaker: speaker, From: from, Reply: text, Run: core.Run{
			ID: fmt.Sprintf("x-five/t%d", i), SessionKey: speaker, SessionID: map[string]string{main: "s0", ops: "s4"}[speaker], Kind: kind, State: core.RunEnded, Outcome: core.OutcomeOK, QueuedAt: at(start), StartedAt: at(start), EndedAt: at(start - 9*time.Second),
			Model: "ollama/qwen3:32b", ExchangeID: "x-five", ChainID: "c-1", FirstSeq: 1, LastSeq: 2,
		}})
	}
	told := "logrotate restarted orders-api at 05:40; the line is being removed."
	five.Steps = append(five.Steps, core.ExchangeStep{Name: "announce", Speaker: ops, From: main, Message: "Agent-to-agent announce step.", Reply: told, Run: core.Run{
		ID: "x-five/announce", SessionKey: ops, Kind: core.RunAnnounce, State: core.RunEnded, Outcome: core.OutcomeOK, QueuedAt: at(48 * time.Minute), StartedAt: at(48 * time.Minute), EndedAt: at(48*time.Minute - 2*time.Second), ExchangeID: "x-five",
	}})
	five.Delivery = &core.Delivery{ID: "x-five/announce", SessionKey: ops, RunID: "x-five/announce", Route: core.DeliveryContext{Channel: "slack", To: "channel:ops", ThreadID: "7"}, Text: told, State: core.DeliveryGaveUp, Attempts: 4, LastError: "webhook: 503 Service Unavailable", CreatedAt: at(48*time.Minute - 2*time.Second)}
	run := floorRuns()[6]
	live := core.ExchangeDetail{Exchange: core.Exchange{
		ID: "x-live", RequesterKey: main, TargetKey: ops, ChainID: "c-7", Hop: 1, Request: run.Message, Turns: 5, Announce: true, State: core.ExchangePrimary, CreatedAt: at(60 * time.Second), UpdatedAt: at(58 * time.Second),
	}, Steps: []core.ExchangeStep{{Name: "round 1", Run: run, Speaker: ops, From: main, Message: run.Message}}}
	short := func(id string, state core.ExchangeState, reason string, before time.Duration) core.ExchangeDetail {
		return core.ExchangeDetail{Exchange: core.Exchange{
			ID: id, RequesterKey: "agent:research:main", TargetKey: lounge, ChainID: "c-" + id, Request: "Is the freeze over?", Turn: 1, Turns: 5, Announce: true, State: state, Reason: reason, CreatedAt: at(before), UpdatedAt: at(before),
		}}
	}
	return []core.ExchangeDetail{
		five, live, short("x-silent", core.ExchangeSkipped, "skip", 2*time.Hour), short("x-failed", core.ExchangeFailed, "timeout", 3*time.Hour),
		short("x-blocked", core.ExchangeUndeliverable, "blocked", 5*time.Hour), short("x-stopped", core.ExchangeStopped, "stopped", 26*time.Hour),
	}
}
