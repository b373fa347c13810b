package ui

import (
	"encoding/json"
	"strings"
	"time"
)

// envelope is what OpenClaw writes in front of a person's text: who sent it, as data nobody checked, and when.
type envelope struct {
	sender string // label of the sender block
	stamp  string // `Mon 2026-11-30 21:27 UTC`
}

const (
	senderOpens  = "Sender (untrusted metadata):\n```json\n"
	senderCloses = "\n```\n\n"
	stampLayout  = "Mon 2006-01-02 15:04 MST"
)

// openEnvelope splits a text into its envelope and what was said. A text without one comes back as it is.
func openEnvelope(text string) (envelope, string) {
	var e envelope
	if rest, ok := strings.CutPrefix(text, senderOpens); ok {
		if block, said, ok := strings.Cut(rest, senderCloses); ok {
			var sender struct{ Label, Name, ID string }
			if json.Unmarshal([]byte(block), &sender) == nil {
				e.sender = firstOf(sender.Label, sender.Name, sender.ID)
				text = said
			}
		}
	}
	if rest, ok := strings.CutPrefix(text, "["); ok {
		stamp, said, ok := strings.Cut(rest, "] ")
		if _, err := time.Parse(stampLayout, stamp); ok && err == nil {
			e.stamp, text = stamp, said
		}
	}
	return e, text
}

func firstOf(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
