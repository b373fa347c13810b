package openclaw

import (
	"cmp"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"cordboard/core"
)

const (
	agentsDir    = "agents"
	sessionsDir  = "sessions"
	indexName    = "sessions.json"
	registryPath = "subagents/runs.json"
	configName   = "openclaw.json"
)

// source is an opened state directory and what was seen of it last. Every access goes through root, so that no link in it leads outside.
type source struct {
	dir      string // absolute, links resolved: the Source of everything imported from it
	root     *os.Root
	self     fs.FileInfo          // of the directory that root has open
	agents   map[string]*agentDir // those that have sessions, by id
	registry fs.FileInfo          // of subagents/runs.json, nil when there is none
	config   string               // path of openclaw.json, "" when there is none
	round    int                  // of the look at a whole directory
}

// agentDir is one agents/<id>/sessions.
type agentDir struct {
	id    string
	at    string            // its path within the source
	index fs.FileInfo       // of sessions.json, nil when there is none
	files map[string]*found // by path
}

func (a *agentDir) indexPath() string { return path.Join(a.at, indexName) }

// found is one transcript on disk.
type found struct {
	path    string // within the source, with slashes
	agent   string
	base    string               // what stands before `.jsonl`: the sessionId
	state   core.GenerationState // current, reset, deleted or backup, by the name
	suffix  string               // the time in an archive's name, as written
	endedAt int64                // that time, ms
	size    int64
	modTime int64 // ns
	info    fs.FileInfo
	round   int // when it was seen last
}

// delta is what a look at a source found different from the look before.
type delta struct {
	grown []string // transcripts that are the file they were and have changed
	other bool     // anything else that an import reads has come, gone or changed
}

// transcriptName matches `<sessionId>.jsonl` and its archives `.reset.<time>`, `.deleted.<time>`, `.bak.<time>`. Locks, temporary files
// and everything else in the directory are no transcripts.
var transcriptName = regexp.MustCompile(`^(.+)\.jsonl(?:\.(reset|deleted|bak)(?:\.(.+))?)?$`)

var archiveStates = map[string]core.GenerationState{
	"": core.GenerationCurrent, "reset": core.GenerationReset, "deleted": core.GenerationDeleted, "bak": core.GenerationBackup,
}

// openSource opens a state directory; scan tells what it holds. The caller closes it.
func openSource(dir string) (*source, error) {
	real, err := realDir(dir)
	if err != nil {
		return nil, err
	}
	s := &source{dir: real, agents: map[string]*agentDir{}}
	if err := s.open(); err != nil {
		return nil, core.Errorf(core.CodeNotFound, "%s cannot be opened: %w", dir, err)
	}
	return s, nil
}

// open opens the directory, again when it is another one than before.
func (s *source) open() error {
	root, err := os.OpenRoot(s.dir)
	if err != nil {
		return err
	}
	self, err := root.Stat(".")
	if err != nil {
		root.Close()
		return err
	}
	if s.root != nil {
		s.root.Close()
	}
	s.root, s.self = root, self
	return nil
}

func realDir(dir string) (string, error) {
	if dir == "" {
		return "", core.Errorf(core.CodeInvalidParams, "the path is empty, that of an OpenClaw state directory was expected")
	}
	abs, err := filepath.Abs(dir)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		return "", core.Errorf(core.CodeNotFound, "there is no directory %s: %w", dir, err)
	}
	if !utf8.ValidString(abs) {
		return "", core.Errorf(core.CodeInvalidParams, "the path of %q is not UTF-8 and cannot be kept as a source", dir)
	}
	if info, err := os.Stat(abs); err != nil || !info.IsDir() {
		return "", core.Errorf(core.CodeInvalidParams, "%s is not a directory, an OpenClaw state directory was expected", dir)
	}
	return abs, nil
}

func (s *source) close() error { return s.root.Close() }

// scan looks at everything, by listing directories and without opening files. What cannot be listed is reported to problems.
func (s *source) scan(ctx context.Context, problems *problems) (d delta, err error) {
	agents, err := s.listAgents()
	if err != nil {
		return d, err
	}
	names := map[string]bool{}
	for _, a := range agents {
		names[a.Name()] = true
		s.list(ctx, a.Name(), problems, &d)
		if err := ctx.Err(); err != nil {
			return d, err
		}
	}
	for id := range s.agents {
		if !names[id] {
			s.drop(id, &d)
		}
	}
	s.seeRegistry(&d)
	s.config = ""
	if info, err := s.root.Stat(configName); err == nil && info.Mode().IsRegular() {
		s.config = filepath.Join(s.dir, configName)
	}
	return d, nil
}

