package archtest_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/internal/testenv"
)

// listed is a package as "go list" describes it.
type listed struct {
	ImportPath string
	Standard   bool
	Imports    []string
	Deps       []string // all that it reaches
	Module     *struct{ Path string }
}

// list returns what the packages named reach, themselves included, by import path.
func list(t *testing.T, arguments ...string) map[string]listed {
	t.Helper()
	noticeChanges(t)
	command := exec.CommandContext(t.Context(), "go", append([]string{"list", "-deps", "-json=ImportPath,Standard,Imports,Deps,Module"}, arguments...)...)
	command.Dir = testenv.Root(t)
	var talk bytes.Buffer
	command.Stderr = &talk
	out, err := command.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, talk.Bytes())
	}
	packages := make(map[string]listed)
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatalf("go list: %v", err)
		}
		packages[p.ImportPath] = p
	}
}

// noticeChanges looks at every Go file. "go test" repeats a result from its cache as
// long as the files that the test itself looked at are the same; what the go
// command reads for us does not count.
func noticeChanges(t *testing.T) {
	t.Helper()
	err := filepath.WalkDir(testenv.Root(t), func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && len(entry.Name()) > 1 && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir
		case strings.HasSuffix(path, ".go"), entry.Name() == "go.mod":
			_, err = os.Stat(path)
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
}

// ours is the name of a package within the house, "" for one of others.
func (p listed) ours() string {
	if p.Module == nil || p.Module.Path != house {
		return ""
	}
	return strings.TrimPrefix(p.ImportPath, house+"/")
}
