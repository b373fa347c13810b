package engine

import (
	"context"
	"encoding/json"

	"cordboard/core"
	"cordboard/core/tool"
)

// sessionsHistory is sessions_history (session-tools.md §5).
func (b *board) sessionsHistory(ctx context.Context, actor core.Actor, params json.RawMessage) (json.RawMessage, error) {
	asked, clamped, err := tool.DecodeHistory(params)
	if err != nil {
		return nil, err
	}
	page := tool.Page{Clamped: clamped}
	err = b.store.View(ctx, func(r core.Reader) error {
		v, err := b.viewer(r, actor, "")
		if err != nil {
			return err
		}
		found, err := b.resolve(r, v, asked.SessionKey)
		if err != nil {
			return err
		}
		page.SessionKey = b.names.Display(found.key, v.agent)
		g, err := pageOf(r, found, asked.Before)
		if err != nil || g.ID == "" {
			return err
		}
		page.Generation, page.SessionID = g.ID, g.SessionID
		page.Archived = g.State != core.GenerationCurrent || found.session.ArchivedAt != 0
		q := core.MessageQuery{Before: asked.Before.Seq, Limit: asked.Limit, Filter: core.MessageFilter{NoTools: !asked.IncludeTools}}
		page.Messages, page.More, err = readMessages(r, g.ID, q)
		return err
	})
	if err != nil {
		return nil, err
	}
	if actor.Kind == core.ActorOperator {
		return page.Operator(nil), nil
	}
	return page.Session(b.redact), nil
}

// pageOf is the transcript a call reads: that of the cursor, which must be one of what the name means, else the name's own.
func pageOf(r core.Reader, found target, before tool.Place) (core.Generation, error) {
	g, err := pickGeneration(r, found, before.Generation)
	if core.CodeOf(err) == core.CodeNotFound {
		return g, core.Errorf(core.CodeInvalidParams, "before: that cursor belongs to another session's transcript")
	}
	return g, err
}

// tail is a row's messages: the newest n without tool results, the same as the tail of sessions_history.
func (b *board) tail(r core.Reader, v viewer, generation string, n int) (json.RawMessage, error) {
	messages, _, err := readMessages(r, generation, core.MessageQuery{Limit: n, Filter: core.MessageFilter{NoTools: true}})
	if err != nil {
		return nil, err
	}
	return tool.Tail(messages, !v.operator, b.redact), nil
}

// mask masks the messages of a page; they are copies. It is what a person asked for, so it also holds where the config masks nothing.
func (b *board) mask(messages []core.Message) {
	for i := range messages {
		messages[i].Raw, _ = b.masker.MaskJSON(messages[i].Raw)
	}
}

func (b *board) maskPartial(p *core.Partial) {
	if p != nil {
		p.Text, _ = b.masker.Mask(p.Text)
		p.Thought, _ = b.masker.Mask(p.Thought)
	}
}
