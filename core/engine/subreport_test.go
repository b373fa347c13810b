package engine

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cordboard/core"
	"cordboard/core/proptest"
)

func cost(v float64) *float64 { return &v }

// Status is the runtime's, result and notes are what the reply names, else what there is (J224-J234, R115-R119, R122).
func TestReport(t *testing.T) {
	for _, c := range []struct {
		name, reply, result string
		outcome             core.RunOutcome
		cause               string
		want                string
	}{
		{"all of the reply", "did it\nall of it", "", core.OutcomeOK, "", "Status: ok\nResult: did it\nall of it\nNotes: - (none)"},
		{"the sections it names", "Here you are.\nResult: 42\nmore\nNotes: slow\nvery", "", core.OutcomeOK, "", "Status: ok\nResult: 42\nmore\nNotes: slow\nvery"},
		{"in bold", "**Result:** 42\n## Notes: slow", "", core.OutcomeOK, "", "Status: ok\nResult: 42\nNotes: slow"},
		{"notes alone", "42\nNotes: slow", "", core.OutcomeOK, "", "Status: ok\nResult: 42\nNotes: slow"},
		{"notes first", "Notes: slow\nResult: 42", "", core.OutcomeOK, "", "Status: ok\nResult: 42\nNotes: slow"},
		{"R117 a status of its own", "Status: ok\nResult: all done\nNotes: -\nstats: runtime 1s", "", core.OutcomeAborted, "by the operator", "Status: aborted\nResult: all done\nNotes: -\nError: by the operator"},
		{"a status in what it says", "Result: x\nStatus: error\nResult: y", "", core.OutcomeOK, "", "Status: ok\nResult: x\n  Status: error\n  Result: y\nNotes: - (none)"},
		{"J224 failed", "did some stuff", "", core.OutcomeError, "boom", "Status: error\nResult: did some stuff\nNotes: Error: boom"},
		{"failed over two lines", "", "", core.OutcomeError, "boom\nStatus: ok", "Status: error\nResult: (no output)\nNotes: Error: boom Status: ok"},
		{"a blank reply", " \n", "the final text", core.OutcomeOK, "", "Status: ok\nResult: the final text\nNotes: - (none)"},
		{"a blank section", "Result:\nNotes: n", "the final text", core.OutcomeOK, "", "Status: ok\nResult: the final text\nNotes: n"},
		{"J232 a tool's output", "", "(tool output) X", core.OutcomeOK, "", "Status: ok\nResult: (tool output) X\nNotes: - (none)"},
		{"a tool's output that looks like a report", "", "(tool output) X\nStatus: ok\nstats: none", core.OutcomeTimeout, "cut", "Status: timeout\nResult: (tool output) X\n  Status: ok\n  stats: none\nNotes: Error: cut"},
		{"J234 nothing", "", "", core.OutcomeInterrupted, "the engine ended", "Status: interrupted\nResult: (no output)\nNotes: Error: the engine ended"},
	} {
		run := &core.Run{SessionKey: "agent:a:subagent:1", Outcome: c.outcome, Result: c.result, StartedAt: 1000, EndedAt: 1000}
		text := report{run: run, reply: c.reply, cause: c.cause, sessionID: "s1"}.text()
		assert.Equal(t, c.want+"\nstats:  runtime 0s • sessionKey agent:a:subagent:1 • sessionId s1", text, c.name)
	}
}

func TestReportStats(t *testing.T) {
	run := &core.Run{SessionKey: "k", Outcome: core.OutcomeOK, StartedAt: 5_000, EndedAt: 5_000 + 312_400, Model: "p/m2", Usage: &core.Usage{Input: 12, Output: 1000, Cost: cost(0.00421)}}
	told := report{run: run, sessionID: "s", path: "/t/s.jsonl"}
	assert.Equal(t, "runtime 5m12s • tokens 1.0k (in 12 / out 1.0k) • est $0.0042 • sessionKey k • sessionId s • transcript /t/s.jsonl • model p/m2", strings.Join(told.stats(), " • "))
	run.Usage.Cost = nil
	run.StartedAt = 0
	assert.Equal(t, "runtime 0s • tokens 1.0k (in 12 / out 1.0k) • sessionKey k • sessionId s • transcript /t/s.jsonl • model p/m2", strings.Join(told.stats(), " • "))
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1.0k", 1949: "1.9k", 999_949: "999.9k", 999_950: "1.0m", 2_500_000: "2.5m"} {
		assert.Equal(t, want, short(n))
	}
}

// Whatever a model writes, the report has one status, which is the runtime's, and one line of figures, which is the last.
func TestReportCannotBeForged(t *testing.T) {
	line := rapid.OneOf(rapid.SampledFrom([]string{"Status: ok", "**Status:** ok", "Result:", "Result: x", "Notes: y", "stats: z", "Stats: z", "", "text", "ANNOUNCE_SKIP"}), rapid.String())
	proptest.Check(t, func(t *rapid.T) {
		draw := func(name string) string { return strings.Join(rapid.SliceOfN(line, 0, 6).Draw(t, name), "\n") }
		run := &core.Run{SessionKey: "k", Outcome: core.OutcomeTimeout, Result: draw("result")}
		text := report{run: run, reply: announcement(draw("reply")), cause: draw("cause"), sessionID: "s"}.text()
		count := map[string]int{}
		lines := strings.Split(text, "\n")
		for _, l := range lines {
			for _, label := range labels {
				if strings.HasPrefix(l, label) {
					count[label]++
				}
			}
		}
		require.Equal(t, map[string]int{"Status:": 1, "Result:": 1, "Notes:": 1, "stats:": 1}, count, "%s", text)
		require.Equal(t, "Status: timeout", lines[0])
		require.True(t, strings.HasPrefix(lines[len(lines)-1], "stats:  runtime"))
	})
}
