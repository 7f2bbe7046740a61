package page

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/storage"
)

// Each problem has a page with its status, its words in both languages, and says to whom the server
// belongs only what is the server's fault.
func TestProblems(t *testing.T) {
	t.Parallel()
	d := newDoor(t, func(c *Config) { c.Operator.Contact = "mailto:help@example.is" })
	all := append(problems, struct {
		error
		problem
	}{errors.New("anything else, of 0101302989"), unexpectedProblem})
	for _, one := range all {
		d.faults = nil
		w, r := httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/sign/x/none", nil)
		r.SetPathValue("token", "x")
		d.page.showError(w, r, fmt.Errorf("while something was done: %w", one.error))
		a := answer{w.Code, "", w.Body.String()}
		a.says(t, one.status, one.key+".title", one.key+".text", "problem.help")
		if strings.Contains(a.body, annas) || strings.Contains(a.body, "while something") {
			t.Error(a.body)
		}
		if (one.retryAfter > 0) != (w.Header().Get("Retry-After") != "") {
			t.Errorf("%v: %v", one.error, w.Header())
		}
		busy := one.error == errBusy || one.error == errClosed // it is nobody's fault
		if told := len(d.faults) > 0; told != (one.status >= 500 && !busy) {
			t.Errorf("%v: told: %v", one.error, told)
		}
		if one.linkText != "" && !strings.Contains(a.body, `href="/sign/x"`) {
			t.Errorf("%v: leads nowhere: %s", one.error, a.body)
		}
	}
}

