package page

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/storage"
)

// inTime runs a test in which hours pass at once.
func inTime(t *testing.T, f func(t *testing.T, d *door)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) { f(t, newDoor(t)) })
}

// loggedIn is a browser with which somebody has opened the link of a place.
func (d *door) loggedIn(i int, who portal.Person) *tab {
	d.t.Helper()
	b := d.tab()
	if a := b.login(d.link(i), who); a.location != of(d.made, i) {
		d.t.Fatal(a.status, a.location, a.text())
	}
	return b
}

// there says whether the browser shows the page of a place without a login.
func (b *tab) there(path string) bool {
	b.d.t.Helper()
	a := b.get(path)
	if a.status != http.StatusOK {
		b.d.t.Fatal(a.status, a.text())
	}
	return !a.has("login.see")
}

// A visit ends when nobody has been there for half an hour, and after eight hours at the latest.
func TestVisitEnds(t *testing.T) {
	t.Parallel()
	inTime(t, func(t *testing.T, d *door) {
		b := d.loggedIn(0, anna)
		began := time.Now()
		for time.Since(began) < maxLifetime-idleTimeout {
			time.Sleep(idleTimeout - renewAfter)
			if !b.there(of(d.made, 0)) {
				t.Fatal("not any more after", time.Since(began))
			}
		}
		time.Sleep(maxLifetime - time.Since(began) - time.Second)
		b.there(of(d.made, 0))
		time.Sleep(time.Second)
		if b.there(of(d.made, 0)) {
			t.Error("it has no end")
		}
	})
	inTime(t, func(t *testing.T, d *door) {
		b := d.loggedIn(0, anna)
		time.Sleep(idleTimeout)
		if b.there(of(d.made, 0)) {
			t.Error("somebody is there who has not been for long")
		}
	})
}

// A visit that is used all the time is stored once a minute.
func TestVisitIsStoredNowAndThen(t *testing.T) {
	t.Parallel()
	inTime(t, func(t *testing.T, d *door) {
		b := d.loggedIn(0, anna)
		expires := func() time.Time {
			v, err := d.page.loadSession(t.Context(), sessionKey(b.cookie()))
			d.must(err)
			return v.expires
		}
		first := expires()
		time.Sleep(renewAfter)
		b.there(of(d.made, 0))
		if !expires().Equal(first) {
			t.Error("stored again at once")
		}
		time.Sleep(time.Second)
		b.there(of(d.made, 0))
		if got := expires().Sub(first); got != renewAfter+time.Second {
			t.Error(got)
		}
	})
}

// A person whose name the provider does not say has a kennitala.
func TestPersonWithoutName(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	b := d.tab()
	if a := b.login(d.link(1), portal.Person{Kennitala: jons}); a.location != of(d.made, 1) {
		t.Fatal(a.status, a.text())
	}
	d.made = d.invite()
	if body := b.get(d.link(1)).body; !strings.Contains(body, localKennitala(jons)+"</span>") || !strings.Contains(body, "sem "+localKennitala(jons)) {
		t.Error(body)
	}
}

