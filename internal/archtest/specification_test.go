package archtest_test

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

const specification = "docs/reference/specification.md"

var (
	// citation is "spec 3.6", "spec 1.5, 3.6 and 4.2" or "spec 1.1 to 1.3", on one line of a comment or broken over two.
	citation = regexp.MustCompile(`\bspec(?:\s|\s*\n\s*(?://|#)\s)(\d+(?:\.\d+)?(?:(?:, | and | to )\d+(?:\.\d+)?)*)`)
	section  = regexp.MustCompile(`\d+(?:\.\d+)?`)
	// page is the name of a page of Markdown, with its folders.
	page = regexp.MustCompile(`[\w./-]*\w\.md\b`)
	// comment is the text of a comment on one line.
	comment = regexp.MustCompile(`(?m)(?://|#)\s(.*)$`)
)

// program returns the Go and Python files of the repository and its examples, and the shell of .ci, by path. This file
// is not among them: its examples of citations cite nothing.
func program(t *testing.T) map[string]string {
	t.Helper()
	all := make(map[string]string)
	err := filepath.WalkDir(testenv.Root(t), func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name := entry.Name(); name == "testdata" || name == "node_modules" || name == ".git" {
				return fs.SkipDir
			}
			return nil
		}
		relative, _ := filepath.Rel(testenv.Root(t), path)
		relative = filepath.ToSlash(relative)
		if relative == "internal/archtest/specification_test.go" {
			return nil
		}
		if extension := filepath.Ext(relative); extension == ".go" || extension == ".sh" || extension == ".py" || extension == "" && strings.HasPrefix(relative, ".ci/") {
			content, err := os.ReadFile(path)
			all[relative] = string(content)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// sections returns the numbers of the specification's headings.
func sections(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, m := range regexp.MustCompile(`(?m)^##+ (\d+(?:\.\d+)?) \S`).FindAllStringSubmatch(read(t, specification), -1) {
		all = append(all, m[1])
	}
	if len(all) < 40 {
		t.Fatalf("only %d headings", len(all))
	}
	return all
}

// Every section that the code cites exists, and every section is cited. Chapters need not be.
func TestSpecificationIsCited(t *testing.T) {
	known := sections(t)
	cited := make(map[string]bool)
	for path, content := range program(t) {
		for _, m := range citation.FindAllStringSubmatch(content, -1) {
			for _, number := range section.FindAllString(m[1], -1) {
				cited[number] = true
				if !slices.Contains(known, number) {
					t.Errorf("%s cites %q, and the specification has no %s", path, m[0], number)
				}
			}
		}
	}
	for _, number := range known {
		if strings.Contains(number, ".") && !cited[number] {
			t.Errorf("nothing cites spec %s", number)
		}
	}
}

// Pages that the code refers to are in the repository.
func TestPagesThatAreReferredTo(t *testing.T) {
	all := program(t)
	for _, path := range slices.Sorted(maps.Keys(all)) {
		for _, line := range comment.FindAllStringSubmatch(all[path], -1) {
			for _, name := range page.FindAllString(line[1], -1) {
				if !referredPage(t, filepath.Dir(path), name) {
					t.Errorf("%s refers to %s, which is not in the repository", path, name)
				}
			}
		}
	}
}

// referredPage reports whether a page is there, seen from the root, docs or the folder of the file that names it.
func referredPage(t *testing.T, folder, name string) bool {
	for _, from := range []string{".", "docs", folder} {
		if _, err := os.Stat(filepath.Join(testenv.Root(t), from, filepath.FromSlash(name))); err == nil {
			return true
		}
	}
	return false
}
