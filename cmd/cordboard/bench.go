package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"cordboard/core"
	"cordboard/core/host"
)

// figure is one measured line of a bench report. Median and P95 are in Unit; Target is what the project holds itself to.
type figure struct {
	Work   string  `json:"work"`
	Unit   string  `json:"unit"`
	N      int     `json:"n"`
	Median float64 `json:"median"`
	P95    float64 `json:"p95"`
	Target string  `json:"target,omitempty"`
	Missed bool    `json:"missed,omitempty"` // the median is beyond the target
}

type benchReport struct {
	Version  string   `json:"version"`
	Machine  string   `json:"machine"`
	Sessions int      `json:"sessions"`
	Messages int      `json:"messages"`
	Figures  []figure `json:"figures"`
}

func newBench(a *app) *cobra.Command {
	var sessions, messages int
	c := &cobra.Command{
		Use:   "bench",
		Short: "Measure this machine with a synthetic store",
		Long: "bench fills a scratch store with made-up sessions and messages, half of them in one session, measures what people wait for,\n" +
			"the console in a terminal of its own among it, and removes it again. Figures depend on the disk under --data (default: the system's scratch directory).",
		Args: usageArgs(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if sessions < 10 || messages < sessions {
				return &usageError{fmt.Errorf("--sessions %d --messages %d: at least 10 sessions, and a message for each", sessions, messages)}
			}
			dir, err := newScratch(a.dir, "cordboard-bench-")
			if err != nil {
				return err
			}
			defer dir.remove()
			report, err := a.bench(c.Context(), dir.path, sessions, messages)
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(report)
			}
			return a.benchTable(report)
		},
	}
	c.Flags().IntVar(&sessions, "sessions", 10000, "how many sessions")
	c.Flags().IntVar(&messages, "messages", 200000, "how many messages")
	return c
}

func (a *app) bench(ctx context.Context, dir string, sessions, messages int) (benchReport, error) {
	report := benchReport{
		Version: version(), Sessions: sessions, Messages: messages,
		Machine: fmt.Sprintf("%s/%s, %d processors, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version()),
	}
	h, err := host.Own(ctx, host.Options{Dir: dir, ConfigGiven: true, Version: version()})
	if err != nil {
		return report, err
	}
	board, err := h.Board(ctx, core.Operator)
	if err != nil {
		return report, errors.Join(err, h.Close())
	}
	w := &workload{ctx: ctx, dir: dir, program: a.program, store: h.Store(), host: h, board: board, sessions: sessions, messages: messages}
	bar := a.newBar("measuring")
	defer bar.done()
	closed := sync.OnceValue(func() error { return errors.Join(board.Close(), h.Close()) })
	defer func() { _ = closed() }()                                       // after an error that is told
	steps := append(w.steps(), step{"console", func() ([]figure, error) { // which has an owner of its own
		if err := closed(); err != nil {
			return nil, err
		}
		return a.benchFrames(ctx, dir)
	}})
	for i, step := range steps {
		bar.show(int64(i), int64(len(steps)), step.name)
		figures, err := step.run()
		if err != nil {
			return report, fmt.Errorf("%s: %w", step.name, err)
		}
		for _, f := range figures {
			f.Missed = f.misses()
			report.Figures = append(report.Figures, f)
		}
	}
	return report, nil
}

func (a *app) benchTable(r benchReport) error {
	fmt.Fprintf(a.out, "%s; %d sessions, %d messages\n\n", r.Machine, r.Sessions, r.Messages)
	t := table{columns: []column{
		{title: "WORK", grow: true},
		{title: "MEDIAN", right: true},
		{title: "P95", right: true},
		{title: "UNIT"},
		{title: "N", right: true},
		{title: "TARGET"},
	}}
	missed := 0
	for _, f := range r.Figures {
		target := f.Target
		if f.Missed {
			missed++
			target += " ✗"
		}
		t.add(f.Work, number(f.Median), number(f.P95), f.Unit, fmt.Sprint(f.N), target)
	}
	if err := t.write(a.out, a.width()); err != nil {
		return err
	}
	verdict := "all met"
	if missed > 0 {
		verdict = counted(missed, "target") + " missed (✗)"
	}
	_, err := fmt.Fprintf(a.out, "\ntargets judge the median: %s\n", verdict)
	return err
}

// misses reports whether the median is beyond the target, which is "≤ 5" or "≥ 5" in the figure's unit, or nothing.
func (f figure) misses() bool {
	way, bound, _ := strings.Cut(f.Target, " ")
	limit, err := strconv.ParseFloat(bound, 64)
	switch {
	case err != nil:
		return false
	case way == "≤":
		return f.Median > limit
	}
	return f.Median < limit
}

func number(f float64) string {
	switch {
	case f >= 100:
		return fmt.Sprintf("%.0f", f)
	case f >= 1:
		return fmt.Sprintf("%.2f", f)
	}
	return fmt.Sprintf("%.3f", f)
}

// times measures fn n times and returns the figure in milliseconds.
func times(work string, n int, target string, fn func() error) (figure, error) {
	samples := make([]float64, n)
	for i := range samples {
		start := time.Now()
		if err := fn(); err != nil {
			return figure{}, err
		}
		samples[i] = float64(time.Since(start)) / 1e6
	}
	return summary(work, "ms", target, samples), nil
}

func summary(work, unit, target string, samples []float64) figure {
	slices.Sort(samples)
	return figure{Work: work, Unit: unit, N: len(samples), Target: target, Median: samples[len(samples)/2], P95: samples[len(samples)*95/100]}
}
