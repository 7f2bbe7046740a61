//go:build unix

package bolt_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// The new file has the permissions of the old one, and belongs to the same user and group.
func TestCompactKeepsOwnerAndPermissions(t *testing.T) {
	for _, permissions := range []fs.FileMode{0o600, 0o640, 0o660, 0o644} {
		path := filepath.Join(t.TempDir(), "store.db")
		db := open(t, path)
		if err := os.Chmod(path, permissions); err != nil {
			t.Fatal(err)
		}
		if os.Geteuid() == 0 {
			if err := os.Chown(path, 4711, 4712); err != nil {
				t.Fatal(err)
			}
		}
		before := owner(t, path)
		if _, _, err := db.Compact(t.Context()); err != nil {
			t.Errorf("%v: %v", permissions, err)
		}
		if after := owner(t, path); after != before {
			t.Errorf("before %s, after %s", before, after)
		}
	}
}

// owner returns the user, the group and the permissions of a file.
func owner(t *testing.T, path string) string {
	t.Helper()
	stat, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	system := stat.Sys().(*syscall.Stat_t)
	return fmt.Sprint(system.Uid, ":", system.Gid, " ", stat.Mode().Perm())
}

// compactPath tells the test's own program, run again as another user, which store to compact and to back up.
const compactPath = "INNSIGLI_BOLT_COMPACT"

// A server that does not run as root has a store whose file is of a group that the server is not in, as after cp -p by
// root.
func TestCompactOfAnotherGroupsFile(t *testing.T) {
	if path := os.Getenv(compactPath); path != "" {
		db := open(t, path)
		if err := db.Backup(t.Context(), &strings.Builder{}); err != nil {
			t.Errorf("Backup: %v", err)
		}
		if _, _, err := db.Compact(t.Context()); err != nil {
			t.Errorf("Compact: %v", err)
		}
		return
	}
	if os.Geteuid() != 0 {
		testenv.Absent(t, "only root can run a test as another user")
	}
	const user, otherGroup = 4711, 4712
	for _, test := range []struct {
		permissions fs.FileMode
		want        string // empty: it is compacted
	}{
		{0o600, ""},
		{0o644, ""}, // the group may do what all people may
		{0o640, "giving the file to group 4712, as the permissions -rw-r----- need it"},
		{0o660, "giving the file to group 4712, as the permissions -rw-rw---- need it"},
	} {
		folder, err := os.MkdirTemp("", "") // which another user may enter
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { os.RemoveAll(folder) })
		path := filepath.Join(folder, "store.db")
		db := open(t, path)
		put(t, db, "key", nil)
		db.Close()
		program := filepath.Join(folder, "program")
		if err := os.WriteFile(program, read(t, os.Args[0]), 0o755); err != nil {
			t.Fatal(err)
		}
		err = filepath.WalkDir(folder, func(name string, _ fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			return os.Chown(name, user, otherGroup)
		})
		if err == nil {
			err = os.Chmod(path, test.permissions)
		}
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), program, "-test.run=^"+t.Name()+"$", "-test.v")
		cmd.Dir = folder
		cmd.Env = append(os.Environ(), compactPath+"="+path, "TMPDIR="+folder)
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
		out, err := cmd.CombinedOutput()
		if (err == nil) != (test.want == "") || !strings.Contains(string(out), test.want) {
			t.Errorf("%v: %v\n%s", test.permissions, err, out)
		}
		group := user
		if test.want != "" {
			group = otherGroup // the file is the old one
		}
		if got, want := owner(t, path), fmt.Sprint(user, ":", group, " ", test.permissions); got != want {
			t.Errorf("%v: the file is of %s, want %s", test.permissions, got, want)
		}
	}
}
