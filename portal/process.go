package portal

import (
	"slices"
	"time"
)

// Revision is how many signatures of participants the document has. Each lands in the document and in
// the process at once, so that what somebody has read is known by it.
func (p *Process) Revision() (n int) {
	for i := range p.Participants {
		if p.Participants[i].Signature != nil {
			n++
		}
	}
	return n
}

// participant finds one by its ID; nil when there is none.
func (p *Process) participant(id string) *Participant {
	i := slices.IndexFunc(p.Participants, func(one Participant) bool { return one.ID == id })
	if i < 0 {
		return nil
	}
	return &p.Participants[i]
}

// Status is what the participant has answered (spec 4.2).
func (p *Participant) Status() Status {
	switch {
	case p.Role == Viewer:
		return None
	case p.Signature != nil:
		return Completed
	case p.Decline != nil:
		return Declined
	}
	return Waiting
}

// waits says whether the process waits for the participant.
func (p *Participant) waits() bool { return p.Status() == Waiting }

// Path is where on the server a participant of the process signs or reads (spec 4.3): the link as
// long as it is unopened, the page from then on; empty when there is neither, and for a link whose token
// the store could not open.
func (p *Process) Path(one Participant, now time.Time) string {
	switch state := one.LinkState(now); {
	case one.Signature != nil, one.Decline != nil:
		return ""
	case state == Opened:
		return p.Page(one.ID)
	case state == LinkExpired, len(one.Link.Token) == 0:
		return ""
	}
	return "/sign/" + string(one.Link.Token)
}

// Page is where on the server a participant's page is, which needs a login.
func (p *Process) Page(participant string) string { return "/sign/" + p.ID + "/" + participant }
