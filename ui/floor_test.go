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
		b.Put(core.Head{Key: s.key, Title: s.title, Channel: s.channel, Kind: s.kind, Parent: s.parent, UpdatedAt: at(time.Duration(i) * time.Hour)}, core.SessionDetail{
			Session: core.Session{SessionID: fmt.Sprintf("s%d", i)},
		})
		b.Append(fmt.Sprintf("s%d", i), say(-200, "good morning", "what is new?")...)
	}
	for _, r := range floorRuns() {
		b.PutRun(r)
	}
	return b
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
}
