package bolt_test

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/storage/bolt"
)

// A file system of its own that is filled by another's file.
func TestAFullDisk(t *testing.T) {
	folder := t.TempDir()
	if err := syscall.Mount("tmpfs", folder, "tmpfs", 0, "size=6m"); err != nil {
		testenv.Absent(t, "a file system of a test's own is for who may mount one: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(folder, syscall.MNT_DETACH); err != nil {
			t.Errorf("unmounting %s: %v", folder, err)
		}
	})
	filler := filepath.Join(folder, "filler")
	testFullDisk(t, disk{
		folder: folder,
		leave:  func(t *testing.T, _ *bolt.DB, n int64) { fill(t, filler, n) },
		relieve: func(t *testing.T) {
			if err := os.Remove(filler); err != nil {
				t.Fatal(err)
			}
		},
	})
}

// fill writes a file that leaves n bytes of its file system.
func fill(t *testing.T, path string, n int64) {
	t.Helper()
	var stat syscall.Statfs_t
	if err := syscall.Statfs(filepath.Dir(path), &stat); err != nil {
		t.Fatal(err)
	}
	size := max(int64(stat.Bavail)*int64(stat.Bsize)-n, 0)
	if err := os.WriteFile(path, make([]byte, size), 0o600); err != nil {
		t.Fatal(err)
	}
}

// limited tells the test's own program, run again, to be the one whose files may not grow.
const limited = "INNSIGLI_BOLT_LIMITED"

// A greatest size of a file, which needs no permission. It holds for the whole
// process, so it is one of its own.
func TestAFileThatMayNotGrow(t *testing.T) {
	if os.Getenv(limited) == "" {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
		cmd.Env = append(os.Environ(), limited+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	signal.Ignore(syscall.SIGXFSZ)
	testFullDisk(t, disk{
		folder:  t.TempDir(),
		leave:   func(t *testing.T, db *bolt.DB, n int64) { limit(t, uint64(db.UsedBytes()+n)) },
		relieve: func(t *testing.T) { limit(t, math.MaxUint64) },
	})
}

// limit sets the greatest size of a file, in bytes, that the process may write.
func limit(t *testing.T, size uint64) {
	t.Helper()
	var now syscall.Rlimit
	err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &now)
	if err == nil {
		err = syscall.Setrlimit(syscall.RLIMIT_FSIZE, &syscall.Rlimit{Cur: min(size, now.Max), Max: now.Max})
	}
	if err != nil {
		t.Fatal(fmt.Errorf("limiting files to %d: %w", size, err))
	}
}
