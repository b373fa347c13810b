package tool

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"cordboard/core"
	"cordboard/core/key"
)

// Row is one session in the answer of sessions_list, its fields in the order of session-tools.md §4. What is not known is absent.
type Row struct {
	Key            string          `json:"key"`
	Kind           core.Kind       `json:"kind"`
	Channel        string          `json:"channel"`
	Label          string          `json:"label,omitempty"`
	DisplayName    string          `json:"displayName,omitempty"`
	UpdatedAt      int64           `json:"updatedAt,omitempty"` // ms
	SessionID      string          `json:"sessionId,omitempty"`
	Model          string          `json:"model,omitempty"`
	ContextTokens  *int64          `json:"contextTokens,omitempty"`
	TotalTokens    *int64          `json:"totalTokens,omitempty"`
	ThinkingLevel  string          `json:"thinkingLevel,omitempty"`
	VerboseLevel   string          `json:"verboseLevel,omitempty"`
	SystemSent     *bool           `json:"systemSent,omitempty"`
	AbortedLastRun *bool           `json:"abortedLastRun,omitempty"`
	SendPolicy     core.SendPolicy `json:"sendPolicy,omitempty"`
	LastChannel    string          `json:"lastChannel,omitempty"`
	LastTo         string          `json:"lastTo,omitempty"`
	LastAccountID  string          `json:"lastAccountId,omitempty"`
	Delivery       RowDelivery     `json:"deliveryContext,omitzero"`
	TranscriptPath string          `json:"transcriptPath,omitempty"`
	Messages       json.RawMessage `json:"messages,omitempty"` // a JSON array, as it is
	SpawnedBy      string          `json:"spawnedBy,omitempty"`
	Archived       bool            `json:"archived,omitempty"`
	Mirrored       bool            `json:"mirrored,omitempty"`
	Run            RowRun          `json:"run,omitzero"`
}

// RowDelivery is a row's deliveryContext; threads are left out.
type RowDelivery struct {
	Channel   string `json:"channel,omitempty"`
	To        string `json:"to,omitempty"`
	AccountID string `json:"accountId,omitempty"`
}

// RowRun is a session's live or queued run, or how the last one ended. QueuePosition counts from 1; 0 = not queued.
type RowRun struct {
	State         core.RunState   `json:"state,omitempty"`
	QueuePosition int             `json:"queuePosition,omitempty"`
	Outcome       core.RunOutcome `json:"outcome,omitempty"`
}

// Facts are what a row tells beside the stored record: what depends on who asks, on other records or on the machine.
type Facts struct {
	Key            string // as the caller is shown it
	Kind           core.Kind
	SpawnedBy      string          // as the caller is shown it
	TranscriptPath string          // "" when the file is not there
	Messages       json.RawMessage // a JSON array; nil when none were asked for
	Run            RowRun
}

// NewRow makes the row of a session.
func NewRow(s *core.Session, f Facts) Row {
	to := key.Delivery(s)
	r := Row{
		Key: f.Key, Kind: f.Kind, Channel: key.ChannelField(f.Kind, s.Channel, to.Channel, s.Key),
		Label: s.Label, DisplayName: DisplayName(s, f.Kind), UpdatedAt: s.UpdatedAt, SessionID: s.SessionID,
		Model: s.Model, ContextTokens: s.ContextTokens, ThinkingLevel: s.ThinkingLevel, VerboseLevel: s.VerboseLevel,
		SystemSent: s.SystemSent, AbortedLastRun: s.AbortedLastRun, SendPolicy: s.SendPolicy,
		LastChannel: to.Channel, LastTo: to.To, LastAccountID: to.AccountID, Delivery: RowDelivery{to.Channel, to.To, to.AccountID},
		TranscriptPath: f.TranscriptPath, Messages: f.Messages,
		SpawnedBy: f.SpawnedBy, Archived: s.ArchivedAt != 0, Mirrored: s.Mirrored(), Run: f.Run,
	}
	if !s.TokensStale {
		r.TotalTokens = s.TotalTokens
	}
	return r
}

// DisplayName is a session's name for people: the stored one, else of a group its channel and id (`discord:dev`), else the label.
func DisplayName(s *core.Session, kind core.Kind) string {
	if s.DisplayName != "" {
		return s.DisplayName
	}
	if kind == core.KindGroup {
		p, _ := key.Parse(s.Key)
		if channel := key.ChannelField(kind, s.Channel, "", s.Key); channel != key.ChannelUnknown && p.ID != "" {
			return channel + ":" + p.ID
		}
	}
	return s.Label
}

