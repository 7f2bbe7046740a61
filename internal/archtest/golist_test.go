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
	"sync"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// listed is a package as "go list" describes it.
type listed struct {
	ImportPath string
	Standard   bool
	Imports    []string
	Module     *struct{ Path string }
}

// lists has what list has returned, by its arguments: what the go command reads does not change
// during the tests.
var lists sync.Map

// list returns the packages named and all that they reach, by import path.
func list(t *testing.T, arguments ...string) map[string]listed {
	t.Helper()
	key := strings.Join(arguments, " ")
	if known, ok := lists.Load(key); ok {
		return known.(map[string]listed)
	}
	noticeChanges(t)
	command := exec.CommandContext(t.Context(), "go", append([]string{"list", "-deps", "-json=ImportPath,Standard,Imports,Module"}, arguments...)...)
	command.Dir = testenv.Root(t)
	var messages bytes.Buffer
	command.Stderr = &messages
	out, err := command.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, messages.Bytes())
	}
	packages := make(map[string]listed)
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatalf("go list: %v", err)
		}
		packages[p.ImportPath] = p
	}
	lists.Store(key, packages)
	return packages
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

// ours returns the path of a package within this module, "" for a package of another module.
func (p listed) ours() string {
	if p.Module == nil || p.Module.Path != modulePath {
		return ""
	}
	return strings.TrimPrefix(p.ImportPath, modulePath+"/")
}
