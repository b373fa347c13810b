// Package testdata holds what the tests read, and the fleet that `cordboard demo` shows.
package testdata

import "embed"

// Fleet is an OpenClaw state directory of three agents, under openclaw/.
//
//go:embed openclaw
var Fleet embed.FS

// DemoConfig is the config that the fleet is shown under.
//
//go:embed demo.json5
var DemoConfig []byte
