package ui

import (
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"cordboard/core"
	"cordboard/ui/safe"
)

// outgoing is a message that is to be sent: by the operator when as is "", else as that session.
type outgoing struct {
	to, as, text string
	wait         int    // seconds to wait for the reply; 0 = not at all
	key          string // idempotency key, "" = none
	draft        string // id of the draft it was written in
}

// flight is a message that was sent from here, and what became of it. It outlives the form: the wait goes on when that is closed.
type flight struct {
	outgoing
	run   string
	at    time.Time // it was sent
	until time.Time // the reply is waited for
	state flightState
	place int // in the session's line, 0 = not known or not queued
	began bool
	end   core.Run // once it is over
	reply string
	took  time.Duration
	fault error // of the wait, while it is tried again
}

type flightState uint8

const (
	flightLeaving flightState = iota // it is handed over
	flightAwaited                    // accepted, and the reply is waited for
	flightOn                         // accepted, and nobody waits
	flightOver
)

// live reports whether the run is under way or queued, as far as is known here.
func (f *flight) live() bool { return f.state == flightAwaited || f.state == flightOn }

type (
	// sentMsg says what became of handing a message over.
	sentMsg struct {
		flight  *flight
		receipt core.Receipt
		err     error
	}
	awaitedMsg struct {
		flight *flight
		page   core.RecordPage
		err    error
	}
	awaitAgainMsg struct{ flight *flight }
	placesMsg     struct {
		flight *flight
		page   core.RecordPage
		err    error
	}
	flightTickMsg struct{}
)

const (
	flightsKept = 50
	flightTick  = time.Second
)

// launcher is the layer a message was sent from.
type launcher interface {
	// landed hears that the message was taken, or why not.
	landed(m *Model, f *flight, err error) tea.Cmd
	// shows reports whether the layer tells of a flight now.
	shows(f *flight) bool
}

// launch hands a message over. The console goes on meanwhile.
func (m *Model) launch(o outgoing) (*flight, tea.Cmd) {
	f := &flight{outgoing: o, at: m.env.Now()}
	m.flights = append(m.flights, f)
	m.flights = m.flights[max(len(m.flights)-flightsKept, 0):]
	board, ctx := m.env.Board, m.ctx
	return f, tea.Batch(m.tickFlights(), func() tea.Msg {
		receipt, err := guarded(func() (core.Receipt, error) { return o.send(ctx, board) })
		return sentMsg{f, receipt, err}
	})
}

// send is one message. As a session it does not wait: the run's end is waited for by its id, which also holds over a new owner.
func (o *outgoing) send(ctx context.Context, board core.Board) (receipt core.Receipt, err error) {
	if o.as == "" {
		return board.Do(ctx, core.Command{Key: o.key, Send: &core.Send{Session: o.to, Message: o.text}})
	}
	params, err := json.Marshal(map[string]any{"sessionKey": o.to, "message": o.text, "timeoutSeconds": 0})
	if err != nil {
		return receipt, err
	}
	result, err := board.Call(ctx, core.ToolCall{As: o.as, Tool: "sessions_send", Params: params, Key: o.key})
	if err != nil {
		return receipt, err
	}
	if result.Refused != nil {
		return receipt, result.Refused
	}
	var answer struct{ RunID, Error string }
	if err := json.Unmarshal(result.Body, &answer); err != nil {
		return receipt, err
	}
	if answer.RunID == "" {
		return receipt, core.Errorf(core.CodeInternal, "%s", firstOf(answer.Error, "sessions_send named no run"))
	}
	receipt.Run = answer.RunID
	return receipt, nil
}

func (msg sentMsg) apply(m *Model) tea.Cmd {
	f := msg.flight
	if m.ended(msg.err) {
		return nil
	}
	m.dirty, m.barsDirty = true, true
	if msg.err != nil {
		m.flights = slices.DeleteFunc(m.flights, func(each *flight) bool { return each == f })
		if l := m.launcherOf(f); l != nil {
			return l.landed(m, f, msg.err)
		}
		return m.warn("not sent to " + f.to + ": " + msg.err.Error())
	}
	if m.drafts.all[f.draft].Text == f.text {
		m.drafts.put(f.draft, draft{}) // its form may have been closed while it was handed over
	}
	if msg.receipt.Run == "" {
		return tea.Batch(msg.obeyed(m), m.rememberSoon())
	}
	f.run, f.state = msg.receipt.Run, flightOn
	var cmds []tea.Cmd
	if f.wait > 0 {
		cmds = append(cmds, m.await(f, f.wait))
	}
	if l := m.launcherOf(f); l != nil {
		cmds = append(cmds, l.landed(m, f, nil))
	}
	return tea.Batch(append(cmds, m.tickFlights(), m.rememberSoon())...)
}

