package storetest

import (
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"cordboard/core"
)

func ptr[T any](v T) *T { return &v }

var sessionCases = []testCase{
	{"a row comes back as it was put", func(h *harness) {
		full := core.Session{
			Key: "agent:main:discord:group:1", SessionID: "s", CreatedAt: 1, UpdatedAt: 2, ChatType: core.ChatGroup, Channel: "discord",
			Label: "<b>&\u2028", DisplayName: "한국어", SpawnedBy: "agent:main:main", SpawnDepth: 1, Model: "m", ModelProvider: "p",
			ContextTokens: ptr(int64(0)), TotalTokens: ptr(int64(5)), TokensStale: true, ThinkingLevel: "high", VerboseLevel: "on",
			SystemSent: ptr(false), AbortedLastRun: ptr(true), SendPolicy: core.SendDeny, LastChannel: "slack", LastTo: "t",
			LastAccountID: "a", LastThreadID: "th", Delivery: core.DeliveryContext{Channel: "c", To: "t", AccountID: "a", ThreadID: "x"},
			LiveRun: "r", LastOutcome: core.OutcomeError, ArchivedAt: 3, Source: "/src",
		}
		h.putSessions(full, core.Session{Key: "bare"})
		h.reopen()
		h.view(func(r core.Reader) {
			for _, want := range []core.Session{full, {Key: "bare"}} {
				got, ok, err := r.Session(want.Key)
				h.NoError(err)
				h.True(ok)
				h.Equal(want, got)
			}
			_, ok, err := r.Session("absent")
			h.NoError(err)
			h.False(ok)
			_, ok, err = r.Head("absent")
			h.NoError(err)
			h.False(ok)
		})
	}},
	{"keys are bounded and kept byte for byte", func(h *harness) {
		for _, bad := range []string{"", strings.Repeat("k", core.MaxKeyBytes+1), "a\x00b", "a\xffb"} {
			h.refuse(core.CodeInvalidParams, func(tx core.Tx) error { return tx.PutSession(core.Session{Key: bad}) })
			h.refuse(core.CodeInvalidParams, func(tx core.Tx) error { return tx.PutEntry(bad, []byte(`{}`)) })
			h.refuse(core.CodeInvalidParams, func(tx core.Tx) error { return tx.PutRun(core.Run{ID: "r", SessionKey: bad}) })
		}
		long := strings.Repeat("k", core.MaxKeyBytes)
		h.putSessions(core.Session{Key: long, UpdatedAt: 3, SpawnedBy: long[1:] + "p"}, core.Session{Key: "!AbC:s", UpdatedAt: 2},
			core.Session{Key: "!abc:s", UpdatedAt: 1})
		h.Equal([]string{long, "!AbC:s", "!abc:s"}, keysOf(h.heads()), "R065: case makes another session")
	}},
	{"a row that grows without bound is refused", func(h *harness) {
		h.refuse(core.CodeInvalidParams, func(tx core.Tx) error {
			return tx.PutSession(core.Session{Key: "a", Label: strings.Repeat("l", 10_000)})
		})
	}},
	{"heads are newest first, ties by key", func(h *harness) {
		h.putSessions(
			core.Session{Key: "b", UpdatedAt: 5}, core.Session{Key: "a", UpdatedAt: 5}, core.Session{Key: "ab", UpdatedAt: 5},
			core.Session{Key: "z", UpdatedAt: math.MaxInt64}, core.Session{Key: "y", UpdatedAt: 0}, core.Session{Key: "x", UpdatedAt: -7},
		)
		h.Equal([]string{"z", "a", "ab", "b", "y", "x"}, keysOf(h.heads()))
		h.view(func(r core.Reader) {
			for _, c := range []struct {
				after core.HeadCursor
				want  []string
			}{
				{core.HeadCursor{UpdatedAt: 5, Key: "a"}, []string{"ab", "b", "y", "x"}},
				{core.HeadCursor{UpdatedAt: 5, Key: "aa"}, []string{"ab", "b", "y", "x"}},
				{core.HeadCursor{UpdatedAt: 5}, []string{"a", "ab", "b", "y", "x"}},
				{core.HeadCursor{UpdatedAt: 0, Key: "y"}, []string{"x"}},
				{core.HeadCursor{UpdatedAt: -7, Key: "x"}, []string{}},
			} {
				h.Equal(c.want, keysOf(h.headsAfter(r, c.after)), "after %v", c.after)
			}
			seen := 0
			h.NoError(r.Heads(core.HeadCursor{}, func(*core.Head) bool {
				seen++
				return seen < 2
			}))
			h.Equal(2, seen, "false stops the walk")
		})
	}},
	{"a moved row has one head", func(h *harness) {
		for at := range int64(5) {
			h.putSessions(core.Session{Key: "a", UpdatedAt: at % 3, SpawnedBy: fmt.Sprint("p", at%2)})
			h.Len(h.heads(), 1)
			h.Equal(at%3, h.head("a").UpdatedAt)
		}
		h.view(func(r core.Reader) {
			h.Equal([]string{"a"}, h.contentOf(r, universe{keys: []string{"p0", "p1"}}).Children["p0"])
			h.Empty(h.contentOf(r, universe{keys: []string{"p0", "p1"}}).Children["p1"])
		})
	}},
	{"kinds and channels of heads", headKinds},
	{"flags of heads", headFlags},
	{"a long parent is read from the row, a long title is cut between characters", longHeads},
	{"children are those that name the parent, in key order", func(h *harness) {
		h.putSessions(core.Session{Key: "c", SpawnedBy: "p"}, core.Session{Key: "a", SpawnedBy: "p"}, core.Session{Key: "b", SpawnedBy: "pp"},
			core.Session{Key: "d", SpawnedBy: "p"})
		h.update(func(tx core.Tx) error { return tx.DeleteSession("d") })
		h.view(func(r core.Reader) {
			c := h.contentOf(r, universe{keys: []string{"p", "pp"}})
			h.Equal([]string{"a", "c"}, c.Children["p"])
			h.Equal([]string{"b"}, c.Children["pp"])
		})
	}},
	{"R076 deleting touches one key; its transcripts stay", deleteOne},
	{"R078 no row is dropped by itself", func(h *harness) {
		var many []core.Session
		for i := range 600 {
			many = append(many, core.Session{Key: fmt.Sprintf("k%03d", i), UpdatedAt: int64(i)})
		}
		h.putSessions(many...)
		h.reopen()
		h.Len(h.heads(), 600)
		info, err := h.store.Info(h.ctx)
		h.NoError(err)
		h.Equal(600, info.Sessions)
	}},
	{"imported entries come back byte for byte", func(h *harness) {
		raw := "{ \"unknown\" : 1.0, \"b\":1E3, \"x\":\"<&>\", \"n\":12345678901234567890 }\n"
		h.putSessions(core.Session{Key: "a"})
		h.update(func(tx core.Tx) error { return tx.PutEntry("a", []byte(raw)) })
		h.refuse(core.CodeInvalidParams, func(tx core.Tx) error { return tx.PutEntry("a", nil) })
		h.reopen()
		h.Equal(raw, h.dump().Entries["a"])
		h.update(func(tx core.Tx) error { return tx.DeleteSession("a") })
		h.view(func(r core.Reader) {
			_, ok, err := r.Entry("a")
			h.NoError(err)
			h.False(ok)
		})
	}},
}

