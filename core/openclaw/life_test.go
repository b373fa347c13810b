package openclaw

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cordboard/core"
	"cordboard/core/proptest"
)

// life is a state directory that lives on between imports: a model of what a gateway does to its files, and of what must be in the store
// in the end.
type life struct {
	rt       *rapid.T
	d        state
	s        core.Store
	clock    time.Time
	count    int                 // of messages, sessions and archives so far
	sessions map[string]*being   // by key
	lines    map[string][]string // texts by file: what is on disk
	seen     map[string]bool     // texts that were on disk, whole, at an import
	swapped  map[string]bool     // texts that changed files with others: what was in a file is kept as a backup then
	broken   bool                // the sessions.json of a cannot be read at the moment
	see      func()              // imports all there is
	removed  []string            // keys of sessions that were deleted
	pause    func()              // between two steps of what a gateway does at once
}

func newLife(rt *rapid.T, t *testing.T) *life {
	l := &life{
		rt: rt, d: newState(t), s: newStore(t), clock: time.UnixMilli(1796029200000),
		sessions: map[string]*being{}, lines: map[string][]string{}, seen: map[string]bool{}, swapped: map[string]bool{}, pause: func() {},
	}
	l.see = func() {
		_, err := Import(context.Background(), l.s, l.d.dir, Options{})
		require.NoError(rt, err)
	}
	l.d.write("a", indexName, "{}")
	return l
}

type being struct {
	agent string
	id    string
	file  string // that its entry names, when it is not called after the id
	half  string // what is missing of the last line in its file,
	text  string // and that line's text
}

func (l *life) next() int { l.count++; return l.count }

func (l *life) file(b *being) string { return cmp.Or(b.file, b.id+".jsonl") }

// tick sets a file's time, so that no two states of a file look alike.
func (l *life) tick(b *being) {
	l.clock = l.clock.Add(time.Second)
	require.NoError(l.rt, os.Chtimes(l.d.path(b.agent, l.file(b)), l.clock, l.clock))
}

// index replaces an agent's sessions.json as a whole.
func (l *life) index(agent string) {
	entries := map[string]map[string]any{}
	for k, b := range l.sessions {
		if b.agent == agent {
			entries[k] = map[string]any{"sessionId": b.id, "updatedAt": 1796029200000 + l.count}
			if b.file != "" {
				entries[k]["sessionFile"] = "/home/op/.openclaw/agents/" + agent + "/sessions/" + b.file
			}
		}
	}
	text, err := json.MarshalIndent(entries, "", "  ")
	require.NoError(l.rt, err)
	l.d.write(agent, "sessions.json.tmp", string(text))
	l.d.rename(agent, "sessions.json.tmp", indexName)
	l.broken = l.broken && agent != "a"
}

func (l *life) pick() (string, *being) {
	keys := make([]string, 0, len(l.sessions))
	for k := range l.sessions {
		keys = append(keys, k)
	}
	if len(keys) == 0 {
		l.rt.Skip("there is no session yet")
	}
	slices.Sort(keys)
	k := rapid.SampledFrom(keys).Draw(l.rt, "session")
	return k, l.sessions[k]
}

func (l *life) begin(*rapid.T) {
	n := l.next()
	b := &being{agent: "a", id: fmt.Sprintf("s%03d", n)}
	l.sessions[fmt.Sprintf("agent:a:k%d", n)] = b
	l.create(b)
	l.pause()
	l.index(b.agent)
}

// beginElsewhere is a session of another agent, at first of one that was not there.
func (l *life) beginElsewhere(rt *rapid.T) {
	n := l.next()
	b := &being{agent: rapid.SampledFrom([]string{"b", "c"}).Draw(rt, "agent"), id: fmt.Sprintf("s%03d", n)}
	l.sessions[fmt.Sprintf("agent:%s:k%d", b.agent, n)] = b
	l.create(b)
	l.pause()
	l.index(b.agent)
}

func (l *life) create(b *being) {
	l.d.write(b.agent, l.file(b), header)
	l.lines[l.file(b)] = nil
	l.tick(b)
}

// say appends a message, or the first half of one; a half that was begun is completed first.
func (l *life) say(rt *rapid.T) {
	_, b := l.pick()
	name := l.file(b)
	if b.half != "" {
		l.d.append(b.agent, name, b.half)
		l.lines[name] = append(l.lines[name], b.text)
		b.half, b.text = "", ""
	}
	text := fmt.Sprintf("m%d", l.next())
	line := said("user", text)
	if rapid.Bool().Draw(rt, "half") {
		at := rapid.IntRange(1, len(line)-3).Draw(rt, "at")
		l.d.append(b.agent, name, line[:at])
		b.half, b.text = line[at:], text
	} else {
		l.d.append(b.agent, name, line)
		l.lines[name] = append(l.lines[name], text)
	}
	l.tick(b)
}

