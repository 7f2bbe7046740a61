package page

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/signing"
)

// From the button to the signature with the app, which shows the code a little later: each page and its script go on
// by themselves, and loading a page again, or in another tab, changes nothing.
func TestSigning(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.users()
	v := s.opened()
	anna := s.browserOf(annas)
	begun := s.sign(v, 0, annas)
	begun.leadsTo(t, of(v, 0, "?attempt=", s.stored(v).Turn.Request))
	for range 2 {
		anna.get(begun.location).says(t, http.StatusOK, "signing.reaching", "signing.until", "!signing.compare")
		anna.get(of(v, 0)).leadsTo(t, begun.location) // another tab
		anna.wantStatus(begun.location, pageStatus{State: "waiting"})
	}
	s.poll(v)
	withCode := begun.location + "&code=shown"
	anna.wantStatus(begun.location, pageStatus{"done", withCode})
	anna.wantStatus(withCode, pageStatus{State: "waiting"})
	a := anna.open(of(v, 0))
	a.says(t, http.StatusOK, "signing.compare", "signing.confirm", "signing.until", "!signing.reaching").contains(t, ">1234<")
	if !strings.Contains(a.text(), "1 2 3 4") {
		t.Error(a.text())
	}
	s.complete(v)
	anna.wantStatus(withCode, pageStatus{"done", of(v, 0)})
	for _, path := range []string{withCode, begun.location, of(v, 0)} {
		anna.get(path).says(t, http.StatusOK, "place.signed", "!failure.title", "!sign.title")
	}
	s.sign(v, 0, annas).says(t, http.StatusSeeOther) // the form once more
	if p := s.stored(v); p.Turns != 1 || p.Revision() != 1 {
		t.Error(p.Turns, p.Revision())
	}
}

// After the answer on the phone, the page asks for nothing more, however long the signature takes to be added.
func TestSigningAfterTheAnswer(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.users()
	v := s.opened()
	begun := s.sign(v, 0, annas)
	request := s.stored(v).Turn.Request
	s.must(s.db.InTx(t.Context(), func(ctx context.Context) error {
		r, err := s.db.Requests().Request(ctx, request)
		if err != nil {
			return err
		}
		r.Phase = signing.Signed
		r.Revision++
		return s.db.Requests().UpdateRequest(ctx, r)
	}))
	anna := s.browserOf(annas)
	anna.get(begun.location).says(t, http.StatusOK, "signing.landing", "signing.close", "!signing.until", "!signing.nothing")
	anna.wantStatus(begun.location, pageStatus{State: "landing"})
}

// A failed attempt is shown at its address only, until the next attempt.
func TestSigningRefusedOnThePhone(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.users(refuses)
	v := s.opened()
	anna := s.browserOf(annas)
	first := s.sign(v, 0, annas)
	s.complete(v)
	anna.wantStatus(first.location, pageStatus{"failed", first.location})
	anna.get(first.location).says(t, http.StatusOK, "failure.title", "failure.cancelled", "failure.again", "sign.title")
	anna.get(of(v, 0)).says(t, http.StatusOK, "!failure.title", "sign.title")
	others := strings.Replace(first.location, v.Participants[0].ID, v.Participants[1].ID, 1)
	s.browserOf(jons).get(others).says(t, http.StatusOK, "!failure.title")
	second := s.sign(v, 0, annas)
	if second.location == first.location || !strings.Contains(second.location, "attempt=") {
		t.Error(second)
	}
}

// A start that the provider refuses is shown, and begins no turn.
func TestSigningRefusedAtOnce(t *testing.T) {
	t.Parallel()
	s := newFixture(t) // without sandbox users
	v := s.opened()
	anna := s.browserOf(annas)
	anna.follow(s.sign(v, 0, annas)).says(t, http.StatusOK, "failure.title", "failure.nobody", "failure.again", "sign.title")
	if s.stored(v).Turn != nil {
		t.Error("the turn goes on")
	}
	anna.get(of(v, 0, "?refused=%3Cb%3E&attempt=%3Ci%3E")).says(t, http.StatusOK, "failure.unknown").lacks(t, "<b>")
}

// Every error code of the provider has a text in both languages, and unknown codes a general one.
func TestFailuresHaveTexts(t *testing.T) {
	t.Parallel()
	for _, code := range append(idp.ErrorCodes(), "", "SomethingNew") {
		key := failureKey(code)
		known := code != "" && code != "SomethingNew" && !code.Pending()
		if (key != "failure.unknown") != known || words().text("is", key) == "" || words().text("en", key) == "" {
			t.Errorf("%s: %s", code, key)
		}
	}
}