func headKinds(h *harness) {
	for _, c := range []struct {
		s       core.Session
		kind    core.Kind
		channel string
	}{
		{core.Session{Key: "agent:main:main", LastChannel: "Telegram"}, core.KindOther, "telegram"},
		{core.Session{Key: "agent:main:main"}, core.KindOther, "unknown"},
		{core.Session{Key: "agent:main:discord:group:1"}, core.KindGroup, "discord"},
		{core.Session{Key: "agent:main:discord:channel:1", Channel: "slack"}, core.KindGroup, "slack"},
		{core.Session{Key: "agent:main:x", ChatType: core.ChatGroup, Channel: "irc"}, core.KindGroup, "irc"},
		{core.Session{Key: "agent:main:cron:1", LastChannel: "irc"}, core.KindCron, "internal"},
		{core.Session{Key: "cron:1"}, core.KindCron, "internal"},
		{core.Session{Key: "hook:1"}, core.KindHook, "internal"},
		{core.Session{Key: "node-1"}, core.KindNode, "internal"},
		{core.Session{Key: "agent:main:subagent:1", LastChannel: "webchat"}, core.KindOther, "webchat"},
	} {
		h.putSessions(c.s)
		head := h.head(c.s.Key)
		h.Equal(c.kind, head.Kind, "kind of %s", c.s.Key)
		h.Equal(c.channel, head.Channel, "channel of %s", c.s.Key)
	}
}

