package page

import "github.com/innsigli/innsigli/portal"

// situation is how a process stands for a participant, with the keys of the words for it.
type situation struct {
	Title, Text string
	Tone        string // class of the note: "", "good" or "warning"
}

var (
	// asked: the person may sign now, or decline.
	asked = situation{"place.asked.title", "place.asked", ""}
	// signingNow: the person's own signature is under way.
	signingNow = situation{"place.signing.title", "", ""}
	// othersTurn: another participant's is.
	othersTurn = situation{"place.busy.title", "place.busy", ""}
	// signedFirst: others have yet to sign.
	signedFirst = situation{"place.signed.title", "place.signed", "good"}
	allSigned   = situation{"place.completed.title", "place.completed", "good"}
	declinedOwn = situation{"place.declined.own.title", "place.declined.own", "warning"}
	declined    = situation{"place.declined.title", "place.declined", "warning"}
	expired     = situation{"place.expired.title", "place.expired", "warning"}
	// reading: a viewer, while the signers have not all signed.
	reading = situation{"place.reading.title", "place.reading", ""}
)

// situationOf finds it. A signature under way comes first: it lands whatever else has become of the
// process.
func situationOf(p *portal.ParticipantView) situation {
	one := &p.Participant
	switch {
	case p.Turn != nil && p.Turn.Participant == one.ID:
		return signingNow
	case one.Decline != nil:
		return declinedOwn
	case p.Status == portal.Declined:
		return declined
	case p.Status == portal.Completed:
		return allSigned
	case p.Status == portal.Expired:
		return expired
	case one.Role == portal.Viewer:
		return reading
	case one.Signature != nil:
		return signedFirst
	case p.Turn != nil:
		return othersTurn
	}
	return asked
}

// mayDecline says whether the person may decline now. That somebody else is signing does not matter.
func mayDecline(p *portal.ParticipantView) bool {
	at := situationOf(p)
	return at == asked || at == othersTurn
}