// append writes the row, a member for every field of Row in its order.
func (r *Row) append(dst []byte) []byte {
	o := object{buf: dst}
	o.key("key")
	o.buf = AppendString(o.buf, r.Key)
	o.key("kind")
	o.buf = AppendString(o.buf, string(r.Kind))
	o.key("channel")
	o.buf = AppendString(o.buf, r.Channel)
	o.text("label", r.Label)
	o.text("displayName", r.DisplayName)
	if r.UpdatedAt != 0 {
		o.integer("updatedAt", r.UpdatedAt)
	}
	o.text("sessionId", r.SessionID)
	o.text("model", r.Model)
	o.figure("contextTokens", r.ContextTokens)
	o.figure("totalTokens", r.TotalTokens)
	o.text("thinkingLevel", r.ThinkingLevel)
	o.text("verboseLevel", r.VerboseLevel)
	o.fact("systemSent", r.SystemSent)
	o.fact("abortedLastRun", r.AbortedLastRun)
	o.text("sendPolicy", string(r.SendPolicy))
	o.text("lastChannel", r.LastChannel)
	o.text("lastTo", r.LastTo)
	o.text("lastAccountId", r.LastAccountID)
	r.Delivery.append(&o)
	o.text("transcriptPath", r.TranscriptPath)
	o.raw("messages", r.Messages)
	o.text("spawnedBy", r.SpawnedBy)
	o.mark("archived", r.Archived)
	o.mark("mirrored", r.Mirrored)
	r.Run.append(&o)
	return o.done()
}

func (d RowDelivery) append(o *object) {
	if d == (RowDelivery{}) {
		return
	}
	o.key("deliveryContext")
	in := object{buf: o.buf}
	in.text("channel", d.Channel)
	in.text("to", d.To)
	in.text("accountId", d.AccountID)
	o.buf = in.done()
}

func (r RowRun) append(o *object) {
	if r == (RowRun{}) {
		return
	}
	o.key("run")
	in := object{buf: o.buf}
	in.text("state", string(r.State))
	if r.QueuePosition != 0 {
		in.integer("queuePosition", int64(r.QueuePosition))
	}
	in.text("outcome", string(r.Outcome))
	o.buf = in.done()
}

// ListAnswer is the answer of sessions_list. Hidden is how many rows a viewpoint may not see: for the operator only, nil otherwise.
type ListAnswer struct {
	Asked   List
	Rows    []Row
	Scope   *core.ScopeInfo // nil for the operator without a viewpoint, who sees all
	Next    core.HeadCursor // of the last row when there are more; zero = that was all
	Clamped Clamped
	Hidden  *int
}

// JSON writes the answer: {count, sessions, scope, nextBefore?, clamped?, hidden?}. One without rows also carries a note that names the
// filters and the scope, so that it is not taken for an empty system; the note is the same whether or not anything is hidden.
func (a *ListAnswer) JSON() json.RawMessage {
	const perRow, rest = 700, 300
	o := object{buf: make([]byte, 0, perRow*len(a.Rows)+rest)}
	o.integer("count", int64(len(a.Rows)))
	o.key("sessions")
	o.buf = append(o.buf, '[')
	for i := range a.Rows {
		if i > 0 {
			o.buf = append(o.buf, ',')
		}
		o.buf = a.Rows[i].append(o.buf)
	}
	o.buf = append(o.buf, ']')
	appendScope(&o, a.Scope)
	if a.Next != (core.HeadCursor{}) {
		o.text("nextBefore", ListCursor(a.Next))
	}
	appendClamped(&o, a.Clamped)
	if a.Hidden != nil {
		o.integer("hidden", int64(*a.Hidden))
	}
	if len(a.Rows) == 0 {
		o.text("note", a.note())
	}
	return o.done()
}

func appendScope(o *object, s *core.ScopeInfo) {
	if s == nil {
		s = &core.ScopeInfo{Visibility: core.VisibilityAll, Effective: core.VisibilityAll}
	}
	o.key("scope")
	in := object{buf: o.buf}
	in.text("visibility", string(s.Visibility))
	in.text("effective", string(s.Effective))
	in.text("clampedBy", s.ClampedBy)
	o.buf = in.done()
}

func appendClamped(o *object, c Clamped) {
	if len(c) == 0 {
		return
	}
	o.key("clamped")
	in := object{buf: o.buf}
	for _, name := range slices.Sorted(maps.Keys(c)) {
		in.integer(name, int64(c[name]))
	}
	o.buf = in.done()
}

// note says why a list may be empty: the filters that were given and the scope with the key that sets it.
func (a *ListAnswer) note() string {
	var filters []string
	if len(a.Asked.Kinds) > 0 {
		names := make([]string, len(a.Asked.Kinds))
		for i, k := range a.Asked.Kinds {
			names[i] = string(k)
		}
		filters = append(filters, "kinds "+strings.Join(names, ", "))
	}
	if a.Asked.ActiveMinutes > 0 {
		filters = append(filters, "activeMinutes "+strconv.Itoa(a.Asked.ActiveMinutes))
	}
	if !a.Asked.IncludeArchived {
		filters = append(filters, "archived ones left out (includeArchived)")
	}
	if a.Asked.Before != (core.HeadCursor{}) {
		filters = append(filters, "only those after the cursor")
	}
	text := "No session"
	if s := a.Scope; s != nil {
		text = fmt.Sprintf("No session in scope %s (%s)", s.Effective, cmp.Or(s.ClampedBy, "tools.sessions.visibility"))
	}
	if len(filters) == 0 {
		return text + "."
	}
	return text + " passes the filters: " + strings.Join(filters, "; ") + "."
}
