package main

import (
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"cordboard/core"
	"cordboard/core/host"
	"cordboard/themes"
	"cordboard/ui/safe"
)

// What a shell offers at TAB: keys of sessions that are in the store, kinds, tools, config keys, themes. It reads what is there, waits
// for nobody and says nothing when it cannot.

const (
	completeWait = 100 * time.Millisecond // for a process that writes to the store
	completeMost = 1000                   // sessions offered, the most recently updated ones
)

// oneOf offers what list returns for the first argument, and no files.
func oneOf(list func(c *cobra.Command) []string) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return starting(list(c), typed), cobra.ShellCompDirectiveNoFileComp
	}
}

// many offers what list returns for every argument but those that are there, and no files.
func many(list func(c *cobra.Command) []string) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		left := slices.DeleteFunc(list(c), func(offer string) bool { return slices.Contains(args, offer) })
		return starting(left, typed), cobra.ShellCompDirectiveNoFileComp
	}
}

// offer makes a flag offer what list returns.
func offer(c *cobra.Command, flag string, list func(c *cobra.Command) []string) {
	err := c.RegisterFlagCompletionFunc(flag, func(c *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		before := typed[:strings.LastIndexByte(typed, ',')+1] // of a list the last item is being typed
		offers := starting(list(c), typed[len(before):])
		for i := range offers {
			offers[i] = before + offers[i]
		}
		return offers, cobra.ShellCompDirectiveNoFileComp
	})
	if err != nil {
		panic(err) // the flag's name is a constant
	}
}

func starting(list []string, typed string) []string {
	var offers []string
	for _, text := range list {
		if strings.HasPrefix(text, typed) && safe.Line(text) == text {
			offers = append(offers, text)
		}
	}
	return offers
}

// onBoard runs fn on the store of the command line, when there is one that can be read at once.
func (a *app) onBoard(c *cobra.Command, fn func(b core.Board) ([]string, error)) []string {
	o := a.options(c)
	o.LockWait = completeWait
	h, err := host.Read(c.Context(), o)
	if err != nil {
		return nil
	}
	defer h.Close()
	b, err := h.Board(c.Context(), core.Operator)
	if err != nil {
		return nil
	}
	defer b.Close()
	list, err := fn(b)
	if err != nil {
		return nil
	}
	return list
}

func (a *app) sessionKeys(c *cobra.Command) []string { return a.flaggedKeys(c, 0) }

// flaggedKeys are the keys of sessions that have every one of some flags.
func (a *app) flaggedKeys(c *cobra.Command, flags core.HeadFlags) []string {
	return a.onBoard(c, func(b core.Board) (keys []string, err error) {
		page, err := b.Sessions(c.Context(), core.SessionQuery{Limit: completeMost, Archived: true})
		for _, row := range page.Rows {
			if row.Flags.Has(flags) {
				keys = append(keys, row.Key)
			}
		}
		return keys, err
	})
}

func (a *app) runIDs(c *cobra.Command) []string {
	return a.onBoard(c, func(b core.Board) ([]string, error) {
		page, err := b.Records(c.Context(), core.RecordQuery{Kind: core.RecordRuns})
		ids := make([]string, len(page.Runs))
		for i, run := range page.Runs {
			ids[i] = run.ID
		}
		return ids, err
	})
}

func (a *app) agentIDs(c *cobra.Command) []string {
	return a.onBoard(c, func(b core.Board) ([]string, error) {
		info, err := b.Info(c.Context())
		ids := make([]string, len(info.Agents))
		for i, agent := range info.Agents {
			ids[i] = agent.ID
		}
		return ids, err
	})
}

func (a *app) configKeys(c *cobra.Command) []string {
	rows, err := a.options(c).ShowConfig("")
	if err != nil {
		return nil
	}
	keys := make([]string, len(rows))
	for i, row := range rows {
		keys[i] = row.Key
	}
	return keys
}

func kindNames(*cobra.Command) []string {
	names := make([]string, len(core.Kinds))
	for i, kind := range core.Kinds {
		names[i] = string(kind)
	}
	return names
}

func toolNames(*cobra.Command) []string { return host.ToolNames() }

// themeNames are the themes that can be named: the built-in ones and the user's.
func themeNames() []string { return themes.Names(themeDirs()...) }

func themeDirs() []string {
	if dir := host.UserDir(); dir != "" {
		return []string{filepath.Join(dir, "themes")}
	}
	return nil
}

// onlyDirectories offers directories for the first argument.
func onlyDirectories(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveFilterDirs
}
