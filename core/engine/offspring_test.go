package engine_test

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
)

// What a spawn would make is told before it is made, and every refusal beside its parameter (session-tools.md §8).
func TestOffspringOfASpawn(t *testing.T) {
	const chat, jailed, deep = "agent:main:chat:group:1", "agent:jailed:main", "agent:main:subagent:parent"
	stageWith(t, fleet, &carrier{}, func(t *testing.T, s *stage) {
		for _, row := range []core.Session{
			{Key: mainKey}, {Key: jailed}, {Key: deep, SpawnedBy: mainKey}, {Key: chat, LastChannel: "chat", LastTo: "1", LastAccountID: "a", SendPolicy: core.SendDeny},
		} {
			s.put(row)
		}
		before := s.everything()
		ask := func(as, params string) (core.Verdict, *core.Offspring) {
			x := s.explain(core.Question{Spawn: &core.SpawnQuestion{As: as, Params: json.RawMessage(params)}})
			return x.Verdict, x.Spawn
		}
		params := func(o *core.Offspring) (list []string) {
			for _, refused := range o.Refusals {
				list = append(list, refused.Param)
			}
			return list
		}

		verdict, o := ask("main", `{"task":"x"}`)
		assert.Equal(t, core.Verdict{Allowed: true, Rule: "own agent"}, verdict)
		assert.Equal(t, mainKey, o.Requester)
		assert.Equal(t, []string{"main", "ghost", "jailed", "reader", "research", "wire"}, o.Agents)
		assert.Equal(t, "main", o.Agent)
		assert.Equal(t, 0, o.Live)
		assert.Equal(t, 12, o.Most)
		assert.Nil(t, o.Route)
		assert.True(t, o.Announce)
		assert.True(t, o.Send.Allowed)
		assert.False(t, o.Sandboxed)
		assert.Contains(t, o.NoThread, "has none")
		assert.Empty(t, o.NoFiles)
		assert.Equal(t, []int64{3, 100, 150}, []int64{int64(o.MaxFiles), o.MaxFileBytes, o.MaxTotalBytes})

		verdict, o = ask(chat, `{"task":"x","agentId":"jailed","model":"m1","thinking":"high","thread":true,"runTimeoutSeconds":9}`)
		assert.True(t, verdict.Allowed, "%v", o.Refusals)
		assert.Equal(t, "allowAgents", verdict.Rule)
		assert.Equal(t, "p/m1 high 9", o.Model+" "+o.Thinking+" "+string(rune('0'+o.TimeoutSeconds)))
		assert.True(t, o.Sandboxed)
		assert.Equal(t, &core.DeliveryContext{Channel: "chat", To: "1", AccountID: "a"}, o.Route)
		assert.Equal(t, "session override", o.Send.Rule, "the announce would be blocked")
		assert.Empty(t, o.NoThread)

		_, o = ask(mainKey, `{"task":"x","agentId":"wire"}`)
		assert.Contains(t, o.NoFiles, "acp")
		_, o = ask(jailed, `{"task":"x","agentId":"research"}`)
		assert.Equal(t, jailed, o.Confined)
		assert.Equal(t, []string{"sandbox"}, params(o))

		verdict, o = ask(deep, `{"task":"x","agentId":"main","sandbox":"require","model":"no/such","thinking":"loud","thread":true,"attachments":[{"name":"..","content":""}]}`)
		assert.Equal(t, []string{"", "sandbox", "model", "thinking", "thread", "attachments"}, params(o))
		assert.Equal(t, "agents.defaults.subagents.maxSpawnDepth", verdict.ConfigKey)
		_, o = ask(mainKey, `{"task":"x","agentId":"other","model":"no/such"}`)
		assert.Equal(t, []string{"agentId"}, params(o), "of a child that may not be nothing is known")
		assert.Empty(t, o.Agent)
		for param, text := range map[string]string{
			"mode": `{"task":"x","mode":"session"}`, "runTimeoutSeconds": `{"task":"x","runTimeoutSeconds":-1}`, "task": `{}`,
		} {
			_, o = ask(mainKey, text)
			assert.Equal(t, []string{param}, params(o))
			assert.Equal(t, 12, o.Most, "what hangs on no parameter is told all the same")
		}
		_, err := s.as("").Explain(t.Context(), core.Question{Spawn: &core.SpawnQuestion{As: "agent:main:nobody", Params: json.RawMessage(`{"task":"x"}`)}})
		require.Error(t, err)
		assert.Equal(t, before, s.everything(), "asking changes nothing")

		s.spawn(mainKey, `{"task":"[[sleep:60s]]"}`)
		_, o = ask(mainKey, `{"task":"x"}`)
		assert.Equal(t, 1, o.Live)
	})
}
