// Package core is the contract of cordboard: the records that are kept, the tools' words, and the interfaces between the rooms.
// It imports the standard library only; every other room imports it, it imports none.
//
// Start here, then follow a tool to the file that does it:
//
//	sessions_list      engine/list.go      over the head index, policy in policy/see.go
//	sessions_history   engine/history.go   bounds, masking and assembly in tool/
//	agents_list        engine/agents.go
//
// and a fact to the file that keeps it:
//
//	Session, Head, Generation   session.go     one conversation, its index entry, one transcript of it
//	Message                     message.go     one transcript line, its JSON byte for byte
//	Run, Exchange, Delivery     run.go         what agents do
//	Rev, Change, Batch          change.go      revisions and what front ends are told
//	Store, Reader, Tx           store.go       what the engine needs kept (store/bolt keeps it)
//	Board                       board.go       what any front end can do (package engine does it)
//	Runtime, Channel            runtime.go     who plays an agent, where texts go
//
// Times are Unix milliseconds throughout, as in the files and tools of the field; durations are milliseconds where a name says so.
package core
