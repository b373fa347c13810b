package engine_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
)

func rows(t *testing.T, answer map[string]any) []map[string]any {
	t.Helper()
	list := []map[string]any{}
	for _, row := range answer["sessions"].([]any) {
		list = append(list, row.(map[string]any))
	}
	return list
}

func rowOf(t *testing.T, answer map[string]any, key string) map[string]any {
	t.Helper()
	for _, row := range rows(t, answer) {
		if row["key"] == key {
			return row
		}
	}
	require.Fail(t, "no row", "%s in %v", key, answer)
	return nil
}

// D68, D69, D89: kinds, channels and the newest message of each.
func TestListKindsChannelsAndMessages(t *testing.T) {
	b := newBench(t, `tools: { sessions: { visibility: "all" } }`,
		session("agent:main:main", func(s *core.Session) { s.LastChannel = "whatsapp" }),
		session("agent:main:discord:group:dev"), session("cron:job-1"), session("global"), session("unknown"))
	b.say("agent:main:main", `{"role":"assistant","content":"hi"}`, `{"role":"toolResult","content":"x"}`)

	answer, _ := b.call("agent:main:main", "sessions_list", `{"messageLimit":1}`)
	assert.Len(t, rows(t, answer), 3)
	main := rowOf(t, answer, "main")
	assert.Equal(t, "whatsapp", main["channel"])
	assert.Equal(t, "hi", main["messages"].([]any)[0].(map[string]any)["content"])
	assert.Len(t, main["messages"], 1)

	assert.Equal(t, []string{"cron:job-1"}, b.keys("agent:main:main", `{"kinds":["cron"]}`))
	assert.Equal(t, []string{"agent:main:discord:group:dev"}, b.keys("agent:main:main", `{"kinds":["  GROUP "]}`))
	assert.Equal(t, []string{"main"}, b.keys("agent:main:main", `{"kinds":["main"]}`))
}

// D80-D85, D96-D99: fields of a row.
func TestListRowFields(t *testing.T) {
	fresh, stale := int64(1200), int64(2200)
	b := newBench(t, "",
		session("agent:main:a", func(s *core.Session) { s.LastChannel, s.LastTo, s.LastAccountID = "whatsapp", "+1555", "work" }),
		session("agent:main:b", func(s *core.Session) { s.Label, s.SendPolicy = "Briefing", core.SendDeny }),
		session("agent:main:c", func(s *core.Session) { s.TotalTokens = &fresh }),
		session("agent:main:d", func(s *core.Session) { s.TotalTokens, s.TokensStale = &stale, true }),
		session("slack:channel:c1"), session("agent:main:telegram:direct:5"), session("hook:uuid"), session("node-mac"), session("node:mac"))
	answer, _ := b.call("", "sessions_list", `{}`)

	a := rowOf(t, answer, "agent:main:a")
	assert.Equal(t, map[string]any{"channel": "whatsapp", "to": "+1555", "accountId": "work"}, a["deliveryContext"])
	assert.Equal(t, "work", a["lastAccountId"])
	assert.Equal(t, "Briefing", rowOf(t, answer, "agent:main:b")["displayName"])
	assert.Equal(t, "deny", rowOf(t, answer, "agent:main:b")["sendPolicy"])
	assert.NotContains(t, a, "sendPolicy")
	assert.InDelta(t, 1200, rowOf(t, answer, "agent:main:c")["totalTokens"], 0)
	assert.NotContains(t, rowOf(t, answer, "agent:main:d"), "totalTokens")
	assert.NotContains(t, a, "totalTokens")
	assert.Equal(t, "slack", rowOf(t, answer, "slack:channel:c1")["channel"])
	assert.Equal(t, "unknown", rowOf(t, answer, "agent:main:telegram:direct:5")["channel"])
	for key, kind := range map[string]string{"hook:uuid": "hook", "node-mac": "node", "node:mac": "node"} {
		assert.Equal(t, kind, rowOf(t, answer, key)["kind"], key)
		assert.Equal(t, "internal", rowOf(t, answer, key)["channel"], key)
	}
	for _, row := range rows(t, answer) {
		for name, value := range row {
			assert.NotNil(t, value, "%s is null in %v", name, row)
		}
	}
}

// D93: with one bucket for all, nobody sees its name.
func TestListGlobalScope(t *testing.T) {
	b := newBench(t, `session: { scope: "global" }`, session("global"))
	answer, _ := b.call("", "sessions_list", `{}`)
	assert.Equal(t, "main", rows(t, answer)[0]["key"])
	assert.Equal(t, "main", rows(t, answer)[0]["kind"])
}

