package engine

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"cordboard/core"
)

// The folder of a spawn's files, below the workspace of the child's agent. Everything goes through an os.Root: no symbolic link and no name
// leads out of it, whatever is moved about meanwhile.

const (
	dueFiles     = "files" // a folder to be removed: its ID is the folder's name, a colon and the workspace
	filesDir     = ".openclaw/attachments"
	launchWithin = 10 * time.Minute // a folder that is not a child's by then is nobody's
	tryAgain     = 10 * time.Minute // a folder that could not be removed
)

func filesDue(files *core.Attachments, at int64) core.Due {
	return core.Due{At: at, Kind: dueFiles, ID: path.Base(files.RelDir) + ":" + files.Workspace}
}

// writeFiles stores the owner row and writes the files. remove takes both back.
func (b *board) writeFiles(ctx context.Context, l *launch, a *clearance) (remove func(context.Context), err error) {
	if len(a.files) == 0 {
		return func(context.Context) {}, nil
	}
	files := &core.Attachments{Workspace: b.options.Workspace(a.agent.ID), RelDir: filesDir + "/" + l.sessionID}
	for _, f := range a.files {
		files.Files = append(files.Files, f.receipt)
	}
	l.files, l.filesDue = files, filesDue(files, l.now+launchWithin.Milliseconds())
	if _, err := b.write(ctx, func(tx core.Tx, fx *effects) error { return putChore(tx, fx, l.filesDue) }); err != nil {
		return nil, err
	}
	made, err := writeFolder(files, a.files)
	remove = func(ctx context.Context) {
		if takeBack(files, made) == nil {
			_, _ = b.store.Update(ctx, func(tx core.Tx) error { return tx.DeleteDue(l.filesDue) }) // else the chore finds nothing to do later
		}
	}
	if err != nil {
		remove(context.WithoutCancel(ctx))
		return nil, err
	}
	return remove, nil
}

// keepFiles makes the files the child's: the owner row goes in the transaction that makes it.
func (b *board) keepFiles(tx core.Tx, l *launch) error {
	if l.files == nil {
		return nil
	}
	return tx.DeleteDue(l.filesDue)
}

// writeFolder writes the files and returns the directories that it had to make, outermost first: those of the workspace by absolute paths,
// those in it by paths from there.
func writeFolder(files *core.Attachments, list []upload) (made []string, err error) {
	made = missing(files.Workspace)
	if err := os.MkdirAll(files.Workspace, 0o700); err != nil {
		return made, unwritten(err)
	}
	root, err := os.OpenRoot(files.Workspace)
	if err != nil {
		return made, unwritten(err)
	}
	defer root.Close()
	for dir := range ways(files.RelDir) {
		switch err := root.Mkdir(dir, 0o700); {
		case err == nil:
			made = append(made, dir)
		case dir == files.RelDir || !errors.Is(err, fs.ErrExist):
			return made, unwritten(err)
		}
	}
	folder, err := openFolder(root, files.RelDir)
	if err != nil {
		return made, err
	}
	defer folder.Close()
	for _, f := range list {
		if err := writeFile(folder, f.receipt.Name, f.data); err != nil {
			return made, err
		}
	}
	return made, nil
}

// missing are the directories of an absolute path that are not there, outermost first.
func missing(dir string) (list []string) {
	for {
		if _, err := os.Lstat(dir); err == nil || filepath.Dir(dir) == dir {
			slices.Reverse(list)
			return list
		}
		list, dir = append(list, dir), filepath.Dir(dir)
	}
}

// ways are the directories of a path, outermost first.
func ways(dir string) func(func(string) bool) {
	return func(yield func(string) bool) {
		for i := range len(dir) {
			if dir[i] == '/' && !yield(dir[:i]) {
				return
			}
		}
		yield(dir)
	}
}

