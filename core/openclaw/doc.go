// Package openclaw reads OpenClaw state directories and copies them into a core.Store (engine.md §9, openclaw-files.md).
//
//	scan.go        which files a directory holds and what each is
//	entries.go     sessions.json, one entry at a time
//	transcript.go  JSONL version 3, one line at a time, the message cut out byte for byte
//	registry.go    subagents/runs.json
//	row.go         an entry as a core.Session, and what of it survives a second import
//	import.go      Import: plan, read and write, side by side
//	read.go        the reading half: what is new in a file, in batches
//	write.go       the writing half: one transaction per batch
//	export.go      Export: a generation as the file it came from
//
// A source is never written to, and nothing outside its directory is read: a link that leads out is a problem that is reported.
// A line, entry or file that cannot be read is reported with its place and skipped; nothing else is lost by it.
package openclaw
