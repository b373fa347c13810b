// Package testdata holds what the tests read, and the fleet that `cordboard demo` shows.
package testdata

import "embed"

// Fleet is an OpenClaw state directory of three agents, under openclaw/.
//
//go:embed openclaw
var Fleet embed.FS
