package tool_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cordboard/core"
	"cordboard/core/proptest"
	"cordboard/core/tool"
)

func ref[T any](v T) *T { return &v }

func rowOf(s core.Session, kind core.Kind) tool.Row {
	return tool.NewRow(&s, tool.Facts{Key: s.Key, Kind: kind})
}

func TestRowKnowsAndLeavesOut(t *testing.T) {
	bare := tool.ListAnswer{Rows: []tool.Row{rowOf(core.Session{Key: "agent:main:x"}, core.KindOther)}}
	assert.Equal(t, `{"count":1,"sessions":[{"key":"agent:main:x","kind":"other","channel":"unknown"}],"scope":{"visibility":"all","effective":"all"}}`, string(bare.JSON()))

	full := core.Session{
		Key: "agent:main:discord:group:Dev", SessionID: "s-1", CreatedAt: 1, UpdatedAt: 5, ChatType: core.ChatGroup, Channel: "discord", Label: "l<b>", DisplayName: "d",
		SpawnedBy: "agent:main:main", SpawnDepth: 1, Model: "m", ModelProvider: "p", ContextTokens: ref(int64(0)), TotalTokens: ref(int64(7)), ThinkingLevel: "high",
		VerboseLevel: "on", SystemSent: ref(true), AbortedLastRun: ref(false), SendPolicy: core.SendDeny, LastChannel: "discord", LastTo: "t", LastAccountID: "a", LastThreadID: "th",
		ArchivedAt: 9, Source: "/x",
	}
	row := tool.NewRow(&full, tool.Facts{
		Key: full.Key, Kind: core.KindGroup, SpawnedBy: "main", TranscriptPath: "/t/s-1.jsonl", Messages: json.RawMessage(`[{"n":1.0}]`),
		Run: tool.RowRun{State: core.RunQueued, QueuePosition: 2, Outcome: core.OutcomeOK},
	})
	got := tool.ListAnswer{
		Rows: []tool.Row{row, row}, Scope: &core.ScopeInfo{Visibility: core.VisibilityAll, Effective: core.VisibilityTree, ClampedBy: "k"},
		Next: core.HeadCursor{UpdatedAt: 5, Key: full.Key}, Clamped: tool.Clamped{"messageLimit": 20, "limit": 200}, Hidden: ref(0),
	}
	one := `{"key":"agent:main:discord:group:Dev","kind":"group","channel":"discord","label":"l<b>","displayName":"d","updatedAt":5,"sessionId":"s-1","model":"m",` +
		`"contextTokens":0,"totalTokens":7,"thinkingLevel":"high","verboseLevel":"on","systemSent":true,"abortedLastRun":false,"sendPolicy":"deny","lastChannel":"discord","lastTo":"t",` +
		`"lastAccountId":"a","deliveryContext":{"channel":"discord","to":"t","accountId":"a"},"transcriptPath":"/t/s-1.jsonl","messages":[{"n":1.0}],"spawnedBy":"main","archived":true,` +
		`"mirrored":true,"run":{"state":"queued","queuePosition":2,"outcome":"ok"}}`
	assert.Equal(t, `{"count":2,"sessions":[`+one+`,`+one+`],"scope":{"visibility":"all","effective":"tree","clampedBy":"k"},"nextBefore":"`+
		tool.ListCursor(core.HeadCursor{UpdatedAt: 5, Key: full.Key})+`","clamped":{"limit":200,"messageLimit":20},"hidden":0}`, string(got.JSON()))
}

