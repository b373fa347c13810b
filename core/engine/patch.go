package engine

import (
	"slices"
	"strings"

	"cordboard/core"
	"cordboard/core/key"
)

// patch changes fields of a session (session-tools.md §9). updatedAt stays: it moves with messages and runs only.
func (b *board) patch(a *act, p core.Patch) error {
	s, err := b.row(a, p.Session)
	if err != nil {
		return err
	}
	changed, inverse := b.applyPatch(s, p, a.now)
	p.Session = s.Key
	a.before, a.after = inverse, p
	if p.Model == nil || b.validModel(*inverse.Model) == nil { // what may not be set may not be set back
		a.receipt.Undo = &core.Command{Patch: &inverse}
	}
	return a.PutSession(changed)
}

var (
	thinkingLevels = []string{"off", "minimal", "low", "medium", "high", "xhigh", "adaptive"}
	verboseLevels  = []string{"off", "on", "full"}
)

func (b *board) validPatch(p core.Patch) error {
	if p.SendPolicy != nil && !slices.Contains([]core.SendPolicy{core.SendInherit, core.SendAllow, core.SendDeny}, *p.SendPolicy) {
		return core.Errorf(core.CodeInvalidParams, "sendPolicy %q: allow, deny, or empty to inherit", *p.SendPolicy).Accept("allow", "deny", "")
	}
	if p.ThinkingLevel != nil && *p.ThinkingLevel != "" && !slices.Contains(thinkingLevels, *p.ThinkingLevel) {
		return core.Errorf(core.CodeInvalidParams, "thinkingLevel %q: one of %s", *p.ThinkingLevel, strings.Join(thinkingLevels, ", ")).Accept(thinkingLevels...)
	}
	if p.VerboseLevel != nil && *p.VerboseLevel != "" && !slices.Contains(verboseLevels, *p.VerboseLevel) {
		return core.Errorf(core.CodeInvalidParams, "verboseLevel %q: one of %s", *p.VerboseLevel, strings.Join(verboseLevels, ", ")).Accept(verboseLevels...)
	}
	if p.Label != nil && len(*p.Label) > core.MaxKeyBytes {
		return core.Errorf(core.CodeInvalidParams, "label is %d bytes: at most %d", len(*p.Label), core.MaxKeyBytes)
	}
	if p.Model != nil {
		if err := b.validModel(*p.Model); err != nil {
			return err
		}
	}
	return key.Valid(p.Session)
}

// validModel refuses a model that is not configured; "" clears.
func (b *board) validModel(name string) error {
	if _, ok := b.config.ModelNamed(name); ok || name == "" {
		return nil
	}
	names := b.config.ModelNames()
	return core.Errorf(core.CodeInvalidParams, "model %q is not configured: there are %s", name, strings.Join(names, ", ")).
		Because("models.providers").Accept(names...)
}

// applyPatch returns the changed row and the patch that takes the change back.
func (b *board) applyPatch(s core.Session, p core.Patch, now int64) (core.Session, core.Patch) {
	inverse := core.Patch{Session: s.Key}
	if p.Label != nil {
		inverse.Label, s.Label = ref(s.Label), strings.TrimSpace(*p.Label)
	}
	if p.SendPolicy != nil {
		inverse.SendPolicy, s.SendPolicy = ref(s.SendPolicy), *p.SendPolicy
	}
	if p.ThinkingLevel != nil {
		inverse.ThinkingLevel, s.ThinkingLevel = ref(s.ThinkingLevel), *p.ThinkingLevel
	}
	if p.VerboseLevel != nil {
		inverse.VerboseLevel, s.VerboseLevel = ref(s.VerboseLevel), *p.VerboseLevel
	}
	if p.Model != nil {
		inverse.Model = ref(ownModel(&s))
		b.setModel(&s, *p.Model)
	}
	if p.Archived != nil {
		inverse.Archived = ref(s.ArchivedAt != 0)
		switch {
		case !*p.Archived:
			s.ArchivedAt = 0
		case s.ArchivedAt == 0:
			s.ArchivedAt = now
		}
	}
	return s, inverse
}

// ownModel is a session's own model as it is named in a patch, "" when it has none.
func ownModel(s *core.Session) string {
	if s.Model == "" || s.ModelProvider == "" {
		return s.Model
	}
	return s.ModelProvider + "/" + s.Model
}

// setModel puts a model on a row, with its window.
func (e *Engine) setModel(s *core.Session, name string) {
	s.ModelProvider, s.Model = splitModel(name)
	e.setWindow(s, e.modelOf(s))
}

// setWindow puts on a row how many tokens its model can read, nothing when that is not known.
func (e *Engine) setWindow(s *core.Session, model string) {
	s.ContextTokens = nil
	if def, _ := e.config.ModelNamed(model); def.ContextWindow > 0 {
		s.ContextTokens = ref(int64(def.ContextWindow))
	}
}

func ref[T any](v T) *T { return &v }
