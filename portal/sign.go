package portal

import (
	"context"
	"errors"
	"fmt"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/internal/failpoint"
	"github.com/innsigli/innsigli/portal/process"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
)

// SignRequest says how somebody is asked to sign, and what.
type SignRequest struct {
	Method   idp.Method
	Phone    string // for idp.SIM
	Revision int    // that the person has read: that of [DocumentCopy]
}

// Sign asks the person who has logged in as a participant to sign. The participant has the turn from
// then on until the signature is in the document or there will be none: [Service.Progress].
// [ErrNotFound], [ErrViewer], [ErrAnswered], [ErrNotLoggedIn], [ErrNotWaiting], [ErrTurn],
// [ErrChanged], and those of signing.Service.Start, such as [*signing.Refusal].
func (s *Service) Sign(ctx context.Context, processID, participant string, a SignRequest) (signing.Started, error) {
	return s.begin(ctx, processID, participant, func(p *Process) (process.Event, idp.Person) {
		person := idp.Person{Method: a.Method, Phone: a.Phone}
		if one := p.participant(participant); one != nil && one.Person != nil {
			person.Kennitala = one.Person.Kennitala
		}
		return process.BeginSigning{Participant: participant, Revision: a.Revision}, person
	})
}

// beginTries bounds how often a call finds that another turn has come and gone meanwhile.
const beginTries = 3

// begin checks whether a participant may begin to sign, and starts a signing request, which takes the turn when it
// is stored. of returns the event by which the participant begins, without the ID of the request, and the person who
// is asked.
func (s *Service) begin(ctx context.Context, processID, participant string, of func(p *Process) (process.Event, idp.Person)) (signing.Started, error) {
	for range beginTries {
		p, err := s.process(ctx, processID)
		if err != nil {
			return signing.Started{}, err
		}
		e, person := of(&p)
		if err := p.state().Check(e, s.now(ctx)); err != nil {
			return signing.Started{}, err
		}
		o := order{p.ID, participant, p.Turns + 1}
		started, err := s.signing.Start(ctx, signing.Start{
			Account: p.Account, Document: p.Document, Name: p.FileName, Person: person, Level: ades.LT,
			Order: &signing.Order{ID: o.String(), Stamp: p.participant(participant).Stamp, Begin: e},
		})
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

// Begun implements [signing.Owner]: the participant gets the turn if the event of the order is admitted. errOvertaken if
// the turn that the order is for is not the next one any more. It returns [ErrNotFound] if the account is being deleted.
func (s *Owner) Begun(ctx context.Context, begun signing.Order, request string) error {
	o, err := parseOrder(begun.ID)
	if err != nil {
		return err
	}
	var e process.Event
	switch begin := begun.Begin.(type) {
	case process.BeginSigning:
		begin.Request = request
		e = begin
	case process.BeginSigningAs:
		begin.Request = request
		e = begin
	default:
		return fmt.Errorf("portal: order %s has no event that begins a signature", begun.ID)
	}
	return storage.InTx(ctx, s.tx, func(ctx context.Context) error {
		p, err := s.process(ctx, o.process)
		if err != nil {
			return err
		}
		if err := p.state().Check(e, s.now(ctx)); err != nil {
			return err
		}
		if p.Turns+1 != o.number {
			return errOvertaken
		}
		if _, err := s.accounts.Terms(ctx, p.Account); err != nil { // ErrNotFound: the process goes with its account
			return err
		}
		return s.applyTo(ctx, &p, e)
	})
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
	err = storage.InTx(ctx, s.tx, func(ctx context.Context) error {
		p, err := s.process(ctx, o.process)
		if err != nil {
			return err
		}
		if err := s.applyTo(ctx, &p, process.AddSignature{Turn: o.number, Signature: signature}); err != nil {
			return err
		}
		return s.stored(ctx, p.Account, made.Bytes)
	})
	if errors.Is(err, ErrNotFound) || errors.Is(err, process.ErrTurnOver) || errors.Is(err, ErrOtherPerson) {
		err = signing.ErrUnwanted
	}
	return err
}

// Ended implements [signing.Owner]: it ends the turn. It does nothing if the turn is over, or the process was
// deleted.
func (s *Owner) Ended(ctx context.Context, orderID string) error {
	o, err := parseOrder(orderID)
	if err != nil {
		return err
	}
	return storage.InTx(ctx, s.tx, func(ctx context.Context) error { // an error here would undo the transaction that it joins
		p, err := s.process(ctx, o.process)
		if errors.Is(err, ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		err = s.applyTo(ctx, &p, process.EndTurn{Turn: o.number})
		if errors.Is(err, process.ErrTurnOver) {
			return nil
		}
		return err
	})
}
