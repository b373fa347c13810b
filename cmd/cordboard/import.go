package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"

	"github.com/spf13/cobra"

	"cordboard/core/host"
	"cordboard/ui/safe"
)

const shownProblems = 20

func newImport(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "import DIR",
		Short: "Copy an OpenClaw state directory into the store",
		Long: "import reads the sessions, transcripts and spawn registry of DIR. It may be stopped and run again: a second run adds only what is\n" +
			"new. What cannot be read is reported and skipped, all else is taken over. DIR is never changed.",
		Args:              usageArgs(cobra.ExactArgs(1)),
		ValidArgsFunction: onlyDirectories,
		RunE: func(c *cobra.Command, args []string) error {
			err := a.ownFor(c, args[0], func(ctx context.Context, h *host.Host) error {
				bar := a.newBar("importing")
				report, err := h.Import(ctx, args[0], host.ImportOptions{Progress: func(p host.ImportProgress) {
					bar.show(p.Bytes, p.TotalBytes, fmt.Sprintf("%d sessions  %d messages  %d problems", p.Sessions.Added+p.Sessions.Changed, p.Messages, p.Problems))
				}})
				bar.done()
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(report)
				}
				return a.importText(report)
			})
			if errors.Is(err, context.Canceled) {
				return errImportStopped
			}
			return err
		},
	}
}

// errImportStopped is what an interrupted import says: what it has written stays, and the next one goes on from there.
var errImportStopped = errors.New("the import was stopped: run it again to go on")

func (a *app) importText(r host.ImportReport) error {
	fmt.Fprintf(a.out, "%s: %d agents\n", safe.Line(r.Source), r.Agents)
	t := table{columns: []column{
		{title: ""},
		{title: "ADDED", right: true},
		{title: "CHANGED", right: true},
		{title: "UNCHANGED", right: true},
		{title: "SKIPPED", right: true},
	}}
	for _, row := range []struct {
		name   string
		counts host.ImportCounts
	}{{"sessions", r.Sessions}, {"transcripts", r.Transcripts}, {"runs", r.Runs}} {
		c := row.counts
		t.add(row.name, fmt.Sprint(c.Added), fmt.Sprint(c.Changed), fmt.Sprint(c.Unchanged), fmt.Sprint(c.Skipped))
	}
	if err := t.write(a.out, a.width()); err != nil {
		return err
	}
	fmt.Fprintf(a.out, "%d messages added, %s read\n", r.Messages, bytesText(r.Bytes))
	if r.Partial > 0 {
		fmt.Fprintf(a.out, "%d transcripts end in a line that is still being written: the next import takes it\n", r.Partial)
	}
	listProblems(a.err, r.Problems, r.ProblemCount)
	if r.ProblemCount > 0 {
		fmt.Fprintf(a.out, "%s, listed above: what could not be read is left out, all else is in the store. A broken line is told of once, since the\n"+
			"next import reads only what is new\n", counted(r.ProblemCount, "problem"))
	}
	listOthers(a.out, r.Others)
	if r.Config != "" {
		fmt.Fprintf(a.out, "Its config stays where it is; to use it: cordboard --config %s\n", safe.Line(r.Config))
	}
	return nil
}

// listOthers tells of the keys that are others' in this store.
func listOthers(w io.Writer, others map[string]int) {
	for _, source := range slices.Sorted(maps.Keys(others)) {
		fmt.Fprintln(w, otherKeys(source, others[source]))
	}
}

// otherKeys says whose the keys are that this directory may not have.
func otherKeys(source string, keys int) string {
	whose := "sessions that are answered here"
	if source != "" {
		whose = safe.Line(source)
	}
	belong := "belong to %s and are"
	if keys == 1 {
		belong = "belongs to %s and is"
	}
	return counted(keys, "key") + " " + fmt.Sprintf(belong, whose) + " left out here: one store holds one directory's keys, so give this one another --data"
}
