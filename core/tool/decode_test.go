package tool_test

import (
	"encoding/json"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cordboard/core"
	"cordboard/core/proptest"
	"cordboard/core/tool"
)

func refusal(t *testing.T, err error) *core.Error {
	t.Helper()
	var refused *core.Error
	require.ErrorAs(t, err, &refused)
	return refused
}

func TestDecodeList(t *testing.T) {
	plain := tool.List{Limit: 200}
	with := func(change func(*tool.List)) tool.List {
		l := plain
		change(&l)
		return l
	}
	for _, c := range []struct {
		name, raw string
		want      tool.List
		clamped   tool.Clamped
	}{
		{"nothing at all", ``, plain, nil},
		{"null", ` null `, plain, nil},
		{"empty", ` {} `, plain, nil},
		{"null is absent", `{"kinds":null,"limit":null,"activeMinutes":null,"messageLimit":null,"includeArchived":null,"before":null}`, plain, nil},
		{"D89 kinds are trimmed and folded", `{"kinds":["  GROUP ","group","Cron"]}`, with(func(l *tool.List) { l.Kinds = []core.Kind{core.KindGroup, core.KindCron} }), nil},
		{"no kinds is all", `{"kinds":[]}`, plain, nil},
		{"D90 messageLimit 50", `{"messageLimit":50}`, with(func(l *tool.List) { l.MessageLimit = 20 }), tool.Clamped{"messageLimit": 20}},
		{"messageLimit 0", `{"messageLimit":0}`, plain, nil},
		{"minus zero", `{"messageLimit":-0}`, plain, nil},
		{"limit above", `{"limit":201}`, plain, tool.Clamped{"limit": 200}},
		{
			"limit far above", `{"limit":1e400,"activeMinutes":1e300}`, with(func(l *tool.List) { l.ActiveMinutes = tool.ActiveMinutes }),
			tool.Clamped{"limit": 200, "activeMinutes": tool.ActiveMinutes},
		},
		{"fractions are floored", `{"limit":2.99,"activeMinutes":1.5,"messageLimit":0.9}`, with(func(l *tool.List) { l.Limit, l.ActiveMinutes = 2, 1 }), nil},
		{"a fraction above the maximum is floored first", `{"limit":200.5}`, plain, nil},
		{"exponent", `{"limit":1.5E1}`, with(func(l *tool.List) { l.Limit = 15 }), nil},
		{"archived", `{"includeArchived":true}`, with(func(l *tool.List) { l.IncludeArchived = true }), nil},
		{"escaped name", `{"l\u0069mit":3}`, with(func(l *tool.List) { l.Limit = 3 }), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, clamped, err := tool.DecodeList(json.RawMessage(c.raw))
			require.NoError(t, err)
			assert.Equal(t, c.want, got)
			assert.Equal(t, c.clamped, clamped)
		})
	}
}

func TestDecodeHistory(t *testing.T) {
	for _, c := range []struct {
		name, raw string
		want      tool.History
		clamped   tool.Clamped
	}{
		{"defaults", `{"sessionKey":"main"}`, tool.History{SessionKey: "main", Limit: 200}, nil},
		{"E101", `{"sessionKey":"main","includeTools":true}`, tool.History{SessionKey: "main", Limit: 200, IncludeTools: true}, nil},
		{"E106 a sessionId, white space around it", `{"sessionKey":" sess-group\n"}`, tool.History{SessionKey: "sess-group", Limit: 200}, nil},
		{"opaque", `{"sessionKey":"Agent:main:x:group:AbC é"}`, tool.History{SessionKey: "Agent:main:x:group:AbC é", Limit: 200}, nil},
		{"limit above", `{"sessionKey":"k","limit":1001}`, tool.History{SessionKey: "k", Limit: 1000}, tool.Clamped{"limit": 1000}},
		{"limit below", `{"sessionKey":"k","limit":0}`, tool.History{SessionKey: "k", Limit: 1}, tool.Clamped{"limit": 1}},
		{"limit far below", `{"sessionKey":"k","limit":-1e400}`, tool.History{SessionKey: "k", Limit: 1}, tool.Clamped{"limit": 1}},
		{"limit half", `{"sessionKey":"k","limit":0.5}`, tool.History{SessionKey: "k", Limit: 1}, tool.Clamped{"limit": 1}},
		{"limit in range", `{"sessionKey":"k","limit":1000}`, tool.History{SessionKey: "k", Limit: 1000}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, clamped, err := tool.DecodeHistory(json.RawMessage(c.raw))
			require.NoError(t, err)
			assert.Equal(t, c.want, got)
			assert.Equal(t, c.clamped, clamped)
		})
	}
}

