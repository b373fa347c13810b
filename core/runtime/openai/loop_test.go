package openai_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/core/engine"
)

// A model that wrote to another agent gets that agent's reply as a message of its own, ends the conversation, and the other side tells its
// chat: both transcripts, the chat, and what the model was shown of who writes.
func TestModelInALoop(t *testing.T) {
	l := serve(t,
		calls("c1", "sessions_send", `{"sessionKey":"agent:work:paper:group:g1","message":"[[say:it is 42]][[announce:told them]]"}`),
		says("work says it is 42"),
		says("REPLY_SKIP"),
	)
	f := newFleetUnder(t, newRig(t, l).Runtime, engine.Options{}, strings.Replace(fleetConfig, "maxPingPongTurns: 0, announce: false", "maxPingPongTurns: 5", 1))
	b, err := f.engine.Board(t.Context(), core.Operator)
	require.NoError(t, err)
	stream, err := b.Watch(t.Context(), core.Cursor{})
	require.NoError(t, err)
	defer stream.Close()
	receipt, err := b.Do(t.Context(), core.Command{Inbound: &core.Inbound{
		Agent: "work", Channel: "paper", ChatType: core.ChatGroup, ID: "g1", Text: "[[say:]]",
	}})
	require.NoError(t, err)
	_, err = b.Records(t.Context(), core.RecordQuery{Kind: core.RecordRun, Run: receipt.Run, Wait: 60_000})
	require.NoError(t, err)

	_, reply := f.send("Ask work for the number.")
	assert.Equal(t, "work says it is 42", reply)
	var x core.Exchange
	for x.State != core.ExchangeDone {
		_, err := stream.Next(t.Context())
		require.NoError(t, err)
		page, err := b.Records(t.Context(), core.RecordQuery{Kind: core.RecordExchanges})
		require.NoError(t, err)
		if len(page.Exchanges) > 0 {
			x = page.Exchanges[0]
			require.NotEqual(t, core.ExchangeFailed, x.State, x.Why)
		}
	}
	assert.Equal(t, "skip", x.Reason)
	main := f.transcript("agent:main:main")
	require.Len(t, main, 6)
	assert.Contains(t, main[2], `"reply":"it is 42"`)
	assert.Equal(t, []string{"assistant work says it is 42", "user it is 42", "assistant REPLY_SKIP"}, main[3:])
	assert.Equal(t, []string{
		"user [[say:]]", "assistant ", "user [[say:it is 42]][[announce:told them]]", "assistant it is 42",
		"user Agent-to-agent announce step.", "assistant told them",
	}, f.transcript("agent:work:paper:group:g1"))
	page, err := b.Records(t.Context(), core.RecordQuery{Kind: core.RecordDeliveries})
	require.NoError(t, err)
	require.Len(t, page.Deliveries, 1)
	assert.Equal(t, "told them", page.Deliveries[0].Text)
	assert.Equal(t, core.DeliveryContext{Channel: "paper", To: "g1"}, page.Deliveries[0].Route)

	asked := l.asked()
	require.Len(t, asked, 3)
	shown := asked[2]
	assert.Contains(t, shown, "You are agent:main:main; the other side is agent:work:paper:group:g1.")
	assert.Contains(t, shown, "REPLY_SKIP", "it is told how to end")
	messages := decode(t, shown).Messages
	last := messages[len(messages)-1]
	assert.Equal(t, "user", last.Role)
	assert.True(t, strings.HasSuffix(last.Content, "it is 42"), last.Content)
	assert.Contains(t, last.Content, "agent:work:paper:group:g1", "a line says who writes")
}
