//go:build unix

package pdfium

import (
	"os"
	"path/filepath"
	"testing"
)

// What others may have put into a folder is not run.
func TestFolderOfOthers(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "cache")
	if !privateFolder(folder) {
		t.Error("a folder that is made is not used")
	}
	if stat, err := os.Stat(folder); err != nil || stat.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v", stat.Mode(), err)
	}
	for _, mode := range []os.FileMode{0o770, 0o707, 0o777} {
		if err := os.Chmod(folder, mode); err != nil {
			t.Fatal(err)
		}
		if privateFolder(folder) {
			t.Errorf("a folder of mode %v is used", mode)
		}
	}
	if privateFolder("/dev/null") {
		t.Error("a file is used as a folder")
	}
	if os.Geteuid() == 0 {
		if err := os.Chmod(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(folder, 65534, 65534); err != nil {
			t.Fatal(err)
		}
		if privateFolder(folder) {
			t.Error("another user's folder is used")
		}
	}
}
