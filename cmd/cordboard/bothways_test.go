package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/core/host"
)

const bothConfig = `{
  agents: { list: [{ id: "one", default: true }, { id: "two" }, { id: "desk", runtime: "manual" }, { id: "ops" }] },
  tools: { sessions: { visibility: "all" }, agentToAgent: { enabled: true } },
  session: { agentToAgent: { maxPingPongTurns: 1 } },
}`

// bothStep is one verb. live ones need what the step before left running, so that its owner stays.
type bothStep struct {
	args string // words, parted by blanks
	live bool
}

// bothSteps are the verbs that write, each followed by those that show it.
var bothSteps = []bothStep{
	{args: "new two --label helper"},
	{args: "send main hello"},
	{args: "send agent:two:main hello"},
	{args: "send agent:two:main hi[[say:there]] --as main"},
	{args: "call sessions_send {\"sessionKey\":\"main\",\"message\":\"[[say:called]]\"} --as agent:two:main"},
	{args: "inbound --channel talk --chat-type group --id g --key in1 hello --wait 30"},
	{args: "wait in1"},
	{args: "inbound --channel talk --chat-type group --id g --key in2 [[fail:no]]"},
	{args: "retry in2"},
	{args: "policy set main agent:two:main deny"},
	{args: "policy get main"},
	{args: "policy set main agent:two:main inherit"},
	{args: "patch main --label night --thinking low"},
	{args: "show main --json"},
	{args: "archive agent:talk:none main agent:two:main"},
	{args: "restore main agent:two:main"},
	{args: "hold agent:two:main"},
	{args: "hold --agent one"},
	{args: "hold"},
	{args: "release --agent one"},
	{args: "release agent:two:main"},
	{args: "send agent:desk:main where? --timeout 0"},
	{args: "reply agent:desk:main here", live: true},
	{args: "send agent:desk:main when? --timeout 0"},
	{args: "abort agent:desk:main", live: true},
	{args: "send agent:desk:main why? --timeout 0"},
	{args: "stop agent:desk:main", live: true},
	{args: "reset agent:two:main --yes"},
	{args: "delete agent:one:talk:group:g --yes"},
	{args: "adopt agent:ops:main"},
	{args: "send agent:ops:main ours"},
	{args: "import ../../testdata/openclaw"},
	{args: "list --json --all"},
	{args: "history main"},
	{args: "search hello"},
	{args: "agents"},
	{args: "runs"},
	{args: "runs --json"},
	{args: "exchange"},
	{args: "deliveries"},
	{args: "usage --by day,model,agent"},
	{args: "usage --by session"},
	{args: "audit"},
	{args: "audit --all --json"},
	{args: "export agent:ops:main"},
	{args: "call sessions_list {} --as main"},
}

// Every verb does the same while a console has an owner and when nobody has: then it finds or starts one, or reads the file.
func TestEveryVerbBothWays(t *testing.T) {
	t.Parallel()
	alone, beside := bothHome(t), bothHome(t)
	heard := beside.attach(t)
	for _, s := range bothSteps {
		for _, h := range []home{alone, beside} {
			h.settle(t, s.live)
		}
		if !s.live {
			alone.program(t, "serve", "--stop")
		}
		args := strings.Fields(s.args)
		want, got := beside.program(t, args...), alone.program(t, args...)
		assert.Equal(t, want, got, s.args)
		assert.NotContains(t, want, "panic", s.args)
	}
	assert.NotZero(t, beside.owner(t).Clients, "the console is still attached")
	kinds := heard()
	for _, kind := range []core.ChangeKind{core.ChangeSession, core.ChangeMessages, core.ChangeRun, core.ChangeExchange, core.ChangeDelivery, core.ChangeHold} {
		assert.True(t, kinds[kind], "the console heard of no %s", kind)
	}
}

// bothHome is a home with a copy of the fleet in its store.
func bothHome(t *testing.T) home {
	h := newHome(t)
	require.NoError(t, os.MkdirAll(filepath.Dir(h.config()), 0o700))
	require.NoError(t, os.WriteFile(h.config(), []byte(bothConfig), 0o600))
	h.verb(t, "import", "../../testdata/openclaw")
	return h
}

func (h home) config() string { return filepath.Join(h.dir, "etc", "cordboard", "config.json5") }

// settle waits until nothing runs and nothing is queued, or until a run is under way.
func (h home) settle(t *testing.T, live bool) {
	for {
		status := h.owner(t)
		if live && status.Running > 0 || !live && status.Running+status.Queued == 0 {
			return
		}
	}
}

// attach is a console's way to the store: it starts an owner and stays. The function that is returned ends it, once all that was changed
// has been heard of, and says what kinds of records those were.
func (h home) attach(t *testing.T) func() map[core.ChangeKind]bool {
	path, err := binary()
	require.NoError(t, err)
	way, err := host.Attach(t.Context(), host.Options{
		Dir: filepath.Join(h.dir, "state", "cordboard"), ConfigPath: h.config(), ConfigGiven: true, Version: version(), Program: []string{path},
	})
	require.NoError(t, err)
	b, err := way.Board(t.Context(), core.Operator)
	require.NoError(t, err)
	stream, err := b.Watch(t.Context(), core.Cursor{})
	require.NoError(t, err)
	return func() map[core.ChangeKind]bool {
		page, err := b.Sessions(t.Context(), core.SessionQuery{Limit: 1})
		require.NoError(t, err)
		kinds := map[core.ChangeKind]bool{}
		for reached := core.Rev(0); reached < page.At.Rev; {
			batch, err := stream.Next(t.Context())
			require.NoError(t, err)
			require.False(t, batch.Gap)
			for _, change := range batch.Changes {
				kinds[change.Kind] = true
			}
			reached = batch.To
		}
		require.NoError(t, errors.Join(stream.Close(), b.Close(), way.Close()))
		return kinds
	}
}

// program runs a verb of the built program, however it ends, and returns all it said and its exit code, without what differs from run to
// run: ids, times, revisions, the home.
func (h home) program(t *testing.T, args ...string) string {
	path, err := binary()
	require.NoError(t, err)
	cmd := exec.Command(path, args...)
	cmd.Env = h.environment("PATH=" + os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if _, ended := errors.AsType[*exec.ExitError](err); !ended {
		require.NoError(t, err)
	}
	text := strings.ReplaceAll(string(out), h.dir, "HOME")
	for _, odd := range oddities {
		text = odd.pattern.ReplaceAllString(text, odd.shown)
	}
	return text + "exit " + strconv.Itoa(cmd.ProcessState.ExitCode())
}

var oddities = []struct {
	pattern *regexp.Regexp
	shown   string
}{
	{regexp.MustCompile(`[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`), "ID"},
	{regexp.MustCompile(`"[0-9a-f]{8}-[0-9a-f-]*…`), "ID…"},
	{regexp.MustCompile(`\d{4}-\d\d-\d\d[ T]\d\d:\d\d:\d\d(\.\d+Z)?`), "TIME"},
	{regexp.MustCompile(`\b\d{13}\b`), "MS"},
	{regexp.MustCompile(`\b\d+(\.\d+)?(ms|s)\b`), "SPAN"},
	{regexp.MustCompile(`"(rev|fence)": ?\d+`), `"$1": N`},
	{regexp.MustCompile(`"owner": "[^"]*"`), `"owner": "O"`},
	{regexp.MustCompile(` +`), " "},
}
