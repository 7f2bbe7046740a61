//go:build unix

package bolt_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/storage/bolt"
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

// The test's own program, run again as another user, finds in these variables which store to compact and to back up, or
// to migrate.
const (
	compactPath = "INNSIGLI_BOLT_COMPACT"
	migratePath = "INNSIGLI_BOLT_MIGRATE"
)

// The user and the group of the programs that tests run, and a group that they are not in.
const user, otherGroup = 4711, 4712

// asUser runs the test in a program of the user, who may write in the folder of that path, and returns its output.
func asUser(t *testing.T, variable, path string) (out string, err error) {
	t.Helper()
	folder := filepath.Dir(path)
	program := filepath.Join(folder, "program")
	if err := os.WriteFile(program, read(t, os.Args[0]), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Chown(program, user, user), os.Chown(folder, user, user)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), program, "-test.run=^"+t.Name()+"$", "-test.v")
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), variable+"="+path, "TMPDIR="+folder)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
	output, err := cmd.CombinedOutput()
	return string(output), err
}

// folderForUsers returns a new folder that other users may enter.
func folderForUsers(t *testing.T) string {
	t.Helper()
	if os.Geteuid() != 0 {
		testenv.Absent(t, "only root can run a test as another user")
	}
	folder, err := os.MkdirTemp("", "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(folder) })
	return folder
}

// change changes the owner, the group and the permissions of a file.
func change(t *testing.T, path string, uid, gid int, permissions fs.FileMode) {
	t.Helper()
	if err := errors.Join(os.Chown(path, uid, gid), os.Chmod(path, permissions)); err != nil {
		t.Fatal(err)
	}
}

// A server that does not run as root has a store whose file is of a group that the server is not in, as after cp -p by
// root, or of another user. Where that matters, Compact says so before it copies anything: it does not notice that the
// file is damaged.
func TestCompactOfAnotherUsersFile(t *testing.T) {
	if path := os.Getenv(compactPath); path != "" {
		db := open(t, path)
		if err := db.Backup(t.Context(), &strings.Builder{}); err != nil {
			t.Errorf("Backup: %v", err)
		}
		whole := pages(read(t, path))
		damaged := slices.Clone(whole)
		allToThemselves(damaged)
		overwrite(t, path, damaged)
		if _, _, err := db.Compact(t.Context()); err != nil && !errors.Is(err, bolt.ErrDamaged) {
			t.Errorf("Compact of a damaged file: %v", err)
		}
		overwrite(t, path, whole)
		if _, _, err := db.Compact(t.Context()); err != nil {
			t.Errorf("Compact: %v", err)
		}
		put(t, db, "later", nil)
		return
	}
	for _, test := range []struct {
		uid, gid    int
		permissions fs.FileMode
		want        string // empty: it is compacted
	}{
		{user, otherGroup, 0o600, ""},
		{user, otherGroup, 0o644, ""}, // the group may do what all people may
		{user, otherGroup, 0o640, "belongs to group 4712, and a process of user 4711 cannot give a new file to it"},
		{user, otherGroup, 0o660, "belongs to group 4712, and a process of user 4711 cannot give a new file to it"},
		{0, user, 0o660, "belongs to user 0, and a process of user 4711 cannot give a new file to it"},
	} {
		folder := folderForUsers(t)
		path := filepath.Join(folder, "store.db")
		from, content := storeWithBranches(t)
		if err := errors.Join(os.WriteFile(path, content, 0o600), os.CopyFS(path+".documents", os.DirFS(from+".documents"))); err != nil {
			t.Fatal(err)
		}
		err := filepath.WalkDir(path+".documents", func(name string, _ fs.DirEntry, err error) error {
			return errors.Join(err, os.Chown(name, user, user))
		})
		if err != nil {
			t.Fatal(err)
		}
		change(t, path, test.uid, test.gid, test.permissions)
		out, err := asUser(t, compactPath, path)
		if (err == nil) != (test.want == "") || strings.Contains(out, "Compact of a damaged file: ") != (test.want != "") || !strings.Contains(out, test.want) {
			t.Errorf("%v: %v\n%s", test.permissions, err, out)
		}
		if test.want == "" {
			test.gid = user
		} // or else the file is the old one
		if got, want := owner(t, path), fmt.Sprint(test.uid, ":", test.gid, " ", test.permissions); got != want {
			t.Errorf("%v: the file is of %s, want %s", test.permissions, got, want)
		}
	}
}

// A server that does not run as root migrates a store to a folder of root's that it may write in, such as a volume. The
// folder stays root's.
func TestMigrateToAnotherUsersFolder(t *testing.T) {
	if path := os.Getenv(migratePath); path != "" {
		if from, to, err := bolt.Migrate(path, bolt.Options{}); from != 3 || to != 6 || err != nil {
			t.Errorf("Migrate: %d -> %d, %v", from, to, err)
		}
		open(t, path)
		return
	}
	path := filepath.Join(folderForUsers(t), "store.db")
	if err := errors.Join(os.WriteFile(path, read(t, earlier(t, 3)), 0o600), os.Mkdir(path+".documents", 0o700)); err != nil {
		t.Fatal(err)
	}
	change(t, path, user, user, 0o600)
	change(t, path+".documents", 0, user, 0o770)
	if out, err := asUser(t, migratePath, path); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if got, want := owner(t, path+".documents"), "0:4711 -rwxrwx---"; got != want {
		t.Errorf("the folder is of %s, want %s", got, want)
	}
}

// A server that does not run as root migrates a store of root's that it may write in. It can use the store, and Migrate
// says why it was not compacted.
func TestMigrateOfAnotherUsersFile(t *testing.T) {
	if path := os.Getenv(migratePath); path != "" {
		from, to, err := bolt.Migrate(path, bolt.Options{})
		if from != 3 || to != 6 || !errors.Is(err, bolt.ErrNotCompacted) || !strings.Contains(err.Error(), "belongs to user 0") {
			t.Errorf("Migrate: %d -> %d, %v", from, to, err)
		}
		put(t, open(t, path), "key", nil)
		return
	}
	path := filepath.Join(folderForUsers(t), "store.db")
	if err := os.WriteFile(path, read(t, earlier(t, 3)), 0o600); err != nil {
		t.Fatal(err)
	}
	change(t, path, 0, user, 0o660)
	if out, err := asUser(t, migratePath, path); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if from, to, err := bolt.Migrate(path, bolt.Options{}); from != 6 || to != 6 || err != nil { // as root
		t.Errorf("Migrate again: %d -> %d, %v", from, to, err)
	}
	if got, want := owner(t, path), "0:4711 -rw-rw----"; got != want {
		t.Errorf("the file is of %s, want %s", got, want)
	}
}

// What root makes when it migrates a store belongs to the owner of the store's file.
func TestRootMigratesAnothersStore(t *testing.T) {
	path := filepath.Join(folderForUsers(t), "store.db")
	if err := os.WriteFile(path, read(t, earlier(t, 3)), 0o600); err != nil {
		t.Fatal(err)
	}
	change(t, path, user, otherGroup, 0o640)
	if _, _, err := bolt.Migrate(path, bolt.Options{}); err != nil {
		t.Error(err)
	}
	files := 0
	err := filepath.WalkDir(filepath.Dir(path), func(name string, entry fs.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(name, path) {
			files++
			if got := owner(t, name); !strings.HasPrefix(got, "4711:4712 ") {
				t.Errorf("%s is of %s", entry.Name(), got)
			}
		}
		return err
	})
	if err != nil || files < 4 {
		t.Errorf("there are %d files, %v", files, err)
	}
}
