package page

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/portal/process"
)

// Who has answered goes by the name of their electronic ID, beside that of the invitation if it is
// another: a place may have been taken by whom it was not meant for. Of who only looks, the others see
// the invitation's.
func TestNamesOfPeople(t *testing.T) {
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
		named("nobody", func(one *portal.Participant) { one.Decline, one.Person = &portal.Decline{}, nil }), // through the API
		named("nameless", func(one *portal.Participant) { one.Decline, one.Person.Name = &portal.Decline{}, "" }),
	}}}
	want := []personView{
		{Name: "Person own", Invited: "Invited own", Kennitala: annas, State: "people.waits"},
		{Name: "Invited waits", State: "people.waits"},
		{Name: "Certified signed", Invited: "Invited signed", State: "people.signed"},
		{Name: "Person declined", Invited: "Invited declined", State: "people.declined"},
		{Name: "Invited nobody", State: "people.declined"},
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
