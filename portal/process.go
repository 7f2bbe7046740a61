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

// Path is where on the server the participant signs or reads (service.md 3.3): the link as long as it
// is unopened, the page from then on; empty when there is neither, and for a link whose token the store
// could not open.
func (p *Participant) Path(now time.Time) string {
	switch {
	case p.Signature != nil, p.Decline != nil:
		return ""
	case p.Person != nil:
		return "/sign/participants/" + p.ID
	case len(p.Link.Token) == 0, p.Link.expired(now):
		return ""
	}
	return "/sign/" + string(p.Link.Token)
}
