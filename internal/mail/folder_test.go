package mail

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "mail")
	send(t, "dir:"+path)
	files, err := filepath.Glob(filepath.Join(path, "*"))
	if err != nil || len(files) != 1 || !strings.HasSuffix(files[0], "-0b6c8f0e.eml") {
		t.Fatalf("%v, %v", files, err)
	}
	content, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	judge(t, content)
}

// Where the file is can be told.
func TestFolderTells(t *testing.T) {
	path := t.TempDir()
	var told []string
	if err := parsed(t, "dir:"+path, Options{Told: func(line string) { told = append(told, line) }}).Send(t.Context(), message); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(path, "*.eml"))
	if err != nil || len(files) != 1 || len(told) != 1 || told[0] != "written to "+files[0] {
		t.Errorf("%q, %v, %v", told, files, err)
	}
}
