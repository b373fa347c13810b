package openclaw

import (
	"context"
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"cordboard/core"
)

const (
	// sample is how many entries are looked at to find out whether a directory was imported from another place.
	sample = 1000
	// perMove is how many records are moved in one transaction.
	perMove = 500
)

// rehome recognises a directory that was moved since it was imported: most of the keys that another source has here have their sessionIds
// there too, and that source's directory is gone. What was imported from there is then this directory's.
func (c *catalog) rehome(ctx context.Context, store core.Store, found *problems) error {
	from, err := c.formerHome(ctx, store, found)
	if err != nil || from == "" {
		return err
	}
	m, err := c.belongings(ctx, store, from)
	if err != nil {
		return err
	}
	if err := m.write(ctx, store); err != nil {
		return err
	}
	found.add(Problem{
		File: agentsDir, Reason: "was imported from " + from + ", which is gone: taken for that directory, its sessions are gone on with", once: true,
	})
	return c.recall(ctx, store)
}

func (c *catalog) formerHome(ctx context.Context, store core.Store, found *problems) (from string, err error) {
	c.readRegistry(ctx, found)
	var entries []*entry
	for _, id := range slices.Sorted(maps.Keys(c.src.agents)) {
		entries = append(entries, c.readIndex(ctx, c.src.agents[id], found).entries...)
	}
	if err := ctx.Err(); err != nil {
		return "", err
	}
	shared, same := map[string]int{}, map[string]int{}
	err = store.View(ctx, func(r core.Reader) error {
		for _, e := range entries[:min(sample, len(entries))] {
			s, ok, err := r.Session(e.session.Key)
			if err != nil {
				return err
			}
			if !ok || s.Source == "" || s.Source == c.src.dir {
				continue
			}
			shared[s.Source]++
			if s.SessionID != "" && s.SessionID == e.session.SessionID {
				same[s.Source]++
			}
		}
		return nil
	})
	for source, n := range same {
		if n > same[from] || n == same[from] && source < from {
			from = source
		}
	}
	if err != nil || from == "" || 2*same[from] <= shared[from] {
		return "", err
	}
	if _, err := os.Lstat(from); !errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return from, nil
}

// move is what of a store goes from one source to another.
type move struct {
	from, to    string
	files       []core.SourceFile
	generations []string
	keys        []string
}

func (c *catalog) belongings(ctx context.Context, store core.Store, from string) (*move, error) {
	m := &move{from: from, to: c.src.dir}
	err := store.View(ctx, func(r core.Reader) error {
		err := r.SourceFiles(from, func(f *core.SourceFile) bool {
			if f.Generation != "" {
				m.files = append(m.files, core.SourceFile{
					Path: strings.Clone(f.Path), Generation: strings.Clone(f.Generation), Size: f.Size, ModTime: f.ModTime,
					Offset: f.Offset, Lines: f.Lines, Sum: strings.Clone(f.Sum),
				})
			}
			return ctx.Err() == nil
		})
		if err != nil {
			return err
		}
		err = r.AllGenerations("", func(g *core.Generation) bool {
			if _, ok := m.moved(g.File); ok {
				m.generations = append(m.generations, strings.Clone(g.ID))
			}
			return ctx.Err() == nil
		})
		if err != nil {
			return err
		}
		var all []string
		err = r.Heads(core.HeadCursor{}, func(h *core.Head) bool {
			all = append(all, strings.Clone(h.Key))
			return ctx.Err() == nil
		})
		if err != nil {
			return err
		}
		for _, k := range all {
			s, ok, err := r.Session(k)
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				return err
			}
			if ok && s.Source == from {
				m.keys = append(m.keys, k)
			}
		}
		return ctx.Err()
	})
	return m, err
}

// moved is where a file is now, ok=false for one that was not in the directory.
func (m *move) moved(file string) (string, bool) {
	rest, ok := strings.CutPrefix(file, m.from+string(os.PathSeparator))
	return m.to + string(os.PathSeparator) + rest, ok
}

// write moves the rows last: as long as one is not moved the next import finds the directory moved, and goes on.
func (m *move) write(ctx context.Context, store core.Store) error {
	err := inParts(ctx, store, m.files, func(tx core.Tx, f core.SourceFile) error {
		f.Source = m.to
		if err := tx.PutSourceFile(f); err != nil {
			return err
		}
		return tx.PutSourceFile(core.SourceFile{Source: m.from, Path: f.Path})
	})
	if err != nil {
		return err
	}
	err = inParts(ctx, store, m.generations, func(tx core.Tx, id string) error {
		g, ok, err := tx.Generation(id)
		if err != nil || !ok {
			return err
		}
		if file, ok := m.moved(g.File); ok {
			g.File = file
		}
		return tx.PutGeneration(g)
	})
	if err != nil {
		return err
	}
	return inParts(ctx, store, m.keys, func(tx core.Tx, k string) error {
		s, ok, err := tx.Session(k)
		if err != nil || !ok || s.Source != m.from {
			return err
		}
		s.Source = m.to
		return tx.PutSession(s)
	})
}

// inParts writes all of a list, in transactions of perMove records.
func inParts[T any](ctx context.Context, store core.Store, all []T, put func(core.Tx, T) error) error {
	for part := range slices.Chunk(all, perMove) {
		_, err := store.Update(ctx, func(tx core.Tx) error {
			for _, one := range part {
				if err := put(tx, one); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