// obeyed tells of a message that was a command to the session, such as /send off: it started no run.
func (msg sentMsg) obeyed(m *Model) tea.Cmd {
	f := msg.flight
	f.wait = 0
	var cmd tea.Cmd
	if l := m.launcherOf(f); l != nil {
		cmd = l.landed(m, f, nil)
	}
	m.flights = slices.DeleteFunc(m.flights, func(each *flight) bool { return each == f })
	m.said = m.nameFor(f.to) + ": " + msg.receipt.Outcome
	return cmd
}

// launcherOf is the open layer that tells of a flight.
func (m *Model) launcherOf(f *flight) launcher {
	for _, l := range slices.Backward(m.layers) {
		if from, ok := l.(launcher); ok && from.shows(f) {
			return from
		}
	}
	return nil
}

// await waits for the end of a run, for some seconds from now on.
func (m *Model) await(f *flight, wait int) tea.Cmd {
	f.state, f.until, f.fault = flightAwaited, m.env.Now().Add(time.Duration(wait)*time.Second), nil
	return tea.Batch(m.awaitCmd(f), m.tickFlights())
}

func (m *Model) awaitCmd(f *flight) tea.Cmd {
	q := core.RecordQuery{Kind: core.RecordRun, Run: f.run, Wait: max(f.until.Sub(m.env.Now()).Milliseconds(), 1)}
	return func() tea.Msg {
		page, err := guarded(func() (core.RecordPage, error) { return m.env.Board.Records(m.ctx, q) })
		return awaitedMsg{f, page, err}
	}
}

func (msg awaitedMsg) apply(m *Model) tea.Cmd {
	f := msg.flight
	if m.ended(msg.err) || f.state != flightAwaited {
		return nil
	}
	m.dirty, m.barsDirty = true, true
	f.fault = msg.err
	if msg.err == nil && len(msg.page.Runs) > 0 {
		r := msg.page.Runs[0]
		f.note(&r)
		if r.State == core.RunEnded {
			f.reply = msg.page.Reply
			return m.endFlight(f, r)
		}
	}
	if m.env.Now().Before(f.until) { // an owner that went away, or one that bounds the wait
		return m.seams.after(retryFirst, awaitAgainMsg{f})
	}
	f.state = flightOn
	if m.launcherOf(f) != nil {
		return nil
	}
	state := "running"
	if !f.began {
		state = "queued"
	}
	return m.toast("no reply yet from " + m.nameFor(f.to) + ": the run is still " + state + inBrackets(m.holding(f)) + ", its reply will be in the transcript")
}

func (msg awaitAgainMsg) apply(m *Model) tea.Cmd {
	if msg.flight.state != flightAwaited {
		return nil
	}
	return m.awaitCmd(msg.flight)
}

// note takes up how far a run is.
func (f *flight) note(r *core.Run) {
	if r.State == core.RunRunning {
		f.began, f.place = true, 0
	}
}

// endFlight tells what came of a run, where nobody looks at it in passing.
func (m *Model) endFlight(f *flight, r core.Run) tea.Cmd {
	waited := f.state == flightAwaited
	f.state, f.end, f.took, f.place = flightOver, r, m.env.Now().Sub(f.at), 0
	m.dirty, m.barsDirty = true, true
	if m.launcherOf(f) != nil {
		return nil
	}
	text := m.nameFor(f.to) + " answered" + prefixed(": ", glance(f.reply))
	tell := m.toast
	if r.Outcome != core.OutcomeOK {
		text, tell = m.nameFor(f.to)+": "+failureOf(&r), m.warn
	}
	cmds := []tea.Cmd{tell(text)}
	if ring := m.env.Notify; ring != nil && waited {
		cmds = append(cmds, func() tea.Msg { ring(safe.Line(text)); return nil })
	}
	return tea.Batch(cmds...)
}

// failureOf is how a run ended that did not end ok.
func failureOf(r *core.Run) string {
	word := map[core.RunOutcome]string{
		core.OutcomeError: "the run failed", core.OutcomeTimeout: "the run hit its own time limit", core.OutcomeAborted: "the run was stopped",
		core.OutcomeInterrupted: "the run was interrupted",
	}[r.Outcome]
	return firstOf(word, "the run ended "+string(r.Outcome)) + prefixed(": ", r.Error)
}

// nameFor is what a session is called, short. One without a title has its agent with it: every agent has a session called main.
func (m *Model) nameFor(key string) string {
	switch h := m.fleet.heads[key]; {
	case h == nil:
		return key
	case safe.Column(h.Title) != "":
		return nameOf(h)
	}
	return m.placed(key)
}

