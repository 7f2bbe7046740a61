//go:build unix

package pdfium

import (
	"os"
	"path/filepath"
	"testing"
)

// TestPrivateFolder checks that code is not loaded from a folder that another user owns or can write to.
func TestPrivateFolder(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "cache")
	if !privateFolder(folder) {
		t.Error("a folder that did not exist is not used")
	}
	if stat, err := os.Stat(folder); err != nil || stat.Mode().Perm() != 0o700 {
		t.Errorf("the new folder has mode %v, error %v, want 0700", stat.Mode(), err)
	}
	change := func(mode os.FileMode, owner int) {
		if err := os.Chmod(folder, mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chown(folder, owner, -1); err != nil {
			t.Fatal(err)
		}
	}
	for _, mode := range []os.FileMode{0o770, 0o707, 0o777} {
		if change(mode, os.Geteuid()); privateFolder(folder) {
			t.Errorf("a folder of mode %v is used", mode)
		}
	}
	if os.Geteuid() == 0 {
		if change(0o700, 65534); privateFolder(folder) {
			t.Error("a folder of another user is used")
		}
	}
	if privateFolder(os.DevNull) {
		t.Error("a file is used as a folder")
	}
}
