package bolt_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/store/bolt"
	"cordboard/store/storetest"
)

func TestConformance(t *testing.T) {
	storetest.Run(t, storetest.Subject{
		Open: func(t testing.TB, dir string) core.Store {
			s, err := bolt.Open(bolt.Options{Dir: dir})
			require.NoError(t, err)
			return s
		},
		Check: requireSound,
	})
}

// requireSound asks the doctor about a closed store.
func requireSound(t testing.TB, dir string) {
	t.Helper()
	report, err := bolt.Doctor(context.Background(), filepath.Join(dir, bolt.FileName))
	require.NoError(t, err)
	require.Empty(t, report.Findings)
}