// finish completes the line that was begun, before its file is archived.
func (l *life) finish(b *being) {
	if b.half != "" {
		l.d.append(b.agent, l.file(b), b.half)
		l.lines[l.file(b)] = append(l.lines[l.file(b)], b.text)
		b.half, b.text = "", ""
		l.tick(b)
	}
}

func (l *life) archive(b *being, how string) {
	l.finish(b)
	from, to := l.file(b), fmt.Sprintf("%s.%s.2026-11-30T10-00-%02d.%03dZ", l.file(b), how, l.count/1000, l.count%1000)
	l.next()
	l.d.rename(b.agent, from, to)
	l.lines[to] = l.lines[from]
	delete(l.lines, from)
}

func (l *life) reset(*rapid.T) {
	_, b := l.pick()
	l.archive(b, "reset")
	l.pause()
	b.id, b.file = fmt.Sprintf("s%03d", l.next()), ""
	l.create(b)
	l.pause()
	l.index(b.agent)
}

// move gives a session's file another name, which its entry tells. It is seen before anything else happens to the file: a name that none has
// seen tells nothing of an archive that is called after it.
func (l *life) move(*rapid.T) {
	_, b := l.pick()
	l.finish(b)
	from, to := l.file(b), fmt.Sprintf("moved-%03d.jsonl", l.next())
	l.d.rename(b.agent, from, to)
	l.lines[to] = l.lines[from]
	delete(l.lines, from)
	b.file = to
	l.index(b.agent)
	l.see()
}

// desert lets a session go on in a file that is called after its id, beside the one that it had.
func (l *life) desert(rt *rapid.T) {
	_, b := l.pick()
	if b.file == "" {
		rt.Skip("its file is called after its id")
	}
	l.finish(b)
	b.file = ""
	l.create(b)
	l.pause()
	l.index(b.agent)
}

// swap lets two sessions change places.
func (l *life) swap(rt *rapid.T) {
	k, b := l.pick()
	if k2, b2 := l.pick(); b.agent == b2.agent && k != k2 {
		l.sessions[k], l.sessions[k2] = b2, b
	}
	l.index(b.agent)
}

// exchange lets two files change names.
func (l *life) exchange(*rapid.T) {
	_, b := l.pick()
	_, other := l.pick()
	if b == other || b.agent != other.agent {
		return
	}
	l.finish(b)
	l.finish(other)
	x, y := l.file(b), l.file(other)
	l.d.rename(b.agent, x, "t.tmp")
	l.d.rename(b.agent, y, x)
	l.d.rename(b.agent, "t.tmp", y)
	l.lines[x], l.lines[y] = l.lines[y], l.lines[x]
	for _, text := range slices.Concat(l.lines[x], l.lines[y]) {
		l.swapped[text] = true
	}
	l.tick(b)
	l.tick(other)
}

// forget takes a session out of its index and leaves its file.
func (l *life) forget(*rapid.T) {
	k, b := l.pick()
	l.finish(b)
	delete(l.sessions, k)
	l.index(b.agent)
}

// rename gives a session another key.
func (l *life) rename(*rapid.T) {
	k, b := l.pick()
	delete(l.sessions, k)
	l.sessions[fmt.Sprintf("agent:%s:k%d", b.agent, l.next())] = b
	l.index(b.agent)
}

func (l *life) compact(*rapid.T) {
	_, b := l.pick()
	l.archive(b, "bak")
	l.pause()
	l.create(b)
	l.pause()
	l.index(b.agent)
}

func (l *life) remove(*rapid.T) {
	k, b := l.pick()
	l.archive(b, "deleted")
	l.pause()
	delete(l.sessions, k)
	// A session that took another's transcript over unseen, or whose file is not called after it, cannot always be told from a transcript
	// that was put away: it then stays in the list.
	if id := l.storedID(k); (id == "" || id == b.id) && b.file == "" {
		l.removed = append(l.removed, k)
	}
	l.index(b.agent)
}

// storedID is the sessionId that a session was last seen with, "" when it was not seen.
func (l *life) storedID(k string) (id string) {
	require.NoError(l.rt, l.s.View(context.Background(), func(r core.Reader) error {
		row, _, err := r.Session(k)
		id = row.SessionID
		return err
	}))
	return id
}

// empty is an accident: what was in the file and in no import is gone, what was in one must not be.
func (l *life) empty(*rapid.T) {
	_, b := l.pick()
	b.half, b.text = "", ""
	require.NoError(l.rt, os.Truncate(l.d.path(b.agent, l.file(b)), 0))
	l.lines[l.file(b)] = nil
	l.tick(b)
}

func (l *life) ruinIndex(*rapid.T) {
	l.d.write("a", indexName, "{\n  \"agent:a:")
	l.broken = true
}

