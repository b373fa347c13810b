package ui

import (
	"context"
	"strconv"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/core"
	"cordboard/ui/safe"
)

// task is one session's part of a job. It returns what takes it back, if anything does, and what there is to say of it.
type task struct {
	key string
	// name is what the session is called, title that alone: as they were when the job began, for a deleted one has neither.
	name, title string
	do          func(ctx context.Context) (undo *core.Command, note string, err error)
}

// taskEnd is what came of a task.
type taskEnd struct {
	note string
	err  error
}

// job does the same to several sessions, one after the other, and tells of each. Its layer is closed without stopping what is under way:
// the task at work ends, the rest is left.
type job struct {
	verb    string // "archived"
	tasks   []task
	results []taskEnd
	undo    []core.Command
	stopped bool
	report  bool // its results are shown when it is done, even when all went well
	undoes  bool // it takes another job back
	scroller
}

const jobWide = 84

type taskMsg struct {
	job  *job
	undo *core.Command
	taskEnd
}

// begin starts a job. What one session's part takes is not worth a layer.
func (m *Model) begin(j *job) tea.Cmd {
	if len(j.tasks) == 0 {
		return nil
	}
	for i := range j.tasks {
		t := &j.tasks[i]
		t.name, t.title = m.called(t.key), t.key
		if h := m.fleet.heads[t.key]; h != nil {
			t.title = firstOf(safe.Column(h.Title), t.key)
		}
	}
	if len(j.tasks) > 1 {
		m.open(j)
	}
	return j.next(m)
}

func (j *job) next(m *Model) tea.Cmd {
	t := j.tasks[len(j.results)]
	return func() tea.Msg {
		var note string
		undo, err := guarded(func() (undo *core.Command, err error) {
			undo, note, err = t.do(m.ctx)
			return undo, err
		})
		return taskMsg{j, undo, taskEnd{note, err}}
	}
}

func (msg taskMsg) apply(m *Model) tea.Cmd {
	j := msg.job
	j.results = append(j.results, msg.taskEnd)
	if msg.undo != nil {
		j.undo = append(j.undo, *msg.undo)
	}
	m.dirty = true
	if len(j.results) < len(j.tasks) && !j.stopped && m.ctx.Err() == nil {
		return j.next(m)
	}
	return j.end(m)
}

// end tells what came of a job. Its results stay on the screen when one of them is bad news.
func (j *job) end(m *Model) tea.Cmd {
	if len(j.undo) > 0 && !j.undoes {
		m.undo = append(m.undo, undoable{j.verb, j.undo})
	}
	failed := j.failed()
	m.said, m.barsDirty = j.summary(m), true
	if m.top() == j && failed == 0 && !j.report {
		m.closeTop()
	}
	if failed == 1 && len(j.tasks) == 1 {
		return m.warn(j.results[0].err.Error())
	}
	return nil
}

func (j *job) failed() int {
	n := 0
	for _, r := range j.results {
		if r.err != nil {
			n++
		}
	}
	return n
}

// summary is the job in one line.
func (j *job) summary(m *Model) string {
	done, failed := len(j.results)-j.failed(), j.failed()
	text := j.verb + " " + plural(done, "session")
	if done == 1 && len(j.tasks) == 1 {
		text = j.verb + " " + firstOf(j.results[0].note, j.tasks[0].title)
	}
	if failed > 0 {
		text += " · " + strconv.Itoa(failed) + " failed"
	}
	if left := len(j.tasks) - len(j.results); left > 0 {
		text += " · " + strconv.Itoa(left) + " left alone"
	}
	if len(j.undo) > 0 && !j.undoes {
		text += " · " + m.keyFor("session.undo") + " takes it back"
	}
	return text
}

func (j *job) over() bool { return j.stopped || len(j.results) == len(j.tasks) }

func (j *job) press(m *Model, msg tea.KeyMsg) tea.Cmd {
	if key := msg.String(); j.over() && (key == "enter" || key == "q") {
		m.closeTop()
		return nil
	}
	w, room := m.layerRoom(jobWide)
	j.scroll(msg.String(), len(j.lines(m, w-2)), room-2)
	return nil
}

// dismissed stops what has not begun.
func (j *job) dismissed(*Model) tea.Cmd {
	j.stopped = true
	return nil
}

func (j *job) draw(m *Model) []string {
	w, room := m.layerRoom(jobWide)
	return j.scroller.draw(m, j.title(), j.lines(m, w-2), w, room)
}

func (j *job) title() string {
	text := j.verb + " " + strconv.Itoa(len(j.results)) + " of " + strconv.Itoa(len(j.tasks))
	if failed := j.failed(); failed > 0 {
		text += " · " + strconv.Itoa(failed) + " failed"
	}
	return text
}

// lines are the results, and then what is still to be done.
func (j *job) lines(m *Model, w int) []string {
	k := &m.k.panel
	var out []string
	for i, t := range j.tasks {
		mark, ground, note := "  · ", k.muted, ""
		if i < len(j.results) {
			r := j.results[i]
			mark, ground, note = "  ✓ ", k.ok, r.note
			if r.err != nil {
				mark, ground, note = "  ✗ ", k.err, ""
			}
		}
		name, note := safe.Line(t.name), safe.Line(note)
		beside := prefixed("  ", note)
		if safe.Width(mark+name+beside) >= w {
			beside = ""
		}
		out = append(out, newLine(w).add(ground, mark).add(k.text, safe.CutMiddle(name, w-5)).add(k.muted, beside).end(k.text))
		if note != "" && beside == "" {
			out = append(out, newLine(w).add(k.muted, "    "+safe.CutMiddle(note, w-5)).end(k.text))
		}
		if i < len(j.results) && j.results[i].err != nil {
			for _, text := range safe.Wrap(safe.Line(j.results[i].err.Error()), w-7) {
				out = append(out, newLine(w).add(k.err, "      "+text).end(k.text))
			}
		}
	}
	foot := "esc stops after the one at work"
	if j.over() {
		foot = "enter closes"
	}
	return append(out, newLine(w).end(k.text), newLine(w).add(k.dim, " "+foot).end(k.text))
}

// undoable is a job that can be taken back.
type undoable struct {
	verb     string
	commands []core.Command
}

// takeBack undoes the last job. A session that somebody else has changed since is left as it is, and told.
func (m *Model) takeBack() tea.Cmd {
	last := m.undo[len(m.undo)-1]
	m.undo = m.undo[:len(m.undo)-1]
	j := &job{verb: "undid: " + last.verb, undoes: true}
	for _, c := range last.commands {
		j.tasks = append(j.tasks, m.command(c))
	}
	return m.begin(j)
}

// command is a task that does a command.
func (m *Model) command(c core.Command) task {
	board := m.env.Board
	return task{key: subject(c), do: func(ctx context.Context) (*core.Command, string, error) {
		receipt, err := board.Do(ctx, c)
		return receipt.Undo, "", err
	}}
}

// subject is what a command is about.
func subject(c core.Command) string {
	switch {
	case c.Patch != nil:
		return c.Patch.Session
	case c.Hold != nil:
		return holdName(*c.Hold)
	}
	return "the last command"
}

func nothingToUndo(m *Model) string {
	if len(m.undo) == 0 {
		return "nothing was done that can be taken back"
	}
	return cannotDo(m)
}

func cannotDo(m *Model) string { return m.fleet.info.Missing["do"] }
