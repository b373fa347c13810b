package host

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
)

// The owner's log (engine.md §7): what happened, to what, never what was said. It is kept in the data directory, private and of a bounded
// size, and told to whoever started the owner as well.

const (
	ownerLog = "cordboard.log"
	keptLogs = 3 // older ones, .1 the youngest
)

// openOwnerLog makes the logger of an owner: to its file, and to the given one when that is not nil.
func openOwnerLog(dir, level string, also *slog.Logger) (*slog.Logger, *rotated, error) {
	file, err := openRotated(filepath.Join(dir, logDir), ownerLog, maxLog)
	if err != nil {
		return nil, nil, err
	}
	var least slog.Level
	if err := least.UnmarshalText([]byte(level)); err != nil {
		return nil, nil, errors.Join(err, file.Close())
	}
	all := tee{least: least, handlers: []slog.Handler{slog.NewJSONHandler(file, &slog.HandlerOptions{Level: least})}}
	if also != nil {
		all.handlers = append(all.handlers, also.Handler())
	}
	return slog.New(all), file, nil
}

// IsOwnerLog reports whether an open file is the one that owners started by need have as their standard error: what is logged need not be
// there twice.
func IsOwnerLog(f *os.File, o Options) bool {
	mine, err := f.Stat()
	if err != nil {
		return false
	}
	info, err := os.Stat(filepath.Join(o.dir(), logDir, serveLog))
	return err == nil && os.SameFile(mine, info)
}

// tee is a handler that passes what is at least of a level to several.
type tee struct {
	least    slog.Level
	handlers []slog.Handler
}

// Enabled implements slog.Handler.
func (t tee) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= t.least && slices.ContainsFunc(t.handlers, func(h slog.Handler) bool { return h.Enabled(ctx, level) })
}

// Handle implements slog.Handler.
func (t tee) Handle(ctx context.Context, r slog.Record) error {
	var errs []error
	for _, h := range t.handlers {
		if h.Enabled(ctx, r.Level) {
			errs = append(errs, h.Handle(ctx, r.Clone()))
		}
	}
	return errors.Join(errs...)
}

// WithAttrs implements slog.Handler.
func (t tee) WithAttrs(attrs []slog.Attr) slog.Handler {
	return t.each(func(h slog.Handler) slog.Handler { return h.WithAttrs(attrs) })
}

// WithGroup implements slog.Handler.
func (t tee) WithGroup(name string) slog.Handler {
	return t.each(func(h slog.Handler) slog.Handler { return h.WithGroup(name) })
}

func (t tee) each(fn func(slog.Handler) slog.Handler) tee {
	next := tee{least: t.least}
	for _, h := range t.handlers {
		next.handlers = append(next.handlers, fn(h))
	}
	return next
}

// rotated is a file that is put aside when it gets long.
type rotated struct {
	path string
	most int64 // bytes

	mu   sync.Mutex
	file *os.File
	size int64
}

func openRotated(dir, name string, most int64) (*rotated, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	r := &rotated{path: filepath.Join(dir, name), most: most}
	return r, r.open()
}

func (r *rotated) open() error {
	f, err := os.OpenFile(r.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	info, err := f.Stat()
	if err != nil {
		return errors.Join(err, f.Close())
	}
	r.file, r.size = f, info.Size()
	return nil
}

// Write implements io.Writer: a line is never parted between two files.
func (r *rotated) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.size > 0 && r.size+int64(len(p)) > r.most {
		if err := r.turn(); err != nil {
			return 0, err
		}
	}
	n, err := r.file.Write(p)
	r.size += int64(n)
	return n, err
}

// turn begins a new file; the oldest goes. A name that cannot be moved is written on under.
func (r *rotated) turn() error {
	for n := keptLogs - 1; n > 0; n-- {
		_ = os.Rename(r.old(n), r.old(n+1))
	}
	_ = os.Rename(r.path, r.old(1))
	old := r.file
	if err := r.open(); err != nil {
		return err
	}
	return old.Close()
}

func (r *rotated) old(n int) string { return r.path + "." + strconv.Itoa(n) }

// Close ends the log.
func (r *rotated) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.file.Close()
}
