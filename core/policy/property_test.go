package policy_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cordboard/core"
	"cordboard/core/key"
	"cordboard/core/policy"
	"cordboard/core/proptest"
)

var (
	genAgent = rapid.SampledFrom([]string{"main", "ops", "ghost"})
	genKey   = rapid.Custom(func(t *rapid.T) string {
		rest := rapid.SampledFrom([]string{"main", "work", "x", "subagent:1", "telegram:group:1", "cron:1"}).Draw(t, "rest")
		return rapid.SampledFrom([]string{"agent:main:", "agent:ops:", "agent:ghost:", ""}).Draw(t, "agent") + rest
	})
	genTarget = rapid.OneOf(genKey, rapid.SampledFrom([]string{"global", "unknown"}))
	genBox    = rapid.Custom(func(t *rapid.T) policy.Sandbox {
		return policy.Sandbox{
			Mode:  rapid.SampledFrom([]policy.SandboxMode{"", "off", "all", "non-main"}).Draw(t, "mode"),
			Clamp: rapid.SampledFrom([]policy.Clamp{"", "spawned", "all"}).Draw(t, "clamp"),
		}
	})
	genRules = rapid.Custom(func(t *rapid.T) *policy.Rules {
		r := &policy.Rules{
			Names: key.NewNames(core.Naming{
				MainKey:      rapid.SampledFrom([]string{"", "work"}).Draw(t, "mainKey"),
				DefaultAgent: genAgent.Draw(t, "default"),
				Global:       rapid.Bool().Draw(t, "global"),
			}, ""),
			Visibility: rapid.SampledFrom(append([]core.Visibility{""}, core.Visibilities...)).Draw(t, "visibility"),
			AgentToAgent: policy.AgentToAgent{
				Enabled: rapid.Bool().Draw(t, "enabled"),
				Allow:   rapid.SliceOfN(rapid.SampledFrom([]string{"*", "main", "OPS", "g*t", "", "m*"}), 0, 3).Draw(t, "allow"),
			},
			Sandbox: genBox.Draw(t, "sandbox"),
		}
		for _, id := range rapid.SliceOfNDistinct(genAgent, 0, 3, rapid.ID).Draw(t, "agents") {
			r.Agents = append(r.Agents, policy.Agent{ID: id, Sandbox: genBox.Draw(t, "own sandbox")})
		}
		return r
	})
)

func with(r *policy.Rules, v core.Visibility) *policy.Rules {
	changed := *r
	changed.Visibility = v
	return &changed
}

func TestPredicateHoldsItsProperties(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		r, caller := genRules.Draw(t, "rules"), genKey.Draw(t, "caller")
		target := policy.Target{Key: genTarget.Draw(t, "target"), SpawnedBy: rapid.OneOf(rapid.Just(""), rapid.Just(caller), genKey).Draw(t, "parent")}
		view := r.View(caller)
		verdict := view.See(target)

		require.Equal(t, verdict.Allowed, view.Allows(target.Key, target.SpawnedBy), "one predicate")
		require.Equal(t, verdict.Allowed, view.Refuse(target) == nil)
		require.Equal(t, verdict, r.View(caller).See(target), "no state")
		require.Equal(t, verdict.Allowed, verdict.Message == "")
		require.True(t, view.Allows(caller, ""), "the caller sees itself")
		require.Equal(t, !r.Names.Reserved(target.Key), r.View("").Allows(target.Key, target.SpawnedBy), "the operator sees everything")

		sees := func(v core.Visibility) bool { return with(r, v).View(caller).Allows(target.Key, target.SpawnedBy) }
		require.True(t, !sees("self") || sees("tree"), "tree is wider than self")
		require.True(t, !sees("tree") || sees("all"), "all is wider than tree")
		require.True(t, !sees("self") || sees("agent"), "agent is wider than self")
		require.True(t, !sees("agent") || sees("all"), "all is wider than agent")

		open := *r
		open.Sandbox, open.Agents = policy.Sandbox{}, nil
		free := open.View(caller).Allows(target.Key, target.SpawnedBy)
		clamped := view.Scope().ClampedBy != ""
		child := target.SpawnedBy == caller
		require.True(t, !verdict.Allowed || free || clamped && child, "a sandbox widens nothing but agent to one's own children")
		require.True(t, !clamped || !verdict.Allowed || target.Key == caller || child, "a clamped caller sees its tree")
		if r.Visibility == core.VisibilitySelf {
			require.Equal(t, target.Key == caller, verdict.Allowed, "self is never widened")
		}
	})
}

