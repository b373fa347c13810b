package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"cordboard/core"
	"cordboard/ui/safe"
)

const (
	defaultWait = 30       // seconds that send waits for the reply
	maxWait     = 86_400   // seconds (engine.md §2)
	maxMessage  = 25 << 20 // bytes, less what its frame on the socket needs
)

func newNew(a *app) *cobra.Command {
	var label string
	c := &cobra.Command{
		Use:               "new [AGENT]",
		Short:             "Make a session of an agent and print its key",
		Example:           "  cordboard new ops --label 'Night shift'",
		Args:              usageArgs(cobra.MaximumNArgs(1)),
		ValidArgsFunction: oneOf(a.agentIDs),
		RunE: func(c *cobra.Command, args []string) error {
			made := core.New{Label: label}
			if len(args) == 1 {
				made.Agent = args[0]
			}
			return a.reach(c, "", func(ctx context.Context, b core.Board) error {
				receipt, err := b.Do(ctx, core.Command{New: &made})
				if err != nil {
					return err
				}
				if a.json {
					return a.printJSON(receipt)
				}
				_, err = fmt.Fprintln(a.out, safe.Line(receipt.Key))
				return err
			})
		},
	}
	c.Flags().StringVar(&label, "label", "", "the session's label")
	return c
}

func newSend(a *app) *cobra.Command {
	var as string
	var timeout int
	var dry bool
	c := &cobra.Command{
		Use:   "send KEY MESSAGE|-",
		Short: "Send a message into a session and wait for the reply",
		Long: "send writes to a session as the operator: one run of its agent, whose reply is printed. The message /send on, off or inherit sets\n" +
			"the session's send policy instead, /send alone tells it. With --as KEY the message is that session's, as\n" +
			"its agent's sessions_send would be: its scope and the policies apply, the agents may go on talking and announce the outcome.\n" +
			"- reads the message from standard input. Exit code 3: no reply yet, the run goes on; 5: the run failed.",
		Example: "  cordboard send main 'what is new?'\n" +
			"  cordboard send agent:ops:main - --timeout 0 <question.txt",
		Args:              usageArgs(cobra.ExactArgs(2)),
		ValidArgsFunction: oneOf(a.sessionKeys),
		RunE: func(c *cobra.Command, args []string) error {
			if err := checkWait(timeout); err != nil {
				return err
			}
			message, err := a.message(c.Context(), args[1])
			if err != nil {
				return err
			}
			return a.reach(c, "", func(ctx context.Context, b core.Board) error {
				if dry {
					return a.foresee(ctx, b, core.MessageQuestion{As: as, To: args[0]})
				}
				if as != "" {
					return a.sendAs(ctx, b, as, args[0], message, timeout)
				}
				receipt, err := b.Do(ctx, core.Command{Send: &core.Send{Session: args[0], Message: message}})
				if err != nil {
					return err
				}
				if receipt.Run == "" { // a command such as /send off
					return a.obeyed(receipt)
				}
				if timeout == 0 {
					return a.sent(sendAnswer{RunID: receipt.Run, Status: "accepted", SessionKey: receipt.Key})
				}
				return a.await(ctx, b, receipt.Run, timeout)
			})
		},
	}
	a.addAs(c, &as)
	c.Flags().IntVar(&timeout, "timeout", defaultWait, "seconds to wait for the reply; 0 does not wait")
	c.Flags().BoolVar(&dry, "dry-run", false, "send nothing, say what the message would meet")
	return c
}

// foresee prints what a message would meet. That it would be refused is exit code 4.
func (a *app) foresee(ctx context.Context, b core.Board, q core.MessageQuestion) error {
	x, err := b.Explain(ctx, core.Question{Message: &q})
	if err != nil {
		return err
	}
	if a.json {
		err = a.printJSON(x)
	} else {
		err = a.foreseeText(x)
	}
	if err == nil && !x.Verdict.Allowed {
		err = &reported{&outcome{errors.New(x.Verdict.Message), exitForbidden}}
	}
	return err
}

