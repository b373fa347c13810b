package host_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/core/host"
)

// kills is how often TestKilledExchanges kills the owner: `go test ./core/host -run TestKilledExchanges -kills 200` is the long run.
var kills = flag.Int("kills", 6, "how often the owner of running exchanges is killed")

// journal is a webhook that keeps every body under its key and takes its time, so that owners die in the middle of attempts.
type journal struct {
	mu     sync.Mutex
	random *rand.Rand
	bodies map[string]map[string]int // key → body → how often
	server *httptest.Server
}

func newJournal(t *testing.T) *journal {
	j := &journal{random: rand.New(rand.NewPCG(7, 7)), bodies: map[string]map[string]int{}}
	j.server = httptest.NewServer(j)
	t.Cleanup(j.server.Close)
	return j
}

func (j *journal) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return // the owner was killed while it wrote
	}
	j.mu.Lock()
	key := r.Header.Get("Idempotency-Key")
	if j.bodies[key] == nil {
		j.bodies[key] = map[string]int{}
	}
	j.bodies[key][string(body)]++
	wait := time.Duration(j.random.IntN(15)) * time.Millisecond
	j.mu.Unlock()
	select {
	case <-time.After(wait):
	case <-r.Context().Done():
	}
}

// laboratory is a store whose sessions talk to each other and to three chats: one behind the journal, one that is an outbox, one behind a
// command that writes down what it is given.
type laboratory struct {
	t        *testing.T
	options  host.Options
	journal  *journal
	written  string // file of the command: a delivery id a line
	sessions []string

	mu   sync.Mutex
	sent map[string]string // exchange id → the name in its texts
}

func newLaboratory(t *testing.T) *laboratory {
	l := &laboratory{t: t, journal: newJournal(t), sent: map[string]string{}}
	l.options = place(t)
	l.written = filepath.Join(t.TempDir(), "written")
	require.NoError(t, os.WriteFile(l.written, nil, 0o600)) // rounds may end before the command was run at all
	l.options.ConfigPath = filepath.Join(t.TempDir(), "config.json5")
	require.NoError(t, os.WriteFile(l.options.ConfigPath, []byte(`{
		tools: { sessions: { visibility: "all" } },
		session: { agentToAgent: { maxPingPongTurns: 2 } },
		channels: {
			chat: { type: "webhook", url: "`+l.journal.server.URL+`" },
			line: { type: "exec", command: ["/bin/sh", "-c", "cat >/dev/null; echo $CORDBOARD_DELIVERY_ID >> `+l.written+`"] },
		},
	}`), 0o600))
	h, err := host.Own(t.Context(), l.options)
	require.NoError(t, err)
	require.NoError(t, h.Close())
	b := attached(t, l.options)
	for _, channel := range []string{"chat", "paper", "line"} {
		for i := range 2 {
			receipt, err := b.Do(t.Context(), core.Command{Inbound: &core.Inbound{
				Channel: channel, ChatType: core.ChatGroup, ID: fmt.Sprint("g", i), Text: "[[say:]]",
			}})
			require.NoError(t, err)
			_, _, err = wait(t.Context(), b, receipt.Run)
			require.NoError(t, err)
			l.sessions = append(l.sessions, receipt.Key)
		}
	}
	return l
}

// patiently asks again where a client gave up, because one owner after the other died on it.
func patiently[A any](ask func() (A, error)) (A, error) {
	for {
		answer, err := ask()
		if core.CodeOf(err) != core.CodeUnsupported {
			return answer, err
		}
	}
}

// send begins exchanges until ctx ends: round 1, two turns and an announce, each a few milliseconds long and with a text of its own.
func (l *laboratory) send(ctx context.Context, b core.Board, sender int) {
	for n := 0; ctx.Err() == nil; n++ {
		from, to := l.sessions[(sender+n)%len(l.sessions)], l.sessions[(sender+3*n+1)%len(l.sessions)]
		if from == to {
			continue
		}
		name := fmt.Sprintf("s%d-%d", sender, n)
		message := fmt.Sprintf("[[sleep:2]][[say:[[sleep:2]][[say:[[sleep:2]]c-%s]] b-%s]][[announce:told-%s]]", name, name, name)
		params, err := json.Marshal(map[string]any{"sessionKey": to, "message": message, "timeoutSeconds": n % 2})
		if !assert.NoError(l.t, err) {
			return
		}
		result, err := patiently(func() (core.ToolResult, error) {
			return b.Call(l.t.Context(), core.ToolCall{As: from, Tool: "sessions_send", Params: params, Key: name})
		})
		if err == nil && result.Refused != nil && result.Refused.Code == core.CodeHopLimit {
			continue // the session had a live run, whose chain is long enough
		}
		var answer struct{ RunID, ExchangeID string }
		if !assert.NoError(l.t, err) || !assert.NoError(l.t, json.Unmarshal(result.Body, &answer)) || !assert.NotEmpty(l.t, answer.RunID, "%s", result.Body) {
			return
		}
		if answer.ExchangeID == "" { // an end that is not ok names its run only
			run, err := patiently(func() (core.Run, error) {
				run, _, err := wait(l.t.Context(), b, answer.RunID)
				return run, err
			})
			if !assert.NoError(l.t, err) {
				return
			}
			answer.ExchangeID = run.ExchangeID
		}
		l.mu.Lock()
		l.sent[answer.ExchangeID] = name
		l.mu.Unlock()
	}
}

