package tool

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"cordboard/core"
)

// message is a text that is not blank, kept byte for byte.
type message struct{ to *string }

func (t message) preset() { *t.to = "" }

func (t message) schema(o *object) {
	o.text("type", "string")
	o.text("pattern", `\S`)
}

func (t message) read(name string, value json.RawMessage, _ Clamped) error {
	text, ok := core.Unquote(value)
	if !ok || strings.TrimSpace(text) == "" {
		return badValue(name, value, "a text that is not blank")
	}
	*t.to = text
	return nil
}

// seconds is a length of time: 0, or up to max; a fraction above 0 rounds up (session-tools.md §6).
type seconds struct {
	to       *int
	max, def int
}

func (t seconds) preset() { *t.to = t.def }

func (t seconds) schema(o *object) {
	o.text("type", "integer")
	o.integer("minimum", 0)
	o.integer("maximum", int64(t.max))
	o.integer("default", int64(t.def))
}

func (t seconds) read(name string, value json.RawMessage, _ Clamped) error {
	accepted := fmt.Sprintf("a number of seconds from 0 to %d", t.max)
	if c := value[0]; c != '-' && (c < '0' || c > '9') {
		return badValue(name, value, accepted)
	}
	number, _ := strconv.ParseFloat(string(value), 64)
	if number < 0 || math.Ceil(number) > float64(t.max) {
		return badValue(name, value, accepted)
	}
	*t.to = int(math.Ceil(number))
	return nil
}
