package tool

import (
	"encoding/json"
	"slices"
)

// ArrayBytes is how large the messages of one answer to a session may be: 80 KiB of JSON (session-tools.md §5).
const ArrayBytes = 80 << 10

// Cap keeps the newest items whose JSON array is at most max bytes, and returns them in order with the array's size. The items are made
// one by one from the newest (index n-1), and none that is not needed. The newest is kept even when it alone is too large.
func Cap(n, max int, item func(i int) json.RawMessage) (kept []json.RawMessage, bytes int) {
	bytes = len("[]")
	for i := n - 1; i >= 0; i-- {
		next := item(i)
		size := bytes + len(next)
		if len(kept) > 0 {
			size += len(",")
			if size > max {
				break
			}
		}
		kept, bytes = append(kept, next), size
	}
	slices.Reverse(kept)
	return kept, bytes
}
