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
	event := process.BeginSigning{Participant: participantID, Revision: in.Revision, NotShown: in.NotShown}
	return s.startSigning(ctx, participantRef{processID, participantID}, event, func(p *Participant) idp.Person {
		return idp.Person{Method: in.Method, Phone: in.Phone, Kennitala: p.Person.Kennitala}
	})
}

// startAttempts is how often startSigning reads the process and starts a request. It tries again if another turn began
// and ended after it read the process. While that turn lasts, it returns [ErrTurn] instead.
const startAttempts = 3

// startSigning starts a signing request that gives the next turn to a participant. It adds the ID of the request to event.
// person returns the person to ask, for a participant for whom event is permitted.
func (s *Service) startSigning(ctx context.Context, ref participantRef, event process.TurnEvent, person func(*Participant) idp.Person) (signing.Started, error) {
	for range startAttempts {
		p, err := s.process(ctx, ref.processID)
		if err != nil {
			return signing.Started{}, err
		}
		participant := p.participant(ref.participantID)
		if participant == nil {
			return signing.Started{}, ErrNotFound
		}
		// Nothing is started for an event that is refused. beginTurn checks it again, in the transaction.
		if err := p.state().Check(event, s.now(ctx)); err != nil {
			return signing.Started{}, err
		}
		turn := turnID{ref, p.Turns + 1}
		begin := func(ctx context.Context, requestID string) error {
			return s.beginTurn(ctx, turn, event.WithRequest(requestID))
		}
		started, err := s.signing.Start(ctx, signing.Start{
			Account: p.Account, Document: p.Document, Name: p.FileName, Person: person(participant), Level: ades.LT,
			Order: &signing.Order{ID: turn.String(), Signer: ref.String(), Stamp: participant.Stamp, Begin: begin},
		})
		switch {
		case err == nil:
			failpoint.Here("portal/begun")
		case errors.Is(err, errTurnBegan):
			continue
		case errors.Is(err, signing.ErrFinished): // the deletion of the process cancelled the request
			err = ErrNotFound
		}
		return started, err
	}
	return signing.Started{}, ErrTurn
}

// errTurnBegan: another turn has begun since the process was read.
var errTurnBegan = errors.New("portal: another turn has begun since the process was read")

// beginTurn applies the event that gives the turn to a participant. It returns errTurnBegan if the turn is not the next
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
			return errTurnBegan
		}
		if _, err := s.accounts.Terms(ctx, p.Account); err != nil { // ErrNotFound: the process is deleted with its account
			return err
		}
		return s.applyAndSave(ctx, &p, e)
	})
}

// participantRef identifies a participant among those of all processes. IDs contain no slash.
type participantRef struct{ processID, participantID string }

func (r participantRef) String() string { return r.processID + "/" + r.participantID }

// turnID identifies a turn. As a string it is the ID of the turn's [signing.Order], which the signing request stores.
type turnID struct {
	participantRef
	number int64
}

func (t turnID) String() string {
	return t.participantRef.String() + "/" + strconv.FormatInt(t.number, 10)
}

// parseTurnID is the reverse of turnID.String.
func parseTurnID(text string) (turnID, error) {
	if parts := strings.Split(text, "/"); len(parts) == 3 {
		if number, err := strconv.ParseInt(parts[2], 10, 64); err == nil {
			return turnID{participantRef{parts[0], parts[1]}, number}, nil
		}
	}
	return turnID{}, fmt.Errorf("portal: %q is not the ID of a turn", text)
}

// Signed implements [signing.Owner]: it adds the signature to the process, with its event and its mail, and counts the
// bytes by which the document has grown. It returns signing.ErrUnwanted if the turn of the order is over, the process was
// deleted, or the signature is another person's.
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
	err = storage.InTx(ctx, o.tx, func(ctx context.Context) error {
		p, err := o.process(ctx, turn.processID)
		if err != nil {
			return err
		}
		if err := o.applyAndSave(ctx, &p, process.AddSignature{Turn: turn.number, Signature: signature}); err != nil {
			return err
		}
		return o.addStored(ctx, p.Account, in.Bytes) // also beyond the quota of the account
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
	// ErrNotFound and process.ErrTurnOver must not leave the function of InTx, which joins the caller's transaction: they
	// would roll it back.
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
func (s *Service) SignAs(ctx context.Context, account, processID, participantID, sandboxUserID string) error {
	if s.options.SandboxUsers == nil {
		return ErrNotFound
	}
	user, ready, err := s.options.SandboxUsers.SandboxUser(ctx, account, sandboxUserID)
	if err != nil {
		return err
	}
	user.Kennitala = idp.NormalizeKennitala(user.Kennitala)
	if _, err := s.ofAccount(ctx, account, processID); err != nil {
		return err
	}
	ref := participantRef{processID, participantID}
	event := process.BeginSigningAs{Participant: participantID, Kennitala: user.Kennitala, Ready: ready}
	started, err := s.startSigning(ctx, ref, event, func(*Participant) idp.Person { return user })
	var refusal *signing.Refusal
	if errors.As(err, &refusal) { // the sandbox user was changed meanwhile
		return fmt.Errorf("%w: %w", ErrCannotSign, err)
	}
	if err != nil {
		return err
	}
	progress, err := s.signing.Drive(ctx, started.ID)
	failpoint.Here("portal/driven")
	requestGone := errors.Is(err, signing.ErrFinished) // the request was deleted after its end, or with its process
	switch {
	case err != nil && !requestGone:
		return fmt.Errorf("portal: driving the signature: %w", err)
	case !requestGone && progress.Failure == nil:
		return nil
	}
	signed, err := s.hasSigned(ctx, ref, user.Kennitala)
	switch {
	case err != nil: // for example ErrNotFound, if the process was deleted
		return err
	case signed:
		return nil
	case requestGone:
		return errors.New("portal: the request of a sandbox user has ended without a signature")
	case progress.Failure.Code == idp.InternalError:
		return fmt.Errorf("portal: signing as a sandbox user failed: %s: %s", progress.Failure.Code, progress.Failure.Description)
	}
	return fmt.Errorf("%w: %s", ErrCannotSign, progress.Failure.Code)
}

// hasSigned reports whether the person with a kennitala has signed as a participant.
func (s *Service) hasSigned(ctx context.Context, ref participantRef, kennitala string) (bool, error) {
	p, err := s.process(ctx, ref.processID)
	if err != nil {
		return false, err
	}
	participant := p.participant(ref.participantID)
	return participant != nil && participant.Signature != nil && participant.Signature.Kennitala == kennitala, nil
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
	if s.options.SandboxUsers == nil {
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
