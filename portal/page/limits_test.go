package page

import (
	"errors"
	"fmt"
	"strconv"
	"testing"
	"time"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// begins has somebody begin to log in, in another browser than before.
func (d *door) begins(page string, form ...string) answer {
	d.t.Helper()
	return d.tab().begin(page, form...)
}

// rings has a phone ring for a kennitala.
func (d *door) rings(page, kennitala string) {
	d.t.Helper()
	if a := d.begins(page, "way", "app", "kennitala", kennitala); a.location != loginPath {
		d.t.Fatal(a.status, a.text())
	}
}

// A link does not make somebody's phone ring all the time, nor do many links; and who waits may begin
// again.
func TestPhonesDoNotRingAllTheTime(t *testing.T) {
	t.Parallel()
	inTime(t, func(t *testing.T, d *door) {
		for range perParticipantAndPerson.max {
			d.rings(d.link(0), annas)
			time.Sleep(time.Minute)
		}
		b := d.tab()
		b.begin(d.link(0), "way", "app", "kennitala", annas).says(t, 429, "problem.often.title", "problem.often.text", "problem.back")
		after, err := strconv.Atoi(b.last.Get("Retry-After"))
		if want := perParticipantAndPerson.window - time.Duration(perParticipantAndPerson.max)*time.Minute; err != nil || time.Duration(after)*time.Second != want {
			t.Error(after, want, err)
		}
		if b.cookie() != "" || d.phones.rings() != perParticipantAndPerson.max {
			t.Error(b.cookies, d.phones.rung)
		}
		d.rings(d.link(1), jons) // it is not this link's matter
		time.Sleep(time.Duration(after) * time.Second)
		d.rings(d.link(0), annas)
	})
	inTime(t, func(t *testing.T, d *door) {
		for range perPerson.max {
			d.rings(d.link(1), annas)
			d.made = d.invite()
		}
		d.begins(d.link(1), "way", "app", "kennitala", annas).says(t, 429, "problem.often.title")
		d.rings(d.link(1), jons) // it is not this person's matter
		time.Sleep(perPerson.window)
		d.rings(d.link(1), annas)
	})
}

// Who has a link and says that they are somebody else keeps nobody from it, but where many phones ring;
// and then the way on which none rings is there.
func TestStrangersLockNobodyOut(t *testing.T) {
	t.Parallel()
	inTime(t, func(t *testing.T, d *door) {
		for range perParticipantAndPerson.max {
			d.rings(d.link(0), jons)
		}
		for range 20 {
			d.begins(d.link(0), "way", "browser")
		}
		d.rings(d.link(0), annas)
		for _, form := range [][]string{{"way", "sim", "phone", "5550101"}, {"way", "browser"}} {
			if a := d.begins(d.link(0), form...); a.location != loginPath {
				t.Error(form, a.status, a.text())
			}
		}
	})
	inTime(t, func(t *testing.T, d *door) {
		for i := range perParticipant.max {
			d.rings(d.link(0), fmt.Sprint(2000000000+i))
		}
		d.begins(d.link(0), "way", "app", "kennitala", annas).says(t, 429, "problem.often.title")
		if a := d.begins(d.link(0), "way", "browser"); a.location != loginPath {
			t.Error(a.status, a.text())
		}
		d.rings(d.link(1), annas)
		time.Sleep(perParticipant.window)
		d.rings(d.link(0), annas)
	})
}

// A link does not make phones ring all day. What somebody has logged in with is not in vain.
func TestPhonesDoNotRingAllDay(t *testing.T) {
	testenv.Slow(t, "days go by")
	t.Parallel()
	inTime(t, func(t *testing.T, d *door) {
		_ = d.loggedIn(0, anna)
		page := of(d.made, 0)
		for range perParticipantUnsuccessful.max / 2 {
			if a := d.tab().login(page, anna); a.location != page {
				t.Fatal(a.status, a.text())
			}
			time.Sleep(perPerson.window)
		}
		for i := range perParticipantUnsuccessful.max {
			d.rings(page, fmt.Sprint(2000000000+i))
			time.Sleep(perParticipant.window)
		}
		b := d.tab()
		b.begin(page, "way", "app", "kennitala", annas).says(t, 429, "problem.later.title", "problem.back")
		if a := d.begins(page, "way", "browser"); a.location != loginPath {
			t.Error(a.status, a.text())
		}
		after, err := strconv.Atoi(b.last.Get("Retry-After"))
		if want := perParticipantUnsuccessful.window - time.Duration(perParticipantUnsuccessful.max)*perParticipant.window; err != nil || time.Duration(after)*time.Second != want {
			t.Error(after, want, err)
		}
		time.Sleep(time.Duration(after) * time.Second)
		d.rings(page, annas)
	})
}

// What a provider that is away was asked does not count: no phone rang.
func TestOutagesDoNotCount(t *testing.T) {
	t.Parallel()
	inTime(t, func(t *testing.T, d *door) {
		d.phones.fails(errors.New("connection refused"))
		for range 2 * perParticipantUnsuccessful.max {
			b := d.tab()
			b.begin(d.link(0), "way", "app", "kennitala", annas)
			b.get(loginPath).says(t, 502, "ended.outage.title")
		}
		d.phones.fails(nil)
		for range perParticipantAndPerson.max {
			d.rings(d.link(0), annas)
		}
		d.begins(d.link(0), "way", "app", "kennitala", annas).says(t, 429, "problem.often.title")
		d.phones.answer(jons, reply{err: ErrUnknown}) // who is unknown was asked for
		for range perParticipantAndPerson.max {
			d.rings(d.link(0), jons)
		}
		d.begins(d.link(0), "way", "app", "kennitala", jons).says(t, 429, "problem.often.title")
	})
}

// Where no phone rings somebody may try more often, though not for ever.
func TestBrowserIsSentMoreOften(t *testing.T) {
	t.Parallel()
	inTime(t, func(t *testing.T, d *door) {
		for range perParticipantRedirected.max {
			if a := d.begins(d.link(0), "way", "browser"); a.location != loginPath {
				t.Fatal(a.status, a.text())
			}
		}
		d.begins(d.link(0), "way", "browser").says(t, 429, "problem.often.title")
		time.Sleep(perParticipantRedirected.window)
		if a := d.begins(d.link(0), "way", "browser"); a.location != loginPath {
			t.Error(a.status, a.text())
		}
	})
}
