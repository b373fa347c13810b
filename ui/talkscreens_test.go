package ui

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/ui/uitest"
)

// talkScreens are the forms, each as an operator comes to it.
func talkScreens() []struct {
	name string
	do   func(*console, *uitest.Talk)
} {
	return []struct {
		name string
		do   func(*console, *uitest.Talk)
	}{
		{"send", func(c *console, _ *uitest.Talk) { c.press("s"); c.typed("Run the tests and tell me what fails.") }},
		{"send-fields", func(c *console, _ *uitest.Talk) {
			c.press("s", "shift+tab", "ctrl+u")
			c.typed("soon")
			c.press("ctrl+s")
		}},
		{"send-long", func(c *console, _ *uitest.Talk) {
			c.press("s")
			c.send(paste(strings.Repeat("A line of a log that was pasted\twith tabs, and 会議 in it.\n", 400)))
		}},
		{"send-denied", func(c *console, b *uitest.Talk) {
			b.Foresee = func(core.MessageQuestion) (core.Explanation, error) {
				return core.Explanation{Verdict: core.Verdict{
					Rule: "rules[0]", ConfigKey: "session.sendPolicy.rules[0]", Message: "sending to discord groups is denied by rules[0] {channel: discord, chatType: group}",
				}}, nil
			}
			c.open(talkDM)
			c.press("s")
			c.typed("hello")
		}},
		{"send-waiting", func(c *console, _ *uitest.Talk) {
			c.press("s")
			c.typed("Run the tests and tell me what fails.")
			c.press("ctrl+s")
			c.elapse(time.Second)
		}},
		{"send-timeout", func(c *console, _ *uitest.Talk) {
			c.press("s")
			c.typed("Run the tests and tell me what fails.")
			c.press("ctrl+s")
			c.elapse(31 * time.Second)
			c.elapse(time.Second)
		}},
		{"send-answered", func(c *console, b *uitest.Talk) {
			c.press("s")
			c.typed("Run the tests and tell me what fails.")
			c.press("ctrl+s")
			b.End("run-1", core.OutcomeOK, "Two fail:\n\n- TestPaste, on Windows only\n- TestSuspend, since this morning")
			c.elapse(4 * time.Second)
		}},
		{"send-failed", func(c *console, b *uitest.Talk) {
			c.press("s")
			c.typed("Run the tests.")
			c.press("ctrl+s")
			b.End("run-1", core.OutcomeError, "the model mock-1 answered 500 three times: upstream overloaded")
			c.elapse(4 * time.Second)
		}},
		{"composer", func(c *console, _ *uitest.Talk) {
			c.press("enter", "C")
			c.typed("run the tests")
		}},
		{"composer-denied", func(c *console, b *uitest.Talk) {
			c.press("enter", "C")
			c.typed("run the tests")
			b.Refuse(core.Errorf(core.CodeSendDenied, "sending is denied by rules[0] {channel: discord}").Because("session.sendPolicy.rules[0]"))
			c.slowly("enter")
		}},
		{"policy", func(c *console, _ *uitest.Talk) { c.open(talkDM); c.press("p") }},
		{"policy-set", func(c *console, _ *uitest.Talk) {
			c.open(talkDM)
			c.press("p", "a")
			c.live()
		}},
		{"policy-many", func(c *console, _ *uitest.Talk) { c.press("ctrl+a", "p") }},
		{"policy-test", func(c *console, _ *uitest.Talk) { c.open(talkDM); c.press("p", "t") }},
		{"new-session", func(c *console, b *uitest.Talk) {
			b.Agents(core.AgentInfo{ID: "main", Name: "Mira", Configured: true}, core.AgentInfo{ID: "ops", Configured: true})
			b.Models("mock/one", "mock/two")
			c.press("ctrl+r", "N", "tab")
			c.typed("night watch")
		}},
		{"settings", func(c *console, b *uitest.Talk) {
			b.Models("mock/one", "mock/two")
			c.press("ctrl+r", "c", "tab", "tab", "right")
		}},
		{"delete-many", func(c *console, _ *uitest.Talk) { c.press("ctrl+a", "D") }},
		{"reply", func(c *console, b *uitest.Talk) {
			b.PutRun(core.Run{ID: "r1", SessionKey: talkOps, State: core.RunRunning, Message: "Shall I deploy 4.2 now?\n\nThe tests are green; two alerts are open."})
			b.Update(talkOps, func(h *core.Head) { h.Flags |= core.FlagAsks })
			c.live()
			c.open(talkOps)
			c.press("ctrl+y")
			c.typed("Wait for the alerts.")
		}},
		{"spawn", func(c *console, b *uitest.Talk) {
			b.Offspring = offspringOf("telegram")
			b.Models("mock/one", "mock/two")
			c.press("ctrl+r", "n")
			c.typed("Read the logs of last night and say what stands out.")
		}},
		{"spawn-fields", func(c *console, b *uitest.Talk) {
			c.press("n")
			c.typed("Read the logs.")
			c.press("tab")
			c.typed("log sweep")
			c.press("tab", "right", "tab", "tab", "tab")
			c.typed("soon")
			c.press("tab")
		}},
		{"spawn-refused", func(c *console, b *uitest.Talk) {
			b.Offspring = func(q core.SpawnQuestion) core.Explanation {
				x := offspringOf("telegram")(q)
				x.Verdict = core.Verdict{Rule: "forbidden", ConfigKey: "agents.defaults.sandbox.mode", Message: "session agent:main:main is sandboxed and a sub-agent of ops would not be"}
				x.Spawn.Confined, x.Spawn.Live = q.As, 5
				x.Spawn.Refusals = []*core.Error{core.Errorf(core.CodeForbidden, "%s", x.Verdict.Message).Because(x.Verdict.ConfigKey).About("sandbox")}
				return x
			}
			c.press("n")
			c.typed("Read the logs.")
			c.press("shift+tab", "shift+tab")
		}},
		{"spawn-files", func(c *console, b *uitest.Talk) {
			c.m.env.Outside = shelfOfFiles{}
			b.Offspring = offspringOf("telegram")
			c.press("n", "shift+tab")
			c.slowly("enter", "down", "enter")
		}},
		{"permission", func(c *console, b *uitest.Talk) {
			b.PutRun(core.Run{ID: "r1", SessionKey: talkOps, State: core.RunRunning, Kind: core.RunSend, StartedAt: noon.UnixMilli()})
			b.Ask(asking("a1", "Run rm -rf build"))
			c.live()
			c.open(talkOps)
			c.press("ctrl+y")
		}},
		{"permissions", func(c *console, b *uitest.Talk) {
			b.PutRun(core.Run{ID: "r1", SessionKey: talkOps, State: core.RunRunning, Kind: core.RunSend, StartedAt: noon.UnixMilli()})
			b.Ask(asking("a1", "Run rm -rf build"), asking("a2", "Write /srv/app/config.yaml"))
			c.live()
			c.open(talkOps)
			c.press("ctrl+y", "tab")
		}},
		{"children", func(c *console, b *uitest.Talk) {
			for _, key := range []string{broodOne, broodTwo} {
				b.Put(core.Head{Key: key, Title: key[len("agent:main:subagent:"):], Parent: talkMain, UpdatedAt: noon.UnixMilli()}, core.SessionDetail{})
			}
			b.PutRun(core.Run{ID: "r1", SessionKey: broodOne, RequesterKey: talkMain, Kind: core.RunSpawn, State: core.RunRunning, StartedAt: noon.UnixMilli()})
			b.PutRun(core.Run{ID: "r2", SessionKey: broodTwo, RequesterKey: talkMain, Kind: core.RunSpawn, State: core.RunQueued, QueuedAt: noon.UnixMilli()})
			c.live()
			c.press("K")
		}},
		{"subagent-run", func(c *console, b *uitest.Talk) {
			b.Put(core.Head{Key: broodOne, Title: "log sweep", Parent: talkMain, UpdatedAt: noon.UnixMilli()}, core.SessionDetail{})
			b.PutRun(core.Run{
				ID: "r1", SessionKey: broodOne, RequesterKey: talkMain, Kind: core.RunSpawn, State: core.RunEnded, Outcome: core.OutcomeOK, StartedAt: noon.UnixMilli(), EndedAt: noon.UnixMilli() + 9000,
				Label: "log sweep", Message: "Sweep the logs.", Result: "Two bursts of 502.", Cleanup: core.CleanupKeep,
				Spawn: &core.Spawn{Announce: core.AnnounceSent, TimeoutSeconds: 300, Route: &core.DeliveryContext{Channel: "telegram", To: "-100"}},
			})
			b.PutDelivery(core.Delivery{ID: "r1/announce", SessionKey: broodOne, RunID: "r1", State: core.DeliveryGaveUp, LastError: "the bridge is away"})
			c.live()
			c.press("r", "i")
		}},
		{"send-again", func(c *console, _ *uitest.Talk) {
			c.press("s")
			c.typed("Run the tests.")
			c.press("ctrl+s", "n")
			c.typed("Hello?")
			c.press("ctrl+s")
		}},
	}
}

