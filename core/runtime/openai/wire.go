package openai

import (
	"context"
	"io"
	"net/http"
	"strings"

	"github.com/sashabaranov/go-openai"
)

// maxErrorBody bounds what is read of a refusal, bytes.
const maxErrorBody = 64 << 10

// exchange sends one request and keeps what the library does not tell of its answer.
type exchange struct {
	client *http.Client
	header http.Header
	lines  *lines
}

// Do implements openai.HTTPDoer.
func (x *exchange) Do(req *http.Request) (*http.Response, error) {
	resp, err := x.client.Do(req)
	if err != nil {
		return nil, err
	}
	x.header = resp.Header
	if resp.StatusCode >= http.StatusBadRequest || resp.StatusCode < http.StatusOK {
		resp.Body = struct {
			io.Reader
			io.Closer
		}{io.LimitReader(resp.Body, maxErrorBody), resp.Body}
		return resp, nil
	}
	x.lines = newLines(resp.Body)
	resp.Body = x.lines
	return resp, nil
}

// attempt sends one request and reads its answer as it comes. A *Failure is the model's; any other error is the sink's.
func (p *play) attempt(ctx context.Context) (*answer, error) {
	ctx, cancel := context.WithCancel(ctx) // a request that is given up lets go of its connection
	defer cancel()
	client := p.runtime.Client
	if client == nil {
		client = http.DefaultClient
	}
	x := &exchange{client: client}
	config := openai.DefaultConfig(p.chosen.key)
	config.BaseURL, config.HTTPClient, config.EmptyMessagesLimit = p.chosen.endpoint.BaseURL, x, maxLines
	a := &answer{out: p.out}
	stream, err := openai.NewClientWithConfig(config).CreateChatCompletionStream(ctx, p.request())
	if err != nil {
		return a, p.chosen.refused(err, x.header, p.runtime.Now)
	}
	defer stream.Close()
	return a, p.read(stream, x, a)
}

// read takes the stream apart until it ends.
func (p *play) read(stream *openai.ChatCompletionStream, x *exchange, a *answer) error {
	for {
		raw, err := stream.RecvRaw()
		switch {
		case err == io.EOF && (x.lines.done || a.finish != ""), err != nil && a.finish != "":
			return nil
		case err == io.EOF:
			return p.chosen.dropped(io.ErrUnexpectedEOF)
		case err != nil:
			return p.chosen.refused(err, x.header, p.runtime.Now)
		}
		if failed, err := a.take(raw); err != nil {
			return err
		} else if failed != nil {
			return p.chosen.told(0, failed)
		}
	}
}

// request is what is sent: streaming, with usage where the endpoint offers it.
func (p *play) request() openai.ChatCompletionRequest {
	m := p.chosen.model
	r := openai.ChatCompletionRequest{Model: m.ID, Messages: p.prompt.messages(), Tools: p.prompt.tools, ReasoningEffort: p.chosen.level}
	if !p.noUsage {
		r.StreamOptions = &openai.StreamOptions{IncludeUsage: true}
	}
	if renamed(m.ID) {
		r.MaxCompletionTokens = m.MaxTokens
	} else {
		r.MaxTokens = m.MaxTokens //lint:ignore SA1019 the name that compatible endpoints know
	}
	return r
}

// renamed reports whether a model wants the limit of its answer as max_completion_tokens; compatible endpoints know max_tokens.
func renamed(model string) bool {
	for _, prefix := range []string{"o1", "o3", "o4", "gpt-5", "gpt-6"} {
		if strings.HasPrefix(model, prefix) {
			return true
		}
	}
	return false
}
