package openclaw

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/core/key"
)

// expectation is what an import must show of a directory.
type expectation struct {
	Sessions map[string]expectedSession `json:"sessions"`
	Others   []struct {
		SessionID string `json:"sessionId"`
		File      string `json:"file"`
		Messages  int    `json:"messages"`
	} `json:"otherGenerations"`
}

type expectedSession struct {
	SessionID   string          `json:"sessionId"`
	Kind        core.Kind       `json:"kind"`
	Channel     string          `json:"channel"`
	Messages    int             `json:"messages"`
	ToolResults int             `json:"toolResults"`
	Label       string          `json:"label,omitempty"`
	SpawnedBy   string          `json:"spawnedBy,omitempty"`
	SendPolicy  core.SendPolicy `json:"sendPolicy,omitempty"`
	TotalTokens *int64          `json:"totalTokens,omitempty"`
}

// TestImportShowsWhatTheFilesHold runs over our own fleet, and over the recorded state directory where the environment says that it is there.
func TestImportShowsWhatTheFilesHold(t *testing.T) {
	cases := map[string][2]string{"fleet": {fleet, "testdata/fleet-expect.json"}}
	if shared := os.Getenv("CORDBOARD_SAMPLES"); shared != "" {
		cases["recorded"] = [2]string{
			filepath.Join(shared, "samples", "openclaw-state"), filepath.Join(shared, "cases", "sample-expect.json"),
		}
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			var want expectation
			text, err := os.ReadFile(c[1])
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(text, &want))
			s := newStore(t)
			report := imported(t, s, c[0])
			assert.Empty(t, report.Problems)
			checkExpectation(t, s, want)
			checkExport(t, s, c[0])

			before, err := s.Info(t.Context())
			require.NoError(t, err)
			again := imported(t, s, c[0])
			after, err := s.Info(t.Context())
			require.NoError(t, err)
			assert.Equal(t, before.Rev, after.Rev, "the second import writes nothing")
			assert.Zero(t, again.Messages+again.Events+again.Sessions.Added+again.Sessions.Changed+again.Transcripts.Added+again.Runs.Changed)
			assert.Equal(t, len(want.Sessions), again.Sessions.Unchanged)
		})
	}
}

func checkExpectation(t *testing.T, s core.Store, want expectation) {
	names := key.NewNames(core.Naming{}, key.DMMain)
	got := map[string]expectedSession{}
	for _, k := range sessionKeys(t, s) {
		row := session(t, s, k)
		require.True(t, row.Mirrored())
		g := generation(t, s, row.SessionID)
		kind := names.Kind(k, row.ChatType)
		e := expectedSession{
			SessionID: row.SessionID, Kind: kind, Channel: key.ChannelField(kind, row.Channel, row.LastChannel, k),
			Messages: g.Messages, ToolResults: g.ToolResults,
			Label: row.Label, SpawnedBy: row.SpawnedBy, SendPolicy: row.SendPolicy,
		}
		if !row.TokensStale {
			e.TotalTokens = row.TotalTokens
		}
		got[k] = e
	}
	assert.Equal(t, want.Sessions, got)
	all := generations(t, s)
	for _, o := range want.Others {
		var found *core.Generation
		for _, g := range all {
			if filepath.Base(g.File) == o.File {
				found = &g
			}
		}
		if assert.NotNil(t, found, o.File) {
			assert.Equal(t, o.SessionID, found.SessionID)
			assert.Equal(t, o.Messages, found.Messages, o.File)
			assert.NotEqual(t, core.GenerationCurrent, found.State)
		}
	}
}

// checkExport writes every generation out and compares it with its file.
func checkExport(t *testing.T, s core.Store, dir string) {
	files := 0
	for id, g := range generations(t, s) {
		if g.File == "" {
			continue
		}
		want, err := os.ReadFile(g.File)
		require.NoError(t, err)
		var out strings.Builder
		require.NoError(t, Export(t.Context(), s, &out, id))
		assert.Equal(t, string(want), out.String(), g.File)
		files++
	}
	found, err := filepath.Glob(filepath.Join(dir, "agents/*/sessions/*.jsonl*"))
	require.NoError(t, err)
	assert.Equal(t, len(found), files, "every file is a generation")
}

