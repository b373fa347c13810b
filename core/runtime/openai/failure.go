package openai

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/sashabaranov/go-openai"

	"cordboard/core"
)

// Failure is a model that did not answer: which one, what the endpoint said, and how often it was asked.
type Failure struct {
	Provider, Model string
	Status          int    // HTTP status; 0 = there was none
	Message         string // the provider's, in one line
	Attempts        int
	Err             error // cause, when there was no answer

	retryAfter      time.Duration
	passing         bool // may be over soon
	tooLong         bool // the prompt did not fit
	noStreamOptions bool
	noTools         bool
}

func (f *Failure) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "the model %s/%s failed: ", f.Provider, f.Model)
	if f.Status != 0 {
		b.WriteString(strings.TrimSpace(fmt.Sprintf("status %d %s", f.Status, http.StatusText(f.Status))))
		b.WriteString(": ")
	}
	b.WriteString(f.Message)
	if f.retryAfter > maxWait {
		fmt.Fprintf(&b, " (it wants to be left alone for %s)", f.retryAfter.Round(time.Second))
	}
	if f.Attempts > 1 {
		fmt.Fprintf(&b, " (asked %d times)", f.Attempts)
	}
	return b.String()
}

func (f *Failure) Unwrap() error { return f.Err }

// wait is how long to be patient before a retry: as long as the provider says, else longer each time.
func (f *Failure) wait(retries int) time.Duration { return max(f.retryAfter, firstWait<<retries) }

// failure is one that the provider did not call so.
func (c *choice) failure(message string) *Failure {
	return &Failure{Provider: c.provider, Model: c.model.ID, Message: message}
}

// dropped is a connection that failed or ended early.
func (c *choice) dropped(err error) *Failure {
	f := c.failure(c.clean(err.Error()))
	if errors.Is(err, errTooLong) {
		return f
	}
	f.Message, f.Err, f.passing = "the connection failed: "+f.Message, err, true
	return f
}

// refused reads what the library made of an answer that was none.
func (c *choice) refused(err error, header http.Header, now func() time.Time) *Failure {
	var f *Failure
	if request, ok := errors.AsType[*openai.RequestError](err); ok { // asked first: it may wrap half an APIError
		f = c.told(request.HTTPStatusCode, request.Body)
	} else if api, ok := errors.AsType[*openai.APIError](err); ok {
		body, _ := json.Marshal(map[string]any{"message": api.Message, "code": api.Code, "type": api.Type})
		f = c.told(api.HTTPStatusCode, body)
	} else {
		return c.dropped(err)
	}
	f.retryAfter = retryAfter(header, now)
	return f
}

// told is a failure from its status, 0 inside a stream, and the body that explains it.
func (c *choice) told(status int, body []byte) *Failure {
	message, code := explained(body)
	f := c.failure(orText(c.clean(message), "the provider gave no reason"))
	if status == 0 {
		status, _ = strconv.Atoi(code)
	}
	if status >= 100 && status <= 599 {
		f.Status = status
	}
	lower := strings.ToLower(message)
	f.tooLong = tooLong(code, lower)
	if status == http.StatusBadRequest || status == http.StatusUnprocessableEntity {
		f.noStreamOptions = strings.Contains(lower, "stream_options")
		f.noTools = strings.Contains(lower, "not support tool")
	}
	f.passing = (status == http.StatusTooManyRequests && code != "insufficient_quota" || status >= 500) && !f.tooLong
	return f
}

// tooLong recognises a prompt that did not fit. Few endpoints have a code for it, so their sentences are known too.
func tooLong(code, message string) bool {
	if code == "context_length_exceeded" || code == "exceed_context_size_error" {
		return true
	}
	for _, sentence := range []string{
		"context length", "context window", "context size", "prompt is too long", "input is too long", "input token count", "too many tokens",
	} {
		if strings.Contains(message, sentence) {
			return true
		}
	}
	return false
}

// explained finds the message and the code in a body: {"error": {message, code, type}}, {"error": "…"}, {"message"}, {"detail"}, any of
// them in a list, or plain text.
func explained(body []byte) (message, code string) {
	raw := json.RawMessage(body)
	for e := range core.Elements(raw) {
		raw = e
		break
	}
	if inner, ok := core.Field(raw, "error"); ok {
		raw = inner
	}
	if plain, ok := core.Unquote(raw); ok {
		return plain, ""
	}
	for _, name := range []string{"message", "detail", "error_message"} {
		if value, ok := core.Field(raw, name); ok && message == "" {
			message, _ = core.Unquote(value)
			if message == "" {
				message = string(value)
			}
		}
	}
	for _, name := range []string{"code", "type"} {
		if value, ok := core.Field(raw, name); ok && string(value) != "null" && code == "" {
			code = strings.Trim(string(value), `"`)
		}
	}
	if message == "" && code == "" {
		message = string(body)
	}
	return orText(message, code), code
}

// maxMessage bounds what is told of a provider's message, bytes.
const maxMessage = 500

// clean makes a message one line without the key in it.
func (c *choice) clean(message string) string {
	if c.key != "" {
		message = strings.ReplaceAll(message, c.key, "***")
	}
	message = strings.Join(strings.Fields(strings.ToValidUTF8(message, "\uFFFD")), " ")
	if len(message) > maxMessage {
		message = strings.ToValidUTF8(message[:maxMessage], "") + "…"
	}
	return message
}

// retryAfter reads how long the provider wants to be left alone: milliseconds, seconds, or until a date.
func retryAfter(header http.Header, now func() time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(header.Get("Retry-After-Ms"), 64); err == nil && ms >= 0 && ms < 1e9 {
		return time.Duration(ms * float64(time.Millisecond))
	}
	value := header.Get("Retry-After")
	if seconds, err := strconv.ParseFloat(value, 64); err == nil && seconds >= 0 && seconds < 1e6 {
		return time.Duration(seconds * float64(time.Second))
	}
	if at, err := http.ParseTime(value); err == nil {
		return max(0, at.Sub(now()))
	}
	return 0
}
