package main

import (
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"cordboard/ui"
)

// outside is what a console does beyond its screen. It is a ui.Outside.
type outside struct {
	getenv   func(string) string
	terminal io.Writer // where frames go too, a write at a time
	in, out  *os.File  // for programs that take the terminal over
}

// outside is nil when the console is not on a terminal of the process.
func (a *app) outside(terminal io.Writer) ui.Outside {
	in, inOK := a.in.(*os.File)
	out, outOK := a.out.(*os.File)
	if !inOK || !outOK {
		return nil
	}
	return &outside{a.getenv, terminal, in, out}
}

func (o *outside) Terminal() io.Writer { return o.terminal }

func (o *outside) Getenv(name string) string { return o.getenv(name) }

// Create makes a file where transcripts are exported to.
func (o *outside) Create(name, extension string) (ui.File, error) {
	if err := os.MkdirAll(exportDir, 0o700); err != nil {
		return nil, err
	}
	f, err := createFresh(exportDir, fileName(name), extension)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (o *outside) Scratch(name, extension string) (ui.File, error) {
	f, err := os.CreateTemp("", "cordboard-"+fileName(name)+"-*"+extension)
	if err != nil {
		return nil, err
	}
	return f, nil
}

func (o *outside) Remove(path string) error { return os.Remove(path) }

func (o *outside) Read(path string) ([]byte, error) { return os.ReadFile(path) }

// Files lists directories and regular files, links to such among them.
func (o *outside) Files(dir string) (at string, list []ui.FileEntry, err error) {
	if at, err = filepath.Abs(dir); err != nil {
		return "", nil, err
	}
	entries, err := os.ReadDir(at)
	for _, e := range entries {
		if entry, err := o.Stat(filepath.Join(at, e.Name())); err == nil {
			list = append(list, entry)
		}
	}
	slices.SortStableFunc(list, func(a, b ui.FileEntry) int {
		switch {
		case a.Dir == b.Dir:
			return strings.Compare(a.Name, b.Name)
		case a.Dir:
			return -1
		}
		return 1
	})
	return at, list, err
}

func (o *outside) Stat(path string) (ui.FileEntry, error) {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		err = errors.New("it is neither a file nor a directory")
	}
	if err != nil {
		return ui.FileEntry{}, err
	}
	return ui.FileEntry{Name: filepath.Base(path), Path: path, Dir: info.IsDir(), Size: info.Size()}, nil
}

// Editor is $VISUAL, else $EDITOR, else vi.
func (o *outside) Editor(path string) (cmd *exec.Cmd, name string) {
	return o.program("editor", path, "vi", "VISUAL", "EDITOR")
}

// Pager is $PAGER, else less.
func (o *outside) Pager(path string) (cmd *exec.Cmd, name string) {
	return o.program("pager", path, "less", "PAGER")
}

// program runs what a variable says as the shell would: it may hold options.
func (o *outside) program(what, path, usual string, names ...string) (cmd *exec.Cmd, name string) {
	line, by := usual, "the usual one: $"+names[len(names)-1]+" is not set"
	for i := len(names) - 1; i >= 0; i-- {
		if value := o.getenv(names[i]); strings.TrimSpace(value) != "" {
			line, by = value, "$"+names[i]
		}
	}
	cmd = exec.Command("sh", "-c", line+` "$1"`, "sh", path)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = o.in, o.out, o.out
	return cmd, "the " + what + " " + line + " (" + by + ")"
}
