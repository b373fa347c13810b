package transcribe

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEnvelope(t *testing.T) {
	cases := []struct {
		name, text string
		want       Envelope
		said       string
	}{
		{"none", "hello", Envelope{}, "hello"},
		{"stamp", "[Mon 2026-11-30 21:27 UTC] hello", Envelope{Stamp: "Mon 2026-11-30 21:27 UTC"}, "hello"},
		{"not a stamp", "[ops] hello", Envelope{}, "[ops] hello"},
		{"sender", senderOpens + `{"name":"Mira"}` + senderCloses + "hello", Envelope{Sender: "Mira"}, "hello"},
		{"broken sender", senderOpens + `{"name":` + senderCloses + "hello", Envelope{}, senderOpens + `{"name":` + senderCloses + "hello"},
		{"sender without an end", senderOpens + `{"name":"Mira"}`, Envelope{}, senderOpens + `{"name":"Mira"}`},
		{"sender later in the text", "x " + senderOpens, Envelope{}, "x " + senderOpens},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			e, said := OpenEnvelope(c.text)
			require.Equal(t, c.want, e)
			require.Equal(t, c.said, said)
		})
	}
}
