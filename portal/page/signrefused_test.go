package page

import (
	"errors"
	"net/http"
	"strings"
	"testing"
)

// What the page tells of an attempt that came to nothing, until the next one.
func TestSigningRefusedOnThePhone(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.users(refuses)
	v := s.process()
	anna := s.browser(annas)
	script := *anna
	script.json = true
	first := s.sign(v, 0, annas)
	s.drive(v)
	if got := script.get(first.location).news(t); got != (pageStatus{"failed", first.location}) {
		t.Error(got)
	}
	a := anna.get(first.location)
	a.says(t, http.StatusOK, "failure.title", "failure.cancelled", "failure.again", "sign.title")
	anna.get(of(v, 0)).says(t, http.StatusOK, "!failure.title", "sign.title")
	jon := s.browser(jons)
	jon.get(strings.Replace(first.location, v.Participants[0].ID, v.Participants[1].ID, 1)).says(t, http.StatusOK, "!failure.title")
	second := s.sign(v, 0, annas)
	if second.location == first.location || !strings.Contains(second.location, "attempt=") {
		t.Error(second)
	}
}

// A start that the provider refuses is told as well, and is no request.
func TestSigningRefusedAtOnce(t *testing.T) {
	t.Parallel()
	s := newScene(t) // nobody is known
	v := s.process()
	anna := s.browser(annas)
	begun := s.sign(v, 0, annas)
	anna.follow(begun).says(t, http.StatusOK, "failure.title", "failure.nobody", "failure.again", "sign.title")
	if s.now(v).Turn != nil {
		t.Error("the turn was not given back")
	}
	hostile := anna.get(of(v, 0, "?refused=%3Cb%3E&attempt=%3Ci%3E"))
	hostile.says(t, http.StatusOK, "failure.unknown")
	if strings.Contains(hostile.body, "<b>") {
		t.Error("what is in the address is put into the page")
	}
}

// Phones do not ring all the time.
func TestSigningTooOften(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.users(refuses)
	v := s.process()
	for range perParticipantAndPerson.max {
		s.sign(v, 0, annas).says(t, http.StatusSeeOther)
		s.drive(v)
	}
	a := s.sign(v, 0, annas)
	a.says(t, http.StatusTooManyRequests, "problem.often.title")
	if s.now(v).Turns != int64(perParticipantAndPerson.max) || s.provider.asked != perParticipantAndPerson.max {
		t.Error("the phone was made to ring")
	}
	s.browser(annas).get(of(v, 0)).says(t, http.StatusOK, "sign.title")
}

// A phone that rings by its number does not ring all the time either, whoever signs and whoever has
// logged in with it.
func TestPhoneIsAskedToSignTooOften(t *testing.T) {
	t.Parallel()
	d := newDoor(t)
	d.users(refuses)
	d.phones.answer("5550202", reply{who: jon})
	for range perPerson.max - perParticipantAndPerson.max {
		b := d.tab()
		b.begin(d.link(1), "way", "sim", "phone", "5550202")
		b.wait()
		b.get(loginPath)
		d.made = d.invite()
	}
	b := d.loggedIn(0, anna)
	sign := func(phone string) answer {
		return b.post(of(d.made, 0, "/sign"), "method", "IdpSim", "phone", phone, "revision", "0")
	}
	for range perParticipantAndPerson.max {
		sign("5550202").says(t, http.StatusSeeOther)
		if d.now(d.made).Turn != nil {
			d.drive(d.made)
		}
	}
	asked := d.provider.asked
	d.made = d.invite()
	b.post(d.link(0)+"/login", "way", "continue")
	sign("555-0202").says(t, http.StatusTooManyRequests, "problem.often.title")
	if d.provider.asked != asked {
		t.Error("the phone was made to ring")
	}
	if a := sign("5550101"); a.status != http.StatusSeeOther {
		t.Error("another phone:", a.status, a.text())
	}
	d.begins(d.link(1), "way", "sim", "phone", "5550202").says(t, http.StatusTooManyRequests, "problem.often.title")
}

// Nothing is lost when the provider is away: it is said, and the button may be pressed again.
func TestSigningWhileProviderIsAway(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.users()
	v := s.process()
	s.provider.away = errors.New("no route to host")
	for i := range 2 * perParticipantAndPerson.max { // that no phone rang is not counted
		a := s.sign(v, 0, annas)
		a.says(t, http.StatusBadGateway, "problem.provider.title")
		if strings.Contains(a.body, "route") || len(s.faults) != i+1 || s.now(v).Turn != nil {
			t.Error(s.faults, s.now(v).Turn)
		}
	}
	s.provider.away = nil
	s.sign(v, 0, annas).says(t, http.StatusSeeOther)
	s.drive(v)
	s.browser(annas).get(of(v, 0)).says(t, http.StatusOK, "place.signed")
}
