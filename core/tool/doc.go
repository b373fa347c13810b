// Package tool is the outside of the session tools: what they are called, what they take and what their answers look like. It decides
// nothing and reads no store; the engine decodes a call here, does the work and hands the records back to be assembled.
//
//	catalogue.go   the tools and their parameters: one table, from which schema, decoding and refusals come
//	param.go       the types a parameter can have, sendparam.go those of a send; decode.go reads a call strictly by the table
//	cursor.go      what stands behind the opaque `before`
//	list.go        rows and answer of sessions_list; agents.go of agents_list
//	history.go     answer of sessions_history, byte for byte for the operator
//	bound.go       what a session gets of a message; cap.go how much of a transcript
//	redact.go      masking; secrets.go what looks like a credential
//	text.go        a message as plain text
package tool
