package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"cordboard/core"
	"cordboard/core/config/json5"
)

// reader walks a file along the tree of our keys. It collects every mistake and makes the canonical form of what is ours: words for
// aliases, objects for short forms, whole numbers as integers, nothing of OpenClaw's.
type reader struct {
	file    string
	doc     *json5.Document
	root    *node
	foreign map[string][]string
	notes   map[string]string
	forms   []foreignForm

	problems Problems
	more     int // problems over maxProblems, which are only counted
	report   Report
}

// maxProblems is how many mistakes of one file are listed.
const maxProblems = 100

func newReader(file string, doc *json5.Document) *reader {
	return &reader{
		file: file, doc: doc, root: tree(), foreign: foreignKeys(), notes: foreignNotes(), forms: foreignForms(),
		report: Report{File: file, NoEffect: []Entry{}, NotYet: []Entry{}, Warnings: []Problem{}, doc: doc},
	}
}

// spot is where the reader is: the path and place of a key or item.
type spot struct {
	path string
	pos  json5.Pos
}

// value reads v as what n says; false when it is a mistake or has no effect.
func (r *reader) value(n *node, at spot, name string, v *json5.Value) (any, bool) {
	for _, form := range r.forms {
		if form.path == n.path && form.is(r, name, v) {
			r.noEffect(at, form.note)
			return nil, false
		}
	}
	value, ok := r.ours(n, at, v)
	if n.missing != "" && ok && !empty(value) {
		r.report.NotYet = append(r.report.NotYet, Entry{Key: at.path, Line: at.pos.Line, Col: at.pos.Col, Note: n.missing})
	}
	return value, ok
}

// empty reports whether value is an object without a key of ours.
func empty(value any) bool {
	object, ok := value.(map[string]any)
	return ok && len(object) == 0
}

func (r *reader) ours(n *node, at spot, v *json5.Value) (any, bool) {
	switch {
	case n.row != nil:
		return r.leaf(n.row.kind, spot{at.path, v.Pos}, v)
	case n.short != "" && v.Kind == json5.String:
		value, ok := r.leaf(n.field(n.short).row.kind, spot{at.path, v.Pos}, v)
		return map[string]any{n.short: value}, ok
	case n.item != nil:
		return r.list(n.item, at, v)
	case n.entry != nil:
		return r.names(n.entry, at, v)
	}
	return r.object(n, at, v)
}

func (r *reader) leaf(k kind, at spot, v *json5.Value) (any, bool) {
	switch {
	case k.items != nil && v.Kind == json5.Array:
		values := make([]any, 0, len(v.Items))
		for i, item := range v.Items {
			if value, ok := r.leaf(*k.items, spot{json5.Index(at.path, i), item.Pos}, item); ok {
				values = append(values, value)
			}
		}
		return values, true
	case k.entries != nil && v.Kind == json5.Object:
		values := make(map[string]any, len(v.Members))
		for _, m := range v.Members {
			if value, ok := r.leaf(*k.entries, spot{json5.Join(at.path, m.Name), m.Value.Pos}, m.Value); ok {
				values[m.Name] = value
			}
			if !envName(m.Name) {
				r.problem(spot{json5.Join(at.path, m.Name), m.Pos}, "the name of an environment variable has only letters, digits and _")
			}
		}
		return values, true
	case k.items != nil || k.entries != nil:
		r.refuse(k, at, v)
		return nil, false
	}
	value, err := k.parse(v)
	if errors.Is(err, errWant) {
		r.refuse(k, at, v)
	} else if err != nil {
		r.problem(at, "%v", err)
	}
	return value, err == nil
}

func (r *reader) list(n *node, at spot, v *json5.Value) (any, bool) {
	if v.Kind != json5.Array {
		r.problem(spot{at.path, v.Pos}, "must be a list, not %s", display(v, false))
		return nil, false
	}
	values := make([]any, 0, len(v.Items))
	for i, item := range v.Items {
		value, ok := r.value(n, spot{json5.Index(at.path, i), item.Pos}, "", item)
		if !ok {
			value = map[string]any{} // keeps the places of those behind it
		}
		values = append(values, value)
	}
	return values, true
}

// names reads an object whose keys are names that the user chooses.
func (r *reader) names(n *node, at spot, v *json5.Value) (any, bool) {
	if v.Kind != json5.Object {
		r.problem(spot{at.path, v.Pos}, "must be an object, not %s", display(v, false))
		return nil, false
	}
	values := map[string]any{}
	for _, m := range v.Members {
		here := spot{json5.Join(at.path, m.Name), m.Pos}
		if slices.Contains(r.foreign[strings.TrimSuffix(n.path, ".*")], m.Name) {
			r.noEffect(here, "")
		} else if !validName(m.Name, n.path == "channels.*") {
			r.problem(spot{at.path, m.Pos}, "the name %s must have 1 to 64 letters, digits and marks other than white space and /, "+
				"a channel's in lower case", quote(m.Name))
		} else if value, ok := r.value(n, here, m.Name, m.Value); ok {
			values[m.Name] = value
		}
	}
	return values, true
}

