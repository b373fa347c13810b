package tool

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"cordboard/core"
)

// param is one parameter of a tool. The same value makes its part of the JSON Schema and reads it from a call.
type param struct {
	name, about string
	required    bool
	typ         paramType
}

// paramType is what a parameter can be. Of what schema promises to accept read refuses nothing, and what read refuses schema excludes;
// read is more generous only where it says so in Clamped or a correction cannot be misread (white space, a fraction).
type paramType interface {
	// schema writes the JSON Schema members of the type.
	schema(o *object)
	// preset sets the target to what an absent parameter means.
	preset()
	// read sets the target from a value that is not null.
	read(name string, value json.RawMessage, clamped Clamped) error
}

// Clamped tells which numbers were brought into their range, and to what.
type Clamped map[string]int

// integer is a whole number; fractions are floored and what is above max becomes max (session-tools.md §4).
type integer struct {
	to            *int
	min, max, def int
	raise         bool // below min becomes min, instead of an error
}

func (t integer) preset() { *t.to = t.def }

func (t integer) schema(o *object) {
	o.text("type", "integer")
	o.integer("minimum", int64(t.min))
	o.integer("maximum", int64(t.max))
	if t.def >= t.min {
		o.integer("default", int64(t.def))
	}
}

func (t integer) read(name string, value json.RawMessage, clamped Clamped) error {
	accepted := fmt.Sprintf("a number from %d to %d", t.min, t.max)
	if c := value[0]; c != '-' && (c < '0' || c > '9') {
		return badValue(name, value, accepted)
	}
	number, _ := strconv.ParseFloat(string(value), 64) // beyond its range it is ±Inf, which is clamped or refused like any other
	switch number = math.Floor(number); {
	case number < float64(t.min) && !t.raise:
		return badValue(name, value, accepted)
	case number < float64(t.min):
		*t.to, clamped[name] = t.min, t.min
	case number > float64(t.max):
		*t.to, clamped[name] = t.max, t.max
	default:
		*t.to = int(number)
	}
	return nil
}

// boolean is true or false, false when absent.
type boolean struct{ to *bool }

func (t boolean) preset() { *t.to = false }

func (t boolean) schema(o *object) {
	o.text("type", "boolean")
	o.boolean("default", false)
}

func (t boolean) read(name string, value json.RawMessage, _ Clamped) error {
	switch string(value) {
	case "true":
		*t.to = true
	case "false":
		*t.to = false
	default:
		return badValue(name, value, "true or false", "true", "false")
	}
	return nil
}

// word is a text that is not blank, white space around it trimmed.
type word struct {
	to   *string
	what string // "a session key or a sessionId"
}

func (t word) preset() { *t.to = "" }

func (t word) schema(o *object) {
	o.text("type", "string")
	o.text("pattern", `\S`)
}

func (t word) read(name string, value json.RawMessage, _ Clamped) error {
	text, ok := core.Unquote(value)
	if !ok {
		return badValue(name, value, t.what+" as a string")
	}
	if *t.to = strings.TrimSpace(text); *t.to == "" {
		return badValue(name, value, t.what)
	}
	return nil
}

// kinds is a list of session kinds, trimmed and in lower case, each once; nil (every kind) when empty or absent.
type kinds struct{ to *[]core.Kind }

func (t kinds) preset() { *t.to = nil }

func (t kinds) schema(o *object) {
	o.text("type", "array")
	item := object{}
	item.text("type", "string")
	item.texts("enum", kindNames())
	o.raw("items", item.done())
}

func kindNames() []string {
	names := make([]string, len(core.Kinds))
	for i, k := range core.Kinds {
		names[i] = string(k)
	}
	return names
}

func (t kinds) read(name string, value json.RawMessage, _ Clamped) error {
	const accepted = `an array of kinds, as in ["group"]`
	if value[0] != '[' {
		return badValue(name, value, accepted, kindNames()...)
	}
	for element := range core.Elements(value) {
		text, ok := core.Unquote(element)
		if !ok {
			return badValue(name, element, accepted, kindNames()...)
		}
		kind := core.Kind(strings.ToLower(strings.TrimSpace(text)))
		if !slices.Contains(core.Kinds, kind) {
			return core.Errorf(core.CodeInvalidParams, "%s is %s%s: any of %s is accepted", name, shown(element), didYouMean(text, kindNames()),
				strings.Join(kindNames(), ", ")).Accept(kindNames()...)
		}
		if !slices.Contains(*t.to, kind) {
			*t.to = append(*t.to, kind)
		}
	}
	return nil
}

// cursor is a place that an earlier answer gave; parse reads it.
type cursor struct {
	clear func()
	parse func(text string) error
}

func (t cursor) preset() { t.clear() }

func (t cursor) schema(o *object) {
	o.text("type", "string")
	o.text("pattern", `\S`)
}

func (t cursor) read(name string, value json.RawMessage, _ Clamped) error {
	const accepted = "the nextBefore of an earlier answer, unchanged (leave it out for the newest page)"
	text, ok := core.Unquote(value)
	if !ok || strings.TrimSpace(text) == "" {
		return badValue(name, value, accepted)
	}
	if err := t.parse(text); err != nil {
		return core.Errorf(core.CodeInvalidParams, "%s is %s: %w; %s is accepted", name, shown(value), err, accepted)
	}
	return nil
}

// badValue says what a parameter is and what it may be.
func badValue(name string, value json.RawMessage, accepted string, allowed ...string) error {
	return core.Errorf(core.CodeInvalidParams, "%s is %s: %s is accepted", name, shown(value), accepted).Accept(allowed...)
}

// didYouMean names what a mistyped word most likely stands for, "" when nothing is near.
func didYouMean(typed string, names []string) string {
	if near := core.Nearest(typed, names); near != "" {
		return ", did you mean " + near + "?"
	}
	return ""
}

// shown is a value as a refusal quotes it, with its type where that is easy to mistake.
func shown(value json.RawMessage) string {
	const most = 60
	text := string(value)
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "…"
	}
	switch value[0] {
	case '"':
		return text + " (a string)"
	case '[':
		return text + " (an array)"
	case '{':
		return text + " (an object)"
	}
	return text
}