func headFlags(h *harness) {
	for _, c := range []struct {
		s    core.Session
		want core.HeadFlags
	}{
		{core.Session{}, 0},
		{core.Session{ArchivedAt: 1}, core.FlagArchived},
		{core.Session{Source: "/s"}, core.FlagMirrored},
		{core.Session{SendPolicy: core.SendAllow}, core.FlagSendAllow},
		{core.Session{SendPolicy: core.SendDeny}, core.FlagSendDeny},
		{core.Session{LastOutcome: core.OutcomeAborted}, core.FlagAborted},
		{core.Session{LastOutcome: core.OutcomeInterrupted}, core.FlagAborted},
		{core.Session{AbortedLastRun: ptr(true)}, core.FlagAborted},
		{core.Session{AbortedLastRun: ptr(false)}, 0},
		{core.Session{LastOutcome: core.OutcomeOK}, 0},
		{core.Session{LastOutcome: core.OutcomeError}, core.FlagFailed},
		{core.Session{LastOutcome: core.OutcomeTimeout}, core.FlagFailed},
		{core.Session{TotalTokens: ptr(int64(0))}, core.FlagTokensKnown},
		{core.Session{TotalTokens: ptr(int64(9)), TokensStale: true}, core.FlagTokensKnown | core.FlagTokensStale},
		{core.Session{ContextTokens: ptr(int64(0))}, core.FlagContextKnown},
		{core.Session{Label: "l"}, core.FlagLabelled},
		{core.Session{ChatType: core.ChatDirect}, 0},
		{core.Session{ChatType: core.ChatChannel}, core.FlagChatKnownKind},
	} {
		c.s.Key = "a"
		h.putSessions(c.s)
		h.Equal(c.want, h.head("a").Flags, "flags of %+v", c.s)
	}
	h.putSessions(core.Session{Key: "a", TotalTokens: ptr(int64(math.MaxInt64)), ContextTokens: ptr(int64(-1)), Label: "l", DisplayName: "d"})
	h.EqualValues(math.MaxInt64, h.head("a").Tokens)
	h.EqualValues(-1, h.head("a").ContextTokens)
	h.Equal("d", h.head("a").Title, "the display name goes before the label")
}

func longHeads(h *harness) {
	short, long := strings.Repeat("p", 60), strings.Repeat("p", 400)
	title := strings.Repeat("한", 200)
	h.putSessions(core.Session{Key: "a", SpawnedBy: short, Label: title, LastChannel: "telegram"},
		core.Session{Key: "b", SpawnedBy: long, Label: title, TotalTokens: ptr(int64(math.MinInt64)), ContextTokens: ptr(int64(math.MinInt64))})
	a, b := h.head("a"), h.head("b")
	h.Equal(short, a.Parent)
	h.Equal("telegram", a.Channel)
	h.True(b.Flags.Has(core.FlagParentOnRow))
	h.Empty(b.Parent)
	for _, head := range []core.Head{a, b} {
		h.NotEmpty(head.Title)
		h.True(strings.HasPrefix(title, head.Title))
		h.True(utf8.ValidString(head.Title))
	}
	h.view(func(r core.Reader) {
		h.Equal([]string{"b"}, h.contentOf(r, universe{keys: []string{long}}).Children[long])
	})
}

func deleteOne(h *harness) {
	h.putSessions(core.Session{Key: "a", UpdatedAt: 2, SessionID: "ga"}, core.Session{Key: "b", UpdatedAt: 1, SessionID: "gb", SpawnedBy: "a"})
	h.update(func(tx core.Tx) error {
		for _, s := range []string{"a", "b"} {
			if err := tx.PutGeneration(core.Generation{ID: "g" + s, Key: s}); err != nil {
				return err
			}
			if err := appendText(tx, "g"+s, "one", "two"); err != nil {
				return err
			}
			if err := tx.PutRun(core.Run{ID: "r" + s, SessionKey: s, State: core.RunRunning}); err != nil {
				return err
			}
		}
		return tx.PutEntry("b", []byte(`{}`))
	})
	before := h.dump()
	rev := h.update(func(tx core.Tx) error { return tx.DeleteSession("b") })
	after := h.dump()

	delete(before.Sessions, "b")
	delete(before.Entries, "b")
	delete(before.Children, "a")
	delete(before.OfSession, "b")
	delete(before.RunsOf, "b")
	before.Heads, before.Rev = before.Heads[:1], rev
	h.Equal(before, after)
	h.view(func(r core.Reader) {
		h.Equal([]string{"gb"}, h.contentOf(r, universe{keys: []string{"b"}}).OfSession["b"], "readable by its key still")
	})
	h.putSessions(core.Session{Key: "b", SessionID: "gb"})
	h.EqualValues(2, h.head("b").LastSeq)
	h.Equal(core.RunRunning, h.head("b").Run)
}
