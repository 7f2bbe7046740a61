package archtest_test

import (
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

var documents = []string{"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"}

// read returns a file of the repository.
func read(t *testing.T, name string) string {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(testenv.Root(t), filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return string(content)
}

// blocks returns the code blocks of a document in a language.
func blocks(t *testing.T, document, language string) []string {
	t.Helper()
	var out []string
	for _, m := range regexp.MustCompile("(?ms)^```(\\w*)\n(.*?)^```$").FindAllStringSubmatch(read(t, document), -1) {
		if m[1] == language {
			out = append(out, m[2])
		}
	}
	if len(out) == 0 {
		t.Fatalf("%s has no block of %q", document, language)
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

// sources returns the Go files of a package but its tests.
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

// standard are the packages of the standard library that the documents name.
var standard = []string{"crypto", "io", "time"}

// Names of the code in the documents, such as `pades.Prepare`, are in the code.
func TestNamesInTheDocumentsExist(t *testing.T) {
	names := regexp.MustCompile("`([a-z]+)((?:\\.[A-Z]\\w*)+)`")
	found := 0
	for _, document := range documents {
		for _, m := range names.FindAllStringSubmatch(read(t, document), -1) {
			if slices.Contains(standard, m[1]) {
				continue
			}
			var source string
			for _, e := range slices.Concat(layers...) {
				if path.Base(e.path) == strings.TrimPrefix(m[1], "test") && strings.HasPrefix(e.path, "internal/test/") == strings.HasPrefix(m[1], "test") {
					source += sources(t, e.path)
				}
			}
			for _, name := range strings.Split(m[2], ".")[1:] {
				found++
				if !regexp.MustCompile(`(?m)^(func (\(.*?\) )?|type |\t|var |const )` + name + `\b`).MatchString(source) {
					t.Errorf("%s: %s%s is not in the code", document, m[1], m[2])
				}
			}
		}
	}
	if found == 0 {
		t.Error("no name found")
	}
}

// ARCHITECTURE.md has a line for every package of the table, and for no other.
func TestEveryPackageHasALine(t *testing.T) {
	lines := regexp.MustCompile("(?m)^\\| `([\\w/]+)` \\| .+ \\|$").FindAllStringSubmatch(read(t, "ARCHITECTURE.md"), -1)
	var want, got []string
	for _, e := range slices.Concat(layers...) {
		want = append(want, e.path)
	}
	for _, line := range lines {
		got = append(got, line[1])
	}
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("packages (-table +ARCHITECTURE.md):\n%s", diff)
	}
}

// The drawing of ARCHITECTURE.md has packages of the table in the order of their layers.
func TestDrawingFollowsTheLayers(t *testing.T) {
	const columns = 50 // of the drawing; a description is beside it
	above, packages := 0, 0
	for line := range strings.Lines(blocks(t, "ARCHITECTURE.md", "")[0]) {
		drawn := []rune(line)
		row := above
		for _, name := range regexp.MustCompile(`[a-z/]+`).FindAllString(string(drawn[:min(len(drawn), columns)]), -1) {
			level := slices.IndexFunc(layers, func(l layer) bool {
				return slices.ContainsFunc(l, func(e entry) bool { return e.path == name })
			})
			if level < above {
				t.Errorf("%s is in layer %d of the table, and drawn below layer %d", name, level, above)
			}
			row = max(row, level)
			packages++
		}
		above = row
	}
	if packages == 0 {
		t.Error("no package found")
	}
}

// Links within the repository lead somewhere.
func TestLinksLead(t *testing.T) {
	for _, document := range documents {
		text := read(t, document)
		for _, m := range regexp.MustCompile(`\]\(([^)]+)\)`).FindAllStringSubmatch(text, -1) {
			link := m[1]
			if strings.HasPrefix(link, "https://") {
				continue
			}
			if heading, ok := strings.CutPrefix(link, "#"); ok {
				if !slices.Contains(anchors(text), heading) {
					t.Errorf("%s: no heading for %s", document, link)
				}
			} else if _, err := os.Stat(filepath.Join(testenv.Root(t), filepath.FromSlash(link))); err != nil {
				t.Errorf("%s: %v", document, err)
			}
		}
	}
}

// anchors are the names that GitHub gives to a document's headings.
func anchors(text string) []string {
	var out []string
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		plain := regexp.MustCompile(`[^\w -]`).ReplaceAllString(strings.ToLower(m[1]), "")
		out = append(out, strings.ReplaceAll(plain, " ", "-"))
	}
	return out
}
