package page

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"testing"
	"time"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/storage"
)

// A person who opens a link and logs in comes to the page of the participant, with another cookie than before. From
// then on the link leads there from any browser, where the person logs in again.
func TestLogin(t *testing.T) {
	t.Parallel()
	d := newInvitation(t)
	b := d.newBrowser()
	b.get(d.link(0)).says(t, 200, "landing.sign", "landing.unchanged", "login.ways")
	b.beginApp(d.link(0), "010130-2989").leadsTo(t, loginPath)
	// the page works without a script by a link to itself
	b.get(loginPath).says(t, 200, "wait.compare", "wait.until", "wait.look", "!wait.trouble").
		contains(t, "4711", `<a href="`+loginPath+`">`).lacks(t, annas)
	before := b.cookie()
	d.login.answer(annas, reply{person: anna})
	b.letPoll()
	if b.get(loginPath).leadsTo(t, of(d.invited, 0)); b.cookie() == before {
		t.Error("the cookie from before the login stays valid")
	}
	b.open(of(d.invited, 0)).says(t, 200, "place.asked.title")

	b.get(d.link(0)).leadsTo(t, of(d.invited, 0))
	other := d.newBrowser()
	other.open(d.link(0)).says(t, 200, "login.see", "!landing.file")
	other.logIn(of(d.invited, 0), anna).leadsTo(t, of(d.invited, 0))
	other.post("/sign/login/end").leadsTo(t, of(d.invited, 0)) // a completed login cannot be cancelled
	other.showsDocument(of(d.invited, 0), true)
}

// Each failure of a login is shown with a link that leads on, and the person is not logged in.
func TestFailedLogins(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		reply  reply
		outage bool
		status int
		says   string
		next   string
		reason []LoginFailure
	}{
		"cancelled":      {reply{err: ErrCancelled}, false, 200, "ended.cancelled.title", "ended.again", []LoginFailure{LoginCancelled}},
		"unknown":        {reply{err: ErrUnknown}, false, 200, "ended.unknown.title", "ended.again", []LoginFailure{LoginUnknown}},
		"too late":       {reply{err: ErrTimeout}, false, 200, "ended.timeout.title", "ended.again", []LoginFailure{LoginTimeout}},
		"refused":        {reply{err: ErrRefusedLogin}, false, 200, "ended.refused.title", "ended.again", []LoginFailure{LoginRefused}},
		"another person": {reply{person: jon}, false, 403, "ended.other.title", "ended.another", []LoginFailure{LoginOther}},
		"outage":         {reply{}, true, 502, "ended.outage.title", "ended.again", nil},
	} {
		t.Run(name, func(t *testing.T) {
			var reasons []LoginFailure
			d := newInvitation(t, func(c *Config) {
				c.LoginFailed = func(_ context.Context, reason LoginFailure) { reasons = append(reasons, reason) }
			})
			faults := 0
			if test.outage {
				d.login.fails(errors.New("no route to host"))
				faults = 1
			}
			d.login.answer(annas, test.reply)
			b := d.newBrowser()
			b.beginApp(d.link(0), annas)
			b.letPoll()
			for i := range 2 { // also when the page is loaded again
				b.get(loginPath).says(t, test.status, test.says, test.next).contains(t, `href="`+d.link(0)+`"`).lacks(t, annas)
				if i == 0 && !slices.Equal(reasons, test.reason) {
					t.Errorf("reported: %q, want %q", reasons, test.reason)
				}
			}
			b.get(of(d.invited, 0)).says(t, 403, "problem.unopened.title")
			b.get(d.link(0)).says(t, 200, "landing.sign")
			d.wantFaults(faults)
		})
	}
}

// A login survives an outage of the provider, unless it lasts until the end of the login.
func TestOutageDuringLogin(t *testing.T) {
	t.Parallel()
	inTime(t, func(t *testing.T, d *fixture) {
		b := d.newBrowser()
		b.beginApp(d.link(0), annas)
		d.login.fails(errors.New("no route to host"))
		time.Sleep(2 * time.Second)
		b.get(loginPath).says(t, 200, "wait.compare", "wait.trouble")
		time.Sleep(3 * time.Minute)
		b.get(loginPath).says(t, 502, "ended.outage.title")
		d.login.fails(nil)
		b.get(loginPath).says(t, 502, "ended.outage.title")
		b.wantStatus(loginPath, pageStatus{"failed", loginPath})

		b.beginApp(d.link(0), annas)
		d.login.fails(errors.New("no route to host"))
		time.Sleep(2 * time.Second)
		b.get(loginPath).says(t, 200, "wait.compare", "wait.trouble")
		d.login.fails(nil)
		d.login.answer(annas, reply{person: anna})
		time.Sleep(2 * time.Second)
		b.get(loginPath).leadsTo(t, of(d.invited, 0))
		d.wantFaults(3)
	})
}