// Who has logged in reaches all places that are theirs, takes one that a link leads to without another
// login, and reaches nobody else's.
func TestOneLoginForAllPlaces(t *testing.T) {
	t.Parallel()
	inTime(t, func(t *testing.T, d *door) {
		b := d.loggedIn(0, anna)
		earlier := d.made
		d.made = d.invite()
		a := b.get(d.link(0))
		a.says(t, 200, "landing.continue", "landing.sign", "!login.ways")
		a = b.post(d.link(0)+"/login", "way", "continue")
		if a.location != of(d.made, 0) || d.phones.rings() != 1 {
			t.Fatal(a.status, a.location, d.phones.rung)
		}
		if a := b.post(d.link(0)+"/login", "way", "continue"); a.location != of(d.made, 0) {
			t.Error("the second click:", a.status, a.location)
		}
		for _, v := range []portal.ProcessView{earlier, d.made} {
			if !b.there(of(v, 0)) {
				t.Error("not there")
			}
		}
		jons := d.loggedIn(1, jon)
		b.get(of(d.made, 1)).says(t, 403, "problem.other.text", "login.ways")
		jons.get(of(d.made, 0)).says(t, 403, "problem.other.text")
		jons.get(of(d.made, 0, "/document")).says(t, 403, "problem.other.text")
		jons.post(of(d.made, 0, "/decline"), "reason", "x").says(t, 403, "problem.other.text")

		// a place that is somebody else's is not offered, nor to be had
		d.made = d.invite()
		jons.get(d.link(0)).says(t, 200, "!landing.continue", "login.ways")
		jons.post(d.link(0)+"/login", "way", "continue").says(t, 403, "problem.other.title", "problem.another")
		b.get(d.link(0)).says(t, 200, "landing.continue")
	})
}

// A cookie that somebody has planted in the browser is good for nothing once a login has begun, and the
// one of the login only for a minute after it, for an answer that was lost.
func TestVisitIsNotFixed(t *testing.T) {
	t.Parallel()
	inTime(t, func(t *testing.T, d *door) {
		planted := newToken()
		b := d.tab()
		b.cookies[sessionCookie] = planted
		d.phones.answer(annas, reply{who: anna})
		b.begin(d.link(0), "way", "app", "kennitala", annas)
		begun := b.cookie()
		if begun == planted {
			t.Error("the login is in the visit that was planted")
		}
		time.Sleep(2 * time.Second)
		again := d.tab()
		again.cookies[sessionCookie] = begun
		if a := b.get(loginPath); a.location != of(d.made, 0) {
			t.Fatal(a.status, a.location)
		}
		if again.there(of(d.made, 0)) {
			t.Error("the visit of the login is one of who has logged in")
		}
		if a := again.get(loginPath); a.location != of(d.made, 0) || again.cookie() != b.cookie() {
			t.Error("an answer that was lost is not given again", a.status, a.location)
		}
		again.cookies[sessionCookie] = begun
		time.Sleep(replayWindow)
		again.get(loginPath).says(t, 403, "problem.nobody.title")

		// nor does one that was planted by who has logged in with it let them see what follows
		thief := d.loggedIn(1, jon)
		victim := d.tab()
		victim.cookies[sessionCookie] = thief.cookie()
		if a := victim.login(of(d.made, 0), anna); a.location != of(d.made, 0) {
			t.Fatal(a.status, a.location)
		}
		if thief.there(of(d.made, 1)) || thief.cookie() == victim.cookie() {
			t.Error("the visit of before is still one")
		}
	})
}

// What is no cookie of ours is as none.
func TestCookiesThatAreNone(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	d.loggedIn(0, anna)
	for _, value := range []string{"", "x", newToken(), strings.Repeat("A", 43), strings.Repeat("A", 4000), "../../x", newToken() + "="} {
		b := d.tab()
		b.cookies[sessionCookie] = value
		if b.there(of(d.made, 0)) {
			t.Errorf("%q is worth something", value)
		}
		b.get(loginPath).says(t, 403, "problem.nobody.title")
		b.get(d.link(1)).says(t, 200, "landing.sign")
	}
}

// A store without room for another minute throws nobody out.
func TestVisitOnAFullDisk(t *testing.T) {
	t.Parallel()
	inTime(t, func(t *testing.T, d *door) {
		b := d.loggedIn(0, anna)
		time.Sleep(2 * renewAfter)
		d.page.config.Tx = full{}
		if !b.there(of(d.made, 0)) {
			t.Error("thrown out")
		}
		b.post("/sign/logout").says(t, 503, "problem.away.title")
	})
}

type full struct{ storage.Transactor }

func (full) InTx(context.Context, func(context.Context) error) error { return storage.ErrFull }