// A store that is away, or has no room, is a matter of time; and nobody is told who is gone.
func TestStoreIsAway(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	b := d.loggedIn(0, anna)
	for _, err := range []error{storage.ErrUnavailable, storage.ErrFull} {
		d.page.config.Store = failing{d.config.Store, err}
		b.get(of(d.made, 0)).says(t, 503, "problem.away.title", "problem.again")
		if b.last.Get("Retry-After") == "" {
			t.Error(b.last)
		}
		b.post("/sign/logout").says(t, 503, "problem.away.title")
	}
	d.page.config.Store = d.config.Store
	if !b.there(of(d.made, 0)) {
		t.Error("the visit has ended")
	}
	d.faults = nil
	gone, leave := context.WithCancel(t.Context())
	leave()
	d.page.showError(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/sign/x", nil).WithContext(gone), gone.Err())
	if len(d.faults) > 0 {
		t.Error(d.faults)
	}
}

type failing struct {
	Store
	err error
}

func (f failing) Record(context.Context, []byte) (storage.Record, error) {
	return storage.Record{}, f.err
}

// Paths are there or not, for their methods alone; what a form was sent to leads to the form.
func TestPathsAndMethods(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	for _, test := range []struct {
		method, path string
		status       int
		more         string // Allow, or Location
	}{
		{"GET", "/sign/", 404, ""},
		{"GET", "/sign/a/b/c", 404, ""},
		{"GET", "/sign/a/b/pages/1", 404, ""},
		{"POST", "/sign/", 404, ""},
		{"BREW", "/sign/", 404, ""},
		{"DELETE", d.link(0), 405, "GET, HEAD"},
		{"POST", d.link(0), 405, "GET, HEAD"},
		{"PUT", "/sign/goodbye", 405, "GET, HEAD"},
		{"DELETE", of(d.made, 0, "/sign"), 405, "POST"},
		{"PUT", of(d.made, 0, "/decline"), 405, "GET, HEAD, POST"},
		{"GET", of(d.made, 0, "/sign"), 303, of(d.made, 0)},
		{"HEAD", of(d.made, 0, "/login"), 303, of(d.made, 0)},
		{"GET", d.link(0) + "/login", 303, d.link(0)},
		{"GET", "/sign/login/end", 303, loginPath},
		{"HEAD", loginPath, 405, "GET"},
		{"HEAD", backPath + "?state=a&code=annas", 405, "GET"},
		{"PUT", loginPath, 405, "GET"},
		{"HEAD", d.link(0), 200, ""},
		{"HEAD", goodbyePath, 200, ""},
		{"HEAD", "/sign/none", 404, ""},
	} {
		b := d.tab()
		a := b.do(test.method, test.path, nil)
		if got := b.last.Get("Allow") + a.location; a.status != test.status || got != test.more {
			t.Errorf("%s %s: %d %s, want %d %s", test.method, test.path, a.status, got, test.status, test.more)
		}
	}
}

// HEAD is answered as GET is, without the page.
func TestHead(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	server := httptest.NewServer(d.page)
	t.Cleanup(server.Close)
	r, err := server.Client().Head(server.URL + d.link(0))
	d.must(err)
	r.Body.Close()
	if r.StatusCode != http.StatusOK || r.Header.Get("Content-Type") != "text/html; charset=utf-8" || r.Header.Get("Cache-Control") != "no-store" {
		t.Error(r.Status, r.Header)
	}
}

// HEAD does not go on with a login: neither with what the browser brings from the provider, nor with its end.
func TestHeadLeavesALogin(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	d.phones.answer("annas", reply{who: anna})
	b := d.tab()
	state := b.sent(d.link(0))
	b.do(http.MethodHead, backPath+"?"+url.Values{"state": {state}, "code": {"annas"}}.Encode(), nil)
	if v := visitOf(b); v.Login == nil || v.Login.Person != nil {
		t.Errorf("the login after HEAD of the provider's answer: %+v", v.Login)
	}
	b.back(state, "annas")
	before := b.cookie()
	b.do(http.MethodHead, loginPath, nil)
	if v := visitOf(b); b.cookie() != before || v.Login == nil || v.Login.Person == nil {
		t.Errorf("the login after HEAD of its page: %+v", v.Login)
	}
	if a := b.get(loginPath); a.location != of(d.made, 0) {
		t.Error(a.status, a.location)
	}
}

// Whoever has not opened the link yet is told so at the page that it leads to.
func TestPlaceOfNobody(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	b := d.tab()
	b.get(of(d.made, 1)).says(t, 403, "problem.unopened.title")
	b.post(of(d.made, 1, "/login"), "way", "app", "kennitala", annas, "visit", newToken()).says(t, 403, "problem.unopened.title")
	if d.phones.rings() != 0 {
		t.Error(d.phones.rung)
	}
}

// A link that is good shows what has become of the process, and admits all the same.
func TestLinksOfWhatIsOver(t *testing.T) {
	t.Parallel()
	for key, change := range map[string]func(*portal.Process){
		"landing.declined": func(p *portal.Process) { p.Participants[1].Decline = &portal.Decline{Reason: "no"} },
		"landing.expired": func(p *portal.Process) {
			p.Participants[1].Link.InvitedAt = p.Participants[1].Link.InvitedAt.Add(-2 * portal.InvitationTime)
		},
		"landing.completed": func(p *portal.Process) {
			for i := range 2 {
				p.Participants[i].Signature = &portal.Signature{Name: "x"}
			}
		},
	} {
		d := newDoor(t)
		d.alter(change)
		d.tab().get(d.link(2)).says(t, 200, key, "landing.read")
		if a := d.tab().login(d.link(2), anna); a.location != of(d.made, 2) {
			t.Error(key, a.status, a.text())
		}
	}
}

// Whose visit has ended while the page was open is asked to log in, whatever was to be done, and nothing
// is done; the way back to the page is there.
func TestVisitEndsMeanwhile(t *testing.T) {
	t.Parallel()
	inTime(t, func(t *testing.T, d *door) {
		b := d.loggedIn(0, anna)
		time.Sleep(idleTimeout)
		for _, path := range []string{"/document", "/pages/1/640?revision=0"} {
			a := b.get(of(d.made, 0, path))
			if a.status != http.StatusForbidden || strings.Contains(a.body, "Samningur") {
				t.Error(path, a.status, a.text())
			}
		}
		a := b.follow(b.post(of(d.made, 0, "/decline"), "reason", "x"))
		if visitIn(a.body) == "" || d.now(d.made).Participants[0].Decline != nil {
			t.Error(a.status, a.text())
		}
		if a := b.login(of(d.made, 0), anna); a.location != of(d.made, 0) {
			t.Error(a.status, a.location)
		}
	})
}
