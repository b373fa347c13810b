package openclaw

import (
	"context"
	"hash/maphash"
	"os"
	"strings"

	"cordboard/core"
)

// catalog is what is known of a source from one look at it to the next: what its files held, what the store has of them, and what the
// last plan made of both. An import fills one and drops it; a follower keeps it, so that only what changed is read.
type catalog struct {
	src      *source
	seed     maphash.Seed
	indexes  map[string]*index // sessions.json of each agent, by path
	registry registryFile
	known    map[string]core.SourceFile // by path
	claimed  map[string]string          // generation → path of the file it is read from
	last     *plan                      // nil: the next plan looks everything up
	patience *patience                  // nil: whatever is there is taken as it is
}

// index is a sessions.json as it was read last.
type index struct {
	entries []*entry // in the file's order
	out     int      // entries of it that cannot be used
	seen    reading
}

// registryFile is a runs.json as it was read last.
type registryFile struct {
	registry
	seen reading
}

// openCatalog opens a source and recalls what the store has of it.
func openCatalog(ctx context.Context, store core.Store, dir string) (*catalog, error) {
	src, err := openSource(dir)
	if err != nil {
		return nil, err
	}
	c := &catalog{src: src, seed: maphash.MakeSeed(), indexes: map[string]*index{}}
	if err := c.recall(ctx, store); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

func (c *catalog) close() {
	for _, x := range c.indexes {
		closeUnused(x.entries, nil)
	}
	c.src.close()
}

// recall reads from the store how far each file of the source has been read, and forgets the last plan.
func (c *catalog) recall(ctx context.Context, store core.Store) error {
	c.known, c.claimed, c.last = map[string]core.SourceFile{}, map[string]string{}, nil
	return store.View(ctx, func(r core.Reader) error {
		return r.SourceFiles(c.src.dir, func(f *core.SourceFile) bool {
			k := core.SourceFile{
				Source: c.src.dir, Path: strings.Clone(f.Path), Generation: strings.Clone(f.Generation), Size: f.Size, ModTime: f.ModTime,
				Offset: f.Offset, Lines: f.Lines, Sum: strings.Clone(f.Sum),
			}
			c.known[k.Path] = k
			if k.Generation != "" {
				c.claimed[k.Generation] = k.Path
			}
			return true
		})
	})
}

// remember keeps in step with what a committed step wrote.
func (c *catalog) remember(s *step) {
	if s.file.Path == "" {
		return
	}
	if at := s.frees(); at != "" && c.known[at].Generation == s.t.gen.ID {
		c.place(core.SourceFile{Source: s.file.Source, Path: at})
	}
	c.place(s.file)
}

func (c *catalog) place(f core.SourceFile) {
	if old := c.known[f.Path]; old.Generation != f.Generation && c.claimed[old.Generation] == f.Path {
		delete(c.claimed, old.Generation)
	}
	c.known[f.Path] = f
	if f.Generation != "" {
		c.claimed[f.Generation] = f.Path
	}
}

// readIndex brings an agent's entries up to date. Where the file is broken or gone, entries that it had before stay: nobody's session
// ends because a file was found half-written.
func (c *catalog) readIndex(ctx context.Context, a *agentDir, told *problems) *index {
	x := c.indexes[a.indexPath()]
	if x == nil {
		x = &index{}
		c.indexes[a.indexPath()] = x
	}
	if !x.seen.due(a.index, c.patience) {
		return x
	}
	if a.index == nil {
		x.seen.done(a.indexPath(), nil, &problems{}, false, c.patience, told)
		return x
	}
	var found problems
	file, err := c.src.root.Open(a.indexPath())
	if err != nil {
		found.add(Problem{File: a.indexPath(), Reason: "cannot be read: " + cause(err)})
		x.seen.done(a.indexPath(), a.index, &found, true, c.patience, told)
		return x
	}
	begun := c.patience.now()
	before := make(map[string]*entry, len(x.entries))
	for _, e := range x.entries {
		before[e.session.Key] = e
	}
	entries, out, broken := readEntries(ctx, &indexFile{file: file, path: a.indexPath(), seed: c.seed}, before, &found)
	if broken {
		entries = append(entries, missing(entries, x.entries)...)
	}
	closeUnused(x.entries, entries)
	x.entries, x.out = entries, out
	x.seen.took(begun, c.patience)
	x.seen.done(a.indexPath(), a.index, &found, broken, c.patience, told)
	return x
}

// missing returns the entries of before whose keys are not among now.
func missing(now, before []*entry) (rest []*entry) {
	there := make(map[string]bool, len(now))
	for _, e := range now {
		there[e.session.Key] = true
	}
	for _, e := range before {
		if !there[e.session.Key] {
			rest = append(rest, e)
		}
	}
	return rest
}

// closeUnused closes the files that entries were read from and that no entry needs any more.
func closeUnused(before, now []*entry) {
	used := map[*indexFile]bool{}
	for _, e := range now {
		used[e.index] = true
	}
	for _, e := range before {
		if !used[e.index] {
			used[e.index] = true
			e.index.file.Close()
		}
	}
}

func (c *catalog) readRegistry(ctx context.Context, told *problems) {
	reg := &c.registry
	if !reg.seen.due(c.src.registry, c.patience) {
		return
	}
	if c.src.registry == nil {
		reg.seen.done(registryPath, nil, &problems{}, false, c.patience, told)
		return
	}
	var found problems
	f, err := c.src.root.Open(registryPath)
	if err != nil {
		found.add(Problem{File: registryPath, Reason: "cannot be read: " + cause(err)})
		reg.seen.done(registryPath, c.src.registry, &found, true, c.patience, told)
		return
	}
	defer f.Close()
	read, broken := readRegistry(until{ctx, f}, registryPath, c.patience.liveAfter(), &found)
	if !broken || len(reg.runs) == 0 {
		reg.registry = read
	}
	reg.seen.done(registryPath, c.src.registry, &found, broken, c.patience, told)
}

// until reads from a file as long as ctx lasts.
type until struct {
	ctx  context.Context
	file *os.File
}

func (u until) Read(b []byte) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.file.Read(b)
}

func (u until) ReadAt(b []byte, at int64) (int, error) {
	if err := u.ctx.Err(); err != nil {
		return 0, err
	}
	return u.file.ReadAt(b, at)
}

// indexFile is an opened sessions.json that entries are read from late.
type indexFile struct {
	file *os.File
	path string
	seed maphash.Seed
}
