package host

import (
	"context"
	"encoding/json"
	"path/filepath"

	"cordboard/core"
	"cordboard/store/bolt"
)

// DoctorReport is what Doctor saw.
type DoctorReport = bolt.Report

// Doctor examines the store of the options and writes nothing. An owner examines its records and indexes itself; without one the pages of
// the file are looked at too.
func Doctor(ctx context.Context, o Options) (report DoctorReport, err error) {
	if err := o.located(); err != nil {
		return report, err
	}
	l := newLink(o, false)
	held, _, err := heldBy(o)
	if err != nil || !held {
		return bolt.Doctor(ctx, o.file())
	}
	answer, err := l.ask(ctx, methodDoctor, struct{}{}, nil)
	if err != nil {
		return report, err
	}
	return report, json.Unmarshal(answer, &report)
}

func (o Options) file() string { return filepath.Join(o.dir(), bolt.FileName) }

// Compacted tells what Compact did.
type Compacted = bolt.Compacted

// Compact writes the store anew without its free pages; see bolt.Compact. Nobody else may have it: an owner that was started by need and
// is not needed is asked to go, any other is not disturbed.
func Compact(ctx context.Context, o Options, progress func(done, all int64)) (Compacted, error) {
	if err := makeWay(ctx, o); err != nil {
		return Compacted{}, err
	}
	return bolt.Compact(ctx, o.file(), progress)
}

// makeWay ends an owner that nobody needs.
func makeWay(ctx context.Context, o Options) error {
	if err := o.located(); err != nil {
		return err
	}
	held, _, err := heldBy(o)
	if err != nil || !held {
		return nil // what is wrong with the file is said by who opens it
	}
	status, err := StatusOf(ctx, o)
	switch {
	case err != nil:
		return err
	case status.Owner == "":
		return nil
	case status.IdleExit == 0 || status.Clients > 0 || status.Running > 0 || status.Queued > 0:
		return core.Errorf(core.CodeStoreLocked, "the store %s is in use by its owner (pid %d: %d clients, %d runs live or queued): "+
			"`cordboard serve --stop` ends it", o.file(), status.PID, status.Clients, status.Running+status.Queued)
	}
	_, err = Stop(ctx, o)
	return err
}

// Restore puts a backup in place of a store that is not there; it never overwrites one.
func Restore(ctx context.Context, o Options, backup string) error {
	if err := o.located(); err != nil {
		return err
	}
	return bolt.Restore(ctx, backup, bolt.Options{Dir: o.dir(), Timeout: o.LockWait})
}
