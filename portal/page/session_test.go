package page

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/storage"
)

// A session ends after half an hour without a request, and after eight hours at the latest.
func TestSessionEnds(t *testing.T) {
	t.Parallel()
	inTime(t, func(t *testing.T, d *fixture) {
		b := d.loggedIn(0, anna)
		began := time.Now()
		for time.Since(began) < maxLifetime-idleTimeout {
			time.Sleep(idleTimeout - renewAfter)
			b.showsDocument(of(d.invited, 0), true)
		}
		time.Sleep(maxLifetime - time.Since(began) - time.Second)
		b.showsDocument(of(d.invited, 0), true)
		time.Sleep(time.Second)
		b.showsDocument(of(d.invited, 0), false)
	})
	inTime(t, func(t *testing.T, d *fixture) {
		b := d.loggedIn(0, anna)
		time.Sleep(idleTimeout)
		b.showsDocument(of(d.invited, 0), false)
	})
}

// The expiry of a session in use is stored at most once a minute.
func TestSessionIsStoredOnceAMinute(t *testing.T) {
	t.Parallel()
	inTime(t, func(t *testing.T, d *fixture) {
		b := d.loggedIn(0, anna)
		first := b.session().expires
		time.Sleep(renewAfter)
		b.showsDocument(of(d.invited, 0), true)
		if !b.session().expires.Equal(first) {
			t.Error("stored again at once")
		}
		time.Sleep(time.Second)
		b.showsDocument(of(d.invited, 0), true)
		if got := b.session().expires.Sub(first); got != renewAfter+time.Second {
			t.Error(got)
		}
	})
}

// A full store does not end a session.
func TestSessionWithAFullStore(t *testing.T) {
	t.Parallel()
	inTime(t, func(t *testing.T, d *fixture) {
		b := d.loggedIn(0, anna)
		time.Sleep(2 * renewAfter)
		d.page.config.Tx = full{}
		b.showsDocument(of(d.invited, 0), true)
		b.post("/sign/logout").says(t, 503, "problem.away.title")
		d.wantFaults(1)
	})
}

type full struct{ storage.Transactor }

func (full) InTx(context.Context, func(context.Context) error) error { return storage.ErrFull }

// A session admits to all participants of the person, opens links of the person without another login, and admits
// to no other participant.
func TestOneLoginForAllParticipants(t *testing.T) {
	t.Parallel()
	inTime(t, func(t *testing.T, d *fixture) {
		b := d.loggedIn(0, anna)
		earlier := d.invited
		d.invited = d.invite()
		b.get(d.link(0)).says(t, 200, "landing.continue", "landing.sign", "!login.ways")
		for range 2 { // a double click
			b.post(d.link(0)+"/login", "way", "continue").leadsTo(t, of(d.invited, 0))
		}
		d.wantAsked(1)
		for _, v := range []portal.ProcessView{earlier, d.invited} {
			b.showsDocument(of(v, 0), true)
		}
		jons := d.loggedIn(1, jon)
		b.get(of(d.invited, 1)).says(t, 403, "problem.other.text", "login.ways")
		jons.get(of(d.invited, 0, "/document")).says(t, 403, "problem.other.text")
		if got := d.evidence(d.invited, "participant.loggedin"); got != 2 {
			t.Errorf("%d logins are recorded, want 2", got)
		}
		d.invited = d.invite()
		jons.get(d.link(0)).says(t, 200, "!landing.continue", "login.ways")
		jons.post(d.link(0)+"/login", "way", "continue").says(t, 403, "problem.other.title", "problem.another")
		b.get(d.link(0)).says(t, 200, "landing.continue")
	})
}

// A cookie planted in the browser is worthless once a login has begun.
func TestSessionIsNotFixed(t *testing.T) {
	t.Parallel()
	inTime(t, func(t *testing.T, d *fixture) {
		planted := newToken()
		b := d.withCookie(planted)
		d.login.answer(annas, reply{person: anna})
		b.beginApp(d.link(0), annas)
		if b.cookie() == planted {
			t.Error("the login uses the planted session")
		}
		time.Sleep(2 * time.Second)
		b.get(loginPath).leadsTo(t, of(d.invited, 0))
		// a session that its owner has planted in another browser ends when another person logs in there
		thief := d.loggedIn(1, jon)
		victim := d.withCookie(thief.cookie())
		victim.logIn(of(d.invited, 0), anna).leadsTo(t, of(d.invited, 0))
		thief.showsDocument(of(d.invited, 1), false)
		if thief.cookie() == victim.cookie() {
			t.Error("both have one session")
		}
	})
}

