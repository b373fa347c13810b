package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"cordboard/core"
	"cordboard/ui/safe"
)

// spawning is what spawn was asked for on the command line. Flags that were not given are left to the tool.
type spawning struct {
	as                                                           string
	label, agent, model, thinking, mode, cleanup, sandbox, mount string
	timeout, wait                                                int
	thread, dry                                                  bool
	attach                                                       []string
}

func newSpawn(a *app) *cobra.Command {
	var s spawning
	c := &cobra.Command{
		Use:   "spawn --as KEY TASK|-",
		Short: "Start a sub-agent for a session, which is told the result",
		Long: "spawn is sessions_spawn of the session KEY: a sub-agent does TASK in a session of its own, and its result is announced to the chat that\n" +
			"KEY has now. The answer comes at once; --wait S waits for the sub-agent's run and prints its result. - reads the task from standard\n" +
			"input. Exit code 3: no result yet, the run goes on; 4: the spawn was refused; 5: the run failed.",
		Example: "  cordboard spawn --as main 'Read the logs of last night' --label 'log sweep' --wait 120\n" +
			"  cordboard spawn --as main - --agent research --attach report.csv --sandbox require <task.txt",
		Args: usageArgs(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if s.as == "" {
				return &usageError{errors.New("--as names the session that the sub-agent works for: it is told the result")}
			}
			if s.wait < 0 || s.wait > maxWait {
				return &usageError{fmt.Errorf("--wait %d: 0 to %d seconds", s.wait, maxWait)}
			}
			params, err := a.spawnParams(c, &s, args[0])
			if err != nil {
				return err
			}
			return a.reach(c, "", func(ctx context.Context, b core.Board) error {
				if s.dry {
					return a.foreseeSpawn(ctx, b, core.SpawnQuestion{As: s.as, Params: params})
				}
				return a.spawn(ctx, b, &s, params)
			})
		},
	}
	a.addAs(c, &s.as)
	f := c.Flags()
	f.StringVar(&s.label, "label", "", "a name for people")
	f.StringVar(&s.agent, "agent", "", "whose sub-agent (default KEY's own): cordboard agents --as KEY shows who may be")
	f.StringVar(&s.model, "model", "", "a configured model instead of the agent's")
	f.StringVar(&s.thinking, "thinking", "", "off, minimal, low, medium, high, xhigh or adaptive")
	f.IntVar(&s.timeout, "timeout", 0, "cut the run after so many seconds; 0 never (default the configured one)")
	f.BoolVar(&s.thread, "thread", false, "open a thread in KEY's chat in which the sub-agent talks")
	f.StringVar(&s.mode, "mode", "", "run, or with --thread session")
	f.StringVar(&s.cleanup, "cleanup", "", "keep, or delete its session once the result is announced")
	f.StringVar(&s.sandbox, "sandbox", "", "inherit, or require: refuse unless it is sandboxed")
	f.StringArrayVar(&s.attach, "attach", nil, "a file that goes with the task; may be given again")
	f.StringVar(&s.mount, "mount", "", "a hint where the files should appear")
	f.IntVar(&s.wait, "wait", 0, "seconds to wait for the result; 0 does not wait")
	f.BoolVar(&s.dry, "dry-run", false, "spawn nothing, say what it would meet")
	offer(c, "agent", a.agentIDs)
	return c
}

// spawnParams are the parameters of sessions_spawn: those that were given.
func (a *app) spawnParams(c *cobra.Command, s *spawning, task string) (json.RawMessage, error) {
	text, err := a.message(c.Context(), task)
	if err != nil {
		return nil, err
	}
	params := map[string]any{"task": text}
	for name, value := range map[string]struct {
		flag  string
		value any
	}{
		"label": {"label", s.label}, "agentId": {"agent", s.agent}, "model": {"model", s.model}, "thinking": {"thinking", s.thinking},
		"runTimeoutSeconds": {"timeout", s.timeout}, "thread": {"thread", s.thread}, "mode": {"mode", s.mode}, "cleanup": {"cleanup", s.cleanup},
		"sandbox": {"sandbox", s.sandbox}, "attachAs": {"mount", map[string]string{"mountPath": s.mount}},
	} {
		if c.Flags().Changed(value.flag) {
			params[name] = value.value
		}
	}
	files, err := attached(s.attach)
	if err != nil {
		return nil, err
	}
	if len(files) > 0 {
		params["attachments"] = files
	}
	return json.Marshal(params)
}

