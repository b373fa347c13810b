package themes

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"reflect"
	"slices"
	"strings"

	"cordboard/core"
)

// Parse decodes a theme file strictly: every role once, no other key, only colours. Errors are core.CodeConfig; ConfigKey names the
// key in the file ("roles.accent"), Allowed what could stand there.
func Parse(data []byte) (Palette, error) {
	var p Palette
	top, err := object(data, "the theme")
	if err != nil {
		return p, err
	}
	if err := checkKeys(top, reflect.TypeFor[Palette](), ""); err != nil {
		return p, err
	}
	roles, err := object(top["roles"], "roles")
	if err != nil {
		return p, err
	}
	if err := checkKeys(roles, reflect.TypeFor[Roles](), "roles."); err != nil {
		return p, err
	}
	if err := json.Unmarshal(data, &p); err != nil {
		return p, badJSON(err)
	}
	return p, p.check()
}

// object decodes one JSON object; a key given twice is an error, not a silent choice.
func object(data []byte, what string) (map[string]json.RawMessage, error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	if open, err := dec.Token(); err != nil || open != json.Delim('{') {
		return nil, core.Errorf(core.CodeConfig, "%s must be a JSON object", what)
	}
	fields := map[string]json.RawMessage{}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, badJSON(err)
		}
		name, _ := key.(string) // inside an object the decoder yields no other key
		if _, twice := fields[name]; twice {
			return nil, core.Errorf(core.CodeConfig, "%s has %q twice", what, name).Because(name)
		}
		var value json.RawMessage
		if err := dec.Decode(&value); err != nil {
			return nil, badJSON(err)
		}
		fields[name] = value
	}
	if _, err := dec.Token(); err != nil {
		return nil, badJSON(err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, core.Errorf(core.CodeConfig, "%s goes on after its closing brace", what)
	}
	return fields, nil
}

func badJSON(err error) *core.Error {
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) {
		return core.Errorf(core.CodeConfig, "%s cannot be a %s: %w", kind.Field, kind.Value, err).Because(kind.Field)
	}
	return core.Errorf(core.CodeConfig, "the theme is no valid JSON: %w", err)
}

// checkKeys compares the keys of an object with the json names of a struct.
func checkKeys(fields map[string]json.RawMessage, shape reflect.Type, prefix string) error {
	var names, missing []string
	for i := range shape.NumField() {
		name := shape.Field(i).Tag.Get("json")
		names = append(names, name)
		if _, ok := fields[name]; !ok {
			missing = append(missing, prefix+name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if slices.Contains(names, name) {
			continue
		}
		hint := ""
		if near := core.Nearest(name, names); near != "" {
			hint = ", did you mean \"" + prefix + near + "\"?"
		}
		return core.Errorf(core.CodeConfig, "unknown key %q in the theme%s", prefix+name, hint).Because(prefix + name).Accept(names...)
	}
	if len(missing) > 0 {
		return core.Errorf(core.CodeConfig, "the theme lacks %s; give \"\" to leave a colour to the terminal", strings.Join(missing, ", ")).
			Because(missing[0])
	}
	return nil
}

func (p Palette) check() error {
	if strings.TrimSpace(p.Name) == "" {
		return core.Errorf(core.CodeConfig, "the theme has an empty name").Because("name")
	}
	for _, c := range p.Assumes {
		if err := c.check("assumes"); err != nil {
			return err
		}
	}
	roles := reflect.ValueOf(p.Roles)
	for i := range roles.NumField() {
		if err := Color(roles.Field(i).String()).check("roles." + roles.Type().Field(i).Tag.Get("json")); err != nil {
			return err
		}
	}
	return nil
}
