// Package tool is the outside of the session tools: what they are called, what they take and what their answers look like. It decides
// nothing and reads no store; the engine decodes a call here, does the work and hands the records back to be assembled.
//
//	catalogue.go   the tools and their parameters: one table, from which schema, decoding and refusals come
//	param.go       the types a parameter can have, sendparam.go those of a send, spawnparam.go of a spawn; decode.go reads a call strictly by the table
//	cursor.go      what stands behind the opaque `before`
//	list.go        rows and answer of sessions_list; agents.go of agents_list
//	history.go     answer of sessions_history, byte for byte for the operator
//	bound.go       what a session gets of a message; cap.go how much of a transcript
//	redact.go      masking; secrets.go what looks like a credential
//	text.go        a message as plain text
//
// To add a tool:
//
//  1. name it and describe it in catalogue.go: a constant, an entry of catalogue(), a struct of its parameters with its Decode function
//  2. give its answer a type with a JSON method in a file of its own here, like agents.go
//  3. do it in core/engine, in a file of its own: decode, ask engine/view.go and engine/resolve.go what the caller may see, read, answer
//  4. add its case to dispatch in core/engine/call.go; TestEveryToolOfTheCatalogueIsDone fails until it is there
//  5. test its rows of parameters in decode_test.go here, and what it does and refuses in core/engine
//  6. tell of it in README and in core/doc.go, which says which file does what
package tool