func validName(name string, lower bool) bool {
	unfit := func(c rune) bool { return c == '/' || unicode.IsSpace(c) || !unicode.IsPrint(c) }
	return name != "" && len(name) <= 64 && !strings.ContainsFunc(name, unfit) && (!lower || name == strings.ToLower(name))
}

func (r *reader) object(n *node, at spot, v *json5.Value) (any, bool) {
	if v.Kind != json5.Object {
		r.problem(spot{at.path, v.Pos}, "must be an object, not %s", display(v, false))
		return nil, false
	}
	values := map[string]any{}
	for _, m := range v.Members {
		here := spot{json5.Join(at.path, m.Name), m.Pos}
		if field := n.field(m.Name); field == nil {
			r.strange(n, at.path, here, m)
		} else if value, ok := r.value(field, here, m.Name, m.Value); ok && !empty(value) {
			values[m.Name] = value
		}
	}
	return values, true
}

// strange deals with a key that is not ours: one of OpenClaw's, or a mistake.
func (r *reader) strange(n *node, path string, at spot, m json5.Member) {
	known := r.foreign[n.path]
	open := slices.Contains(r.foreign[path], "*") && !likeOurs(m.Name, n.names(), known)
	switch {
	case open || slices.Contains(known, m.Name):
		r.noEffect(at, r.notes[join(n.path, m.Name)])
		return
	case len(r.problems) >= maxProblems:
		r.more++
		return
	}
	message := "unknown key with value " + display(m.Value, secretLike(at.path))
	guess := cmp.Or(core.Nearest(m.Name, append(n.names(), known...)), partOf(m.Name, n.names()), r.elsewhere(m.Name))
	switch {
	case guess == "":
		message += ": allowed here are " + strings.Join(n.names(), ", ")
	case slices.Contains(known, guess):
		message += ": did you mean OpenClaw's " + guess + ", which has no effect here?"
	default:
		message += ": did you mean " + guess + "?"
	}
	r.add(at, n.names(), message)
}

// partOf is the first name that has the word in it as a word of its own, as keyPrefix has key, or "".
func partOf(word string, names []string) string {
	for _, name := range names {
		head, rest := strings.ToLower(word), strings.ToLower(name)
		if len(head) >= 3 && (strings.HasPrefix(rest, head) || strings.HasSuffix(rest, head)) {
			return name
		}
	}
	return ""
}

// elsewhere is the only path of ours that ends with the name, or "".
func (r *reader) elsewhere(name string) string {
	found := ""
	for _, row := range keyRows() {
		if strings.HasSuffix(row.path, "."+name) {
			if found != "" {
				return ""
			}
			found = row.path
		}
	}
	return found
}

func (r *reader) refuse(k kind, at spot, v *json5.Value) {
	r.add(at, k.allowed, fmt.Sprintf("must be %s, not %s", k.want, display(v, k.hides(v))))
}

func (r *reader) problem(at spot, format string, args ...any) {
	r.add(at, nil, fmt.Sprintf(format, args...))
}

func (r *reader) add(at spot, allowed []string, message string) {
	if len(r.problems) >= maxProblems {
		r.more++
		return
	}
	r.problems = append(r.problems, r.newProblem(at, allowed, message))
}

func (r *reader) warn(at spot, format string, args ...any) {
	r.report.Warnings = append(r.report.Warnings, r.newProblem(at, nil, fmt.Sprintf(format, args...)))
}

func (r *reader) newProblem(at spot, allowed []string, message string) Problem {
	return Problem{File: r.file, Line: at.pos.Line, Col: at.pos.Col, Key: at.path, Message: message, Allowed: allowed}
}

func (r *reader) noEffect(at spot, note string) {
	r.report.NoEffect = append(r.report.NoEffect, Entry{Key: at.path, Line: at.pos.Line, Col: at.pos.Col, Note: note})
}

// done returns what was found, in the order of the file.
func (r *reader) done() (Report, Problems) {
	order := func(a, b Problem) int { return cmp.Or(a.Line-b.Line, a.Col-b.Col) }
	slices.SortStableFunc(r.report.Warnings, order)
	slices.SortStableFunc(r.problems, order)
	if r.more > 0 {
		r.problems = append(r.problems, Problem{File: r.file, Message: fmt.Sprintf("and %d more mistakes", r.more)})
	}
	return r.report, r.problems
}

// longestShown is how many runes of a value an error repeats.
const longestShown = 40

// display is a value as an error shows it. What may be a secret is not repeated.
func display(v *json5.Value, secret bool) string {
	switch {
	case v.Kind == json5.Array:
		return "a list"
	case v.Kind == json5.Object:
		return "an object"
	case v.Kind == json5.Null:
		return "null"
	case secret:
		return "(not shown)"
	case v.Kind == json5.String:
		return quote(v.Text)
	}
	return cut(v.Text)
}

func quote(s string) string { return strconv.Quote(cut(s)) }

func cut(s string) string { return shortest(s, longestShown) }

func shortest(s string, most int) string {
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return s
}

// secretLike reports whether the name of an unknown key suggests a secret.
func secretLike(path string) bool {
	path = strings.ToLower(path)
	return slices.ContainsFunc([]string{"key", "token", "secret", "pass", "credential", "auth", "cookie"}, func(word string) bool {
		return strings.Contains(path, word)
	})
}
