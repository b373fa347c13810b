package ui

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"path/filepath"
	"strconv"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/core"
)

// spawnForm is the layer that starts a sub-agent for a session (console.md §5). It is bound to the session it was opened on, whatever the
// list does meanwhile.
type spawnForm struct {
	form
	key                                    string // requester
	label, timeout                         *textControl
	agent, thinking, mode, cleanup, boxing *choiceControl
	model                                  control
	files                                  *filesControl
	off                                    offspring
	attempt                                spawnAttempt
	kept                                   uint64 // version of the task that the draft holds
	warned                                 bool   // that its session is gone
}

// spawnAttempt is a spawn that was handed over without an answer: the same again is the same sub-agent.
type spawnAttempt struct{ key, print string }

// spawnDraft is what a spawn form holds beside the task.
type spawnDraft struct {
	Label    string   `json:"label,omitempty"`
	Agent    string   `json:"agent,omitempty"`
	Model    string   `json:"model,omitempty"`
	Thinking string   `json:"thinking,omitempty"`
	Timeout  string   `json:"timeout,omitempty"`
	Mode     string   `json:"mode,omitempty"`
	Cleanup  string   `json:"cleanup,omitempty"`
	Sandbox  string   `json:"sandbox,omitempty"`
	Files    []string `json:"files,omitempty"` // paths
}

// How a sub-agent may live: without a thread, in one until it has answered, or in one from then on.
const (
	modeRun     = ""
	modeThread  = "thread"
	modeSession = "session"
)

const runSecondsMost = 31_536_000 // a year

func spawnDraftID(key string) string { return "spawn " + key }

func newSpawnForm(m *Model, key string) *spawnForm {
	d := m.drafts.all[spawnDraftID(key)]
	was := spawnDraft{}
	if d.Spawn != nil {
		was = *d.Spawn
	}
	f := &spawnForm{
		key: key, label: newTextControl(was.Label, "for people; may stay empty"),
		timeout:  newTextControl(was.Timeout, "seconds, then it is cut; 0 never, empty: as configured"),
		agent:    newChoice(was.Agent, agentOptions(nil, was.Agent)...),
		model:    m.modelControl(was.Model),
		thinking: thinkingChoice(was.Thinking),
		mode:     newChoice(was.Mode, modeOptions(was.Mode == modeRun)...),
		cleanup:  newChoice(was.Cleanup, option{"", "keep its session"}, option{core.CleanupDelete, "delete it once announced"}),
		boxing:   newChoice(was.Sandbox, option{"", "inherit"}, option{"require", "require"}),
		files:    &filesControl{},
	}
	f.form = form{
		title: "Spawn a sub-agent", verb: "spawn", above: f.requester, about: f.foretell, submit: f.spawn, closed: f.leave,
		area: &formArea{label: "task", text: newEditor(d.Text), check: f.checkTask, lines: 10},
	}
	f.fields = []*formField{
		f.field("label", "label", f.label, nil), f.field("agent", "agentId", f.agent, nil), f.field("model", "model", f.model, nil),
		f.field("thinking", "thinking", f.thinking, nil), f.field("cut after", "runTimeoutSeconds", f.timeout, f.checkTimeout),
		f.field("mode", "thread", f.mode, nil), f.field("cleanup", "cleanup", f.cleanup, nil), f.field("sandbox", "sandbox", f.boxing, nil),
		f.field("files", "attachments", f.files, f.checkFiles),
	}
	f.at = len(f.fields)
	f.kept = f.area.text.version
	if d.Key != "" {
		f.attempt = spawnAttempt{d.Key, f.print(was.Files)}
	}
	return f
}

// field is a field that asks anew what will happen when it has changed, and shows what the engine has against its parameter.
func (f *spawnForm) field(label, param string, c control, local func(*Model) string) *formField {
	return &formField{label: label, control: c, changed: f.ask, check: func(m *Model) string {
		if local != nil {
			if wrong := local(m); wrong != "" {
				return wrong
			}
		}
		return f.off.against(param)
	}}
}

// agentOptions are the agents that may be spawned; before they are known, the one that was chosen.
func agentOptions(ids []string, now string) []option {
	if len(ids) == 0 && now != "" {
		ids = []string{"", now}
	}
	options := []option{{"", "its own"}}
	for i, id := range ids {
		if i > 0 {
			options = append(options, option{id, id})
		}
	}
	return options
}

func modeOptions(runOnly bool) []option {
	options := []option{{modeRun, "run"}}
	if runOnly {
		return options
	}
	return append(options, option{modeThread, "run in a thread"}, option{modeSession, "stay in a thread"})
}

func (m *Model) openSpawn() tea.Cmd {
	f := newSpawnForm(m, m.subject())
	m.open(f)
	return tea.Batch(f.ask(m), f.recallFiles(m))
}

