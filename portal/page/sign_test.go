package page

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/signing"
)

// From the button to the signature, with the app, whose code comes a little later: each page and its
// script go on by themselves, and however often a page is asked for, or from how many tabs, it is the
// same.
func TestSigning(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.users()
	v := s.process()
	anna := s.browser(annas)
	script := *anna
	script.json = true

	begun := s.sign(v, 0, annas)
	request := s.now(v).Turn.Request
	if begun.status != http.StatusSeeOther || begun.location != of(v, 0, "?attempt=", request) {
		t.Fatal(begun)
	}
	for range 2 {
		anna.get(begun.location).says(t, http.StatusOK, "signing.reaching", "signing.until", "!signing.compare")
		otherTab := anna.get(of(v, 0))
		if otherTab.location != begun.location {
			t.Error(otherTab)
		}
		if got := script.get(begun.location).news(t); got != (pageStatus{State: "waiting"}) {
			t.Error(got)
		}
	}
	s.step(v)
	withCode := begun.location + "&code=shown"
	if got := script.get(begun.location).news(t); got != (pageStatus{"done", withCode}) {
		t.Error(got)
	}
	if got := script.get(withCode).news(t); got != (pageStatus{State: "waiting"}) {
		t.Error(got)
	}
	a := anna.follow(anna.get(of(v, 0)))
	a.says(t, http.StatusOK, "signing.compare", "signing.confirm", "signing.until", "!signing.reaching")
	if !strings.Contains(a.body, ">1234<") || !strings.Contains(a.text(), "1 2 3 4") {
		t.Error(a.text())
	}
	s.drive(v)
	if got := script.get(withCode).news(t); got != (pageStatus{"done", of(v, 0)}) {
		t.Error(got)
	}
	for _, path := range []string{withCode, begun.location, of(v, 0)} { // reloaded, come back to
		anna.get(path).says(t, http.StatusOK, "place.signed", "!failure.title", "!sign.title")
	}
	s.sign(v, 0, annas).says(t, http.StatusSeeOther) // the form once more
	if p := s.now(v); p.Turns != 1 || p.Revision() != 1 {
		t.Error(p.Turns, p.Revision())
	}
}

// With the SIM card the code is known at once. The number may be written as people do.
func TestSigningWithSIM(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.users()
	v := s.process()
	anna := s.browser(annas)
	if form := anna.get(of(v, 0)); !strings.Contains(form.body, `value="5550101"`) { // from the invitation
		t.Error("the number has to be typed in")
	}
	for _, wrong := range []string{"", "555010", "55501011", "555 01a1", `"><b>`, "+45 5550101", strings.Repeat("5", 8000)} {
		a := anna.post(of(v, 0, "/sign"), "method", "IdpSim", "phone", wrong, "revision", "0")
		a.says(t, http.StatusUnprocessableEntity, "sign.phone.fault", "sign.title", "place.file")
		if strings.Contains(a.body, "<b>") || wrong == "555 01a1" && !strings.Contains(a.body, `value="555 01a1"`) {
			t.Error("the number is not shown as it was written")
		}
	}
	begun := anna.post(of(v, 0, "/sign"), "method", "IdpSim", "phone", "+354 555-0101", "revision", "0")
	if a := anna.get(begun.location); !strings.Contains(a.body, ">1234<") {
		t.Error(begun.location, a.text())
	}
	s.drive(v)
	anna.get(begun.location).says(t, http.StatusOK, "place.signed")
}

// The number of who was invited is filled in for that person, and not shown to whoever else has taken the
// place.
func TestPhoneOfWhoWasInvited(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	v := s.process()
	for kennitala, shown := range map[string]bool{jons: true, "": false} {
		s.change(v, func(p *portal.Process) { p.Participants[1].Kennitala, p.Participants[1].Phone = kennitala, "5550202" })
		form := s.browser(jons).get(of(v, 1))
		form.says(t, http.StatusOK, "sign.phone")
		if strings.Contains(form.body, "5550202") != shown {
			t.Errorf("a place of %q shows the number: %v", kennitala, !shown)
		}
	}
}

// However often the button is pressed at once, the phone rings once, and all come to its code.
func TestSigningDoubleClick(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.users()
	v := s.process()
	const clicks = 64
	locations := make([]string, clicks)
	var all sync.WaitGroup
	for i := range clicks {
		b := s.browser(annas)
		all.Go(func() {
			locations[i] = b.post(of(v, 0, "/sign"), "method", "IdpApp", "revision", "0").location
		})
	}
	all.Wait()
	p := s.now(v)
	for _, location := range locations {
		if location != of(v, 0, "?attempt=", p.Turn.Request) && location != of(v, 0) {
			t.Error(location)
		}
	}
	if p.Turns != 1 || s.provider.asked != 1 {
		t.Errorf("%d turns, asked %d times", p.Turns, s.provider.asked)
	}
}

// Who has answered is not asked to do anything more.
func TestSigningThatTakesLongToLand(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.users(func(*sandbox.Profile) {})
	v := s.process()
	begun := s.sign(v, 0, annas)
	request := s.now(v).Turn.Request
	s.must(s.db.InTx(t.Context(), func(ctx context.Context) error {
		r, err := s.db.Requests().Request(ctx, request)
		if err != nil {
			return err
		}
		r.Phase = signing.Signed
		r.Revision++
		return s.db.Requests().UpdateRequest(ctx, r)
	}))
	anna := s.browser(annas)
	anna.get(begun.location).says(t, http.StatusOK, "signing.landing", "signing.close", "!signing.until", "!signing.nothing")
	anna.json = true
	if got := anna.get(begun.location).news(t); got != (pageStatus{State: "landing"}) {
		t.Error(got)
	}
}
