package page

import (
	"strings"
	"testing"
	"time"
)

// A script is told what the page would be.
func TestScriptAsks(t *testing.T) {
	t.Parallel()
	inTime(t, func(t *testing.T, d *door) {
		b := d.tab()
		b.begin(d.link(0), "way", "app", "kennitala", annas)
		b.header["Accept"] = "application/json"
		wants := func(status int, want pageStatus) {
			t.Helper()
			if a := b.get(loginPath); a.status != status || a.news(t) != want {
				t.Errorf("%d %s, want %d %v", a.status, a.body, status, want)
			}
		}
		wants(200, pageStatus{"waiting", loginPath})
		d.phones.answer(annas, reply{who: anna})
		time.Sleep(2 * time.Second)
		cookie := b.cookie()
		wants(200, pageStatus{"done", loginPath})
		wants(200, pageStatus{"done", loginPath}) // an answer to a script that is lost does no harm
		if b.cookie() != cookie || d.now(d.made).Participants[0].Person != nil {
			t.Error("the person is there before the page is")
		}
		delete(b.header, "Accept")
		b.open(loginPath)
		b.header["Accept"] = "application/json"
		wants(200, pageStatus{"done", of(d.made, 0)})
		b.post("/sign/logout")
		wants(403, pageStatus{"failed", loginPath})
	})
}

// Who has neither the script nor what works without one can look how things are by a link.
func TestWaitingWithoutAScript(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	b := d.tab()
	b.begin(d.link(0), "way", "app", "kennitala", annas)
	a := b.get(loginPath)
	a.says(t, 200, "wait.look")
	if !strings.Contains(a.body, `<a href="`+loginPath+`">`) {
		t.Error(a.body)
	}
}

// A login goes on where another server has left it, with the store that they share.
func TestAnotherServerGoesOn(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	d.phones.answer(annas, reply{who: anna})
	b := d.tab()
	b.begin(d.link(0), "way", "app", "kennitala", annas)
	b.wait()
	other, err := New(d.config)
	d.must(err)
	t.Cleanup(other.Close)
	d.page = other
	if a := b.get(loginPath); a.location != of(d.made, 0) {
		t.Error(a.status, a.text())
	}
	b.open(of(d.made, 0)).says(t, 200, "place.asked.title")
}
