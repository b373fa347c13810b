// Command cordboard is the console at which people who run AI agents work, and every action of it as a verb for the shell.
//
// main.go runs a verb and turns its error into an exit code; app.go opens what a verb works on; each verb has a file of its own.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"cordboard/core"
	_ "cordboard/themes/early" // answers for the terminal before bubbletea's init asks it
	"cordboard/ui/safe"
)

// Exit codes, as README lists them (gateway.md §3).
const (
	exitOK        = 0
	exitFailed    = 1
	exitUsage     = 2
	exitTimeout   = 3
	exitForbidden = 4
	exitRunFailed = 5
)

func main() { os.Exit(program()) }

// program is a run of this process: until its end, or a signal to go.
func program() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	return run(ctx, os.Args[1:], hostStreams())
}

// run does what one command line says and returns its exit code.
func run(ctx context.Context, args []string, io streams) int {
	var out *output
	if !io.terminal {
		out = &output{to: io.out}
		io.out = out
	}
	a := &app{streams: io, args: args}
	root := newRoot(a)
	root.SetArgs(args)
	err := out.failure(root.ExecuteContext(ctx))
	if err == nil {
		return exitOK
	}
	var printed *reported
	if !errors.As(err, &printed) {
		complain(io.err, err)
	}
	return exitCode(ctx, err)
}

// reported is an error whose text is already out, as a refused tool call's is.
type reported struct{ error }

func (r *reported) Unwrap() error { return r.error }

// usageError is a command line that could not be understood.
type usageError struct{ error }

func (u *usageError) Unwrap() error { return u.error }

func exitCode(ctx context.Context, err error) int {
	var usage *usageError
	var below *ended
	var result *outcome
	switch {
	case errors.As(err, &below):
		return below.code
	case errors.As(err, &result):
		return result.code
	case ctx.Err() != nil:
		return exitFailed
	case errors.As(err, &usage):
		return exitUsage
	}
	switch core.CodeOf(err) {
	case core.CodeInvalidParams:
		return exitUsage
	case core.CodeForbidden, core.CodeSendDenied:
		return exitForbidden
	}
	return exitFailed
}

// complain writes an error in one line that says what to do.
func complain(w io.Writer, err error) {
	text := safe.Line(err.Error())
	if errors.Is(err, context.Canceled) {
		text = "stopped"
	}
	if e, ok := errors.AsType[*core.Error](err); ok && e.ConfigKey != "" && !strings.Contains(e.Message, e.ConfigKey) {
		text += " (decided by " + safe.Line(e.ConfigKey) + ")"
	}
	fmt.Fprintln(w, "cordboard:", text)
}

