package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"

	"cordboard/core"
	"cordboard/core/host"
	"cordboard/ui/safe"
	"cordboard/ui/transcribe"
)

func newBackup(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "backup FILE",
		Short: "Write a consistent copy of the store",
		Long:  "backup writes the whole store to FILE, which must not exist. `cordboard doctor --restore FILE` goes back to it.",
		Args:  usageArgs(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if args[0] == "" || args[0] == "-" {
				return &usageError{errors.New("backup writes to a file: give a path")}
			}
			h, err := host.Read(c.Context(), a.options(c))
			if err != nil {
				return err
			}
			defer h.Close()
			n, err := writeNew(args[0], func(w io.Writer) error {
				return h.Backup(c.Context(), w)
			})
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(map[string]any{"file": args[0], "bytes": n})
			}
			_, err = fmt.Fprintf(a.out, "wrote %s to %s\n", bytesText(n), safe.Line(args[0]))
			return err
		},
	}
}

// writeNew makes a file that was not there, all of it or nothing: it grows under another name and is linked into place when it is safe
// on disk. The file is private to the user.
func writeNew(path string, fill func(io.Writer) error) (n int64, err error) {
	if _, err := os.Lstat(path); err == nil {
		return 0, fmt.Errorf("%s exists: give a path that does not", path)
	}
	dir := filepath.Dir(path)
	if info, err := os.Stat(dir); err != nil || !info.IsDir() {
		return 0, fmt.Errorf("%s cannot be written: there is no directory %s", path, dir)
	}
	f, err := os.CreateTemp(dir, ".cordboard-*")
	if err != nil {
		return 0, fmt.Errorf("%s cannot be written: %w", path, err)
	}
	defer os.Remove(f.Name())
	err = fill(f)
	if err == nil {
		n, err = f.Seek(0, io.SeekCurrent)
	}
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Link(f.Name(), path)
	}
	return n, err
}

// The formats of an export.
const (
	formatJSONL    = "jsonl"
	formatMarkdown = "markdown"
)

func newExport(a *app) *cobra.Command {
	var out, format string
	c := &cobra.Command{
		Use:   "export KEY|SESSIONID",
		Short: "Write a transcript as the JSONL it came from, or as Markdown",
		Long: "export writes a session's current transcript, or an older generation named by its sessionId, in the version-3 JSONL format: an\n" +
			"imported line comes out byte for byte. --format markdown writes it for people, control characters as visible marks.",
		Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if format != formatJSONL && format != formatMarkdown {
				return &usageError{fmt.Errorf("--format %q: %s or %s", format, formatJSONL, formatMarkdown)}
			}
			write := func(w io.Writer) error { return a.exportJSONL(c, args[0], w) }
			if format == formatMarkdown {
				write = func(w io.Writer) error { return a.exportMarkdown(c, args[0], w) }
			}
			if out == "" || out == "-" {
				return write(a.out)
			}
			n, err := writeNew(out, write)
			if err == nil {
				fmt.Fprintf(a.err, "wrote %s to %s\n", bytesText(n), safe.Line(out))
			}
			return err
		},
	}
	c.Flags().StringVar(&out, "out", "", "write to this file, which must not exist, instead of standard output")
	c.Flags().StringVar(&format, "format", formatJSONL, "jsonl or markdown")
	return c
}

func (a *app) exportMarkdown(c *cobra.Command, session string, w io.Writer) error {
	return a.read(c, "", func(ctx context.Context, b core.Board) error {
		q := core.MessageQuery{Session: session, Filter: core.MessageFilter{Events: true}}
		return transcribe.Markdown(ctx, b, q, time.UTC, w)
	})
}

func (a *app) exportJSONL(c *cobra.Command, session string, w io.Writer) error {
	h, err := host.Read(c.Context(), a.options(c))
	if err != nil {
		return err
	}
	defer h.Close()
	buffered := bufio.NewWriterSize(w, 1<<16)
	if err := h.Export(c.Context(), session, buffered); err != nil {
		return err
	}
	return buffered.Flush()
}