// Filters come before the limit: one cron session among many is found with limit 1.
func TestListFiltersBeforeLimit(t *testing.T) {
	var sessions []core.Session
	for i := range 30 {
		sessions = append(sessions, session(fmt.Sprintf("agent:main:telegram:group:%d", i)))
	}
	b := newBench(t, "", append(sessions, session("cron:nightly"))...)
	assert.Equal(t, []string{"cron:nightly"}, b.keys("", `{"kinds":["cron"],"limit":1}`))
}

// Pages meet without a gap, and a session that moves to the front is not seen twice.
func TestListPages(t *testing.T) {
	var sessions []core.Session
	for i := range 25 {
		sessions = append(sessions, session(fmt.Sprintf("agent:main:s%02d", i), func(s *core.Session) { s.UpdatedAt = 1000 - int64(i/3) }))
	}
	b := newBench(t, "", sessions...)
	var seen []string
	before := ""
	for {
		params := `{"limit":4}`
		if before != "" {
			params = fmt.Sprintf(`{"limit":4,"before":%q}`, before)
		}
		answer, code := b.call("", "sessions_list", params)
		require.Empty(t, code)
		for _, row := range rows(t, answer) {
			seen = append(seen, row["key"].(string))
		}
		next, more := answer["nextBefore"]
		if !more {
			break
		}
		before = next.(string)
	}
	var want []string
	for _, s := range sessions {
		want = append(want, s.Key)
	}
	assert.Equal(t, want, seen)
}

// R048, R050: nothing is hidden by age unless asked, and then main is treated as any other.
func TestListActiveMinutes(t *testing.T) {
	old := noon.UnixMilli() - 3*24*3600*1000
	edge := noon.UnixMilli() - 5*60_000
	b := newBench(t, "",
		session("agent:main:main", func(s *core.Session) { s.UpdatedAt = old }),
		session("agent:main:edge", func(s *core.Session) { s.UpdatedAt = edge }),
		session("agent:main:past", func(s *core.Session) { s.UpdatedAt = edge - 1 }))
	assert.Len(t, b.keys("", `{}`), 3)
	assert.Equal(t, []string{"agent:main:edge"}, b.keys("", `{"activeMinutes":5}`))
}

// Archived sessions leave the default list, stay in the wide one, and can be read.
func TestListArchived(t *testing.T) {
	b := newBench(t, "", session("agent:main:main"), session("agent:main:old", func(s *core.Session) { s.ArchivedAt = 1 }))
	assert.Equal(t, []string{"agent:main:main"}, b.keys("", `{}`))
	assert.Equal(t, []string{"agent:main:main", "agent:main:old"}, b.keys("", `{"includeArchived":true}`))
	_, code := b.call("", "sessions_history", `{"sessionKey":"agent:main:old"}`)
	assert.Empty(t, code)
}

// R071: the messages of a list row are the tail of the history.
func TestListMessagesAreTheTailOfHistory(t *testing.T) {
	b := newBench(t, "", session("agent:main:main"))
	for i := range 12 {
		role := "assistant"
		if i%3 == 0 {
			role = "toolResult"
		}
		b.say("agent:main:main", fmt.Sprintf(`{"role":%q,"content":"m%d"}`, role, i))
	}
	for _, as := range []string{"", "agent:main:main"} {
		list, _ := b.call(as, "sessions_list", `{"messageLimit":5}`)
		history, _ := b.call(as, "sessions_history", `{"sessionKey":"agent:main:main","limit":5}`)
		assert.Equal(t, history["messages"], rows(t, list)[0]["messages"], as)
	}
}

// R037: the operator hears how many rows a viewpoint hides, a session never does.
func TestHiddenIsForTheOperator(t *testing.T) {
	sessions := []core.Session{session("agent:main:main"), session("agent:main:c1", spawnedBy("agent:main:main")), session("agent:x:c2", spawnedBy("agent:main:main"))}
	for i := range 7 {
		sessions = append(sessions, session(fmt.Sprintf("agent:main:other%d", i)))
	}
	b := newBench(t, "", sessions...)
	answer, _ := b.call("agent:main:main", "sessions_list", `{}`)
	assert.Len(t, rows(t, answer), 3)
	assert.Equal(t, map[string]any{"visibility": "tree", "effective": "tree"}, answer["scope"])
	assert.NotContains(t, answer, "hidden")

	page, err := b.as("").Sessions(t.Context(), core.SessionQuery{Viewpoint: "agent:main:main", WithHidden: true})
	require.NoError(t, err)
	assert.Equal(t, 7, page.Hidden)
	assert.Len(t, page.Rows, 10)
	assert.NotEmpty(t, page.Rows[9].Hidden.ConfigKey)
	page, err = b.as("agent:main:main").Sessions(t.Context(), core.SessionQuery{WithHidden: true})
	require.NoError(t, err)
	assert.Zero(t, page.Hidden)
	assert.Len(t, page.Rows, 3)
}
