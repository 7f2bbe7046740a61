package portal

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/portal/process"
)

// state returns the process as package process knows it.
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

// WaitsUntil returns the time after which the process expires; zero if it is completed or declined.
func (p *Process) WaitsUntil() time.Time { return p.state().WaitsUntil() }

// Ended returns when the process ended, as seen at a time; zero if it is waiting then.
func (p *Process) Ended(now time.Time) time.Time { return p.state().EndedAt(now) }

// noteEnd sets EndedAt to what it is at a time.
func (p *Process) noteEnd(now time.Time) { p.EndedAt = p.Ended(now) }

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

// NotedStatus returns the status by which lists find the process. It depends on the process alone and not on the time:
// a process that has expired is Waiting until its EndedAt says that.
func (p *Process) NotedStatus() Status {
	switch until := p.WaitsUntil(); {
	case until.IsZero():
		return p.Status(until) // declined or completed at any time
	case p.EndedAt.Equal(until):
		return Expired
	}
	return Waiting
}

// UnopenedUntil returns the time after which the first unopened link expires; zero if there is none.
func (p *Process) UnopenedUntil() time.Time { return p.state().UnopenedUntil() }

// Revision returns how many participants have signed. Each signature is added to the document and to
// the process at once, so the number identifies the revision of the document that a person has read.
func (p *Process) Revision() int { return p.state().Revision() }

// Unsigned returns how many signers have not signed.
func (p *Process) Unsigned() int { return p.state().Unsigned() }

// participant returns a participant; nil if there is no such participant.
func (p *Process) participant(id string) *Participant {
	i := slices.IndexFunc(p.Participants, func(one Participant) bool { return one.ID == id })
	if i < 0 {
		return nil
	}
	return &p.Participants[i]
}

// linked returns the participant whose last link has a hash; nil if a new link has replaced it.
func (p *Process) linked(hash []byte) *Participant {
	if one := p.state().Linked(hash); one != nil {
		return p.participant(one.ID)
	}
	return nil
}

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

// carryOut does what follows from an event that was applied to a process: entries of the evidence log,
// events for subscribers and mails. It joins the transaction of its context.
func (s records) carryOut(ctx context.Context, p *Process, e process.Event, effects []process.Effect) error {
	for _, effect := range effects {
		if err := s.carryOutOne(ctx, p, e, effect); err != nil {
			return err
		}
	}
	return nil
}

func (s records) carryOutOne(ctx context.Context, p *Process, e process.Event, effect process.Effect) error {
	one := p.participant(effect.Participant)
	switch effect.Kind {
	case process.RecordLogin:
		return s.recordLogin(ctx, p, one.ID, personOf(e))
	case process.RecordStart:
		return s.record(ctx, p, begunEntry, begunFacts{one.ID, effect.Request})
	case process.ReportSigned:
		facts := personFacts{Participant: one.ID, Name: one.Signature.Name, Kennitala: one.Signature.Kennitala, Request: effect.Request}
		return errors.Join(s.record(ctx, p, signedEntry, facts), s.emitSigned(ctx, p, one))
	case process.ReportCompleted:
		return errors.Join(
			s.record(ctx, p, completedEntry, struct{}{}),
			s.emitCompleted(ctx, p),
			s.mail(func(m Mail) error { return m.Completed(ctx, *p) }),
		)
	case process.ReportDeclined:
		return errors.Join(
			s.record(ctx, p, declinedEntry, declinedFacts{one.ID, one.Decline.Kennitala, one.Decline.Reason}),
			s.emitDeclined(ctx, p, one),
			s.mail(func(m Mail) error { return m.Declined(ctx, *p, *one) }),
		)
	case process.WithdrawMessages:
		return s.mail(func(m Mail) error { return m.Withdraw(ctx, p.ID) })
	case process.SendInvitation:
		return s.invite(ctx, p, one)
	case process.DeleteProcess:
		return s.remove(ctx, p)
	}
	return fmt.Errorf("portal: effect %q cannot be carried out", effect.Kind)
}

// personOf returns the person of a login.
func personOf(e process.Event) Person {
	switch e := e.(type) {
	case process.LogIn:
		return e.Person
	case process.LogInAgain:
		return e.Person
	}
	return Person{}
}

// normal returns a person whose kennitala has the form in which package process compares it.
func normal(who Person) Person {
	who.Kennitala = idp.NormalizeKennitala(who.Kennitala)
	return who
}
