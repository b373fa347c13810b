package openclaw

import (
	"cmp"
	"errors"
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

// source is an opened state directory. Every access goes through root, so that no link in it leads outside.
type source struct {
	dir      string // absolute, links resolved: the Source of everything imported from it
	root     *os.Root
	agents   []agentDir
	registry bool   // subagents/runs.json is there
	config   string // path of openclaw.json, "" when there is none
}

// agentDir is one agents/<id>/sessions.
type agentDir struct {
	id        string
	index     string // path of sessions.json within the source, "" when there is none
	indexTime int64  // its modification time, ms
	files     []found
}

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
}

// transcriptName matches `<sessionId>.jsonl` and its archives `.reset.<time>`, `.deleted.<time>`, `.bak.<time>`. Locks, temporary files
// and everything else in the directory are no transcripts.
var transcriptName = regexp.MustCompile(`^(.+)\.jsonl(?:\.(reset|deleted|bak)(?:\.(.+))?)?$`)

var archiveStates = map[string]core.GenerationState{
	"": core.GenerationCurrent, "reset": core.GenerationReset, "deleted": core.GenerationDeleted, "bak": core.GenerationBackup,
}

// openSource opens a state directory and lists what it holds. What cannot be listed is reported to problems. The caller closes it.
func openSource(dir string, problems *problems) (*source, error) {
	real, err := realDir(dir)
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(real)
	if err != nil {
		return nil, core.Errorf(core.CodeNotFound, "%s cannot be opened: %w", dir, err)
	}
	s := &source{dir: real, root: root}
	if err := s.scan(problems); err != nil {
		root.Close()
		return nil, err
	}
	return s, nil
}

func realDir(dir string) (string, error) {
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

func (s *source) scan(problems *problems) error {
	agents, err := fs.ReadDir(s.root.FS(), agentsDir)
	if err != nil {
		return s.notAState(err)
	}
	for _, a := range agents {
		at := path.Join(agentsDir, a.Name(), sessionsDir)
		names, err := fs.ReadDir(s.root.FS(), at)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			continue // an agent that never had a session, or a stray file
		case err != nil:
			problems.add(Problem{File: at, Reason: "cannot be listed: " + cause(err)})
			continue
		}
		s.agents = append(s.agents, s.scanAgent(a.Name(), at, names, problems))
	}
	if info, err := s.root.Stat(registryPath); err == nil && info.Mode().IsRegular() {
		s.registry = true
	}
	if info, err := s.root.Stat(configName); err == nil && info.Mode().IsRegular() {
		s.config = filepath.Join(s.dir, configName)
	}
	return nil
}

func (s *source) scanAgent(id, at string, names []fs.DirEntry, problems *problems) agentDir {
	a := agentDir{id: id}
	for _, name := range names {
		p := path.Join(at, name.Name())
		match := transcriptName.FindStringSubmatch(name.Name())
		if match == nil && name.Name() != indexName {
			continue
		}
		info, err := s.root.Stat(p)
		switch {
		case !utf8.ValidString(p):
			problems.add(Problem{File: p, Reason: "has a name that is not UTF-8"})
		case err != nil:
			problems.add(Problem{File: p, Reason: "cannot be read: " + cause(err)})
		case !info.Mode().IsRegular():
			problems.add(Problem{File: p, Reason: "is not a regular file"})
		case match == nil:
			a.index, a.indexTime = p, info.ModTime().UnixMilli()
		default:
			a.files = append(a.files, newFound(id, p, match, info))
		}
	}
	return a
}

func newFound(agent, p string, match []string, info fs.FileInfo) found {
	f := found{
		path: p, agent: agent, base: match[1], state: archiveStates[match[2]], suffix: match[3],
		size: info.Size(), modTime: info.ModTime().UnixNano(),
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