// offspringOf answers for a requester in a chat of a channel.
func offspringOf(channel string) func(core.SpawnQuestion) core.Explanation {
	return func(core.SpawnQuestion) core.Explanation {
		return core.Explanation{Verdict: core.Verdict{Allowed: true, Rule: "allowAgents", ConfigKey: "agents.list[0].subagents.allowAgents"}, Spawn: &core.Offspring{
			Requester: talkMain, Agents: []string{"main", "ops", "research"}, Live: 2, Most: 5, Agent: "research", Runtime: "openai", Model: "mock/one", Thinking: "low",
			TimeoutSeconds: 300, Sandboxed: true, Announce: true, Route: &core.DeliveryContext{Channel: channel, To: "-100", AccountID: "acct2", ThreadID: "7"},
			Send: core.Verdict{Allowed: true, Rule: "default"}, MaxFiles: 50, MaxFileBytes: 1 << 20, MaxTotalBytes: 5 << 20,
		}}
	}
}

// shelfOfFiles is an Outside with a directory that is always the same.
type shelfOfFiles struct{ Outside }

func (shelfOfFiles) Files(string) (string, []FileEntry, error) {
	list := []FileEntry{{Name: "logs", Path: "/work/logs", Dir: true}}
	for name, size := range map[string]int64{"core.dump": 9 << 20, "notes.md": 90, "report.csv": 40_000, "会議.txt": 300} {
		list = append(list, FileEntry{Name: name, Path: "/work/" + name, Size: size})
	}
	slices.SortFunc(list[1:], func(a, b FileEntry) int { return strings.Compare(a.Name, b.Name) })
	return "/work", list, nil
}

func TestTalkScreens(t *testing.T) {
	for _, size := range sizes {
		for _, s := range talkScreens() {
			name := fmt.Sprintf("%s-%dx%d", s.name, size[0], size[1])
			t.Run(name, func(t *testing.T) {
				b := talkBoard()
				c := newConsole(t, b, size[0], size[1])
				c.open(talkMain)
				s.do(c, b)
				fits(t, c.view(), size[0], size[1])
				golden(t, name, c.view())
			})
		}
	}
}

// A form at every size, down to one cell, is exactly as large as the window and never falls over.
func TestFormsAtEverySize(t *testing.T) {
	for _, s := range talkScreens() {
		t.Run(s.name, func(t *testing.T) {
			b := talkBoard()
			c := newConsole(t, b, 80, 24)
			c.open(talkMain)
			s.do(c, b)
			for w := 1; w <= 200; w += 1 + w/5 {
				for h := 1; h <= 60; h += 1 + h/4 {
					c.send(windowOf(w, h))
					sound(t, c.view(), w, h)
					c.press("up", "down", "end")
					sound(t, c.view(), w, h)
				}
			}
			require.NotNil(t, c.m.top())
		})
	}
}
