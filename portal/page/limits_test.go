package page

import (
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/innsigli/innsigli/idp"
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

// A phone does not ring all the time for one link. After the time of Retry-After a login may begin again.
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
}

// A person with other links does not lock another person out of that person's own link, and does not make the phone ring all the
// time either: of one link half of what all links of the account have, and less once that is used up.
func TestLimitsOfLinks(t *testing.T) {
	t.Parallel()
	inTime(t, func(t *testing.T, d *fixture) {
		own := d.link(0)
		exhaust := func(link string) (rings int) {
			for d.newBrowser().beginApp(link, annas).status == http.StatusSeeOther {
				if rings++; rings%perParticipantAndPerson.max == 0 {
					time.Sleep(perParticipantAndPerson.window)
				}
			}
			return rings
		}
		for i, want := range []int{prompts.Hourly / 2, prompts.Hourly/2 - 1, prompts.Hourly / 4} {
			d.invited = d.invite()
			if got := exhaust(d.link(1)); got != want {
				t.Errorf("link %d: %d rings in an hour, want %d", i, got, want)
			}
			d.ring(own, annas)
		}
		d.ring(d.link(1), jons)
		time.Sleep(d.limited(d.link(1), annas, "problem.often"))
		d.ring(d.link(1), annas)
	})
}

// A person with many links of an account does not lock another person out of that person's own link, however that person
// logs in.
func TestLimitsOfOwnLink(t *testing.T) {
	t.Parallel()
	for name, form := range map[string][]string{
		"kennitala": {"way", "app", "kennitala", "010130-2989"},
		"phone":     {"way", "sim", "phone", "555 0101"},
	} {
		t.Run(name, func(t *testing.T) {
			inTime(t, func(t *testing.T, d *fixture) {
				own := d.link(0)
				for rings := 0; rings < 3*prompts.Hourly; {
					d.invited = d.invite()
					for d.beginAnew(d.link(1), form...).status == http.StatusSeeOther {
						if rings++; rings%perParticipantAndPerson.max == 0 {
							time.Sleep(time.Minute)
						}
					}
				}
				d.beginAnew(d.link(1), form...).says(t, http.StatusTooManyRequests, "problem.often.title")
				d.beginAnew(own, form...).leadsTo(t, loginPath)
			})
		})
	}
}

// Logins that the person completed do not count.
func TestCompletedLoginsDoNotCount(t *testing.T) {
	t.Parallel()
	inTime(t, func(t *testing.T, d *fixture) {
		_ = d.loggedIn(0, anna)
		page := of(d.invited, 0)
		for range prompts.Hourly {
			time.Sleep(2 * time.Minute)
			d.newBrowser().logIn(page, anna).leadsTo(t, page)
		}
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
			time.Sleep(10 * time.Minute)
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

// A person who has logged in and signs with another's phone number does not make that phone ring all the time, for one
// document or for many.
func TestLimitOfPhoneNumber(t *testing.T) {
	t.Parallel()
	inTime(t, func(t *testing.T, d *fixture) {
		d.users(refuses)
		b := d.loggedIn(0, anna)
		sign := func(phone string) answer {
			return b.post(of(d.invited, 0, "/sign"), "method", "IdpSim", "phone", phone, "revision", "0")
		}
		asked := 0
		for sign("5550202").status == http.StatusSeeOther {
			if d.stored(d.invited).Turn != nil {
				d.complete(d.invited)
			}
			if asked++; asked%perParticipantAndPerson.max == 0 {
				time.Sleep(perParticipantAndPerson.window)
			}
		}
		if want := prompts.Hourly / 2; asked != want || d.provider.asked != want {
			t.Errorf("asked %d times, of %d tries, want %d", d.provider.asked, asked, want)
		}
		sign("555-0202").says(t, http.StatusTooManyRequests, "problem.often.title")
		owner := d.loggedIn(1, jon)
		owner.post(of(d.invited, 1, "/sign"), "method", "IdpSim", "phone", "5550202", "revision", "0").says(t, http.StatusSeeOther)
	})
}

// A limit of the provider's own is no fault. The page says when to try again, and until then the person is asked from no
// page of the account; nor is the provider asked for an answer before the time that it named.
func TestLimitsOfProvider(t *testing.T) {
	t.Parallel()
	const wait = 90 * time.Second
	inTime(t, func(t *testing.T, d *fixture) {
		d.login.fails(&idp.TooManyRequestsError{RetryAfter: wait, Err: errors.New("429")})
		b := d.newBrowser()
		b.beginApp(d.link(0), annas)
		a := b.get(loginPath).says(t, http.StatusTooManyRequests, "ended.often.title", "ended.again")
		if got := a.header.Get("Retry-After"); got != "90" {
			t.Errorf("Retry-After: %q", got)
		}
		d.login.fails(nil)
		if got := d.limited(d.link(1), annas, "problem.often"); got != wait {
			t.Error(got)
		}
		d.ring(d.link(0), jons)
		time.Sleep(wait)
		d.ring(d.link(1), annas)
	})
	inTime(t, func(t *testing.T, d *fixture) {
		d.login.answer(annas, reply{person: anna})
		b := d.newBrowser()
		b.beginApp(d.link(0), annas)
		time.Sleep(5 * time.Second)
		d.login.fails(&idp.FaultError{RetryAfter: wait, Err: errors.New("429")})
		b.status(loginPath)
		d.wantFaults(1)
		d.login.fails(nil)
		time.Sleep(wait - time.Second)
		b.get(loginPath).says(t, http.StatusOK, "wait.title")
		time.Sleep(time.Second)
		b.get(loginPath).leadsTo(t, of(d.invited, 0))
	})
}
