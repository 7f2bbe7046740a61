package portal

import (
	"context"
	"time"
)

// Resend invites again all whom a process waits for, and viewers who have not opened their link, also
// when nobody is waited for any more; an expired process waits again. Earlier links lead nowhere from
// then on, but who has logged in keeps the page. It says how many were invited. For whoever runs the
// service. [ErrNotFound]; [ErrNotWaiting]: the process is completed or declined, and its viewers have
// opened their links.
func (s *Service) Resend(ctx context.Context, id string) (n int, err error) {
	err = s.change(ctx, id, func(ctx context.Context, p *Process, now time.Time) error {
		invited, err := p.inviteAgain(now)
		if err != nil {
			return err
		}
		if err := s.recordInvited(ctx, p, invited); err != nil {
			return err
		}
		if !p.WaitsUntil().IsZero() { // else there is other mail than invitations, which would lead nowhere
			if err := s.mail(func(m Mail) error { return m.Withdraw(ctx, p.ID) }); err != nil {
				return err
			}
		}
		for _, one := range invited {
			if err := s.invite(ctx, p, one); err != nil {
				return err
			}
		}
		n = len(invited)
		return nil
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}
