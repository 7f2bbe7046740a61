package page

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// beginAnew begins a login in a new browser.
func (d *fixture) beginAnew(page string, form ...string) answer {
	d.t.Helper()
	return d.newBrowser().begin(page, form...)
}

// ring makes the phone of a kennitala ring, from a new browser.
func (d *fixture) ring(page, kennitala string) {
	d.t.Helper()
	d.newBrowser().beginApp(page, kennitala).leadsTo(d.t, loginPath)
}

// limited checks that the phone of a kennitala does not ring, and returns how long that lasts.
func (d *fixture) limited(page, kennitala, key string) time.Duration {
	d.t.Helper()
	b := d.newBrowser()
	a := b.beginApp(page, kennitala).says(d.t, 429, key+".title", key+".text", "problem.back")
	seconds, err := strconv.Atoi(a.header.Get("Retry-After"))
	d.must(err)
	if b.cookie() != "" {
		d.t.Error("a refused login sets a cookie")
	}
	return time.Duration(seconds) * time.Second
}

// A phone does not ring all the time, for one link or for many. After the time of Retry-After a login may begin
// again.
func TestLimitsOfPersons(t *testing.T) {
	t.Parallel()
	inTime(t, func(t *testing.T, d *fixture) {
		for range perParticipantAndPerson.max {
			d.ring(d.link(0), annas)
			time.Sleep(time.Minute)
		}
		wait := d.limited(d.link(0), annas, "problem.often")
		if want := perParticipantAndPerson.window - time.Duration(perParticipantAndPerson.max)*time.Minute; wait != want {
			t.Error(wait, want)
		}
		d.wantAsked(perParticipantAndPerson.max)
		d.ring(d.link(1), jons) // another person is not affected
		time.Sleep(wait)
		d.ring(d.link(0), annas)
	})
	inTime(t, func(t *testing.T, d *fixture) {
		for range perPerson.max {
			d.ring(d.link(1), annas)
			d.invited = d.invite()
		}
		d.limited(d.link(1), annas, "problem.often")
		d.ring(d.link(1), jons)
		time.Sleep(perPerson.window)
		d.ring(d.link(1), annas)
	})
}

// A person with a link who logs in as another does not lock the participant out, unless many phones ring. Redirects to
// the provider remain possible then, up to a limit of their own.
func TestLimitsOfParticipants(t *testing.T) {
	t.Parallel()
	inTime(t, func(t *testing.T, d *fixture) {
		for range perParticipantAndPerson.max {
			d.ring(d.link(0), jons)
		}
		for range 20 {
			d.beginAnew(d.link(0), "way", "browser")
		}
		d.ring(d.link(0), annas)
		for _, form := range [][]string{{"way", "sim", "phone", "5550101"}, {"way", "browser"}} {
			d.beginAnew(d.link(0), form...).leadsTo(t, loginPath)
		}
	})
	inTime(t, func(t *testing.T, d *fixture) {
		for i := range perParticipant.max {
			d.ring(d.link(0), fmt.Sprint(2000000000+i))
		}
		d.limited(d.link(0), annas, "problem.often")
		d.beginAnew(d.link(0), "way", "browser").leadsTo(t, loginPath)
		d.ring(d.link(1), annas)
		time.Sleep(perParticipant.window)
		d.ring(d.link(0), annas)
	})
	inTime(t, func(t *testing.T, d *fixture) {
		for range perParticipantRedirected.max {
			d.beginAnew(d.link(0), "way", "browser").leadsTo(t, loginPath)
		}
		d.beginAnew(d.link(0), "way", "browser").says(t, 429, "problem.often.title")
		time.Sleep(perParticipantRedirected.window)
		d.beginAnew(d.link(0), "way", "browser").leadsTo(t, loginPath)
	})
}

