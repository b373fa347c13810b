package engine

import (
	"cmp"
	"fmt"
	"strings"

	"cordboard/core"
)

// sendOrder is what a standalone /send says: a mode, or with bare nothing, which asks for the one in force.
type sendOrder struct {
	mode core.SendPolicy
	bare bool
}

// sendCommand reads a standalone `/send on|off|inherit`, or `/send` alone: the whole message, in any case, with or without a colon
// (session-tools.md §7).
func sendCommand(text string) (sendOrder, bool) {
	rest, ok := strings.CutPrefix(strings.ToLower(strings.TrimSpace(text)), "/send")
	if !ok {
		return sendOrder{}, false
	}
	word := strings.TrimSpace(strings.TrimPrefix(rest, ":"))
	apart := word != rest // /sendoff is no command
	switch word {
	case "":
		return sendOrder{bare: true}, true
	case "on":
		return sendOrder{mode: core.SendAllow}, apart
	case "off":
		return sendOrder{mode: core.SendDeny}, apart
	case "inherit":
		return sendOrder{mode: core.SendInherit}, apart
	}
	return sendOrder{}, false
}

// sendMode does what an owner's /send says. It comes before the policy, so that `/send on` works while that denies, and starts no run.
func (b *board) sendMode(a *act, s core.Session, order sendOrder) error {
	if order.bare {
		verdict := b.send(&s)
		a.receipt.Outcome, a.quiet = fmt.Sprintf("send policy %s: %s", allowWord(verdict.Allowed), verdict.Rule), true
		return nil
	}
	if s.Mirrored() {
		return b.mayRun(&s)
	}
	a.verb = "/send"
	a.before, a.after = map[string]string{"sendPolicy": modeName(s.SendPolicy)}, map[string]string{"sendPolicy": modeName(order.mode)}
	a.receipt.Outcome = "send policy " + modeName(order.mode)
	a.receipt.Undo = &core.Command{Patch: &core.Patch{Session: s.Key, SendPolicy: ref(s.SendPolicy)}}
	s.SendPolicy, s.UpdatedAt = order.mode, cmp.Or(s.UpdatedAt, a.now)
	return a.PutSession(s)
}

func allowWord(allowed bool) string {
	if allowed {
		return string(core.SendAllow)
	}
	return string(core.SendDeny)
}

func modeName(mode core.SendPolicy) string {
	if mode == core.SendInherit {
		return "inherit"
	}
	return string(mode)
}
