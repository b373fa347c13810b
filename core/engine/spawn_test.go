package engine_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
)

const mainKey = "agent:main:main"

// spawn calls sessions_spawn as a session and returns the child's key and run.
func (s *stage) spawn(as, params string) (child, run string) {
	s.t.Helper()
	answer, code := s.call(as, "sessions_spawn", params)
	require.Empty(s.t, code, "%v", answer)
	require.Equal(s.t, "accepted", answer["status"])
	return answer["childSessionKey"].(string), answer["runId"].(string)
}

// spawned is a spawn's run as it is stored.
func (s *stage) spawned(id string) (run core.Run) {
	s.t.Helper()
	require.NoError(s.t, s.store.View(s.t.Context(), func(r core.Reader) (err error) {
		run, _, err = r.Run(id)
		return err
	}))
	return run
}

func (s *stage) head(key string) (h core.Head, ok bool) {
	s.t.Helper()
	require.NoError(s.t, s.store.View(s.t.Context(), func(r core.Reader) (err error) {
		h, ok, err = r.Head(key)
		h.Key, h.Title, h.Parent, h.Channel = strings.Clone(h.Key), strings.Clone(h.Title), strings.Clone(h.Parent), strings.Clone(h.Channel)
		return err
	}))
	return h, ok
}

func (s *stage) rev() (rev core.Rev) {
	s.t.Helper()
	require.NoError(s.t, s.store.View(s.t.Context(), func(r core.Reader) error {
		rev = r.Rev()
		return nil
	}))
	return rev
}

// everything is what is in the store and in the workspaces, as far as a spawn could add to it.
func (s *stage) everything() (list []string) {
	s.t.Helper()
	require.NoError(s.t, s.store.View(s.t.Context(), func(r core.Reader) error {
		for _, err := range []error{
			r.Heads(core.HeadCursor{}, func(h *core.Head) bool { list = append(list, "session "+h.Key); return true }),
			r.Runs("", func(run *core.Run) bool { list = append(list, "run "+run.ID+" "+string(run.State)); return true }),
			r.Deliveries(func(d *core.Delivery) bool { list = append(list, "delivery "+d.ID); return true }),
			r.Exchanges(func(x *core.Exchange) bool { list = append(list, "exchange "+x.ID); return true }),
			r.Due(1<<62, func(d core.Due) bool { list = append(list, "due "+d.Kind+" "+d.ID); return true }),
			r.AllGenerations("", func(g *core.Generation) bool { list = append(list, "transcript "+g.ID); return true }),
		} {
			if err != nil {
				return err
			}
		}
		return nil
	}))
	return append(list, s.files()...)
}

// files are the paths below the workspaces, with what is in them.
func (s *stage) files() (list []string) {
	root := filepath.Join(s.dir, "workspaces")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := []byte{}
		if info.Mode().IsRegular() {
			text, err = os.ReadFile(path)
		}
		list = append(list, fmt.Sprintf("%s %s %q", strings.TrimPrefix(path, root), info.Mode(), text))
		return err
	})
	if !os.IsNotExist(err) {
		require.NoError(s.t, err)
	}
	return list
}

// fleet is what most tests of spawning run under: agents of every kind that a check asks about.
const fleet = `
	channels: {
		chat: { type: "webhook", url: "http://127.0.0.1:1/", owners: ["boss"], threads: true },
		plain: { type: "webhook", url: "http://127.0.0.1:1/" },
		still: { threadBindings: { enabled: false } },
	},
	models: { providers: {
		p: { baseUrl: "http://127.0.0.1:1/", models: [{ id: "m1", thinking: ["low", "high"] }, { id: "m2" }, { id: "both" }] },
		q: { baseUrl: "http://127.0.0.1:1/", models: [{ id: "both" }] },
	} },
	tools: { sessions_spawn: { attachments: { maxFiles: 3, maxFileBytes: 100, maxTotalBytes: 150 } } },
	agents: {
		defaults: { subagents: { maxChildrenPerAgent: 12 } },
		list: [
			{ id: "main", subagents: { allowAgents: ["Research", "jailed", "reader", "wire", "ghost"] } },
			{ id: "research" },
			{ id: "jailed", sandbox: { mode: "all" }, subagents: { allowAgents: ["*"] } },
			{ id: "reader", runtime: { type: "exec", command: ["true"] } },
			{ id: "wire", runtime: { type: "acp", command: ["true"] } },
			{ id: "other" },
		],
	}`

