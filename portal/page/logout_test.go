package page

import (
	"testing"
	"time"
)

// Nobody is there who has logged out, whichever of their cookies somebody has.
func TestLogout(t *testing.T) {
	t.Parallel()
	inTime(t, func(t *testing.T, d *door) {
		b := d.tab()
		d.phones.answer(annas, reply{who: anna})
		b.begin(d.link(0), "way", "app", "kennitala", annas)
		time.Sleep(2 * time.Second)
		before := b.cookie()
		b.get(loginPath)
		stolen := map[string]string{"that of the login": before, "that of the visit": b.cookie()}
		a := b.post("/sign/logout")
		if a.location != goodbyePath || b.cookie() != "" {
			t.Error(a.status, a.location, b.cookies)
		}
		b.follow(a).says(t, 200, "goodbye.title", "goodbye.text")
		for name, cookie := range stolen {
			thief := d.tab()
			thief.cookies[sessionCookie] = cookie
			if thief.there(of(d.made, 0)) {
				t.Error(name, "is worth something")
			}
			thief.get(loginPath).says(t, 403, "problem.nobody.title")
			thief.post(of(d.made, 0, "/sign"), "method", "IdpApp", "revision", "0")
			thief.post("/sign/logout")
		}
		if d.now(d.made).Turn != nil {
			t.Error("somebody signs")
		}
		if a := b.post("/sign/logout"); a.location != goodbyePath { // once more
			t.Error(a.status, a.location)
		}
		if b.there(of(d.made, 0)) {
			t.Error("there without a cookie")
		}
	})
}

// Nor is anybody there whom two tabs, or an answer that was lost, have led on from the same login;
// whichever of them logs out, calls the login off, or begins another.
func TestLogoutInAllTabs(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(d *door, login, visit *tab){
		"the visit":  func(_ *door, _, visit *tab) { visit.post("/sign/logout") },
		"the login":  func(_ *door, login, _ *tab) { login.post("/sign/logout") },
		"called off": func(_ *door, login, _ *tab) { login.post("/sign/login/end") },
		"another": func(d *door, _, visit *tab) {
			visit.post(d.link(1)+"/login", "way", "app", "kennitala", jons, "visit", newToken())
		},
	} {
		inTime(t, func(t *testing.T, d *door) {
			d.phones.answer(annas, reply{who: anna})
			login := d.tab()
			login.begin(d.link(0), "way", "app", "kennitala", annas)
			time.Sleep(2 * time.Second)
			var cookies []string
			for range 3 {
				b := d.tab()
				b.cookies[sessionCookie] = login.cookie()
				b.get(loginPath)
				if !b.there(of(d.made, 0)) {
					t.Error("nobody is there")
				}
				cookies = append(cookies, b.cookie())
			}
			cookies = append(cookies, login.cookie())
			visit := d.tab()
			visit.cookies[sessionCookie] = cookies[0]
			end(d, login, visit)
			for _, cookie := range cookies {
				thief := d.tab()
				thief.cookies[sessionCookie] = cookie
				thief.get(loginPath).says(t, 403, "problem.nobody.title")
				if thief.there(of(d.made, 0)) {
					t.Error(name, "leaves somebody there")
				}
			}
		})
	}
}

// Who calls a login off is nobody, whatever the phone says later.
func TestLoginIsCalledOff(t *testing.T) {
	t.Parallel()
	inTime(t, func(t *testing.T, d *door) {
		b := d.tab()
		b.begin(d.link(0), "way", "app", "kennitala", annas)
		cookie := b.cookie()
		a := b.post("/sign/login/end")
		if a.location != d.link(0) || b.cookie() != "" {
			t.Error(a.status, a.location, b.cookies)
		}
		d.phones.answer(annas, reply{who: anna})
		time.Sleep(2 * time.Second)
		b.cookies[sessionCookie] = cookie
		b.get(loginPath).says(t, 403, "problem.nobody.title")
		if a := b.post("/sign/login/end"); a.location != goodbyePath {
			t.Error(a.status, a.location)
		}
		if d.now(d.made).Participants[0].Person != nil {
			t.Error("somebody has the place")
		}
	})
}

// A login that has come to its end is not called off any more.
func TestLoginIsCalledOffTooLate(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	b := d.loggedIn(0, anna)
	if a := b.post("/sign/login/end"); a.location != of(d.made, 0) || !b.there(of(d.made, 0)) {
		t.Error(a.status, a.location)
	}
}