func (l *life) importSome(rt *rapid.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stop := rapid.IntRange(1, 30).Draw(rt, "stop")
	_, err := Import(ctx, l.s, l.d.dir, Options{BatchRecords: rapid.IntRange(1, 5).Draw(rt, "records"), Progress: func(Progress) {
		if stop--; stop == 0 {
			cancel()
		}
	}})
	if ctx.Err() == nil {
		require.NoError(rt, err)
		l.remember()
	}
}

// remember notes what is on disk and was taken over.
func (l *life) remember() {
	for _, texts := range l.lines {
		for _, text := range texts {
			l.seen[text] = true
		}
	}
}

// check imports to the end and compares.
func (l *life) check() {
	if l.broken {
		l.index("a")
	}
	report, err := Import(context.Background(), l.s, l.d.dir, Options{})
	require.NoError(l.rt, err)
	require.LessOrEqual(l.rt, report.Partial, len(l.sessions))
	l.compare()
	before, err := l.s.Info(context.Background())
	require.NoError(l.rt, err)
	_, err = Import(context.Background(), l.s, l.d.dir, Options{})
	require.NoError(l.rt, err)
	after, err := l.s.Info(context.Background())
	require.NoError(l.rt, err)
	require.Equal(l.rt, before.Rev, after.Rev, "an import of what is there already writes nothing")
}

// compare holds the store to what is on disk and to what was.
func (l *life) compare() {
	stored := map[string]int{}
	var all []core.Generation
	require.NoError(l.rt, l.s.View(context.Background(), func(r core.Reader) error {
		return r.AllGenerations("", func(g *core.Generation) bool { all = append(all, *g); return true })
	}))
	byFile := map[string][]string{}
	for _, g := range all {
		said := l.texts(g.ID)
		for _, text := range said {
			stored[text]++
		}
		require.Equal(l.rt, len(said), g.Messages)
		if g.File != "" {
			byFile[g.File[strings.LastIndexByte(g.File, '/')+1:]] = said
		}
	}
	for name, texts := range l.lines {
		require.Equal(l.rt, texts, byFile[name], "%s holds what it holds on disk", name)
		for _, text := range texts {
			l.once(stored, text)
		}
	}
	for text := range l.seen {
		l.once(stored, text)
	}
	for k, b := range l.sessions {
		require.NoError(l.rt, l.s.View(context.Background(), func(r core.Reader) error {
			row, ok, err := r.Session(k)
			require.True(l.rt, ok, k)
			require.Equal(l.rt, b.id, row.SessionID)
			require.Zero(l.rt, row.ArchivedAt)
			return err
		}))
	}
}

// compareRemoved holds that a session which was seen and deleted is archived.
func (l *life) compareRemoved() {
	for _, k := range l.removed {
		require.NoError(l.rt, l.s.View(context.Background(), func(r core.Reader) error {
			row, ok, err := r.Session(k)
			require.Equal(l.rt, ok, row.ArchivedAt != 0, k)
			return err
		}))
	}
}

func (l *life) once(stored map[string]int, text string) {
	if l.swapped[text] {
		require.Positive(l.rt, stored[text], "%s is there", text)
		return
	}
	require.Equal(l.rt, 1, stored[text], "%s is there once", text)
}

func (l *life) texts(generation string) (all []string) {
	require.NoError(l.rt, l.s.View(context.Background(), func(r core.Reader) error {
		return r.Messages(generation, core.SeqRange{}, func(m *core.Message) bool {
			for b := range core.Blocks(m.Raw) {
				if m.Role != core.RoleEvent {
					all = append(all, strings.Clone(b.Text))
				}
			}
			return true
		})
	}))
	return all
}

// Whatever a gateway does to its files between imports, and wherever imports are cut short: what is on disk is in the store, nothing is
// there twice, and what was imported once is never lost.
func TestLifeOfADirectory(t *testing.T) {
	proptest.Check(t, func(rt *rapid.T) {
		l := newLife(rt, t)
		defer l.s.Close()
		l.pause = func() {
			if rapid.IntRange(0, 2).Draw(rt, "pause") == 0 {
				_, err := Import(context.Background(), l.s, l.d.dir, Options{})
				require.NoError(rt, err)
			}
		}
		rt.Repeat(map[string]func(*rapid.T){
			"begin": l.begin, "elsewhere": l.beginElsewhere, "say": l.say, "say again": l.say, "say more": l.say, "reset": l.reset, "compact": l.compact, "remove": l.remove, "empty": l.empty,
			"move": l.move, "desert": l.desert, "swap": l.swap, "exchange": l.exchange, "forget": l.forget, "rename": l.rename,
			"ruin": l.ruinIndex, "import": l.importSome, "import again": l.importSome,
		})
		l.check()
	})
}
