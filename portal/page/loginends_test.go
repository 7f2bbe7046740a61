package page

import (
	"errors"
	"strings"
	"testing"
	"time"
)

// Each end of a login is told, with a way on; and nobody is there then.
func TestEndsOfALogin(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		r      reply
		away   bool
		status int
		says   string
		next   string
	}{
		"cancelled":            {reply{err: ErrCancelled}, false, 200, "ended.cancelled.title", "ended.again"},
		"unknown":              {reply{err: ErrUnknown}, false, 200, "ended.unknown.title", "ended.again"},
		"too late":             {reply{err: ErrTimeout}, false, 200, "ended.timeout.title", "ended.again"},
		"refused":              {reply{err: ErrRefusedLogin}, false, 200, "ended.refused.title", "ended.again"},
		"another person":       {reply{who: jon}, false, 403, "ended.other.title", "ended.another"},
		"the provider is away": {reply{}, true, 502, "ended.outage.title", "ended.again"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDoor(t)
			if test.away {
				d.phones.fails(errors.New("no route to host"))
			}
			d.phones.answer(annas, test.r)
			b := d.tab()
			b.begin(d.link(0), "way", "app", "kennitala", annas)
			b.wait()
			for range 2 { // also when it is loaded again
				a := b.get(loginPath)
				a.says(t, test.status, test.says, test.next)
				if !strings.Contains(a.body, `href="`+d.link(0)+`"`) || strings.Contains(a.body, annas) {
					t.Error(a.body)
				}
			}
			b.get(of(d.made, 0)).says(t, 403, "problem.unopened.title")
			b.get(d.link(0)).says(t, 200, "landing.sign")
			if test.away != (len(d.faults) > 0) {
				t.Error(d.faults)
			}
		})
	}
}

// A provider that is away for a while costs nothing but time.
func TestProviderComesBack(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	b := d.tab()
	b.begin(d.link(0), "way", "app", "kennitala", annas)
	d.phones.fails(errors.New("no route to host"))
	b.wait()
	b.get(loginPath).says(t, 200, "wait.compare", "wait.trouble")
	d.phones.fails(nil)
	d.phones.answer(annas, reply{who: anna})
	b.wait()
	if a := b.get(loginPath); a.location != of(d.made, 0) {
		t.Error(a.status, a.text())
	}
}

// A login of which nobody has heard for long is over, also when its server died while it asked.
func TestForgottenLogins(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*attempt){
		"not answered":        func(a *attempt) { a.State.Expires = time.Now().Add(-time.Hour) },
		"its server has died": func(a *attempt) { a.State, a.Lease, a.Next = nil, "gone", time.Time{} },
		"died while it was polled": func(a *attempt) {
			a.Lease, a.Next = "gone", time.Now().Add(-time.Second)
			a.State.Expires = a.Next.Add(-time.Hour)
		},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDoor(t)
			b := d.tab()
			b.begin(d.link(0), "way", "app", "kennitala", annas)
			d.changeLogin(b, change)
			a := b.get(loginPath)
			if a.status != 200 && a.status != 502 || !(a.has("ended.timeout.title") || a.has("ended.outage.title")) {
				t.Error(a.status, a.text())
			}
			if a := b.login(d.link(0), anna); a.location != of(d.made, 0) {
				t.Error(a.status, a.location, a.text())
			}
		})
	}
}

func (d *door) changeLogin(b *tab, change func(*attempt)) {
	d.t.Helper()
	_, err := d.page.updateSession(d.t.Context(), sessionKey(b.cookie()), func(v *session) error { change(v.Login); return nil })
	d.must(err)
}

// Who asked the provider and was thought to be dead says nothing any more.
func TestLateAnswerOfTheProvider(t *testing.T) {
	t.Parallel()
	inTime(t, func(t *testing.T, d *door) {
		b := d.tab()
		b.begin(d.link(0), "way", "app", "kennitala", annas)
		time.Sleep(2 * time.Second)
		d.phones.takes(leaseDuration + 10*time.Second)
		late := make(chan answer)
		go func() {
			one := d.tab()
			one.cookies[sessionCookie] = b.cookie()
			late <- one.get(loginPath)
		}()
		time.Sleep(leaseDuration + time.Second)
		d.phones.takes(0)
		d.phones.answer(annas, reply{who: anna})
		if a := b.get(loginPath); a.location != of(d.made, 0) {
			t.Error(a.status, a.text())
		}
		(<-late).says(t, 200, "wait.compare")
		if !b.there(of(d.made, 0)) {
			t.Error("the late answer counts")
		}
		v, err := d.page.loadSession(t.Context(), visitOf(b).LoginSession)
		if err != nil || v.Login.Ended != "" || v.Login.Person == nil {
			t.Errorf("%+v, %v", v.Login, err)
		}
	})
}

// What was typed is there again for who tries again, in the same browser and for the same page.
func TestFormIsFilledAgain(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	d.phones.answer(annas, reply{err: ErrUnknown})
	d.phones.answer("5550101", reply{err: ErrUnknown})
	b := d.tab()
	for _, test := range []struct{ way, field, value string }{{"app", "kennitala", annas}, {"sim", "phone", "5550101"}} {
		b.begin(d.link(0), "way", test.way, test.field, test.value)
		filled := func(b *tab, page string) bool {
			body := b.get(page).body
			return strings.Contains(body, `value="`+test.value+`"`) && strings.Contains(body, `value="`+test.way+`" checked`)
		}
		if !filled(b, d.link(0)) || filled(b, d.link(1)) || filled(d.tab(), d.link(0)) {
			t.Error(test, b.get(d.link(0)).body)
		}
	}
}

// A provider that stays away ends the login when its time is over.
func TestProviderStaysAway(t *testing.T) {
	t.Parallel()
	inTime(t, func(t *testing.T, d *door) {
		b := d.tab()
		b.begin(d.link(0), "way", "app", "kennitala", annas)
		d.phones.fails(errors.New("no route to host"))
		time.Sleep(3 * time.Minute)
		b.get(loginPath).says(t, 502, "ended.outage.title")
		d.phones.fails(nil)
		b.get(loginPath).says(t, 502, "ended.outage.title")
		b.header["Accept"] = "application/json"
		if got, want := b.get(loginPath).news(t), (pageStatus{"failed", loginPath}); got != want {
			t.Error(got, want)
		}
	})
}