// The logins of a participant that do not complete are limited for a day. Completed ones do not count.
func TestLimitOfUnsuccessfulLogins(t *testing.T) {
	testenv.Slow(t, "days go by")
	t.Parallel()
	inTime(t, func(t *testing.T, d *fixture) {
		_ = d.loggedIn(0, anna)
		page := of(d.invited, 0)
		for range perParticipantUnsuccessful.max / 2 {
			d.newBrowser().logIn(page, anna).leadsTo(t, page)
			time.Sleep(perPerson.window)
		}
		for i := range perParticipantUnsuccessful.max {
			d.ring(page, fmt.Sprint(2000000000+i))
			time.Sleep(perParticipant.window)
		}
		wait := d.limited(page, annas, "problem.later")
		d.beginAnew(page, "way", "browser").leadsTo(t, loginPath)
		if want := perParticipantUnsuccessful.window - time.Duration(perParticipantUnsuccessful.max)*perParticipant.window; wait != want {
			t.Error(wait, want)
		}
		time.Sleep(wait)
		d.ring(page, annas)
	})
}

// An outage of the provider does not count, since no phone rings. An answer of the provider counts, also if the
// kennitala is unknown.
func TestOutagesDoNotCount(t *testing.T) {
	t.Parallel()
	inTime(t, func(t *testing.T, d *fixture) {
		d.login.fails(errors.New("connection refused"))
		for range 2 * perParticipantUnsuccessful.max {
			b := d.newBrowser()
			b.beginApp(d.link(0), annas)
			b.get(loginPath).says(t, 502, "ended.outage.title")
		}
		d.wantFaults(2 * perParticipantUnsuccessful.max)
		d.login.fails(nil)
		d.login.answer(jons, reply{err: ErrUnknown})
		for _, kennitala := range []string{annas, jons} {
			for range perParticipantAndPerson.max {
				d.ring(d.link(0), kennitala)
			}
			d.limited(d.link(0), kennitala, "problem.often")
		}
	})
}

// The signatures of a person with the app are limited.
func TestLimitOfSignatures(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.users(refuses)
	v := s.opened()
	for range perParticipantAndPerson.max {
		s.sign(v, 0, annas).says(t, http.StatusSeeOther)
		s.complete(v)
	}
	s.sign(v, 0, annas).says(t, http.StatusTooManyRequests, "problem.often.title")
	if s.stored(v).Turns != int64(perParticipantAndPerson.max) || s.provider.asked != perParticipantAndPerson.max {
		t.Error("a signature beyond the limit has begun")
	}
	s.browserOf(annas).get(of(v, 0)).says(t, http.StatusOK, "sign.title")
}

// A phone number has one limit for logins and signatures, of any person and process.
func TestLimitOfPhoneNumber(t *testing.T) {
	t.Parallel()
	d := newInvitation(t)
	d.users(refuses)
	d.login.answer("5550202", reply{person: jon})
	for range perPerson.max - perParticipantAndPerson.max {
		b := d.newBrowser()
		b.begin(d.link(1), "way", "sim", "phone", "5550202")
		b.letPoll()
		b.get(loginPath)
		d.invited = d.invite()
	}
	b := d.loggedIn(0, anna)
	sign := func(phone string) answer {
		return b.post(of(d.invited, 0, "/sign"), "method", "IdpSim", "phone", phone, "revision", "0")
	}
	for range perParticipantAndPerson.max {
		sign("5550202").says(t, http.StatusSeeOther)
		if d.stored(d.invited).Turn != nil {
			d.complete(d.invited)
		}
	}
	asked := d.provider.asked
	d.invited = d.invite()
	b.post(d.link(0)+"/login", "way", "continue")
	sign("555-0202").says(t, http.StatusTooManyRequests, "problem.often.title")
	if d.provider.asked != asked {
		t.Error("a signature beyond the limit has begun")
	}
	sign("5550101").says(t, http.StatusSeeOther)
	d.beginAnew(d.link(1), "way", "sim", "phone", "5550202").says(t, http.StatusTooManyRequests, "problem.often.title")
}
