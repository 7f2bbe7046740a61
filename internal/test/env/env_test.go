package env

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// verdict is a testing.TB that remembers how the test under test ended.
type verdict struct {
	testing.TB
	ending, reason string
}

func (v *verdict) Helper() {}

func (v *verdict) Fatalf(format string, args ...any) { v.end("failed", format, args) }

func (v *verdict) Skipf(format string, args ...any) { v.end("skipped", format, args) }

func (v *verdict) end(ending, format string, args []any) {
	v.ending, v.reason = ending, fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// judge runs body as a test of its own, which may end early.
func judge(t *testing.T, body func(testing.TB)) *verdict {
	v := &verdict{TB: t, ending: "passed"}
	done := make(chan struct{})
	go func() {
		defer close(done)
		body(v)
	}()
	<-done
	return v
}

func TestWhatIsAbsent(t *testing.T) {
	t.Setenv("INNSIGLI_TOOLS", t.TempDir())
	t.Setenv("INNSIGLI_CORPUS", t.TempDir())
	for name, test := range map[string]struct {
		body   func(testing.TB)
		advice string
	}{
		"program":           {func(t testing.TB) { Program(t, "no-such-program") }, "Debian package no-such-program"},
		"program elsewhere": {func(t testing.TB) { t.(*verdict).Setenv("PATH", ""); Program(t, "pdfsig") }, "Debian package poppler-utils"},
		"tool":              {func(t testing.TB) { Tool(t, "dss/dss.jar") }, "run .ci/tools"},
		"something else":    {func(t testing.TB) { Absent(t, "no %s: buy one", "server") }, "no server: buy one"},
		"corpus":            {func(t testing.TB) { Corpus(t, "pdf") }, "INNSIGLI_CORPUS"},
	} {
		t.Run(name, func(t *testing.T) {
			for noSkip, ending := range map[string]string{"": "skipped", "1": "failed"} {
				t.Setenv("INNSIGLI_NO_SKIP", noSkip)
				got := judge(t, test.body)
				if got.ending != ending || !strings.Contains(got.reason, test.advice) {
					t.Errorf("INNSIGLI_NO_SKIP=%q: %s, %q; want %s, %q", noSkip, got.ending, got.reason, ending, test.advice)
				}
			}
		})
	}
}

func TestWhatIsThere(t *testing.T) {
	folder := t.TempDir()
	write(t, filepath.Join(folder, "dss", "dss.jar"), 0o644)
	write(t, filepath.Join(folder, "pdf", "a.pdf"), 0o644)
	write(t, filepath.Join(folder, "bin", "some-program"), 0o755)
	t.Setenv("INNSIGLI_TOOLS", folder)
	t.Setenv("INNSIGLI_CORPUS", folder)
	t.Setenv("PATH", filepath.Join(folder, "bin"))
	for got, want := range map[string]string{
		Tool(t, "dss/dss.jar"):     "dss/dss.jar",
		Corpus(t, "pdf"):           "pdf",
		Program(t, "some-program"): "bin/some-program",
	} {
		if got != filepath.Join(folder, filepath.FromSlash(want)) {
			t.Errorf("got %s, want %s in %s", got, want, folder)
		}
	}
}

func TestRelativeFoldersAreSeenFromTheRoot(t *testing.T) {
	t.Setenv("INNSIGLI_CORPUS", "internal")
	if got, want := Corpus(t, "archtest"), filepath.Join(Root(t), "internal", "archtest"); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestRootIsTheNearestModule(t *testing.T) {
	module := t.TempDir()
	write(t, filepath.Join(module, "go.mod"), 0o644)
	write(t, filepath.Join(module, "a", "b", "c.go"), 0o644)
	t.Chdir(filepath.Join(module, "a", "b"))
	if got := Root(t); !sameFolder(t, got, module) {
		t.Errorf("got %s, want %s", got, module)
	}
	t.Chdir(string(filepath.Separator))
	if got := judge(t, func(t testing.TB) { Root(t) }); got.ending != "failed" {
		t.Errorf("outside a module: %s, want failed", got.ending)
	}
}

func TestTablesAreOfWholeCorpora(t *testing.T) {
	module := t.TempDir()
	write(t, filepath.Join(module, "go.mod"), 0o644)
	t.Chdir(module)
	table := filepath.Join(module, "docs", "table.tsv")
	t.Setenv("INNSIGLI_FULL", "")
	WriteTable(t, "table.tsv", []byte("sample"))
	if _, err := os.Stat(table); !os.IsNotExist(err) {
		t.Errorf("a sample wrote a table: %v", err)
	}
	t.Setenv("INNSIGLI_FULL", "1")
	WriteTable(t, "table.tsv", []byte("figures"))
	if got, err := os.ReadFile(table); string(got) != "figures" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}

func write(t *testing.T, path string, mode os.FileMode) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, nil, mode); err != nil {
		t.Fatal(err)
	}
}

// sameFolder compares folders and not names: a temporary folder may lie behind a link.
func sameFolder(t *testing.T, a, b string) bool {
	t.Helper()
	first, err := os.Stat(a)
	if err != nil {
		t.Fatal(err)
	}
	second, err := os.Stat(b)
	if err != nil {
		t.Fatal(err)
	}
	return os.SameFile(first, second)
}
