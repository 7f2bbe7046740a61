package portal

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/internal/failpoint"
	"github.com/innsigli/innsigli/portal/process"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
)

// SignRequest is the input of [Service.Sign].
type SignRequest struct {
	Method   idp.Method
	Phone    string // for idp.SIM
	Revision int    // of the document that the person has read: [DocumentCopy.Revision]
}

// Sign asks the person who has logged in as a participant to sign. The participant has the turn until the signature is
// in the document or the request has ended without one, which [Service.Progress] returns.
//
// Errors, in the order in which they are checked: [ErrNotFound], [ErrViewer], [ErrAnswered], [ErrNotLoggedIn],
// [ErrNotWaiting], [ErrTurn], [ErrChanged], and those of signing.Service.Start, such as [*signing.Refusal].
func (s *Service) Sign(ctx context.Context, processID, participant string, a SignRequest) (signing.Started, error) {
	return s.startSigning(ctx, processID, participant, func(p *Process) (process.Event, idp.Person) {
		person := idp.Person{Method: a.Method, Phone: a.Phone}
		if one := p.participant(participant); one != nil && one.Person != nil {
			person.Kennitala = one.Person.Kennitala
		}
		return process.BeginSigning{Participant: participant, Revision: a.Revision}, person
	})
}

// startAttempts is how often startSigning reads the process and starts a request, if other turns end in between.
const startAttempts = 3

// startSigning checks whether a participant may begin to sign, and starts a signing request. The transaction that stores
// the request gives the turn to the participant. beginning returns the event by which the participant begins, without
// the ID of the request, and the person who is asked.
func (s *Service) startSigning(ctx context.Context, processID, participant string, beginning func(p *Process) (process.Event, idp.Person)) (signing.Started, error) {
	for range startAttempts {
		p, err := s.process(ctx, processID)
		if err != nil {
			return signing.Started{}, err
		}
		e, person := beginning(&p)
		if err := p.state().Check(e, s.now(ctx)); err != nil {
			return signing.Started{}, err
		}
		o := orderID{p.ID, participant, p.Turns + 1}
		started, err := s.signing.Start(ctx, signing.Start{
			Account: p.Account, Document: p.Document, Name: p.FileName, Person: person, Level: ades.LT,
			Order: &signing.Order{ID: o.String(), Stamp: p.participant(participant).Stamp, Begin: e},
		})
		switch {
		case errors.Is(err, errOtherTurn):
			continue
		case errors.Is(err, signing.ErrFinished): // the request was deleted with its process
			err = ErrNotFound
		}
		failpoint.Here("portal/begun")
		return started, err
	}
	return signing.Started{}, ErrTurn
}

// Decline records that a participant who has logged in refuses to sign, which ends the process for all participants.
// reason has at most [MaxReason] characters and may be empty.
//
// Errors: [*InvalidError] for the reason; [ErrNotFound], [ErrViewer], [ErrAnswered], [ErrNotLoggedIn],
// [ErrNotWaiting]; [ErrTurn] while the participant is signing.
func (s *Service) Decline(ctx context.Context, processID, participant, reason string) error {
	if err := checkReason(reason); err != nil {
		return err
	}
	return s.decline(ctx, processID, process.DeclineSigning{Participant: participant, Reason: reason})
}

func (s *Service) decline(ctx context.Context, processID string, e process.Event) error {
	err := s.change(ctx, processID, e)
	if err == nil {
		failpoint.Here("portal/declined")
	}
	return err
}

// SignAs lets a test user sign as a participant without a login, and returns when the signature is in the document
// (spec 6.4). If ctx ends first, the signature is made nevertheless.
//
// Errors, in the order in which they are checked: [ErrNotFound], also if there is no such test user; [ErrViewer],
// [ErrAnswered], [ErrOtherPerson], [ErrCannotSign], [ErrNotWaiting], [ErrTurn].
func (s *Service) SignAs(ctx context.Context, account, processID, participant, testUser string) error {
	if s.options.TestUsers == nil {
		return ErrNotFound
	}
	who, ready, err := s.options.TestUsers.TestUser(ctx, account, testUser)
	if err != nil {
		return err
	}
	who.Kennitala = idp.NormalizeKennitala(who.Kennitala)
	if _, err := s.ofAccount(ctx, account, processID); err != nil {
		return err
	}
	started, err := s.startSigning(ctx, processID, participant, func(*Process) (process.Event, idp.Person) {
		return process.BeginSigningAs{Participant: participant, Kennitala: who.Kennitala, Ready: ready}, who
	})
	var refusal *signing.Refusal
	if errors.As(err, &refusal) { // the test user was changed meanwhile
		return fmt.Errorf("%w: %w", ErrCannotSign, err)
	}
	if err != nil {
		return err
	}
	progress, err := s.signing.Drive(ctx, started.ID)
	failpoint.Here("portal/driven")
	switch {
	case err == nil && progress.Failure == nil:
		return nil
	case err == nil || errors.Is(err, signing.ErrFinished):
		return s.testUserError(ctx, processID, participant, who.Kennitala, progress.Failure)
	}
	return fmt.Errorf("portal: driving the signature: %w", err)
}

