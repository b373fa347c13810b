package main

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"cordboard/core"
)

// uiState keeps what a console remembers as files of its own: $XDG_STATE_HOME/cordboard/ui/<store>/<name>.json, one directory for each
// store and user (console.md §6). It is a ui.State.
type uiState struct{ dir string }

// newUIState names the directory of a store after the path that leads to it, links resolved.
func newUIState(root, store string) *uiState {
	if abs, err := filepath.Abs(store); err == nil {
		store = abs
	}
	if real, err := filepath.EvalSymlinks(store); err == nil {
		store = real
	}
	sum := sha256.Sum256([]byte(store))
	return &uiState{filepath.Join(root, "ui", hex.EncodeToString(sum[:8]))}
}

// mostState bounds what is read: a file of ours is a few kilobytes.
const mostState = 8 << 20

func (s *uiState) file(name string) string { return filepath.Join(s.dir, name+".json") }

// Load implements ui.State.
func (s *uiState) Load(name string) ([]byte, error) {
	info, err := os.Stat(s.file(name))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular() || info.Size() > mostState:
		return nil, core.Errorf(core.CodeConfig, "what is there is no file of ours, move it away: %s", s.file(name))
	}
	return os.ReadFile(s.file(name))
}

// Check reports whether something can be kept.
func (s *uiState) Check() error {
	f, err := s.fresh("check")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// fresh makes a new file beside the others.
func (s *uiState) fresh(name string) (*os.File, error) {
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return nil, err
	}
	return os.CreateTemp(s.dir, "."+name+"-*")
}

// Save implements ui.State: the new file takes the place of the old one at once, or not at all.
func (s *uiState) Save(name string, data []byte) (err error) {
	f, err := s.fresh(name)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	if _, err = f.Write(data); err != nil {
		_ = f.Close()
		return err
	}
	if err = errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), s.file(name))
}
