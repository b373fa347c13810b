package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"cordboard/core/host"
	"cordboard/ui/safe"
)

func newDoctor(a *app) *cobra.Command {
	var backup string
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Check the store: its pages, and that every record and index agree",
		Long: "doctor reads the whole store and changes nothing. Exit code 1 when it finds something wrong; each finding says what to do.\n" +
			"--restore puts a backup in place of a store that is not there: move a damaged cordboard.db away first.",
		Args: usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if backup != "" {
				if err := host.Restore(c.Context(), a.options(c), backup); err != nil {
					return err
				}
			}
			report, err := host.Doctor(c.Context(), a.options(c))
			if err != nil {
				return err
			}
			if a.json {
				err = a.printJSON(report)
			} else {
				a.doctorText(report)
			}
			if err == nil && !report.OK() {
				err = &reported{fmt.Errorf("%d findings", len(report.Findings)+report.More)}
			}
			return err
		},
	}
	c.Flags().StringVar(&backup, "restore", "", "first put this backup in place; there must be no store")
	return c
}

func (a *app) doctorText(r host.DoctorReport) {
	fmt.Fprintf(a.out, "%s: %s\n", safe.Line(r.Path), bytesText(r.Bytes))
	if r.Contents != nil {
		fmt.Fprintf(a.out, "schema %d, revision %d\n", r.Schema, r.Rev)
		fmt.Fprintf(a.out, "%d sessions, %d transcripts, %d messages, %d runs\n", r.Sessions, r.Transcripts, r.Messages, r.Runs)
	}
	for _, f := range r.Findings {
		fmt.Fprintf(a.out, "wrong: %s\n  do: %s\n", safe.Line(f.What), safe.Line(f.Do))
	}
	if r.More > 0 {
		fmt.Fprintf(a.out, "… and %d more\n", r.More)
	}
	if r.OK() {
		fmt.Fprintln(a.out, "ok")
	}
}
