package ui

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/charmbracelet/x/exp/teatest"
	"github.com/muesli/termenv"
	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/core/config"
	"cordboard/core/engine"
	"cordboard/core/runtime/echo"
	"cordboard/store/bolt"
	"cordboard/themes"
)

// echoing is the real engine on a new store with echo agents main and ops and a session of each.
func echoing(t *testing.T) core.Board {
	t.Helper()
	store, err := bolt.Open(bolt.Options{Dir: t.TempDir()})
	require.NoError(t, err)
	cfg, _, err := config.Parse("test.json5", []byte(`{agents: {list: [{id: "main", default: true}, {id: "ops"}]},
		tools: {sessions: {visibility: "all"}, agentToAgent: {enabled: true, allow: ["*"]}}}`))
	require.NoError(t, err)
	e, err := engine.New(store, cfg, engine.Options{Version: "test", Owner: "this process", Runtimes: map[string]core.Runtime{"echo": echo.Runtime{}}})
	require.NoError(t, err)
	require.NoError(t, e.Start(t.Context()))
	t.Cleanup(func() {
		e.Stop(context.Background())
		require.NoError(t, store.Close())
	})
	sessionsIn(t, store,
		core.Session{Key: "agent:main:main", SessionID: "m", UpdatedAt: 2, Channel: "webchat"},
		core.Session{Key: "agent:ops:main", SessionID: "o", UpdatedAt: 1, LastChannel: "slack", LastTo: "channel:ops"},
	)
	board, err := e.Board(t.Context(), core.Operator)
	require.NoError(t, err)
	return board
}

// exchangeOf sends as main to ops and returns the exchange once it is over.
func exchangeOf(t *testing.T, board core.Board, message string) core.Exchange {
	t.Helper()
	stream, err := board.Watch(t.Context(), core.Cursor{})
	require.NoError(t, err)
	defer stream.Close()
	params, err := json.Marshal(map[string]any{"sessionKey": "agent:ops:main", "message": message, "timeoutSeconds": 0})
	require.NoError(t, err)
	result, err := board.Call(t.Context(), core.ToolCall{As: "agent:main:main", Tool: "sessions_send", Params: params})
	require.NoError(t, err)
	require.Nil(t, result.Refused)
	for {
		page, err := board.Records(t.Context(), core.RecordQuery{Kind: core.RecordExchanges})
		require.NoError(t, err)
		if len(page.Exchanges) > 0 && exchangeOver(&page.Exchanges[0]) {
			return page.Exchanges[0]
		}
		_, err = stream.Next(t.Context())
		require.NoError(t, err)
	}
}

// A real exchange of five turns: the timeline tells both sides in turn, the announce and its delivery; the runs, the audit and the
// inspector tell of the same; enter on what was said goes to that very message.
func TestARealExchange(t *testing.T) {
	board := echoing(t)
	x := exchangeOf(t, board, "ping [[announce:ops had a talk]]")
	require.Equal(t, core.ExchangeDone, x.State)
	c := newConsole(t, board, 160, 45)
	c.now = time.UnixMilli(x.UpdatedAt)
	c.open("agent:ops:main")
	c.press("e", "enter")
	require.Equal(t, []string{
		"request", "  > round 1", "turn 1", "  > turn 2", "turn 3", "  > turn 4", "turn 5", "  > announce", "  > to slack · channel:ops", "the end",
	}, c.scenesIn())
	require.Contains(t, c.view(), "All 5 turns were taken. ops/main wrote what its chat is told.")
	require.Contains(t, c.row("to slack"), "✓ kept here")
	c.press("down", "down", "enter")
	require.Equal(t, "agent:main:main", c.m.trans.key)
	require.Equal(t, core.RoleAssistant, c.m.trans.current().Role)
	c.press("e")
	require.Equal(t, x.ID, c.m.stage().(*timeline).id, "the message knows its exchange")
	c.press("r")
	require.Len(t, c.m.stage().base().rows.ids, 7)
	c.press("e")
	require.Equal(t, x.ID, c.m.stage().(*timeline).id)
	c.press("g", "d")
	require.Len(t, c.m.stage().base().rows.ids, 1)
	c.press("esc", "esc", "esc", "esc")
	c.open("agent:ops:main")
	insp := c.pane(paneInspector)
	for _, want := range []string{"Exchanges", "✓ announced", "Deliveries", "✓ kept here"} {
		require.Contains(t, insp, want)
	}
}

// A failed run is retried as a new one and a queued one is held and let go, by keys, in a whole program over the real engine.
func TestRunsFlow(t *testing.T) {
	board := echoing(t)
	m := New(Env{Board: board, Theme: styles(t, themes.Dark, termenv.Ascii), Title: "~/data", Now: time.Now, Zone: time.UTC})
	tm := teatest.NewTestModel(t, m, teatest.WithInitialTermSize(120, 30))
	sees(t, tm.Output(), "agent:main:main ─ allow")
	tm.Send(keyMsg("H"))
	sees(t, tm.Output(), "1 session held")
	_, err := board.Do(t.Context(), core.Command{Send: &core.Send{Session: "agent:main:main", Message: "[[fail:the disk is full]]"}})
	require.NoError(t, err)
	tm.Send(keyMsg("r"))
	sees(t, tm.Output(), "queued #1")
	tm.Send(keyMsg("H"))
	sees(t, tm.Output(), "✗ failed")
	tm.Send(keyMsg("R"))
	sees(t, tm.Output(), "2/2")
	tm.Send(keyMsg("esc"))
	tm.Send(keyMsg("A"))
	sees(t, tm.Output(), "retry")
	tm.Send(keyMsg("q"))
	tm.Send(keyMsg("q"))
	final := tm.FinalModel(t, teatest.WithFinalTimeout(10*time.Second)).(*Model)
	require.NoError(t, final.Close())
}
