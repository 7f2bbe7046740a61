package portal

import (
	"context"

	"github.com/innsigli/innsigli/portal/process"
	"github.com/innsigli/innsigli/storage"
)

// Resend invites the signers that a process waits for again, and the viewers who have not opened their
// link, as [process.InviteAgain] says. It returns how many were invited. Operators call it. Errors:
// [ErrNotFound]; [ErrNotWaiting] if no participant is left to invite.
func (s *Service) Resend(ctx context.Context, id string) (n int, err error) {
	err = storage.InTx(ctx, s.tx, func(ctx context.Context) error {
		p, err := s.process(ctx, id)
		if err != nil {
			return err
		}
		at := s.now(ctx)
		e := process.InviteAgain{NewLink: func() Link { return newLink(at) }}
		effects, err := p.apply(e, at)
		if err != nil {
			return err
		}
		var invited []string
		for _, effect := range effects {
			if effect.Kind == process.SendInvitation {
				invited = append(invited, effect.Participant)
			}
		}
		n = len(invited)
		if err := s.record(ctx, &p, invitedEntry, againFacts{invited}); err != nil {
			return err
		}
		if err := s.carryOut(ctx, &p, e, effects); err != nil {
			return err
		}
		return s.save(ctx, p)
	})
	if err != nil {
		return 0, err
	}
	return n, nil
}