// kill waits for a new owner, checks that it began with nothing left running, and kills it at a random moment.
func (l *laboratory) kill(b core.Board, random *rand.Rand) {
	info, err := patiently(func() (core.Info, error) { return b.Info(l.t.Context()) })
	require.NoError(l.t, err)
	page, err := b.Records(l.t.Context(), core.RecordQuery{Kind: core.RecordRuns, Limit: 10000})
	require.NoError(l.t, err)
	for _, run := range page.Runs {
		if run.State == core.RunRunning {
			require.Equal(l.t, info.Owner, run.Owner, "a row says running, and who ran it is dead")
		}
	}
	time.Sleep(time.Duration(random.IntN(60)) * time.Millisecond) // the moment is the point, not the length
	killed(l.t, l.options)
}

// Owners die at random moments of running exchanges. Nothing that was accepted is lost, no step happens twice, nobody hears a text that was
// not announced, the webhook gets each text under one key with the same bytes, and no command is run twice for one.
func TestKilledExchanges(t *testing.T) {
	rounds := *kills
	if testing.Short() {
		rounds = min(rounds, 3)
	}
	l := newLaboratory(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var senders sync.WaitGroup
	for sender := range 6 {
		b := attached(t, l.options)
		senders.Go(func() { l.send(ctx, b, sender) })
	}
	random := rand.New(rand.NewPCG(3, uint64(rounds)))
	b := attached(t, l.options)
	for range rounds {
		l.kill(b, random)
	}
	cancel()
	senders.Wait()
	l.settled(b)
	states := map[string]int{}
	deliveries := l.exchanges(b, states)
	l.transcripts(b)
	l.texts(b, deliveries)
	t.Log(len(l.sent), "exchanges over", rounds, "kills:", states, len(l.journal.bodies), "keys at the webhook, attempts more than once:", l.journal.repeated())
	require.NoError(t, b.Close())
	_, err := host.Stop(t.Context(), l.options)
	require.NoError(t, err)
	report, err := host.Doctor(t.Context(), l.options)
	require.NoError(t, err)
	assert.Empty(t, report.Findings)
}

func (j *journal) repeated() (n int) {
	for _, bodies := range j.bodies {
		for _, times := range bodies {
			n += min(1, times-1)
		}
	}
	return n
}

// settled waits until every exchange is over and every text has its fate.
func (l *laboratory) settled(b core.Board) {
	stream, err := b.Watch(l.t.Context(), core.Cursor{})
	require.NoError(l.t, err)
	defer stream.Close()
	for {
		page, err := b.Records(l.t.Context(), core.RecordQuery{Kind: core.RecordExchanges, Limit: 10000})
		require.NoError(l.t, err)
		texts, err := b.Records(l.t.Context(), core.RecordQuery{Kind: core.RecordDeliveries, Limit: 10000})
		require.NoError(l.t, err)
		open := 0
		for _, x := range page.Exchanges {
			if x.State == core.ExchangePrimary || x.State == core.ExchangeLooping || x.State == core.ExchangeAnnouncing {
				open++
			}
		}
		for _, d := range texts.Deliveries {
			if d.State == core.DeliveryPending || d.State == core.DeliveryAttempting {
				open++
			}
		}
		if open == 0 {
			return
		}
		_, err = stream.Next(l.t.Context())
		require.NoError(l.t, err)
	}
}

// exchanges looks at every exchange with its runs, and returns the texts that must have been announced, by delivery id.
func (l *laboratory) exchanges(b core.Board, states map[string]int) map[string]string {
	page, err := b.Records(l.t.Context(), core.RecordQuery{Kind: core.RecordExchanges, Limit: 10000})
	require.NoError(l.t, err)
	assert.Len(l.t, page.Exchanges, len(l.sent), "what was accepted, once each")
	announced := map[string]string{}
	for _, x := range page.Exchanges {
		name, ok := l.sent[x.ID]
		require.True(l.t, ok, x.ID)
		states[string(x.State)+" "+x.Reason]++
		detail, err := b.Records(l.t.Context(), core.RecordQuery{Kind: core.RecordExchange, ID: x.ID})
		require.NoError(l.t, err)
		if text := l.steps(detail.Exchange, name); text != "" {
			announced[x.ID+"/announce"] = text
		}
	}
	return announced
}

// steps checks the runs of one exchange: round 1 at the target, then the requester and the target in turn, then the announce, each ended;
// a step that was interrupted ends the loop. It returns the text that was announced.
func (l *laboratory) steps(x *core.ExchangeDetail, name string) string {
	t := l.t
	last, turns := core.Run{}, 0
	for i, step := range x.Steps {
		run := step.Run
		require.Equal(t, core.RunEnded, run.State, run.ID)
		if run.Outcome != core.OutcomeOK {
			require.Equal(t, core.OutcomeInterrupted, run.Outcome, "%s %s", run.ID, run.Error)
			require.True(t, i == len(x.Steps)-1 || x.Steps[i+1].Run.Kind == core.RunAnnounce, "nothing but an announce follows an interrupted step")
		}
		speaker := x.TargetKey
		if run.Kind == core.RunTurn {
			if turns++; turns%2 == 1 {
				speaker = x.RequesterKey
			}
		}
		require.Equal(t, speaker, run.SessionKey, run.ID)
		last = run
	}
	require.NotEmpty(t, x.Steps)
	switch {
	case last.Outcome != core.OutcomeOK:
		assert.Equal(t, core.ExchangeFailed, x.State, "%s after %s", x.ID, last.ID)
		assert.NotEqual(t, core.RunTurn, last.Kind, "the announce follows an interrupted turn")
		return ""
	case turns == 2 && x.Reason == "turns":
		assert.Equal(t, "[[sleep:2]]c-"+name, x.Steps[1].Reply)
		assert.Equal(t, "c-"+name, x.Steps[2].Reply)
	default:
		assert.Equal(t, "interrupted", x.Reason, x.ID)
	}
	assert.Equal(t, core.ExchangeDone, x.State, x.ID)
	assert.Equal(t, core.RunAnnounce, last.Kind)
	return "told-" + name
}

// transcripts checks that each reads u a u a, with one message for each run that began.
func (l *laboratory) transcripts(b core.Board) {
	for _, session := range l.sessions {
		runs, err := b.Records(l.t.Context(), core.RecordQuery{Kind: core.RecordRuns, Session: session, Limit: 10000})
		require.NoError(l.t, err)
		begun := map[uint64]string{}
		for _, run := range runs.Runs {
			require.Equal(l.t, core.RunEnded, run.State)
			if run.FirstSeq > 0 {
				begun[run.FirstSeq] = run.ID
			}
		}
		last, seen := core.RoleAssistant, 0
		for after, more := uint64(0), true; more; {
			page, err := b.Messages(l.t.Context(), core.MessageQuery{Session: session, Oldest: true, After: after})
			require.NoError(l.t, err)
			for _, m := range page.Messages {
				require.NotEqual(l.t, last, m.Role, "%s #%d", session, m.Seq)
				if last, after = m.Role, m.Seq; m.Role == core.RoleUser {
					require.NotEmpty(l.t, begun[m.Seq], "message #%d of %s belongs to no run", m.Seq, session)
					seen++
				}
			}
			more = page.More
		}
		assert.Equal(l.t, core.RoleAssistant, last)
		assert.Equal(l.t, len(begun), seen, session)
	}
}

// texts checks that people were told what was announced and nothing else: one row each, in the outbox once, at the webhook under one key with
// the same bytes however often it was attempted.
func (l *laboratory) texts(b core.Board, announced map[string]string) {
	page, err := b.Records(l.t.Context(), core.RecordQuery{Kind: core.RecordDeliveries, Limit: 10000})
	require.NoError(l.t, err)
	l.journal.mu.Lock()
	defer l.journal.mu.Unlock()
	raw, err := os.ReadFile(l.written)
	require.NoError(l.t, err)
	posted, unknown := 0, 0
	for _, d := range page.Deliveries {
		assert.Equal(l.t, announced[d.ID], d.Text, d.ID)
		if d.Route.Channel == "line" {
			times := strings.Count(string(raw), d.ID+"\n")
			if d.State == core.DeliveryUnknown {
				unknown++
				assert.LessOrEqual(l.t, times, 1, "%s: nobody but the operator repeats it", d.ID)
				continue
			}
			assert.Equal(l.t, 1, times, d.ID)
		}
		assert.Equal(l.t, core.DeliveryDelivered, d.State, d.ID)
		if d.Route.Channel == "line" {
			continue
		}
		if d.Route.Channel == "paper" {
			assert.Zero(l.t, d.Attempts)
			assert.NotContains(l.t, l.journal.bodies, d.ID)
			continue
		}
		posted++
		assert.Len(l.t, l.journal.bodies[d.ID], 1, "%s: one key, the same bytes", d.ID)
		for body := range l.journal.bodies[d.ID] {
			assert.True(l.t, strings.Contains(body, `"text":"`+d.Text+`"`), body)
		}
	}
	assert.Len(l.t, page.Deliveries, len(announced))
	assert.Len(l.t, l.journal.bodies, posted)
	l.t.Log(strings.Count(string(raw), "\n"), "texts by the command, of unknown fate:", unknown)
}
