package page

import (
	"net/http"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/portal/process"
)

// The page in each state of a process, for two signers and for Vala, who only reads. A signer whose page offers to decline, also
// while another signs, may decline, and no other participant.
func TestPageInEachState(t *testing.T) {
	t.Parallel()
	form := []string{"sign.title", "sign.phone", "sign.decline", "place.level", "place.until"}
	none := []string{"!sign.title", "!sign.decline", "!sign.button", "!place.level"}
	over := append(slices.Clone(none), "!place.until")
	with := func(list []string, more ...string) []string { return slices.Concat(list, more) }
	for name, test := range map[string]struct {
		before          func(*fixture, portal.ProcessView)
		anna, jon, vala []string
	}{
		"no participant has signed": {
			func(*fixture, portal.ProcessView) {},
			with(form, "place.asked", "!place.verify", "place.download"), with(form, "place.asked"), with(none, "place.reading", "place.until"),
		},
		"Anna signs now": {
			func(s *fixture, v portal.ProcessView) { s.sign(v, 0, annas) },
			with(none, "place.signing.title", "signing.reaching", "signing.close", "!place.file"),
			with(none, "place.busy.title", "place.busy", "busy.read", "!place.file"),
			with(none, "place.reading", "place.file"),
		},
		"Anna has signed": {
			func(s *fixture, v portal.ProcessView) { s.signs(v, 0, annas) },
			with(none, "place.signed", "people.signed", "people.waits", "place.verify", "place.until"),
			with(form, "place.asked", "people.signed", "place.verify"),
			with(none, "place.reading", "people.signed"),
		},
		"all have signed": {
			func(s *fixture, v portal.ProcessView) { s.signs(v, 0, annas); s.signs(v, 1, jons) },
			with(over, "place.completed", "place.download.signed", "place.verify", "!people.waits"),
			with(over, "place.completed", "place.download.signed", "people.invited"),
			with(over, "place.completed", "place.download.signed", "people.reads"),
		},
		"Jón has declined": {
			func(s *fixture, v portal.ProcessView) { s.declines(v, 1) },
			with(over, "place.declined", "people.declined", "people.invited", "!place.declined.reason"),
			with(over, "place.declined.own", "place.declined.reason"),
			with(over, "place.declined", "people.invited", "!place.declined.reason"),
		},
		"Jón has declined while Anna signs": {
			func(s *fixture, v portal.ProcessView) { s.sign(v, 0, annas); s.declines(v, 1) },
			with(none, "place.signing.title"), with(over, "place.declined.own"), with(over, "place.declined"),
		},
		"Jón has declined after Anna had signed": {
			func(s *fixture, v portal.ProcessView) { s.signs(v, 0, annas); s.declines(v, 1) },
			with(over, "place.declined", "people.signed", "place.verify"), with(over, "place.declined.own"), with(over, "place.declined"),
		},
		"it has expired": {
			(*fixture).expire,
			with(over, "place.expired", "place.download"), with(over, "place.expired"), with(over, "place.expired"),
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newFixture(t)
			s.users()
			v := s.opened()
			test.before(s, v)
			for i, want := range [][]string{test.anna, test.jon, test.vala} {
				kennitala := []string{annas, jons, valas}[i]
				b, status := s.browserOf(kennitala), http.StatusSeeOther
				b.open(of(v, i)).says(t, http.StatusOK, want...).isSafe(t, kennitala)
				if slices.Contains(want, "sign.decline") || slices.Contains(want, "place.busy") {
					status = http.StatusOK
				}
				b.get(of(v, i, "/decline")).says(t, status)
				if status == http.StatusSeeOther {
					before := s.evidence(v, "participant.declined")
					if b.post(of(v, i, "/decline"), "reason", "no"); s.evidence(v, "participant.declined") != before {
						t.Error("declined by", kennitala)
					}
				}
			}
		})
	}
}

// Only the participant sees the page, signs and declines.
func TestPageOfAnotherPerson(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.users()
	v := s.opened()
	for _, test := range []struct {
		kennitala string
		get, post int
	}{
		{"", http.StatusOK, http.StatusSeeOther}, // to log in
		{jons, http.StatusForbidden, http.StatusForbidden},
		{"-", http.StatusForbidden, http.StatusForbidden}, // a person without a kennitala
	} {
		b := s.browserOf(test.kennitala)
		b.get(of(v, 0)).says(t, test.get, "!place.file", "!sign.title", "!people.title").lacks(t, "Samningur", "Anna")
		b.get(of(v, 0, "/decline")).says(t, test.post, "!decline.reason")
		b.post(of(v, 0, "/sign"), "method", "IdpApp", "revision", "0").says(t, test.post)
		b.post(of(v, 0, "/decline"), "reason", "no").says(t, test.post)
	}
	if p := s.stored(v); p.Turns != 0 || p.Participants[0].Decline != nil || s.provider.asked != 0 {
		t.Error("another person has signed or declined")
	}
	anna := s.browserOf(annas)
	anna.get("/sign/"+v.ID+"/"+v.ID).says(t, http.StatusNotFound)
	s.must(s.portal.Delete(t.Context(), s.account, v.ID))
	anna.get(of(v, 0)).says(t, http.StatusNotFound)
	anna.post(of(v, 0, "/sign"), "method", "IdpApp", "revision", "0").says(t, http.StatusNotFound)
}