// openFolder opens a directory that was just made, and makes sure that it is that one: it could have been exchanged for a link meanwhile.
func openFolder(root *os.Root, dir string) (*os.Root, error) {
	folder, err := root.OpenRoot(dir)
	if err != nil {
		return nil, unwritten(err)
	}
	there, err1 := root.Lstat(dir)
	here, err2 := folder.Stat(".")
	if err := errors.Join(err1, err2); err != nil || !there.IsDir() || !os.SameFile(there, here) {
		_ = folder.Close()
		return nil, unwritten(errors.Join(err, errors.New("the folder was exchanged while it was made")))
	}
	return folder, nil
}

func writeFile(folder *os.Root, name string, data []byte) error {
	file, err := folder.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return core.Errorf(codeFileTwice, "attachments_duplicate_name (%s): this file system takes two of the names for one", name)
	}
	if err == nil {
		_, err = file.Write(data)
		err = errors.Join(err, file.Close())
	}
	if err != nil {
		return unwritten(err)
	}
	return nil
}

func unwritten(err error) error {
	return core.Errorf(codeFilesFailed, "the attachments cannot be written below the agent's workspace: %w", plainPath(err)).Because("agents.list[].workspace")
}

// plainPath leaves the path out of an error: a session learns nothing of where things lie.
func plainPath(err error) error {
	if inner, ok := errors.AsType[*fs.PathError](err); ok {
		return inner.Err
	}
	return err
}

// takeBack removes the folder of a launch that failed, and the directories that were made for it unless something else is in them by now.
func takeBack(files *core.Attachments, made []string) error {
	if slices.Contains(made, files.RelDir) {
		if err := removeFolder(files.Workspace, files.RelDir); err != nil {
			return err
		}
	}
	root, err := os.OpenRoot(files.Workspace)
	if err == nil {
		defer root.Close()
	}
	for _, dir := range slices.Backward(made) { // what is not empty stays
		if filepath.IsAbs(dir) {
			_ = os.Remove(dir)
		} else if err == nil {
			_ = root.Remove(dir)
		}
	}
	return nil
}

// removeFolder removes a folder and what is in it. One that is not there is removed.
func removeFolder(workspace, dir string) error {
	root, err := os.OpenRoot(workspace)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer root.Close()
	if err := root.RemoveAll(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// removeFiles is the chore of removing a folder.
func (e *Engine) removeFiles(ctx context.Context, entry core.Due) error {
	name, workspace, _ := strings.Cut(entry.ID, ":")
	failed := removeFolder(workspace, filesDir+"/"+name)
	_, err := e.store.Update(ctx, func(tx core.Tx) error {
		if err := tx.DeleteDue(entry); err != nil || failed == nil {
			return err
		}
		later := entry
		later.At = e.now() + tryAgain.Milliseconds()
		return tx.PutDue(later)
	})
	return err
}

// recoverFiles removes the folders of launches that an earlier life did not come to the end of: nothing is being launched yet.
func (e *Engine) recoverFiles(ctx context.Context) error {
	var left []core.Due
	if err := e.store.View(ctx, func(r core.Reader) error {
		return r.Due(anyTime, func(entry core.Due) bool {
			if entry.Kind == dueFiles {
				left = append(left, entry)
			}
			return true
		})
	}); err != nil {
		return err
	}
	for _, entry := range left {
		if err := e.removeFiles(ctx, entry); err != nil {
			return err
		}
	}
	return nil
}

// readFile reads a file of a folder back, if it still is what was written.
func readFile(files *core.Attachments, f *core.Attachment) ([]byte, error) {
	root, err := os.OpenRoot(files.Workspace)
	if err != nil {
		return nil, plainPath(err)
	}
	defer root.Close()
	file, err := root.Open(path.Join(files.RelDir, f.Name))
	if err != nil {
		return nil, plainPath(err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, f.Bytes+1))
	if err != nil {
		return nil, plainPath(err)
	}
	if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != f.SHA256 {
		return nil, errors.New("it is no longer what was attached")
	}
	return data, nil
}
