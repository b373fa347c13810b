// Package echo is a runtime without a model: it answers with the message it got. It is offline and deterministic, so it is what a fleet
// has until a model is configured, and what tests script agents with (engine.md §3).
package echo

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"cordboard/core"
)

// Runtime plays every agent alike. Only the message of the run is read, never its context.
type Runtime struct {
	// Sleep waits for d or until ctx ends, whose error it then returns.
	Sleep func(ctx context.Context, d time.Duration) error
}

// maxSleep bounds one sleep directive.
const maxSleep = 24 * time.Hour

// Turn implements core.Runtime.
func (r Runtime) Turn(ctx context.Context, t core.Turn, out core.Sink) (core.TurnResult, error) {
	if t.Run.Kind == core.RunAnnounce {
		return core.TurnResult{}, out.Text(announcement(t.Exchange))
	}
	p := player{runtime: r, out: out}
	rest, err := p.play(ctx, t.Run.Message)
	if err != nil {
		return core.TurnResult{Usage: p.usage}, err
	}
	return core.TurnResult{Usage: p.usage}, p.answer(ctx, rest)
}

// announcement is the argument of the announce directive in the original request, else silence.
func announcement(x *core.Exchange) string {
	if x != nil {
		_, directives := parse(x.Request)
		for _, d := range directives {
			if d.name == "announce" {
				return d.arg
			}
		}
	}
	return "ANNOUNCE_SKIP"
}

// player carries out the directives of one message.
type player struct {
	runtime Runtime
	out     core.Sink
	said    []string
	result  string // of the last tool
	chunks  int
	pause   time.Duration // between two chunks
	calls   int
	usage   core.Usage
}

// play carries the directives out in their order and returns the text between them.
func (p *player) play(ctx context.Context, message string) (rest string, err error) {
	rest, directives := parse(message)
	for _, d := range directives {
		if err := p.do(ctx, d); err != nil {
			return rest, err
		}
	}
	return rest, nil
}

func (p *player) do(ctx context.Context, d directive) error {
	switch d.name {
	case "say":
		p.said = append(p.said, d.arg)
	case "sleep":
		wait, err := duration(d.arg)
		if err != nil {
			return err
		}
		return p.runtime.Sleep(ctx, wait)
	case "fail":
		if d.arg == "" {
			return errors.New("failed as the message asked")
		}
		return errors.New(d.arg)
	case "stream":
		return p.stream(d.arg)
	case "tokens":
		return p.tokens(d.arg)
	case "think":
		return p.out.Think(d.arg)
	case "tool":
		return p.tool(ctx, d.arg)
	case "crash":
		panic("crashed as the message asked")
	}
	return nil
}

// stream reads the number of chunks, or "chunks/pause" with what passes between two of them.
func (p *player) stream(arg string) error {
	chunks, pause, paced := strings.Cut(arg, "/")
	n, err := strconv.Atoi(chunks)
	if err == nil && paced {
		p.pause, err = duration(pause)
	}
	if err != nil || n < 1 || n > 10_000 {
		return fmt.Errorf("[[stream:%s]]: a number of chunks from 1 to 10000 is accepted, and after a slash the time between two, as in 40/100ms", arg)
	}
	p.chunks = n
	return nil
}

// tokens reads "input/output", or the output alone.
func (p *player) tokens(arg string) error {
	in, out, both := strings.Cut(arg, "/")
	if !both {
		in, out = "0", arg
	}
	input, err1 := strconv.ParseInt(strings.TrimSpace(in), 10, 64)
	output, err2 := strconv.ParseInt(strings.TrimSpace(out), 10, 64)
	if err1 != nil || err2 != nil || input < 0 || output < 0 {
		return fmt.Errorf("[[tokens:%s]]: input/output, as in 12/34, is accepted", arg)
	}
	p.usage = core.Usage{Input: input, Output: output}
	return nil
}

func (p *player) tool(ctx context.Context, arg string) error {
	name, params, _ := strings.Cut(strings.TrimSpace(arg), " ")
	if params = strings.TrimSpace(params); params == "" {
		params = "{}"
	}
	p.calls++
	answer, _, err := p.out.Call(ctx, fmt.Sprintf("call-%d", p.calls), name, json.RawMessage(params))
	p.result = string(answer)
	return err
}

// answer is what was said, else the message without its directives, else the last tool's answer.
func (p *player) answer(ctx context.Context, rest string) error {
	text := strings.Join(p.said, "\n")
	if p.said == nil {
		text = rest
		if text == "" {
			text = p.result
		}
	}
	for i, chunk := range cut(text, max(p.chunks, 1)) {
		if i > 0 && p.pause > 0 {
			if err := p.runtime.Sleep(ctx, p.pause); err != nil {
				return err
			}
		}
		if err := p.out.Text(chunk); err != nil {
			return err
		}
	}
	return nil
}

// cut parts a text into n pieces of about the same size, whole characters each.
func cut(text string, n int) []string {
	runes := []rune(text)
	var parts []string
	for i := range n {
		if part := runes[i*len(runes)/n : (i+1)*len(runes)/n]; len(part) > 0 {
			parts = append(parts, string(part))
		}
	}
	return parts
}

// duration reads milliseconds, or a Go duration such as 1.5s.
func duration(arg string) (time.Duration, error) {
	d, err := time.ParseDuration(arg)
	if ms, msErr := strconv.ParseInt(arg, 10, 64); msErr == nil {
		d, err = time.Duration(ms)*time.Millisecond, nil
	}
	if err != nil || d < 0 || d > maxSleep {
		return 0, fmt.Errorf("[[sleep:%s]]: milliseconds, or a duration such as 1.5s, up to %s is accepted", arg, maxSleep)
	}
	return d, nil
}
