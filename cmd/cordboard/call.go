package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"cordboard/core"
)

// maxParams bounds what `call … -` reads: a tool's parameters, not a file.
const maxParams = 25 << 20

func newCall(a *app) *cobra.Command {
	var as string
	c := &cobra.Command{
		Use:   "call TOOL [JSON|-]",
		Short: "Call a session tool and print its JSON answer",
		Long: "call runs sessions_list, sessions_history or agents_list with the given parameters ({} when left out, - reads them from\n" +
			"standard input) and prints the answer, a refusal too. Exit code 4 is a refusal by scope, 2 wrong parameters, 1 any other.",
		Args: usageArgs(cobra.RangeArgs(1, 2)),
		RunE: func(c *cobra.Command, args []string) error {
			params := []byte("{}")
			if len(args) == 2 {
				params = []byte(args[1])
			}
			if string(params) == "-" {
				var err error
				if params, err = io.ReadAll(io.LimitReader(a.in, maxParams)); err != nil {
					return err
				}
			}
			return a.read(c, as, func(ctx context.Context, b core.Board) error {
				result, err := b.Call(ctx, core.ToolCall{Tool: args[0], Params: params})
				if err != nil {
					return err
				}
				return a.printResult(result)
			})
		},
	}
	addAs(c, &as)
	return c
}

func (a *app) callAndPrint(ctx context.Context, b core.Board, tool string, params map[string]any) error {
	raw, err := json.Marshal(params)
	if err != nil {
		return err
	}
	result, err := b.Call(ctx, core.ToolCall{Tool: tool, Params: raw})
	if err != nil {
		return err
	}
	return a.printResult(result)
}

// printResult prints an answer as it is; a refusal's exit code follows.
func (a *app) printResult(result core.ToolResult) error {
	body := bytes.TrimRight(result.Body, "\n")
	if _, err := fmt.Fprintf(a.out, "%s\n", body); err != nil {
		return err
	}
	if result.Refused != nil {
		return &reported{result.Refused}
	}
	return nil
}
