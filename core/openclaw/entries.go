package openclaw

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"hash/maphash"
	"io"
	"math"
	"strconv"

	"cordboard/core"
	"cordboard/core/key"
)

// entry is one member of a sessions.json. Its bytes stay in the file until they are written to the store: the two snapshots in it make
// up most of a file of a hundred megabytes.
type entry struct {
	session     core.Session // as the entry tells it, without Source
	sessionFile string       // as written: a path on the machine it was made on
	fitted      core.Session // the session made small enough for a row,
	misfit      string       // and what had to be left out for that
	unfit       bool         // it cannot be made small enough
	index       *indexFile
	offset      int64
	size        int
	line        int
	hash        uint64 // of the bytes
}

// errReplaced says that an entry's file holds something else by now where the entry was.
var errReplaced = errors.New("the file was rewritten meanwhile")

// raw reads the entry's bytes, white space between them left out.
func (e *entry) raw() ([]byte, error) {
	buf := make([]byte, e.size)
	if _, err := e.index.file.ReadAt(buf, e.offset); err != nil {
		return nil, err
	}
	if maphash.Bytes(e.index.seed, buf) != e.hash {
		return nil, errReplaced
	}
	var out bytes.Buffer
	out.Grow(e.size)
	if err := json.Compact(&out, buf); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

// readEntries reads a sessions.json entry by entry. One that is broken is reported and left out, all others are returned, also those
// before the place where a file is cut off; broken tells of both, and out how many there were beside those that are returned. Of duplicate keys the last counts, as for every reader of JSON in the
// field. An entry whose bytes are those of one in before is that one, moved to its new place.
func readEntries(ctx context.Context, index *indexFile, before map[string]*entry, problems *problems) (entries []*entry, out int, broken bool) {
	at := map[string]int{}
	in := newObjectReader(until{ctx, index.file})
	in.same = func(key string, raw []byte) bool {
		e := before[key]
		return e != nil && e.size == len(raw) && e.hash == maphash.Bytes(index.seed, raw)
	}
	for {
		m, err := in.next()
		switch {
		case err == io.EOF:
			return entries, out, broken
		case errors.Is(err, errCutOff), errors.Is(err, errNoObject), errors.Is(err, errLost):
			problems.add(Problem{File: index.path, Line: in.line, Reason: err.Error()})
			return entries, out, true
		case err != nil:
			problems.add(Problem{File: index.path, Line: in.line, Reason: "cannot be read: " + cause(err)})
			return entries, out, true
		}
		report := func(reason string) {
			problems.add(Problem{File: index.path, Line: m.line, Key: shortKey(m.key), Reason: reason})
		}
		broken = broken || m.reason != ""
		e := before[m.key]
		if !m.same {
			e = newEntry(m, report)
		}
		if e == nil {
			out++
			continue
		}
		e.index, e.offset, e.line = index, m.offset, m.line
		if !m.same {
			e.size, e.hash = len(m.raw), maphash.Bytes(index.seed, m.raw)
		}
		if i, twice := at[m.key]; twice {
			report("occurs twice, the later one counts (the first is in line " + strconv.Itoa(entries[i].line) + ")")
			entries[i] = e
			out++
			continue
		}
		at[m.key] = len(entries)
		entries = append(entries, e)
	}
}

// newEntry decodes a member; nil when it cannot be used.
func newEntry(m member, report func(reason string)) *entry {
	if m.reason != "" {
		report(m.reason)
		return nil
	}
	if err := key.Valid(m.key); err != nil {
		report("the key cannot be used: " + err.Error())
		return nil
	}
	switch reserved := (key.Names{}).Reserved(m.key); {
	case m.key == globalKey:
		report("is the one session of session.scope \"global\": it is in the store, and seen and answered only while the config says so")
	case reserved:
		report("is a reserved key, which no session can be reached by: its transcript is kept without a session")
		return nil
	}
	session, file, err := sessionOf(m.key, m.raw)
	if err != nil {
		report(err.Error())
	}
	if !usableID(session.SessionID) {
		report("its sessionId cannot be used: the session is kept without a transcript")
		session.SessionID = ""
	}
	e := &entry{session: session, sessionFile: file, fitted: session}
	reason, ok := fit(&e.fitted)
	e.misfit, e.unfit = reason, !ok
	return e
}

// globalKey is the key of the one session of global scope; its other spellings are nobody's.
const globalKey = "global"

func usableID(id string) bool {
	return len(id) <= core.MaxKeyBytes/2 && bytes.IndexByte([]byte(id), 0) < 0
}

// shortKey is a key as it is reported: a broken one may have any length.
func shortKey(k string) string { return cut(k, 120) }

// fields is what we know of an entry. The rest of it is kept as it is.
type fields struct {
	SessionID   string   `json:"sessionId"`
	SessionFile string   `json:"sessionFile"`
	UpdatedAt   *integer `json:"updatedAt"`

	ChatType    string `json:"chatType"`
	Channel     string `json:"channel"`
	Label       string `json:"label"`
	DisplayName string `json:"displayName"`

	SpawnedBy  string   `json:"spawnedBy"`
	SpawnDepth *integer `json:"spawnDepth"`

	Model            string   `json:"model"`
	ModelProvider    string   `json:"modelProvider"`
	ModelOverride    string   `json:"modelOverride"`
	ProviderOverride string   `json:"providerOverride"`
	ContextTokens    *integer `json:"contextTokens"`
	TotalTokens      *integer `json:"totalTokens"`
	TotalTokensFresh *bool    `json:"totalTokensFresh"`
	ThinkingLevel    string   `json:"thinkingLevel"`
	VerboseLevel     string   `json:"verboseLevel"`
	SystemSent       *bool    `json:"systemSent"`
	AbortedLastRun   *bool    `json:"abortedLastRun"`

	SendPolicy      string `json:"sendPolicy"`
	LastChannel     string `json:"lastChannel"`
	LastTo          text   `json:"lastTo"`
	LastAccountID   text   `json:"lastAccountId"`
	LastThreadID    text   `json:"lastThreadId"`
	DeliveryContext route  `json:"deliveryContext"`
}

type route struct {
	Channel   string `json:"channel"`
	To        text   `json:"to"`
	AccountID text   `json:"accountId"`
	ThreadID  text   `json:"threadId"`
}

// text is a string that some writers store as a number (thread and chat ids).
type text string

func (t *text) UnmarshalJSON(data []byte) error {
	if s, ok := core.Unquote(data); ok {
		*t = text(s)
	} else if len(data) > 0 && (data[0] == '-' || '0' <= data[0] && data[0] <= '9') {
		*t = text(data)
	}
	return nil
}

// integer is a number; a fraction is cut off. Anything that is no number of ours is as good as absent.
type integer struct {
	n  int64
	ok bool
}

func (i *integer) UnmarshalJSON(data []byte) error {
	f, err := strconv.ParseFloat(string(data), 64)
	if err == nil && f >= 0 && f < math.MaxInt64 {
		*i = integer{int64(f), true}
	}
	return nil
}

func (i *integer) value() int64 {
	if i == nil {
		return 0
	}
	return i.n
}

func (i *integer) pointer() *int64 {
	if i == nil || !i.ok {
		return nil
	}
	return &i.n
}

// sessionOf reads a session from an entry's JSON. A field of a wrong type is left out and told of by err; the session counts all the same.
func sessionOf(k string, raw []byte) (s core.Session, file string, err error) {
	var f fields
	if bad := json.Unmarshal(raw, &f); bad != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](bad); ok {
			err = errors.New("its field " + wrong.Field + " is a " + wrong.Value + ": left out")
		} else {
			err = bad
		}
	}
	s = core.Session{
		Key: k, SessionID: f.SessionID, UpdatedAt: f.UpdatedAt.value(),
		ChatType: key.ReadChatType(f.ChatType), Channel: key.Normal(core.DeliveryContext{Channel: f.Channel}).Channel,
		Label: f.Label, DisplayName: f.DisplayName,
		SpawnedBy: f.SpawnedBy, SpawnDepth: int(f.SpawnDepth.value()),
		Model: f.Model, ModelProvider: f.ModelProvider, ContextTokens: f.ContextTokens.pointer(),
		ThinkingLevel: f.ThinkingLevel, VerboseLevel: f.VerboseLevel, SystemSent: f.SystemSent, AbortedLastRun: f.AbortedLastRun,
		SendPolicy: sendPolicy(f.SendPolicy),
	}
	if f.ModelOverride != "" {
		s.Model = f.ModelOverride
		if f.ProviderOverride != "" {
			s.ModelProvider = f.ProviderOverride
		}
	}
	if s.TotalTokens = f.TotalTokens.pointer(); s.TotalTokens != nil {
		s.TokensStale = f.TotalTokensFresh != nil && !*f.TotalTokensFresh
	}
	setDelivery(&s, &f)
	return s, f.SessionFile, err
}

// setDelivery puts where answers go on the row, the same on both places that may hold it (session-tools.md §4).
func setDelivery(s *core.Session, f *fields) {
	s.Delivery = key.Merge(
		core.DeliveryContext{Channel: f.LastChannel, To: string(f.LastTo), AccountID: string(f.LastAccountID), ThreadID: string(f.LastThreadID)},
		core.DeliveryContext{
			Channel: f.DeliveryContext.Channel, To: string(f.DeliveryContext.To),
			AccountID: string(f.DeliveryContext.AccountID), ThreadID: string(f.DeliveryContext.ThreadID),
		})
	s.LastChannel, s.LastTo, s.LastAccountID, s.LastThreadID = s.Delivery.Channel, s.Delivery.To, s.Delivery.AccountID, s.Delivery.ThreadID
}

func sendPolicy(name string) core.SendPolicy {
	if p := core.SendPolicy(name); p == core.SendAllow || p == core.SendDeny {
		return p
	}
	return core.SendInherit
}
