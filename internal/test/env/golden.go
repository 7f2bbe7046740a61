package env

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Golden returns the content of a golden file. A file that does not exist is written first, with
// what build returns, if INNSIGLI_GOLDEN is "1" in the environment. A file that exists is never
// written.
func Golden(t testing.TB, path string, build func() []byte) []byte {
	t.Helper()
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) && os.Getenv("INNSIGLI_GOLDEN") == "1" {
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, build(), 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// SameAsGolden fails the test unless got is the content of a golden file, and returns that content.
// See [Golden] for when the file is written.
func SameAsGolden(t testing.TB, path string, got []byte) []byte {
	t.Helper()
	want := Golden(t, path, func() []byte { return got })
	if !bytes.Equal(want, got) {
		t.Errorf("%s is different.\n%s", path, firstDifference(string(want), string(got)))
	}
	return want
}

// firstDifference shows where two texts begin to differ.
func firstDifference(want, got string) string {
	same := 0
	for same < min(len(want), len(got)) && want[same] == got[same] {
		same++
	}
	part := func(text string) string {
		from := max(strings.LastIndexByte(text[:same], '\n')+1, same-40)
		line, _, _ := strings.Cut(text[from:], "\n")
		return fmt.Sprintf("%.100q", line)
	}
	return fmt.Sprintf("Line %d of the file has\n\t%s\nand now it is\n\t%s", strings.Count(want[:same], "\n")+1, part(want), part(got))
}

// SameAsGoldenJSON is [SameAsGolden] for values in JSON that have names. The file is one object
// with the names as its members. It has each value byte for byte.
func SameAsGoldenJSON(t testing.TB, path string, got map[string][]byte) map[string]json.RawMessage {
	t.Helper()
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(got)) {
		lines = append(lines, fmt.Sprintf("\t%q: %s", name, got[name]))
	}
	content := SameAsGolden(t, path, []byte("{\n"+strings.Join(lines, ",\n")+"\n}\n"))
	var want map[string]json.RawMessage
	if err := json.Unmarshal(content, &want); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return want
}
