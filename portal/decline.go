package portal

import (
	"context"
	"errors"
	"time"

	"github.com/innsigli/innsigli/internal/failpoint"
)

// Decline has a participant who has logged in refuse to sign, which ends the process for all. reason has
// at most [MaxReason] characters and may be empty. [ErrNotFound], [ErrViewer], [ErrAnswered],
// [ErrNotLoggedIn], [ErrNotWaiting]; [ErrTurn] while the participant's own signature is under way;
// [*InvalidError].
func (s *Service) Decline(ctx context.Context, process, participant, reason string) error {
	return s.decline(ctx, process, participant, reason, func(p *Process) error {
		_, err := p.present(participant)
		return err
	})
}

// decline has a participant decline whom may lets.
func (s *Service) decline(ctx context.Context, process, participant, reason string, may func(*Process) error) error {
	if err := checkReason(reason); err != nil {
		return err
	}
	err := s.change(ctx, process, func(ctx context.Context, p *Process, now time.Time) error {
		if err := may(p); err != nil {
			return err
		}
		one, err := p.decline(participant, reason, now)
		if err != nil {
			return err
		}
		return errors.Join(
			s.record(ctx, p, declinedEntry, declinedFacts{one.ID, one.Decline.Kennitala, reason}),
			s.emitDeclined(ctx, p, one),
			s.mail(func(m Mail) error { return m.Declined(ctx, *p, *one) }),
		)
	})
	if err == nil {
		failpoint.Here("portal/declined")
	}
	return err
}
