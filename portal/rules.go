package portal

import (
	"slices"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/signing"
)

// Status is the status of the process at a time (spec 4.2).
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

// The methods below are the rules of spec 4.2 and 4.3. Each reports whether something may happen
// to the process, and changes the record if so; one that refuses changes nothing.

// login has a person take the place that a link leads to, and uses the link up. One that was used up
// by the same person leads there again: a second tab or click is no other visit. [ErrNotFound],
// [ErrOtherPerson].
func (p *Process) login(hash []byte, who Person, now time.Time) (*Participant, error) {
	one := p.linked(hash)
	switch {
	case one == nil, one.LinkState(now) == LinkExpired, one.Link.Hash == nil && one.Person == nil:
		return nil, ErrNotFound
	case !one.admits(who.Kennitala):
		return nil, ErrOtherPerson
	case one.Person != nil:
		return one, nil
	}
	one.Person = &Person{Name: who.Name, Kennitala: idp.NormalKennitala(who.Kennitala), At: now}
	one.Link.useUp()
	return one, nil
}

// loginAgain lets the person return who has the place. [ErrNotFound], [ErrNotLoggedIn],
// [ErrOtherPerson].
func (p *Process) loginAgain(participant string, who Person) (*Participant, error) {
	one := p.participant(participant)
	switch {
	case one == nil:
		return nil, ErrNotFound
	case one.Person == nil:
		return nil, ErrNotLoggedIn
	case !one.admits(who.Kennitala):
		return nil, ErrOtherPerson
	}
	return one, nil
}

// maySign says whether a participant who has logged in may begin to sign a revision of the document.
// The errors here and below are found in the order of spec 6.4; the last is [ErrChanged].
func (p *Process) maySign(participant string, revision int, now time.Time) (*Participant, error) {
	one, err := p.present(participant)
	if err != nil {
		return nil, err
	}
	if err := p.takesSignatures(now); err != nil {
		return nil, err
	}
	if p.Revision() != revision {
		return nil, ErrChanged
	}
	return one, nil
}

// maySignAs says whether a person may begin to sign as a participant without having logged in. ready
// says that the person signs when asked.
func (p *Process) maySignAs(participant, kennitala string, ready bool, now time.Time) error {
	one, err := p.unanswered(participant)
	switch {
	case err != nil:
		return err
	case !one.admits(kennitala):
		return ErrOtherPerson
	case !ready:
		return ErrCannotSign
	}
	return p.takesSignatures(now)
}

// takesSignatures says whether anybody may begin to sign now.
func (p *Process) takesSignatures(now time.Time) error {
	switch {
	case p.Status(now) != Waiting:
		return ErrNotWaiting
	case p.Turn != nil:
		return ErrTurn
	}
	return nil
}

// begin gives a participant the turn who may sign.
func (p *Process) begin(participant, request string, now time.Time) {
	p.Turns++
	p.Turn = &Turn{Number: p.Turns, Participant: participant, Request: request, Since: now}
}

// land notes the signature that was given in a turn, whatever has become of the process meanwhile: a
// signature once given lands. One of an earlier turn, or of another person's, is signing.ErrUnwanted.
func (p *Process) land(turn int64, s Signature) (*Participant, error) {
	if !p.has(turn) {
		return nil, signing.ErrUnwanted
	}
	one := p.participant(p.Turn.Participant)
	if one == nil || !one.waits() || !one.admits(s.Kennitala) {
		return nil, signing.ErrUnwanted
	}
	one.Signature = &s
	one.Link.useUp()
	return one, nil
}

// end gives a turn back, and says whether it was the present one.
func (p *Process) end(turn int64) bool {
	if !p.has(turn) {
		return false
	}
	p.Turn = nil
	return true
}

func (p *Process) has(turn int64) bool { return p.Turn != nil && p.Turn.Number == turn }

// decline notes that a participant refuses to sign. Another's signature that is under way does not
// matter: it lands all the same.
func (p *Process) decline(participant, reason string, now time.Time) (*Participant, error) {
	one, err := p.unanswered(participant)
	switch {
	case err != nil:
		return nil, err
	case p.Status(now) != Waiting:
		return nil, ErrNotWaiting
	case p.Turn != nil && p.Turn.Participant == participant:
		return nil, ErrTurn
	}
	one.Decline = &Decline{Reason: reason, Kennitala: one.whose(), At: now}
	one.Link.useUp()
	return one, nil
}

// inviteAgain renews the invitations of all whom the process waits for, and of viewers who have not
// looked yet, which they may whatever came of it, and returns them. Who has logged in keeps the page;
// all others get new links.
func (p *Process) inviteAgain(now time.Time) (invited []*Participant, err error) {
	over := p.WaitsUntil().IsZero()
	for i := range p.Participants {
		one := &p.Participants[i]
		asked := one.waits() && !over
		switch {
		case one.Person == nil && (asked || one.Role == Viewer):
			one.Link = newLink(now)
		case asked:
			one.Link.InvitedAt = now
		default:
			continue
		}
		invited = append(invited, one)
	}
	if invited == nil {
		return nil, ErrNotWaiting
	}
	return invited, nil
}

// eraseExpired erases the tokens of links that have expired unopened (spec 4.3).
func (p *Process) eraseExpired(now time.Time) {
	for i := range p.Participants {
		if link := &p.Participants[i].Link; link.expired(now) {
			link.useUp()
		}
	}
}
