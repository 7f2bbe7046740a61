package page

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/portal"
)

func revision(p portal.Process) string { return strconv.Itoa(p.Revision()) }

// signs has somebody sign to the end.
func (s *scene) signs(v portal.ProcessView, i int, kennitala string) {
	s.t.Helper()
	if a := s.sign(v, i, kennitala); !strings.Contains(a.location, "attempt=") {
		s.t.Fatalf("%d %s", a.status, a.text())
	}
	if progress := s.drive(v); progress.Failure != nil {
		s.t.Fatal(progress.Failure)
	}
}

func (s *scene) declines(v portal.ProcessView, i int) {
	s.t.Helper()
	s.must(s.portal.Decline(s.t.Context(), v.ID, v.Participants[i].ID, "ekki rétt"))
}

// expires moves the invitations of a process into the past.
func (s *scene) expires(v portal.ProcessView) {
	s.change(v, func(p *portal.Process) {
		for i := range p.Participants {
			p.Participants[i].Link.InvitedAt = p.Participants[i].Link.InvitedAt.Add(-2 * portal.InvitationTime)
		}
	})
}

// isSafe checks that a page has its heading, nobody else's kennitala, no HTML of others, and no address
// or phone number of others.
func (s *scene) isSafe(a answer, kennitala string) {
	s.t.Helper()
	if n := strings.Count(a.body, "<h1"); n != 1 {
		s.t.Errorf("%d headings", n)
	}
	for _, other := range []string{annas, jons, valas} {
		if other != kennitala && (strings.Contains(a.body, other) || strings.Contains(a.body, localKennitala(other))) {
			s.t.Error("shows the kennitala of somebody else")
		}
	}
	for _, not := range []string{"Samningur <i>", "Example <b>", "@example.is", "5550202", "<nil>", "%!"} {
		if strings.Contains(a.body, not) {
			s.t.Errorf("has %q in it", not)
		}
	}
}

// Only the person who has the place sees its page, and does anything on it.
func TestPlaceOfSomebodyElse(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.users()
	v := s.process()
	for name, test := range map[string]struct {
		kennitala string
		get, post int
	}{
		"nobody":          {"", http.StatusOK, http.StatusSeeOther}, // to log in
		"another":         {jons, http.StatusForbidden, http.StatusForbidden},
		"of no kennitala": {"-", http.StatusForbidden, http.StatusForbidden},
	} {
		b := s.browser(test.kennitala)
		a := b.get(of(v, 0))
		a.says(t, test.get, "!place.file", "!sign.title", "!people.title")
		if strings.Contains(a.body, "Samningur") || strings.Contains(a.body, "Anna") {
			t.Error(name, "sees", a.text())
		}
		b.get(of(v, 0, "/decline")).says(t, test.post, "!decline.reason")
		b.post(of(v, 0, "/sign"), "method", "IdpApp", "revision", "0").says(t, test.post)
		b.post(of(v, 0, "/decline"), "reason", "no").says(t, test.post)
	}
	if p := s.now(v); p.Turns != 0 || p.Participants[0].Decline != nil || s.provider.asked != 0 {
		t.Error("something was done for a stranger")
	}
	anna := s.browser(annas)
	anna.get("/sign/"+v.ID+"/"+v.ID).says(t, http.StatusNotFound)
	s.must(s.portal.Delete(t.Context(), s.account, v.ID))
	anna.get(of(v, 0)).says(t, http.StatusNotFound)
	anna.post(of(v, 0, "/sign"), "method", "IdpApp", "revision", "0").says(t, http.StatusNotFound)
}

// While another signs, the document can be read, and the page goes on by itself when it is over.
func TestPlaceWhileAnotherSigns(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.users()
	v := s.process()
	s.sign(v, 0, annas)
	jon := s.browser(jons)
	busy := jon.get(of(v, 1))
	busy.says(t, http.StatusOK, "place.busy")
	if !strings.Contains(busy.body, `http-equiv="refresh"`) || strings.Contains(busy.body, "Anna J") {
		t.Error(busy.body)
	}
	jon.get(of(v, 1, "?read=anyway")).says(t, http.StatusOK, "place.busy", "place.file", "sign.decline", "!sign.title")
	jon.post(of(v, 1, "/sign"), "method", "IdpApp", "revision", "0").says(t, http.StatusSeeOther)
	script := *jon
	script.json = true
	if got := script.get(of(v, 1)).news(t); got != (pageStatus{State: "busy"}) {
		t.Error(got)
	}
	s.drive(v)
	if got := script.get(of(v, 1)).news(t); got != (pageStatus{"done", of(v, 1)}) {
		t.Error(got)
	}
	jon.get(of(v, 1)).says(t, http.StatusOK, "place.asked", "sign.title")
}

// Every failure of the provider has words of its own in both languages, beside those that nobody knows.
func TestEveryFailureHasWords(t *testing.T) {
	t.Parallel()
	for _, code := range append(idp.ErrorCodes(), "", "SomethingNew") {
		key := failureKey(code)
		known := code != "" && code != "SomethingNew" && !code.Pending()
		if (key != "failure.unknown") != known || words.text("is", key) == "" || words.text("en", key) == "" {
			t.Errorf("%s: %s", code, key)
		}
	}
}

// Of two who press the button at once, one is asked and the other waits.
func TestPlaceOfTwoWhoSignAtOnce(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.users()
	v := s.process()
	people := []*client{s.browser(annas), s.browser(jons)}
	answers := make([]answer, len(people))
	var all sync.WaitGroup
	for i, b := range people {
		all.Go(func() { answers[i] = b.post(of(v, i, "/sign"), "method", "IdpApp", "revision", "0") })
	}
	all.Wait()
	turn := s.now(v).Turn
	for i, b := range people {
		says := "place.busy"
		if turn.Participant == v.Participants[i].ID {
			says = "signing.reaching"
		}
		b.follow(answers[i]).says(t, http.StatusOK, says)
	}
	if s.provider.asked != 1 {
		t.Error(s.provider.asked, "were asked")
	}
}

// A signature that lands while the page is read is on the page.
func TestPlaceWhileSignatureLands(t *testing.T) {
	t.Parallel()
	o := &overtaking{first: func() {}}
	s := newScene(t, func(c *Config) { o.Portal, c.Portal = c.Portal, o })
	s.users()
	v := s.process()
	o.first = func() {
		s.begins(v, 1)
		s.drive(v)
	}
	anna := s.browser(annas)
	a := anna.get(of(v, 0, "?from=1"))
	if a.status != http.StatusSeeOther || a.location != of(v, 0, "?from=1") {
		t.Error(a.status, a.location)
	}
	anna.follow(a).says(t, http.StatusOK, "people.signed", "place.asked")
}
