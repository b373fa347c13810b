package host

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/core/config"
	"cordboard/core/runtime/exec"
	"cordboard/core/runtime/openai"
)

const fleetConfig = `{
	agents: {
		defaults: { sandbox: { mode: "non-main", command: ["bwrap", "--"] }, model: { primary: "p/m", fallbacks: ["p/n"] } },
		list: [
			{ id: "thinker", runtime: "openai", systemPrompt: "Think.", thinking: "low" },
			{ id: "own", runtime: "openai", model: "q/x", systemPromptFile: "/prompt.md" },
			{ id: "worker", runtime: { type: "exec", command: ["run", "it"], env: { A: "b" } } },
			{ id: "placed", runtime: { type: "exec", command: ["run"] }, workspace: "/work", sandbox: { mode: "all", command: ["jail"] } },
		],
	},
	models: { providers: {
		p: { baseUrl: "http://127.0.0.1:1/v1", apiKeyEnv: "FLEET_TEST_KEY", models: [
			{ id: "m", contextWindow: 9000, maxTokens: 100, cost: { input: 1, output: 2 }, thinking: ["low"] }, { id: "n" },
		] },
		q: { baseUrl: "http://127.0.0.1:2/v1" },
	} },
}`

func fleetOf(t *testing.T) (*config.Config, *fleet, string) {
	cfg, _, err := config.Parse("test.json5", []byte(fleetConfig))
	require.NoError(t, err)
	dir := t.TempDir()
	return cfg, newFleet(cfg, dir), dir
}

func TestModelsOfAgents(t *testing.T) {
	cfg, f, _ := fleetOf(t)
	assert.Equal(t, openai.Agent{Model: "p/m", Fallbacks: []string{"p/n"}, SystemPrompt: "Think.", Thinking: "low"}, f.model("agent:thinker:main"))
	assert.Equal(t, f.model("agent:thinker:main"), f.model("some-bare-key"))
	assert.Equal(t, openai.Agent{Model: "q/x", SystemPromptFile: "/prompt.md"}, f.model("agent:own:discord:group:1"))

	t.Setenv("FLEET_TEST_KEY", "first")
	p := providersOf(cfg)
	assert.Equal(t, "first", p["p"].Key())
	t.Setenv("FLEET_TEST_KEY", "second")
	assert.Equal(t, "second", p["p"].Key())
	assert.Equal(t, []openai.Model{
		{ID: "m", Window: 9000, MaxTokens: 100, Prices: &openai.Prices{Input: 1, Output: 2}, Thinking: []string{"low"}}, {ID: "n"},
	}, p["p"].Models)
	assert.Equal(t, "http://127.0.0.1:2/v1", p["q"].BaseURL)
	assert.Empty(t, p["q"].KeyEnv)
}

func TestCommandsOfAgents(t *testing.T) {
	_, f, dir := fleetOf(t)
	worker := exec.Agent{
		ID: "worker", Command: []string{"run", "it"}, Env: map[string]string{"A": "b"}, Workspace: filepath.Join(dir, "workspaces", "worker"),
		Sandbox: []string{"bwrap", "--"},
	}
	assert.Equal(t, worker, f.command(&core.Session{Key: "agent:worker:main"}))
	worker.Sandboxed = true
	assert.Equal(t, worker, f.command(&core.Session{Key: "agent:worker:discord:group:1"}))
	assert.Equal(t, exec.Agent{ID: "placed", Command: []string{"run"}, Workspace: "/work", Sandboxed: true, Sandbox: []string{"jail"}},
		f.command(&core.Session{Key: "agent:placed:main"}))
}

// still is a clock that waits for nothing.
type still struct{}

func (still) Now() time.Time                                   { return time.Unix(0, 0) }
func (still) Sleep(ctx context.Context, _ time.Duration) error { return ctx.Err() }

type replies struct {
	core.Sink
	strings.Builder
}

func (r *replies) Text(delta string) error {
	_, err := r.WriteString(delta)
	return err
}

// Each runtime is there under the name that the config has for it, and plays.
func TestRuntimes(t *testing.T) {
	cfg, _, err := config.Parse("test.json5", []byte(`{ agents: { list: [{ id: "main", runtime: { type: "exec", command: ["sh", "-c", "echo $CORDBOARD_SOCKET; cat"] } }] } }`))
	require.NoError(t, err)
	runtimes, closeAll := Options{Dir: t.TempDir()}.runtimesOf(cfg, ServeOptions{}, still{}, "/the/socket")
	defer closeAll()
	turn := core.Turn{Run: core.Run{Message: "hello", Model: "p/m"}, Session: core.Session{Key: "agent:main:main"}}
	for name, want := range map[string]string{config.RuntimeEcho: "hello", config.RuntimeExec: "/the/socket\nhello"} {
		var out replies
		_, err := runtimes[name].Turn(t.Context(), turn, &out)
		require.NoError(t, err, name)
		assert.Equal(t, want, out.String(), name)
	}
	_, err = runtimes[config.RuntimeOpenAI].Turn(t.Context(), turn, &replies{})
	assert.ErrorContains(t, err, `the provider "p", which is not in models.providers`)
}