// listAgents lists the agents directory.
func (s *source) listAgents() ([]fs.DirEntry, error) {
	agents, err := fs.ReadDir(s.root.FS(), agentsDir)
	if err != nil {
		return nil, s.notAState(err)
	}
	return agents, nil
}

// file is what is known of a transcript, nil when there is none.
func (s *source) file(at string) *found {
	if a := s.agents[agentOf(at)]; a != nil {
		return a.files[at]
	}
	return nil
}

// agentOf is the agent whose sessions directory holds a file.
func agentOf(at string) string { return path.Base(path.Dir(path.Dir(at))) }

func (s *source) drop(agent string, d *delta) {
	if _, there := s.agents[agent]; there {
		delete(s.agents, agent)
		d.other = true
	}
}

// places are the parts of a path within a source that an import looks at, nil for any other path: "." alone is the directory itself.
func places(at string) []string {
	parts := strings.Split(at, "/")
	name := parts[len(parts)-1]
	switch {
	case at == ".", at == agentsDir, at == path.Dir(registryPath), at == registryPath,
		parts[0] == agentsDir && len(parts) == 2,
		parts[0] == agentsDir && len(parts) == 3 && name == sessionsDir,
		parts[0] == agentsDir && len(parts) == 4 && parts[2] == sessionsDir && (name == indexName || transcriptName.MatchString(name)):
		return parts
	}
	return nil
}

// look brings what is known of some paths up to date; those are of the kinds that places knows.
func (s *source) look(ctx context.Context, at []string, problems *problems) (d delta, err error) {
	for _, p := range at {
		parts := places(p)
		switch {
		case p == "." || p == agentsDir:
			return s.scan(ctx, problems)
		case parts[0] != agentsDir:
			s.seeRegistry(&d)
		case len(parts) < 4 || s.agents[parts[1]] == nil:
			s.list(ctx, parts[1], problems, &d)
		default:
			s.lookAt(s.agents[parts[1]], p, problems, &d)
		}
	}
	return d, nil
}

func (s *source) lookAt(a *agentDir, p string, problems *problems, d *delta) {
	info, err := s.root.Lstat(p)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		info = nil
	case err != nil:
		problems.add(Problem{File: p, Reason: "cannot be read: " + cause(err)})
		return
	}
	s.see(a, path.Base(p), info, problems, d)
}

func (s *source) seeRegistry(d *delta) {
	info, err := s.root.Stat(registryPath)
	if err != nil || !info.Mode().IsRegular() {
		info = nil
	}
	if !sameFile(s.registry, info) {
		s.registry, d.other = info, true
	}
}

// list looks at an agent's directory as a whole.
func (s *source) list(ctx context.Context, id string, problems *problems, d *delta) {
	at := path.Join(agentsDir, id, sessionsDir)
	infos, err := s.readDir(ctx, at)
	switch {
	case ctx.Err() != nil:
		return
	case errors.Is(err, fs.ErrNotExist), !s.isDir(path.Join(agentsDir, id)):
		s.drop(id, d) // an agent that never had a session, or a stray file
		return
	case err != nil:
		problems.add(Problem{File: at, Reason: "cannot be listed: " + cause(err)})
		return
	}
	a := s.agents[id]
	if a == nil {
		a = &agentDir{id: id, at: at, files: map[string]*found{}}
		s.agents[id], d.other = a, true
	}
	s.round++
	indexed := false
	for _, info := range infos {
		indexed = indexed || info.Name() == indexName
		s.see(a, info.Name(), info, problems, d)
	}
	if !indexed {
		s.see(a, indexName, nil, problems, d)
	}
	for p, f := range a.files {
		if f.round != s.round {
			delete(a.files, p)
			d.other = true
		}
	}
}

// isDir reports false for what is certainly no directory and no link.
func (s *source) isDir(at string) bool {
	info, err := s.root.Lstat(at)
	return err != nil || info.IsDir() || info.Mode()&fs.ModeSymlink != 0
}

// readDir lists a directory with what lstat says of each name, by name.
func (s *source) readDir(ctx context.Context, at string) (infos []fs.FileInfo, err error) {
	dir, err := s.root.Open(at)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	const perLook = 1000
	for err == nil {
		var some []fs.FileInfo
		some, err = dir.Readdir(perLook)
		infos = append(infos, some...)
		if err == nil {
			err = ctx.Err()
		}
	}
	if err == io.EOF {
		err = nil
	}
	slices.SortFunc(infos, func(a, b fs.FileInfo) int { return strings.Compare(a.Name(), b.Name()) })
	return infos, err
}

