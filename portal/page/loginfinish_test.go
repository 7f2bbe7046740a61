package page

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/portal"
)

// The script of the login page gets the state of the login, and the person is logged in when the page itself is
// loaded.
func TestStatusOfLogin(t *testing.T) {
	t.Parallel()
	inTime(t, func(t *testing.T, d *fixture) {
		b := d.newBrowser()
		b.beginApp(d.link(0), annas)
		b.wantStatus(loginPath, pageStatus{"waiting", loginPath})
		d.login.answer(annas, reply{person: anna})
		time.Sleep(2 * time.Second)
		cookie := b.cookie()
		for range 2 { // the first answer may get lost
			b.wantStatus(loginPath, pageStatus{"done", loginPath})
		}
		if b.cookie() != cookie || d.stored(d.invited).Participants[0].Person != nil {
			t.Error("the person is logged in before the page is loaded")
		}
		b.open(loginPath)
		b.wantStatus(loginPath, pageStatus{"done", of(d.invited, 0)})
		b.post("/sign/logout")
		b.wantStatus(loginPath, pageStatus{"failed", loginPath})
		b.get(loginPath, "Accept", "application/json").says(t, 403)
	})
}

// Another server with the same store continues a login.
func TestAnotherServerContinues(t *testing.T) {
	t.Parallel()
	d := newInvitation(t)
	d.login.answer(annas, reply{person: anna})
	b := d.newBrowser()
	b.beginApp(d.link(0), annas)
	b.letPoll()
	other, err := New(d.config)
	d.must(err)
	t.Cleanup(other.Close)
	d.page = other
	b.get(loginPath).leadsTo(t, of(d.invited, 0))
	b.open(of(d.invited, 0)).says(t, 200, "place.asked.title")
}

// The evidence log has how a person logged in: from which address, by which method of which provider, and with which token.
func TestLoginIsInTheEvidenceLog(t *testing.T) {
	t.Parallel()
	inTime(t, func(t *testing.T, d *fixture) {
		who := anna
		who.Authentication = &portal.Authentication{Provider: "https://id.example", ACR: "app-auth", Token: "5f0c"}
		d.loggedIn(0, who)
		entry, err := d.db.EvidenceLog().LastEntry(t.Context(), d.invited.ID)
		d.must(err)
		const want = `"method":"app","provider":"https://id.example","acr":"app-auth","address":"192.0.2.1","tokenSha256":"5f0c"}`
		if entry.Kind != "participant.loggedin" || !strings.HasSuffix(string(entry.Facts), want) {
			t.Errorf("%s: %s, want the end %s", entry.Kind, entry.Facts, want)
		}
		if one := d.stored(d.invited).Participants[0]; one.Person == nil || one.Person.Authentication != nil {
			t.Errorf("the process has %+v", one.Person)
		}
	})
}

// The cookie of a login leads to one session, for a minute, however often it is used. Neither that minute nor the
// session becomes longer by it.
func TestLoginLeadsToOneSession(t *testing.T) {
	t.Parallel()
	inTime(t, func(t *testing.T, d *fixture) {
		d.loggedIn(0, anna)
		for _, page := range []string{d.link(1), of(d.invited, 0)} { // a first login, and another
			before := d.evidence(d.invited, "participant.loggedin")
			d.login.answer(annas, reply{person: anna})
			b := d.newBrowser()
			b.beginApp(page, annas)
			login := b.cookie()
			time.Sleep(2 * time.Second)
			began := time.Now()
			d.withCookie(login).showsDocument(of(d.invited, 0), false) // the login is no session
			for {
				again := d.withCookie(login)
				if a := again.get(loginPath); a.status != 303 {
					a.says(t, 403, "problem.nobody.title")
					break
				}
				if b.cookie() != login && again.cookie() != b.cookie() {
					t.Fatal("the cookie of one login makes many sessions")
				}
				b.cookies[sessionCookie] = again.cookie()
				time.Sleep(replayWindow / 5)
			}
			if after := time.Since(began); after > replayWindow {
				t.Error("the cookie of a login is valid for", after)
			}
			if got := d.evidence(d.invited, "participant.loggedin") - before; got != 1 {
				t.Errorf("%d logins are recorded", got)
			}
			if got := b.session().asPerson().EndsBy.Sub(began); got != maxLifetime {
				t.Error("the session is valid for", got)
			}
			time.Sleep(10 * time.Minute)
		}
	})
	inTime(t, func(t *testing.T, d *fixture) {
		d.login.answer(annas, reply{person: anna})
		b := d.newBrowser()
		b.beginApp(d.link(0), annas)
		time.Sleep(2 * time.Second)
		again := d.withCookie(b.cookie())
		b.status(loginPath) // by which the person is known
		time.Sleep(attemptLifetime - replayWindow/2)
		b.get(loginPath).leadsTo(t, of(d.invited, 0))
		time.Sleep(replayWindow / 2)
		again.get(loginPath).says(t, 403, "problem.nobody.title")
	})
}

