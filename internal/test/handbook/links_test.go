package handbook_test

import (
	"net/url"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// Each link of each paper leads to a file, and to a heading of it where it names one. Addresses of
// others are looked at for their form alone.
func TestLinksLead(t *testing.T) {
	all, found := pages(t), 0
	for _, p := range all {
		for _, link := range p.links {
			found++
			if fault := follow(t, p, link); fault != "" {
				t.Errorf("%s: %s: %s", p.path, link, fault)
			}
		}
	}
	t.Logf("%d links of %d papers", found, len(all))
}

// follow says what is wrong with a link of a page.
func follow(t *testing.T, p page, link string) string {
	t.Helper()
	u, err := url.Parse(link)
	switch {
	case err != nil:
		return "it is no address"
	case u.Scheme == "https" || u.Scheme == "http":
		if u.Host == "" || u.Scheme == "http" && !strings.HasPrefix(u.Host, "127.0.0.1:") && !strings.HasPrefix(u.Host, "localhost:") {
			return "an address of others is https://HOST"
		}
		return ""
	case u.Scheme == "mailto":
		return ""
	case u.Scheme != "" || u.Host != "" || strings.HasPrefix(u.Path, "/"):
		return "it is neither a path from here nor an address"
	}
	target := p
	if u.Path != "" {
		name := path.Join(path.Dir(p.path), u.Path)
		if _, err := os.Stat(filepath.Join(testenv.Root(t), filepath.FromSlash(name))); err != nil || strings.HasPrefix(name, "../") {
			return "there is no such file"
		}
		if u.Fragment == "" {
			return ""
		}
		if path.Ext(name) != ".md" {
			return "only papers have headings"
		}
		target = readPage(t, name)
	}
	if !slices.Contains(target.anchors, u.Fragment) {
		return "there is no such heading"
	}
	return ""
}

// Links that lead nowhere are found.
func TestStrayLinksAreFound(t *testing.T) {
	p := parsePage("docs/stray.md", []byte(`# Here and `+"`there`"+`, twice

## Here

## Here

[here](#here-and-there-twice) [again](#here-1) [not](#here-2) [away](away.md) [in](../README.md) [out](../../README.md)
[no heading](../README.md#nowhere) [plain](http://example.com/) [local](http://127.0.0.1:8080/) [file](file:///etc) ![p](no.png) [ref]

[ref]: nowhere.md
`))
	var stray []string
	for _, link := range p.links {
		if follow(t, p, link) != "" {
			stray = append(stray, link)
		}
	}
	want := []string{"#here-2", "away.md", "../../README.md", "../README.md#nowhere", "http://example.com/", "file:///etc", "no.png", "nowhere.md"}
	if diff := cmp.Diff(want, stray); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Every page of the handbook is reached from its door.
func TestEveryPageIsReached(t *testing.T) {
	reached, left := map[string]bool{}, []string{"docs/README.md"}
	for len(left) > 0 {
		name := left[0]
		left = left[1:]
		if reached[name] {
			continue
		}
		reached[name] = true
		for _, link := range readPage(t, name).links {
			target, _, _ := strings.Cut(link, "#")
			if path.Ext(target) == ".md" && !strings.Contains(target, "://") {
				left = append(left, path.Join(path.Dir(name), target))
			}
		}
	}
	for _, p := range pages(t) {
		if strings.HasPrefix(p.path, "docs/") && !reached[p.path] {
			t.Errorf("no way leads from docs/README.md to %s", p.path)
		}
	}
}
