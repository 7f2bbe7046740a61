package page

import (
	"net/http"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/portal"
)

// Who logs out is led back to where they were, by a goodbye that knows it.
func TestLogoutLeadsBack(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	d.loggedIn(0, anna)
	for to, goodbye := range map[string]string{
		of(d.made, 0): of(d.made, 0, "/goodbye"),
		d.link(2):     goodbyePath + strings.TrimPrefix(d.link(2), "/sign"),
	} {
		b := d.tab()
		b.login(of(d.made, 0), anna)
		shown := b.get(to).body
		if !strings.Contains(shown, `<form method="post" action="`+to+`/logout"><button>`) {
			t.Errorf("%s: no way to log out in\n%s", to, shown)
		}
		a := b.post(to + "/logout")
		if a.location != goodbye || b.cookie() != "" {
			t.Error(to, a.status, a.location, b.cookies)
		}
		a = b.follow(a)
		a.says(t, http.StatusOK, "goodbye.title", "goodbye.again")
		if !strings.Contains(a.body, `href="`+to+`"`) || strings.Contains(a.body, "Samningur") {
			t.Error(a.body)
		}
		if a := b.open(to); visitIn(a.body) == "" {
			t.Error("nobody can log in again", a.status, a.text())
		}
	}
	d.tab().get(goodbyePath).says(t, http.StatusOK, "goodbye.title", "!goodbye.again")
	for _, path := range []string{of(d.made, 0), d.link(2)} {
		if a := d.tab().get(path + "/logout"); a.status != http.StatusSeeOther || a.location != path {
			t.Error(path, a.status, a.location)
		}
	}
}

// A link that is not for who has logged in is not lost by logging in as somebody else.
func TestLoginAsSomebodyElse(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	b := d.loggedIn(0, anna)
	a := b.get(d.link(1))
	a.says(t, http.StatusOK, "landing.continue.title", "landing.continue.other", "ended.another")
	if !strings.Contains(a.body, `action="`+d.link(1)+`/logout"`) || !strings.Contains(a.body, `name="again"`) {
		t.Error(a.body)
	}
	a = b.post(d.link(1)+"/logout", "again", "yes")
	if a.location != d.link(1) || b.cookie() != "" {
		t.Error(a.status, a.location, b.cookies)
	}
	b.follow(a).says(t, http.StatusOK, "login.how", "!landing.continue.title")
	if a := b.login(d.link(1), jon); a.location != of(d.made, 1) {
		t.Error(a.status, a.location)
	}
}

// What is wrong leads on where there is something to lead to, and says whom to ask.
func TestProblemsLeadOn(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	b := d.tab()
	leads := func(a answer, key, to string) {
		t.Helper()
		a.says(t, a.status, key+".title")
		_, main, _ := strings.Cut(a.body, "<main")
		main, _, _ = strings.Cut(main, "</main>")
		if got := strings.Contains(main, "<a "); got != (to != "") || !strings.Contains(main, `href="`+to) && got {
			t.Errorf("want a way to %q in\n%s", to, main)
		}
	}
	leads(b.get(of(d.made, 1)), "problem.unopened", of(d.made, 1))
	leads(b.get(of(d.made, 1, "/none")), "problem.nopage", of(d.made, 1))
	leads(b.get(of(d.made, 1, "/pages/1")), "problem.nopage", of(d.made, 1))
	leads(b.get("/sign/assets/none"), "problem.nopage", "")
	leads(b.get("/sign/"), "problem.nopage", "")
	leads(b.get("/sign/none"), "problem.notfound", "")
	b.header = map[string]string{"Origin": "https://evil.example"}
	leads(b.post(d.link(0)+"/login"), "problem.foreign", d.link(0))
	leads(b.post(of(d.made, 0, "/sign")), "problem.foreign", of(d.made, 0))
	leads(b.post("/sign/logout"), "problem.foreign", "")
}

// Whose link has expired is told who sent it.
func TestExpiredLinksNameTheSender(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	d.alter(func(p *portal.Process) {
		p.Participants[0].Link.InvitedAt = p.Participants[0].Link.InvitedAt.Add(-2 * portal.InvitationTime)
	})
	a := d.tab().get(d.link(0))
	a.says(t, http.StatusGone, "problem.expired.title", "problem.sender")
	if !strings.Contains(a.body, "Example &lt;b&gt;Ltd.&lt;/b&gt;") {
		t.Error(a.text())
	}
	d.tab().get("/sign/none").says(t, http.StatusNotFound, "!problem.sender")
}
