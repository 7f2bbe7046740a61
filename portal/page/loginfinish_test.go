package page

import (
	"testing"
	"time"

	"github.com/innsigli/innsigli/portal"
)

// kinds counts the entries of a kind in the evidence log of the process.
func (d *door) kinds(kind string) (n int) {
	d.t.Helper()
	entries, err := d.db.EvidenceLog().Entries(d.t.Context(), d.made.ID)
	d.must(err)
	for _, one := range entries {
		if one.Kind == kind {
			n++
		}
	}
	return n
}

const loggedIn = "participant.loggedin"

// The cookie of a login leads to one visit, for a minute, however often it is used: an answer that was
// lost is given once more. The visit ends when it would have.
func TestLoginLeadsToOneVisit(t *testing.T) {
	t.Parallel()
	inTime(t, func(t *testing.T, d *door) {
		d.loggedIn(0, anna)
		for _, page := range []string{d.link(1), of(d.made, 0)} { // the first time, and again
			before := d.kinds(loggedIn)
			d.phones.answer(annas, reply{who: anna})
			b := d.tab()
			b.begin(page, "way", "app", "kennitala", annas)
			login := b.cookie()
			time.Sleep(2 * time.Second)
			began := time.Now()
			for {
				again := d.tab()
				again.cookies[sessionCookie] = login
				if a := again.get(loginPath); a.status != 303 {
					a.says(t, 403, "problem.nobody.title")
					break
				}
				if b.cookie() != login && again.cookie() != b.cookie() {
					t.Fatal("the cookie of one login makes many visits")
				}
				b.cookies[sessionCookie] = again.cookie()
				time.Sleep(replayWindow / 5)
			}
			if after := time.Since(began); after > replayWindow {
				t.Error("the cookie of a login is good for", after)
			}
			if got := d.kinds(loggedIn) - before; got != 1 {
				t.Errorf("%d logins are recorded", got)
			}
			if got := visitOf(b).EndsBy.Sub(began); got != maxLifetime {
				t.Error("the visit is good for", got)
			}
			time.Sleep(perPerson.window)
		}
	})
}

// The time in which a login leads on is never made longer by leading on.
func TestLoginLeadsOnNoLonger(t *testing.T) {
	t.Parallel()
	inTime(t, func(t *testing.T, d *door) {
		d.phones.answer(annas, reply{who: anna})
		b, again := d.tab(), d.tab()
		b.begin(d.link(0), "way", "app", "kennitala", annas)
		time.Sleep(2 * time.Second)
		again.cookies[sessionCookie] = b.cookie()
		b.header["Accept"] = "application/json"
		b.get(loginPath) // by which it is known who it is
		delete(b.header, "Accept")
		time.Sleep(attemptLifetime - replayWindow/2)
		if a := b.get(loginPath); a.location != of(d.made, 0) {
			t.Fatal(a.status, a.text())
		}
		time.Sleep(replayWindow / 2)
		again.get(loginPath).says(t, 403, "problem.nobody.title")
	})
}

// Going on as who has logged in takes a place that a link leads to, and is no other login.
func TestGoingOnIsNoLogin(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	b := d.loggedIn(0, anna)
	for range 20 {
		for _, page := range []string{d.link(0), of(d.made, 0)} {
			if a := b.post(page+"/login", "way", "continue"); a.location != of(d.made, 0) {
				t.Fatal(a.status, a.location)
			}
		}
		if a := b.post(d.link(1)+"/login", "way", "continue"); a.location != of(d.made, 1) {
			t.Fatal(a.status, a.location)
		}
	}
	if got := d.kinds(loggedIn); got != 2 {
		t.Errorf("%d logins are recorded", got)
	}
	d.tab().login(of(d.made, 0), portal.Person{Name: anna.Name, Kennitala: annas})
	if got := d.kinds(loggedIn); got != 3 {
		t.Errorf("a login is not recorded: %d", got)
	}
}
