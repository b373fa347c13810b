package ui

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordboard/core"
)

// flood is a second of 20,000 changes as they come: sixty batches, most of them of rows already there, some of sessions that come.
func flood(c *console, rev core.Rev) []core.Batch {
	var batches []core.Batch
	for i := range 60 {
		batch := core.Batch{From: rev, To: rev + 1}
		for j := range 334 {
			key := fmt.Sprintf("agent:a%d:telegram:group:-100%05d", (i*334+j)%7, (i*334+j)%10_000)
			h := core.Head{Key: key, Kind: core.KindGroup, Channel: "telegram", UpdatedAt: noon.UnixMilli() + int64(i), Rev: rev + 1, LastSeq: uint64(i)}
			if old := c.m.fleet.heads[key]; old != nil {
				h.Parent, h.Title, h.Flags = old.Parent, old.Title, old.Flags
			}
			if j == 0 && i%10 == 0 {
				h = core.Head{Key: fmt.Sprintf("agent:a1:new-%d-%d", rev, i), UpdatedAt: noon.UnixMilli(), Rev: rev + 1}
			}
			batch.Changes = append(batch.Changes, core.Change{Kind: core.ChangeSession, ID: h.Key, Head: &h})
		}
		rev++
		batches = append(batches, batch)
	}
	return batches
}

// Through a third of a second at 20,000 changes a second over 10,000 sessions, every key that is pressed in between moves the cursor by its row.
func TestNoKeyIsDroppedInAFlood(t *testing.T) {
	c := newConsole(t, crowd(t), 160, 50)
	c.press("home")
	for _, batch := range flood(c, 1_000_000)[:20] {
		at := c.m.tree.selected()
		c.send(batchMsg{stream: c.m.link.stream, batch: batch})
		require.Equal(t, at, c.m.tree.selected(), "nothing moves under the finger")
		index := c.m.tree.index
		c.press("down")
		require.Equal(t, index+1, c.m.tree.index)
	}
	fits(t, c.view(), 160, 50)
}

// BenchmarkFlood is what 20,000 changes with a key and a frame after each of 60 batches cost the loop; a second of it has to cost far less.
func BenchmarkFlood(b *testing.B) {
	c := crowded(b)
	rev := core.Rev(1_000_000)
	for b.Loop() {
		batches := flood(c, rev)
		rev += 1000
		start := time.Now()
		for _, batch := range batches {
			c.m.Update(batchMsg{stream: c.m.link.stream, batch: batch})
			c.m.Update(keyMsg("down"))
			_ = c.m.View()
		}
		b.ReportMetric(float64(time.Since(start).Microseconds())/1000, "ms/20k")
	}
}