func TestRowsOfTheCases(t *testing.T) {
	for _, c := range []struct {
		name    string
		session core.Session
		kind    core.Kind
		check   func(*testing.T, tool.Row)
	}{
		{"D68 main", core.Session{Key: "agent:main:main", LastChannel: "whatsapp"}, core.KindMain, func(t *testing.T, r tool.Row) { assert.Equal(t, "whatsapp", r.Channel) }},
		{"D80", core.Session{Key: "k", LastChannel: "whatsapp", LastTo: "+1555", LastAccountID: "work"}, core.KindOther, func(t *testing.T, r tool.Row) {
			assert.Equal(t, tool.RowDelivery{Channel: "whatsapp", To: "+1555", AccountID: "work"}, r.Delivery)
			assert.Equal(t, "work", r.LastAccountID)
		}},
		{
			"another channel gives no address",
			core.Session{Key: "k", LastChannel: " Telegram ", Delivery: core.DeliveryContext{Channel: "whatsapp", To: "+1555", AccountID: "work"}},
			core.KindOther,
			func(t *testing.T, r tool.Row) { assert.Equal(t, tool.RowDelivery{Channel: "telegram"}, r.Delivery) },
		},
		{"the stored context fills in", core.Session{Key: "k", Delivery: core.DeliveryContext{Channel: "WhatsApp", To: " +1555 ", AccountID: " "}}, core.KindOther, func(t *testing.T, r tool.Row) {
			assert.Equal(t, tool.RowDelivery{Channel: "whatsapp", To: "+1555"}, r.Delivery)
			assert.Equal(t, "whatsapp +1555", r.LastChannel+" "+r.LastTo)
		}},
		{"D81", core.Session{Key: "agent:main:x", Label: "Label"}, core.KindOther, func(t *testing.T, r tool.Row) { assert.Equal(t, "Label", r.DisplayName) }},
		{"stored display name first", core.Session{Key: "agent:main:discord:group:dev", DisplayName: "D", Label: "L"}, core.KindGroup, func(t *testing.T, r tool.Row) { assert.Equal(t, "D", r.DisplayName) }},
		{"name of a group", core.Session{Key: "agent:main:discord:group:Dev:thread:4", Label: "L"}, core.KindGroup, func(t *testing.T, r tool.Row) { assert.Equal(t, "discord:Dev", r.DisplayName) }},
		{"recorded channel names the group", core.Session{Key: "agent:main:discord:group:dev", Channel: "Slack"}, core.KindGroup, func(t *testing.T, r tool.Row) { assert.Equal(t, "slack:dev", r.DisplayName) }},
		{"no name", core.Session{Key: "agent:main:x"}, core.KindOther, func(t *testing.T, r tool.Row) { assert.Empty(t, r.DisplayName) }},
		{"D82", core.Session{Key: "k", SendPolicy: core.SendDeny}, core.KindMain, func(t *testing.T, r tool.Row) { assert.Equal(t, core.SendDeny, r.SendPolicy) }},
		{"D85 fresh", core.Session{Key: "k", TotalTokens: ref(int64(1200))}, core.KindOther, func(t *testing.T, r tool.Row) { assert.EqualValues(t, 1200, *r.TotalTokens) }},
		{"D85 stale", core.Session{Key: "k", TotalTokens: ref(int64(2200)), TokensStale: true}, core.KindOther, func(t *testing.T, r tool.Row) { assert.Nil(t, r.TotalTokens) }},
		{"D85 absent", core.Session{Key: "k"}, core.KindOther, func(t *testing.T, r tool.Row) { assert.Nil(t, r.TotalTokens) }},
		{"0 tokens is a figure", core.Session{Key: "k", TotalTokens: ref(int64(0))}, core.KindOther, func(t *testing.T, r tool.Row) { assert.Zero(t, *r.TotalTokens) }},
		{"D96", core.Session{Key: "agent:main:slack:channel:c1"}, core.KindGroup, func(t *testing.T, r tool.Row) { assert.Equal(t, "slack", r.Channel) }},
		{"D97", core.Session{Key: "agent:main:telegram:direct:5"}, core.KindOther, func(t *testing.T, r tool.Row) { assert.Equal(t, "unknown", r.Channel) }},
		{"cron is internal", core.Session{Key: "cron:x", Channel: "slack", LastChannel: "slack"}, core.KindCron, func(t *testing.T, r tool.Row) { assert.Equal(t, "internal", r.Channel) }},
	} {
		t.Run(c.name, func(t *testing.T) { c.check(t, rowOf(c.session, c.kind)) })
	}
}

