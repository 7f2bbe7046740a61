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
func peopleOf(place *portal.ParticipantView) (people []someone) {
	for i := range place.Participants {
		one := &place.Participants[i]
		own := one.ID == place.Participant.ID
		s := someone{Name: plain(nameOf(one, own))}
		s.State, s.At = stateOf(one)
		if own && one.Person != nil {
			s.Kennitala = one.Person.Kennitala
		}
		if invited := plain(one.Name); s.Name != invited {
			s.Invited = invited
		}
		people = append(people, s)
	}
	return people
}

// nameOf is what the electronic ID says of who has answered, and of the person who looks; of the others
// the invitation does.
func nameOf(one *portal.ParticipantState, own bool) string {
	switch {
	case (own || one.Decline != nil) && one.Person != nil && one.Person.Name != "": // not every provider says it
		return one.Person.Name
	case one.Signature != nil:
		return one.Signature.Name
	}
	return one.Name
}

// stateOf is what a participant has done, and when.
func stateOf(one *portal.ParticipantState) (key string, at time.Time) {
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