func TestDecodeRefuses(t *testing.T) {
	list := func(raw string) error { _, _, err := tool.DecodeList(json.RawMessage(raw)); return err }
	history := func(raw string) error { _, _, err := tool.DecodeHistory(json.RawMessage(raw)); return err }
	agents := func(raw string) error { return tool.DecodeAgents(json.RawMessage(raw)) }
	for _, c := range []struct {
		decode func(string) error
		raw    string
		says   []string
	}{
		{list, `[]`, []string{"sessions_list", "[] (an array)", "an object"}},
		{list, `"x"`, []string{`"x" (a string)`}},
		{list, `5`, []string{"are 5"}},
		{list, `{"limit":5`, []string{"not JSON", "at byte 10"}},
		{list, `{"limit":NaN}`, []string{"not JSON"}},
		{list, `{} {}`, []string{"not JSON"}},
		{list, "{\"kinds\":[\"\xff\"]}", []string{"not UTF-8"}},
		{list, `{"limit":1,"limit":1}`, []string{"limit", "twice"}},
		{list, `{"limit":null,"l\u0069mit":1}`, []string{"limit", "twice"}},
		{list, `{"Kinds":["group"]}`, []string{`"Kinds"`, "did you mean kinds?", "kinds, limit, activeMinutes, messageLimit, includeArchived, before"}},
		{list, `{"active_minutes":5}`, []string{"did you mean activeMinutes?"}},
		{list, `{"mesageLimit":5}`, []string{"did you mean messageLimit?"}},
		{list, `{"archived":true}`, []string{"did you mean includeArchived?"}},
		{list, `{"zzz":null}`, []string{`no parameter "zzz": it takes`}},
		{list, `{"":1}`, []string{`no parameter "": it takes`}},
		{list, `{"` + strings.Repeat("x", 500) + `":1}`, []string{"xxx…"}},
		{list, `{"kinds":"group"}`, []string{`kinds is "group" (a string)`, "an array"}},
		{list, `{"kinds":{}}`, []string{"kinds is {} (an object)", "an array"}},
		{list, `{"kinds":["group",null]}`, []string{"kinds is null", "an array"}},
		{list, `{"kinds":["crn"]}`, []string{"did you mean cron?"}},
		{list, `{"kinds":["bogus"]}`, []string{`kinds is "bogus"`, "main, group, cron, hook, node, other"}},
		{list, `{"kinds":["group",["cron"]]}`, []string{`kinds is ["cron"] (an array)`}},
		{list, `{"limit":0}`, []string{"limit is 0", "from 1 to 200"}},
		{list, `{"limit":0.9}`, []string{"limit is 0.9", "from 1 to 200"}},
		{list, `{"limit":-1e400}`, []string{"limit is -1e400"}},
		{list, `{"limit":"5"}`, []string{`limit is "5" (a string)`, "a number"}},
		{list, `{"limit":true}`, []string{"limit is true", "a number"}},
		{list, `{"limit":[5]}`, []string{"limit is [5] (an array)"}},
		{list, `{"activeMinutes":0}`, []string{"activeMinutes is 0", "from 1 to"}},
		{list, `{"messageLimit":-1}`, []string{"messageLimit is -1", "from 0 to 20"}},
		{list, `{"includeArchived":"true"}`, []string{`includeArchived is "true" (a string)`, "true or false"}},
		{list, `{"includeArchived":1}`, []string{"includeArchived is 1"}},
		{list, `{"before":5}`, []string{"before is 5", "nextBefore"}},
		{list, `{"before":" "}`, []string{`before is " "`, "leave it out"}},
		{list, `{"before":"garbage!"}`, []string{`before is "garbage!"`, "no cursor of ours", "nextBefore"}},
		{history, ``, []string{"sessions_history needs sessionKey"}},
		{history, `{}`, []string{"sessions_history needs sessionKey"}},
		{history, `{"sessionKey":null}`, []string{"needs sessionKey"}},
		{history, `{"sessionKey":""}`, []string{`sessionKey is ""`, "a session key or a sessionId"}},
		{history, `{"sessionKey":" \t\u00a0"}`, []string{`sessionKey is`}},
		{history, `{"sessionKey":5}`, []string{"sessionKey is 5", "as a string"}},
		{history, `{"sessionKey":["main"]}`, []string{`sessionKey is ["main"] (an array)`}},
		{history, `{"session_key":"main"}`, []string{"did you mean sessionKey?"}},
		{history, `{"sessionId":"main"}`, []string{"did you mean sessionKey?"}},
		{history, `{"sessionKey":"k","includeTools":0}`, []string{"includeTools is 0", "true or false"}},
		{history, `{"sessionKey":"k","limit":"all"}`, []string{`limit is "all"`, "from 1 to 1000"}},
		{history, `{"sessionKey":"k","x":"` + strings.Repeat("y", 500) + `"}`, []string{`"x"`}},
		{history, `{"sessionKey":"k","limit":"` + strings.Repeat("y", 500) + `"}`, []string{"yyy…"}},
		{agents, `{"agentId":"main"}`, []string{"agents_list", `"agentId"`, "takes none"}},
		{agents, `[]`, []string{"an object"}},
	} {
		err := c.decode(c.raw)
		require.Error(t, err, c.raw)
		refused := refusal(t, err)
		assert.Equal(t, core.CodeInvalidParams, refused.Code, c.raw)
		for _, want := range c.says {
			assert.Contains(t, refused.Message, want, c.raw)
		}
		assert.Less(t, len(refused.Message), 400, c.raw)
	}
	require.NoError(t, agents(`{}`))
	require.NoError(t, agents(``))
	assert.Equal(t, []string{"main", "group", "cron", "hook", "node", "other"}, refusal(t, list(`{"kinds":["x"]}`)).Allowed)
	assert.Contains(t, refusal(t, list(`{"Kinds":[]}`)).Allowed, "kinds")
	assert.Equal(t, []string{"true", "false"}, refusal(t, list(`{"includeArchived":1}`)).Allowed)
}

