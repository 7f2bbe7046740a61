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
	NotShown string // pages that could not be shown, which the person has confirmed to have read, such as "3,7-9"; "all"; for the evidence log
}

// Sign asks the person who has logged in as a participant to sign. No other participant can sign until this signature
// is in the document or the request has ended without one. [Service.Progress] reports which.
//
// Errors, in the order in which they are checked: [ErrNotFound], [ErrViewer], [ErrAnswered], [ErrNotLoggedIn],
// [ErrNotWaiting], [ErrTurn], [ErrChanged], and those of signing.Service.Start, such as [*signing.Refusal].
func (s *Service) Sign(ctx context.Context, processID, participantID string, in SignRequest) (signing.Started, error) {
	event := func(requestID string) process.Event {
		return process.BeginSigning{Participant: participantID, Revision: in.Revision, NotShown: in.NotShown, Request: requestID}
	}
	return s.startSigning(ctx, processID, participantID, event, func(signer *Participant) idp.Person {
		// signer.Person is not nil: the event is permitted after a login only.
		return idp.Person{Method: in.Method, Phone: in.Phone, Kennitala: signer.Person.Kennitala}
	})
}

// startAttempts is how often startSigning reads the process and starts a request, in case other turns come first.
const startAttempts = 3

// startSigning starts a signing request that gives the next turn to a participant. event returns the event that begins
// the turn for a signing request. person returns the person to ask, and is called only if the process permits the event.
func (s *Service) startSigning(ctx context.Context, processID, participantID string, event func(requestID string) process.Event, person func(signer *Participant) idp.Person) (signing.Started, error) {
	for range startAttempts {
		p, err := s.process(ctx, processID)
		if err != nil {
			return signing.Started{}, err
		}
		if err := p.state().Check(event(""), s.now(ctx)); err != nil {
			return signing.Started{}, err
		}
		signer := p.participant(participantID) // not nil: Check has made sure that the participant exists
		turn := turnID{p.ID, participantID, p.Turns + 1}
		begin := func(ctx context.Context, requestID string) error { return s.beginTurn(ctx, turn, event(requestID)) }
		started, err := s.signing.Start(ctx, signing.Start{
			Account: p.Account, Document: p.Document, Name: p.FileName, Person: person(signer), Level: ades.LT,
			Order: &signing.Order{ID: turn.String(), Signer: p.ID + "/" + participantID, Stamp: signer.Stamp, Begin: begin},
		})
		if errors.Is(err, errOtherTurn) {
			continue
		}
		if errors.Is(err, signing.ErrFinished) { // the request was deleted with its process
			err = ErrNotFound
		}
		failpoint.Here("portal/begun")
		return started, err
	}
	return signing.Started{}, ErrTurn
}

// errOtherTurn: another turn has begun since the process was read, so that the number of the next turn has changed.
var errOtherTurn = errors.New("portal: the turn of another participant began first")

// beginTurn applies the event that gives the turn to a participant. It returns errOtherTurn if the turn is not the next
// one of the process, and [ErrNotFound] if the account is being deleted.
func (s *Service) beginTurn(ctx context.Context, turn turnID, e process.Event) error {
	return storage.InTx(ctx, s.tx, func(ctx context.Context) error {
		p, err := s.process(ctx, turn.processID)
		if err != nil {
			return err
		}
		if err := p.state().Check(e, s.now(ctx)); err != nil {
			return err
		}
		if p.Turns+1 != turn.number {
			return errOtherTurn
		}
		if _, err := s.accounts.Terms(ctx, p.Account); err != nil { // ErrNotFound: the process is deleted with its account
			return err
		}
		return s.applyAndSave(ctx, &p, e)
	})
}

// turnID identifies a turn. As a string it is the ID of the turn's signing.Order, which the signing request stores.
type turnID struct {
	processID, participantID string
	number                   int64
}

func (t turnID) String() string {
	return t.processID + "/" + t.participantID + "/" + strconv.FormatInt(t.number, 10)
}

func parseTurnID(text string) (turnID, error) {
	if parts := strings.Split(text, "/"); len(parts) == 3 {
		if number, err := strconv.ParseInt(parts[2], 10, 64); err == nil {
			return turnID{parts[0], parts[1], number}, nil
		}
	}
	return turnID{}, fmt.Errorf("portal: %q is not the ID of an order", text)
}