// redirected begins a login on the provider's pages, and returns the state in the address of these.
func (b *browser) redirected(page string) (state string) {
	b.f.t.Helper()
	b.begin(page, "way", "browser").leadsTo(b.f.t, loginPath)
	a := b.get(loginPath).says(b.f.t, 200, "redirect.text", "redirect.go")
	state, ok := strings.CutPrefix(a.header.Get("Refresh"), "0; url="+providersPage)
	if !ok {
		b.f.t.Fatal(a.header)
	}
	return state
}

// back follows the provider's redirect back, from another site.
func (b *browser) back(state, code string) answer {
	return b.get(backPath+"?"+url.Values{"state": {state}, "code": {code}}.Encode(), "Sec-Fetch-Site", "cross-site")
}

// A login on the provider's pages leads back to the page. HEAD of its addresses changes nothing, and a second use of
// the callback leads to the same page.
func TestBrowserLogin(t *testing.T) {
	t.Parallel()
	d := newInvitation(t)
	d.login.answer("annas", reply{person: anna})
	b := d.newBrowser()
	state := b.redirected(d.link(0))
	// a browser that comes back without an answer is not redirected again
	if a := b.get(loginPath).says(t, 200, "redirect.go"); a.header.Get("Refresh") != "" {
		t.Error(a.header)
	}
	before := b.cookie()
	b.do(http.MethodHead, backPath+"?"+url.Values{"state": {state}, "code": {"annas"}}.Encode(), nil)
	if s := b.session(); s.asLogin() == nil || s.asLogin().Attempt.Person != nil {
		t.Errorf("HEAD of the callback: %+v", s.asLogin())
	}
	b.back(state, "annas").leadsTo(t, loginPath)
	b.do(http.MethodHead, loginPath, nil)
	if s := b.session(); b.cookie() != before || s.asLogin() == nil || s.asLogin().Attempt.Person == nil {
		t.Errorf("HEAD of the login: %+v", s.asLogin())
	}
	if b.get(loginPath).leadsTo(t, of(d.invited, 0)); b.cookie() == before {
		t.Error("the cookie from before the login stays valid")
	}
	b.follow(b.back(state, "annas")).says(t, 200, "place.asked.title")
}

// An answer that does not belong to the login in the same browser is refused.
func TestForeignAnswers(t *testing.T) {
	t.Parallel()
	for name, try := range map[string]func(d *fixture, b *browser, state string) (*browser, answer){
		"another login's state": func(d *fixture, b *browser, state string) (*browser, answer) {
			return b, b.back(d.newBrowser().redirected(d.link(0)), "annas")
		},
		"no state": func(d *fixture, b *browser, state string) (*browser, answer) { return b, b.back("", "annas") },
		"another browser without a login": func(d *fixture, b *browser, state string) (*browser, answer) {
			other := d.newBrowser()
			return other, other.back(state, "annas")
		},
		"another browser with a login": func(d *fixture, b *browser, state string) (*browser, answer) {
			other := d.newBrowser()
			other.redirected(d.link(0))
			return other, other.back(state, "annas")
		},
		"a cancelled login": func(d *fixture, b *browser, state string) (*browser, answer) {
			b.post("/sign/login/end")
			return b, b.back(state, "annas")
		},
		"a refused code": func(d *fixture, b *browser, state string) (*browser, answer) { return b, b.back(state, "refused") },
		"after a refused code": func(d *fixture, b *browser, state string) (*browser, answer) {
			b.back(state, "refused")
			return b, b.back(state, "annas")
		},
		"a login on the phone": func(d *fixture, b *browser, state string) (*browser, answer) {
			b.beginApp(d.link(0), jons)
			return b, b.back(state, "annas")
		},
		"another person": func(d *fixture, b *browser, state string) (*browser, answer) { return b, b.back(state, "jons") },
	} {
		t.Run(name, func(t *testing.T) {
			d := newInvitation(t)
			d.login.answer("annas", reply{person: anna})
			d.login.answer("jons", reply{person: jon})
			d.login.answer("refused", reply{err: ErrRefusedLogin})
			b := d.newBrowser()
			b, a := try(d, b, b.redirected(d.link(0)))
			b.follow(a)
			b.get(of(d.invited, 0)).says(t, http.StatusForbidden)
			if d.stored(d.invited).Participants[0].Person != nil {
				t.Error("the link is open")
			}
		})
	}
}

