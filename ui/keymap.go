package ui

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/core"
)

// keymap finds the action of a key; what is nearer goes before what works in more places. A key may be a sequence of two, parted by a blank: "g /".
type keymap map[scope]map[string]*action

func newKeymap(list []action) keymap {
	km := keymap{}
	for i := range list {
		a := &list[i]
		if km[a.scope] == nil {
			km[a.scope] = map[string]*action{}
		}
		for _, key := range a.keys {
			km[a.scope][key] = a
		}
	}
	return km
}

func (km keymap) find(s scope, key string) *action {
	for _, in := range s.chain() {
		if a := km[in][key]; a != nil && a.worksIn(s) {
			return a
		}
	}
	return nil
}

// worksIn reports whether an action that was found there is one: few of those that work anywhere do in a view.
func (a *action) worksIn(s scope) bool { return a.scope != anywhere || a.over || !s.isView() }

// begins reports whether a key is the first of a sequence in a scope.
func (km keymap) begins(s scope, key string) bool {
	for _, in := range s.chain() {
		for each, a := range km[in] {
			if first, _, two := cutKeys(each); two && first == key && a.worksIn(s) {
				return true
			}
		}
	}
	return false
}

// cutKeys parts a sequence into its two keys; the blank itself is a key of its own.
func cutKeys(keys string) (first, second string, two bool) {
	if i := strings.Index(keys[min(1, len(keys)):], " "); i >= 0 && len(keys) > i+2 {
		return keys[:i+1], keys[i+2:], true
	}
	return keys, "", false
}

// sequenceFor is how long the second key of a sequence is waited for where the first means something by itself.
const sequenceFor = 600 * time.Millisecond

type sequenceMsg struct{ number int }

// sequence is the first key of one, pressed and waiting for the second.
type sequence struct {
	key    string
	number int
}

// pressKey runs the action of a key or of the sequence that it ends.
func (m *Model) pressKey(key string) tea.Cmd {
	here := m.scope()
	if first := m.sequence.key; first != "" {
		m.sequence.key = ""
		m.sequence.number++
		if a := m.keys.find(here, first+" "+key); a != nil {
			return m.perform(a)
		}
		if key == "esc" {
			return nil
		}
		return tea.Batch(m.performKey(first), m.pressKey(key))
	}
	if m.keys.begins(here, key) {
		m.sequence.key, m.said = key, keyLabel(key)+" …"
		if m.keys.find(here, key) == nil {
			return nil // it means nothing by itself: the second may take its time
		}
		return m.seams.after(sequenceFor, sequenceMsg{m.sequence.number})
	}
	return m.performKey(key)
}

func (m *Model) performKey(key string) tea.Cmd {
	if a := m.keys.find(m.scope(), key); a != nil {
		return m.perform(a)
	}
	return nil
}

// apply takes the first key for what it means by itself: no second one came.
func (msg sequenceMsg) apply(m *Model) tea.Cmd {
	key := m.sequence.key
	if key == "" || msg.number != m.sequence.number || m.top() != nil && m.topStage() == nil {
		return nil
	}
	m.sequence.key, m.said, m.barsDirty = "", "", true
	return m.performKey(key)
}

// Keys are an operator's own keys: what a keymap file says, action id → keys. No key takes an action off the keyboard; the palette
// still has it.
type Keys map[string][]string

// ReadKeys takes a keymap file, as JSON, and checks it against the actions there are. Errors are core.CodeConfig, one for each thing
// that is wrong, joined; ConfigKey is the action's id as the file has it.
func ReadKeys(data []byte) (Keys, error) {
	var file map[string]json.RawMessage
	if err := json.Unmarshal(data, &file); err != nil || file == nil {
		return nil, core.Errorf(core.CodeConfig, `a keymap is an object of action ids and keys, such as {"tree.fold": "x"}`)
	}
	list := actions()
	keys := Keys{}
	var bad []error
	for _, id := range slices.Sorted(maps.Keys(file)) {
		own, err := readKeysOf(list, id, file[id])
		if err != nil {
			bad = append(bad, err)
			continue
		}
		keys[id] = own
	}
	if len(bad) == 0 {
		bad = clashes(keys.over(list), keys)
	}
	return keys, errors.Join(bad...)
}

func readKeysOf(list []action, id string, raw json.RawMessage) ([]string, error) {
	if !slices.ContainsFunc(list, func(a action) bool { return a.id == id }) {
		return nil, unknownAction(id, list)
	}
	var names []string
	var one string
	if json.Unmarshal(raw, &one) == nil && string(raw) != "null" {
		names = []string{one}
	} else if err := json.Unmarshal(raw, &names); err != nil || string(raw) == "null" {
		return nil, core.Errorf(core.CodeConfig, "%s: give a key or a list of keys; [] takes it off the keyboard", id).Because(id)
	}
	keys := make([]string, len(names))
	for i, name := range names {
		key, err := readKey(name)
		if err != nil {
			return nil, core.Errorf(core.CodeConfig, "%s: %w", id, err).Because(id)
		}
		keys[i] = key
	}
	return keys, nil
}

func unknownAction(id string, list []action) error {
	ids := make([]string, len(list))
	for i := range list {
		ids[i] = list[i].id
	}
	hint := ""
	if near := core.Nearest(id, ids); near != "" {
		hint = ", did you mean " + strconv.Quote(near) + "?"
	}
	return core.Errorf(core.CodeConfig, "there is no action %q%s", id, hint).Because(id).Accept(ids...)
}

