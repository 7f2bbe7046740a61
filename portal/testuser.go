package portal

import (
	"context"
	"errors"
	"fmt"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/internal/failpoint"
	"github.com/innsigli/innsigli/portal/process"
	"github.com/innsigli/innsigli/signing"
)

// SignAs has a test person sign as a participant, without logging in, and returns when the signature is
// in the document (spec 6.4). Errors, in its order: [ErrNotFound], also when
// there is no such test person; [ErrViewer], [ErrAnswered], [ErrOtherPerson], [ErrCannotSign],
// [ErrNotWaiting], [ErrTurn]. When ctx ends first, the signature lands all the same.
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
	started, err := s.begin(ctx, processID, participant, func(*Process) (process.Event, idp.Person) {
		return process.BeginSigningAs{Participant: participant, Kennitala: who.Kennitala, Ready: ready}, who
	})
	var refusal *signing.Refusal
	if errors.As(err, &refusal) { // the test person was changed meanwhile
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
		return s.unlanded(ctx, processID, participant, who.Kennitala, progress.Failure)
	}
	return fmt.Errorf("portal: driving the signature: %w", err)
}

// unlanded says why there is no signature of a request that was driven to its end.
func (s *Service) unlanded(ctx context.Context, processID, participant, kennitala string, failure *idp.Failure) error {
	p, err := s.process(ctx, processID)
	if err != nil {
		return err // it was deleted
	}
	if one := p.participant(participant); one != nil && one.Signature != nil && one.Signature.Kennitala == kennitala {
		return nil // the person has signed, and the request is deleted by now
	}
	if failure == nil {
		return errors.New("portal: the request of a test person has ended without a signature")
	}
	if failure.Code == idp.InternalError {
		return fmt.Errorf("portal: signing as a test person failed: %s: %s", failure.Code, failure.Description)
	}
	return fmt.Errorf("%w: %s", ErrCannotSign, failure.Code)
}

// DeclineAs has a participant decline who has not logged in, in a sandbox. [ErrNotFound], [ErrViewer],
// [ErrAnswered], [ErrNotWaiting]; [ErrTurn] while the participant's own signature is under way;
// [*InvalidError], as of [Service.Decline].
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
	err := s.change(ctx, processID, process.DeclineSigningAs{Participant: participant, Reason: reason})
	if err == nil {
		failpoint.Here("portal/declined")
	}
	return err
}