func TestFleetLineageRunsAndStates(t *testing.T) {
	s := newStore(t)
	report := imported(t, s, fleet)
	assert.Equal(t, Counts{Added: 6}, report.Runs)
	assert.True(t, strings.HasSuffix(report.Config, "openclaw.json"))
	assert.Equal(t, 3, report.Agents)

	var outcomes []string
	view(t, s, func(r core.Reader) error {
		live := 0
		if err := r.LiveRuns(func(*core.Run) bool { live++; return true }); err != nil {
			return err
		}
		assert.Zero(t, live, "nothing in a mirror is live")
		return r.Runs("", func(run *core.Run) bool {
			assert.True(t, run.Mirrored)
			assert.Equal(t, core.RunEnded, run.State)
			outcomes = append(outcomes, run.Label+" "+string(run.Outcome))
			return true
		})
	})
	assert.ElementsMatch(t, []string{
		"log-sweep ok", "pg18-notes ok", "hnsw-bench ok", "disk-check timeout", "watch-checkout interrupted", "translate ok",
	}, outcomes)

	// Lineage: across agents, from the registry alone, and to a parent that is gone.
	children := func(parent string) (labels []string) {
		view(t, s, func(r core.Reader) error {
			return r.Children(parent, func(k string) bool {
				child, ok, err := r.Session(k)
				require.True(t, ok)
				require.NoError(t, err)
				labels = append(labels, child.Label)
				return true
			})
		})
		return labels
	}
	assert.ElementsMatch(t, []string{"log-sweep", "pg18-notes"}, children("agent:main:main"))
	assert.Equal(t, []string{"hnsw-bench"}, children("agent:research:main"))
	assert.Equal(t, []string{"three-papers"}, children("agent:research:literature"))

	assert.Equal(t, core.OutcomeTimeout, session(t, s, byLabel(t, s, "disk-check")).LastOutcome)
	assert.Equal(t, core.OutcomeError, session(t, s, "agent:ops:discord:channel:1180223344556670042").LastOutcome)
	rollback := session(t, s, "agent:ops:rollback-4398")
	assert.True(t, rollback.TokensStale)
	assert.Equal(t, core.OutcomeAborted, rollback.LastOutcome, "a note the gateway put behind it is no run")
	require.NotNil(t, rollback.TotalTokens)
	assert.Equal(t, core.ChatDirect, session(t, s, "agent:main:signal:dm:+4915187654321").ChatType, "dm is direct")
	assert.Equal(t, core.DeliveryContext{Channel: "webchat", ThreadID: "1796044350"}, session(t, s, "agent:main:main:thread:1796044350").Delivery)
	assert.Equal(t, int64(1796025600060), session(t, s, "cron:cert-expiry").CreatedAt, "a session begins with its transcript")
}

func byLabel(t *testing.T, s core.Store, label string) string {
	for _, k := range sessionKeys(t, s) {
		if session(t, s, k).Label == label {
			return k
		}
	}
	t.Fatalf("no session is labelled %q", label)
	return ""
}

func TestFleetGenerations(t *testing.T) {
	s := newStore(t)
	imported(t, s, fleet)
	states := map[core.GenerationState]int{}
	for _, g := range generations(t, s) {
		states[g.State]++
		if g.State == core.GenerationBackup {
			assert.Equal(t, "agent:research:main", g.Key, "a backup belongs to the session whose sessionId it has")
			assert.Equal(t, g.SessionID+".backup.2026-11-29T05-00-12.671Z", g.ID)
			assert.Equal(t, int64(1795928412671), g.EndedAt)
		}
		if g.State == core.GenerationReset {
			assert.Equal(t, g.SessionID, g.ID, "a reset transcript is read by its sessionId")
			assert.Equal(t, int64(1796018320311), g.EndedAt)
		}
	}
	assert.Equal(t, map[core.GenerationState]int{
		core.GenerationCurrent: 23, core.GenerationReset: 1, core.GenerationDeleted: 1, core.GenerationBackup: 1, core.GenerationOrphan: 1,
	}, states)
}
