package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"cordboard/core/host"
	"cordboard/ui/safe"
)

func newFollow(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "follow DIR",
		Short: "Keep the store up to date with a running OpenClaw's directory",
		Long: "follow imports DIR and then takes over what changes in it, as it changes, until it is interrupted: a line of a transcript within\n" +
			"200 ms. It prints a line for every change, with --json an object. The store's owner (see serve) reads DIR, and is started when there\n" +
			"is none: other verbs and the console go on beside it, and when the owner goes the next one follows on. DIR is never changed.",
		Args:              usageArgs(cobra.ExactArgs(1)),
		ValidArgsFunction: onlyDirectories,
		RunE: func(c *cobra.Command, args []string) error {
			if err := host.CheckSource(args[0]); err != nil { // before a store is made for it
				return err
			}
			h, err := host.AttachMaking(c.Context(), a.options(c))
			if err != nil {
				return err
			}
			return errors.Join(a.follow(c.Context(), h, args[0]), h.Close())
		},
	}
}

// follow follows until ctx ends, which is how it ends well.
func (a *app) follow(ctx context.Context, h *host.Host, dir string) error {
	bar := a.newBar("importing")
	tell := a.followText
	if a.json {
		enc := json.NewEncoder(a.out)
		enc.SetEscapeHTML(false)
		tell = func(e host.FollowEvent) { _ = enc.Encode(e) }
	}
	ended, err := h.Follow(ctx, dir, host.FollowOptions{
		Progress: func(p host.ImportProgress) {
			bar.show(p.Bytes, p.TotalBytes, fmt.Sprintf("%d sessions  %d messages  %d problems", p.Sessions.Added+p.Sessions.Changed, p.Messages, p.Problems))
		},
		Event: func(e host.FollowEvent) {
			bar.done()
			tell(e)
		},
	})
	if err != nil {
		return err
	}
	return <-ended
}

// followText writes an event as people read it: what happened on standard output, what could not be read on standard error.
func (a *app) followText(e host.FollowEvent) {
	problems := e.Problems
	if e.Report != nil {
		problems = e.Report.Problems
	}
	if text := followLine(e); text != "" {
		fmt.Fprintln(a.out, time.UnixMilli(e.At).Format(time.TimeOnly)+"  "+text)
	}
	listProblems(a.err, problems, len(problems))
	if e.Report != nil {
		listOthers(a.err, e.Report.Others)
	}
}

// namedChanges is how many sessions a line names.
const namedChanges = 4

// followLine is an event in a line, "" when it only brought problems.
func followLine(e host.FollowEvent) string {
	switch e.Kind {
	case host.FollowStarted:
		r := e.Report
		return fmt.Sprintf("following %s: %d sessions new, %d changed, %d as they were; %d messages read", safe.Line(r.Source), r.Sessions.Added,
			r.Sessions.Changed, r.Sessions.Unchanged, r.Messages)
	case host.FollowChanged:
		return changedLine(e)
	case host.FollowBack:
		return "back: the directory is there again"
	}
	return safe.Line(string(e.Kind) + ": " + e.Message)
}

func changedLine(e host.FollowEvent) string {
	var parts []string
	for i, c := range e.Changes {
		if i == namedChanges && len(e.Changes) > namedChanges+1 {
			parts = append(parts, fmt.Sprintf("and %d more sessions", len(e.Changes)-i))
			break
		}
		parts = append(parts, changeText(c))
	}
	if e.Runs > 0 {
		parts = append(parts, counted(e.Runs, "run"))
	}
	return strings.Join(parts, " · ")
}

func changeText(c host.SessionChange) string {
	name := c.Key
	if name == "" {
		name = c.Generation + " (no session)"
	}
	var what []string
	if c.Added {
		what = append(what, "new")
	}
	if c.Rewritten {
		what = append(what, "rewritten")
	}
	if c.Messages > 0 {
		what = append(what, "+"+counted(c.Messages, "message"))
	}
	if len(what) == 0 {
		what = append(what, "changed")
	}
	return safe.Line(name) + " " + strings.Join(what, ", ")
}

// listProblems writes the first problems of so many.
func listProblems(w io.Writer, list []host.Problem, count int) {
	for i, p := range list {
		if i == shownProblems {
			fmt.Fprintf(w, "… and %d more problems: --json lists them\n", count-shownProblems)
			return
		}
		fmt.Fprintln(w, safe.Line(p.String()))
	}
}

// followConsole opens the console with a directory followed beside it, by the store's owner or by the console that is one.
func (a *app) followConsole(c *cobra.Command) error {
	if err := host.CheckSource(a.console.follow); err != nil {
		return err
	}
	open := host.AttachMaking
	if a.console.inProcess {
		open = a.consoleHost
	}
	h, err := open(c.Context(), a.options(c))
	if err != nil {
		return err
	}
	seen := newSightings()
	ended, err := h.Follow(c.Context(), a.console.follow, host.FollowOptions{Event: seen.add})
	if err != nil {
		return errors.Join(err, h.Close())
	}
	if a.console.session != "" || a.console.lookAs != "" { // which may only come with the first import
		select {
		case <-seen.started:
		case err := <-ended:
			return errors.Join(err, h.Close())
		}
	}
	over := make(chan error, 1)
	go func() { // until the host is closed
		err := <-ended
		if err != nil {
			seen.say(safe.Line(a.console.follow) + " is not followed any more: " + safe.Line(err.Error()))
		}
		over <- err
	}()
	a.console.news = seen.news
	err = errors.Join(a.openHost(c, h), a.leave(h), <-over)
	seen.write(a.err)
	return err
}

// sightings are what a follower told of while a console was on the screen.
type sightings struct {
	started  chan struct{} // closed when what was there has been imported
	once     sync.Once
	news     chan string // what the console tells at once
	mu       sync.Mutex
	problems []host.Problem
	count    int
	trouble  string // that lasts
}

// waitingNews is how much waits for a console that is busy; what is more is told at the end only.
const waitingNews = 64

func newSightings() *sightings {
	return &sightings{started: make(chan struct{}), news: make(chan string, waitingNews)}
}

// say has the console tell something.
func (s *sightings) say(text string) {
	select {
	case s.news <- text:
	default:
	}
}

// namedProblems is how many problems of an event the console names.
const namedProblems = 2

// sayProblems has the console tell of problems: each as it is found, of many at once the first.
func (s *sightings) sayProblems(list []host.Problem) {
	for i, p := range list {
		if i == namedProblems && len(list) > namedProblems+1 {
			s.say(fmt.Sprintf("and %d more problems in the directory that is followed: they are listed when you leave", len(list)-i))
			return
		}
		s.say(p.String())
	}
}

func (s *sightings) add(e host.FollowEvent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch e.Kind {
	case host.FollowStarted:
		s.once.Do(func() { close(s.started) })
	case host.FollowGone, host.FollowFailed:
		s.trouble = followLine(e)
		s.say(s.trouble)
	case host.FollowBack, host.FollowChanged:
		s.trouble = ""
	}
	problems := e.Problems
	if e.Report != nil {
		problems = e.Report.Problems
	}
	s.sayProblems(problems)
	s.count += len(problems)
	s.problems = append(s.problems, problems[:min(len(problems), shownProblems+1-min(len(s.problems), shownProblems+1))]...)
}

// write tells of it once the terminal is free.
func (s *sightings) write(w io.Writer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	listProblems(w, s.problems, s.count)
	if s.trouble != "" {
		fmt.Fprintln(w, s.trouble)
	}
}