// Nothing in a refusal depends on what is stored about the target, so it reads the same for a session that does not exist.
func TestRefusalsLeakNothing(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		view := genRules.Draw(t, "rules").View(genKey.Draw(t, "caller"))
		target := genTarget.Draw(t, "target")
		stored := view.See(policy.Target{Key: target, SpawnedBy: genKey.Draw(t, "parent")})
		if !stored.Allowed {
			require.Equal(t, view.See(policy.Target{Key: target}), stored)
		}
	})
}

func TestCrossAgentRefusalsNameBothKeys(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		r, caller, target := genRules.Draw(t, "rules"), genKey.Draw(t, "caller"), genKey.Draw(t, "target")
		verdict := r.View(caller).See(policy.Target{Key: target})
		if verdict.Allowed {
			return
		}
		assert.NotEmpty(t, verdict.ConfigKey)
		assert.Contains(t, verdict.Message, "tools.sessions.visibility")
		assert.Equal(t, r.Names.AgentOf(caller) != r.Names.AgentOf(target), strings.Contains(verdict.Message, "tools.agentToAgent"), verdict.Message)
		assert.Equal(t, r.View(caller).Scope().ClampedBy != "", strings.Contains(verdict.Message, "sandbox.sessionToolsVisibility"), verdict.Message)
	})
}

func TestAllowGlobs(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		pattern := rapid.StringMatching(`[ab*]{1,6}`).Draw(t, "pattern")
		id := rapid.StringMatching(`[abAB]{1,8}`).Draw(t, "id")
		want := regexp.MustCompile("(?i)^" + strings.ReplaceAll(pattern, "*", ".*") + "$").MatchString(id)
		r := rules("all", pattern, "caller")
		require.Equal(t, want, r.View("agent:caller:x").Allows("agent:"+id+":x", ""), "%q on %q", pattern, id)
	})
}

func TestSendPolicyHoldsItsProperties(t *testing.T) {
	genMatch := rapid.Custom(func(t *rapid.T) policy.SendMatch {
		return policy.SendMatch{
			Channel:      rapid.SampledFrom([]string{"", "telegram", "Slack"}).Draw(t, "channel"),
			ChatType:     rapid.SampledFrom([]core.ChatType{"", "direct", "group"}).Draw(t, "chatType"),
			KeyPrefix:    rapid.SampledFrom([]string{"", "", "cron:", "agent:main:"}).Draw(t, "keyPrefix"),
			RawKeyPrefix: rapid.SampledFrom([]string{"", "", "agent:ops:"}).Draw(t, "rawKeyPrefix"),
		}
	})
	genAction := rapid.SampledFrom([]core.SendPolicy{"allow", "deny"})
	proptest.Check(t, func(t *rapid.T) {
		r := &policy.Rules{Send: policy.SendPolicy{Default: genAction.Draw(t, "default")}}
		for range rapid.IntRange(0, 4).Draw(t, "n") {
			r.Send.Rules = append(r.Send.Rules, policy.SendRule{Match: genMatch.Draw(t, "match"), Action: genAction.Draw(t, "action")})
		}
		s := policy.Sending{Key: genKey.Draw(t, "key"), Channel: rapid.SampledFrom([]string{"", "slack", "telegram"}).Draw(t, "channel")}
		verdict := r.MaySend(s)

		backwards := *r
		backwards.Send.Rules = nil
		for _, rule := range r.Send.Rules {
			backwards.Send.Rules = append([]policy.SendRule{rule}, backwards.Send.Rules...)
		}
		require.Equal(t, verdict.Allowed, backwards.MaySend(s).Allowed, "the order of rules does not matter")

		r.Send.Rules = append(r.Send.Rules, policy.SendRule{Action: core.SendDeny})
		require.False(t, r.MaySend(s).Allowed, "an empty deny matches everything")
		s.Override = core.SendAllow
		require.True(t, r.MaySend(s).Allowed, "the override goes first")
	})
}
