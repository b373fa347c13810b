package openclaw

import (
	"encoding/json"
	"reflect"
	"strconv"
	"unicode/utf8"

	"cordboard/core"
)

// row is one session of a source and what is known of it beside its entry.
type row struct {
	*entry
	session    core.Session // to be stored: Source, current transcript and lineage filled in
	lineage    lineage      // by the registry
	transcript *transcript  // of its current generation
	blocked    bool         // its key belongs to someone else here
	done       bool         // the store has it
}

// rowBytes is how large the JSON of a row gets at most (rows stay under 4 KiB, engine.md §8).
const rowBytes = 3800

// fit shortens what a row may do without until it is small enough; the entry keeps it all. reason, when not "", tells what was left
// out; ok=false when nothing helps.
func fit(s *core.Session) (reason string, ok bool) {
	if len(s.SpawnedBy) > core.MaxKeyBytes || hasNUL(s.SpawnedBy) {
		s.SpawnedBy, reason = "", "its spawnedBy is no session key: left out"
	}
	if fits(s) {
		return reason, true
	}
	s.Label, s.DisplayName = cut(s.Label, 120), cut(s.DisplayName, 120)
	reason = "its label or display name is very long: cut in the list, whole in the entry"
	if fits(s) {
		return reason, true
	}
	s.Delivery, s.LastChannel, s.LastTo, s.LastAccountID, s.LastThreadID = core.DeliveryContext{}, "", "", "", ""
	s.Channel, s.Model, s.ModelProvider, s.ThinkingLevel, s.VerboseLevel = "", "", "", "", ""
	if !fits(s) {
		return "its row would have more than " + strconv.Itoa(rowBytes) + " bytes without any of its fields: the session is left out, its transcript " +
			"is kept without one", false
	}
	return "its fields are too long for a list: left out there, whole in the entry", true
}

// fits reports whether a row is small enough.
func fits(s *core.Session) bool {
	text, err := json.Marshal(s)
	return err == nil && len(text) <= rowBytes
}

func hasNUL(s string) bool {
	for i := range len(s) {
		if s[i] == 0 {
			return true
		}
	}
	return false
}

// cut shortens s to at most n bytes at a rune's edge, with an ellipsis.
func cut(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n -= len("…"); n > 0 && !utf8.RuneStart(s[n]); n-- {
	}
	return s[:n] + "…"
}

// merged is a stored row after its entry changed from before to now: the source's new values, but a field that was changed here since stays
// unless the source changed it too. What only we know (outcome, archive time, source) is not the entry's to change.
func merged(stored, before, now core.Session) core.Session {
	take(&stored.UpdatedAt, before.UpdatedAt, now.UpdatedAt)
	take(&stored.ChatType, before.ChatType, now.ChatType)
	take(&stored.Channel, before.Channel, now.Channel)
	take(&stored.Label, before.Label, now.Label)
	take(&stored.DisplayName, before.DisplayName, now.DisplayName)
	take(&stored.SpawnedBy, before.SpawnedBy, now.SpawnedBy)
	take(&stored.SpawnDepth, before.SpawnDepth, now.SpawnDepth)
	take(&stored.Model, before.Model, now.Model)
	take(&stored.ModelProvider, before.ModelProvider, now.ModelProvider)
	take(&stored.ContextTokens, before.ContextTokens, now.ContextTokens)
	take(&stored.TotalTokens, before.TotalTokens, now.TotalTokens)
	take(&stored.TokensStale, before.TokensStale, now.TokensStale)
	take(&stored.ThinkingLevel, before.ThinkingLevel, now.ThinkingLevel)
	take(&stored.VerboseLevel, before.VerboseLevel, now.VerboseLevel)
	take(&stored.SystemSent, before.SystemSent, now.SystemSent)
	take(&stored.AbortedLastRun, before.AbortedLastRun, now.AbortedLastRun)
	take(&stored.SendPolicy, before.SendPolicy, now.SendPolicy)
	take(&stored.LastChannel, before.LastChannel, now.LastChannel)
	take(&stored.LastTo, before.LastTo, now.LastTo)
	take(&stored.LastAccountID, before.LastAccountID, now.LastAccountID)
	take(&stored.LastThreadID, before.LastThreadID, now.LastThreadID)
	take(&stored.Delivery, before.Delivery, now.Delivery)
	return stored
}

func take[T any](stored *T, before, now T) {
	if !reflect.DeepEqual(before, now) {
		*stored = now
	}
}
