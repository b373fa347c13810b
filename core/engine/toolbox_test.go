package engine_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
)

// shed is a toolbox of one server that answers from memory.
type shed struct {
	mu    sync.Mutex
	asked []string
}

func (*shed) Has(name string) bool { return strings.HasPrefix(name, "shed__") }

func (*shed) Tools(context.Context) []core.ToolSpec {
	return []core.ToolSpec{{Name: "shed__saw", Schema: json.RawMessage(`{"type":"object"}`)}, {Name: "shed__nail", Schema: json.RawMessage(`{"type":"object"}`)}}
}

func (s *shed) Call(ctx context.Context, name string, params json.RawMessage) (string, bool, error) {
	s.mu.Lock()
	s.asked = append(s.asked, name+" "+string(params))
	s.mu.Unlock()
	switch name {
	case "shed__saw":
		return "sawn, not {JSON", false, nil
	case "shed__nail":
		return "bent", true, nil
	case "shed__hang":
		<-ctx.Done()
		return "", false, ctx.Err()
	}
	return "", false, core.Errorf(core.CodeUnavailable, "the MCP server %q has ended", "shed").Because("mcp.servers.shed")
}

// viewer is a runtime that tells which tools it was given.
type viewer struct{}

func (viewer) Turn(_ context.Context, t core.Turn, out core.Sink) (core.TurnResult, error) {
	var names []string
	for _, spec := range t.Tools {
		names = append(names, spec.Name)
	}
	slices.Sort(names)
	return core.TurnResult{}, out.Text(strings.Join(names, " "))
}

const toolFleet = `agents: { list: [{ id: "main" }, { id: "model", runtime: "openai" }, { id: "worker", runtime: { type: "exec", command: ["x"] } }] }`

func withShed(t *testing.T, configText string, keys []string, fn func(t *testing.T, s *stage, box *shed)) {
	t.Helper()
	play(t, configText, keys, func(t *testing.T, s *stage) {
		s.engine.Stop(context.Background())
		require.NoError(t, s.store.Close())
		box := &shed{}
		s.toolbox, s.more = box, map[string]core.Runtime{"openai": viewer{}, "exec": viewer{}}
		s.open(t)
		fn(t, s, box)
	})
}

// Tools of servers are called like any other: call and answer are in the transcript, and what fails is an answer that says so.
func TestServerTools(t *testing.T) {
	withShed(t, toolFleet, []string{"agent:main:main"}, func(t *testing.T, s *stage, box *shed) {
		run, reply := s.await(s.send("main", `[[tool:shed__saw {"a": 1}]]`))
		assert.Equal(t, core.OutcomeOK, run.Outcome)
		assert.Equal(t, "sawn, not {JSON", reply)
		assert.Equal(t, []string{`shed__saw {"a": 1}`}, box.asked)
		lines := s.transcript("main")
		assert.Equal(t, []string{"assistant →shed__saw", "toolResult sawn, not {JSON", "assistant sawn, not {JSON"}, lines[1:])
		_, reply = s.await(s.send("main", `[[tool:shed__nail]]`))
		assert.Equal(t, "bent", reply)
		run, reply = s.await(s.send("main", `[[tool:shed__gone]]`))
		assert.Equal(t, core.OutcomeOK, run.Outcome, "the agent may go on without it")
		assert.JSONEq(t, `{"status":"error","code":"unavailable","error":"the MCP server \"shed\" has ended","configKey":"mcp.servers.shed"}`, reply)
		_, reply = s.await(s.send("main", `[[tool:barn__saw]]`))
		assert.Contains(t, reply, `there is no tool`)

		id := s.send("main", `[[tool:shed__hang]]`)
		synctest.Wait()
		_, err := s.as("").Do(t.Context(), core.Command{Abort: &core.Abort{Run: id}})
		require.NoError(t, err)
		run, _ = s.await(id)
		assert.Equal(t, core.OutcomeAborted, run.Outcome)
	})
}

// A call by another way than a run has the session tools alone.
func TestServerToolsAreForRuns(t *testing.T) {
	withShed(t, toolFleet, []string{"agent:main:main"}, func(t *testing.T, s *stage, box *shed) {
		answer, code := s.call("agent:main:main", "shed__saw", `{}`)
		assert.Equal(t, core.CodeInvalidParams, code, "%v", answer)
		assert.Empty(t, box.asked)
	})
}

