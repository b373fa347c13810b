package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cordboard/core"
	"cordboard/core/host"
)

// maxParams bounds what `call … -` reads: a tool's parameters, not a file.
const maxParams = 25 << 20

func newCall(a *app) *cobra.Command {
	var as string
	c := &cobra.Command{
		Use:   "call TOOL [JSON|-]",
		Short: "Call a session tool and print its JSON answer",
		Long: "call runs one of " + strings.Join(host.ToolNames(), ", ") + "\nwith the given parameters ({} when left out, - reads them from standard input) and prints " +
			"the\nanswer, a refusal too. Exit code 4 is a refusal by scope, 2 wrong parameters, 1 any other.\n\n" +
			"In a command that plays an agent it is a call of that agent's session, as part of its run: --as is not needed there.",
		Args:              usageArgs(cobra.RangeArgs(1, 2)),
		ValidArgsFunction: oneOf(toolNames),
		RunE: func(c *cobra.Command, args []string) error {
			params := []byte("{}")
			if len(args) == 2 {
				params = []byte(args[1])
			}
			if string(params) == "-" {
				var err error
				if params, err = a.input(c.Context(), maxParams); err != nil {
					return err
				}
			}
			with := a.read
			if host.ToolActs(args[0]) {
				with = a.reach
			}
			return with(c, as, func(ctx context.Context, b core.Board) error {
				result, err := b.Call(ctx, core.ToolCall{Tool: args[0], Params: params})
				if err != nil {
					return err
				}
				return a.printResult(result)
			})
		},
	}
	a.addAs(c, &as)
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

// ask calls a tool for what is in its answer; a refusal is an error like any other.
func ask(ctx context.Context, b core.Board, tool string, params map[string]any, answer any) error {
	raw, err := json.Marshal(params)
	if err != nil {
		return err
	}
	result, err := b.Call(ctx, core.ToolCall{Tool: tool, Params: raw})
	if err != nil {
		return err
	}
	if result.Refused != nil {
		return result.Refused
	}
	return json.Unmarshal(result.Body, answer)
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