// A malformed or unknown cookie is like none.
func TestUnknownCookies(t *testing.T) {
	t.Parallel()
	d := newInvitation(t)
	d.loggedIn(0, anna)
	for _, value := range []string{"", "x", newToken(), strings.Repeat("A", 43), strings.Repeat("A", 4000), "../../x", newToken() + "="} {
		b := d.withCookie(value)
		b.showsDocument(of(d.invited, 0), false)
		b.get(loginPath).says(t, 403, "problem.nobody.title")
		b.get(d.link(1)).says(t, 200, "landing.sign")
	}
}

// After a logout all cookies of the session and of its login are worthless, however many tabs have used them, and
// also if the login is cancelled or another one begins.
func TestLogout(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(t *testing.T, d *fixture, login, session *browser){
		"session": func(t *testing.T, d *fixture, _, session *browser) {
			a := session.post("/sign/logout").leadsTo(t, goodbyePath)
			session.follow(a).says(t, 200, "goodbye.title", "goodbye.text", "!goodbye.again")
			session.post("/sign/logout").leadsTo(t, goodbyePath)
			if session.cookie() != "" {
				t.Error("the cookie is not deleted")
			}
			session.showsDocument(of(d.invited, 0), false)
		},
		"login":     func(_ *testing.T, _ *fixture, login, _ *browser) { login.post("/sign/logout") },
		"cancelled": func(_ *testing.T, _ *fixture, login, _ *browser) { login.post("/sign/login/end") },
		"another login": func(_ *testing.T, d *fixture, _, session *browser) {
			session.post(d.link(1)+"/login", "way", "app", "kennitala", jons, "visit", newToken())
		},
	} {
		t.Run(name, func(t *testing.T) {
			inTime(t, func(t *testing.T, d *fixture) {
				d.login.answer(annas, reply{person: anna})
				login := d.newBrowser()
				login.beginApp(d.link(0), annas)
				time.Sleep(2 * time.Second)
				cookies := []string{login.cookie()}
				for range 3 {
					b := d.withCookie(login.cookie())
					b.get(loginPath)
					b.showsDocument(of(d.invited, 0), true)
					cookies = append(cookies, b.cookie())
				}
				end(t, d, login, d.withCookie(cookies[1]))
				for _, cookie := range cookies {
					thief := d.withCookie(cookie)
					thief.get(loginPath).says(t, 403, "problem.nobody.title")
					thief.showsDocument(of(d.invited, 0), false)
					thief.post(of(d.invited, 0, "/sign"), "method", "IdpApp", "revision", "0")
					thief.post("/sign/logout")
				}
				if d.stored(d.invited).Turn != nil {
					t.Error("a signature has begun")
				}
			})
		})
	}
}

// A logout leads to a goodbye page that links back.
func TestLogoutLeadsBack(t *testing.T) {
	t.Parallel()
	d := newInvitation(t)
	d.loggedIn(0, anna)
	for to, goodbye := range map[string]string{
		of(d.invited, 0): of(d.invited, 0, "/goodbye"),
		d.link(2):        goodbyePath + strings.TrimPrefix(d.link(2), "/sign"),
	} {
		b := d.newBrowser()
		b.logIn(of(d.invited, 0), anna)
		b.get(to).contains(t, `<form method="post" action="`+to+`/logout"><button>`)
		a := b.post(to+"/logout").leadsTo(t, goodbye)
		if b.cookie() != "" {
			t.Error("the cookie is not deleted")
		}
		b.follow(a).says(t, http.StatusOK, "goodbye.title", "goodbye.again").contains(t, `href="`+to+`"`).lacks(t, "Samningur")
		b.open(to).contains(t, `name="visit"`)
	}
}

// A person who has opened a link for another can log out and return to it, to log in as the other.
func TestLoginAsAnotherPerson(t *testing.T) {
	t.Parallel()
	d := newInvitation(t)
	b := d.loggedIn(0, anna)
	b.get(d.link(1)).says(t, http.StatusOK, "landing.continue.title", "landing.continue.other", "ended.another").
		contains(t, `action="`+d.link(1)+`/logout"`, `name="again"`)
	a := b.post(d.link(1)+"/logout", "again", "yes").leadsTo(t, d.link(1))
	if b.cookie() != "" {
		t.Error("the cookie is not deleted")
	}
	b.follow(a).says(t, http.StatusOK, "login.how", "!landing.continue.title")
	b.logIn(d.link(1), jon).leadsTo(t, of(d.invited, 1))
}

// TestSamePerson checks that hyphens do not count, and that a missing kennitala equals none.
func TestSamePerson(t *testing.T) {
	for _, test := range []struct {
		a, b string
		want bool
	}{
		{"0101302989", "010130-2989", true},
		{"0101302989", "0101302990", false},
		{"0101302989", "", false},
		{"", "", false},
		{"-", "", false},
	} {
		if got := samePerson(test.a, test.b); got != test.want {
			t.Errorf("samePerson(%q, %q) = %v, want %v", test.a, test.b, got, test.want)
		}
	}
}
