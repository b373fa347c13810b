package openai

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"cordboard/core"
)

// What of an answer is read before it is given up, so that no endpoint fills the memory.
const (
	maxAnswer = 64 << 20 // bytes
	maxLines  = 1 << 20  // lines that are no data, in a row
	maxCalls  = 256      // tool calls of one answer
)

var errTooLong = fmt.Errorf("its answer is longer than %d MiB", maxAnswer>>20)

// lines passes an event stream on with its data lines alone: comments that keep a connection alive, event names and blank lines are
// dropped. It notes the line that ends a stream. A body that is no event stream passes as it is.
type lines struct {
	body    io.ReadCloser
	reader  *bufio.Reader
	pending []byte
	left    int
	done    bool // [DONE] was read
}

func newLines(body io.ReadCloser) *lines {
	return &lines{body: body, reader: bufio.NewReaderSize(body, 32<<10), left: maxAnswer}
}

func (l *lines) Close() error { return l.body.Close() }

func (l *lines) Read(p []byte) (int, error) {
	for len(l.pending) == 0 {
		line, err := l.line()
		if err != nil && len(line) == 0 {
			return 0, err
		}
		l.pending = l.keep(line)
	}
	n := copy(p, l.pending)
	l.pending = l.pending[n:]
	return n, nil
}

// line reads up to and with a line's end.
func (l *lines) line() (line []byte, err error) {
	for {
		part, err := l.reader.ReadSlice('\n')
		if l.left -= len(part); l.left < 0 {
			return nil, errTooLong
		}
		line = append(line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// keep is what a line comes to. The library reads an error in a stream less widely than endpoints write it: it is made to pass it on like
// any other data.
func (l *lines) keep(line []byte) []byte {
	line = bytes.TrimSpace(line)
	data, isData := bytes.CutPrefix(line, []byte("data:"))
	switch {
	case len(line) == 0, line[0] == ':':
		return nil
	case isData:
		data = bytes.TrimSpace(data)
		l.done = l.done || string(data) == "[DONE]"
		if rest, object := bytes.CutPrefix(data, []byte("{")); object {
			line = slices.Concat([]byte("data: { "), rest)
		}
	default:
		for _, field := range []string{"event:", "id:", "retry:"} {
			if bytes.HasPrefix(line, []byte(field)) {
				return nil
			}
		}
	}
	return append(line, '\n')
}

// text is a JSON string; anything else in its place is no text and no error.
type text string

func (t *text) UnmarshalJSON(raw []byte) error {
	s, _ := core.Unquote(raw)
	*t = text(s)
	return nil
}

// chunk is a piece of an answer, as far as it matters. Endpoints differ in what they put where; none of it is taken for granted.
type chunk struct {
	Choices []struct {
		Delta        delta `json:"delta"`
		FinishReason text  `json:"finish_reason"`
	} `json:"choices"`
	Usage *struct {
		Input  float64 `json:"prompt_tokens"`
		Output float64 `json:"completion_tokens"`
	} `json:"usage"`
	Error json.RawMessage `json:"error"`
}

type delta struct {
	Content   text        `json:"content"`
	Refusal   text        `json:"refusal"`
	Reasoned  text        `json:"reasoning_content"`
	Reasoning text        `json:"reasoning"`
	Calls     []callDelta `json:"tool_calls"`
}

type callDelta struct {
	Index    *int `json:"index"`
	ID       text `json:"id"`
	Function struct {
		Name      text            `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	} `json:"function"`
}

// answer gathers what a model says.
type answer struct {
	out    *output
	text   strings.Builder
	calls  calls
	finish string
	usage  *core.Usage // as it was told last
	spoke  bool        // something was passed on
}

// take takes one piece. failed is the error object that an endpoint sent in place of one; err is the sink's.
func (a *answer) take(raw []byte) (failed []byte, err error) {
	var c chunk
	if err := json.Unmarshal(raw, &c); err != nil {
		return []byte(`{"message":"it sent what is no chat completion"}`), nil
	}
	if len(c.Error) > 0 && string(c.Error) != "null" {
		return c.Error, nil
	}
	if u := c.Usage; u != nil && u.Input >= 0 && u.Output >= 0 && u.Input+u.Output > 0 && u.Input+u.Output < 1e15 {
		a.usage = &core.Usage{Input: int64(u.Input), Output: int64(u.Output)}
	}
	if len(c.Choices) == 0 {
		return nil, nil
	}
	first := c.Choices[0] // only one was asked for
	if first.FinishReason != "" {
		a.finish = string(first.FinishReason)
	}
	return nil, a.delta(first.Delta)
}

func (a *answer) delta(d delta) error {
	thought := d.Reasoned
	if thought == "" {
		thought = d.Reasoning
	}
	if thought != "" {
		a.speak()
		if err := a.out.Think(string(thought)); err != nil {
			return err
		}
	}
	if said := string(d.Content + d.Refusal); said != "" {
		a.speak()
		a.text.WriteString(said)
		if err := a.out.Text(said); err != nil {
			return err
		}
	}
	for _, c := range d.Calls {
		if err := a.calls.add(c); err != nil {
			return err
		}
	}
	return nil
}

func (a *answer) speak() { a.spoke, a.out.any = true, true }

// call is a tool call as far as it has come.
type call struct {
	id, name  string
	arguments strings.Builder
}

// params are the arguments; a tool without any may be called with none at all.
func (c *call) params() string {
	if text := strings.TrimSpace(c.arguments.String()); text != "" {
		return text
	}
	return "{}"
}

// calls puts tool calls together from their pieces.
type calls struct {
	list  []*call
	index []int // of list, as the endpoint counts
}

// add takes one piece. It belongs to the call with its index; where indexes are missing or do not tell calls apart, a new id begins a
// new call and a piece without one belongs to the last.
func (c *calls) add(d callDelta) error {
	at := c.find(d)
	if at < 0 {
		if len(c.list) == maxCalls {
			return core.Errorf(core.CodeInternal, "the model called more than %d tools at once", maxCalls)
		}
		number := len(c.list)
		if d.Index != nil {
			number = *d.Index
		}
		at = len(c.list)
		c.list, c.index = append(c.list, &call{}), append(c.index, number)
	}
	known := c.list[at]
	if known.id == "" {
		known.id = string(d.ID)
	}
	if known.name == "" {
		known.name = string(d.Function.Name)
	}
	if piece, isText := core.Unquote(d.Function.Arguments); isText {
		known.arguments.WriteString(piece)
	} else if raw := string(d.Function.Arguments); raw != "null" {
		known.arguments.WriteString(raw) // an object where its text belongs
	}
	return nil
}

// find is the place of the call that a piece belongs to, -1 when it begins one.
func (c *calls) find(d callDelta) int {
	for i := len(c.list) - 1; i >= 0; i-- {
		same := d.Index == nil && i == len(c.list)-1 || d.Index != nil && c.index[i] == *d.Index
		if same {
			if known := c.list[i].id; d.ID != "" && known != "" && known != string(d.ID) {
				return -1
			}
			return i
		}
	}
	return -1
}