func TestSpecsAreToldByName(t *testing.T) {
	var names []string
	for _, s := range tool.Tools() {
		names = append(names, s.Name)
		assert.NotEmpty(t, s.Description)
		assert.True(t, json.Valid(s.Schema))
		one, err := tool.Spec(s.Name)
		require.NoError(t, err)
		assert.Equal(t, s, one)
	}
	assert.Equal(t, []string{"sessions_list", "sessions_history", "sessions_send", "sessions_spawn", "agents_list"}, names)
	_, err := tool.Spec("session_list")
	assert.Contains(t, err.Error(), "did you mean sessions_list?")
	assert.Equal(t, names, refusal(t, err).Allowed)
	_, err = tool.Spec("rm")
	assert.NotContains(t, err.Error(), "did you mean")
}

// schema is as much of JSON Schema as the tools use.
type schema struct {
	Type       string
	Properties map[string]schema
	Required   []string
	Additional *bool `json:"additionalProperties"`
	Items      *schema
	Enum       []string
	Pattern    string
	MaxLength  *int
	Minimum    *float64
	Maximum    *float64
	Default    any
	About      string `json:"description"`
}

// accepts says what the schema says of a value, without any leniency.
func (s schema) accepts(v any) bool {
	switch s.Type {
	case "object":
		object, ok := v.(map[string]any)
		for name, value := range object {
			p, known := s.Properties[name]
			ok = ok && known && p.accepts(value)
		}
		for _, name := range s.Required {
			_, given := object[name]
			ok = ok && given
		}
		return ok
	case "array":
		list, ok := v.([]any)
		for _, value := range list {
			ok = ok && s.Items.accepts(value)
		}
		return ok
	case "string":
		text, ok := v.(string)
		known := len(s.Enum) == 0
		for _, e := range s.Enum {
			known = known || e == text
		}
		known = known && (s.MaxLength == nil || len(text) <= *s.MaxLength)
		return ok && known && (s.Pattern == "" || regexp.MustCompile(s.Pattern).MatchString(text) && strings.TrimSpace(text) != "")
	case "integer":
		n, ok := v.(float64)
		return ok && n == math.Trunc(n) && n >= *s.Minimum && n <= *s.Maximum
	case "boolean":
		_, ok := v.(bool)
		return ok
	}
	return false
}

