package ui

import (
	"slices"

	"cordboard/core"
)

// everything is a transcript with nothing left out.
func everything() core.MessageFilter { return core.MessageFilter{Events: true} }

func same(a, b core.MessageFilter) bool {
	return a.NoTools == b.NoTools && a.Events == b.Events && a.Errors == b.Errors && a.Since == b.Since && slices.Equal(a.Roles, b.Roles)
}
