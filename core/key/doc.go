// Package key is the grammar of session keys (session-tools.md §1, §2): what a key says, which kind of session it names, how a word
// that a caller typed becomes the key that is stored, and how a stored key is shown to a caller.
//
// A key is `agent:<agentId>:<rest>`, or a bare `<rest>` that belongs to the default agent. Agent ids and the grammar's own words
// (`agent`, `group`, `subagent`, …) are compared without case. Everything else is opaque bytes that are never folded and never split
// past the fields the grammar names.
//
//	parse.go    the fields of a key, and which keys are acceptable at all
//	kind.go     the one classifier, chat type, sub-agent depth
//	names.go    the part of the configuration the grammar depends on; main, display
//	resolve.go  from what a caller typed to the stored keys it may mean
//	build.go    keys of new sessions
//	channel.go  the channel field of a row, and delivery contexts
package key
