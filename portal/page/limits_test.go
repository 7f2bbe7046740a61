package page

import (
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"
)

// A link does not make phones ring all the time, nor do many links that of one person; and who waits
// may begin again.
func TestPhonesDoNotRingAllTheTime(t *testing.T) {
	begins := func(d *door, page, kennitala string) answer {
		return d.tab().begin(page, "way", "app", "kennitala", kennitala)
	}
	inTime(t, func(t *testing.T, d *door) {
		for range ofPlace.most {
			if a := begins(d, d.link(0), annas); a.location != loginPath {
				t.Fatal(a.status, a.text())
			}
			time.Sleep(time.Minute)
		}
		b := d.tab()
		b.begin(d.link(0), "way", "sim", "phone", "5550101").says(t, 429, "problem.often.title", "problem.often.text", "problem.back")
		after, err := strconv.Atoi(b.last.Get("Retry-After"))
		if want := ofPlace.within - time.Duration(ofPlace.most)*time.Minute; err != nil || time.Duration(after)*time.Second != want {
			t.Error(after, want, err)
		}
		if b.cookie() != "" || d.phones.rings() != ofPlace.most {
			t.Error(b.cookies, d.phones.rung)
		}
		if a := begins(d, d.link(1), jons); a.location != loginPath { // it is not this link's matter
			t.Error(a.status, a.text())
		}
		time.Sleep(time.Duration(after) * time.Second)
		if a := begins(d, d.link(0), annas); a.location != loginPath {
			t.Error(a.status, a.text())
		}
	})
	inTime(t, func(t *testing.T, d *door) {
		for range ofPerson.most {
			if a := begins(d, d.link(1), annas); a.location != loginPath {
				t.Fatal(a.status, a.text())
			}
			d.made = d.invite()
		}
		begins(d, d.link(1), annas).says(t, 429, "problem.often.title")
		if a := begins(d, d.link(1), jons); a.location != loginPath { // it is not this person's matter
			t.Error(a.status, a.text())
		}
		time.Sleep(ofPerson.within)
		if a := begins(d, d.link(1), annas); a.location != loginPath {
			t.Error(a.status, a.text())
		}
	})
}

// What is sent several times at once, as by a double click, makes the phone ring once, and shows the
// same login in all tabs.
func TestFormIsSentManyTimes(t *testing.T) {
	d := newDoor(t)
	d.phones.takes(50 * time.Millisecond)
	visit := visitIn(d.tab().get(d.link(0)).body)
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
}

// While the provider takes its time, the page says so; and a browser that hangs up loses nothing.
func TestSlowProvider(t *testing.T) {
	inTime(t, func(t *testing.T, d *door) {
		d.phones.takes(5 * time.Second)
		b := d.tab()
		visit := visitIn(b.get(d.link(0)).body)
		b.cookies[cookieName] = visit // as the second click has it
		var all sync.WaitGroup
		all.Go(func() { d.tab().post(d.link(0)+"/login", "way", "app", "kennitala", annas, "visit", visit) })
		time.Sleep(time.Second)
		b.get(loginPath).says(t, 200, "wait.asking", "wait.end")
		all.Wait()
		d.phones.takes(0)
		b.get(loginPath).says(t, 200, "wait.compare")
	})
}

// Where no phone rings somebody may try more often, though not for ever.
func TestBrowserIsSentMoreOften(t *testing.T) {
	inTime(t, func(t *testing.T, d *door) {
		for range ofBrowser.most {
			if a := d.tab().begin(d.link(0), "way", "browser"); a.location != loginPath {
				t.Fatal(a.status, a.text())
			}
		}
		d.tab().begin(d.link(0), "way", "browser").says(t, 429, "problem.often.title")
		time.Sleep(ofBrowser.within)
		if a := d.tab().begin(d.link(0), "way", "browser"); a.location != loginPath {
			t.Error(a.status, a.text())
		}
	})
}