// testUserError returns the error of a request that has ended with a failure or was deleted; nil if the test user has
// signed.
func (s *Service) testUserError(ctx context.Context, processID, participant, kennitala string, failure *idp.Failure) error {
	p, err := s.process(ctx, processID)
	if err != nil {
		return err // the process was deleted
	}
	if one := p.participant(participant); one != nil && one.Signature != nil && one.Signature.Kennitala == kennitala {
		return nil // the request was deleted after the signature was made
	}
	if failure == nil {
		return errors.New("portal: the request of a test user has ended without a signature")
	}
	if failure.Code == idp.InternalError {
		return fmt.Errorf("portal: signing as a test user failed: %s: %s", failure.Code, failure.Description)
	}
	return fmt.Errorf("%w: %s", ErrCannotSign, failure.Code)
}

// DeclineAs is [Service.Decline] in a sandbox, for a participant who has not logged in. It does not return
// [ErrNotLoggedIn].
func (s *Service) DeclineAs(ctx context.Context, account, processID, participant, reason string) error {
	if s.options.TestUsers == nil {
		return ErrNotFound
	}
	if err := checkReason(reason); err != nil {
		return err
	}
	if _, err := s.ofAccount(ctx, account, processID); err != nil {
		return err
	}
	return s.decline(ctx, processID, process.DeclineSigningAs{Participant: participant, Reason: reason})
}

// errOtherTurn: another turn has begun since the process was read, so that the number of the next turn has changed.
var errOtherTurn = errors.New("portal: another turn came first")

// orderID is the ID of a signing.Order. It identifies a turn.
type orderID struct {
	process, participant string
	turn                 int64 // number of the turn
}

func (o orderID) String() string {
	return o.process + "/" + o.participant + "/" + strconv.FormatInt(o.turn, 10)
}

func parseOrderID(text string) (o orderID, err error) {
	parts := strings.Split(text, "/")
	if len(parts) == 3 {
		o.process, o.participant = parts[0], parts[1]
		o.turn, err = strconv.ParseInt(parts[2], 10, 64)
	}
	if len(parts) != 3 || err != nil {
		return orderID{}, fmt.Errorf("portal: %q is not the ID of an order", text)
	}
	return o, nil
}

// Begun implements [signing.Owner]: it applies the event of the order, which gives the turn to the participant. It
// returns errOtherTurn if the turn of the order is not the next one of the process, and [ErrNotFound] if the account is
// being deleted.
func (s *Owner) Begun(ctx context.Context, begun signing.Order, request string) error {
	o, err := parseOrderID(begun.ID)
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
		if p.Turns+1 != o.turn {
			return errOtherTurn
		}
		if _, err := s.accounts.Terms(ctx, p.Account); err != nil { // ErrNotFound: the process is deleted with its account
			return err
		}
		return s.applyAndSave(ctx, &p, e)
	})
}

// Signed implements [signing.Owner]: it adds the signature to the process, with its event and its mail, and counts the
// bytes by which the document has grown, also beyond the account's quota. It returns signing.ErrUnwanted if the turn of
// the order is over or the process was deleted.
func (s *Owner) Signed(ctx context.Context, id string, made signing.Signature) error {
	o, err := parseOrderID(id)
	if err != nil {
		return err
	}
	if made.Certificate == nil {
		return fmt.Errorf("portal: the signature of %s has no certificate", id)
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
		if err := s.applyAndSave(ctx, &p, process.AddSignature{Turn: o.turn, Signature: signature}); err != nil {
			return err
		}
		return s.addStored(ctx, p.Account, made.Bytes)
	})
	if errors.Is(err, ErrNotFound) || errors.Is(err, process.ErrTurnOver) || errors.Is(err, ErrOtherPerson) {
		err = signing.ErrUnwanted
	}
	return err
}

// Ended implements [signing.Owner]: it ends the turn. It does nothing if the turn is over or the process was deleted.
func (s *Owner) Ended(ctx context.Context, id string) error {
	o, err := parseOrderID(id)
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
		err = s.applyAndSave(ctx, &p, process.EndTurn{Turn: o.turn})
		if errors.Is(err, process.ErrTurnOver) {
			return nil
		}
		return err
	})
}
