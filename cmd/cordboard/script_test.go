package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"cordboard/core/host"
)

// tidy removes what the tests built.
type tidy struct{ *testing.M }

func (t tidy) Run() int {
	defer os.RemoveAll(scratch)
	return t.M.Run()
}

func TestMain(m *testing.M) {
	if how := os.Getenv("CORDBOARD_TEST"); how != "" {
		os.Exit(underTest(how))
	}
	testscript.Main(tidy{m}, map[string]func(){
		"cordboard": func() { os.Exit(program()) },
	})
}

// The scripts in testdata/cli are the command line's contract: what a person types, what comes out, which exit code.
func TestScripts(t *testing.T) {
	fleet, err := filepath.Abs("../../testdata/openclaw")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "../../testdata/cli",
		Setup: func(e *testscript.Env) error {
			e.Setenv("FLEET", fleet)
			e.Setenv("BRIDGE", filepath.Dir(fleet))
			e.Setenv("ESC", "\x1b")
			e.Setenv("BAD", "\xff")
			e.Setenv("HOME", filepath.Join(e.WorkDir, "home"))
			e.Setenv("XDG_STATE_HOME", filepath.Join(e.WorkDir, "state"))
			e.Setenv("XDG_CONFIG_HOME", filepath.Join(e.WorkDir, "etc"))
			e.Setenv("XDG_RUNTIME_DIR", filepath.Join(e.WorkDir, "run"))
			e.Defer(func() { stopOwners(t, e.WorkDir) })
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":    exits,
			"damage":   damage,
			"break":    breakLine,
			"cp-fleet": copyFleet,

			"kill-owner": killOwner,
			"begun":      begun,
			"endpoint":   endpoint,
			"delivered":  delivered,
			"settled":    settled,
			"retrying":   retrying,
		},
	})
}

// stopOwners ends the owners that were started for stores below a directory.
func stopOwners(t testing.TB, dir string) {
	stores, err := filepath.Glob(filepath.Join(dir, "*", "cordboard.sock"))
	if err != nil {
		t.Fatal(err)
	}
	deep, err := filepath.Glob(filepath.Join(dir, "*", "*", "cordboard.sock"))
	if err != nil {
		t.Fatal(err)
	}
	for _, socket := range append(stores, deep...) {
		if _, err := host.Stop(context.Background(), host.Options{Dir: filepath.Dir(socket)}); err != nil {
			t.Error(err)
		}
	}
}

// killOwner kills the owner of a store and waits until the system has taken its lock away: kill-owner DIR
func killOwner(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: kill-owner DIR")
	}
	o := host.Options{Dir: ts.MkAbs(args[0]), Version: version()}
	status, err := host.StatusOf(context.Background(), o)
	ts.Check(err)
	ts.Check(syscall.Kill(status.PID, syscall.SIGKILL))
	for status.Owner != "" {
		status, err = host.StatusOf(context.Background(), o)
		ts.Check(err)
	}
}

// begun waits until a run of a session has begun: begun KEY
func begun(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: begun KEY")
	}
	for {
		ts.Check(ts.Exec("cordboard", "runs", args[0], "--json"))
		if strings.Contains(ts.ReadFile("stdout"), `"state": "running"`) {
			return
		}
	}
}

// settled waits until nothing runs or is queued: settled
func settled(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: settled")
	}
	for {
		ts.Check(ts.Exec("cordboard", "status", "--json"))
		if out := ts.ReadFile("stdout"); strings.Contains(out, `"running": 0`) && strings.Contains(out, `"queued": 0`) {
			return
		}
	}
}

// delivered waits until a text of a session is delivered: delivered KEY
func delivered(ts *testscript.TestScript, neg bool, args []string) {
	awaitDelivery(ts, neg, args, `"state": "delivered"`)
}

// retrying waits until a text of a session waits for another try: retrying KEY
func retrying(ts *testscript.TestScript, neg bool, args []string) {
	awaitDelivery(ts, neg, args, `"lastError"`)
}

func awaitDelivery(ts *testscript.TestScript, neg bool, args []string, shows string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: delivered|retrying KEY")
	}
	for {
		ts.Check(ts.Exec("cordboard", "deliveries", args[0], "--json"))
		if strings.Contains(ts.ReadFile("stdout"), shows) {
			return
		}
	}
}

// damage overwrites all but the start of a store: damage FILE
func damage(ts *testscript.TestScript, neg bool, args []string) {
	const start = 2 * 4096 // the meta pages
	if neg || len(args) != 1 {
		ts.Fatalf("usage: damage FILE")
	}
	file := ts.MkAbs(args[0])
	data, err := os.ReadFile(file)
	ts.Check(err)
	for i := start; i < len(data); i++ {
		data[i] = 0xAA
	}
	ts.Check(os.WriteFile(file, data, 0o600))
}

// breakLine makes the second line of a file one that nobody can read: break FILE
func breakLine(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: break FILE")
	}
	file := ts.MkAbs(args[0])
	data, err := os.ReadFile(file)
	ts.Check(err)
	header, rest, _ := bytes.Cut(data, []byte("\n"))
	ts.Check(os.WriteFile(file, slices.Concat(header, []byte("\n{broken\n"), rest), 0o600))
}

// copyFleet copies the fleet to a directory of its own: cp-fleet DIR
func copyFleet(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: cp-fleet DIR")
	}
	ts.Check(os.CopyFS(ts.MkAbs(args[0]), os.DirFS(ts.Getenv("FLEET"))))
}

// exits runs a command that must end with the given code: exits CODE COMMAND ARGS...
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND ARGS...")
	}
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		failed, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		code = failed.ExitCode()
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("exit code %d, want %s", code, args[0])
	}
}
