package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"cordboard/core"
	"cordboard/core/host"
)

// What talking sessions cost: an owner in this process whose agents are echoes, with a client at its socket, and owners that are started by
// need.

const (
	callers = 64
	queued  = 10_000 // runs that a restart finds
)

func (w *workload) talking() (figures []figure, err error) {
	o := host.Options{Dir: filepath.Join(w.dir, "talk"), ConfigGiven: true, Version: version()}
	h, err := host.InProcess(w.ctx, o, host.ServeOptions{})
	if err != nil {
		return nil, err
	}
	t := &talk{workload: w}
	figures, err = t.measure(h, o)
	if err = errors.Join(err, h.Close()); err != nil {
		return nil, err
	}
	recovery, err := times(fmt.Sprintf("restart with %d queued runs", t.queued), 1, "≤ 2000", func() error {
		h, err = host.InProcess(w.ctx, o, host.ServeOptions{})
		return err
	})
	if err != nil {
		return nil, err
	}
	return append(figures, recovery), h.Close()
}

// talk is the sessions that talk.
type talk struct {
	*workload
	board  core.Board
	keys   []string
	queued int
}

func (t *talk) measure(h *host.Host, o host.Options) (figures []figure, err error) {
	if t.board, err = h.Board(t.ctx, core.Operator); err != nil {
		return nil, err
	}
	defer t.board.Close()
	for range callers {
		receipt, err := t.board.Do(t.ctx, core.Command{New: &core.New{}})
		if err != nil {
			return nil, err
		}
		t.keys = append(t.keys, receipt.Key)
	}
	for _, step := range []func() (figure, error){
		func() (figure, error) {
			return times("send with echo and wait for the reply", 200, "≤ 10", func() error { return t.send(0) })
		},
		func() (figure, error) { return times("50 sends at once to 50 sessions", 10, "≤ 300", t.fifty) },
		func() (figure, error) { return t.smallCall(o) },
		t.accept,
	} {
		f, err := step()
		if err != nil {
			return nil, err
		}
		figures = append(figures, f)
	}
	return figures, nil
}

func (t *talk) send(to int) error {
	receipt, err := t.board.Do(t.ctx, core.Command{Send: &core.Send{Session: t.keys[to], Message: "hello"}})
	if err != nil {
		return err
	}
	_, err = t.board.Records(t.ctx, core.RecordQuery{Kind: core.RecordRun, Run: receipt.Run, Wait: 60_000})
	return err
}

func (t *talk) fifty() error { return atOnce(50, t.send) }

// atOnce does something n times side by side.
func atOnce(n int, do func(i int) error) error {
	var group sync.WaitGroup
	failures := make([]error, n)
	for i := range n {
		group.Go(func() { failures[i] = do(i) })
	}
	group.Wait()
	return errors.Join(failures...)
}

// smallCall asks the owner over its socket for one verdict of the send policy.
func (t *talk) smallCall(o host.Options) (f figure, err error) {
	h, err := host.Attach(t.ctx, o)
	if err != nil {
		return f, err
	}
	defer h.Close()
	board, err := h.Board(t.ctx, core.Operator)
	if err != nil {
		return f, err
	}
	defer board.Close()
	samples := make([]float64, 2000)
	for i := range samples {
		start := time.Now()
		if _, err := board.Explain(t.ctx, core.Question{Send: t.keys[0]}); err != nil {
			return f, err
		}
		samples[i] = float64(time.Since(start)) / 1e3
	}
	return summary("small call over the socket", "µs", "≤ 100", samples), nil
}

// accept queues runs that are held, so that a restart finds them.
func (t *talk) accept() (figure, error) {
	if _, err := t.board.Do(t.ctx, core.Command{Hold: &core.Hold{}}); err != nil {
		return figure{}, err
	}
	each := (queued + callers - 1) / callers
	start := time.Now()
	err := atOnce(callers, func(i int) error {
		for range each {
			if _, err := t.board.Do(t.ctx, core.Command{Send: &core.Send{Session: t.keys[i], Message: "hello"}}); err != nil {
				return err
			}
		}
		return nil
	})
	t.queued = callers * each
	rate := float64(t.queued) / time.Since(start).Seconds()
	return figure{Work: fmt.Sprintf("runs accepted of %d callers", callers), Unit: "runs/s", N: t.queued, Median: rate, P95: rate, Target: "≥ 3000"}, err
}

// starting measures how long a client waits for an owner that it starts.
func (w *workload) starting() ([]figure, error) {
	o := host.Options{Dir: filepath.Join(w.dir, "start"), ConfigGiven: true, Version: version(), Program: w.program}
	h, err := host.Own(w.ctx, o)
	if err != nil {
		return nil, err
	}
	if err := h.Close(); err != nil {
		return nil, err
	}
	samples := make([]float64, 5)
	for i := range samples {
		start := time.Now()
		h, err := host.Attach(w.ctx, o)
		if err != nil {
			return nil, err
		}
		samples[i] = float64(time.Since(start)) / 1e6
		_, stopped := host.Stop(w.ctx, o)
		if err := errors.Join(h.Close(), stopped); err != nil {
			return nil, err
		}
	}
	return []figure{summary("an owner is started by need", "ms", "≤ 80", samples)}, nil
}