// corrected is what decoding makes of a value before the schema's word is law: null is absent, fractions are floored, numbers brought
// into range where that is told, kinds trimmed and folded.
func corrected(params map[string]any, s schema, clamped tool.Clamped) map[string]any {
	out := map[string]any{}
	for name, value := range params {
		switch v := value.(type) {
		case nil:
			if _, known := s.Properties[name]; known {
				continue
			}
		case float64:
			value = math.Floor(v)
			if name == "timeoutSeconds" || name == "runTimeoutSeconds" {
				value = math.Ceil(v) // a wait is never cut short
			}
			if to, told := clamped[name]; told {
				value = float64(to)
			}
		case string:
			if len(s.Properties[name].Enum) > 0 || s.Properties[name].MaxLength != nil {
				value = strings.TrimSpace(v)
			}
		case map[string]any:
			value = corrected(v, s.Properties[name], clamped)
		case []any:
			list := make([]any, len(v))
			for i, e := range v {
				switch item := e.(type) {
				case string:
					if s.Properties[name].Items != nil {
						e = strings.ToLower(strings.TrimSpace(item))
					}
				case map[string]any:
					if s.Properties[name].Items != nil {
						e = corrected(item, *s.Properties[name].Items, clamped)
					}
				}
				list[i] = e
			}
			value = list
		}
		out[name] = value
	}
	return out
}

// decoders reads a call of each tool and gives back what was clamped.
var decoders = map[string]func(json.RawMessage) (tool.Clamped, error){
	tool.SessionsList:    func(raw json.RawMessage) (tool.Clamped, error) { _, c, err := tool.DecodeList(raw); return c, err },
	tool.SessionsHistory: func(raw json.RawMessage) (tool.Clamped, error) { _, c, err := tool.DecodeHistory(raw); return c, err },
	tool.SessionsSend:    func(raw json.RawMessage) (tool.Clamped, error) { _, c, err := tool.DecodeSend(raw); return c, err },
	tool.SessionsSpawn:   func(raw json.RawMessage) (tool.Clamped, error) { _, c, err := tool.DecodeSpawn(raw); return c, err },
	tool.AgentsList:      func(raw json.RawMessage) (tool.Clamped, error) { return nil, tool.DecodeAgents(raw) },
}

func schemas(t require.TestingT) map[string]schema {
	all := map[string]schema{}
	for _, spec := range tool.Tools() {
		var s schema
		require.NoError(t, json.Unmarshal(spec.Schema, &s))
		all[spec.Name] = s
	}
	return all
}

func TestSchemasAreComplete(t *testing.T) {
	all := schemas(t)
	assert.Len(t, all, len(decoders))
	for name, s := range all {
		assert.Equal(t, "object", s.Type, name)
		require.NotNil(t, s.Additional, name)
		assert.False(t, *s.Additional, name)
		for p, property := range s.Properties {
			assert.NotEmpty(t, property.About, p)
		}
	}
	assert.Equal(t, []string{"sessionKey"}, all[tool.SessionsHistory].Required)
	assert.EqualValues(t, 200, all[tool.SessionsList].Properties["limit"].Default)
	assert.Nil(t, all[tool.SessionsList].Properties["activeMinutes"].Default)
	assert.Empty(t, all[tool.AgentsList].Properties)
}