func (a *app) foreseeText(x core.Explanation) error {
	lists := [][][2]string{verdictFacts(x.Verdict), {{"refusal", x.Verdict.Message}}}
	if p := x.Message; p != nil {
		queued := ""
		if p.Queued > 0 {
			queued = "behind " + counted(p.Queued, "run")
		}
		loop, announce := "no", "no"
		if p.Loop {
			loop = "yes"
		}
		if p.Announce != nil {
			announce = "to " + routeText(*p.Announce)
		}
		lists = append(lists, [][2]string{
			{"to", p.To}, {"played by", p.Runtime}, {"live run", p.Live}, {"queued", queued}, {"held", p.Held}, {"loop", loop}, {"announce", announce}, {"why", p.Why},
		})
	}
	return a.facts(lists...)
}

// obeyed tells of a message that was a command to the session: it started no run.
func (a *app) obeyed(receipt core.Receipt) error {
	if a.json {
		return a.printJSON(receipt)
	}
	_, err := fmt.Fprintf(a.out, "%s: %s\n", safe.Line(receipt.Key), safe.Line(receipt.Outcome))
	return err
}

func checkWait(seconds int) error {
	if seconds < 0 || seconds > maxWait {
		return &usageError{fmt.Errorf("--timeout %d: 0 to %d seconds", seconds, maxWait)}
	}
	return nil
}

// message is what is to be sent: the argument, or for - all of standard input but its last line end.
func (a *app) message(ctx context.Context, arg string) (string, error) {
	if arg != "-" {
		return arg, nil
	}
	data, err := a.input(ctx, maxMessage)
	if err != nil {
		return "", err
	}
	if !utf8.Valid(data) {
		return "", &usageError{errors.New("standard input is not UTF-8: a message is text")}
	}
	return strings.TrimSuffix(string(data), "\n"), nil
}

// sendAnswer is what a send came to, in the shape of sessions_send's answer.
type sendAnswer struct {
	RunID      string `json:"runId"`
	Status     string `json:"status"` // accepted, ok, timeout, error
	SessionKey string `json:"sessionKey"`
	Reply      string `json:"reply,omitempty"`
	Error      string `json:"error,omitempty"`
	Outcome    string `json:"outcome,omitempty"`
}

// sendAs is sessions_send as a session.
func (a *app) sendAs(ctx context.Context, b core.Board, as, to, message string, timeout int) error {
	params, err := json.Marshal(map[string]any{"sessionKey": to, "message": message, "timeoutSeconds": timeout})
	if err != nil {
		return err
	}
	result, err := b.Call(ctx, core.ToolCall{As: as, Tool: "sessions_send", Params: params})
	if err != nil {
		return err
	}
	if result.Refused != nil {
		return result.Refused
	}
	var answer sendAnswer
	if err := json.Unmarshal(result.Body, &answer); err != nil {
		return err
	}
	if !a.json {
		return a.answered(ctx, b, answer)
	}
	if err := a.printResult(result); err != nil {
		return err
	}
	return exitOf(answer, true)
}

// await waits for a run's end and prints what it came to.
func (a *app) await(ctx context.Context, b core.Board, run string, seconds int) error {
	wait := time.Duration(seconds) * time.Second
	page, err := b.Records(ctx, core.RecordQuery{Kind: core.RecordRun, Run: run, Wait: wait.Milliseconds()})
	if errors.Is(err, context.Canceled) {
		return fmt.Errorf("not waited for any longer: the run goes on, `cordboard wait %s` waits again", run)
	}
	if err != nil {
		return err
	}
	r := page.Runs[0]
	answer := answerOf(r, page.Reply, wait)
	if r.State == core.RunQueued {
		x, _ := b.Explain(ctx, core.Question{Message: &core.MessageQuestion{To: r.SessionKey}}) // a board that cannot say leaves it open
		answer.Error = fmt.Sprintf("no reply within %s: %s", wait, whyQueued(x.Message))
	}
	return a.answered(ctx, b, answer)
}

