package engine_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
)

// Deliveries and exchanges come newest first whatever their ids are, those of a session, in a state, and as many as were asked for.
func TestDeliveriesAndExchangesAreNarrowed(t *testing.T) {
	stageWith(t, chatChannel, &carrier{}, func(t *testing.T, s *stage) {
		const one, other = "agent:main:main", "agent:ops:main"
		ids := []string{"c", "a", "e", "b", "d", "f"}
		_, err := s.store.Update(t.Context(), func(tx core.Tx) error {
			for _, key := range []string{one, other} {
				if err := tx.PutSession(core.Session{Key: key, SessionID: key}); err != nil {
					return err
				}
			}
			for i, id := range ids {
				d := core.Delivery{ID: id, SessionKey: one, State: core.DeliveryDelivered, CreatedAt: int64(i + 1)}
				x := core.Exchange{ID: id, RequesterKey: one, TargetKey: one, State: core.ExchangeDone, CreatedAt: int64(i + 1)}
				if i%2 == 0 {
					d.SessionKey, d.State, x.TargetKey = other, core.DeliveryGaveUp, other
				}
				if err := tx.PutDelivery(d); err != nil {
					return err
				}
				if err := tx.PutExchange(x); err != nil {
					return err
				}
			}
			return nil
		})
		require.NoError(t, err)
		for _, c := range []struct {
			q    core.RecordQuery
			want string
		}{
			{core.RecordQuery{Kind: core.RecordDeliveries}, "[f d b e a c]"},
			{core.RecordQuery{Kind: core.RecordDeliveries, Limit: 2}, "[f d]"},
			{core.RecordQuery{Kind: core.RecordDeliveries, Session: other}, "[d e c]"},
			{core.RecordQuery{Kind: core.RecordDeliveries, Session: "main", Limit: 1}, "[f]"},
			{core.RecordQuery{Kind: core.RecordDeliveries, State: core.DeliveryGaveUp, Session: one}, "[]"},
			{core.RecordQuery{Kind: core.RecordDeliveries, State: core.DeliveryGaveUp}, "[d e c]"},
			{core.RecordQuery{Kind: core.RecordExchanges, Limit: 3}, "[f d b]"},
			{core.RecordQuery{Kind: core.RecordExchanges, Session: other}, "[d e c]"},
			{core.RecordQuery{Kind: core.RecordExchanges, Session: one}, "[f d b e a c]"},
		} {
			page, err := s.as("").Records(t.Context(), c.q)
			require.NoError(t, err)
			got := []string{}
			for _, d := range page.Deliveries {
				got = append(got, d.ID)
			}
			for _, x := range page.Exchanges {
				got = append(got, x.ID)
			}
			assert.Equal(t, c.want, fmt.Sprint(got), "%+v", c.q)
		}
		_, err = s.as("").Records(t.Context(), core.RecordQuery{Kind: core.RecordDeliveries, State: "lost"})
		assert.Equal(t, core.CodeInvalidParams, core.CodeOf(err))
		assert.ErrorContains(t, err, "gave-up")
	})
}
