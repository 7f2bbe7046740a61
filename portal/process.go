package portal

import (
	"slices"
	"time"
)

// Status is the status of the process at a time (service.md 3.1, decisions.md 6.1).
func (p *Process) Status(now time.Time) Status {
	until := p.WaitsUntil()
	switch {
	case p.declined():
		return Declined
	case until.IsZero():
		return Completed
	case now.After(until):
		return Expired
	}
	return Waiting
}

// WaitsUntil is when the process expires unless something happens to it; zero when it is completed or
// declined. Whose invitation was answered is not waited for.
func (p *Process) WaitsUntil() time.Time {
	if p.declined() {
		return time.Time{}
	}
	return p.earliest(func(one *Participant) bool { return one.waits() })
}

// UnopenedUntil is when the first link of the process expires that was not opened; zero when there is
// none.
func (p *Process) UnopenedUntil() time.Time {
	return p.earliest(func(one *Participant) bool { return one.Link.Hash != nil })
}

// earliest is when the first invitation expires of those participants.
func (p *Process) earliest(of func(*Participant) bool) (until time.Time) {
	for i := range p.Participants {
		one := &p.Participants[i]
		if end := one.Link.InvitedAt.Add(InvitationTime); of(one) && (until.IsZero() || end.Before(until)) {
			until = end
		}
	}
	return until
}

func (p *Process) declined() bool {
	return slices.ContainsFunc(p.Participants, func(one Participant) bool { return one.Decline != nil })
}

// Unsigned is how many signers have not signed.
func (p *Process) Unsigned() (n int) {
	for i := range p.Participants {
		if one := &p.Participants[i]; one.Role == Signer && one.Signature == nil {
			n++
		}
	}
	return n
}

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

// Status is what the participant has answered (service.md 2.4).
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

// Path is where on the server a participant of the process signs or reads (service.md 3.3): the link as
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
