package bolt_test

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"cordboard/core"
	"cordboard/store/bolt"
)

// TestDiskFull: a child may write only so many bytes to a file (RLIMIT_FSIZE). A commit that does not fit is an error, what is stored
// can be read, and when there is room again the same store writes on.
func TestDiskFull(t *testing.T) {
	dir := t.TempDir()
	cmd, in, out := child(t, "full", dir)
	said, err := out.ReadString('\n')
	require.NoError(t, err)
	require.NoError(t, in.Close())
	require.NoError(t, cmd.Wait())
	require.Equal(t, "ok\n", said)
	requireSound(t, dir)
}

func fillTheDisk(dir string) int {
	signal.Ignore(syscall.SIGXFSZ)
	if err := diskStory(dir); err != nil {
		fmt.Println(strings.ReplaceAll(err.Error(), "\n", " "))
		return 0
	}
	fmt.Println("ok")
	return 0
}

func diskStory(dir string) error {
	ctx := context.Background()
	s, err := bolt.Open(bolt.Options{Dir: dir})
	if err != nil {
		return err
	}
	put := func(n int) error {
		_, err := s.Update(ctx, func(tx core.Tx) error { return putChat(tx, fmt.Sprintf("agent:main:s%04d", n), int64(n), 50) })
		return err
	}
	for n := range 20 {
		if err := put(n); err != nil {
			return err
		}
	}
	stored := 20
	var old syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		return err
	}
	info, err := os.Stat(file(dir))
	if err != nil {
		return err
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: uint64(info.Size()) + 1, Max: old.Max}); err != nil {
		return err
	}
	var full error
	for ; full == nil && stored < 10_000; stored++ {
		full = put(stored)
	}
	stored--
	if core.CodeOf(full) != core.CodeStoreIO {
		return fmt.Errorf("a full disk is %q: %w", core.CodeOf(full), full)
	}
	if again := put(stored); again == nil {
		return fmt.Errorf("the disk was not full")
	}
	if err := countSessions(s, stored); err != nil {
		return err
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		return err
	}
	for n := stored; n < stored+50; n++ {
		if err := put(n); err != nil {
			return fmt.Errorf("with room again: %w", err)
		}
	}
	if err := countSessions(s, stored+50); err != nil {
		return err
	}
	return s.Close()
}

func countSessions(s core.Store, want int) error {
	return s.View(context.Background(), func(r core.Reader) error {
		got := 0
		if err := r.Heads(core.HeadCursor{}, func(*core.Head) bool {
			got++
			return true
		}); err != nil {
			return err
		}
		if got != want {
			return fmt.Errorf("%d sessions can be read and %d were stored", got, want)
		}
		return nil
	})
}
