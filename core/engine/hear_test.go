package engine_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cordboard/core"
	"cordboard/core/proptest"
)

// puppet is a runtime whose turns the test plays itself, one after the other.
type puppet chan func(ctx context.Context, out core.Sink) error

func (p puppet) Turn(ctx context.Context, _ core.Turn, out core.Sink) (core.TurnResult, error) {
	return core.TurnResult{}, (<-p)(ctx, out)
}

// speak runs a test on a stage whose agents say what the test says.
func speak(t *testing.T, configText string, keys []string, fn func(t *testing.T, s *stage, say puppet)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		say := make(puppet, 1)
		s := &stage{dir: t.TempDir(), config: configText, runtime: say}
		s.open(t)
		defer s.close()
		for i, key := range keys {
			s.put(core.Session{Key: key, SessionID: "sid" + string(rune('0'+i)), UpdatedAt: 1})
		}
		fn(t, s, say)
	})
}

// listener reads a session as the contract says: its page, then deltas, and the page anew when one does not fit.
type listener struct {
	t       require.TestingT
	board   core.Board
	stream  core.Stream
	session string

	partial *core.Partial
	lines   []string // of the agent, as the transcript has them
	reads   int
}

func listen(t require.TestingT, board core.Board, session string) *listener {
	stream, err := board.Watch(context.Background(), core.Cursor{})
	require.NoError(t, err)
	l := &listener{t: t, board: board, stream: stream, session: session}
	l.read()
	return l
}

func (l *listener) read() {
	page, err := l.board.Messages(context.Background(), core.MessageQuery{Session: l.session, Limit: 5000})
	require.NoError(l.t, err)
	l.partial, l.lines = page.Partial, nil
	l.reads++
	for _, m := range page.Messages {
		if m.Role == core.RoleAssistant {
			l.lines = append(l.lines, said(m))
		}
	}
}

func said(m core.Message) string {
	text := ""
	for b := range core.Blocks(m.Raw) {
		if b.Type == "text" {
			text += b.Text
		}
	}
	return text
}

// hear takes a batch in.
func (l *listener) hear(batch core.Batch) {
	for _, c := range batch.Changes {
		if c.Kind == core.ChangeMessages {
			l.read()
		}
	}
	for _, d := range batch.Deltas {
		if d.Session != l.session {
			continue
		}
		p := l.partial
		if d.Offset == 0 && (p == nil || p.Run != d.Run || p.After < d.After) {
			p = &core.Partial{Run: d.Run, After: d.After}
		}
		switch {
		case p == nil || p.Run != d.Run || p.After != d.After:
			l.read()
		case d.Thought && d.Offset <= len(p.Thought):
			p.Thought += beyond(d, p.Thought)
			l.partial = p
		case !d.Thought && d.Offset <= len(p.Text):
			p.Text += beyond(d, p.Text)
			l.partial = p
		default:
			l.read()
		}
	}
}

// beyond is what of a delta a reader does not have yet.
func beyond(d core.Delta, had string) string {
	return d.Text[min(len(had)-d.Offset, len(d.Text)):]
}

func (l *listener) next() core.Batch {
	batch, err := l.stream.Next(context.Background())
	require.NoError(l.t, err)
	l.hear(batch)
	return batch
}

// until reads on until something holds.
func (l *listener) until(holds func() bool) {
	for !holds() {
		l.next()
	}
}

// A reply in a thousand pieces comes as at most 30 batches a second, each piece once and in order, and nothing of it after its line.
func TestTextIsMergedToThirtyHertz(t *testing.T) {
	speak(t, "", []string{"agent:main:main"}, func(t *testing.T, s *stage, say puppet) {
		l := listen(t, s.as(""), "agent:main:main")
		require.NoError(t, l.stream.Focus("agent:main:main"))
		say <- func(ctx context.Context, out core.Sink) error {
			for range 1000 {
				if err := out.Text("ab"); err != nil {
					return err
				}
				if err := sleep(ctx, 2*time.Millisecond); err != nil {
					return err
				}
			}
			return nil
		}
		s.send("main", "speak")
		told, length, ended := []time.Time{}, 0, false
		for !ended {
			batch := l.next()
			for _, d := range batch.Deltas {
				assert.Equal(t, length, d.Offset)
				length += len(d.Text)
				assert.False(t, ended, "text after its line")
			}
			if len(batch.Deltas) > 0 {
				told = append(told, time.Now())
			}
			ended = len(l.lines) > 0
		}
		for i := 1; i < len(told); i++ {
			assert.GreaterOrEqual(t, told[i].Sub(told[i-1]), time.Second/30)
		}
		assert.Greater(t, len(told), 50, "two seconds of text")
		assert.GreaterOrEqual(t, length, 1900)
		assert.Equal(t, strings.Repeat("ab", 1000), l.lines[0])
		assert.Nil(t, l.partial)
		assert.Equal(t, 3, l.reads, "the first page, the message, the answer: no delta was missed")
	})
}

