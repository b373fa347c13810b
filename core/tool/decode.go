package tool

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"cordboard/core"
)

// decode reads a call's parameters by a tool's table, strictly: a parameter that is not in it, one given twice, a wrong type and a number
// below its range are errors of code invalid_params that name it. null, and params that are missing altogether, mean absent.
func decode(tool string, raw json.RawMessage, params []param) (Clamped, error) {
	for _, p := range params {
		p.typ.preset()
	}
	raw = bytes.TrimSpace(raw)
	if err := wellFormed(tool, raw); err != nil {
		return nil, err
	}
	clamped, given := Clamped{}, map[string]bool{} // given: false for null
	for m := range core.Members(raw) {
		name, _ := core.Unquote(m.Key)
		i := slices.IndexFunc(params, func(p param) bool { return p.name == name })
		if i < 0 {
			return nil, unknownParam(tool, name, params)
		}
		if _, twice := given[name]; twice {
			return nil, core.Errorf(core.CodeInvalidParams, "%s is given twice: one value is accepted", name)
		}
		if given[name] = string(m.Value) != "null"; !given[name] {
			continue
		}
		if err := params[i].typ.read(name, m.Value, clamped); err != nil {
			return nil, about(name, err)
		}
	}
	for _, p := range params {
		if p.required && !given[p.name] {
			return nil, core.Errorf(core.CodeInvalidParams, "%s needs %s: %s", tool, p.name, p.about).About(p.name)
		}
	}
	if len(clamped) == 0 {
		return nil, nil
	}
	return clamped, nil
}

// wellFormed refuses what is not one JSON object in UTF-8. Nothing at all and null are an object without parameters.
func wellFormed(tool string, raw json.RawMessage) error {
	var object json.RawMessage
	err := json.Unmarshal(raw, &object)
	syntax := new(json.SyntaxError)
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return nil
	case errors.As(err, &syntax):
		return core.Errorf(core.CodeInvalidParams, "the parameters of %s are not JSON: %w (at byte %d)", tool, err, syntax.Offset)
	case err != nil:
		return core.Errorf(core.CodeInvalidParams, "the parameters of %s are not JSON: %w", tool, err)
	case raw[0] != '{':
		return core.Errorf(core.CodeInvalidParams, "the parameters of %s are %s: an object is accepted", tool, shown(raw))
	case !utf8.Valid(raw):
		return core.Errorf(core.CodeInvalidParams, "the parameters of %s are not UTF-8", tool)
	}
	return nil
}

func unknownParam(tool, name string, params []param) error {
	names := make([]string, len(params))
	for i, p := range params {
		names[i] = p.name
	}
	if len(names) == 0 {
		return core.Errorf(core.CodeInvalidParams, "%s has no parameter %q: it takes none", tool, cut(name))
	}
	hint := ""
	if near := core.Nearest(name, names); near != "" {
		hint = " (did you mean " + near + "?)"
	}
	return core.Errorf(core.CodeInvalidParams, "%s has no parameter %q%s: it takes %s", tool, cut(name), hint, strings.Join(names, ", ")).
		Accept(names...)
}

func cut(name string) string {
	if runes := []rune(name); len(runes) > 40 {
		return string(runes[:40]) + "…"
	}
	return name
}

// about says of a refusal which parameter it is about.
func about(name string, err error) error {
	if refused, ok := errors.AsType[*core.Error](err); ok {
		refused.Param = name
	}
	return err
}
