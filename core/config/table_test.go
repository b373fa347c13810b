package config

import (
	"encoding/json"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cordboard/core/proptest"
)

// fieldPaths lists the path of every field of a type, as a row of the table would name it.
func fieldPaths(t reflect.Type, at string) []string {
	switch {
	case t.Kind() == reflect.Pointer:
		return fieldPaths(t.Elem(), at)
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Struct:
		return fieldPaths(t.Elem(), at+"[]")
	case t.Kind() == reflect.Map && t.Elem().Kind() == reflect.Struct:
		return fieldPaths(t.Elem(), at+".*")
	case t.Kind() != reflect.Struct || t == reflect.TypeFor[time.Duration]():
		return []string{at}
	}
	var paths []string
	for f := range t.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" { // embedded
			paths = append(paths, fieldPaths(f.Type, at)...)
		} else {
			paths = append(paths, fieldPaths(f.Type, join(at, name))...)
		}
	}
	return paths
}

func TestEveryFieldHasARow(t *testing.T) {
	var rows []string
	for _, row := range keyRows() {
		rows = append(rows, row.path)
		assert.NotEmpty(t, row.effect, row.path)
	}
	assert.ElementsMatch(t, fieldPaths(reflect.TypeFor[Config](), ""), rows)
}

// The file sets every key, none to its default: so every row can be read, fits its field, and is shown with its place.
func TestEveryKeyIsReadAndShown(t *testing.T) {
	c, report, err := Load("testdata/every-key.json5")
	require.NoError(t, err)
	assert.Empty(t, report.NoEffect)
	unset := map[string]bool{}
	for _, row := range keyRows() {
		unset[row.path] = true
	}
	defaults := map[string]json.RawMessage{}
	for _, row := range Show(Default(), Report{}) {
		defaults[row.Key] = row.Value
	}
	for _, row := range Show(c, report) {
		if strings.HasPrefix(row.Source, report.File+":") {
			delete(unset, patternOf(row.Key))
			assert.NotEqual(t, string(defaults[row.Key]), string(row.Value), row.Key)
		}
	}
	assert.Empty(t, unset, "keys that the file does not set")

	var listed []string
	for _, e := range report.NotYet {
		listed = append(listed, patternOf(e.Key))
	}
	for _, row := range notYetRows() {
		n := tree().find(row.path)
		inside := slices.ContainsFunc(listed, func(path string) bool { return path == row.path })
		assert.True(t, inside, "%s is set and not built, but not listed", n.path)
	}
}

// patternOf makes a path of testdata/every-key.json5 a path of the table.
func patternOf(path string) string {
	path = strings.NewReplacer("[0]", "[]", "[1]", "[]").Replace(path)
	parts := strings.Split(path, ".")
	for i := range parts {
		above := strings.Join(parts[:i], ".")
		if above == "models.providers" || above == "mcp.servers" || above == "channels" {
			parts[i] = "*"
		}
	}
	return strings.Join(parts, ".")
}

// Whatever the key, a value of a wrong type is one mistake that names the key and what it takes.
func TestEveryKeyRefusesWrongValues(t *testing.T) {
	for _, row := range keyRows() {
		for _, wrong := range []string{"null", "-1.5"} {
			text, path := wrong, strings.NewReplacer("[]", "[0]", "*", "x").Replace(row.path)
			for rest := row.path; rest != ""; {
				i := strings.LastIndexAny(rest, ".[")
				switch part := rest[i+1:]; {
				case part == "]":
					text = "[" + text + "]"
				case part == "*":
					text = "{x: " + text + "}"
				default:
					text = "{" + part + ": " + text + "}"
				}
				rest = rest[:max(i, 0)]
			}
			_, _, err := Parse("f", []byte(text))
			require.Error(t, err, text)
			problems := err.(Problems)
			require.Len(t, problems, 1, "%s: %v", text, err)
			assert.Equal(t, path, problems[0].Key)
			assert.True(t, strings.HasPrefix(problems[0].Message, "must be "+row.kind.want+", not "), problems[0].Message)
			assert.Equal(t, row.kind.allowed, problems[0].Allowed)
		}
	}
}