func attachment(name, content, encoding string) string {
	raw, err := json.Marshal(map[string]string{"name": name, "content": content, "encoding": encoding})
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// Every refusal of session-tools.md §8, each with its code and the key that decided; none of them leaves anything behind (H172-H208,
// I211-I219, R091, R092, R095-R098, R105, R107).
func TestSpawnRefusals(t *testing.T) {
	const deep, stored, flat = "agent:main:subagent:parent", "agent:main:deep", "agent:main:child"
	files := func(list ...string) string { return `{"task":"x","attachments":[` + strings.Join(list, ",") + `]}` }
	text := func(name string) string { return attachment(name, "x", "utf8") }
	cases := []struct {
		name, as, params string
		code             core.Code
		words            string
		key              string
	}{
		{"no task", mainKey, `{}`, core.CodeInvalidParams, "task", ""},
		{"R102 a blank task", mainKey, `{"task":" \n"}`, core.CodeInvalidParams, "task", ""},
		{"R092 an unknown parameter", mainKey, `{"task":"x","modle":"m"}`, core.CodeInvalidParams, "modle", ""},
		{"H208 a channel", mainKey, `{"task":"x","channel":"c"}`, core.CodeInvalidParams, "channel", ""},
		{"a wrong type", mainKey, `{"task":"x","thread":"yes"}`, core.CodeInvalidParams, "thread", ""},
		{"a negative limit", mainKey, `{"task":"x","runTimeoutSeconds":-1}`, core.CodeInvalidParams, "runTimeoutSeconds", ""},
		{"a strange cleanup", mainKey, `{"task":"x","cleanup":"burn"}`, core.CodeInvalidParams, "cleanup", ""},
		{"a strange sandbox", mainKey, `{"task":"x","sandbox":"off"}`, core.CodeInvalidParams, "sandbox", ""},
		{"H202 a session without a thread", mainKey, `{"task":"x","mode":"session"}`, core.CodeInvalidParams, `mode="session" requires thread=true`, ""},
		{"H192 no id of an agent", mainKey, `{"task":"x","agentId":"Agent not found: xyz"}`, core.CodeInvalidParams, "Invalid agentId", ""},
		{"H192 a path", mainKey, `{"task":"x","agentId":"../../../etc/passwd"}`, core.CodeInvalidParams, "Invalid agentId", ""},
		{"H192 too long", mainKey, `{"task":"x","agentId":"` + strings.Repeat("a", 65) + `"}`, core.CodeInvalidParams, "Invalid agentId", ""},
		{"a file without content", mainKey, `{"task":"x","attachments":[{"name":"a"}]}`, core.CodeInvalidParams, "content", ""},
		{"a strange encoding", mainKey, files(attachment("a", "x", "hex")), core.CodeInvalidParams, "encoding", ""},
		{"the operator", "", `{"task":"x"}`, core.CodeForbidden, "--as", ""},
		{"a mirrored session", "agent:main:mirror", `{"task":"x"}`, core.CodeMirrored, "imported", ""},
		{"H172 a sub-agent", deep, `{"task":"x"}`, core.CodeForbidden, "current depth: 1, max: 1", "agents.defaults.subagents.maxSpawnDepth"},
		{"H174 a stored depth", stored, `{"task":"x"}`, core.CodeForbidden, "current depth: 2", "agents.defaults.subagents.maxSpawnDepth"},
		{"H175 lineage", flat, `{"task":"x"}`, core.CodeForbidden, "current depth: 1", "agents.defaults.subagents.maxSpawnDepth"},
		{"before the agent", deep, `{"task":"x","agentId":"ghost","thinking":"banana"}`, core.CodeForbidden, "depth", "agents.defaults.subagents.maxSpawnDepth"},
		{"R095 an agent that is not allowed", mainKey, `{"task":"x","agentId":"other"}`, core.CodeForbidden, "subagents.allowAgents", "agents.list[0].subagents.allowAgents"},
		{"R097 an agent that is not there", mainKey, `{"task":"x","agentId":"ghost"}`, core.CodeInvalidParams, "ghost", "agents.list"},
		{"R097 the star is of configured ones", "agent:jailed:main", `{"task":"x","agentId":"ghost"}`, core.CodeForbidden, "ghost", "agents.list[2].subagents.allowAgents"},
		{"out of the sandbox", "agent:jailed:main", `{"task":"x","agentId":"research"}`, core.CodeForbidden, "sandboxed", "agents.defaults.sandbox.mode"},
		{"H191 a sandbox is required", mainKey, `{"task":"x","agentId":"research","sandbox":"require"}`, core.CodeForbidden, `sandbox="require"`, "agents.defaults.sandbox.mode"},
		{"sandbox before model", mainKey, `{"task":"x","sandbox":"require","model":"no/such"}`, core.CodeForbidden, "require", "agents.defaults.sandbox.mode"},
		{"R091 a model that is not there", mainKey, `{"task":"x","model":"no/such"}`, core.CodeInvalidParams, "no/such", "models.providers"},
		{"H179 a bare model that is not there", mainKey, `{"task":"x","model":"bad-model"}`, core.CodeInvalidParams, "bad-model", "models.providers"},
		{"a model of two providers", mainKey, `{"task":"x","model":"both"}`, core.CodeInvalidParams, "p/both, q/both", "models.providers"},
		{"model before thinking", mainKey, `{"task":"x","model":"no/such","thinking":"banana"}`, core.CodeInvalidParams, "no/such", "models.providers"},
		{"H199 no level", mainKey, `{"task":"x","thinking":"banana"}`, core.CodeInvalidParams, "Invalid thinking level", ""},
		{"a level the model does not know", mainKey, `{"task":"x","model":"p/m1","thinking":"xhigh"}`, core.CodeInvalidParams, "p/m1", "models.providers.p.models[].thinking"},
		{"thinking before thread", mainKey, `{"task":"x","thread":true,"thinking":"banana"}`, core.CodeInvalidParams, "banana", ""},
		{"a thread without a channel", mainKey, `{"task":"x","thread":true}`, core.CodeUnsupported, "thread", ""},
		{"R107 a channel without threads", "agent:main:plain:group:1", `{"task":"x","thread":true}`, core.CodeUnsupported, "plain", "channels.plain.threads"},
		{"bindings switched off", "agent:main:still:group:1", `{"task":"x","thread":true}`, core.CodeUnsupported, "still", "session.threadBindings.enabled"},
		{"a thread that does not open", "agent:main:chat:group:1", `{"task":"x","thread":true}`, core.CodeUnsupported, "no threads", ""},
		{"thread before files", "agent:main:plain:group:1", `{"task":"x","thread":true,"attachments":[` + text("..") + `]}`, core.CodeUnsupported, "plain", "channels.plain.threads"},
		{"files before the thread is opened", "agent:main:chat:group:1", `{"task":"x","thread":true,"attachments":[` + text("..") + `]}`, "attachments_invalid_name", "..", ""},
		{"a blank name", mainKey, files(text("  ")), "attachments_invalid_name", "blank", ""},
		{"an empty name", mainKey, files(text("")), "attachments_invalid_name", "blank", ""},
		{"a dot", mainKey, files(text(".")), "attachments_invalid_name", "directory", ""},
		{"two dots", mainKey, files(text("..")), "attachments_invalid_name", "directory", ""},
		{"a slash", mainKey, files(text("../a")), "attachments_invalid_name", "/", ""},
		{"a backslash", mainKey, files(text(`a\b`)), "attachments_invalid_name", `\`, ""},
		{"NUL", mainKey, files(text("a\x00b")), "attachments_invalid_name", "control", ""},
		{"a line feed", mainKey, files(text("a\nb")), "attachments_invalid_name", "control", ""},
		{"a name of 300", mainKey, files(text(strings.Repeat("n", 300))), "attachments_invalid_name", "255", ""},
		{"I215 twice", mainKey, files(text("file.txt"), text("file.txt")), "attachments_duplicate_name", "file.txt", ""},
		{"I218 too many", mainKey, files(text("1"), text("2"), text("3"), text("4")), "attachments_file_count_exceeded", "(maxFiles=3)", "tools.sessions_spawn.attachments.maxFiles"},
		{"I219 a byte over", mainKey, files(attachment("a", strings.Repeat("x", 101), "utf8")), "attachments_file_bytes_exceeded", "(name=a bytes=101 maxFileBytes=100)", "tools.sessions_spawn.attachments.maxFileBytes"},
		{"too much in all", mainKey, files(attachment("a", strings.Repeat("x", 100), "utf8"), attachment("b", strings.Repeat("x", 51), "utf8")), "attachments_total_bytes_exceeded", "totalBytes=151", "tools.sessions_spawn.attachments.maxTotalBytes"},
		{"I211 empty", mainKey, files(attachment("a", "", "base64")), "attachments_invalid_base64", "a", ""},
		{"I211 without padding", mainKey, files(attachment("a", "abc", "base64")), "attachments_invalid_base64", "a", ""},
		{"I211 other signs", mainKey, files(attachment("a", "!@#$", "base64")), "attachments_invalid_base64", "a", ""},
		{"I211 spaces", mainKey, files(attachment("a", "    ", "base64")), "attachments_invalid_base64", "a", ""},
		{"base64 over two lines", mainKey, files(attachment("a", "aGVs\nbG8=", "base64")), "attachments_invalid_base64", "a", ""},
		{"bits behind the end", mainKey, files(attachment("a", "aGVsbG9=", "base64")), "attachments_invalid_base64", "a", ""},
		{"acp takes none", mainKey, `{"task":"x","agentId":"wire","attachments":[` + text("a") + `]}`, "attachments_unsupported", "acp", "agents.list[].runtime"},
		{"bytes for a model", mainKey, files(attachment("a", base64.StdEncoding.EncodeToString([]byte{0, 1, 255}), "base64")), "attachments_unsupported", "neither", "agents.list[].runtime"},
	}
	stageWith(t, fleet, &carrier{}, func(t *testing.T, s *stage) {
		for _, row := range []core.Session{
			{Key: mainKey},
			{Key: "agent:jailed:main"},
			{Key: deep, SpawnedBy: mainKey},
			{Key: stored, SpawnDepth: 2},
			{Key: flat, SpawnedBy: mainKey},
			{Key: "agent:main:mirror", Source: "/elsewhere"},
			{Key: "agent:main:plain:group:1", LastChannel: "plain", LastTo: "1"},
			{Key: "agent:main:still:group:1", LastChannel: "still", LastTo: "1"},
			{Key: "agent:main:chat:group:1", LastChannel: "chat", LastTo: "1"},
		} {
			s.put(row)
		}
		before := s.everything()
		for _, c := range cases {
			answer, code := s.call(c.as, "sessions_spawn", c.params)
			assert.Equal(t, c.code, code, "%s: %v", c.name, answer)
			assert.Contains(t, answer["error"], c.words, c.name)
			if c.key == "" {
				c.key = "<nil>"
			}
			assert.Equal(t, c.key, fmt.Sprint(answer["configKey"]), c.name)
			assert.NotContains(t, answer, "runId", c.name)
			if c.as != "" && c.name != "a thread that does not open" { // asked before, it is the same answer, but for what only the channel knows
				x := s.explain(core.Question{Spawn: &core.SpawnQuestion{As: c.as, Params: json.RawMessage(c.params)}})
				if !assert.NotEmpty(t, x.Spawn.Refusals, c.name) {
					continue
				}
				assert.False(t, x.Verdict.Allowed, c.name)
				assert.Equal(t, c.code, x.Spawn.Refusals[0].Code, c.name)
				assert.Equal(t, answer["error"], x.Spawn.Refusals[0].Message, c.name)
				assert.Equal(t, x.Verdict.Message, x.Spawn.Refusals[0].Message, c.name)
			}
			assert.Equal(t, before, s.everything(), c.name)
		}
	})
	stageWith(t, `tools: { sessions_spawn: { attachments: { enabled: false } } }`, nil, func(t *testing.T, s *stage) {
		s.put(core.Session{Key: mainKey})
		before := s.everything()
		_, code := s.call(mainKey, "sessions_spawn", files(text("a")))
		assert.EqualValues(t, "attachments_disabled", code)
		assert.Equal(t, before, s.everything())
		s.spawn(mainKey, `{"task":"x","attachments":[]}`) // I217
	})
}

// What is accepted is recorded and used: the child's key, lineage, label, model, thinking and provenance, in one commit (H187, H188, H193,
// H194, H195, H197, R028, R032, R080, R089, R090).
func TestSpawnIsRecorded(t *testing.T) {
	stageWith(t, fleet, &carrier{}, func(t *testing.T, s *stage) {
		s.put(core.Session{Key: mainKey, LastChannel: "chat", LastTo: "p", LastAccountID: "a"})
		s.do(core.Command{Hold: &core.Hold{}})
		rev := s.rev()
		answer, code := s.call(mainKey, "sessions_spawn", `{"task":" do [[say:done]]","label":" Log sweep ","agentId":"RESEARCH","model":"m1","thinking":"high","runTimeoutSeconds":0.5}`)
		require.Empty(t, code, "%v", answer)
		assert.Equal(t, true, answer["modelApplied"])
		child := answer["childSessionKey"].(string)
		assert.Regexp(t, `^agent:research:subagent:n\d+$`, child)
		assert.Equal(t, rev+1, s.rev(), "accepted in one commit")
		s.do(core.Command{Hold: &core.Hold{Release: true}})
		run, reply := s.await(answer["runId"].(string))
		assert.Equal(t, "done", reply)
		assert.Equal(t, core.RunSpawn, run.Kind)
		assert.Equal(t, "subagent", run.Lane)
		assert.Equal(t, "p/m1", run.Model)
		assert.Equal(t, "high", run.Thinking)
		assert.Equal(t, mainKey, run.RequesterKey)
		assert.Equal(t, 1, run.Spawn.TimeoutSeconds, "a fraction rounds up")
		assert.Equal(t, &core.DeliveryContext{Channel: "chat", To: "p", AccountID: "a"}, run.Spawn.Route)
		row := s.row(child)
		assert.Equal(t, "Log sweep", row.Label)
		assert.Equal(t, mainKey, row.SpawnedBy)
		assert.Equal(t, 1, row.SpawnDepth)
		assert.Equal(t, "m1", row.Model)
		assert.Equal(t, "p", row.ModelProvider)
		assert.Equal(t, "high", row.ThinkingLevel)
		page, err := s.as("").Messages(t.Context(), core.MessageQuery{Session: child})
		require.NoError(t, err)
		p, _ := core.ProvenanceOf(page.Messages[0].Raw)
		assert.Equal(t, core.Provenance{Kind: "inter_session", SourceSessionKey: mainKey, SourceChannel: "chat", SourceTool: "sessions_spawn"}, p)
		assert.Equal(t, "user  do [[say:done]]", s.transcript(child)[0], "byte for byte")
		listed, _ := s.call(mainKey, "sessions_list", `{}`)
		assert.Contains(t, fmt.Sprint(listed["sessions"]), child, "R040: also under another agent")
	})
	for config, want := range map[string]string{
		``: "echo/echo",
		`agents: { defaults: { model: "echo/d" } }`:                                                                                                "echo/d",
		`agents: { defaults: { model: "echo/d", subagents: { model: "echo/sub" } } }`:                                                              "echo/sub",
		`agents: { defaults: { model: "echo/d" }, list: [{ id: "main", model: "echo/own" }] }`:                                                     "echo/own",
		`agents: { defaults: { subagents: { model: "echo/sub" } }, list: [{ id: "main", model: "echo/own" }] }`:                                    "echo/sub",
		`agents: { defaults: { subagents: { model: "echo/sub" } }, list: [{ id: "main", model: "echo/own", subagents: { model: "echo/mine" } }] }`: "echo/mine",
	} {
		play(t, config, []string{mainKey}, func(t *testing.T, s *stage) {
			child, run := s.spawn(mainKey, `{"task":"x"}`)
			assert.Equal(t, want, s.spawned(run).Model, config)
			assert.Equal(t, want, s.row(child).ModelProvider+"/"+s.row(child).Model, config)
		})
	}
}

// An echo agent spawns by its directive, in its own run's chain; the stored call keeps receipts and not what the files hold.
func TestSpawnByAnAgent(t *testing.T) {
	play(t, "", []string{mainKey}, func(t *testing.T, s *stage) {
		_, reply := s.await(s.send(mainKey, `[[tool:sessions_spawn {"task":"count","attachments":[{"name":"a.txt","content":"secret words"}]}]]`))
		var answer map[string]any
		require.NoError(t, json.Unmarshal([]byte(reply), &answer), reply)
		run, _ := s.await(answer["runId"].(string))
		assert.Equal(t, core.OutcomeOK, run.Outcome)
		assert.NotEmpty(t, run.ParentRunID)
		assert.Equal(t, 1, run.Hop)
		page, err := s.as("").Messages(t.Context(), core.MessageQuery{Session: mainKey})
		require.NoError(t, err)
		call := string(page.Messages[1].Raw)
		assert.NotContains(t, call, "secret words")
		assert.Contains(t, call, `"name":"a.txt","bytes":12,"sha256":"`)
		assert.Contains(t, call, `"task":"count"`)
	})
}

// J: 50 spawns at once under a cap of 12 give exactly 12, and 12 again after those have failed.
func TestSpawnCapacity(t *testing.T) {
	play(t, fleet, []string{mainKey}, func(t *testing.T, s *stage) {
		for round := range 2 {
			var mu sync.Mutex
			var runs []string
			refused := 0
			var all sync.WaitGroup
			for range 50 {
				all.Go(func() {
					answer, code := s.call(mainKey, "sessions_spawn", `{"task":"[[sleep:60000]] [[fail:boom]]"}`)
					mu.Lock()
					defer mu.Unlock()
					if code == "" {
						runs = append(runs, answer["runId"].(string))
						return
					}
					refused++
					assert.Equal(t, core.CodeForbidden, code)
					assert.Equal(t, "agents.defaults.subagents.maxChildrenPerAgent", answer["configKey"])
				})
			}
			all.Wait()
			assert.Len(t, runs, 12, "round %d", round)
			assert.Equal(t, 38, refused)
			for _, id := range runs {
				run, _ := s.await(id)
				assert.Equal(t, core.OutcomeError, run.Outcome)
			}
			synctest.Wait()
		}
	})
}

// 200 spawns from 10 requesters over 8 lanes: all end, each is announced once, and no requester waits for another's burst.
func TestSpawnBurst(t *testing.T) {
	const requesters, each = 10, 20
	var keys []string
	for i := range requesters {
		keys = append(keys, fmt.Sprintf("agent:main:chat%d:group:1", i))
	}
	play(t, `agents: { defaults: { subagents: { maxChildrenPerAgent: 20 } } }`, keys, func(t *testing.T, s *stage) {
		var all sync.WaitGroup
		for _, key := range keys {
			all.Go(func() {
				for n := range each {
					s.spawn(key, fmt.Sprintf(`{"task":"[[sleep:1000]] part %d [[announce:part %d]]"}`, n, n))
				}
			})
		}
		all.Wait()
		time.Sleep(time.Hour)
		synctest.Wait()
		spawned, ended := map[string]bool{}, 0
		require.NoError(t, s.store.View(t.Context(), func(r core.Reader) error {
			return r.Runs("", func(run *core.Run) bool {
				if run.Kind == core.RunSpawn {
					spawned[run.ID] = true
				}
				if run.State == core.RunEnded && run.Outcome == core.OutcomeOK {
					ended++
				}
				return true
			})
		}))
		assert.Len(t, spawned, requesters*each)
		assert.Equal(t, 3*requesters*each, ended, "run, announce step and note of each")
		told := map[string]int{}
		page, err := s.as("").Records(t.Context(), core.RecordQuery{Kind: core.RecordDeliveries, Limit: 1000})
		require.NoError(t, err)
		for _, d := range page.Deliveries {
			told[d.RunID]++
			assert.Equal(t, core.DeliveryDelivered, d.State)
		}
		assert.Len(t, told, requesters*each)
		for id, n := range told {
			assert.True(t, spawned[id])
			assert.Equal(t, 1, n)
		}
		for _, key := range keys {
			assert.Len(t, s.transcript(key), each, "one note for each child of its own")
		}
	})
}

// The truth table of the sandbox: requester, target, what is asked, clamp and runtime. The guard asks about nothing but the sandboxes.
func TestSandboxTruthTable(t *testing.T) {
	for _, clamp := range []string{"spawned", "all"} {
		for _, runtime := range []string{`"echo"`, `{ type: "exec", command: ["true"] }`, `{ type: "acp", command: ["true"] }`} {
			config := fmt.Sprintf(`agents: { defaults: { sandbox: { sessionToolsVisibility: %q, command: ["true"] }, subagents: { allowAgents: ["*"] } }, list: [
				{ id: "open", runtime: %s }, { id: "all", runtime: %s, sandbox: { mode: "all" } }, { id: "part", runtime: %s, sandbox: { mode: "non-main" } } ] }`,
				clamp, runtime, runtime, runtime)
			play(t, config, []string{"agent:open:main", "agent:all:main", "agent:part:main", "agent:part:side"}, func(t *testing.T, s *stage) {
				for requester, boxed := range map[string]bool{"agent:open:main": false, "agent:all:main": true, "agent:part:main": false, "agent:part:side": true} {
					for target, safe := range map[string]bool{"open": false, "all": true, "part": true} {
						for _, asked := range []string{"inherit", "require"} {
							answer, code := s.call(requester, "sessions_spawn", fmt.Sprintf(`{"task":"x","agentId":%q,"sandbox":%q}`, target, asked))
							want := core.Code("")
							if !safe && (boxed || asked == "require") {
								want = core.CodeForbidden
							}
							assert.Equal(t, want, code, "%s → %s, %s, clamp %s, runtime %s: %v", requester, target, asked, clamp, runtime, answer)
						}
					}
				}
			})
		}
	}
}

// R104: a sandboxed session does not reach an unsandboxed one by way of a third either: neither through what it spawned nor through whom it
// wrote to.
func TestSandboxByAnyRoute(t *testing.T) {
	config := open + `, agents: { defaults: { sandbox: { sessionToolsVisibility: "all" }, subagents: { allowAgents: ["*"], maxSpawnDepth: 3 } }, list: [
		{ id: "open" }, { id: "boxed", sandbox: { mode: "all" } } ] }`
	play(t, config, []string{"agent:open:main", "agent:boxed:main"}, func(t *testing.T, s *stage) {
		const request = `[[tool:sessions_spawn {"task":"x","agentId":"open"}]]`
		answer, _ := s.tell("agent:boxed:main", "agent:open:main", request, 30)
		assert.Contains(t, answer["reply"], `"status":"forbidden"`, "%v", answer)
		assert.Contains(t, answer["reply"], "agent:boxed:main")
		_, reply := s.await(s.send("agent:open:main", request))
		assert.Contains(t, reply, `"status":"accepted"`, "of its own accord it may")

		_, run := s.spawn("agent:boxed:main", `{"task":`+jsonOf(t, request)+`}`)
		_, reply = s.await(run)
		assert.Contains(t, reply, `"status":"forbidden"`)
	})
}

// H298, K300-K302, R108: a sub-agent has no session tools, whoever brings the call, unless it is told so; deny wins.
func TestSubagentTools(t *testing.T) {
	all := []string{"sessions_list", "sessions_history", "sessions_send", "sessions_spawn", "agents_list"}
	for _, c := range []struct {
		config      string
		may, listed string
	}{
		{``, "", ""},
		{`tools: { subagents: { tools: { allow: ["sessions_send"] } } }`, "sessions_send", "sessions_send"},
		{`tools: { subagents: { tools: { allow: ["sessions_send", "sessions_list"], deny: ["sessions_send"] } } }`, "sessions_list", "sessions_list"},
		{`tools: { subagents: { tools: { allow: ["*"] } } }`, "sessions_list sessions_history sessions_send agents_list", "sessions_list sessions_history sessions_send agents_list"},
		{`tools: { subagents: { tools: { allow: [] } } }`, "", ""},
		{`agents: { defaults: { subagents: { maxSpawnDepth: 2 } } }`, "sessions_list sessions_history sessions_spawn agents_list", "sessions_list sessions_history sessions_spawn agents_list"},
		{`tools: { subagents: { tools: { deny: ["sessions_spawn"] } } }, agents: { defaults: { subagents: { maxSpawnDepth: 2 } } }`, "sessions_list sessions_history agents_list", "sessions_list sessions_history agents_list"},
	} {
		play(t, c.config, []string{mainKey}, func(t *testing.T, s *stage) {
			child, _ := s.spawn(mainKey, `{"task":"x"}`)
			later(time.Second)
			info, err := s.as(child).Info(t.Context())
			require.NoError(t, err)
			assert.Equal(t, strings.Fields(c.listed), strings.Fields(strings.Join(info.Tools, " ")), "%s: what a client is shown", c.config)
			for _, tool := range all {
				params := map[string]string{
					"sessions_history": `{"sessionKey":"` + child + `"}`, "sessions_send": `{"sessionKey":"` + child + `","message":"m","timeoutSeconds":0}`, "sessions_spawn": `{"task":"y"}`,
				}[tool]
				answer, code := s.call(child, tool, params)
				if strings.Contains(" "+c.may+" ", " "+tool+" ") {
					assert.Empty(t, code, "%s under %s: %v", tool, c.config, answer)
					continue
				}
				assert.Equal(t, core.CodeForbidden, code, "%s under %s", tool, c.config)
				assert.NotEmpty(t, answer["configKey"])
				_, reply := s.await(s.send(child, "[[tool:"+tool+" "+params+"]]"))
				assert.Contains(t, reply, "forbidden", "%s in its own run", tool)
			}
		})
	}
}