// hearFlights takes up from the stream how far runs are that were started here.
func (m *Model) hearFlights(c core.Change) tea.Cmd {
	if c.Kind != core.ChangeRun || c.Run == nil {
		return nil
	}
	for _, f := range m.flights {
		if f.run != c.ID || !f.live() {
			continue
		}
		m.dirty = true
		f.note(c.Run)
		if c.Run.State == core.RunEnded && f.state == flightOn && f.wait > 0 {
			f.state, f.until = flightAwaited, m.env.Now() // its reply is asked for, which comes at once
			return m.awaitCmd(f)
		}
		if c.Run.State == core.RunEnded && f.state == flightOn {
			f.state, f.end = flightOver, *c.Run // nobody wanted to wait for it
		}
	}
	return nil
}

// tickFlights lets the time that a message is under way run on the screen.
func (m *Model) tickFlights() tea.Cmd {
	if m.ticking || !slices.ContainsFunc(m.flights, m.ticks) {
		return nil
	}
	m.ticking = true
	return m.seams.after(flightTick, flightTickMsg{})
}

func (m *Model) ticks(f *flight) bool {
	return f.state == flightLeaving || f.state == flightAwaited || f.state == flightOn && m.launcherOf(f) != nil
}

func (flightTickMsg) apply(m *Model) tea.Cmd {
	m.ticking, m.dirty = false, true
	var cmds []tea.Cmd
	for _, f := range m.flights {
		if f.live() && !f.began && m.launcherOf(f) != nil {
			cmds = append(cmds, m.placeCmd(f))
		}
	}
	return tea.Batch(append(cmds, m.tickFlights())...)
}

// placeCmd asks where in its session's line a run is.
func (m *Model) placeCmd(f *flight) tea.Cmd {
	return func() tea.Msg {
		page, err := guarded(func() (core.RecordPage, error) {
			return m.env.Board.Records(m.ctx, core.RecordQuery{Kind: core.RecordRuns, Session: f.to})
		})
		return placesMsg{f, page, err}
	}
}

func (msg placesMsg) apply(m *Model) tea.Cmd {
	if msg.err != nil || !msg.flight.live() {
		return nil // the wait itself tells of a board that does not answer
	}
	msg.flight.place = msg.page.Positions[msg.flight.run]
	for i := range msg.page.Runs {
		if r := &msg.page.Runs[i]; r.ID == msg.flight.run {
			msg.flight.note(r)
		}
	}
	m.dirty = true
	return nil
}

// liveTo is the newest message from here to a session whose run is still under way, nil when there is none.
func (m *Model) liveTo(key string) *flight {
	for _, f := range slices.Backward(m.flights) {
		if f.to == key && f.live() {
			return f
		}
	}
	return nil
}

// tookOf is how long something took, as people say it.
func tookOf(d time.Duration) string {
	if d < 10*time.Second {
		return strconv.FormatFloat(max(d.Seconds(), 0), 'f', 1, 64) + " s"
	}
	return d.Round(time.Second).String()
}

// taken is how far the message has come, where the run has not ended.
func (f *flight) taken() string {
	if f.began {
		return "was delivered"
	}
	return "was accepted"
}

// holding is what keeps a message from being worked on, "" when nothing does.
func (m *Model) holding(f *flight) string {
	if !f.live() || f.began {
		return ""
	}
	return m.heldBy(f.to)
}

// standing is how a live flight stands, as part of a sentence.
func (f *flight) standing(now time.Time) string {
	since := seconds(int(now.Sub(f.at).Seconds()))
	if f.began {
		return "is still running, " + since + " after it was sent"
	}
	return "is still queued, " + since + " after it was sent"
}

// status is a flight in a line.
func (f *flight) status(now time.Time) string {
	elapsed := seconds(int(now.Sub(f.at).Seconds()))
	switch {
	case f.state == flightLeaving:
		return "handing it over · " + elapsed
	case f.state == flightOver && f.end.Outcome == core.OutcomeOK:
		return "✓ answered after " + tookOf(f.took)
	case f.state == flightOver:
		return "✗ " + failureOf(&f.end)
	}
	text := "◌ queued"
	if f.place > 1 {
		text = "◌ queued, " + plural(f.place-1, "run") + " before it"
	}
	if f.began {
		text = "● running"
	}
	if f.state == flightOn {
		return "still " + text[len("● "):] + " after " + elapsed
	}
	return text + " · " + elapsed + " of " + seconds(int(f.until.Sub(f.at).Round(time.Second).Seconds()))
}