// A commit does not wait for the time of the text.
func TestACommitDoesNotWaitForText(t *testing.T) {
	speak(t, "", []string{"agent:main:main", "agent:ops:main"}, func(t *testing.T, s *stage, say puppet) {
		l := listen(t, s.as(""), "agent:main:main")
		require.NoError(t, l.stream.Focus("agent:main:main"))
		more, over := make(chan string), make(chan struct{})
		say <- func(_ context.Context, out core.Sink) error {
			for text := range more {
				if err := out.Text(text); err != nil {
					return err
				}
			}
			<-over
			return nil
		}
		s.send("main", "speak")
		more <- "one"
		for len(l.next().Deltas) == 0 {
		}
		more <- " two" // may be told in 33 ms
		close(more)
		synctest.Wait()
		began := time.Now()
		s.say("agent:ops:main", `{"role":"user","content":"now"}`)
		batch := l.next()
		assert.NotEmpty(t, batch.Changes)
		assert.Empty(t, batch.Deltas)
		assert.Less(t, time.Since(began), 20*time.Millisecond)
		assert.Equal(t, " two", l.next().Deltas[0].Text)
		close(over)
		l.until(func() bool { return len(l.lines) == 1 })
	})
}

// A focus taken in the middle of a reply is told where it stands, so that the partial is read; what is said from then on fits it.
func TestFocusInTheMiddle(t *testing.T) {
	speak(t, "", []string{"agent:main:main"}, func(t *testing.T, s *stage, say puppet) {
		over := make(chan struct{})
		say <- func(_ context.Context, out core.Sink) error {
			_ = out.Think("hm")
			_ = out.Text("begun é"[:7]) // in the middle of a character
			<-over
			return out.Text("é"[1:] + " and ended")
		}
		s.send("main", "speak")
		synctest.Wait()
		l := listen(t, s.as(""), "agent:main:main")
		assert.Equal(t, &core.Partial{Run: "n1", After: 1, Text: "begun ", Thought: "hm"}, l.partial)
		l.partial = nil
		require.NoError(t, l.stream.Focus("agent:main:main"))
		batch := l.next()
		require.Len(t, batch.Deltas, 2)
		assert.Equal(t, core.Delta{Session: "agent:main:main", Run: "n1", After: 1, Offset: 2, Thought: true}, batch.Deltas[0])
		assert.Equal(t, core.Delta{Session: "agent:main:main", Run: "n1", After: 1, Offset: 6}, batch.Deltas[1])
		assert.Equal(t, "begun ", l.partial.Text)
		page, err := l.board.Messages(t.Context(), core.MessageQuery{Session: "main", Redact: true, Limit: 1})
		require.NoError(t, err)
		assert.Equal(t, "begun ", page.Partial.Text)
		close(over)
		l.until(func() bool { return len(l.lines) == 1 })
		assert.Equal(t, "begun é and ended", l.lines[0])
		assert.Nil(t, l.partial)
	})
}

// After a tool call the partial begins anew; what was said before it is heard until its line is there, and never beside it.
func TestThePartialBeginsAnewAfterAToolCall(t *testing.T) {
	speak(t, "", []string{"agent:main:main"}, func(t *testing.T, s *stage, say puppet) {
		l := listen(t, s.as(""), "agent:main:main")
		require.NoError(t, l.stream.Focus("agent:main:main"))
		over := make(chan struct{})
		say <- func(ctx context.Context, out core.Sink) error {
			_ = out.Text("let me look")
			if _, _, err := out.Call(ctx, "c1", "sessions_list", json.RawMessage(`{}`)); err != nil {
				return err
			}
			_ = out.Text("found")
			<-over
			return out.Text(" it")
		}
		s.send("main", "speak")
		for l.partial == nil || l.partial.Text != "found" {
			l.next()
			if l.partial != nil && len(l.lines) > 0 {
				assert.NotContains(t, l.partial.Text, "let me")
			}
		}
		assert.Equal(t, []string{"let me look"}, l.lines)
		assert.Equal(t, uint64(3), l.partial.After, "message, call, result")
		close(over)
		l.until(func() bool { return len(l.lines) == 2 })
		assert.Equal(t, "found it", l.lines[1])
	})
}

// A session hears nothing of what it may not see, and what is not focused is not told to anybody.
func TestTextKeepsToScopeAndFocus(t *testing.T) {
	speak(t, "", []string{"agent:main:main", "agent:ops:main"}, func(t *testing.T, s *stage, say puppet) {
		outside := listen(t, s.as("agent:ops:main"), "agent:ops:main")
		require.NoError(t, outside.stream.Focus("agent:main:main"))
		careless := listen(t, s.as(""), "agent:main:main")
		own := listen(t, s.as("agent:main:main"), "agent:main:main")
		require.NoError(t, own.stream.Focus("agent:main:main"))
		say <- func(_ context.Context, out core.Sink) error { return out.Text("a secret") }
		run := s.send("main", "speak")
		s.await(run)
		s.say("agent:ops:main", `{"role":"user","content":"done"}`)
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		for _, l := range []*listener{outside, careless} {
			for {
				batch, err := l.stream.Next(ctx)
				if err != nil {
					break
				}
				assert.Empty(t, batch.Deltas)
			}
		}
		own.until(func() bool { return len(own.lines) == 1 })
		require.Error(t, own.stream.Focus(make([]string, core.MaxFocus+1)...))
		for _, l := range []*listener{outside, careless, own} {
			require.NoError(t, l.stream.Close())
			require.NoError(t, l.stream.Focus("agent:main:main"), "a closed stream hears nothing more")
		}
	})
}

