package handbook_test

import (
	"path"
	"path/filepath"
	"strings"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// The Go of the how-tos is part of examples that the tests run.
func TestGoIsThatOfExamples(t *testing.T) {
	squeezed := func(text string) string { return strings.Join(strings.Fields(text), " ") }
	examples, found := "", 0
	for _, folders := range []string{"*", "*/*"} {
		files, err := filepath.Glob(filepath.Join(testenv.Root(t), filepath.FromSlash(folders), "example*_test.go"))
		if err != nil {
			t.Fatal(err)
		}
		examples += squeezed(read(t, files...))
	}
	for _, p := range pages(t) {
		if path.Dir(p.path) != "docs/how-to" {
			continue
		}
		for _, b := range p.blocks {
			if b.language() == "go" {
				found++
				if !strings.Contains(examples, squeezed(b.text)) {
					t.Errorf("%s: not in an example:\n%s", p.path, b.text)
				}
			}
		}
	}
	if found == 0 {
		t.Error("no Go found")
	}
}
