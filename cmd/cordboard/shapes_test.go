package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// README tells the members of what each verb prints with --json; nothing else is in there, and every line of the table is looked at.
func TestJSONIsAsREADMESays(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	table := string(readme)
	table = table[strings.Index(table, "With `--json`, times"):]
	table = table[:strings.Index(table, "Members without a value")]
	shape := regexp.MustCompile("`\\{([a-zA-Z, ]+)\\}`")
	documented := map[string][]string{}
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z ]+)` \\| (.*) \\|$").FindAllStringSubmatch(table, -1) {
		for _, members := range shape.FindAllStringSubmatch(row[2], -1) {
			documented[row[1]] = append(documented[row[1]], members[1])
		}
	}

	store := filepath.Join(t.TempDir(), "D")
	_, code := cordboard(t, "import", "../../testdata/openclaw", "--data", store, "--config", "")
	require.Zero(t, code)
	typo := filepath.Join(t.TempDir(), "typo.json5")
	require.NoError(t, os.WriteFile(typo, []byte(`{ ui: { fsp: 30 } }`), 0o600))
	const mira = "agent:main:main"
	t.Cleanup(func() { stopOwners(t, filepath.Dir(filepath.Dir(store))) })
	made, code := cordboard(t, "new", "--data", store, "--config", "")
	require.Zero(t, code)
	made = strings.TrimSpace(made)
	seen := map[string]bool{}
	for _, c := range []struct {
		verb string
		nth  int // of the shapes in its row
		args []string
		code int
	}{
		{"list", 0, []string{"list"}, 0},
		{"list", 0, []string{"list", "--kinds", "node", "--active", "1", "--as", mira}, 0},
		{"list", 1, []string{"list", "--agent", "ops"}, 0},
		{"show", 0, []string{"show", "agent:ops:main"}, 0},
		{"show", 0, []string{"show", "agent:main:subagent:4df511fc-771d-42b2-a7e1-6a3a829d2b43"}, 0},
		{"history", 0, []string{"history", mira}, 0},
		{"runs", 0, []string{"runs"}, 0},
		{"deliveries", 0, []string{"deliveries"}, 0},
		{"policy get", 0, []string{"policy", "get", mira}, 0},
		{"policy explain", 0, []string{"policy", "explain", mira, "--override", "deny"}, 0},
		{"exchange", 0, []string{"exchange"}, 0},
		{"hold", 0, []string{"hold"}, 0},
		{"usage", 0, []string{"usage"}, 0},
		{"inbound", 0, []string{"inbound", "--channel", "chat", "--chat-type", "group", "--id", "g", "hello"}, 0},
		{"spawn", 0, []string{"spawn", "--as", made, "do it"}, 0},
		{"spawn", 1, []string{"spawn", "--as", made, "do it", "--dry-run"}, 0},
		{"status", 0, []string{"status"}, 0},
		{"search", 0, []string{"search", "rollback"}, 0},
		{"agents", 0, []string{"agents"}, 0},
		{"agents", 1, []string{"agents", "--as", mira}, 0},
		{"call", 0, []string{"call", "sessions_history", `{"sessionKey":"agent:ops:main"}`, "--as", mira}, 4},
		{"config check", 0, []string{"config", "check"}, 0},
		{"config check", 0, []string{"config", "check", typo}, 1},
		{"config show", 0, []string{"config", "show", "ui"}, 0},
	} {
		out, code := cordboard(t, append(c.args, "--json", "--data", store, "--config", "")...)
		require.Equal(t, c.code, code, c.args)
		require.Greater(t, len(documented[c.verb]), c.nth, "README has no shape for %s", c.verb)
		may := strings.Split(documented[c.verb][c.nth], ", ")
		seen[c.verb] = true
		for _, name := range membersOf(t, out) {
			assert.Contains(t, may, name, "%v", c.args)
		}
	}
	for verb := range documented {
		assert.True(t, seen[verb], "README tells the shape of %s and no row here looks at it", verb)
	}
}

// Every verb is in README's table of verbs.
func TestREADMENamesEveryVerb(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	table := string(readme)
	table = table[strings.Index(table, "| verb | what |"):strings.Index(table, "A KEY is a session key")]
	root := newRoot(&app{})
	root.InitDefaultHelpCmd()
	root.InitDefaultCompletionCmd()
	for _, verb := range root.Commands() {
		assert.Regexp(t, "`"+verb.Name()+"[ `]", table, "README does not name %s", verb.Name())
	}
}

// membersOf names the members of what was printed: of the first object in it.
func membersOf(t *testing.T, out string) (names []string) {
	t.Helper()
	start := strings.IndexByte(out, '{')
	require.GreaterOrEqual(t, start, 0, out)
	var object map[string]json.RawMessage
	require.NoError(t, json.NewDecoder(strings.NewReader(out[start:])).Decode(&object), out)
	for name := range object {
		names = append(names, name)
	}
	return names
}

// The config that README shows is one.
func TestREADMEsConfigIsOne(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	_, text, found := strings.Cut(string(readme), "## Config\n")
	require.True(t, found)
	_, text, _ = strings.Cut(text, "```json5\n")
	text, _, found = strings.Cut(text, "```\n")
	require.True(t, found)
	file := filepath.Join(t.TempDir(), "readme.json5")
	require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
	out, code := cordboard(t, "config", "check", file)
	assert.Zero(t, code, out)
	assert.NotContains(t, out, "no effect")
}