// over is the list of actions with the operator's keys in place of their own.
func (k Keys) over(list []action) []action {
	list = slices.Clone(list)
	for i := range list {
		if own, ok := k[list[i].id]; ok {
			list[i].keys = own
		}
	}
	return list
}

// clashes are the keys that would mean two things in one place.
func clashes(list []action, own Keys) []error {
	type place struct {
		scope scope
		key   string
	}
	var bad []error
	holder := map[place]*action{}
	for i := range list {
		a := &list[i]
		for _, key := range a.keys {
			at := place{a.scope, key}
			other := holder[at]
			if other == nil {
				holder[at] = a
				continue
			}
			if other.id == a.id {
				continue
			}
			named, kept := a, other
			if own[a.id] == nil {
				named, kept = other, a
			}
			hint := ""
			if own[kept.id] == nil {
				hint = " by default: give that one another key too"
			}
			bad = append(bad, core.Errorf(core.CodeConfig, "%s and %s are both on %q%s", named.id, kept.id, spell(key), hint).Because(named.id))
		}
	}
	return bad
}

// keyWords are the keys with names, as files may spell them, and what bubbletea calls them.
var keyWords = map[string]string{
	"enter": "enter", "return": "enter", "tab": "tab", "shift+tab": "shift+tab", "space": " ", "backspace": "backspace", "delete": "delete",
	"insert": "insert", "up": "up", "down": "down", "left": "left", "right": "right", "home": "home", "end": "end", "pgup": "pgup",
	"pageup": "pgup", "pgdown": "pgdown", "pgdn": "pgdown", "pagedown": "pgdown", "shift+up": "shift+up", "shift+down": "shift+down",
	"shift+left": "shift+left", "shift+right": "shift+right", "shift+home": "shift+home", "shift+end": "shift+end", "ctrl+up": "ctrl+up",
	"ctrl+down": "ctrl+down", "ctrl+left": "ctrl+left", "ctrl+right": "ctrl+right", "ctrl+home": "ctrl+home", "ctrl+end": "ctrl+end",
	"ctrl+pgup": "ctrl+pgup", "ctrl+pgdown": "ctrl+pgdown",
	"f1": "f1", "f2": "f2", "f3": "f3", "f4": "f4", "f5": "f5", "f6": "f6", "f7": "f7", "f8": "f8", "f9": "f9", "f10": "f10", "f11": "f11", "f12": "f12",
}

// reserved are keys that cannot be given away, and why.
var reserved = map[string]string{
	"esc": "it always closes what is open", "escape": "it always closes what is open", "ctrl+c": "it always quits",
	"ctrl+i": "a terminal cannot tell it from tab", "ctrl+m": "a terminal cannot tell it from enter", "ctrl+[": "a terminal cannot tell it from esc",
	"shift+enter": "terminals do not send it", "ctrl+enter": "terminals do not send it",
}

// readKey is a key, or a sequence of two parted by a blank, as bubbletea names it.
func readKey(name string) (string, error) {
	if name == " " {
		return " ", nil
	}
	parts := strings.Fields(name)
	if len(parts) == 0 || len(parts) > 2 {
		return "", core.Errorf(core.CodeConfig, "%q is no key: give one, or a sequence of two such as \"g /\"", name)
	}
	for i, part := range parts {
		key, err := readOneKey(part)
		if err != nil {
			return "", err
		}
		parts[i] = key
	}
	return strings.Join(parts, " "), nil
}

func readOneKey(name string) (string, error) {
	if r, n := utf8.DecodeRuneInString(name); n == len(name) && r > ' ' && r != utf8.RuneError {
		return name, nil
	}
	lower := strings.ToLower(name)
	if why, ok := reserved[lower]; ok {
		return "", core.Errorf(core.CodeConfig, "%s cannot be used: %s", lower, why)
	}
	if key, ok := keyWords[lower]; ok {
		return key, nil
	}
	if letter, ok := strings.CutPrefix(lower, "ctrl+"); ok && len(letter) == 1 && letter[0] >= 'a' && letter[0] <= 'z' {
		return lower, nil
	}
	if lower == "ctrl+space" {
		return "ctrl+@", nil
	}
	if strings.HasPrefix(lower, "alt+") {
		rest, err := readOneKey(name[len("alt+"):])
		if err == nil && !strings.HasPrefix(rest, "alt+") {
			return "alt+" + rest, nil
		}
	}
	hint := ""
	if near := core.Nearest(lower, slices.Sorted(maps.Keys(keyWords))); near != "" {
		hint = ", did you mean " + strconv.Quote(near) + "?"
	}
	return "", core.Errorf(core.CodeConfig, "%q is no key%s", name, hint)
}

// spell is a key as a file spells it.
func spell(key string) string {
	if key == " " {
		return "space"
	}
	return key
}

// keyFor is the key that texts name for an action, as it is now.
func (m *Model) keyFor(id string) string {
	if a := m.action(id); a != nil && len(a.keys) > 0 {
		if first, second, two := cutKeys(a.keys[0]); two {
			return keyLabel(first) + " " + keyLabel(second) // "go lists them" would read as a word
		}
		return keyLabel(a.keys[0])
	}
	return m.keyFor("palette.open") + " " + id
}
