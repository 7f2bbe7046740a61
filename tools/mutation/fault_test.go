package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// Each fault of the lists replaces a passage of the code as it is now, and the code with the fault builds. With -short
// nothing is built.
func TestFaults(t *testing.T) {
	t.Chdir(testenv.Root(t))
	var faults []fault
	for _, file := range []string{"signatures.txt", "service.txt"} {
		list, err := read(filepath.Join("tools/mutation", file))
		if err != nil || len(list) < 50 {
			t.Fatalf("%s: %d faults, %v", file, len(list), err)
		}
		faults = append(faults, list...)
	}
	for _, f := range faults {
		if !slices.Contains(suites, f.folder) {
			t.Errorf("%s: no suite", f.heading())
		}
		if _, _, err := f.apply("."); err != nil {
			t.Errorf("%s: %v", f.heading(), err)
		} else if !testing.Short() {
			if _, err := f.build(t.Context(), ".", t.TempDir()); err != nil {
				t.Errorf("%s: %v", f.heading(), err)
			}
		}
	}
}

// A fault that the tests of a package find, and one that they do not.
func TestSeed(t *testing.T) {
	root := t.TempDir()
	t.Chdir(root)
	for name, content := range map[string]string{
		"go.mod":            "module github.com/innsigli/innsigli\n",
		"ades/code.go":      "package ades\n\nfunc Sum(a, b int) int {\n\treturn a + b\n}\n\nfunc Unused() bool {\n\treturn true\n}\n",
		"ades/code_test.go": "package ades\n\nimport \"testing\"\n\nfunc TestSum(t *testing.T) {\n\tif Sum(1, 2) != 3 {\n\t\tt.Error()\n\t}\n}\n",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	was := suites
	suites = []string{"ades"}
	t.Cleanup(func() { suites = was })
	faults, err := parse("# a comment\n== ades: a difference\n-return a + b\n+return a - b\n== ades: never\n-return true\n+return false\n")
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"TestSum", ""} {
		suite, test, err := faults[i].seed(t.Context(), ".")
		if err != nil || test != want || (suite == "") != (want == "") {
			t.Errorf("%s: found by %q %q, %v", faults[i].heading(), suite, test, err)
		}
	}
	for _, wrong := range []fault{{"ades", "no such passage", "return 1\n", ""}, {"ades", "a passage that stands twice", "}\n", ""}, {"ades", "what is no Go", "return true\n", "return 1\n"}} {
		if _, _, err := wrong.seed(t.Context(), "."); err == nil {
			t.Errorf("%s: no error", wrong.heading())
		}
	}
}
