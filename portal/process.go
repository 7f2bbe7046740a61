package portal

import (
	"slices"
	"time"

	"github.com/innsigli/innsigli/portal/process"
)

// state returns the part of the process that package process knows.
func (p *Process) state() *process.Process {
	s := &process.Process{Participants: make([]process.Participant, len(p.Participants)), Turn: p.Turn, Turns: p.Turns}
	for i, one := range p.Participants {
		s.Participants[i] = one.Participant
	}
	return s
}

// apply applies an event to the process. The errors are those of [process.Process.Apply].
func (p *Process) apply(e process.Event, now time.Time) ([]process.Effect, error) {
	s := p.state()
	effects, err := s.Apply(e, now)
	if err != nil {
		return nil, err
	}
	p.Turn, p.Turns = s.Turn, s.Turns
	for i := range p.Participants {
		p.Participants[i].Participant = s.Participants[i]
	}
	return effects, nil
}

// Status returns the status of the process at a time (spec 4.2).
func (p *Process) Status(now time.Time) Status { return p.state().Status(now) }

// WaitsUntil returns the time after which the process expires. It is zero if the process is completed or declined.
func (p *Process) WaitsUntil() time.Time { return p.state().WaitsUntil() }

// Ended returns when the process ended. It is zero if the process is waiting at the time given.
func (p *Process) Ended(now time.Time) time.Time { return p.state().EndedAt(now) }

// setEndedAt sets EndedAt to what it is at a time.
func (p *Process) setEndedAt(now time.Time) { p.EndedAt = p.Ended(now) }

// NotedStatus returns the status by which lists find the process. It depends on the stored process alone and not on the
// time: a process that has expired is Waiting until its EndedAt is stored.
func (p *Process) NotedStatus() Status {
	switch until := p.WaitsUntil(); {
	case until.IsZero():
		return p.Status(until) // declined or completed at any time
	case p.EndedAt.Equal(until):
		return Expired
	}
	return Waiting
}

// UnopenedUntil returns the time after which the first unopened link expires. It is zero if there is no unopened link.
func (p *Process) UnopenedUntil() time.Time { return p.state().UnopenedUntil() }

// Revision returns how many participants have signed. One transaction adds a signature to the document and to the
// process, so the number identifies the revision of the document that a person has read.
func (p *Process) Revision() int { return p.state().Revision() }

// Unsigned returns how many signers have not signed.
func (p *Process) Unsigned() int { return p.state().Unsigned() }

// Counts returns how many participants are signers, how many of these have signed, and how many are viewers.
func (p *Process) Counts() (signers, signed, viewers int) {
	for i := range p.Participants {
		switch one := &p.Participants[i]; {
		case one.Role != Signer:
			viewers++
		case one.Signature != nil:
			signed++
			fallthrough
		default:
			signers++
		}
	}
	return signers, signed, viewers
}

// participant returns a participant; nil if there is no such participant.
func (p *Process) participant(id string) *Participant {
	i := slices.IndexFunc(p.Participants, func(one Participant) bool { return one.ID == id })
	if i < 0 {
		return nil
	}
	return &p.Participants[i]
}

// linked returns the participant whose last link has a hash; nil if there is no such participant.
func (p *Process) linked(hash []byte) *Participant {
	if one := p.state().Linked(hash); one != nil {
		return p.participant(one.ID)
	}
	return nil
}

// LinkHashes returns the hashes of the participants' last links, also of those that are used up or expired.
func (p *Process) LinkHashes() (list [][]byte) {
	for i := range p.Participants {
		if hash := p.Participants[i].Link.LastHash(); len(hash) > 0 {
			list = append(list, hash)
		}
	}
	return list
}

// Path returns the path on the server at which a participant signs or reads (spec 4.3): the link while it is unopened,
// and then the page of the participant. It is empty if the participant has answered, if the link has expired, and if
// the store could not decrypt its token.
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

// Page returns the path of a participant's page on the server, which requires a login.
func (p *Process) Page(participant string) string { return "/sign/" + p.ID + "/" + participant }