func cannotSpawn(m *Model) string {
	key := m.subject()
	if key == "" {
		return "choose the session that the sub-agent is to work for"
	}
	return firstOf(cannotDo(m), m.noneAnswers(key))
}

func (f *spawnForm) checkTask(*Model) string {
	switch text := &f.area.text; {
	case text.blank():
		return "the task is blank"
	case !validText(text):
		return "the task holds bytes that are no UTF-8 text: ‹x..› marks them"
	}
	return ""
}

func (f *spawnForm) checkTimeout(*Model) string {
	text := f.timeout.text()
	if n, err := strconv.Atoi(text); text != "" && (err != nil || n < 0 || n > runSecondsMost) {
		return strconv.Quote(text) + " is no time: whole seconds from 0 to " + strconv.Itoa(runSecondsMost)
	}
	return ""
}

// checkFiles holds the files to the limits that the board told.
func (f *spawnForm) checkFiles(*Model) string { return f.files.wrong(f.off.child()) }

// params are those of sessions_spawn without task and files; what is not as it may be is left out.
func (f *spawnForm) params() map[string]any {
	p := map[string]any{}
	for name, value := range map[string]string{
		"label": f.label.text(), "agentId": f.agent.value(), "model": valueOf(f.model), "thinking": f.thinking.value(), "cleanup": f.cleanup.value(),
		"sandbox": f.boxing.value(),
	} {
		if value != "" {
			p[name] = value
		}
	}
	if n, err := strconv.Atoi(f.timeout.text()); err == nil && f.checkTimeout(nil) == "" {
		p["runTimeoutSeconds"] = n
	}
	switch f.mode.value() {
	case modeThread:
		p["thread"], p["mode"] = true, string(core.SpawnOnce)
	case modeSession:
		p["thread"], p["mode"] = true, string(core.SpawnSession)
	}
	return p
}

func (f *spawnForm) ask(m *Model) tea.Cmd {
	p := f.params()
	p["task"] = "…" // it has no part in the answer
	raw, err := json.Marshal(p)
	if err != nil {
		return nil
	}
	return f.off.ask(m, f, core.SpawnQuestion{As: f.key, Params: raw})
}

// told takes up what a spawn may be asked for: the choices are those that there are.
func (f *spawnForm) told(o *core.Offspring) {
	if o == nil {
		return
	}
	f.agent.offer(agentOptions(o.Agents, f.agent.value()))
	if f.mode.value() == modeRun || o.NoThread == "" {
		f.mode.offer(modeOptions(o.NoThread != ""))
	}
	f.mode.why, f.files.why = o.NoThread, o.NoFiles
	for i, field := range f.fields {
		if i != f.at || field.control != f.timeout { // a number that is being typed is looked at when it is left
			field.wrong = field.check(nil)
		}
	}
}

// hear asks anew when something changed that the answer hangs on: the requester, or one of its sub-agents.
func (f *spawnForm) hear(m *Model, c core.Change) tea.Cmd {
	switch {
	case c.Kind == core.ChangeRun && c.Run != nil && c.Run.RequesterKey == f.key, c.Kind == core.ChangeSession && c.ID == f.key:
		return f.off.refresh(m, f)
	}
	return nil
}

// spawn hands the task over, under the same idempotency key as the last attempt when that was the same and its fate is not known.
func (f *spawnForm) spawn(m *Model) tea.Cmd {
	if f.busy {
		return nil
	}
	f.busy = true
	now := f.print(f.files.paths())
	if f.attempt.key == "" || f.attempt.print != now {
		f.attempt = spawnAttempt{m.newID(), now}
	}
	p, files, most, out := f.params(), f.files.paths(), int64(0), m.env.Outside
	if child := f.off.child(); child != nil {
		most = child.MaxFileBytes
	}
	p["task"] = f.area.text.text()
	board, ctx, call := m.env.Board, m.ctx, core.ToolCall{As: f.key, Tool: "sessions_spawn", Key: f.attempt.key}
	return func() tea.Msg {
		child, err := guarded(func() (string, error) { return spawnNow(ctx, board, out, call, p, files, most) })
		return spawnedMsg{f, child, err}
	}
}

// print is what makes two spawns the same.
func (f *spawnForm) print(files []string) string {
	d := f.filled()
	d.Files = files
	raw, err := json.Marshal(d)
	if err != nil {
		return ""
	}
	return string(raw) + f.area.text.text()
}

