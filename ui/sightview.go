package ui

import (
	"strconv"
	"strings"

	"cordboard/core"
	"cordboard/ui/safe"
)

// sightText says whose eyes the tree is looked at with, as fully as there is room.
func (m *Model) sightText(room int) string {
	s := &m.sight
	hidden := strconv.Itoa(m.tree.forest.hidden) + " hidden"
	name := m.viewpointName()
	scope := string(s.info.Visibility)
	if s.info.Effective != s.info.Visibility {
		scope += " → " + string(s.info.Effective)
	}
	for _, text := range [...]string{
		"looking as " + name + " · scope " + scope + s.why() + " · " + hidden,
		"looking as " + safe.KeepTail(name, max(room-34, 16)) + " · scope " + scope + s.why() + " · " + hidden,
		"as " + safe.KeepTail(name, max(room-34, 16)) + " · scope " + scope + " · " + hidden,
		"as " + safe.KeepTail(name, max(room-safe.Width(scope+hidden)-9, 8)) + " · " + scope + " · " + hidden,
	} {
		if safe.Width(text) <= room {
			return text
		}
	}
	return "as " + safe.KeepTail(name, max(room-3, 1))
}

// viewpointName is the session that is looked as: a main one by its key, another by its name where it has one, since its key says little.
func (m *Model) viewpointName() string {
	if h := m.fleet.heads[m.sight.viewpoint]; h != nil && h.Kind != core.KindMain && safe.Column(h.Title) != "" {
		return m.placed(m.sight.viewpoint)
	}
	return safe.Line(m.sight.viewpoint)
}

// why tells what makes the scope another than the configured one.
func (s *sight) why() string {
	var words []string
	if s.info.ClampedBy != "" {
		words = append(words, "sandbox")
	}
	if s.scope != "" && s.info.Visibility != s.configured {
		words = append(words, "config: "+string(s.configured))
	}
	if len(words) == 0 {
		return ""
	}
	return " (" + strings.Join(words, ", ") + ")"
}

// sightSheet says in the inspector why the viewpoint may not see the session, and what would open it.
func (m *Model) sightSheet(s *sheet, key string) {
	if m.sight.sees(key) {
		return
	}
	s.heading("Hidden from")
	s.text(s.k.accent2, m.sight.viewpoint)
	v, told := m.sight.hidden[key]
	if !told {
		s.fact("", s.k.muted, "why is not known yet")
		return
	}
	s.verdict(v)
	s.text(s.k.dim, "You are the operator and may read it all the same.")
}

// verdict tells rule, config key and words of a refusal.
func (s *sheet) verdict(v core.Verdict) {
	s.fact("rule", s.k.warn, v.Rule)
	if v.ConfigKey != "" {
		s.text(s.k.text, "opened by "+v.ConfigKey)
	}
	if v.Message != "" {
		s.text(s.k.muted, v.Message)
	}
}
