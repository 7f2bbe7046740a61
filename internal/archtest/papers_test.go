package archtest_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/internal/testenv"
)

var papers = []string{"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"}

// read returns a file of the repository.
func read(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(testenv.Root(t), filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// blocks are the code blocks of a paper in a language.
func blocks(t *testing.T, paper, language string) []string {
	t.Helper()
	var out []string
	for _, m := range regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$").FindAllStringSubmatch(read(t, paper), -1) {
		if m[1] == language {
			out = append(out, m[2])
		}
	}
	if len(out) == 0 {
		t.Fatalf("%s has no block of %q", paper, language)
	}
	return out
}

// squeezed is text without what gofmt decides.
func squeezed(text string) string { return strings.Join(strings.Fields(text), " ") }

// The README's Go is part of examples that run.
func TestREADMECompiles(t *testing.T) {
	example := squeezed(read(t, "pades/example_test.go") + read(t, "xades/example_test.go") + read(t, "stamp/pdfium/example_signed_test.go") + read(t, "webhook/example_receive_test.go"))
	for _, block := range blocks(t, "README.md", "go") {
		if !strings.Contains(example, squeezed(block)) {
			t.Errorf("not in an example:\n%s", block)
		}
	}
}

// Every line of ARCHITECTURE.md's seams is in the source of its package.
func TestSeamsAreThoseOfTheCode(t *testing.T) {
	source := ""
	for _, line := range strings.Split(blocks(t, "ARCHITECTURE.md", "go")[0], "\n") {
		line, _, _ = strings.Cut(line, "//")
		line = strings.TrimSpace(line)
		if name, ok := strings.CutPrefix(line, "package "); ok {
			source = squeezed(sources(t, name))
			line = "package " + path.Base(name)
		}
		if !strings.Contains(source, squeezed(line)) {
			t.Errorf("not in the code: %s", line)
		}
	}
}

// sources are the Go files of a package but its tests.
func sources(t *testing.T, name string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(testenv.Root(t), filepath.FromSlash(name), "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("package %s: no files (%v)", name, err)
	}
	var out strings.Builder
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		out.Write(content)
	}
	return out.String()
}

// Names of the code in the papers, such as `pades.Prepare`, are in the code.
func TestNamesInThePapersExist(t *testing.T) {
	names := regexp.MustCompile("`([a-z]+)((?:\\.[A-Z]\\w*)+)`")
	found := 0
	for _, paper := range papers {
		for _, m := range names.FindAllStringSubmatch(read(t, paper), -1) {
			if !slices.ContainsFunc(slices.Concat(plan...), func(r room) bool { return r.name == m[1] }) {
				continue // the standard library's
			}
			source := sources(t, m[1])
			for _, name := range strings.Split(m[2], ".")[1:] {
				found++
				if !regexp.MustCompile(`(?m)^(func (\(.*?\) )?|type |\t|var |const )` + name + `\b`).MatchString(source) {
					t.Errorf("%s: %s%s is not in the code", paper, m[1], m[2])
				}
			}
		}
	}
	if found == 0 {
		t.Error("no name found")
	}
}

// The drawing has every package in its place; those in parentheses are not built.
func TestDrawingHasEveryRoom(t *testing.T) {
	drawing := blocks(t, "ARCHITECTURE.md", "")[0]
	for _, r := range slices.Concat(plan...) {
		short := strings.TrimPrefix(r.name, "internal/") // one line is headed "internal/:"
		if !regexp.MustCompile(`(^|[^(\w/])(internal/)?` + regexp.QuoteMeta(short) + `([^)\w/]|$)`).MatchString(drawing) {
			t.Errorf("%s is not in the drawing", r.name)
		}
	}
	for _, m := range regexp.MustCompile(`\(([\w/]+)\)`).FindAllStringSubmatch(drawing, -1) {
		if _, err := os.Stat(filepath.Join(testenv.Root(t), filepath.FromSlash(m[1]))); err == nil {
			t.Errorf("%s is built, and the drawing says that it is not", m[1])
		}
	}
}

// Links within the repository lead somewhere.
func TestLinksLead(t *testing.T) {
	for _, paper := range papers {
		text := read(t, paper)
		for _, m := range regexp.MustCompile(`\]\(([^)]+)\)`).FindAllStringSubmatch(text, -1) {
			link := m[1]
			if strings.HasPrefix(link, "https://") {
				continue
			}
			if heading, ok := strings.CutPrefix(link, "#"); ok {
				if !slices.Contains(anchors(text), heading) {
					t.Errorf("%s: no heading for %s", paper, link)
				}
			} else if _, err := os.Stat(filepath.Join(testenv.Root(t), filepath.FromSlash(link))); err != nil {
				t.Errorf("%s: %v", paper, err)
			}
		}
	}
}

// anchors are the names that GitHub gives to a paper's headings.
func anchors(text string) []string {
	var out []string
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		plain := regexp.MustCompile(`[^\w -]`).ReplaceAllString(strings.ToLower(m[1]), "")
		out = append(out, strings.ReplaceAll(plain, " ", "-"))
	}
	return out
}
