package page

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/storage"
)

// Each problem has its status, its texts, a link that leads on, and Retry-After if time helps. Faults of the
// server, and only these, are reported. The error's text is not shown.
func TestProblems(t *testing.T) {
	t.Parallel()
	d := newInvitation(t, func(c *Config) { c.Operator.Contact = "mailto:help@example.is" })
	all := append(problems, struct {
		error
		problem
	}{errors.New("anything else, of 0101302989"), unexpectedProblem})
	for _, one := range all {
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/sign/x/none", nil)
		r.SetPathValue("token", "x")
		d.page.showError(w, r, fmt.Errorf("while something was done: %w", one.error))
		a := answerOfRecorder(w, one.error.Error())
		a.says(t, one.status, one.key+".title", one.key+".text", "problem.help").lacks(t, annas, "while something")
		if (one.retryAfter > 0) != (a.header.Get("Retry-After") != "") || one.status == http.StatusServiceUnavailable && one.retryAfter == 0 {
			t.Errorf("%v: %v", one.error, a.header)
		}
		faults := 0
		if one.status >= 500 && one.error != errBusy && one.error != errClosed { // these pass without the operator
			faults = 1
		}
		d.wantFaults(faults)
		if one.linkText != "" {
			a.contains(t, `href="/sign/x"`)
		}
	}
}

// A store that is unavailable or full is a temporary problem, which ends no session. An error for a client that
// has gone is not reported.
func TestStoreIsUnavailable(t *testing.T) {
	t.Parallel()
	d := newInvitation(t)
	b := d.loggedIn(0, anna)
	for _, err := range []error{storage.ErrUnavailable, storage.ErrFull} {
		d.page.config.Store = failing{d.config.Store, err}
		if a := b.get(of(d.invited, 0)).says(t, 503, "problem.away.title", "problem.again"); a.header.Get("Retry-After") == "" {
			t.Error(a.header)
		}
		b.post("/sign/logout").says(t, 503, "problem.away.title")
	}
	d.page.config.Store = d.config.Store
	b.showsDocument(of(d.invited, 0), true)
	d.wantFaults(4)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	d.page.showError(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/sign/x", nil).WithContext(gone), gone.Err())
}

// A problem page links to the page above it, if there is one.
func TestProblemLinks(t *testing.T) {
	t.Parallel()
	d := newInvitation(t)
	b := d.newBrowser()
	leads := func(a answer, key, to string) {
		t.Helper()
		a.says(t, a.status, key+".title")
		_, main, _ := strings.Cut(a.body, "<main")
		main, _, _ = strings.Cut(main, "</main>")
		if got := strings.Contains(main, "<a "); got != (to != "") || !strings.Contains(main, `href="`+to) && got {
			t.Errorf("%s: want a link to %q in\n%s", a.path, to, main)
		}
	}
	leads(b.get(of(d.invited, 1)), "problem.unopened", of(d.invited, 1))
	leads(b.get(of(d.invited, 1, "/none")), "problem.nopage", of(d.invited, 1))
	leads(b.get(of(d.invited, 1, "/pages/1")), "problem.nopage", of(d.invited, 1))
	leads(b.get("/sign/assets/none"), "problem.nopage", "")
	leads(b.get("/sign/"), "problem.nopage", "")
	leads(b.get("/sign/none").says(t, 404, "!problem.sender"), "problem.notfound", "")
	b.header = map[string]string{"Origin": "https://evil.example"}
	leads(b.post(d.link(0)+"/login"), "problem.foreign", d.link(0))
	leads(b.post(of(d.invited, 0, "/sign")), "problem.foreign", of(d.invited, 0))
	leads(b.post("/sign/logout"), "problem.foreign", "")
}
