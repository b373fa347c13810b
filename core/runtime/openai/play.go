package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"cordboard/core"
)

// play is one model playing one turn.
type play struct {
	runtime *Runtime
	turn    *core.Turn
	chosen  choice
	out     *output
	prompt  *prompt
	usage   core.Usage
	noUsage bool // the endpoint does not know stream_options
	halved  bool // the prompt was already cut once more
}

// run asks the model until it answers without calling a tool. How many calls there may be is the sink's to say.
func (p *play) run(ctx context.Context) error {
	for round := 1; ; round++ {
		a, err := p.ask(ctx)
		if err != nil {
			return err
		}
		if len(a.calls.list) == 0 {
			return p.closing(a)
		}
		if err := p.call(ctx, a, round); err != nil {
			return err
		}
	}
}

// closing names an answer that is none: cut off before it began, or withheld.
func (p *play) closing(a *answer) error {
	if a.text.Len() > 0 {
		return nil
	}
	switch a.finish {
	case "length":
		return p.chosen.failure("it used up its tokens before it said anything")
	case "content_filter":
		return p.chosen.failure("its answer was withheld by the provider's content filter")
	}
	return nil
}

// call executes the tools of an answer one after another and adds the round to the prompt.
func (p *play) call(ctx context.Context, a *answer, round int) error {
	r := toolRound{text: a.text.String()}
	for i, c := range a.calls.list {
		if c.id == "" {
			c.id = fmt.Sprintf("call_%d_%d", round, i+1)
		}
		p.out.any = true
		result, _, err := p.out.Call(ctx, c.id, c.name, json.RawMessage(c.params()))
		if err != nil {
			return err
		}
		r.calls = append(r.calls, answeredCall{id: c.id, name: c.name, arguments: c.params(), result: string(result)})
	}
	p.prompt.add(r)
	return nil
}

// What is tried again, and how patiently. A provider that wants more patience than maxWait has failed: whoever waits is told so.
const (
	maxRetries = 3
	firstWait  = time.Second
	maxWait    = time.Minute
)

// ask gets one answer. A request that failed before anything of its answer was passed on is sent again where that can help.
func (p *play) ask(ctx context.Context) (*answer, error) {
	for retries := 0; ; {
		a, err := p.attempt(ctx)
		if err == nil {
			p.usage = sum(p.usage, p.chosen.priced(a.usage))
			return a, nil
		}
		f, ofModel := errors.AsType[*Failure](err)
		switch {
		case ctx.Err() != nil:
			return a, ctx.Err()
		case !ofModel || a.spoke:
			return a, err
		case f.tooLong && !p.halved:
			p.halved = true
			p.prompt.halve()
		case f.noStreamOptions && !p.noUsage:
			p.noUsage = true
		case f.noTools && len(p.prompt.tools) > 0:
			p.prompt.tools, p.prompt.toolTokens = nil, 0
		case f.passing && retries < maxRetries && f.wait(retries) <= maxWait:
			if err := p.runtime.Sleep(ctx, f.wait(retries)); err != nil {
				return a, err
			}
			retries++
		default:
			f.Attempts = retries + 1
			return a, err
		}
	}
}

// priced adds the cost where prices and figures are known.
func (c *choice) priced(u *core.Usage) core.Usage {
	if u == nil {
		return core.Usage{}
	}
	usage := *u
	if prices := c.model.Prices; prices != nil {
		cost := (float64(usage.Input)*prices.Input + float64(usage.Output)*prices.Output) / 1e6
		usage.Cost = &cost
	}
	return usage
}
