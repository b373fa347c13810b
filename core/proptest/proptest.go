// Package proptest runs property tests that take the same ways every time, so that a red suite tells of a change and not of luck. Run
// `go test ./core/tool -rapid.seed=7 -rapid.checks=100000` to walk other ways, and more of them.
package proptest

import (
	"flag"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// Check runs a property as rapid.Check does, from a seed that -rapid.seed changes.
func Check(t testing.TB, property func(*rapid.T)) {
	t.Helper()
	settle()
	rapid.Check(t, property)
}

// settle sets the seed unless somebody named one; tests may run side by side, so it does so once.
var settle = sync.OnceFunc(func() {
	if f := flag.Lookup("rapid.seed"); f.Value.String() == f.DefValue {
		if err := f.Value.Set("1"); err != nil {
			panic(err) // a number is one
		}
	}
})
