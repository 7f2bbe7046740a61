package httpapi_test

import (
	"bytes"
	"maps"
	"net/http"
	"slices"
	"strings"
)

const (
	problemType = "application/problem+json"
	validation  = "One or more validation errors occurred."
)

// explained checks what every problem has: its status, and a type whose page
// explains it (spec 1.4).
func (c *client) explained(a answer) {
	c.Helper()
	p := c.object(a)
	kind, _ := p["type"].(string)
	title, _ := p["title"].(string)
	if p["status"] != float64(a.status) || title == "" || !strings.HasPrefix(kind, c.url+"/problems/") {
		c.Errorf("a problem of status %d is %s", a.status, a.body)
		return
	}
	if _, known := c.pages.LoadOrStore(kind+title, true); known {
		return
	}
	page := c.send(c.request(http.MethodGet, strings.TrimPrefix(kind, c.url), nil))
	if page.status != http.StatusOK || !strings.HasPrefix(page.header.Get("Content-Type"), "text/html") || !bytes.Contains(page.body, []byte("<h1>"+title+"</h1>")) {
		c.Errorf("%s does not explain %q: %d %.200s", kind, title, page.status, page.body)
	}
}

// wantProblem checks a titled problem, and that it has no members but those of
// RFC 9457.
func (c *client) wantProblem(a answer, status int, title string) {
	c.Helper()
	p := c.object(a)
	if detail, _ := p["detail"].(string); detail == "" {
		c.Errorf("no detail: %s", a.body)
	}
	if got := a.header.Get("Content-Type"); got != problemType {
		c.Errorf("Content-Type %q", got)
	}
	diff(c.T, "title", title, p["title"])
	diff(c.T, "members", []string{"detail", "status", "title", "type"}, slices.Sorted(maps.Keys(p)))
	if a.status != status {
		c.Errorf("status %d, want %d", a.status, status)
	}
}

// wantInvalid checks a validation 400 that names exactly these fields
// (spec 1.3).
func (c *client) wantInvalid(a answer, paths ...string) {
	c.Helper()
	if a.status != http.StatusBadRequest {
		c.Errorf("status %d, want 400: %.300s", a.status, a.body)
		return
	}
	p := c.object(a)
	diff(c.T, "title", validation, p["title"])
	diff(c.T, "members", []string{"errors", "status", "title", "type"}, slices.Sorted(maps.Keys(p)))
	if got := a.header.Get("Content-Type"); got != problemType {
		c.Errorf("Content-Type %q", got)
	}
	faults, _ := p["errors"].(object)
	slices.Sort(paths)
	diff(c.T, "paths of the errors", paths, slices.Sorted(maps.Keys(faults)))
	for path, messages := range faults {
		said := texts(messages)
		if len(said) == 0 || slices.Contains(said, "") {
			c.Errorf("nothing is said about %s: %v", path, messages)
		}
	}
}
