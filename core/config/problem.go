package config

import (
	"fmt"
	"slices"
	"strings"

	"cordboard/core"
	"cordboard/core/config/json5"
)

// Problem is one thing that is wrong with, or worth saying about, a file. Its text is one line, `file:line:col: key: message`, without
// the parts that are not known. It unwraps to a *core.Error of CodeConfig.
type Problem struct {
	File    string   `json:"file,omitempty"`
	Line    int      `json:"line,omitempty"` // from 1
	Col     int      `json:"col,omitempty"`  // from 1, in runes
	Key     string   `json:"key,omitempty"`  // path, such as `session.sendPolicy.rules[0].action`
	Message string   `json:"message"`
	Allowed []string `json:"allowed,omitempty"`
}

func (p Problem) Error() string {
	text := ""
	if p.File != "" {
		text = p.File + ":"
	}
	if p.Line > 0 {
		text += fmt.Sprintf("%d:%d:", p.Line, p.Col)
	}
	if text != "" {
		text += " "
	}
	if p.Key != "" {
		text += shortest(p.Key, longestKey) + ": "
	}
	return text + p.Message
}

// longestKey is how many runes of a path a line repeats.
const longestKey = 200

func (p Problem) Unwrap() error {
	return &core.Error{Code: core.CodeConfig, Message: p.Error(), ConfigKey: p.Key, Allowed: p.Allowed}
}

// Problems is every mistake of a file, in the order of their places; Load and Parse return it as their error.
type Problems []Problem

// Error is a line for each problem.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap is for errors.Is and errors.As, which then look at each problem.
func (ps Problems) Unwrap() []error {
	all := make([]error, len(ps))
	for i, p := range ps {
		all[i] = p
	}
	return all
}

// Entry is a key of the file that is worth telling about.
type Entry struct {
	Key  string `json:"key"`
	Line int    `json:"line"`
	Col  int    `json:"col"`
	Note string `json:"note,omitempty"` // what to use instead, or which feature is missing
}

// Report is what loading a file found beside its values. The lists are in the order of the file.
type Report struct {
	File     string    `json:"file,omitempty"` // "" for the defaults
	NoEffect []Entry   `json:"noEffect"`       // OpenClaw's keys without an effect here
	NotYet   []Entry   `json:"notYet"`         // keys of ours whose feature is not built
	Warnings []Problem `json:"warnings"`

	doc *json5.Document // nil for the defaults
}

// At is a problem with a key that somebody outside this package found, with the place of its value in the file.
func (r Report) At(path, message string) Problem {
	p := Problem{File: r.File, Key: path, Message: message}
	if r.doc != nil {
		if at, rest := r.doc.Find(path); rest == "" {
			p.Line, p.Col = at.Value.Pos.Line, at.Value.Pos.Col
		}
	}
	return p
}

// Source is where an effective value comes from: "file:line:col" when the file sets it, else "default".
func (r Report) Source(path string) string {
	const standard = "default"
	if r.doc == nil || slices.ContainsFunc(r.NoEffect, func(e Entry) bool { return under(path, e.Key) }) {
		return standard
	}
	at, rest := r.doc.Find(path)
	if rest == "" || at.Value.Kind == json5.String && (rest == "primary" || rest == "type") { // "provider/model" for { primary }
		return fmt.Sprintf("%s:%v", r.File, at.Pos())
	}
	return standard
}

// under reports whether path is key or a part of it.
func under(path, key string) bool {
	rest, ok := strings.CutPrefix(path, key)
	return ok && (rest == "" || rest[0] == '.' || rest[0] == '[' || key == "")
}
