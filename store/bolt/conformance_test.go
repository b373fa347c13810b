package bolt_test

import (
	"testing"

	"cordboard/core"
	"cordboard/store/storetest"
)

func TestConformance(t *testing.T) {
	storetest.Run(t, storetest.Subject{
		Open:  func(t testing.TB, dir string) core.Store { return open(t, dir) },
		Check: requireSound,
	})
}
