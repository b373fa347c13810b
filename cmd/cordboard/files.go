package main

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// exportDir is where the console puts transcripts, below the directory it was started in.
const exportDir = "cordboard-export"

// transcripts is what exports one: a host.
type transcripts interface {
	Export(ctx context.Context, session string, w io.Writer) error
}

// exporter writes transcripts into a directory, each to a file of its own: none that is there is ever written over, and what could not be
// written whole is taken away again.
func exporter(from transcripts, dir string) func(ctx context.Context, session string) (string, error) {
	return func(ctx context.Context, session string) (path string, err error) {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return "", err
		}
		f, err := createFresh(dir, fileName(session), ".jsonl")
		if err != nil {
			return "", err
		}
		err = errors.Join(from.Export(ctx, session, f), f.Close())
		if err != nil {
			return "", errors.Join(err, os.Remove(f.Name()))
		}
		return f.Name(), nil
	}
}

// createFresh makes a file that was not there: name, else name-2, name-3, …
func createFresh(dir, name, ext string) (*os.File, error) {
	for n := 1; ; n++ {
		path := filepath.Join(dir, name+ext)
		if n > 1 {
			path = filepath.Join(dir, name+"-"+strconv.Itoa(n)+ext)
		}
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// fileName is a session key as the name of a file that any file system takes.
func fileName(session string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', strings.ContainsRune("-_.+@", r):
			return r
		}
		return '_'
	}, session)
	const most = 120
	return strings.TrimLeft(name[max(len(name)-most, 0):], ".-")
}

// openClawDirs are the state directories of an OpenClaw in the usual places that hold sessions, as a person writes them.
func (a *app) openClawDirs() []string {
	var found []string
	look := []string{a.getenv("OPENCLAW_STATE_DIR")}
	if home := a.getenv("HOME"); home != "" {
		profiles, _ := filepath.Glob(filepath.Join(home, ".openclaw*")) // a bad pattern is the only error
		slices.Sort(profiles)
		look = append(look, profiles...)
	}
	for _, dir := range look {
		if dir == "" {
			continue
		}
		sessions, _ := filepath.Glob(filepath.Join(dir, "agents", "*", "sessions"))
		if name := a.tilde(dir); len(sessions) > 0 && !slices.Contains(found, name) {
			found = append(found, name)
		}
	}
	return found
}
