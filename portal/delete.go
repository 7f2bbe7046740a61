package portal

import (
	"context"
	"errors"
	"fmt"

	"github.com/innsigli/innsigli/internal/failpoint"
)

// deleteTries bounds how often a deletion finds that somebody else has begun to sign meanwhile.
const deleteTries = 10

// Delete removes a process with its document, links and unsent mail, for good (spec 4.4). A
// signature that is under way ends, and nothing of it remains. What happened before is still told, and
// costs what it costs. [ErrNotFound].
func (s *Service) Delete(ctx context.Context, account, id string) error {
	for range deleteTries {
		p, err := s.ofAccount(ctx, account, id)
		if err != nil {
			return err
		}
		err = s.tx.InTx(ctx, func(ctx context.Context) error { return s.remove(ctx, &p) })
		if err == nil {
			failpoint.Here("portal/deleted")
		}
		if !errors.Is(err, errOvertaken) {
			return err
		}
	}
	return ErrTurn
}

// remove removes a process that was read before. The signing request comes first, since its own end
// takes the two in that order; should another have taken its place by then, [errOvertaken].
func (s *Service) remove(ctx context.Context, was *Process) error {
	if was.Turn != nil {
		if err := s.signing.Cancel(ctx, was.Turn.Request); err != nil {
			return fmt.Errorf("portal: ending the signature under way: %w", err)
		}
	}
	p, err := s.process(ctx, was.ID)
	if err != nil {
		return err
	}
	if p.Turns != was.Turns {
		return errOvertaken
	}
	size, err := s.size(ctx, p.Document)
	if err != nil {
		return err
	}
	return errors.Join(
		s.record(ctx, &p, deletedEntry, struct{}{}),
		s.mail(func(m Mail) error { return m.Withdraw(ctx, p.ID) }),
		s.stored(ctx, p.Account, -size),
		s.documents.Delete(ctx, p.Document),
		s.store.DeleteProcess(ctx, p.ID),
	)
}