// see takes in what is known now of one name in an agent's directory; info is what lstat says, nil when the name is gone.
func (s *source) see(a *agentDir, name string, info fs.FileInfo, problems *problems, d *delta) {
	p := path.Join(a.at, name)
	match := transcriptName.FindStringSubmatch(name)
	if match == nil && name != indexName {
		return
	}
	if info != nil {
		info = s.usable(p, info, problems)
	}
	if match == nil {
		if !sameFile(a.index, info) {
			a.index, d.other = info, true
		}
		return
	}
	old := a.files[p]
	switch {
	case info == nil && old == nil:
	case info == nil:
		delete(a.files, p)
		d.other = true
	case old != nil && sameFile(old.info, info):
		old.round = s.round
	default:
		f := newFound(a.id, p, match, info)
		f.round = s.round
		a.files[p] = f
		if old != nil && os.SameFile(old.info, info) && f.size >= old.size {
			d.grown = append(d.grown, p)
		} else {
			d.other = true
		}
	}
}

// usable is what stat says of a file that can be read, nil for one that cannot.
func (s *source) usable(p string, info fs.FileInfo, problems *problems) fs.FileInfo {
	var err error
	if info.Mode()&fs.ModeSymlink != 0 {
		info, err = s.root.Stat(p)
	}
	switch {
	case !utf8.ValidString(p):
		problems.add(Problem{File: p, Reason: "has a name that is not UTF-8"})
	case err != nil:
		problems.add(Problem{File: p, Reason: "cannot be read: " + cause(err)})
	case !info.Mode().IsRegular():
		problems.add(Problem{File: p, Reason: "is not a regular file"})
	default:
		return info
	}
	return nil
}

// sameFile reports whether two looks saw one file in one state; nil is a file that is not there.
func sameFile(a, b fs.FileInfo) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return a.Size() == b.Size() && a.ModTime().Equal(b.ModTime()) && os.SameFile(a, b)
}

func newFound(agent, p string, match []string, info fs.FileInfo) *found {
	f := &found{
		path: p, agent: agent, base: match[1], state: archiveStates[match[2]], suffix: match[3],
		size: info.Size(), modTime: info.ModTime().UnixNano(), info: info,
	}
	if f.state != core.GenerationCurrent {
		f.endedAt = cmp.Or(archiveTime(f.suffix), info.ModTime().UnixMilli())
	}
	return f
}

// archiveTime reads the time in an archive's name, an ISO time whose colons are dashes; 0 for anything else.
func archiveTime(suffix string) int64 {
	t, err := time.Parse("2006-01-02T15-04-05.999Z", suffix)
	if err != nil {
		return 0
	}
	return t.UnixMilli()
}

// notAState says what was expected of the directory and which one nearby has it.
func (s *source) notAState(err error) error {
	if !errors.Is(err, fs.ErrNotExist) {
		return core.Errorf(core.CodeInvalidParams, "the agents directory of %s cannot be listed: %w", s.dir, err)
	}
	const expected = "an OpenClaw state directory holds agents/<agentId>/sessions"
	near := s.near()
	if near == "" {
		return core.Errorf(core.CodeInvalidParams, "%s has no agents directory: %s", s.dir, expected)
	}
	return core.Errorf(core.CodeInvalidParams, "%s has no agents directory: %s; %s is one", s.dir, expected, near).Accept(near)
}

func (s *source) near() string {
	candidates := []string{filepath.Join(s.dir, ".openclaw"), filepath.Join(s.dir, "openclaw"), filepath.Join(s.dir, "openclaw-state")}
	for up := filepath.Dir(s.dir); ; up = filepath.Dir(up) {
		candidates = append(candidates, up)
		if up == filepath.Dir(up) || len(candidates) > 6 {
			break
		}
	}
	i := slices.IndexFunc(candidates, func(dir string) bool {
		info, err := os.Stat(filepath.Join(dir, agentsDir))
		return err == nil && info.IsDir()
	})
	if i < 0 {
		return ""
	}
	return candidates[i]
}

// cause is the innermost text of a path error: the path is already in the report.
func cause(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err.Error()
	}
	return err.Error()
}

// within returns the path of a file named by an entry when it lies in the source, with slashes.
func (s *source) within(name string) (string, bool) {
	rel, err := filepath.Rel(s.dir, name)
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// baseName is the last part of a path of another machine, whichever slashes it has.
func baseName(name string) string { return name[strings.LastIndexAny(name, `/\`)+1:] }