// A login that no server completes ends, also if its server crashed during a call of the provider.
func TestAbandonedLogins(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*attempt){
		"not answered":            func(a *attempt) { a.State.Expires = time.Now().Add(-time.Hour) },
		"crash in the first call": func(a *attempt) { a.State, a.Lease, a.Next = nil, "gone", time.Time{} },
		"crash in a later call": func(a *attempt) {
			a.Lease, a.Next = "gone", time.Now().Add(-time.Second)
			a.State.Expires = a.Next.Add(-time.Hour)
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newInvitation(t)
			b := d.newBrowser()
			b.beginApp(d.link(0), annas)
			_, err := d.page.updateSession(t.Context(), sessionKey(b.cookie()), func(s *session) error { change(s.asLogin().Attempt); return nil })
			d.must(err)
			a := b.get(loginPath)
			if a.status != 200 && a.status != 502 || !(a.has("ended.timeout.title") || a.has("ended.outage.title")) {
				t.Error(a.status, a.text())
			}
			b.logIn(d.link(0), anna).leadsTo(t, of(d.invited, 0))
		})
	}
}

// The result of a call whose lease has expired is dropped.
func TestResultAfterTheLease(t *testing.T) {
	t.Parallel()
	inTime(t, func(t *testing.T, d *fixture) {
		b := d.newBrowser()
		b.beginApp(d.link(0), annas)
		time.Sleep(2 * time.Second)
		d.login.takes(leaseDuration + 10*time.Second)
		late := make(chan answer)
		go func() { late <- d.withCookie(b.cookie()).get(loginPath) }()
		time.Sleep(leaseDuration + time.Second)
		d.login.takes(0)
		d.login.answer(annas, reply{person: anna})
		b.get(loginPath).leadsTo(t, of(d.invited, 0))
		(<-late).says(t, 200, "wait.compare")
		b.showsDocument(of(d.invited, 0), true)
		v, err := d.page.loadSession(t.Context(), b.session().asPerson().LoginSessionKey)
		if err != nil || v.asLogin().Attempt.Ended != "" || v.asLogin().Attempt.Person == nil {
			t.Errorf("%+v, %v", v.asLogin(), err)
		}
	})
}

// A login that the person cancels does not complete, whatever the phone answers later.
func TestCancelledLogin(t *testing.T) {
	t.Parallel()
	inTime(t, func(t *testing.T, d *fixture) {
		b := d.newBrowser()
		b.beginApp(d.link(0), annas)
		cookie := b.cookie()
		if b.post("/sign/login/end").leadsTo(t, d.link(0)); b.cookie() != "" {
			t.Error("the cookie is not deleted")
		}
		d.login.answer(annas, reply{person: anna})
		time.Sleep(2 * time.Second)
		b = d.withCookie(cookie)
		b.get(loginPath).says(t, 403, "problem.nobody.title")
		b.post("/sign/login/end").leadsTo(t, goodbyePath)
		if d.stored(d.invited).Participants[0].Person != nil {
			t.Error("the link is open")
		}
	})
}

// unreliable is a store that is unavailable for one transaction, which may be committed all the same.
type unreliable struct {
	storage.Transactor
	left      int // transactions until then
	committed bool
}

func (f *unreliable) InTx(ctx context.Context, fn func(context.Context) error) error {
	f.left--
	switch {
	case f.left != 0:
		return f.Transactor.InTx(ctx, fn)
	case f.committed:
		if err := f.Transactor.InTx(ctx, fn); err != nil {
			return err
		}
	}
	return storage.ErrUnavailable
}

// lossy is a portal whose answer to the first login is lost.
type lossy struct {
	Portal
	lost bool
}

func (f *lossy) Login(ctx context.Context, token string, who portal.Person) (process, participant string, err error) {
	process, participant, err = f.Portal.Login(ctx, token, who)
	if !f.lost {
		f.lost = true
		return "", "", storage.ErrUnavailable
	}
	return process, participant, err
}

// Whichever transaction of a login fails, or is committed without a server knowing, the person comes to the page by
// trying again.
func TestLoginSurvivesLostTransactions(t *testing.T) {
	testenv.Slow(t, "each answer is lost once")
	t.Parallel()
	for _, committed := range []bool{false, true} {
		for n := 1; n <= 8; n++ {
			inTime(t, func(t *testing.T, d *fixture) {
				d.page.config.Tx = &unreliable{d.db, n, committed}
				if tries := d.tryToLogIn(); tries > 3 {
					t.Errorf("transaction %d, committed %v: it took %d tries", n, committed, tries)
				}
			})
		}
	}
	inTime(t, func(t *testing.T, d *fixture) {
		d.page.config.Portal = &lossy{Portal: d.portal}
		if tries := d.tryToLogIn(); tries > 1 || !d.page.config.Portal.(*lossy).lost {
			t.Errorf("it took %d tries", tries)
		}
	})
}

// tryToLogIn does what people do when a page does not load: it loads the page again, and begins anew where the page
// says so. It returns how often it began.
func (d *fixture) tryToLogIn() (tries int) {
	d.t.Helper()
	defer func() { d.faults = nil }() // those of the lost transaction
	d.login.answer(annas, reply{person: anna})
	b := d.newBrowser()
	for tries = 1; tries < 10; tries++ {
		a := b.open(d.link(0))
		form := formID(a.body)
		for range 3 {
			if a.location != loginPath {
				a = b.post(d.link(0)+"/login", "way", "app", "kennitala", annas, "visit", form)
			}
		}
		for range 5 {
			time.Sleep(leaseDuration)
			switch a = b.get(loginPath); {
			case a.status == http.StatusSeeOther:
				if b.get(a.location).has("place.asked.title") {
					return tries
				}
			case a.status == http.StatusForbidden:
			default:
				continue
			}
			break
		}
	}
	return tries
}
