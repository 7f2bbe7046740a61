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
	// NotShown are the pages that could not be shown, such as "3,7-9", or "all". The person has confirmed to have read
	// them. The evidence log records it.
	NotShown string
}

// Sign asks the person who has logged in as a participant to sign. No other participant can sign until this signature
// is in the document or the request has ended without one. [Service.Progress] reports which.
//
// Errors, in the order in which they are checked: [ErrNotFound], [ErrViewer], [ErrAnswered], [ErrNotLoggedIn],
// [ErrNotWaiting], [ErrTurn], [ErrChanged], and those of signing.Service.Start, such as [*signing.Refusal].
func (s *Service) Sign(ctx context.Context, processID, participantID string, in SignRequest) (signing.Started, error) {
	return s.startSigning(ctx, processID, participantID, turnStart{
		event:  process.BeginSigning{Participant: participantID, Revision: in.Revision, NotShown: in.NotShown},
		person: idp.Person{Method: in.Method, Phone: in.Phone},
	})
}

// turnStart is what [Service.startSigning] starts a turn with.
type turnStart struct {
	event process.TurnEvent // without a request
	// person is asked to sign. Without a kennitala, it is that of the person who has logged in as the participant.
	person idp.Person
}

// startAttempts is how often startSigning reads the process and starts a request. It tries again if the turn of another
// participant began after it read the process.
const startAttempts = 3

// startSigning starts a signing request that gives the next turn to a participant.
func (s *Service) startSigning(ctx context.Context, processID, participantID string, start turnStart) (signing.Started, error) {
	for range startAttempts {
		p, err := s.process(ctx, processID)
		if err != nil {
			return signing.Started{}, err
		}
		signer := p.participant(participantID)
		if signer == nil {
			return signing.Started{}, ErrNotFound
		}
		if err := p.state().Check(start.event, s.now(ctx)); err != nil {
			return signing.Started{}, err
		}
		person := start.person
		if person.Kennitala == "" && signer.Person != nil {
			person.Kennitala = signer.Person.Kennitala
		}
		turn := turnID{p.ID, participantID, p.Turns + 1}
		begin := func(ctx context.Context, requestID string) error {
			return s.beginTurn(ctx, turn, start.event.WithRequest(requestID))
		}
		started, err := s.signing.Start(ctx, signing.Start{
			Account: p.Account, Document: p.Document, Name: p.FileName, Person: person, Level: ades.LT,
			Order: &signing.Order{ID: turn.String(), Signer: turn.signer(), Stamp: signer.Stamp, Begin: begin},
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

// turnID identifies a turn. As a string it is the ID of the turn's [signing.Order], which the signing request stores.
type turnID struct {
	processID, participantID string
	number                   int64
}

func (t turnID) String() string {
	return t.signer() + "/" + strconv.FormatInt(t.number, 10)
}

// signer identifies the participant whose turn it is, among those of all processes.
func (t turnID) signer() string { return t.processID + "/" + t.participantID }

// parseTurnID is the reverse of turnID.String.
func parseTurnID(text string) (turnID, error) {
	if parts := strings.Split(text, "/"); len(parts) == 3 {
		if number, err := strconv.ParseInt(parts[2], 10, 64); err == nil {
			return turnID{parts[0], parts[1], number}, nil
		}
	}
	return turnID{}, fmt.Errorf("portal: %q is not the ID of a turn", text)
}

// Signed implements [signing.Owner]: it adds the signature to the process, with its event and its mail, and counts the
// bytes by which the document has grown, even if the account exceeds its quota then. It returns signing.ErrUnwanted if
// the turn of the order is over, the process was deleted, or the signature is another person's.
func (o *Owner) Signed(ctx context.Context, orderID string, in signing.Signature) error {
	turn, err := parseTurnID(orderID)
	if err != nil {
		return err
	}
	if in.Certificate == nil {
		return fmt.Errorf("portal: the signature of %s has no certificate", orderID)
	}
	signature := Signature{
		Name: in.Certificate.Subject.CommonName, Kennitala: idp.Kennitala(in.Certificate),
		Value: in.Value, At: in.At,
	}
	// The errors are translated outside the transaction: after any of them, the caller shall roll back its own.
	err = storage.InTx(ctx, o.tx, func(ctx context.Context) error {
		p, err := o.process(ctx, turn.processID)
		if err != nil {
			return err
		}
		if err := o.applyAndSave(ctx, &p, process.AddSignature{Turn: turn.number, Signature: signature}); err != nil {
			return err
		}
		return o.addStored(ctx, p.Account, in.Bytes)
	})
	if errors.Is(err, ErrNotFound) || errors.Is(err, process.ErrTurnOver) || errors.Is(err, ErrOtherPerson) {
		err = signing.ErrUnwanted
	}
	return err
}

// Ended implements [signing.Owner]: it ends the turn. It does nothing if the turn is over or the process was deleted.
func (o *Owner) Ended(ctx context.Context, orderID string) error {
	turn, err := parseTurnID(orderID)
	if err != nil {
		return err
	}
	// The errors of a turn that is over are handled inside the transaction: an error that its function returned would roll
	// back the caller's transaction, which ends the request.
	return storage.InTx(ctx, o.tx, func(ctx context.Context) error {
		p, err := o.process(ctx, turn.processID)
		if errors.Is(err, ErrNotFound) {
			return nil
		}
		if err != nil {
			return err
		}
		err = o.applyAndSave(ctx, &p, process.EndTurn{Turn: turn.number})
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
	started, err := s.startSigning(ctx, processID, participantID, turnStart{
		event:  process.BeginSigningAs{Participant: participantID, Kennitala: who.Kennitala, Ready: ready},
		person: who,
	})
	var refusal *signing.Refusal
	if errors.As(err, &refusal) { // the sandbox user was changed meanwhile
		return fmt.Errorf("%w: %w", ErrCannotSign, err)
	}
	if err != nil {
		return err
	}
	progress, err := s.signing.Drive(ctx, started.ID)
	failpoint.Here("portal/driven")
	switch {
	case errors.Is(err, signing.ErrFinished): // the request was deleted, which ends it with or without a signature
		return s.testUserOutcome(ctx, processID, participantID, who.Kennitala, nil)
	case err != nil:
		return fmt.Errorf("portal: driving the signature: %w", err)
	case progress.Failure != nil:
		return s.testUserOutcome(ctx, processID, participantID, who.Kennitala, progress.Failure)
	}
	return nil
}

// testUserOutcome returns how a request that has ended with a failure, or was deleted (failure is nil), ended for the
// sandbox user: nil if the sandbox user has signed nevertheless, otherwise the error of SignAs.
func (s *Service) testUserOutcome(ctx context.Context, processID, participantID, kennitala string, failure *idp.Failure) error {
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
