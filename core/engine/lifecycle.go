package engine

import (
	"strings"

	"cordboard/core"
)

// reset gives a session a new transcript. The one before it stays readable by its sessionId; what is queued runs in the new one
// (session-tools.md §9).
func (b *board) reset(a *act, c core.Reset, id string) error {
	s, err := b.whole(a, c.Session)
	if err != nil {
		return err
	}
	switch {
	case s.Mirrored():
		return foreign(&s, "reset")
	case s.LiveRun != "":
		return core.Errorf(core.CodeConflict, "run %s is under way in %s: reset it when that has ended, or abort it first", s.LiveRun, s.Key)
	}
	if err := retire(a, &s, core.GenerationReset, a.now); err != nil {
		return err
	}
	a.before, a.after = map[string]string{"sessionId": s.SessionID}, map[string]string{"sessionId": id}
	s.SessionID = id
	s.TotalTokens, s.TokensStale = ref(int64(0)), false // nothing has been said in it yet
	s.SystemSent, s.AbortedLastRun, s.LastOutcome = nil, nil, ""
	if err := a.PutSession(s); err != nil {
		return err
	}
	return a.PutGeneration(core.Generation{
		ID: id, SessionID: id, Key: s.Key, Agent: b.names.AgentOf(s.Key), State: core.GenerationCurrent, CreatedAt: a.now,
	})
}

// retire ends a session's current transcript. One that another session shares stays that one's.
func retire(tx core.Tx, s *core.Session, as core.GenerationState, now int64) error {
	g, ok, err := tx.Generation(s.SessionID)
	if err != nil || !ok || g.Key != s.Key {
		return err
	}
	g.State, g.EndedAt = as, now
	return tx.PutGeneration(g)
}

// foreign refuses what would change a session that belongs to an imported directory.
func foreign(s *core.Session, what string) error {
	return core.Errorf(core.CodeMirrored, "session %q belongs to the imported directory %s and is not %s here: adopt it first", s.Key, s.Source, what)
}

// delete removes a session: exactly its key. Its transcripts are kept as deleted ones unless they are purged (session-tools.md §9).
func (b *board) delete(a *act, c core.Delete) error {
	s, err := b.whole(a, c.Session)
	if err != nil {
		return err
	}
	switch {
	case b.names.IsMain(s.Key):
		return core.Errorf(core.CodeForbidden, "%s is the main session of its agent, which always has one: reset it for a new transcript", s.Key)
	case s.Mirrored():
		return foreign(&s, "deleted")
	}
	if err := b.endBefore(a, &s, c.Abort); err != nil {
		return err
	}
	a.before = s
	if err := dropTranscripts(a, &s, c.Purge, a.now); err != nil {
		return err
	}
	if err := a.PutHold(core.Hold{Session: s.Key, Release: true}); err != nil {
		return err
	}
	a.fx.holds = true
	if err := b.dropExtras(a, a.fx, &s, a.now); err != nil {
		return err
	}
	return a.DeleteSession(s.Key)
}

// endBefore makes sure that nothing runs or is queued in a session that is to be deleted: when that may be aborted, it is ended first, as
// stop does.
func (b *board) endBefore(a *act, s *core.Session, abort bool) error {
	var live []string
	if err := a.LiveRuns(func(run *core.Run) bool {
		if run.SessionKey == s.Key {
			live = append(live, run.ID)
		}
		return true
	}); err != nil {
		return err
	}
	switch {
	case len(live) == 0:
		return nil
	case !abort:
		return core.Errorf(core.CodeConflict, "in %s there are runs under way or queued (%s): wait for them, or say that they are to be aborted",
			s.Key, strings.Join(live, ", ")).Accept("abort")
	}
	return b.endWork(a, map[string]bool{s.Key: true})
}

// dropTranscripts keeps a session's transcripts without it, or removes them all.
func dropTranscripts(tx core.Tx, s *core.Session, purge bool, now int64) error {
	if !purge {
		return retire(tx, s, core.GenerationDeleted, now)
	}
	var ids []string
	if err := tx.Generations(s.Key, func(g *core.Generation) bool {
		ids = append(ids, g.ID)
		return true
	}); err != nil {
		return err
	}
	for _, id := range ids {
		if err := tx.DeleteGeneration(id); err != nil {
			return err
		}
	}
	return nil
}

// adopt cuts a mirrored session from its source: all of it stays, and the runtime of its agent answers from now on (engine.md §9).
func (b *board) adopt(a *act, c core.Adopt) error {
	s, err := b.whole(a, c.Session)
	if err != nil {
		return err
	}
	agent := b.names.AgentOf(s.Key)
	_, configured := b.config.Agent(agent)
	switch {
	case !s.Mirrored():
		return core.Errorf(core.CodeConflict, "%s is answered here already: only a session of an imported directory can be adopted", s.Key)
	case !configured:
		return core.Errorf(core.CodeInvalidParams, "%s cannot be adopted: nobody would answer for its agent %q, which is not configured", s.Key, agent).
			Because("agents.list")
	}
	a.before, a.after = map[string]string{"source": s.Source}, map[string]string{"source": ""}
	s.Source = ""
	return a.PutSession(s)
}