func TestAnEmptyListExplainsItself(t *testing.T) {
	// R038: a filtered list is not taken for an empty system, and the note tells nobody whether something is hidden.
	tree := &core.ScopeInfo{Visibility: core.VisibilityTree, Effective: core.VisibilityTree}
	for _, c := range []struct {
		answer tool.ListAnswer
		note   string
	}{
		{
			tool.ListAnswer{Scope: tree, Asked: tool.List{Kinds: []core.Kind{core.KindCron, core.KindHook}, ActiveMinutes: 5}},
			"No session in scope tree (tools.sessions.visibility) passes the filters: kinds cron, hook; activeMinutes 5; archived ones left out (includeArchived).",
		},
		{tool.ListAnswer{
			Scope: &core.ScopeInfo{Visibility: core.VisibilityAll, Effective: core.VisibilityTree, ClampedBy: "agents.defaults.sandbox.sessionToolsVisibility"},
			Asked: tool.List{IncludeArchived: true},
		}, "No session in scope tree (agents.defaults.sandbox.sessionToolsVisibility)."},
		{tool.ListAnswer{Asked: tool.List{IncludeArchived: true, Before: core.HeadCursor{UpdatedAt: 1, Key: "k"}}}, "No session passes the filters: only those after the cursor."},
		{tool.ListAnswer{Asked: tool.List{IncludeArchived: true}}, "No session."},
	} {
		var got struct {
			Count    int
			Sessions []any
			Note     string
			Hidden   *int
		}
		require.NoError(t, json.Unmarshal(c.answer.JSON(), &got))
		assert.Equal(t, c.note, got.Note)
		assert.NotNil(t, got.Sessions)
		assert.Nil(t, got.Hidden)
	}
	some := tool.ListAnswer{Rows: []tool.Row{{Key: "k"}}, Scope: tree}
	assert.NotContains(t, string(some.JSON()), "note")
}

func TestRowIsWrittenByItsTags(t *testing.T) {
	text := rapid.OneOf(rapid.Just(""), rapid.String())
	number := rapid.Ptr(rapid.Int64(), true)
	proptest.Check(t, func(t *rapid.T) {
		row := tool.Row{
			Key: rapid.String().Draw(t, "key"), Kind: core.Kind(text.Draw(t, "kind")), Channel: text.Draw(t, "channel"), Label: text.Draw(t, "label"), DisplayName: text.Draw(t, "name"),
			UpdatedAt: rapid.Int64().Draw(t, "updatedAt"), SessionID: text.Draw(t, "id"), Model: text.Draw(t, "model"), ContextTokens: number.Draw(t, "context"), TotalTokens: number.Draw(t, "total"),
			ThinkingLevel: text.Draw(t, "thinking"), VerboseLevel: text.Draw(t, "verbose"), SystemSent: rapid.Ptr(rapid.Bool(), true).Draw(t, "sent"),
			AbortedLastRun: rapid.Ptr(rapid.Bool(), true).Draw(t, "aborted"), SendPolicy: core.SendPolicy(text.Draw(t, "policy")), LastChannel: text.Draw(t, "lastChannel"), LastTo: text.Draw(t, "lastTo"),
			LastAccountID: text.Draw(t, "lastAccount"), Delivery: tool.RowDelivery{Channel: text.Draw(t, "d1"), To: text.Draw(t, "d2"), AccountID: text.Draw(t, "d3")},
			TranscriptPath: text.Draw(t, "path"), Messages: rapid.SampledFrom([]json.RawMessage{nil, json.RawMessage("[]"), json.RawMessage(`[1.0]`)}).Draw(t, "messages"),
			SpawnedBy: text.Draw(t, "spawnedBy"), Archived: rapid.Bool().Draw(t, "archived"), Mirrored: rapid.Bool().Draw(t, "mirrored"),
			Run: tool.RowRun{State: core.RunState(text.Draw(t, "state")), QueuePosition: rapid.IntRange(0, 3).Draw(t, "position"), Outcome: core.RunOutcome(text.Draw(t, "outcome"))},
		}
		answer := tool.ListAnswer{Rows: []tool.Row{row}}
		var got struct{ Sessions []json.RawMessage }
		require.NoError(t, json.Unmarshal(answer.JSON(), &got))
		var byTags bytes.Buffer
		e := json.NewEncoder(&byTags)
		e.SetEscapeHTML(false)
		require.NoError(t, e.Encode(row))
		var back, want tool.Row
		require.NoError(t, json.Unmarshal(got.Sessions[0], &back))
		require.NoError(t, json.Unmarshal(byTags.Bytes(), &want))
		assert.Equal(t, want, back)
		assert.Equal(t, names(t, byTags.Bytes()), names(t, got.Sessions[0]), "the same fields in the same order")
	})
}