func newRoot(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:           "cordboard",
		Short:         "See and steer the sessions of a fleet of AI agents",
		Long:          "cordboard opens the console on its store: every agent, every session, every transcript.\nThe verbs below do the same work from the shell; each prints a table, or JSON with --json.",
		Args:          knownVerb,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE:          a.openConsole,

		PersistentPreRunE: onlyUTF8,
	}
	root.SuggestionsMinimumDistance = 2
	root.SetIn(a.in)
	root.SetOut(a.out)
	root.SetErr(a.err)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return &usageError{fmt.Errorf("%w: see %s --help", plainFlagError(err), c.CommandPath())}
	})
	root.Version = version()
	root.SetVersionTemplate(versionLine())
	flags := root.PersistentFlags()
	flags.StringVar(&a.dir, "data", "", "data directory (default $XDG_STATE_HOME/cordboard)")
	flags.StringVar(&a.configPath, "config", "", `config file; "" for the defaults (default $XDG_CONFIG_HOME/cordboard/config.json5)`)
	flags.BoolVar(&a.json, "json", false, "print JSON")
	root.AddGroup(&cobra.Group{ID: "read", Title: "Read:"}, &cobra.Group{ID: "talk", Title: "Talk:"},
		&cobra.Group{ID: "steer", Title: "Steer:"}, &cobra.Group{ID: "fill", Title: "Fill the store:"},
		&cobra.Group{ID: "care", Title: "Look after it:"})
	a.addConsoleFlags(root)
	root.Flags().BoolVar(&a.console.inProcess, "in-process", false, "be the owner of the store in this process: agents run here, and end with the console")
	add := func(group string, commands ...*cobra.Command) {
		for _, c := range commands {
			c.GroupID = group
			root.AddCommand(c)
		}
	}
	add("read", newList(a), newShow(a), newHistory(a), newTail(a), newSearch(a), newAgents(a), newRuns(a), newDeliveries(a), newExchange(a), newUsage(a),
		newAudit(a), newCall(a), newExport(a))
	add("talk", newNew(a), newSend(a), newSpawn(a), newReply(a), newApprove(a), newInbound(a), newWait(a), newAbort(a), newStop(a), newRetry(a), newMCP(a))
	add("steer", newPolicy(a), newPatch(a), newArchive(a), newRestore(a), newReset(a), newDelete(a), newAdopt(a), newHold(a),
		newRelease(a))
	add("fill", newImport(a), newFollow(a), newDemo(a))
	add("care", newServe(a), newStatus(a), newConfig(a), newDoctor(a), newBackup(a), newCompact(a), newBench(a), newVersion(a))
	root.SetHelpCommand(&cobra.Command{
		Use:   "help [VERB]",
		Short: "Help about any command",
		RunE: func(c *cobra.Command, args []string) error {
			target, rest, err := root.Find(args)
			if err != nil || target == root {
				if err := knownVerb(root, append(rest, args...)); err != nil {
					return err
				}
				target = root
			}
			return target.Help()
		},
	})
	root.SetHelpCommandGroupID("care")
	root.SetCompletionCommandGroupID("care")
	return root
}

// onlyUTF8 refuses words that are not UTF-8 for what may be written to the store. Paths are whatever the file system takes.
func onlyUTF8(c *cobra.Command, args []string) (err error) {
	top := c
	for top.HasParent() && top.Parent().HasParent() {
		top = top.Parent()
	}
	if top.GroupID != "talk" && top.GroupID != "steer" {
		return nil
	}
	for i, arg := range args {
		if !utf8.ValidString(arg) {
			return &usageError{fmt.Errorf("argument %d, %q, is not UTF-8: text and keys are", i+1, shortened(arg))}
		}
	}
	c.Flags().Visit(func(f *pflag.Flag) {
		path := f.Name == "data" || f.Name == "config"
		if value := f.Value.String(); err == nil && !path && !utf8.ValidString(value) {
			err = &usageError{fmt.Errorf("--%s %q is not UTF-8", f.Name, shortened(value))}
		}
	})
	return err
}

func shortened(text string) string {
	const most = 40
	if len(text) > most {
		return text[:most] + "…"
	}
	return text
}

// plainFlagError says what a flag takes instead of how it was parsed.
func plainFlagError(err error) error {
	bad, ok := errors.AsType[*pflag.InvalidValueError](err)
	if !ok {
		return err
	}
	takes := map[string]string{"int": "a whole number", "uint64": "a whole number from 0 up", "bool": "true or false", "duration": "a duration such as 90s or 1h30m"}[bad.GetFlag().Value.Type()]
	if takes == "" {
		return err
	}
	return fmt.Errorf("--%s %q: it takes %s", bad.GetFlag().Name, bad.GetValue(), takes)
}

// knownVerb refuses a word that is no verb, with those it may have meant.
func knownVerb(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	hint := "see cordboard --help"
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	}
	return &usageError{fmt.Errorf("there is no verb %q: %s", args[0], hint)}
}

// usageArgs makes a wrong number of arguments a usage error that shows the right form.
func usageArgs(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if err := check(c, args); err != nil {
			return &usageError{fmt.Errorf("%w: usage: %s", err, c.UseLine())}
		}
		return nil
	}
}
