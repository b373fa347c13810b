package engine

import (
	"context"
	"encoding/json"
	"os"

	"cordboard/core"
	"cordboard/core/tool"
)

// sessionsList is sessions_list (session-tools.md §4): filter on heads, then limit, then decode only the rows that are returned.
func (b *board) sessionsList(ctx context.Context, actor core.Actor, params json.RawMessage) (json.RawMessage, error) {
	asked, clamped, err := tool.DecodeList(params)
	if err != nil {
		return nil, err
	}
	answer := tool.ListAnswer{Asked: asked, Clamped: clamped}
	q := core.SessionQuery{Kinds: asked.Kinds, Archived: asked.IncludeArchived, Limit: asked.Limit}
	if asked.ActiveMinutes > 0 {
		q.Since = b.clock.Now().UnixMilli() - int64(asked.ActiveMinutes)*60_000
	}
	var files []string // per row, the transcript's file if there is one: looked at once the snapshot is let go
	err = b.store.View(ctx, func(r core.Reader) error {
		v, err := b.viewer(r, actor, "")
		if err != nil {
			return err
		}
		if !v.operator {
			answer.Scope = &v.scope
		}
		var page core.SessionPage
		if err := b.collect(r, v, q, asked.Before, &page); err != nil {
			return err
		}
		if page.Next != "" {
			answer.Next = cursorOf(&page.Rows[len(page.Rows)-1].Head)
		}
		answer.Rows, files, err = b.rows(r, v, page.Rows, asked.MessageLimit)
		return err
	})
	if err != nil {
		return nil, err
	}
	for i, file := range files {
		if file == "" {
			continue
		}
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() {
			answer.Rows[i].TranscriptPath = file
		}
	}
	return answer.JSON(), nil
}

// rows decodes the sessions of a page.
func (b *board) rows(r core.Reader, v viewer, heads []core.SessionRow, messages int) (rows []tool.Row, files []string, err error) {
	_, places := b.waitingPlaces()
	for i := range heads {
		h := &heads[i].Head
		s, ok, err := r.Session(h.Key)
		if err != nil {
			return nil, nil, err
		}
		if !ok {
			continue
		}
		g, _, err := r.Generation(s.SessionID)
		if err != nil {
			return nil, nil, err
		}
		facts := tool.Facts{Key: b.names.Display(s.Key, v.agent), Kind: h.Kind, Run: tool.RowRun{State: h.Run, QueuePosition: placeOf(h.Key, h.Run, places), Outcome: s.LastOutcome}}
		if s.SpawnedBy != "" {
			facts.SpawnedBy = b.names.Display(s.SpawnedBy, v.agent)
		}
		if messages > 0 {
			if facts.Messages, err = b.tail(r, v, s.SessionID, messages); err != nil {
				return nil, nil, err
			}
		}
		rows, files = append(rows, tool.NewRow(&s, facts)), append(files, g.File)
	}
	return rows, files, nil
}
