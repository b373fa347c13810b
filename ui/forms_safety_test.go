package ui

import (
	"errors"
	"fmt"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/muesli/termenv"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"cordboard/core"
	"cordboard/core/proptest"
	"cordboard/themes"
	"cordboard/ui/uitest"
)

// hostileTalk is a board on which every text that a form can show is hostile.
func hostileTalk() *uitest.Talk {
	b := uitest.NewTalk("/data")
	for i, text := range hostile {
		b.Put(core.Head{Key: fmt.Sprintf("agent:main:%d%s", i, text), Title: text, Channel: text, UpdatedAt: int64(i), Flags: core.FlagAsks}, core.SessionDetail{
			Session: core.Session{Label: text, Model: text, ThinkingLevel: text},
		})
	}
	for i, text := range hostile {
		key := fmt.Sprintf("agent:main:%d%s", i, text)
		b.PutRun(core.Run{ID: text, SessionKey: key, State: core.RunRunning})
		b.Ask(core.Approval{ID: fmt.Sprint(i), Run: text, Session: key, Call: text, Title: text, Params: []byte(text), Options: []core.ApprovalOption{
			{ID: text, Name: text, Kind: "allow_once"}, {ID: "n" + text, Name: text, Kind: text},
		}})
	}
	text := func(i int) string { return hostile[i%len(hostile)] }
	b.Agents(core.AgentInfo{ID: "main", Name: text(0), Configured: true}, core.AgentInfo{ID: text(1), Configured: true})
	b.Models(text(2), text(3))
	b.Foresee = func(q core.MessageQuestion) (core.Explanation, error) {
		n := len(q.To)
		return core.Explanation{Verdict: core.Verdict{Allowed: n%2 == 0, Rule: text(n), ConfigKey: text(n + 1), Message: text(n + 2)}, Message: &core.Prospect{
			Runtime: text(n), Held: text(n + 1), Why: text(n + 2), Announce: &core.DeliveryContext{Channel: text(n), To: text(n + 1), ThreadID: text(n + 2)},
		}}, nil
	}
	b.Offspring = func(q core.SpawnQuestion) core.Explanation {
		n := len(q.As) + len(q.Params)
		return core.Explanation{Verdict: core.Verdict{Allowed: n%2 == 0, Rule: text(n), ConfigKey: text(n + 1), Message: text(n + 2)}, Spawn: &core.Offspring{
			Requester: text(n), Agents: []string{text(n), text(n + 1)}, Agent: text(n), Runtime: text(n + 1), Model: text(n + 2), Thinking: text(n), Confined: text(n),
			Announce: n%3 > 0, Route: &core.DeliveryContext{Channel: text(n), To: text(n + 1)}, Send: core.Verdict{Allowed: n%2 > 0, Rule: text(n)}, NoThread: text(n), NoFiles: text(n % 5),
			Refusals: []*core.Error{core.Errorf(core.CodeForbidden, "%s", text(n)).About([]string{"", "model", "sandbox"}[n%3]).Accept(text(n))}, Most: n, Live: n % 9,
		}}
	}
	b.Judge = func(q core.PolicyQuestion) core.Verdict {
		n := len(q.Key + q.Channel + q.Session)
		return core.Verdict{Allowed: n%2 == 0, Rule: text(n), ConfigKey: text(n + 1), Message: text(n + 2)}
	}
	return b
}

// hostileFiles has files with hostile names, and sizes of every kind.
type hostileFiles struct{ *beyond }

func (hostileFiles) Files(dir string) (string, []FileEntry, error) {
	var list []FileEntry
	for i, text := range hostile {
		list = append(list, FileEntry{Name: text, Path: "/" + text, Dir: i%3 == 0, Size: int64(i) << (4 * i)})
	}
	return dir + hostile[0], list, nil
}

func (hostileFiles) Stat(path string) (FileEntry, error) {
	return FileEntry{Name: path, Path: path}, errors.New(hostile[len(path)%len(hostile)])
}

// R146, R171: whatever is written, pasted, refused, answered and told in a form, no frame is of another size or holds a foreign escape.
func TestEveryFormIsSound(t *testing.T) {
	keys := []string{
		"s", "C", "n", "p", "N", "c", "D", "K", "ctrl+x", "ctrl+y", "enter", "esc", "tab", "shift+tab", "up", "down", "left", "right", "home", "end", "pgup",
		"pgdown", "backspace", "delete", "ctrl+s", "ctrl+w", "ctrl+u", "ctrl+k", "w", "l", "n", "y", "i", "a", "d", "t", "z", " ", "一", "5",
	}
	for _, profile := range []termenv.Profile{termenv.Ascii, termenv.TrueColor} {
		proptest.Check(t, func(rt *rapid.T) {
			b := hostileTalk()
			c := newConsole(rt, b, 80, 24)
			c.dress(themes.Dark, profile)
			c.m.env.Outside = hostileFiles{&beyond{dir: t.TempDir(), env: map[string]string{"TERM": "xterm"}}}
			for range rapid.IntRange(1, 2).Draw(rt, "sizes") {
				w, h := rapid.IntRange(1, 160).Draw(rt, "w"), rapid.IntRange(1, 50).Draw(rt, "h")
				c.send(tea.WindowSizeMsg{Width: w, Height: h})
				for range rapid.IntRange(0, 16).Draw(rt, "steps") {
					switch step := rapid.IntRange(0, 9).Draw(rt, "step"); step {
					case 0:
						c.send(paste(rapid.SampledFrom(hostile).Draw(rt, "pasted")))
					case 1:
						if sent := b.Sent(); len(sent) > 0 {
							outcome := core.OutcomeOK
							if len(sent)%2 == 0 {
								outcome = core.OutcomeError
							}
							b.End(sent[len(sent)-1].Run, outcome, rapid.SampledFrom(hostile).Draw(rt, "reply"))
						}
						c.elapse(flightTick)
					case 2:
						b.Refuse(core.Errorf(core.CodeInvalidParams, "%s", rapid.SampledFrom(hostile).Draw(rt, "refusal")).Accept(hostile[:2]...))
					case 3:
						b.Refuse(nil)
					default:
						c.slowly(rapid.SampledFrom(keys).Draw(rt, "key"))
					}
					sound(rt, c.view(), w, h)
				}
			}
		})
	}
}

// What is written is sent byte for byte, however hostile it is, once it is text at all.
func TestHostileTextIsSentAsItIs(t *testing.T) {
	for _, text := range hostile {
		b := talkBoard()
		c := newConsole(t, b, 80, 24)
		c.open(talkMain)
		c.press("s")
		c.form().area.text.set("x" + text)
		c.press("ctrl+s")
		if len(b.Sent()) == 0 {
			require.Contains(t, c.view(), "no UTF-8")
			continue
		}
		require.Equal(t, "x"+text, b.Sent()[0].Text)
	}
}
