package key_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cordboard/core"
	"cordboard/core/key"
	"cordboard/core/proptest"
)

// Every session of a recorded OpenClaw state directory: what its row stores, and the kind and channel that follow.
func TestKindAndChannelOfARecordedFleet(t *testing.T) {
	rows := []struct {
		key     string
		stored  core.Session
		kind    core.Kind
		channel string
	}{
		{"agent:ghost:subagent:a791c011-9a12-4507-800d-117e256c493f", core.Session{}, "other", "unknown"},
		{"agent:main:main", core.Session{ChatType: "direct", Channel: "webchat", LastChannel: "webchat"}, "main", "webchat"},
		{"agent:main:stream", core.Session{ChatType: "direct", Channel: "webchat", LastChannel: "webchat"}, "other", "webchat"},
		{"agent:main:ab", core.Session{ChatType: "direct", LastChannel: "webchat"}, "other", "webchat"},
		{"agent:main:fail", core.Session{ChatType: "direct", LastChannel: "webchat"}, "other", "webchat"},
		{"agent:main:agt", core.Session{}, "other", "unknown"},
		{"agent:main:q", core.Session{ChatType: "direct", LastChannel: "webchat"}, "other", "webchat"},
		{"agent:main:req1", core.Session{Channel: "webchat", LastChannel: "webchat"}, "other", "webchat"},
		{"agent:main:pp", core.Session{Channel: "webchat", LastChannel: "webchat"}, "other", "webchat"},
		{"agent:main:subagent:c071f3a3-266a-4087-bb2d-c4a98d6a6262", core.Session{}, "other", "unknown"},
		{"agent:main:parent", core.Session{}, "other", "unknown"},
		{"agent:main:subagent:d986f246-d5ec-4213-ab0e-a9aea315aa94", core.Session{}, "other", "unknown"},
		{"agent:main:subagent:83e7a058-70b9-42c6-95fc-a14f14244d66", core.Session{}, "other", "unknown"},
		{"agent:main:drv", core.Session{ChatType: "direct", LastChannel: "webchat"}, "other", "webchat"},
		{"agent:main:subagent:d2fbc54a-c5ef-48ee-82f8-8da23ff0ae47", core.Session{Channel: "webchat", LastChannel: "webchat"}, "other", "webchat"},
		{"agent:main:pp2", core.Session{Channel: "webchat", LastChannel: "webchat"}, "other", "webchat"},
		{"agent:main:telegram:group:-100", core.Session{Channel: "webchat", LastChannel: "webchat"}, "group", "webchat"},
		{"agent:main:pp3", core.Session{Channel: "webchat", LastChannel: "webchat"}, "other", "webchat"},
		{"agent:work:main", core.Session{Channel: "webchat", LastChannel: "webchat"}, "main", "webchat"},
		{"agent:work:failing", core.Session{Channel: "webchat", LastChannel: "webchat"}, "other", "webchat"},
		{"agent:work:brandnew", core.Session{Channel: "webchat", LastChannel: "webchat"}, "other", "webchat"},
		{"agent:work:pp", core.Session{Channel: "webchat", LastChannel: "webchat"}, "other", "webchat"},
		{"agent:work:pp2", core.Session{Channel: "webchat", LastChannel: "webchat"}, "other", "webchat"},
	}
	n := names("", "")
	for _, row := range rows {
		kind := n.Kind(row.key, row.stored.ChatType)
		assert.Equal(t, row.kind, kind, row.key)
		last := key.Delivery(&row.stored).Channel
		assert.Equal(t, row.channel, key.ChannelField(kind, row.stored.Channel, last, row.key), row.key)
		assert.NoError(t, key.Valid(row.key))
		assert.Equal(t, row.key, n.Canonical(row.key, ""), "keys of a state directory are canonical")
	}
}

var (
	fullKey    = regexp.MustCompile(`(?is)^agent:([a-z0-9][a-z0-9_-]{0,63}):(.+)$`)
	agentStart = regexp.MustCompile(`(?i)^agent:`)
	kindWords  = []struct {
		kind core.Kind
		word *regexp.Regexp
	}{
		{core.KindCron, regexp.MustCompile(`(?i)^cron:`)},
		{core.KindHook, regexp.MustCompile(`(?i)^hook:`)},
		{core.KindNode, regexp.MustCompile(`(?i)^node[-:]`)},
		{core.KindGroup, regexp.MustCompile(`(?i):(group|channel):`)},
	}
	suffix = regexp.MustCompile(`(?is)^(.+):(thread|topic):.*$`)
)

// The scanner of this package says what the grammar written as patterns says.
func TestScannerAgreesWithPatterns(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		text := strings.TrimSpace(genText.Filter(asciiFolding).Draw(t, "key"))
		rest, agent, malformed := text, "", false
		if m := fullKey.FindStringSubmatch(text); m != nil {
			agent, rest = strings.ToLower(m[1]), m[2]
		} else if agentStart.MatchString(text) {
			malformed, rest = true, ""
		}
		require.Equal(t, malformed, key.Shape(text) == key.ShapeMalformed)
		require.Equal(t, agent, key.AgentID(text))

		want := core.KindOther
		for i := len(kindWords) - 1; i >= 0; i-- {
			if kindWords[i].word.MatchString(rest) {
				want = kindWords[i].kind
			}
		}
		require.Equal(t, want, key.BaseKind(text, ""))

		parent := ""
		if m := suffix.FindStringSubmatch(rest); m != nil {
			parent = strings.TrimSpace(strings.TrimSuffix(text, rest) + m[1])
		}
		require.Equal(t, parent, key.ThreadParent(text))
		require.Equal(t, strings.Count(strings.ToLower(text), ":subagent:"), key.SubagentDepth(text))
	})
}

// asciiFolding leaves out the letters that a pattern without case takes for k and s.
func asciiFolding(s string) bool { return !strings.ContainsAny(s, "ſ\u212a") }