// A stream that nobody reads holds no runtime up.
func TestASlowListenerHoldsNobodyUp(t *testing.T) {
	speak(t, "", []string{"agent:main:main"}, func(t *testing.T, s *stage, say puppet) {
		l := listen(t, s.as(""), "agent:main:main")
		require.NoError(t, l.stream.Focus("agent:main:main"))
		say <- func(_ context.Context, out core.Sink) error {
			for range 100_000 {
				if err := out.Text("x"); err != nil {
					return err
				}
			}
			return nil
		}
		_, reply := s.await(s.send("main", "speak"))
		assert.Len(t, reply, 100_000)
	})
}

// However a reply is cut into pieces and its deltas are read, with the focus taken and left at any time, a reader who goes by the contract
// ends with what the transcript holds, and at no time shows what was not said.
func TestPartialAndDeltasGiveTheText(t *testing.T) {
	proptest.Check(t, func(r *rapid.T) {
		pieces := rapid.SliceOfN(rapid.SampledFrom([]string{"word ", "é", "\xc3", "\xa9", "会", "\xff", "\n\n```go\n", "👍", "", "call", "think"}), 1, 30).Draw(r, "pieces")
		pauses := rapid.SliceOfN(rapid.IntRange(0, 50), len(pieces), len(pieces)).Draw(r, "pauses")
		moves := rapid.SliceOfN(rapid.SampledFrom([]string{"read", "read", "focus", "leave", "page"}), 0, 40).Draw(r, "moves")
		failed := &failures{}
		speak(t, "", []string{"agent:main:main"}, func(t *testing.T, s *stage, say puppet) {
			defer func() { _ = recover() }() // of failures
			hearIn(failed, s, say, pieces, pauses, moves)
		})
		require.Empty(r, failed.told)
	})
}

// failures takes what fails inside a bubble out of it: rapid cannot be told there.
type failures struct{ told []string }

func (f *failures) Errorf(format string, args ...any) {
	f.told = append(f.told, fmt.Sprintf(format, args...))
}

func (f *failures) FailNow() { panic(f) }

func hearIn(t require.TestingT, s *stage, say puppet, pieces []string, pauses []int, moves []string) {
	l := listen(t, s.as(""), "agent:main:main")
	defer l.stream.Close()
	say <- speech(pieces, pauses)
	run := s.send("main", "speak")
	hear := func(patience time.Duration) bool {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		batch, err := l.stream.Next(ctx)
		if err == nil {
			l.hear(batch)
		}
		return err == nil
	}
	for _, move := range moves {
		switch move {
		case "focus":
			require.NoError(t, l.stream.Focus("agent:main:main"))
		case "leave":
			require.NoError(t, l.stream.Focus())
		case "page":
			l.read()
		default:
			hear(20 * time.Millisecond)
		}
		if l.partial != nil {
			require.True(t, strings.HasPrefix(wholly(pieces), strings.Join(l.lines, "")+l.partial.Text), "%q %q", l.lines, l.partial.Text)
		}
	}
	s.await(run)
	for hear(time.Second) {
	}
	require.Nil(t, l.partial)
	require.Equal(t, wholly(pieces), strings.Join(l.lines, ""))
}

// speech says pieces with pauses of ms between them; "call" calls a tool and "think" thinks.
func speech(pieces []string, pauses []int) func(ctx context.Context, out core.Sink) error {
	return func(ctx context.Context, out core.Sink) error {
		for i, piece := range pieces {
			var err error
			switch piece {
			case "call":
				_, _, err = out.Call(ctx, "c", "agents_list", json.RawMessage(`{}`))
			case "think":
				err = out.Think("hm ")
			default:
				err = out.Text(piece)
			}
			if err == nil {
				err = sleep(ctx, time.Duration(pauses[i])*time.Millisecond)
			}
			if err != nil {
				return err
			}
		}
		return nil
	}
}

// wholly is what the pieces say: characters may be cut anywhere but at a tool call, and bytes that are none are replaced.
func wholly(pieces []string) string {
	all, part := "", ""
	for _, piece := range append(pieces, "call") {
		switch piece {
		case "think":
		case "call":
			all += replaced(part)
			part = ""
		default:
			part += piece
		}
	}
	return all
}

func replaced(text string) string {
	var out strings.Builder
	for _, r := range text {
		out.WriteRune(r)
	}
	return out.String()
}
