package config

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"cordboard/core"
	"cordboard/core/config/json5"
)

// Row is the effective value of one key and where it comes from.
type Row struct {
	Key    string          `json:"key"`
	Value  json.RawMessage `json:"value"`  // null when unset; durations as text; what may be a secret left out
	Source string          `json:"source"` // "default", "file:line:col", or the key it is taken from, such as `agents.defaults.model.primary`
	Effect string          `json:"effect"`
	NotYet string          `json:"notYet,omitempty"` // the feature that is not built yet
}

// Text is the value for people: text without quotes, "" when unset.
func (r Row) Text() string {
	var text string
	switch {
	case string(r.Value) == "null":
		return ""
	case json.Unmarshal(r.Value, &text) == nil:
		return text
	}
	return string(r.Value)
}

// Show lists the effective value of every key of ours in the order of the documentation. Below a name that the user chooses, and below a
// list, it lists what is there.
func Show(c *Config, r Report) []Row {
	full := *c
	full.Agents.List = make([]Agent, len(c.Agents.List))
	for i, a := range c.Agents.List {
		full.Agents.List[i] = c.Agents.Defaults.fill(a)
	}
	s := shower{report: r, root: tree()}
	s.show(s.root, "", generic(full), "")
	return s.rows
}

// Explain is Show for one key and what is below it. An unknown key is CodeConfig with a suggestion.
func Explain(c *Config, r Report, key string) ([]Row, error) {
	all := Show(c, r)
	rows := slices.DeleteFunc(slices.Clone(all), func(row Row) bool { return !under(row.Key, key) })
	if len(rows) > 0 {
		return rows, nil
	}
	keys := make([]string, len(all))
	for i, row := range all {
		keys[i] = row.Key
	}
	if guess := core.Nearest(key, keys); guess != "" {
		return nil, core.Errorf(core.CodeConfig, "there is no key %q: did you mean %s?", cut(key), guess).Accept(guess)
	}
	return nil, core.Errorf(core.CodeConfig, "there is no key %q, or nothing is set below it", cut(key))
}

// generic is a value as its JSON reads without types.
func generic(value any) (out any) {
	text, err := json.Marshal(value)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		panic(fmt.Sprintf("config: the types are not plain data: %v", err)) // a test shows every key
	}
	return out
}

type shower struct {
	report Report
	root   *node
	rows   []Row
}

func (s *shower) show(n *node, path string, value any, missing string) {
	missing = or(missing, n.missing)
	switch {
	case n.row != nil:
		s.row(n, path, value, missing)
	case n.item != nil:
		items, _ := value.([]any)
		for i, item := range items {
			s.show(n.item, json5.Index(path, i), item, missing)
		}
	case n.entry != nil:
		entries, _ := value.(map[string]any)
		for _, name := range slices.Sorted(maps.Keys(entries)) {
			s.show(n.entry, json5.Join(path, name), entries[name], missing)
		}
	default:
		object, _ := value.(map[string]any)
		for _, f := range n.fields {
			s.show(f, json5.Join(path, f.name), object[f.name], missing)
		}
	}
}

func (s *shower) row(n *node, path string, value any, missing string) {
	if value == nil && strings.ContainsAny(n.path, "*[") {
		return
	}
	if value != nil && n.row.kind.show != nil {
		value = n.row.kind.show(value)
	}
	s.rows = append(s.rows, Row{Key: path, Value: plainJSON(value), Source: s.source(n, path), Effect: n.row.effect, NotYet: missing})
}

// plainJSON is JSON for people: < and > stay what they are.
func plainJSON(value any) json.RawMessage {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		panic(fmt.Sprintf("config: a value is not plain data: %v", err)) // a test shows every key
	}
	return bytes.TrimSpace(text.Bytes())
}

// source is the report's, or the key that an unset one follows.
func (s *shower) source(n *node, path string) string {
	source := s.report.Source(path)
	if source != "default" {
		return source
	}
	if rest, ok := strings.CutPrefix(n.path, "agents.list[]"); ok && s.root.find("agents.defaults"+rest) != nil {
		return "agents.defaults" + rest
	}
	if rest, ok := strings.CutPrefix(n.path, "channels.*.threadBindings"); ok {
		return "session.threadBindings" + rest
	}
	return source
}
