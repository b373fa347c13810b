package engine

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"sort"
	"strings"

	"cordboard/core"
)

const (
	defaultHeads = 1000
	maxHeads     = 10000
)

// Sessions implements core.Board: one page of heads, newest first, as the actor or a viewpoint sees them.
func (b *board) Sessions(ctx context.Context, q core.SessionQuery) (core.SessionPage, error) {
	after, err := checkSessionQuery(&q)
	if err != nil {
		return core.SessionPage{}, err
	}
	page := core.SessionPage{Rows: []core.SessionRow{}}
	err = b.store.View(ctx, func(r core.Reader) error {
		v, err := b.viewer(r, b.actor, q.Viewpoint)
		if err != nil {
			return err
		}
		if q.Scope != "" && v.asker != core.ActorOperator {
			return core.Errorf(core.CodeForbidden, "only the operator tries another scope on").Because("tools.sessions.visibility")
		}
		if q.Scope != "" && !v.operator {
			v = v.under(q.Scope)
		}
		if !v.operator {
			page.Scope = &v.scope
		}
		page.At.Rev = r.Rev()
		return b.collect(r, v, q, after, &page)
	})
	if err != nil {
		return core.SessionPage{}, err
	}
	page.At.Epoch, err = b.epoch(ctx)
	return page, err
}

func checkSessionQuery(q *core.SessionQuery) (after core.HeadCursor, err error) {
	if q.Limit == 0 {
		q.Limit = defaultHeads
	}
	if q.Limit < 0 || q.Limit > maxHeads {
		return after, core.Errorf(core.CodeInvalidParams, "limit %d: 1 to %d, or 0 for %d", q.Limit, maxHeads, defaultHeads)
	}
	for _, kind := range q.Kinds {
		if !slices.Contains(core.Kinds, kind) {
			return after, unknownKind(kind)
		}
	}
	if q.Scope != "" && !slices.Contains(core.Visibilities, q.Scope) {
		return after, core.Errorf(core.CodeInvalidParams, "scope %q: one of %v", q.Scope, core.Visibilities)
	}
	return decodeHeadCursor(q.Cursor)
}

func unknownKind(kind core.Kind) error {
	names := make([]string, len(core.Kinds))
	for i, k := range core.Kinds {
		names[i] = string(k)
	}
	hint := ""
	if near := core.Nearest(string(kind), names); near != "" {
		hint = " (did you mean " + near + "?)"
	}
	return core.Errorf(core.CodeInvalidParams, "there is no kind %q%s: there are %s", kind, hint, strings.Join(names, ", ")).Accept(names...)
}

// collect walks the index. The rows a viewpoint may not see are counted and, when asked for, returned with the rule that hides them.
func (e *Engine) collect(r core.Reader, v viewer, q core.SessionQuery, after core.HeadCursor, page *core.SessionPage) error {
	wanted := e.headFilter(q)
	withHidden := q.WithHidden && v.asker == core.ActorOperator
	late, err := e.lateArchives(r)
	if err != nil {
		return err
	}
	visit := func(h *core.Head) bool {
		if late[h.Key] {
			h.Flags |= core.FlagArchived
		}
		if !wanted(h) {
			return true
		}
		fillParent(r, h)
		visible := v.operator || v.allows(h.Key, h.Parent)
		if !visible && v.asker == core.ActorOperator {
			page.Hidden++
		}
		if !visible && !withHidden {
			return true
		}
		if len(page.Rows) == q.Limit {
			if !visible {
				page.Hidden-- // it belongs to the next page
			}
			page.Next = encodeHeadCursor(page.Rows[len(page.Rows)-1].Head)
			return false
		}
		row := core.SessionRow{Head: cloneHead(h)}
		row.Kind = e.kind(h)
		if !visible {
			verdict := v.see(row.Key, row.Parent)
			row.Hidden = &verdict
		}
		page.Rows = append(page.Rows, row)
		return true
	}
	if withHidden || !v.narrow() {
		return r.Heads(after, visit)
	}
	return v.family(r, after, visit)
}

// headFilter is what a query asks of a head, scope aside. It allocates nothing per head.
func (e *Engine) headFilter(q core.SessionQuery) func(*core.Head) bool {
	kinds := kindSet(q.Kinds)
	return func(h *core.Head) bool {
		return h.UpdatedAt >= q.Since &&
			(q.Archived || !h.Flags.Has(core.FlagArchived)) &&
			(q.Channel == "" || h.Channel == q.Channel) &&
			(q.Agent == "" || e.names.AgentOf(h.Key) == q.Agent) &&
			(kinds == nil || kinds[e.kind(h)]) &&
			!e.names.Reserved(h.Key)
	}
}

func kindSet(kinds []core.Kind) map[core.Kind]bool {
	if len(kinds) == 0 {
		return nil
	}
	set := map[core.Kind]bool{}
	for _, kind := range kinds {
		set[kind] = true
	}
	return set
}

// kind refines a stored head's kind by the configured main key.
func (e *Engine) kind(h *core.Head) core.Kind {
	if e.names.IsMain(h.Key) {
		return core.KindMain
	}
	return h.Kind
}

// family visits the heads a narrow scope can hold, the caller and its children, without walking the index: the cost is theirs alone.
func (v viewer) family(r core.Reader, after core.HeadCursor, visit func(*core.Head) bool) error {
	keys := []string{v.key}
	if v.scope.Effective != core.VisibilitySelf {
		if err := r.Children(v.key, func(child string) bool {
			if child != v.key {
				keys = append(keys, strings.Clone(child))
			}
			return true
		}); err != nil {
			return err
		}
	}
	var heads []core.Head
	for _, k := range keys {
		head, ok, err := r.Head(k)
		if err != nil {
			return err
		}
		fillParent(r, &head)
		if ok && before(after, &head) {
			heads = append(heads, cloneHead(&head))
		}
	}
	sort.Slice(heads, func(i, j int) bool { return before(cursorOf(&heads[i]), &heads[j]) })
	for i := range heads {
		if !visit(&heads[i]) {
			return nil
		}
	}
	return nil
}

// fillParent completes a head whose parent was too long for the index.
func fillParent(r core.Reader, h *core.Head) {
	if !h.Flags.Has(core.FlagParentOnRow) {
		return
	}
	if s, ok, err := r.Session(h.Key); ok && err == nil {
		h.Parent = s.SpawnedBy
	}
}

// before reports whether a head comes after the cursor in list order; the zero cursor is before all.
func before(c core.HeadCursor, h *core.Head) bool {
	if c == (core.HeadCursor{}) {
		return true
	}
	return h.UpdatedAt < c.UpdatedAt || h.UpdatedAt == c.UpdatedAt && h.Key > c.Key
}

func cursorOf(h *core.Head) core.HeadCursor {
	return core.HeadCursor{UpdatedAt: h.UpdatedAt, Key: h.Key}
}

func encodeHeadCursor(h core.Head) string {
	data, err := json.Marshal(cursorOf(&h))
	if err != nil {
		return "" // a number and a string always marshal
	}
	return base64.RawURLEncoding.EncodeToString(data)
}

func decodeHeadCursor(text string) (c core.HeadCursor, err error) {
	if text == "" {
		return c, nil
	}
	data, err := base64.RawURLEncoding.DecodeString(text)
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	if err != nil {
		return c, core.Errorf(core.CodeInvalidParams, "cursor %q is not one that a list returned", text)
	}
	return c, nil
}

func (e *Engine) epoch(ctx context.Context) (string, error) {
	info, err := e.store.Info(ctx)
	return info.Epoch, err
}
