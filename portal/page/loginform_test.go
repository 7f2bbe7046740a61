package page

import (
	"net/http"
	"sync"
	"testing"
	"time"
)

// What is sent several times at once, as by a double click, makes the phone ring once, and shows the
// same login in all tabs.
func TestFormIsSentManyTimes(t *testing.T) {
	t.Parallel()
	inTime(t, func(t *testing.T, d *door) {
		d.phones.takes(50 * time.Millisecond)
		visit := visitIn(d.tab().get(d.link(0)).body) // as the browser sends it before it has a cookie
		tabs := make([]*tab, 16)
		var all sync.WaitGroup
		for i := range tabs {
			tabs[i] = d.tab()
			all.Go(func() {
				a := tabs[i].post(d.link(0)+"/login", "way", "app", "kennitala", annas, "visit", visit)
				if a.status != http.StatusSeeOther || a.location != loginPath {
					t.Error(a.status, a.location)
				}
			})
		}
		all.Wait()
		if d.phones.rings() != 1 {
			t.Error("phones rang", d.phones.rings(), "times")
		}
		for _, b := range tabs {
			b.get(loginPath).says(t, 200, "wait.compare")
			if b.cookie() != tabs[0].cookie() {
				t.Error("two visits of one form")
			}
		}
		// the answer is given once, and all tabs come to the page
		d.phones.answer(annas, reply{who: anna})
		tabs[0].wait()
		for _, b := range tabs {
			all.Go(func() {
				for range 100 {
					if a := b.get(loginPath); a.location == of(d.made, 0) {
						return
					}
					time.Sleep(20 * time.Millisecond)
				}
				t.Error(b.get(loginPath).text())
			})
		}
		all.Wait()
		// who corrects what was typed begins anew
		b := d.tab()
		visit = visitIn(b.get(d.link(1)).body)
		b.post(d.link(1)+"/login", "way", "app", "kennitala", annas, "visit", visit)
		b.post(d.link(1)+"/login", "way", "app", "kennitala", jons, "visit", visit)
		if d.phones.rings() != 3 {
			t.Error(d.phones.rung)
		}
	})
}

// What stands in the page does not open the login that is begun with it, nor does a form that is sent
// after a while, or for another.
func TestFormIsNotTheCookie(t *testing.T) {
	t.Parallel()
	inTime(t, func(t *testing.T, d *door) {
		b := d.tab()
		visit := visitIn(b.get(d.link(0)).body)
		send := func(b *tab, kennitala string) {
			b.post(d.link(0)+"/login", "way", "app", "kennitala", kennitala, "visit", visit)
		}
		send(b, annas)
		reader := d.tab()
		reader.cookies[sessionCookie] = visit
		reader.get(loginPath).says(t, 403, "problem.nobody.title")
		if b.cookie() == visit {
			t.Error("the cookie stands in the page")
		}
		time.Sleep(formWindow)
		send(reader, annas)
		if reader.cookie() == b.cookie() || d.phones.rings() != 2 {
			t.Error("a form opens a login that somebody waits for", d.phones.rung)
		}
		other := d.tab()
		send(other, jons)
		if other.cookie() == reader.cookie() || d.phones.rings() != 3 {
			t.Error("a form opens the login of another", d.phones.rung)
		}
		b.get(loginPath).says(t, 200, "wait.compare")
	})
}

// While the provider takes its time, the page says so; and a browser that hangs up loses nothing.
func TestSlowProvider(t *testing.T) {
	t.Parallel()
	inTime(t, func(t *testing.T, d *door) {
		d.phones.takes(5 * time.Second)
		b := d.tab()
		visit := visitIn(b.get(d.link(0)).body)
		var all sync.WaitGroup
		all.Go(func() { d.tab().post(d.link(0)+"/login", "way", "app", "kennitala", annas, "visit", visit) })
		time.Sleep(time.Second)
		b.post(d.link(0)+"/login", "way", "app", "kennitala", annas, "visit", visit) // the second click
		b.get(loginPath).says(t, 200, "wait.asking", "wait.end")
		all.Wait()
		d.phones.takes(0)
		b.get(loginPath).says(t, 200, "wait.compare")
	})
}