// What a runtime is shown and what a session gets when it asks are the same, by policy of the session.
func TestToolsOfSessions(t *testing.T) {
	session, server := "agents_list sessions_history sessions_list sessions_send sessions_spawn", "shed__nail shed__saw"
	for config, c := range map[string]struct{ model, child, worker, workersChild string }{
		"": {session + " " + server, server, session, ""},
		`tools: { subagents: { tools: { deny: ["shed__nail"] } } },`:                               {session + " " + server, "shed__saw", session, ""},
		`tools: { subagents: { tools: { allow: ["shed__s*", "sessions_list"] } } },`:               {session + " " + server, "sessions_list shed__saw", session, "sessions_list"},
		`tools: { subagents: { tools: { allow: [] } } },`:                                          {session + " " + server, "", session, ""},
		`tools: { subagents: { tools: { allow: ["*"], deny: ["sessions_send", "shed__saw"] } } },`: {session + " " + server, "agents_list sessions_history sessions_list shed__nail", session, "agents_list sessions_history sessions_list"},
	} {
		withShed(t, config+`mcp: { servers: { shed: { command: ["x"] } } },`+toolFleet, nil, func(t *testing.T, s *stage, box *shed) {
			for key, want := range map[string]string{
				"agent:model:main": c.model, "agent:model:subagent:1": c.child, "agent:model:odd": c.child, "agent:worker:main": c.worker, "agent:worker:subagent:1": c.workersChild,
			} {
				parent := ""
				if key == "agent:model:odd" {
					parent = "agent:model:main" // a child by lineage
				}
				s.put(core.Session{Key: key, SessionID: "id-" + key, SpawnedBy: parent})
				_, reply := s.await(s.send(key, "what have you?"))
				assert.Equal(t, want, reply, "%s of %s", config, key)
			}
			box.asked = nil
			s.put(core.Session{Key: "agent:main:subagent:1", SessionID: "echoes", SpawnedBy: "agent:main:main"})
			for _, tool := range strings.Fields(session + " " + server) {
				if tool == "sessions_spawn" {
					continue // how deep it is comes first there
				}
				_, reply := s.await(s.send("agent:main:subagent:1", "[[tool:"+tool+"]]"))
				has := slices.Contains(strings.Fields(c.child), tool)
				assert.Equal(t, !has, strings.Contains(reply, "a sub-agent may not use "+tool), "%s: %s", tool, reply)
			}
			for _, asked := range box.asked {
				assert.Contains(t, strings.Fields(c.child), strings.Fields(asked)[0], "what it may not use is not called")
			}
			info, err := s.as("agent:main:subagent:1").Info(t.Context())
			require.NoError(t, err)
			assert.ElementsMatch(t, strings.Fields(c.workersChild), info.Tools)
			answer, code := s.call("agent:main:subagent:1", "sessions_send", `{"sessionKey":"main","message":"x"}`)
			if !slices.Contains(info.Tools, "sessions_send") {
				assert.Equal(t, core.CodeForbidden, code)
				assert.Contains(t, answer["configKey"], "tools.subagents.tools.")
			}
		})
	}
}

// Whoever asks beforehand hears of it: no right, and no message that would be sent.
func TestRightsOfSubagents(t *testing.T) {
	play(t, open, []string{"agent:main:main", "agent:main:subagent:1", "agent:ops:main"}, func(t *testing.T, s *stage) {
		for caller, has := range map[string]bool{"agent:main:main": true, "agent:main:subagent:1": false} {
			x, err := s.as("").Explain(t.Context(), core.Question{Rights: &core.SeeQuestion{Caller: caller, Target: "agent:ops:main"}})
			require.NoError(t, err)
			for _, right := range x.Rights[:3] {
				assert.Equal(t, has, right.Verdict.Allowed, "%s %s: %+v", caller, right.Tool, right.Verdict)
			}
			x, err = s.as("").Explain(t.Context(), core.Question{Message: &core.MessageQuestion{As: caller, To: "agent:ops:main"}})
			require.NoError(t, err)
			assert.Equal(t, has, x.Verdict.Allowed, "%+v", x.Verdict)
			if !has {
				assert.Equal(t, "tools.subagents.tools.allow", x.Verdict.ConfigKey)
			}
		}
	})
}