// whyQueued says what a run that has not started waits for.
func whyQueued(p *core.Prospect) string {
	switch {
	case p != nil && p.Held != "":
		return "it is held (" + p.Held + ") and starts when `cordboard release` lets it"
	case p != nil && (p.Live != "" || p.Queued > 1):
		return "it is queued behind another run and goes on"
	}
	return "it has not started yet and does as soon as it can" // no slot is free, or the store cannot be written just now
}

// answered prints what a send came to. To a client that comes for its messages it is handed over, which is no reply.
func (a *app) answered(ctx context.Context, b core.Board, answer sendAnswer) error {
	if !a.json && answer.Status == "ok" && answer.Reply == "" && runtimeOf(ctx, b, answer.SessionKey) == runtimeExternal {
		return a.say("the message is kept in %s for the client that plays the agent: it reads and answers when it comes", answer.SessionKey)
	}
	return a.sent(answer)
}

// runtimeExternal is the runtime of agents that clients outside play.
const runtimeExternal = "external"

// agentOf is the agent of a session key.
func agentOf(key string) string {
	agent, _, _ := strings.Cut(strings.TrimPrefix(key, "agent:"), ":")
	return agent
}

// runtimeOf is who plays the agent of a session, "" when that is not known.
func runtimeOf(ctx context.Context, b core.Board, key string) string {
	info, err := b.Info(ctx)
	if err != nil {
		return ""
	}
	for _, each := range info.Agents {
		if each.ID == agentOf(key) {
			return each.Runtime
		}
	}
	return ""
}

func answerOf(r core.Run, reply string, waited time.Duration) sendAnswer {
	answer := sendAnswer{RunID: r.ID, SessionKey: r.SessionKey, Reply: cmp.Or(reply, r.Result)}
	switch {
	case r.State == core.RunEnded && r.Outcome == core.OutcomeOK:
		answer.Status = "ok"
	case r.State == core.RunEnded:
		answer.Status, answer.Outcome = "error", string(r.Outcome)
		answer.Error = r.Error
		if answer.Error == "" {
			answer.Error = "the run ended " + string(r.Outcome)
		}
	default:
		answer.Status = "timeout"
		answer.Error = fmt.Sprintf("no reply within %s: it runs and goes on", waited)
	}
	return answer
}

// sent prints what a send came to: the reply on standard output, anything else than a reply as an error with its code.
func (a *app) sent(answer sendAnswer) error {
	if a.json {
		if err := a.printJSON(answer); err != nil {
			return err
		}
		return exitOf(answer, true)
	}
	switch answer.Status {
	case "accepted":
		_, err := fmt.Fprintf(a.out, "queued run %s in %s\n", safe.Line(answer.RunID), safe.Line(answer.SessionKey))
		return err
	case "ok":
		_, err := fmt.Fprintln(a.out, strings.TrimRight(safe.Block(answer.Reply), "\n"))
		return err
	}
	return exitOf(answer, false)
}

// exitOf is the exit code of an answer; told says that its text is out already.
func exitOf(answer sendAnswer, told bool) error {
	var err error
	switch answer.Status {
	case "timeout":
		err = &outcome{fmt.Errorf("%s; `cordboard wait %s` waits again", answer.Error, answer.RunID), exitTimeout}
	case "error":
		err = &outcome{fmt.Errorf("run %s failed (%s): %s", answer.RunID, answer.Outcome, answer.Error), exitRunFailed}
	}
	if err != nil && told {
		return &reported{err}
	}
	return err
}

// outcome is an end that has an exit code of its own.
type outcome struct {
	error
	code int
}

func (o *outcome) Unwrap() error { return o.error }
