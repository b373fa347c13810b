package ui

import (
	"bytes"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/core"
	"cordboard/ui/safe"
)

// offspring is the sub-agent that a spawn would make, asked before it is made (console.md §5).
type offspring struct {
	asked  core.SpawnQuestion
	got    *core.Explanation // of what was asked last; nil = not known yet
	err    error
	number int // of the last question; answers to older ones are dropped
	busy   bool
	again  bool // something changed while it was asked
}

type offspringMsg struct {
	form   *spawnForm
	number int
	got    core.Explanation
	err    error
}

func (o *offspring) ask(m *Model, f *spawnForm, q core.SpawnQuestion) tea.Cmd {
	if !bytes.Equal(o.asked.Params, q.Params) && o.got != nil && len(o.got.Spawn.Refusals) > 0 {
		known := *o.got.Spawn
		known.Refusals = nil // of other parameters
		o.got = &core.Explanation{Spawn: &known}
	}
	o.asked = q
	o.number++
	o.busy, o.again = true, false
	number := o.number
	return func() tea.Msg {
		got, err := guarded(func() (core.Explanation, error) { return m.env.Board.Explain(m.ctx, core.Question{Spawn: &q}) })
		return offspringMsg{f, number, got, err}
	}
}

// refresh asks once more: what it hangs on has changed.
func (o *offspring) refresh(m *Model, f *spawnForm) tea.Cmd {
	if o.busy {
		o.again = true
		return nil
	}
	return o.ask(m, f, o.asked)
}

func (msg offspringMsg) apply(m *Model) tea.Cmd {
	o := &msg.form.off
	if msg.number != o.number || m.ended(msg.err) {
		return nil
	}
	o.busy, m.dirty = false, true
	o.err = msg.err
	if msg.err == nil && msg.got.Spawn != nil {
		o.got = &msg.got
		msg.form.told(o.got.Spawn)
	}
	if o.again {
		return o.ask(m, msg.form, o.asked)
	}
	return nil
}

// child is what was told last, nil when nothing was.
func (o *offspring) child() *core.Offspring {
	if o.got == nil {
		return nil
	}
	return o.got.Spawn
}

// against is what the engine has against a parameter, "" for nothing or when it is not known.
func (o *offspring) against(param string) string {
	child := o.child()
	if child == nil || o.busy {
		return ""
	}
	for _, refused := range child.Refusals {
		if refused.Param == param || param == "thread" && refused.Param == "mode" {
			return refusalOf(refused)
		}
	}
	return ""
}

// requester is who spawns: the form is bound to it.
func (f *spawnForm) requester(m *Model, w, _ int) []string {
	k := &m.k.panel
	l := newLine(w).add(k.muted, "   "+safe.Pad("for", formLabel-2)).space(k.text, 1)
	return []string{l.add(k.accent2, safe.CutMiddle(safe.Line(m.called(f.key)), max(l.left-1, 1))).end(k.text)}
}

// foretell is what stands below the task: what is off in the field at hand and why, and what the spawn would meet.
func (f *spawnForm) foretell(m *Model, w, h int) []string {
	k := *m.k
	k.shades = m.k.panel
	s := &sheet{k: &k, w: w}
	if f.at < len(f.fields) {
		switch f.fields[f.at].control {
		case f.mode:
			f.whyOff(s, "No thread: ", f.mode.why)
		case f.files:
			f.whyOff(s, "No files: ", f.files.why)
		}
	}
	switch o := &f.off; {
	case o.err != nil && o.got == nil:
		s.text(k.muted, "What will happen cannot be told: "+o.err.Error())
	case o.got == nil:
		s.text(k.dim, "asking what will happen …")
	default:
		f.tell(s, &k, o)
	}
	return s.out[:min(len(s.out), h)]
}

func (f *spawnForm) whyOff(s *sheet, lead, why string) {
	if why != "" {
		s.text(s.k.muted, lead+why)
	}
}

func (f *spawnForm) tell(s *sheet, k *inks, o *offspring) {
	child := o.got.Spawn
	switch {
	case o.busy && o.got.Verdict == (core.Verdict{}):
		s.text(k.dim, "asking …")
	case len(child.Refusals) > 0 && f.fieldOf(child.Refusals[0].Param) >= 0:
		s.text(k.err, "✗ refused: the field says why")
	default:
		s.decision(k, o.got.Verdict)
	}
	ground := k.text
	if child.Live >= child.Most {
		ground = k.warn
	}
	s.text(ground, strconv.Itoa(child.Live)+" of "+plural(child.Most, "sub-agent")+" live")
	s.text(announceGround(k, child), announceOf(child))
	if child.Agent == "" {
		return
	}
	s.text(k.text, "Sandbox: requester "+boxed(child.Confined != "")+" · sub-agent "+boxed(child.Sandboxed)+" · effective "+effective(child))
	text := "Played by " + child.Runtime + prefixed(" with ", child.Model) + prefixed(" · thinking ", child.Thinking)
	if child.TimeoutSeconds > 0 {
		text += " · cut after " + seconds(child.TimeoutSeconds)
	}
	s.text(k.muted, text)
}

func boxed(yes bool) string {
	if yes {
		return "sandboxed"
	}
	return "open"
}

// effective is what the sandbox guard makes of the two sides.
func effective(o *core.Offspring) string {
	for _, refused := range o.Refusals {
		if refused.Param == "sandbox" {
			return "refused"
		}
	}
	return boxed(o.Sandboxed)
}

func announceGround(k *inks, o *core.Offspring) ink {
	if !o.Announce || !o.Send.Allowed {
		return k.warn
	}
	return k.text
}

// announceOf is where the result will be told, as it is frozen when the spawn is made.
func announceOf(o *core.Offspring) string {
	switch {
	case !o.Announce:
		return "The result is announced nowhere: agents.defaults.subagents.announce is off"
	case o.Route == nil:
		return "The result goes into the requester's transcript: it has no chat now"
	case !o.Send.Allowed:
		return "The result would go to " + routeOf(o.Route) + ", and the send policy denies it: " + ruleOf(o.Send)
	}
	return "The result is announced to " + routeOf(o.Route)
}

// wrongFiles is what is wrong with files by the limits that a board told.
func wrongFiles(list []pickedFile, o *core.Offspring) string {
	names, total := map[string]bool{}, int64(0)
	for _, file := range list {
		total += file.Size
		switch name := file.name(); {
		case file.gone != "":
			return file.Path + ": " + file.gone
		case names[name]:
			return "two files are named " + name
		case o != nil && file.Size > o.MaxFileBytes:
			return name + " has " + bytesOf(file.Size) + ", and a file may have " + bytesOf(o.MaxFileBytes)
		default:
			names[name] = true
		}
	}
	switch {
	case o == nil || len(list) == 0:
		return ""
	case o.NoFiles != "":
		return o.NoFiles
	case len(list) > o.MaxFiles:
		return strconv.Itoa(len(list)) + " files, and there may be " + strconv.Itoa(o.MaxFiles)
	case total > o.MaxTotalBytes:
		return strings.Join([]string{"the files have", bytesOf(total), "together, and may have", bytesOf(o.MaxTotalBytes)}, " ")
	}
	return ""
}
