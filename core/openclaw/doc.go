// Package openclaw reads OpenClaw state directories and copies them into a core.Store, once or as long as they live (engine.md §9,
// openclaw-files.md).
//
//	scan.go        which files a directory holds and what each is
//	members.go     one large JSON object, a member at a time, past what is broken
//	entries.go     sessions.json: an entry as a core.Session
//	registry.go    subagents/runs.json: runs and lineage
//	catalog.go     what is known of a source from one look to the next
//	plan.go        what a source holds and what is to be done about it; naming.go which file is which generation, compare.go what of it is new
//	lines.go       a file as lines, from where it was left
//	transcript.go  JSONL version 3, one line at a time, the message cut out byte for byte
//	import.go      Import: the reading and the writing half, side by side
//	read.go        the reading half: what is new, in batches
//	write.go       the writing half: one transaction per batch
//	refuse.go      what the store does not take, without the rest
//	rehome.go      a directory that was moved since it was imported
//	row.go         a session's row, and what of it survives a second import
//	keep.go        what a rewritten file held before
//	follow.go      Follow: look where something moved, plan, and import that; sweep for what was not notified of
//	watch.go       notifications of the directories that matter
//	patience.go    files that are caught half-written
//	export.go      Export: a generation as the file it came from
//	report.go      what an import tells
//
// A source is never written to, and nothing outside its directory is read: a link that leads out is a problem that is reported.
// A line, entry or file that cannot be read is reported with its place and skipped; nothing else is lost by it.
package openclaw
