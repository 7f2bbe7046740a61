package page

import (
	"time"

	"github.com/innsigli/innsigli/portal"
)

// someone is a participant as the others see them: never a kennitala, an address or a phone number,
// but for the person's own kennitala.
type someone struct {
	Name      string
	Invited   string // the name in the invitation, if that is another
	Kennitala string // empty: somebody else's
	State     string // key of the words
	At        time.Time
}

// peopleOf are the participants, in the order of the request.
func peopleOf(place *portal.Place) (people []someone) {
	for i := range place.Participants {
		one := &place.Participants[i]
		s := someone{Name: one.Name}
		s.State, s.At = stateOf(one)
		if one.Signature != nil {
			s.Name = one.Signature.Name
		}
		if one.ID == place.Participant.ID && one.Person != nil {
			s.Name, s.Kennitala = one.Person.Name, one.Person.Kennitala
		}
		if s.Name != one.Name {
			s.Invited = one.Name
		}
		people = append(people, s)
	}
	return people
}

// stateOf is what a participant has done, and when.
func stateOf(one *portal.ParticipantView) (key string, at time.Time) {
	switch {
	case one.Signature != nil:
		return "people.signed", one.Signature.At
	case one.Decline != nil:
		return "people.declined", one.Decline.At
	case one.Role == portal.Viewer:
		return "people.reads", at
	}
	return "people.waits", at
}