// spawnNow reads the files and calls the tool; it returns the child's key. A file may have grown or gone since it was chosen; most is how
// many bytes it may have, 0 = the board says.
func spawnNow(ctx context.Context, board core.Board, out Outside, call core.ToolCall, params map[string]any, paths []string, most int64) (string, error) {
	var files []map[string]string
	for _, path := range paths {
		data, err := readChosen(out, path, most)
		if err != nil {
			return "", core.Errorf(core.CodeInvalidParams, "%s cannot be read: %w", path, err).About("attachments")
		}
		file := map[string]string{"name": filepath.Base(path), "content": string(data), "encoding": "utf8"}
		if !utf8.Valid(data) {
			file["content"], file["encoding"] = base64.StdEncoding.EncodeToString(data), "base64"
		}
		files = append(files, file)
	}
	if len(files) > 0 {
		params["attachments"] = files
	}
	var err error
	if call.Params, err = json.Marshal(params); err != nil {
		return "", err
	}
	result, err := board.Call(ctx, call)
	if err != nil {
		return "", err
	}
	if result.Refused != nil {
		return "", result.Refused
	}
	var answer struct{ ChildSessionKey string }
	err = json.Unmarshal(result.Body, &answer)
	return answer.ChildSessionKey, err
}

func readChosen(out Outside, path string, most int64) ([]byte, error) {
	e, err := out.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case e.Dir:
		return nil, errors.New("it is a directory now")
	case most > 0 && e.Size > most:
		return nil, errors.New("it has " + bytesOf(e.Size) + " now, and a file may have " + bytesOf(most))
	}
	return out.Read(path)
}

type spawnedMsg struct {
	form  *spawnForm
	child string
	err   error
}

func (msg spawnedMsg) apply(m *Model) tea.Cmd {
	f := msg.form
	f.busy = false
	if m.ended(msg.err) {
		return nil
	}
	m.dirty, m.barsDirty = true, true
	if msg.err != nil {
		return f.refusedWith(m, msg.err)
	}
	open := m.formOpen(&f.form) != nil
	f.attempt = spawnAttempt{}
	f.area.text.set("")
	f.kept = f.area.text.version
	m.drafts.put(spawnDraftID(f.key), draft{})
	m.drop(f)
	cmds := []tea.Cmd{m.toast("spawned " + msg.child + " for " + m.nameFor(f.key)), m.rememberSoon()}
	if open {
		m.arrival = arrival{key: msg.child, asked: true, sure: true}
		cmds = append(cmds, m.arrive(), m.focusOn(paneTranscript))
	}
	return tea.Batch(cmds...)
}

// refusedWith puts a refusal beside the field that it is about.
func (f *spawnForm) refusedWith(m *Model, err error) tea.Cmd {
	if refused(err) {
		f.attempt = spawnAttempt{}
	}
	text := refusalOf(err)
	f.keepDraft(m)
	if m.formOpen(&f.form) == nil {
		return m.warn("no sub-agent for " + m.nameFor(f.key) + ": " + text)
	}
	e, ok := asRefusal(err)
	at := -1
	if ok {
		at = f.fieldOf(e.Param)
	}
	switch {
	case at < 0:
		f.trouble = text
	case at == len(f.fields):
		f.area.wrong, f.at = text, at
	default:
		f.fields[at].wrong, f.at = text, at
	}
	return nil
}

// fieldOf is the place of the field that a parameter is filled in with, -1 for none.
func (f *spawnForm) fieldOf(param string) int {
	at, ok := map[string]int{
		"label": 0, "agentId": 1, "model": 2, "thinking": 3, "runTimeoutSeconds": 4, "thread": 5, "mode": 5, "cleanup": 6, "sandbox": 7, "attachments": 8,
		"task": len(f.fields),
	}[param]
	if !ok {
		return -1
	}
	return at
}

func (f *spawnForm) leave(m *Model) tea.Cmd {
	f.keepDraft(m)
	switch {
	case m.drafts.all[spawnDraftID(f.key)].At == 0:
	case m.orphaned(f, f.key, &f.warned, "its task can be taken along with the editor"):
	default:
		m.said = "kept as a draft: " + m.keyFor("message.spawn") + " opens it again"
	}
	m.barsDirty = true
	return m.rememberSoon()
}

// filled is what the fields hold.
func (f *spawnForm) filled() spawnDraft {
	return spawnDraft{
		Label: f.label.text(), Agent: f.agent.value(), Model: valueOf(f.model), Thinking: f.thinking.value(), Timeout: f.timeout.text(),
		Mode: f.mode.value(), Cleanup: f.cleanup.value(), Sandbox: f.boxing.value(), Files: f.files.paths(),
	}
}

// keepDraft notes what is filled in and not spawned.
func (f *spawnForm) keepDraft(m *Model) {
	now := f.filled()
	d := draft{Key: f.attempt.key, At: m.env.Now().UnixMilli(), Spawn: &now}
	if now.empty() {
		d.Spawn = nil
	}
	if before := m.drafts.all[spawnDraftID(f.key)]; f.kept == f.area.text.version {
		d.Text = before.Text
	} else {
		d.Text = f.area.text.text()
	}
	f.kept = f.area.text.version
	m.drafts.put(spawnDraftID(f.key), d)
}

func (d *spawnDraft) empty() bool {
	return d.Label+d.Agent+d.Model+d.Thinking+d.Timeout+d.Mode+d.Cleanup+d.Sandbox == "" && len(d.Files) == 0
}
