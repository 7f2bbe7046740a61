package httpapi_test

import (
	"net/http"
	"strings"
)

// learnsNothing calls for another account. What the call is about is like what does not exist, to the byte;
// where it is about nothing there is, a list is empty, and what is made is the caller's own.
func (c *client) learnsNothing(method, template string, a about) {
	c.Helper()
	theirs := c.call(method, a.path(template), a.body)
	if a.isNew() {
		if method == http.MethodGet {
			empty := object{"items": []any{}}
			if template == processesPath { // which is paged
				empty["next"] = nil
			}
			c.want(theirs, http.StatusOK, empty)
		} else if theirs.status != a.status {
			c.Errorf("status %d, want %d: %.300s", theirs.status, a.status, theirs.body)
		}
		return
	}
	b := a.ofNobody(c.T)
	nobodys := c.call(method, b.path(template), b.body)
	c.wantProblem(theirs, http.StatusNotFound, "Not found")
	diff(c.T, "body", string(nobodys.body), string(theirs.body))
	diff(c.T, "header", nobodys.fixedHeader(), theirs.fixedHeader())
	for _, id := range a.all() {
		if strings.Contains(string(theirs.body), id) {
			c.Errorf("the answer names %s: %s", id, theirs.body)
		}
	}
}

// fixedHeader is the header without the time.
func (a answer) fixedHeader() http.Header {
	h := a.header.Clone()
	h.Del("Date")
	return h
}
