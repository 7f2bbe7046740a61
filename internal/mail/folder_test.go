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