// attached reads files as the tool takes them: text as it is, anything else as base64.
func attached(paths []string) (files []map[string]string, err error) {
	room := int64(maxMessage * 3 / 4) // base64 makes four bytes of three
	for _, path := range paths {
		data, err := readUpTo(path, room)
		if err != nil {
			return nil, err
		}
		room -= int64(len(data))
		file := map[string]string{"name": filepath.Base(path), "content": string(data), "encoding": "utf8"}
		if !utf8.Valid(data) {
			file["content"], file["encoding"] = base64.StdEncoding.EncodeToString(data), "base64"
		}
		files = append(files, file)
	}
	return files, nil
}

// readUpTo reads a regular file; one that is larger than most is refused before it is read.
func readUpTo(path string, most int64) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, &usageError{fmt.Errorf("--attach %s: %w", path, errors.Unwrap(err))}
	case !info.Mode().IsRegular():
		return nil, &usageError{fmt.Errorf("--attach %s: it is no file", path)}
	case info.Size() > most:
		return nil, &usageError{fmt.Errorf("--attach %s: all files together may have %d bytes here", path, maxMessage*3/4)}
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, &usageError{fmt.Errorf("--attach %s: %w", path, errors.Unwrap(err))}
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}

// spawn makes the sub-agent and waits for it when that is asked for.
func (a *app) spawn(ctx context.Context, b core.Board, s *spawning, params json.RawMessage) error {
	result, err := b.Call(ctx, core.ToolCall{As: s.as, Tool: "sessions_spawn", Params: params})
	switch {
	case err != nil:
		return err
	case result.Refused != nil && a.json:
		return a.printResult(result)
	case result.Refused != nil:
		return result.Refused
	}
	var answer struct{ RunID, ChildSessionKey, ThreadID string }
	if err := json.Unmarshal(result.Body, &answer); err != nil {
		return err
	}
	if s.wait > 0 {
		return a.await(ctx, b, answer.RunID, s.wait)
	}
	if a.json {
		return a.printResult(result)
	}
	_, err = fmt.Fprintf(a.out, "spawned %s, run %s\n", safe.Line(answer.ChildSessionKey), safe.Line(answer.RunID))
	return err
}

// foreseeSpawn prints what a spawn would meet. That it would be refused is exit code 4.
func (a *app) foreseeSpawn(ctx context.Context, b core.Board, q core.SpawnQuestion) error {
	x, err := b.Explain(ctx, core.Question{Spawn: &q})
	if err != nil {
		return err
	}
	if a.json {
		err = a.printJSON(x)
	} else {
		err = a.offspringText(x.Verdict, x.Spawn)
	}
	if err == nil && !x.Verdict.Allowed {
		err = &reported{&outcome{errors.New(x.Verdict.Message), exitForbidden}}
	}
	return err
}

func (a *app) offspringText(v core.Verdict, o *core.Offspring) error {
	yes := map[bool]string{true: "yes", false: "no"}
	announce := "off"
	switch {
	case o.Announce && o.Route == nil:
		announce = "in the requester's transcript only"
	case o.Announce:
		announce = "to " + routeText(*o.Route)
	}
	if o.Announce && !o.Send.Allowed {
		announce += ", denied by " + o.Send.Rule
	}
	var refusals [][2]string
	for _, refused := range o.Refusals {
		refusals = append(refusals, [2]string{"refused", strings.TrimSpace(refused.Param + " " + refused.Message)})
	}
	facts := [][2]string{
		{"requester", o.Requester}, {"children", strconv.Itoa(o.Live) + " of " + strconv.Itoa(o.Most)}, {"may spawn", strings.Join(o.Agents, " ")},
	}
	if o.Agent != "" {
		facts = append(facts, [][2]string{{"agent", o.Agent}, {"played by", o.Runtime}, {"model", o.Model}, {"thinking", o.Thinking}, {"sandboxed", yes[o.Sandboxed]}}...)
	}
	facts = append(facts, [][2]string{{"confined by", o.Confined}, {"announce", announce}, {"no thread", o.NoThread}, {"no files", o.NoFiles}}...)
	return a.facts(verdictFacts(v), refusals, facts)
}
