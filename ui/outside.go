package ui

import (
	"io"
	"os/exec"
)

// Outside is what a console may do beyond its own screen. All of it happens because a key asked for it.
type Outside interface {
	// Terminal takes control sequences, each in one write that no frame cuts.
	Terminal() io.Writer
	// Getenv reads the environment the terminal is described in.
	Getenv(name string) string
	// Create makes a new file that only its owner may read, named like name, where the operator finds it. It overwrites nothing.
	Create(name, extension string) (File, error)
	// Scratch makes such a file among the temporary ones.
	Scratch(name, extension string) (File, error)
	Remove(path string) error
	// Read is what is in a file now.
	Read(path string) ([]byte, error)
	// Files lists what is in a directory, directories first, by name: of files only those that can be read as such. "" is the directory that
	// the console was started in; at is the directory's path. Stat tells of one file.
	Files(dir string) (at string, list []FileEntry, err error)
	Stat(path string) (FileEntry, error)
	// Editor and Pager are the operator's own, at work on a file. name says which program it is and which variable named it.
	Editor(path string) (cmd *exec.Cmd, name string)
	Pager(path string) (cmd *exec.Cmd, name string)
}

// FileEntry is a file or directory as it is listed. Path is absolute.
type FileEntry struct {
	Name, Path string
	Dir        bool
	Size       int64
}

// File is a file that is written.
type File interface {
	io.WriteCloser
	Name() string // its path
}

// noOutside is an action's reason where there is nothing beyond the screen.
func noOutside(m *Model) string {
	if m.env.Outside == nil {
		return "this console has no way out of its screen"
	}
	return ""
}

// written fills a file and closes it.
func written(f File, write func(io.Writer) error) error {
	err := write(f)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}