// Signed implements [signing.Owner]: it adds the signature to the process, with its event and its mail, and counts the
// bytes by which the document has grown, even if the account exceeds its quota then. It returns signing.ErrUnwanted if
// the turn of the order is over, the process was deleted, or the signature is another person's.
func (s *Owner) Signed(ctx context.Context, orderID string, made signing.Signature) error {
	turn, err := parseTurnID(orderID)
	if err != nil {
		return err
	}
	if made.Certificate == nil {
		return fmt.Errorf("portal: the signature of %s has no certificate", orderID)
	}
	signature := Signature{
		Name: made.Certificate.Subject.CommonName, Kennitala: idp.Kennitala(made.Certificate),
		Value: made.Value, At: made.At,
	}
	err = storage.InTx(ctx, s.tx, func(ctx context.Context) error {
		p, err := s.process(ctx, turn.processID)
		if err != nil {
			return err
		}
		if err := s.applyAndSave(ctx, &p, process.AddSignature{Turn: turn.number, Signature: signature}); err != nil {
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
func (s *Owner) Ended(ctx context.Context, orderID string) error {
	turn, err := parseTurnID(orderID)
	if err != nil {
		return err
	}
	// The function itself handles the errors of a turn that is over, because an error that it returned would roll back the
	// caller's transaction.
	return storage.InTx(ctx, s.tx, func(ctx context.Context) error {
		p, err := s.process(ctx, turn.processID)
		if errors.Is(err, ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		err = s.applyAndSave(ctx, &p, process.EndTurn{Turn: turn.number})
		if errors.Is(err, process.ErrTurnOver) {
			return nil
		}
		return err
	})
}

// SignAs lets a sandbox user sign as a participant without a login, and returns when the signature is in the document
// (spec 6.4). If ctx ends first, the signature is made nevertheless.
//
// Errors, in the order in which they are checked: [ErrNotFound], also if there is no such sandbox user; [ErrViewer],
// [ErrAnswered], [ErrOtherPerson], [ErrCannotSign], [ErrNotWaiting], [ErrTurn].
func (s *Service) SignAs(ctx context.Context, account, processID, participantID, testUser string) error {
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
	event := func(requestID string) process.Event {
		return process.BeginSigningAs{Participant: participantID, Kennitala: who.Kennitala, Ready: ready, Request: requestID}
	}
	started, err := s.startSigning(ctx, processID, participantID, event, func(*Participant) idp.Person { return who })
	var refusal *signing.Refusal
	if errors.As(err, &refusal) { // the sandbox user was changed meanwhile
		return fmt.Errorf("%w: %w", ErrCannotSign, err)
	}
	if err != nil {
		return err
	}
	progress, err := s.signing.Drive(ctx, started.ID)
	failpoint.Here("portal/driven")
	if err != nil && !errors.Is(err, signing.ErrFinished) {
		return fmt.Errorf("portal: driving the signature: %w", err)
	}
	if err == nil && progress.Failure == nil {
		return nil
	}
	return s.testUserError(ctx, processID, participantID, who.Kennitala, progress.Failure)
}

// testUserError returns the error of a request that has ended with a failure or was deleted; nil if the sandbox user has
// signed.
func (s *Service) testUserError(ctx context.Context, processID, participantID, kennitala string, failure *idp.Failure) error {
	p, err := s.process(ctx, processID)
	if err != nil {
		return err // for example ErrNotFound, if the process was deleted
	}
	signer := p.participant(participantID)
	if signer != nil && signer.Signature != nil && signer.Signature.Kennitala == kennitala {
		return nil // the request was deleted after the signature was made
	}
	if failure == nil {
		return errors.New("portal: the request of a sandbox user has ended without a signature")
	}
	if failure.Code == idp.InternalError {
		return fmt.Errorf("portal: signing as a sandbox user failed: %s: %s", failure.Code, failure.Description)
	}
	return fmt.Errorf("%w: %s", ErrCannotSign, failure.Code)
}

// Decline records that a participant who has logged in refuses to sign, which ends the process for all participants.
// reason has at most [MaxReason] characters and may be empty.
//
// Errors: [*InvalidError] for the reason; [ErrNotFound], [ErrViewer], [ErrAnswered], [ErrNotLoggedIn],
// [ErrNotWaiting]; [ErrTurn] while the participant is signing.
func (s *Service) Decline(ctx context.Context, processID, participantID, reason string) error {
	if err := checkReason(reason); err != nil {
		return err
	}
	return s.decline(ctx, processID, process.DeclineSigning{Participant: participantID, Reason: reason})
}

// DeclineAs is [Service.Decline] in a sandbox, for a participant who has not logged in. It does not return
// [ErrNotLoggedIn].
func (s *Service) DeclineAs(ctx context.Context, account, processID, participantID, reason string) error {
	if s.options.TestUsers == nil {
		return ErrNotFound
	}
	if err := checkReason(reason); err != nil {
		return err
	}
	if _, err := s.ofAccount(ctx, account, processID); err != nil {
		return err
	}
	return s.decline(ctx, processID, process.DeclineSigningAs{Participant: participantID, Reason: reason})
}

func (s *Service) decline(ctx context.Context, processID string, e process.Event) error {
	err := s.change(ctx, processID, e)
	if err == nil {
		failpoint.Here("portal/declined")
	}
	return err
}
