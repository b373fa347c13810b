// Package core is the contract of cordboard: the records that are kept, the tools' words, and the interfaces between the rooms.
// It imports the standard library only; every other room imports it, it imports none.
//
// Start here, then follow a tool to the file that does it:
//
//	sessions_list      engine/list.go      over the head index, policy in policy/see.go
//	sessions_history   engine/history.go   bounds, masking and assembly in tool/
//	sessions_send      engine/send.go      what follows it in engine/exchange.go and engine/announce.go
//	sessions_spawn     engine/spawn.go     what follows it in engine/subagent.go, the report in engine/subreport.go
//	agents_list        engine/call.go      spawn rights in policy/spawn.go
//
// and a fact to the file that keeps it:
//
//	Session, Head, Generation   session.go     one conversation, its index entry, one transcript of it
//	Message                     message.go     one transcript line, its JSON byte for byte
//	Run, Exchange, Delivery     run.go         what agents do (engine/runs.go, engine/drive.go, engine/exchange.go)
//	Spawn, Binding              spawn.go       what a sub-agent's run and a thread have beside
//	Rev, Change, Batch          change.go      revisions and what front ends are told
//	Store, Reader, Tx           store.go       what the engine needs kept (store/bolt keeps it)
//	Board                       board.go       what any front end can do (package engine does it, gateway/board carries it);
//	                                           command.go what it can be told, question.go and records.go what it can be asked
//	Runtime, Channel, Toolbox   runtime.go     who plays an agent, where texts go, tools from outside
//
// "session-tools.md §4" and the like, here and everywhere, are sections of the specification that the project is built to.
//
// Times are Unix milliseconds throughout, as in the files and tools of the field; durations are milliseconds where a name says so.
package core
