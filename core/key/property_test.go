package key_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cordboard/core"
	"cordboard/core/key"
	"cordboard/core/proptest"
)

// genText draws keys of the grammar, near misses of it, and arbitrary text.
var genText = rapid.OneOf(
	rapid.Custom(func(t *rapid.T) string {
		word := rapid.SampledFrom([]string{
			"agent", "AGENT", "main", "MAIN", "work", "ops", "group", "channel", "direct", "dm", "cron", "hook",
			"node", "node-x", "subagent", "thread", "topic", "global", "unknown", "discord", "!AbC", "ſ", "\u212a", "", " ", "\x00",
		})
		return strings.Join(rapid.SliceOfN(word, 0, 7).Draw(t, "words"), ":")
	}),
	rapid.String(),
)

var genNames = rapid.Custom(func(t *rapid.T) key.Names {
	return key.NewNames(core.Naming{
		MainKey:      rapid.SampledFrom([]string{"", "main", "Work", " ops ", "a:b"}).Draw(t, "mainKey"),
		DefaultAgent: rapid.SampledFrom([]string{"", "ops", "Main"}).Draw(t, "defaultAgent"),
		Global:       rapid.Bool().Draw(t, "global"),
	}, rapid.SampledFrom(key.DMScopes).Draw(t, "dm"))
})

var genCaller = rapid.SampledFrom([]string{"", "main", "ops", "Work"})

func TestKeysHoldTheirProperties(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		checkKey(t, genNames.Draw(t, "names"), genText.Draw(t, "key"), genCaller.Draw(t, "caller"))
	})
}

func FuzzKey(f *testing.F) {
	for _, c := range kindCases {
		f.Add(c.key, "main", "", false)
	}
	f.Add("AGENT:Main:Hook:Webhook:42", "ops", " Primary ", true)
	f.Add("agent:main:x:thread:1:topic:2", "", "main", false)
	f.Fuzz(func(t *testing.T, text, caller, mainKey string, global bool) {
		if !key.ValidAgentID(caller) {
			caller = ""
		}
		checkKey(t, key.NewNames(core.Naming{MainKey: mainKey, DefaultAgent: "ops", Global: global}, key.DMPerPeer), text, caller)
	})
}

// checkKey is what holds for every text under every configuration.
func checkKey(t require.TestingT, n key.Names, text, caller string) {
	canonical := n.Canonical(text, caller)
	require.Equal(t, canonical, n.Canonical(canonical, caller), "canonical is idempotent")
	require.Equal(t, canonical, n.Canonical(n.Display(canonical, caller), caller), "display and back")
	require.Contains(t, core.Kinds, n.Kind(text, ""))
	require.Equal(t, n.Kind(text, core.ChatGroup) == core.KindMain, n.IsMain(text), "main does not hang on the chat type")
	require.NotEmpty(t, key.ChannelField(n.Kind(text, ""), "", "", text))
	checkRest(t, n, text, canonical)

	parts, ok := key.Parse(text)
	shape := key.Shape(text)
	require.Equal(t, shape == key.ShapeAgent || shape == key.ShapeBare, ok)
	require.True(t, strings.HasSuffix(strings.TrimSpace(text), parts.Rest))
	if parts.Parent != "" {
		require.True(t, strings.HasPrefix(strings.TrimSpace(text), parts.Parent))
		require.Less(t, len(parts.Parent), len(text))
	}
	lookup, err := n.Lookup(text, caller)
	if err == nil && !n.Reserved(lookup.Input) {
		require.Contains(t, lookup.Keys, canonical)
		require.True(t, n.IsMain(canonical) || lookup.Keys[0] == lookup.Input, "a key is looked for as written first")
	}
}

// checkRest holds the canonical form to the bytes that were given.
func checkRest(t require.TestingT, n key.Names, text, canonical string) {
	trimmed := strings.TrimSpace(text)
	if n.IsMain(canonical) || n.Reserved(trimmed) {
		return
	}
	given, ok := key.Parse(trimmed)
	if !ok {
		require.Equal(t, trimmed, canonical)
		return
	}
	require.True(t, strings.HasSuffix(canonical, ":"+given.Rest), "%q lost bytes of %q", canonical, given.Rest)
}

// What a list shows must be readable: every stored key is found again by the form its viewer sees.
func TestWhatDisplayShowsLookupFinds(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		n, caller := genNames.Draw(t, "names"), genCaller.Draw(t, "caller")
		stored := genText.Filter(func(s string) bool { return key.Valid(s) == nil && !n.Reserved(s) }).Draw(t, "stored")
		if n.IsMain(n.Canonical(stored, "")) && key.Shape(stored) == key.ShapeBare {
			caller = n.DefaultAgent() // a stored bare `main` can be meant by its own agent only
		}
		shown := n.Display(stored, caller)
		l, err := n.Lookup(shown, caller)
		require.NoError(t, err)
		assert.True(t, slices.Contains(l.Keys, stored), "%q is shown as %q, which means %q", stored, shown, l.Keys)
	})
}
