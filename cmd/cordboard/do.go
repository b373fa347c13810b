package main

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"cordboard/core"
)

// act carries out one command of the operator's and prints what came of it, for people as say does.
func (a *app) act(c *cobra.Command, command core.Command, say func(r core.Receipt) error) error {
	return a.reach(c, "", func(ctx context.Context, b core.Board) error {
		receipt, err := b.Do(ctx, command)
		if err != nil {
			return err
		}
		if a.json {
			return a.printJSON(receipt)
		}
		return say(receipt)
	})
}

// itemResult is what became of one of the sessions that a verb was given.
type itemResult struct {
	Key    string        `json:"key"` // as it was given, or once it is known the full key
	Rev    core.Rev      `json:"rev,omitempty"`
	Before *core.Verdict `json:"before,omitempty"` // of the send policy, where that is what changes
	After  *core.Verdict `json:"after,omitempty"`
	Undo   *core.Command `json:"undo,omitempty"`
	// Previous is the sessionId under which the transcript of a session that was deleted stays readable.
	Previous string      `json:"previous,omitempty"`
	Refused  *core.Error `json:"refused,omitempty"`
}

// each does something to every session that was named and prints the results, for people in a line each. One that is refused keeps no other
// from being done; the exit code is that of the first refusal.
func (a *app) each(keys []string, do func(key string) (itemResult, error), say func(r itemResult) error) error {
	results := []itemResult{}
	var first error
	for _, key := range keys {
		result, err := do(key)
		if refused, ok := errors.AsType[*core.Error](err); ok {
			told := *refused
			told.Message = err.Error()
			result, err = itemResult{Key: key, Refused: &told}, nil
		}
		if err == nil && !a.json {
			err = a.sayItem(result, say)
		}
		if err != nil {
			return err
		}
		if first == nil && result.Refused != nil {
			first = &reported{result.Refused}
		}
		results = append(results, result)
	}
	if a.json {
		if err := a.printJSON(map[string]any{"results": results}); err != nil {
			return err
		}
	}
	return first
}

func (a *app) sayItem(r itemResult, say func(r itemResult) error) error {
	if r.Refused != nil {
		complain(a.err, r.Refused)
		return nil
	}
	return say(r)
}

// eachPatched patches every session that was named in the same way.
func (a *app) eachPatched(c *cobra.Command, keys []string, patch core.Patch, said string) error {
	return a.reach(c, "", func(ctx context.Context, b core.Board) error {
		return a.each(keys, func(key string) (itemResult, error) {
			return patched(ctx, b, key, patch)
		}, func(r itemResult) error { return a.say(said, r.Key) })
	})
}

func patched(ctx context.Context, b core.Board, key string, patch core.Patch) (itemResult, error) {
	patch.Session = key
	receipt, err := b.Do(ctx, core.Command{Patch: &patch})
	return itemResult{Key: receipt.Key, Rev: receipt.Rev, Undo: receipt.Undo}, err
}
