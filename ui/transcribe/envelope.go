package transcribe

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"
)

// Envelope is what OpenClaw writes in front of a person's text: who sent it, as data nobody checked, and when.
type Envelope struct {
	Sender string // label of the sender block
	Stamp  string // `Mon 2026-11-30 21:27 UTC`
}

const (
	senderOpens  = "Sender (untrusted metadata):\n```json\n"
	senderCloses = "\n```\n\n"
	stampLayout  = "Mon 2006-01-02 15:04 MST"
)

// OpenEnvelope splits a text into its envelope and what was said. A text without one comes back as it is.
func OpenEnvelope(text string) (Envelope, string) {
	var e Envelope
	if rest, ok := strings.CutPrefix(text, senderOpens); ok {
		if block, said, ok := strings.Cut(rest, senderCloses); ok {
			var sender struct{ Label, Name, ID string }
			if json.Unmarshal([]byte(block), &sender) == nil {
				e.Sender = cmp.Or(sender.Label, sender.Name, sender.ID)
				text = said
			}
		}
	}
	if rest, ok := strings.CutPrefix(text, "["); ok {
		stamp, said, ok := strings.Cut(rest, "] ")
		if _, err := time.Parse(stampLayout, stamp); ok && err == nil {
			e.Stamp, text = stamp, said
		}
	}
	return e, text
}
