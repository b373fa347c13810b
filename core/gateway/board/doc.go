// Package board carries a core.Board over the wire, one method a verb: cordboard.info, sessions, messages, records, search, explain, call,
// do, and watch, next, unwatch for its streams (gateway.md §2). server.go answers them from any Board, client.go is a Board that asks.
//
// A stream is pulled: `next` is answered when something has changed, so a client that is slow gets what changed meanwhile merged into one
// batch, and holds up nobody. The client remembers the cursor of what it has delivered and opens the stream there anew when the
// connection was lost.
//
// Message.Raw and ToolResult.Body cross byte for byte.
package board
