package handbook_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// made holds the part of a page between two marks to what the program says of itself, or writes it
// there with INNSIGLI_GOLDEN=1.
func made(t *testing.T, name, part, want string) {
	t.Helper()
	path := filepath.Join(testenv.Root(t), filepath.FromSlash(name))
	begin, end := "<!-- "+part+", by the program -->\n", "<!-- end of "+part+" -->"
	before, rest, begun := strings.Cut(string(contents(t, path)), begin)
	got, after, ended := strings.Cut(rest, end)
	if !begun || !ended {
		t.Fatalf("%s has no part %q", name, part)
	}
	if os.Getenv("INNSIGLI_GOLDEN") == "1" {
		if err := os.WriteFile(path, []byte(before+begin+"\n"+want+"\n"+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff("\n"+want+"\n", got); diff != "" {
		t.Errorf("%s is not what the program says (-program +page); INNSIGLI_GOLDEN=1 writes it:\n%s", name, diff)
	}
}