// pushed is a provider with pushed authorization requests (RFC 9126), whose redirect does not contain the state.
type pushed struct{ *fakeLogin }

func (p pushed) Begin(ctx context.Context, method LoginMethod, hint string) (LoginState, error) {
	s, err := p.fakeLogin.Begin(ctx, method, hint)
	s.Redirect = "https://idp.example/authorize?request_uri=urn:example:1"
	return s, err
}

func (p pushed) Finish(ctx context.Context, s LoginState, query url.Values) (portal.Person, error) {
	if query.Get("state") != s.state() {
		return portal.Person{}, fmt.Errorf("%w, but to another", ErrForeignAnswer)
	}
	return p.fakeLogin.Finish(ctx, s, query)
}

// A link on another site to the callback does not end a login, also if only the provider's client can check the
// state.
func TestForeignAnswerEndsNoLogin(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*Config){
		"state in the address": func(*Config) {},
		"pushed request":       func(c *Config) { c.Login = pushed{c.Login.(*fakeLogin)} },
	} {
		t.Run(name, func(t *testing.T) {
			d := newInvitation(t, change)
			d.login.answer("annas", reply{person: anna})
			b := d.newBrowser()
			b.begin(d.link(0), "way", "browser")
			b.get(loginPath)
			for _, state := range []string{"another", "", "another"} {
				b.follow(b.back(state, "annas")).says(t, 200, "redirect.go")
			}
			b.follow(b.back(b.session().asLogin().Attempt.State.state(), "annas")).says(t, 200, "place.asked.title")
		})
	}
}

// An outage during the callback ends the login, since its code is valid for one call. Another login succeeds.
func TestOutageDuringCallback(t *testing.T) {
	t.Parallel()
	d := newInvitation(t)
	d.login.answer("annas", reply{person: anna})
	b := d.newBrowser()
	state := b.redirected(d.link(0))
	d.login.fails(errors.New("no route to host"))
	b.follow(b.back(state, "annas")).says(t, 502, "ended.outage.title", "ended.again")
	d.wantFaults(1)
	d.login.fails(nil)
	b.follow(b.back(b.redirected(d.link(0)), "annas")).says(t, 200, "place.asked.title")
}

// A second callback while the first is under way shows the result of the first.
func TestCallbackTwice(t *testing.T) {
	t.Parallel()
	inTime(t, func(t *testing.T, d *fixture) {
		d.login.answer("annas", reply{person: anna})
		b := d.newBrowser()
		state := b.redirected(d.link(0))
		d.login.takes(5 * time.Second)
		first := make(chan answer)
		go func() { first <- d.withCookie(b.cookie()).back(state, "annas") }()
		time.Sleep(time.Second)
		b.back(state, "annas").leadsTo(t, loginPath)
		b.get(loginPath).says(t, 200, "wait.asking")
		(<-first).leadsTo(t, loginPath)
		b.open(loginPath).says(t, 200, "place.asked.title")
	})
}

// A login that began under another configuration is refused.
func TestLoginsEndWithTheirConfiguration(t *testing.T) {
	t.Parallel()
	d := newInvitation(t)
	phone, redirected := d.newBrowser(), d.newBrowser()
	phone.beginApp(d.link(0), annas)
	redirected.begin(d.link(1), "way", "browser")
	d.page.config.Login = noLogin{}
	phone.letPoll()
	phone.get(loginPath).says(t, 200, "ended.refused.title")
	redirected.open(backPath+"?state="+redirected.session().asLogin().Attempt.State.state()).says(t, 200, "ended.refused.title")
}
