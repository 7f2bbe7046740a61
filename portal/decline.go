package portal

import (
	"context"

	"github.com/innsigli/innsigli/internal/failpoint"
	"github.com/innsigli/innsigli/portal/process"
)

// Decline records that a participant who has logged in refuses to sign, which ends the process for all
// participants. reason has at most [MaxReason] characters and may be empty. Errors: [ErrNotFound],
// [ErrViewer], [ErrAnswered], [ErrNotLoggedIn], [ErrNotWaiting]; [ErrTurn] while the participant is
// signing; [*InvalidError].
func (s *Service) Decline(ctx context.Context, processID, participant, reason string) error {
	if err := checkReason(reason); err != nil {
		return err
	}
	err := s.change(ctx, processID, process.DeclineSigning{Participant: participant, Reason: reason})
	if err == nil {
		failpoint.Here("portal/declined")
	}
	return err
}