func names(t require.TestingT, object []byte) (all []string) {
	for m := range core.Members(object) {
		name, ok := core.Unquote(m.Key)
		require.True(t, ok)
		all = append(all, name)
	}
	return all
}

func TestAppendStringIsJSON(t *testing.T) {
	proptest.Check(t, func(t *rapid.T) {
		text := string(rapid.SliceOf(rapid.Byte()).Draw(t, "bytes")) + rapid.String().Draw(t, "text")
		var got string
		require.NoError(t, json.Unmarshal(tool.AppendString(nil, text), &got))
		assert.Equal(t, string([]rune(text)), got)
		assert.Equal(t, tool.AppendString(nil, text), tool.AppendString(nil, []byte(text)))
	})
	assert.Equal(t, `x"<>&é`+"\u2028"+`\"\\\n\u001f`+"\x7f\"", "x"+string(tool.AppendString(nil, "<>&é\u2028\"\\\n\x1f\x7f")))
}

func TestAgentsAnswer(t *testing.T) {
	// K294, K292: the requester first, the rest sorted; names only where there are any.
	a := tool.AgentsAnswer{Requester: "main", AllowAny: true, Agents: []tool.Agent{{ID: "research", Configured: true, Name: "R&D"}, {ID: "main", Configured: true}, {ID: "coder"}}}
	assert.Equal(t, `{"requester":"main","allowAny":true,"agents":[{"id":"main","configured":true},{"id":"coder","configured":false},{"id":"research","name":"R&D","configured":true}]}`, string(a.JSON()))
	assert.Equal(t, "research", a.Agents[0].ID, "what was given stays")
	assert.Equal(t, `{"requester":"main","allowAny":false,"agents":[]}`, string(tool.AgentsAnswer{Requester: "main"}.JSON()))
}

func TestTextOfAMessage(t *testing.T) {
	for raw, want := range map[string]string{
		`{"content":"a\nb"}`: "a\nb",
		`{"content":[{"type":"text","text":"a"},{"type":"thinking","thinking":"t"},{"type":"toolCall","name":"exec","arguments":{"c":"ls"}},{"type":"image","data":"x"},{"type":"text","text":"b"}]}`: "a\nexec {\"c\":\"ls\"}\nb",
		`{"content":[],"errorMessage":"429"}`:        "429",
		`{"content":[{"type":"toolCall"}]}`:          "",
		`{}`:                                         "",
		`{"content":[{"type":"text","text":"\ud8`:    "",
		`{"content":[{"type":"custom","text":"x"}]}`: "x",
	} {
		assert.Equal(t, want, tool.Text([]byte(raw)), raw)
	}
	assert.Equal(t, "a\nb", tool.Thinking([]byte(`{"content":[{"type":"thinking","thinking":"a"},{"type":"text","text":"x"},{"type":"thinking","thinking":"b"}]}`)))
}

func BenchmarkList200(b *testing.B) {
	s := core.Session{
		Key: "agent:main:discord:group:dev", SessionID: "d2fbc54a-c5ef-48ee-82f8-8da23ff0ae47", UpdatedAt: 1796074201041, Channel: "discord", Label: "a label",
		Model: "mock-1", ContextTokens: ref(int64(128000)), TotalTokens: ref(int64(12000)), SystemSent: ref(true), AbortedLastRun: ref(false), LastChannel: "discord", LastTo: "channel:dev",
	}
	b.ReportAllocs()
	for b.Loop() {
		a := tool.ListAnswer{}
		for i := range 200 {
			a.Rows = append(a.Rows, tool.NewRow(&s, tool.Facts{Key: fmt.Sprint(s.Key, i), Kind: core.KindGroup}))
		}
		a.JSON()
	}
}