// What the file says is what is shown, for any values in range.
func TestWhatIsReadIsShown(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		turns, hops := rapid.IntRange(0, 5).Draw(t, "turns"), rapid.IntRange(1, 64).Draw(t, "hops")
		hours := rapid.Float64Range(0, 876_000).Draw(t, "hours")
		drain := time.Duration(rapid.Int64Range(0, int64(1e15)).Draw(t, "drain"))
		owners := rapid.SliceOfN(rapid.StringMatching(`[a-zA-Z0-9@+ü<>"-]{1,8}`), 0, 4).Draw(t, "owners")
		text, err := json.Marshal(map[string]any{
			"session": map[string]any{
				"agentToAgent":   map[string]any{"maxPingPongTurns": turns, "maxHops": hops},
				"threadBindings": map[string]any{"idleHours": hours},
			},
			"engine":   map[string]any{"drain": drain.String()},
			"channels": map[string]any{"a.b[0]": map[string]any{"owners": owners}},
		})
		require.NoError(t, err)
		c, report, err := Parse("f", text)
		require.NoError(t, err)
		for key, want := range map[string]any{
			"session.agentToAgent.maxPingPongTurns": turns, "session.agentToAgent.maxHops": hops, "session.threadBindings.idleHours": hours,
			"engine.drain": drain.String(), `channels["a.b[0]"].owners`: owners,
		} {
			rows, err := Explain(c, report, key)
			require.NoError(t, err)
			wanted, err := json.Marshal(want)
			require.NoError(t, err)
			require.JSONEq(t, string(wanted), string(rows[0].Value), key)
			require.True(t, strings.HasPrefix(rows[0].Source, "f:1:"), rows[0].Source)
		}
	})
}

func TestNotYetRowsNameKeys(t *testing.T) {
	rows := notYetRows()
	for i, row := range rows {
		require.NotNil(t, tree().find(row.path), row.path)
		assert.NotEmpty(t, row.feature)
		for _, other := range rows[i+1:] {
			assert.False(t, under(other.path, row.path) || under(row.path, other.path), "%s and %s", row.path, other.path)
		}
	}
	built := lists(`session.scope session.mainKey session.dmScope session.sendPolicy.default session.sendPolicy.rules[].match.channel
		tools.sessions.visibility tools.agentToAgent.enabled tools.agentToAgent.allow agents.list[].id agents.list[].default
		agents.list[].name agents.list[].model.primary agents.list[].subagents.allowAgents agents.defaults.sandbox.mode
		agents.list[].sandbox.sessionToolsVisibility logging.redactSensitive logging.redactPatterns ui.theme
		session.agentToAgent.maxPingPongTurns agents.defaults.maxConcurrent agents.defaults.timeoutSeconds agents.defaults.maxToolCalls
		agents.list[].runtime.type agents.list[].systemPrompt models.providers.*.baseUrl channels.*.type channels.*.owners engine.drain
		mcp.servers.*.command mcp.servers.*.env mcp.servers.*.url tools.subagents.tools.allow tools.subagents.tools.deny
		session.threadBindings.idleHours tools.sessions_spawn.attachments.maxFiles channels.*.threads
		agents.defaults.subagents.announce agents.list[].subagents.model.primary`)
	for _, path := range built {
		for _, row := range rows {
			assert.False(t, under(path, row.path), "%s is built", path)
		}
	}
}

func lists(text string) []string { return strings.Fields(text) }

// A key is ours or OpenClaw's, never both; the places of OpenClaw's keys are places of the table.
func TestForeignKeysAreNotOurs(t *testing.T) {
	root, names := tree(), foreignKeys()
	for at, keys := range names {
		n := root.find(at)
		if n == nil {
			n = root.find(strings.Replace(at, at[strings.LastIndexByte(at, '.')+1:], "*", 1))
		}
		require.NotNil(t, n, at)
		assert.Len(t, slices.Compact(slices.Sorted(slices.Values(keys))), len(keys), "%s names a key twice", at)
		for _, key := range keys {
			assert.Nil(t, n.field(key), "%s.%s is ours", at, key)
		}
	}
	for path := range foreignNotes() {
		_, name := path[:strings.LastIndexByte(path, '.')+1], path[strings.LastIndexByte(path, '.')+1:]
		assert.Contains(t, names[strings.TrimSuffix(path, "."+name)], name, path)
	}
	for _, form := range foreignForms() {
		assert.NotNil(t, root.find(form.path), form.path)
	}
}

// Whatever the text, Parse either gives a Config that Show can show, or mistakes that have a place.
func FuzzParse(f *testing.F) {
	for _, name := range []string{"testdata/every-key.json5", "testdata/openclaw.json5"} {
		text, err := os.ReadFile(name)
		require.NoError(f, err)
		f.Add(text)
	}
	f.Add([]byte(`{agents: {list: [{}, 7, {id: "a", model: {}, runtime: {}}]}, channels: {telegram: {type: 1}}, models: {providers: {x: 1}}}`))
	f.Add([]byte(`{agents: {defaults: {model: "x", runtime: null}}, mcp: {servers: {a: {}}}, logging: {level: "trace"}, tools: {agentToAgent: {allow: {}}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, report, err := Parse("f", text)
		if err == nil {
			require.NotEmpty(t, Show(c, report))
			require.NotEmpty(t, c.DefaultAgent())
			return
		}
		require.Nil(t, c)
		for _, p := range err.(Problems) {
			require.True(t, p.Line > 0 && p.Col > 0 || strings.Contains(p.Message, "more mistakes"), p.Error())
		}
	})
}
