// Package bolt keeps a store in one bbolt file: core.Store for one machine (engine.md §8).
//
// One goroutine writes. It takes whatever was handed to Update while the last fsync ran, runs those functions in one bbolt transaction
// and commits them together, each under a revision of its own. Readers work on the memory map: what a visit function gets points into
// it, costs nothing and is gone when the function returns.
//
// Every table is a flat bucket (buckets.go). Records are JSON, behind a short binary header where a hot path would otherwise have to
// decode them; index entries are derived from records in the transaction that writes these, and Doctor derives them anew to compare.
package bolt
