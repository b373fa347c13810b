package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"cordboard/core"
	"cordboard/core/host"
	"cordboard/themes"
	"cordboard/ui/safe"
)

func newConfig(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "config",
		Short: "Check the config file, or show what is in force",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return &usageError{fmt.Errorf("config has no verb %q: there are config check [FILE] and config show [KEY]", args[0])}
			}
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(&cobra.Command{
		Use:   "check [FILE]",
		Short: "Check a config file: errors, keys without effect here, keys whose feature is not built yet",
		Args:  usageArgs(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			o := a.options(c)
			if len(args) == 1 {
				o.ConfigPath, o.ConfigGiven = args[0], true
			}
			return a.configCheck(o)
		},
	}, &cobra.Command{
		Use:               "show [KEY]",
		Short:             "Show the effective value of every key and where it comes from",
		Args:              usageArgs(cobra.MaximumNArgs(1)),
		ValidArgsFunction: oneOf(a.configKeys),
		RunE: func(c *cobra.Command, args []string) error {
			key := ""
			if len(args) == 1 {
				key = args[0]
			}
			rows, err := a.options(c).ShowConfig(key)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(rows)
			}
			return a.configTable(rows)
		},
	})
	return c
}

func (a *app) configTable(rows []host.ConfigRow) error {
	t := table{columns: []column{{title: "KEY"}, {title: "VALUE", grow: true}, {title: "SOURCE"}, {title: "NOT YET"}}}
	for _, row := range rows {
		t.add(row.Key, row.Text(), row.Source, row.NotYet)
	}
	return t.write(a.out, a.width())
}

// configCheck prints every problem on a line of its own, as compilers do.
func (a *app) configCheck(o host.Options) error {
	cfg, report, err := o.LoadConfig()
	if err == nil {
		err = a.checkLooks(o, cfg, report)
	}
	if a.json {
		return a.configJSON(report, err)
	}
	if err != nil {
		for line := range strings.SplitSeq(err.Error(), "\n") {
			fmt.Fprintln(a.err, safe.Line(line))
		}
		return &reported{err}
	}
	name := report.File
	if name == "" {
		name = "the defaults"
	}
	for _, p := range report.Warnings {
		fmt.Fprintln(a.out, safe.Line("warning: "+p.Error()))
	}
	for _, e := range report.NoEffect {
		fmt.Fprintln(a.out, safe.Line(fmt.Sprintf("%s:%d:%d: %s: no effect in cordboard", report.File, e.Line, e.Col, e.Key)))
	}
	for _, e := range report.NotYet {
		fmt.Fprintln(a.out, safe.Line(fmt.Sprintf("%s:%d:%d: %s: not yet", report.File, e.Line, e.Col, e.Key)))
	}
	_, err = fmt.Fprintln(a.out, safe.Line(name+": ok"))
	return err
}

// checkLooks asks of a config what only the console knows: whether there is such a theme, and what its keymap says.
func (a *app) checkLooks(o host.Options, cfg *host.Config, report host.ConfigReport) error {
	var mistakes host.ConfigProblems
	if name, ok := themes.Chosen("", cfg.UI.Theme, ""); ok {
		if _, err := themes.Load(a.home(name), themeDirs()...); err != nil {
			problem := report.At("ui.theme", err.Error())
			if core.CodeOf(err) == core.CodeNotFound {
				problem.Allowed = append([]string{"auto"}, themeNames()...)
				problem.Message += " (there are " + strings.Join(problem.Allowed, ", ") + ")"
			}
			mistakes = append(mistakes, problem)
		}
	}
	if cfg.UI.Keymap != "" {
		_, err := readKeymap(o, a.home(cfg.UI.Keymap))
		if problems, ok := errors.AsType[host.ConfigProblems](err); ok {
			mistakes = append(mistakes, problems...)
		} else if err != nil {
			mistakes = append(mistakes, report.At("ui.keymap", err.Error()))
		}
	}
	if len(mistakes) == 0 {
		return nil
	}
	return mistakes
}

// configJSON prints the report with the mistakes in it, and an empty list of them when there are none.
func (a *app) configJSON(report host.ConfigReport, err error) error {
	problems := host.ConfigProblems{}
	if all, ok := errors.AsType[host.ConfigProblems](err); ok {
		problems = all
	} else if err != nil {
		problems = append(problems, host.ConfigProblem{File: report.File, Message: err.Error()})
	}
	if printErr := a.printJSON(struct {
		host.ConfigReport
		Problems host.ConfigProblems `json:"problems"`
	}{report, problems}); printErr != nil || err == nil {
		return printErr
	}
	return &reported{err}
}
