package engine

import (
	"context"
	"slices"

	"cordboard/core"
)

const (
	defaultMessages = 200
	maxMessages     = 5000
	pageBytes       = 8 << 20 // a page ends early rather than hold more message JSON than this
)

// Messages implements core.Board: one page of a transcript, in transcript order, bytes as stored. For a session actor scope applies; its
// tools' bounds do not, so front ends of agents use Call.
func (b *board) Messages(ctx context.Context, q core.MessageQuery) (core.MessagePage, error) {
	if q.Limit == 0 {
		q.Limit = defaultMessages
	}
	if q.Limit < 0 || q.Limit > maxMessages {
		return core.MessagePage{}, core.Errorf(core.CodeInvalidParams, "limit %d: 1 to %d, or 0 for %d", q.Limit, maxMessages, defaultMessages)
	}
	page := core.MessagePage{Messages: []core.Message{}}
	err := b.store.View(ctx, func(r core.Reader) error {
		v, err := b.viewer(r, b.actor, "")
		if err != nil {
			return err
		}
		if q.Session == "" {
			q.Session = q.Generation // a transcript that no session names has only its id
		}
		found, err := b.resolve(r, v, q.Session)
		if err != nil {
			return err
		}
		page.At.Rev, page.Session = r.Rev(), found.key
		if page.Generation, err = pickGeneration(r, found, q.Generation); err != nil || page.Generation.ID == "" {
			return err
		}
		if page.Messages, page.More, err = readMessages(r, page.Generation.ID, q); err != nil {
			return err
		}
		if found.exists && page.Generation.ID == found.session.SessionID {
			page.Partial, err = b.partial(r, &found.session)
		}
		return err
	})
	if err != nil {
		return core.MessagePage{}, err
	}
	if q.Redact {
		b.mask(page.Messages)
		b.maskPartial(page.Partial)
	}
	page.At.Epoch, err = b.epoch(ctx)
	return page, err
}

// pickGeneration returns the generation asked for, which must belong to what was found, or the one the name meant.
func pickGeneration(r core.Reader, found target, id string) (core.Generation, error) {
	if id == "" {
		id = found.generation
	}
	g, ok, err := r.Generation(id)
	if err != nil {
		return core.Generation{}, err
	}
	if id != found.generation && (!ok || g.Key != found.key || found.key == "") {
		return core.Generation{}, core.Errorf(core.CodeNotFound, "%s has no transcript %q", found.key, id)
	}
	return g, nil
}

// readMessages copies the page out of the snapshot.
func readMessages(r core.Reader, generation string, q core.MessageQuery) (messages []core.Message, more bool, err error) {
	backward := q.After == 0 && !q.Oldest
	keep := messageFilter(q.Filter)
	messages, size := []core.Message{}, 0
	err = r.Messages(generation, core.SeqRange{After: q.After, Before: q.Before, Backward: backward}, func(m *core.Message) bool {
		if !keep(m) {
			return true
		}
		if len(messages) == q.Limit || size >= pageBytes {
			more = true
			return false
		}
		size += len(m.Raw)
		messages = append(messages, cloneMessage(m))
		return true
	})
	if backward {
		slices.Reverse(messages)
	}
	return messages, more, err
}

func messageFilter(f core.MessageFilter) func(*core.Message) bool {
	return func(m *core.Message) bool {
		switch {
		case m.Role == core.RoleEvent && !f.Events,
			m.Role == core.RoleToolResult && f.NoTools,
			f.Errors && !m.Flags.Has(core.MessageError),
			f.Since > 0 && m.At < f.Since,
			len(f.Roles) > 0 && !slices.Contains(f.Roles, m.Role):
			return false
		}
		return true
	}
}

// cloneMessage copies a borrowed message without its envelope.
func cloneMessage(m *core.Message) core.Message {
	return core.Message{Seq: m.Seq, Role: m.Role, Flags: m.Flags, At: m.At, Raw: slices.Clone(m.Raw)}
}
