package host_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/core/host"
)

// rewrite saves a config as editors do: beside it, then in its place.
func rewrite(t *testing.T, o host.Options, text string) {
	t.Helper()
	beside := filepath.Join(filepath.Dir(o.ConfigPath), ".config.swp")
	require.NoError(t, os.WriteFile(beside, []byte(text), 0o600))
	require.NoError(t, os.Rename(beside, o.ConfigPath))
}

// until asks the owner how it does until that is as wanted; the test's own deadline is the only one.
func until(t *testing.T, o host.Options, as func(host.Status) bool) host.Status {
	t.Helper()
	for {
		status, err := host.StatusOf(t.Context(), o)
		if err == nil && as(status) {
			return status
		}
		require.NoError(t, t.Context().Err())
	}
}

func agentIDs(t *testing.T, b core.Board) (ids []string) {
	t.Helper()
	info, err := b.Info(t.Context())
	require.NoError(t, err)
	for _, a := range info.Agents {
		ids = append(ids, a.ID)
	}
	return ids
}

// A config that changes comes into force by itself, in the same process, and clients go on; a broken one is told of and changes nothing.
func TestConfigReloads(t *testing.T) {
	o := withConfig(t, `{ agents: { list: [{ id: "main" }] } }`)
	b := attached(t, o)
	assert.Equal(t, []string{"main"}, agentIDs(t, b))
	first := until(t, o, func(s host.Status) bool { return s.PID != 0 })

	rewrite(t, o, `{ agents: { list: [{ id: "main" }, { id: "late" }] } }`)
	until(t, o, func(s host.Status) bool { return s.Since != first.Since })
	assert.Equal(t, []string{"main", "late"}, agentIDs(t, b), "the same board")
	_, err := b.Do(t.Context(), core.Command{New: &core.New{Agent: "late"}})
	require.NoError(t, err)

	rewrite(t, o, `{ agents: { lst: [] } }`)
	broken := until(t, o, func(s host.Status) bool { return s.News != "" })
	assert.Contains(t, broken.News, "broken, the one before it is in force")
	assert.Contains(t, broken.News, "lst")
	assert.Equal(t, []string{"main", "late"}, agentIDs(t, b))
	another := attached(t, o)
	assert.Equal(t, []string{"main", "late"}, agentIDs(t, another), "who comes now is let in")
	elsewhere := withConfig(t, `{ agents: { lst: [] } }`)
	_, err = host.Attach(t.Context(), elsewhere)
	assert.ErrorContains(t, err, "lst", "nobody is started with it")

	rewrite(t, o, `{ agents: { list: [{ id: "main" }, { id: "late" }] } } // mended`)
	same := until(t, o, func(s host.Status) bool { return s.News == "" })
	assert.Equal(t, first.PID, same.PID)
	assert.Equal(t, broken.Since, same.Since, "what says the same needs no new beginning")
}

// It waits for what runs, and cuts nothing off.
func TestConfigReloadsOnceNothingRuns(t *testing.T) {
	o := withConfig(t, `{ agents: { list: [{ id: "main", runtime: "manual" }] } }`)
	b := attached(t, o)
	sent, err := send(t.Context(), b, "", "are you there?")
	require.NoError(t, err)
	rewrite(t, o, `{ agents: { list: [{ id: "main", runtime: "manual" }, { id: "late" }] } }`)
	waits := until(t, o, func(s host.Status) bool { return s.News != "" })
	assert.Equal(t, "changed: it comes into force once nothing runs", waits.News)
	assert.Equal(t, 1, waits.Running)
	_, err = b.Do(t.Context(), core.Command{Reply: &core.Reply{Run: sent.Run, Text: "yes"}})
	require.NoError(t, err)
	until(t, o, func(s host.Status) bool { return s.Since != waits.Since && s.PID != 0 })
	run, reply, err := wait(t.Context(), b, sent.Run)
	require.NoError(t, err)
	assert.Equal(t, core.OutcomeOK, run.Outcome)
	assert.Equal(t, "yes", reply)
	assert.Equal(t, []string{"main", "late"}, agentIDs(t, b))
}

// Who waits for a run over a new beginning hears of its end.
func TestWaitOverAReload(t *testing.T) {
	o := withConfig(t, `{ agents: { list: [{ id: "main" }] } }`)
	b := attached(t, o)
	_, err := b.Do(t.Context(), core.Command{Hold: &core.Hold{}})
	require.NoError(t, err)
	sent, err := send(t.Context(), b, "", "held")
	require.NoError(t, err)
	before := until(t, o, func(s host.Status) bool { return s.Queued == 1 })
	ended := make(chan core.Run, 1)
	go func() {
		run, _, err := wait(context.WithoutCancel(t.Context()), b, sent.Run)
		assert.NoError(t, err)
		ended <- run
	}()
	rewrite(t, o, `{ agents: { list: [{ id: "main" }, { id: "late" }] } }`)
	until(t, o, func(s host.Status) bool { return s.Since != before.Since && s.PID != 0 })
	other := attached(t, o)
	_, err = other.Do(t.Context(), core.Command{Hold: &core.Hold{Release: true}})
	require.NoError(t, err)
	assert.Equal(t, core.OutcomeOK, (<-ended).Outcome)
}

// A user's first config is noticed too, the directory for it included.
func TestFirstConfigIsNoticed(t *testing.T) {
	home := t.TempDir()
	t.Setenv("XDG_CONFIG_HOME", home)
	o := options(t)
	o.ConfigGiven = false
	b := attached(t, o)
	assert.Equal(t, []string{"main"}, agentIDs(t, b))
	first := until(t, o, func(s host.Status) bool { return s.PID != 0 })
	dir := filepath.Join(home, "cordboard")
	require.NoError(t, os.Mkdir(dir, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "config.json5"), []byte(`{ agents: { list: [{ id: "main" }, { id: "first" }] } }`), 0o600))
	until(t, o, func(s host.Status) bool { return s.Since != first.Since && s.PID != 0 })
	assert.Equal(t, []string{"main", "first"}, agentIDs(t, b))
}
