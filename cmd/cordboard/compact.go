package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"cordboard/core/host"
)

func newCompact(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "compact",
		Short: "Give the space of deleted data back to the file system",
		Long: "compact writes the store anew without its free pages, checks the copy and puts it in place of the old file. Nothing else may have\n" +
			"the store open: an owner that nobody needs is asked to go, for any other see cordboard serve --stop. Stopped or failed, compact leaves the\n" +
			"old file as it was.",
		Args: usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			bar := a.newBar("compacting")
			result, err := host.Compact(c.Context(), a.options(c), func(done, all int64) { bar.show(done, all, bytesText(done)) })
			bar.done()
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(result)
			}
			if result.After == result.Before {
				_, err = fmt.Fprintf(a.out, "nothing to give back: the store stays as it is, %s\n", bytesText(result.Before))
				return err
			}
			_, err = fmt.Fprintf(a.out, "%s → %s\n", bytesText(result.Before), bytesText(result.After))
			return err
		},
	}
}
