package portal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/internal/failpoint"
	"github.com/innsigli/innsigli/signing"
)

// Ask says how somebody is asked to sign, and what.
type Ask struct {
	Method   idp.Method
	Phone    string // for idp.SIM
	Revision int    // that the person has read: that of [Copy]
}

// Sign asks the person who has logged in as a participant to sign. The participant has the turn from
// then on until the signature is in the document or there will be none: [Service.Progress].
// [ErrNotFound], [ErrViewer], [ErrAnswered], [ErrNotLoggedIn], [ErrNotWaiting], [ErrTurn],
// [ErrChanged], and those of signing.Service.Start, such as [*signing.Refusal].
func (s *Service) Sign(ctx context.Context, process, participant string, a Ask) (signing.Started, error) {
	return s.begin(ctx, process, participant, func(p *Process, now time.Time) (idp.Person, error) {
		one, err := p.maySign(participant, a.Revision, now)
		if err != nil {
			return idp.Person{}, err
		}
		return idp.Person{Method: a.Method, Kennitala: one.Person.Kennitala, Phone: a.Phone}, nil
	})
}

// beginTries bounds how often a call finds that another turn has come and gone meanwhile.
const beginTries = 3

// begin takes the turn for a participant and asks the person to sign whom may lets.
func (s *Service) begin(ctx context.Context, process, participant string, may func(*Process, time.Time) (idp.Person, error)) (signing.Started, error) {
	for range beginTries {
		p, err := s.process(ctx, process)
		if err != nil {
			return signing.Started{}, err
		}
		person, err := may(&p, now())
		if err != nil {
			return signing.Started{}, err
		}
		started, err := s.signing.Start(ctx, s.startOf(&p, participant, person, may))
		switch {
		case errors.Is(err, errOvertaken):
			continue
		case errors.Is(err, signing.ErrFinished): // it was deleted with its process
			err = ErrNotFound
		}
		failpoint.Here("portal/begun")
		return started, err
	}
	return signing.Started{}, ErrTurn
}

// startOf is the next turn of a process. It is taken where the request is stored, if the participant
// may still begin then.
func (s *Service) startOf(p *Process, participant string, person idp.Person, may func(*Process, time.Time) (idp.Person, error)) signing.Start {
	o := order{p.ID, participant, p.Turns + 1}
	accept := func(ctx context.Context, request string) error {
		return s.change(ctx, o.process, func(ctx context.Context, p *Process, now time.Time) error {
			if _, err := may(p, now); err != nil {
				return err
			}
			if p.Turns+1 != o.number {
				return errOvertaken
			}
			p.begin(participant, request, now)
			return s.record(ctx, p, begunEntry, begunFacts{participant, request})
		})
	}
	return signing.Start{
		Account: p.Account, Document: p.Document, Name: p.FileName, Person: person, Level: ades.LT,
		Order: &signing.Order{ID: o.String(), Stamp: p.participant(participant).Stamp, Accept: accept},
	}
}

// Signed implements [signing.Owner]: the signature, its events and mails and the room that it takes.
// One that comes of an earlier turn, or for a process that was deleted, is signing.ErrUnwanted. The
// account's quota refuses none.
func (s *Owner) Signed(ctx context.Context, orderID string, made signing.Signature) error {
	o, err := parseOrder(orderID)
	if err != nil {
		return err
	}
	if made.Certificate == nil {
		return fmt.Errorf("portal: the signature of %s is without a certificate", orderID)
	}
	signature := Signature{
		Name: made.Certificate.Subject.CommonName, Kennitala: idp.Kennitala(made.Certificate),
		Value: made.Value, At: made.At,
	}
	err = s.change(ctx, o.process, func(ctx context.Context, p *Process, now time.Time) error {
		one, err := p.land(o.number, signature)
		if err != nil {
			return err
		}
		return s.follow(ctx, p, one, made, now)
	})
	if errors.Is(err, ErrNotFound) {
		err = signing.ErrUnwanted
	}
	return err
}

// follow is what follows from a signature that has landed.
func (s records) follow(ctx context.Context, p *Process, one *Participant, made signing.Signature, now time.Time) error {
	facts := personFacts{Participant: one.ID, Name: one.Signature.Name, Kennitala: one.Signature.Kennitala, Request: made.Request}
	err := errors.Join(
		s.record(ctx, p, signedEntry, facts),
		s.emitSigned(ctx, p, one),
		s.stored(ctx, p.Account, made.Bytes),
	)
	if err != nil || p.Status(now) != Completed {
		return err
	}
	return errors.Join(
		s.record(ctx, p, completedEntry, struct{}{}),
		s.emitCompleted(ctx, p),
		s.mail(func(m Mail) error { return m.Completed(ctx, *p) }),
	)
}

// Ended implements [signing.Owner]: it gives the turn back. There is nothing to give back of an earlier
// one, nor of a process that was deleted.
func (s *Owner) Ended(ctx context.Context, orderID, _ string) error {
	o, err := parseOrder(orderID)
	if err != nil {
		return err
	}
	return s.tx.InTx(ctx, func(ctx context.Context) error { // in which an error would undo what it joins
		p, err := s.process(ctx, o.process)
		switch {
		case errors.Is(err, ErrNotFound):
			return nil
		case err != nil:
			return err
		case !p.end(o.number):
			return nil
		}
		return s.save(ctx, p)
	})
}
