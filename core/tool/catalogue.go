package tool

import (
	"encoding/json"
	"strings"

	"cordboard/core"
)

// Names of the tools.
const (
	SessionsList    = "sessions_list"
	SessionsHistory = "sessions_history"
	SessionsSend    = "sessions_send"
	SessionsSpawn   = "sessions_spawn"
	AgentsList      = "agents_list"
)

// Bounds of the numbers the tools take (session-tools.md §4, §5).
const (
	ListLimit      = 200        // most rows of one answer, and what an absent limit means
	MessageLimit   = 20         // most messages per row
	HistoryLimit   = 1000       // most messages of one answer
	HistoryDefault = 200        // what an absent limit means
	WaitSeconds    = 86_400     // longest wait of sessions_send
	SendWait       = 30         // seconds an absent timeoutSeconds waits
	ActiveMinutes  = 52_560_000 // a hundred years: further back no session was updated
)

// List is a decoded call of sessions_list (session-tools.md §4).
type List struct {
	Kinds           []core.Kind // each once; nil = all
	Limit           int         // 1..ListLimit
	ActiveMinutes   int         // 1..ActiveMinutes; 0 = no matter when
	MessageLimit    int         // 0..MessageLimit
	IncludeArchived bool
	Before          core.HeadCursor // zero = from the newest
}

// History is a decoded call of sessions_history (session-tools.md §5).
type History struct {
	SessionKey   string // a key or a sessionId, trimmed
	Limit        int    // 1..HistoryLimit
	IncludeTools bool
	Before       Place // zero = from the newest
}

// DecodeList reads the parameters of sessions_list. What it returns is complete: defaults are in. A refusal is of code invalid_params.
func DecodeList(raw json.RawMessage) (List, Clamped, error) {
	var l List
	clamped, err := decode(SessionsList, raw, listParams(&l))
	return l, clamped, err
}

// DecodeHistory reads the parameters of sessions_history, as DecodeList does.
func DecodeHistory(raw json.RawMessage) (History, Clamped, error) {
	var h History
	clamped, err := decode(SessionsHistory, raw, historyParams(&h))
	return h, clamped, err
}

// Send is a decoded call of sessions_send (session-tools.md §6).
type Send struct {
	SessionKey     string
	Message        string // byte for byte as given
	TimeoutSeconds int    // 0..WaitSeconds; 0 = do not wait
}

// DecodeSend reads the parameters of sessions_send, as DecodeList does.
func DecodeSend(raw json.RawMessage) (Send, Clamped, error) {
	var s Send
	clamped, err := decode(SessionsSend, raw, sendParams(&s))
	return s, clamped, err
}

func sendParams(s *Send) []param {
	return []param{
		{
			name: "sessionKey", required: true, typ: word{&s.SessionKey, "a session key or a sessionId"},
			about: "To whom: the key of a session that exists, as sessions_list shows it, or a sessionId.",
		},
		{name: "message", required: true, typ: message{&s.Message}, about: "What to tell the other agent."},
		{
			name: "timeoutSeconds", typ: seconds{to: &s.TimeoutSeconds, max: WaitSeconds, def: SendWait},
			about: "How long to wait for the reply; 0 does not wait. It bounds the wait only: the other agent's run goes on.",
		},
	}
}

// DecodeAgents refuses any parameter: agents_list takes none.
func DecodeAgents(raw json.RawMessage) error {
	_, err := decode(AgentsList, raw, nil)
	return err
}

func listParams(l *List) []param {
	return []param{
		{
			name: "kinds", typ: kinds{&l.Kinds},
			about: "Only sessions of these kinds. Leave out, or give [], for all. Sub-agents and direct chats are of kind other.",
		},
		{
			name: "limit", typ: integer{to: &l.Limit, min: 1, max: ListLimit, def: ListLimit},
			about: "Most rows to return, counted after all filters.",
		},
		{
			name: "activeMinutes", typ: integer{to: &l.ActiveMinutes, min: 1, max: ActiveMinutes, def: 0},
			about: "Only sessions updated within this many minutes. Updated does not mean running: see run in the row.",
		},
		{
			name: "messageLimit", typ: integer{to: &l.MessageLimit, min: 0, max: MessageLimit, def: 0},
			about: "Also return up to this many of each session's newest messages, tool results left out.",
		},
		{
			name: "includeArchived", typ: boolean{&l.IncludeArchived},
			about: "Also list archived sessions.",
		},
		{name: "before", typ: cursor{func() { l.Before = core.HeadCursor{} }, func(s string) (err error) {
			l.Before, err = parseListCursor(s)
			return err
		}}, about: "Continue after an earlier answer: its nextBefore, unchanged."},
	}
}