// agree checks that schema and decoder say the same of params, but for cursors, whose inside no schema tells.
func agree(t require.TestingT, name string, s schema, raw []byte) {
	var params map[string]any
	if json.Unmarshal(raw, &params) != nil || params == nil {
		return
	}
	clamped, err := decoders[name](raw)
	if err != nil && (strings.Contains(err.Error(), "cursor") || strings.Contains(err.Error(), "requires thread=true")) {
		return // what no schema tells
	}
	if s.accepts(params) {
		require.NoError(t, err, "%s accepts by its schema %s", name, raw)
		require.Empty(t, clamped, "%s within its schema: %s", name, raw)
	}
	if err == nil {
		require.True(t, s.accepts(corrected(params, s, clamped)), "%s took %s, its schema does not", name, raw)
	} else {
		require.False(t, s.accepts(corrected(params, s, clamped)), "%s refuses %s (%v), its schema does not", name, raw, err)
	}
}

func TestSchemaAndDecoderAgree(t *testing.T) {
	all := schemas(t)
	names := []string{
		"message", "timeoutSeconds", "kinds", "limit", "activeMinutes", "messageLimit", "includeArchived", "includeTools", "sessionKey", "before", "other", "Limit",
		"task", "label", "agentId", "runTimeoutSeconds", "thread", "mode", "cleanup", "sandbox", "attachments", "attachAs",
	}
	values := []string{
		"null", "true", "false", `""`, `" "`, `"main"`, `" GROUP "`, "[]", "{}", `["main"]`, `[" Cron"]`, `["x"]`, "[1]", "[null]", "0", "-0", "-1", "1", "0.5", "1.5",
		"20", "21", "200", "200.5", "201", "1000", "1000.9", "1001", "1e15", "-1e15", "86400", "86400.5", strconv.Itoa(tool.ActiveMinutes), strconv.Quote(tool.ListCursor(core.HeadCursor{UpdatedAt: 1, Key: "k"})),
		`"session"`, `" run "`, `"delete"`, `"require"`, `"../etc"`, `" Ops "`, `[{"name":"","content":""}]`, `[{"name":"a","content":"b","encoding":" base64","mimeType":null}]`,
		`[{"name":"a"}]`, `[{"name":1,"content":"b"}]`, `[{"name":"a","content":"b","mode":1}]`, `{"mountPath":" in "}`, `{"mount":"in"}`, `{"mountPath":1}`, strconv.Quote(strings.Repeat("x", 600)),
	}
	for tool, s := range all {
		for _, name := range names {
			for _, value := range values {
				agree(t, tool, s, []byte(`{"`+name+`":`+value+`}`))
				if name != "sessionKey" {
					agree(t, tool, s, []byte(`{"sessionKey":"k","`+name+`":`+value+`}`))
				}
				if name != "task" {
					agree(t, tool, s, []byte(`{"task":"t","`+name+`":`+value+`}`))
				}
				if name != "sessionKey" && name != "message" {
					agree(t, tool, s, []byte(`{"sessionKey":"k","message":"m","`+name+`":`+value+`}`))
				}
			}
		}
	}
	proptest.Check(t, func(t *rapid.T) {
		var members []string
		for _, name := range rapid.SliceOfDistinct(rapid.SampledFrom(names), rapid.ID).Draw(t, "names") {
			value := rapid.OneOf(rapid.SampledFrom(values), rapid.Custom(func(t *rapid.T) string {
				return strconv.FormatFloat(rapid.Float64Range(-1500, 1500).Draw(t, "number"), 'g', -1, 64)
			})).Draw(t, "value")
			members = append(members, strconv.Quote(name)+":"+value)
		}
		for tool, s := range all {
			agree(t, tool, s, []byte("{"+strings.Join(members, ",")+"}"))
		}
	})
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{`{"kinds":["GROUP"],"limit":1e2,"before":"bA"}`, `{"sessionKey":"\u00a0","limit":-0.0}`, `{"limit":1,"limit":2}`, `[]`, ``, `{"\ud800":1}`} {
		f.Add([]byte(seed))
	}
	all := schemas(f)
	f.Fuzz(func(t *testing.T, raw []byte) {
		for name, decode := range decoders {
			_, err := decode(raw)
			if err != nil {
				assert.Equal(t, core.CodeInvalidParams, core.CodeOf(err))
				assert.True(t, json.Valid(tool.Refusal(refusal(t, err))))
			}
			if !strings.Contains(string(raw), `\`) && (err == nil || !strings.Contains(err.Error(), "twice") && !strings.Contains(err.Error(), "UTF-8")) {
				agree(t, name, all[name], raw)
			}
		}
	})
}

func TestCursorsComeBack(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		at := core.HeadCursor{UpdatedAt: rapid.Int64().Draw(t, "at"), Key: string(rapid.SliceOf(rapid.Byte()).Draw(t, "key"))}
		got, _, err := tool.DecodeList([]byte(`{"before":"` + tool.ListCursor(at) + `"}`))
		require.NoError(t, err)
		assert.Equal(t, at, got.Before)

		place := tool.Place{Generation: rapid.String().Draw(t, "generation"), Seq: rapid.Uint64().Draw(t, "seq")}
		text := tool.HistoryCursor(place)
		back, _, err := tool.DecodeHistory([]byte(`{"sessionKey":"k","before":"` + text + `"}`))
		require.NoError(t, err)
		assert.Equal(t, place, back.Before)

		i := rapid.IntRange(0, len(text)-1).Draw(t, "i")
		damaged := text[:i] + string(rapid.SampledFrom([]rune("AZaz09-_=! ")).Draw(t, "c")) + text[i+1:]
		if damaged != text {
			_, _, err = tool.DecodeHistory([]byte(`{"sessionKey":"k","before":"` + damaged + `"}`))
			assert.Error(t, err, "one changed character is noticed")
		}
		_, _, err = tool.DecodeHistory([]byte(`{"sessionKey":"k","before":"` + text[:i] + `"}`))
		assert.Error(t, err, "a cut is noticed")
	})
}

func TestCursorsOfAnotherToolAreNamed(t *testing.T) {
	_, _, err := tool.DecodeList([]byte(`{"before":"` + tool.HistoryCursor(tool.Place{Generation: "g", Seq: 1}) + `"}`))
	assert.ErrorContains(t, err, "that cursor is of another tool")
	_, _, err = tool.DecodeHistory([]byte(`{"sessionKey":"k","before":"` + tool.ListCursor(core.HeadCursor{Key: "k"}) + `"}`))
	assert.ErrorContains(t, err, "that cursor is of another tool")
}

func TestRefusalHoldsWhatTheContractNames(t *testing.T) {
	assert.Equal(t, `{"status":"forbidden","code":"forbidden","error":"agent \"b\" <is> hidden","configKey":"tools.agentToAgent"}`,
		string(tool.Refusal(core.Errorf(core.CodeForbidden, "agent %q <is> hidden", "b").Because("tools.agentToAgent"))))
	assert.Equal(t, `{"status":"error","code":"invalid_params","error":"x","allowed":["a","b"]}`,
		string(tool.Refusal(core.Errorf(core.CodeInvalidParams, "x").Accept("a", "b"))))
	assert.Equal(t, `{"status":"error","code":"not_found","error":""}`, string(tool.Refusal(&core.Error{Code: core.CodeNotFound})))
	assert.Equal(t, `{"status":"error","code":"internal","error":"a�b\u0000\n"}`, string(tool.Refusal(core.Errorf(core.CodeInternal, "a\xffb\x00\n"))))
}
