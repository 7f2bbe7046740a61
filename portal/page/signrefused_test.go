package page

import (
	"errors"
	"net/http"
	"strings"
	"testing"
)

// What the page tells of an attempt that came to nothing, until the next one.
func TestSigningRefusedOnThePhone(t *testing.T) {
	s := newScene(t)
	s.users(refuses)
	v := s.process()
	anna := s.browser(annas)
	script := *anna
	script.json = true
	first := s.sign(v, 0, annas)
	s.drive(v)
	if got := script.get(first.location).news(t); got != (placeNews{"failed", first.location}) {
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
	s := newScene(t)
	s.users(refuses)
	v := s.process()
	for range ofPlace.most {
		s.sign(v, 0, annas).says(t, http.StatusSeeOther)
		s.drive(v)
	}
	a := s.sign(v, 0, annas)
	a.says(t, http.StatusTooManyRequests, "problem.often.title")
	if s.now(v).Turns != int64(ofPlace.most) || s.provider.asked != ofPlace.most {
		t.Error("the phone was made to ring")
	}
	s.browser(annas).get(of(v, 0)).says(t, http.StatusOK, "sign.title")
}

// Nothing is lost when the provider is away: it is said, and the button may be pressed again.
func TestSigningWhileProviderIsAway(t *testing.T) {
	s := newScene(t)
	s.users()
	v := s.process()
	s.provider.away = errors.New("no route to host")
	a := s.sign(v, 0, annas)
	a.says(t, http.StatusBadGateway, "problem.provider.title")
	if strings.Contains(a.body, "route") || len(s.faults) != 1 || s.now(v).Turn != nil {
		t.Error(s.faults, s.now(v).Turn)
	}
	s.provider.away = nil
	s.sign(v, 0, annas).says(t, http.StatusSeeOther)
	s.drive(v)
	s.browser(annas).get(of(v, 0)).says(t, http.StatusOK, "place.signed")
}