func historyParams(h *History) []param {
	return []param{
		{
			name: "sessionKey", required: true, typ: word{&h.SessionKey, "a session key or a sessionId"},
			about: "Whose transcript: a key as sessions_list shows it (main is your own main session), or a sessionId, also of an older transcript.",
		},
		{
			name: "limit", typ: integer{to: &h.Limit, min: 1, max: HistoryLimit, def: HistoryDefault, raise: true},
			about: "Most messages to return, the newest ones, in the order they were written.",
		},
		{
			name: "includeTools", typ: boolean{&h.IncludeTools},
			about: "Also return tool results. Tool calls are part of assistant messages and always there.",
		},
		{name: "before", typ: cursor{func() { h.Before = Place{} }, func(s string) (err error) {
			h.Before, err = parseHistoryCursor(s)
			return err
		}}, about: "Continue further back: the nextBefore of an earlier answer, unchanged."},
	}
}

// entry is one tool of the catalogue.
type entry struct {
	name, about string
	params      []param
}

func catalogue() []entry {
	return []entry{
		{SessionsList, `List the sessions you may see, most recently updated first: your own and those you spawned, more where the configuration says so ` +
			`(scope in the answer). Use a row's key for sessions_history. A row without a field means that it is not known.`, listParams(new(List))},
		{
			SessionsHistory, `Read the newest messages of one session you may see. Long texts are cut, images and token counts left out and what looks like a ` +
				`credential is masked; truncated and contentRedacted say so. When nextBefore is in the answer there are older messages: pass it as before.`,
			historyParams(new(History)),
		},
		{
			SessionsSend, `Send a message to another session and wait for its agent's reply. status ok has the reply; accepted was not waited for; timeout ` +
				`means that the message was delivered and the run goes on: read sessions_history later, do not send again. error and forbidden say why.`,
			sendParams(new(Send)),
		},
		{
			SessionsSpawn, `Start a sub-agent on a task of its own, in a session of its own. The answer comes at once; when the sub-agent has ended its result is ` +
				`told in your chat and appears in your transcript. Do not wait or ask for it. forbidden and error say what would be accepted.`,
			spawnParams(new(Spawn), new(string), new(bool)),
		},
		{AgentsList, `List the agents that you may start sub-agents under, your own first. Takes no parameters.`, nil},
	}
}

// Tools describes every tool there is, in the order they are shown.
func Tools() []core.ToolSpec {
	var specs []core.ToolSpec
	for _, e := range catalogue() {
		specs = append(specs, core.ToolSpec{Name: e.name, Description: e.about, Schema: schemaOf(e.params)})
	}
	return specs
}

// Spec describes one tool; a name that is none is refused with what it might have meant.
func Spec(name string) (core.ToolSpec, error) {
	var names []string
	for _, s := range Tools() {
		if s.Name == name {
			return s, nil
		}
		names = append(names, s.Name)
	}
	hint := ""
	if near := core.Nearest(name, names); near != "" {
		hint = " (did you mean " + near + "?)"
	}
	return core.ToolSpec{}, core.Errorf(core.CodeInvalidParams, "there is no tool %q%s: there are %s", cut(name), hint, strings.Join(names, ", ")).
		Accept(names...)
}

// schemaOf is the JSON Schema of a parameter table.
func schemaOf(params []param) json.RawMessage {
	var required []string
	for _, p := range params {
		if p.required {
			required = append(required, p.name)
		}
	}
	var o object
	o.text("type", "object")
	o.raw("properties", schemaMembers(params))
	o.texts("required", required)
	o.boolean("additionalProperties", false)
	return o.done()
}

// schemaMembers are the parameters of a table by name.
func schemaMembers(params []param) json.RawMessage {
	var properties object
	for _, p := range params {
		var o object
		p.typ.schema(&o)
		o.text("description", p.about)
		properties.raw(p.name, o.done())
	}
	return properties.done()
}