// While another participant signs, the document can be read, and the page goes on by itself afterwards.
func TestPageWhileAnotherSigns(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.users()
	v := s.opened()
	s.sign(v, 0, annas)
	jon := s.browserOf(jons)
	jon.get(of(v, 1)).says(t, http.StatusOK, "place.busy").contains(t, `http-equiv="refresh"`).lacks(t, "Jónsdóttir")
	jon.get(of(v, 1, "?read=anyway")).says(t, http.StatusOK, "place.busy", "place.file", "sign.decline", "!sign.title")
	jon.post(of(v, 1, "/sign"), "method", "IdpApp", "revision", "0").says(t, http.StatusSeeOther)
	jon.wantStatus(of(v, 1), pageStatus{State: "busy"})
	s.complete(v)
	jon.wantStatus(of(v, 1), pageStatus{"done", of(v, 1)})
	jon.get(of(v, 1)).says(t, http.StatusOK, "place.asked", "sign.title")
}

// Of two participants who sign at once, one signs and the other waits.
func TestTwoSignAtOnce(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.users()
	v := s.opened()
	people := []*browser{s.browserOf(annas), s.browserOf(jons)}
	answers := make([]answer, len(people))
	var all sync.WaitGroup
	for i, b := range people {
		all.Go(func() { answers[i] = b.post(of(v, i, "/sign"), "method", "IdpApp", "revision", "0") })
	}
	all.Wait()
	turn := s.stored(v).Turn
	for i, b := range people {
		says := "place.busy"
		if turn.Participant == v.Participants[i].ID {
			says = "signing.reaching"
		}
		b.follow(answers[i]).says(t, http.StatusOK, says)
	}
	if s.provider.asked != 1 {
		t.Error("asked", s.provider.asked, "times")
	}
}

// A signature that is added while the page is read is on the page.
func TestPageWhileSignatureIsAdded(t *testing.T) {
	t.Parallel()
	o := &overtaking{first: func() {}}
	s := newFixture(t, func(c *Config) { o.Portal, c.Portal = c.Portal, o })
	s.users()
	v := s.opened()
	o.first = func() {
		s.begins(v, 1)
		s.complete(v)
	}
	anna := s.browserOf(annas)
	a := anna.get(of(v, 0, "?from=1")).leadsTo(t, of(v, 0, "?from=1"))
	anna.follow(a).says(t, http.StatusOK, "people.signed", "place.asked")
}

// Participants who have signed or declined have the name of their electronic ID, beside that of the invitation if it
// differs, since another person than the invited one may have opened the link. The others have the invitation's.
func TestNamesOfParticipants(t *testing.T) {
	t.Parallel()
	named := func(id string, change func(*portal.Participant)) portal.ParticipantState {
		one := portal.Participant{Participant: process.Participant{ID: id, Role: portal.Signer, Person: &portal.Person{Name: "Person " + id, Kennitala: annas}}, Name: "Invited " + id}
		change(&one)
		return portal.ParticipantState{Participant: one}
	}
	own := named("own", func(*portal.Participant) {})
	view := portal.ParticipantView{Participant: own, ProcessView: portal.ProcessView{Participants: []portal.ParticipantState{
		own,
		named("waits", func(*portal.Participant) {}),
		named("signed", func(one *portal.Participant) { one.Signature = &portal.Signature{Name: "Certified signed"} }),
		named("declined", func(one *portal.Participant) { one.Decline = &portal.Decline{} }),
		named("absent", func(one *portal.Participant) { one.Decline, one.Person = &portal.Decline{}, nil }), // through the API
		named("nameless", func(one *portal.Participant) { one.Decline, one.Person.Name = &portal.Decline{}, "" }),
	}}}
	want := []personView{
		{Name: "Person own", Invited: "Invited own", Kennitala: annas, State: "people.waits"},
		{Name: "Invited waits", State: "people.waits"},
		{Name: "Certified signed", Invited: "Invited signed", State: "people.signed"},
		{Name: "Person declined", Invited: "Invited declined", State: "people.declined"},
		{Name: "Invited absent", State: "people.declined"},
		{Name: "Invited nameless", State: "people.declined"},
	}
	if diff := cmp.Diff(want, peopleOf(&view)); diff != "" {
		t.Error(diff)
	}
	view.Participant = view.Participants[5]
	if own := peopleOf(&view)[5]; own.Name != "Invited nameless" || own.Kennitala != annas {
		t.Errorf("%+v", own)
	}
}
