package portal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/innsigli/innsigli/internal/failpoint"
	"github.com/innsigli/innsigli/portal/process"
	"github.com/innsigli/innsigli/storage"
)

// deleteTries bounds how often a deletion finds that somebody else has begun to sign meanwhile.
const deleteTries = 10

// Delete removes a process with its document, links and unsent mail, for good (spec 4.4). A
// signature that is under way ends, and nothing of it remains. What happened before is still told, and
// costs what it costs. [ErrNotFound].
func (s *Service) Delete(ctx context.Context, account, id string) error {
	return s.deleteRead(ctx, func() (Process, error) { return s.ofAccount(ctx, account, id) })
}

// Remove is [Service.Delete] for a process of any account and origin, on behalf of the operator.
func (s *Service) Remove(ctx context.Context, id string) error {
	return s.deleteRead(ctx, func() (Process, error) { return s.process(ctx, id) })
}

// deleteRead deletes the process that a function reads.
func (s *Service) deleteRead(ctx context.Context, read func() (Process, error)) error {
	for range deleteTries {
		p, err := read()
		if err != nil {
			return err
		}
		err = storage.InTx(ctx, s.tx, func(ctx context.Context) error { return s.delete(ctx, &p) })
		if err == nil {
			failpoint.Here("portal/deleted")
		}
		if !errors.Is(err, errOvertaken) {
			return err
		}
	}
	return ErrTurn
}

// delete deletes a process that was read before. It cancels the signing request first, because the end
// of a request locks the request before the process. [errOvertaken] if another turn has begun since.
func (s *Service) delete(ctx context.Context, was *Process) error {
	e := process.Delete{}
	effects, err := was.apply(e, s.now(ctx))
	if err != nil {
		return err
	}
	if len(effects) > 0 && effects[0].Kind == process.CancelRequest {
		if err := s.signing.Cancel(ctx, effects[0].Request); err != nil {
			return fmt.Errorf("portal: ending the signature under way: %w", err)
		}
		effects = effects[1:]
	}
	p, err := s.process(ctx, was.ID)
	if err != nil {
		return err
	}
	if p.Turns != was.Turns {
		return errOvertaken
	}
	return s.carryOut(ctx, &p, e, effects)
}

// DeleteEnded deletes processes that ended before the time given, as [Service.Delete] does, and those of all origins. It
// deletes a batch of them and returns how many it was done with; if there were any, there may be more. A process in
// which a signature is under way stays until that has ended.
func (s *Service) DeleteEnded(ctx context.Context, before time.Time) (int, error) {
	return s.sweepEach(ctx, func(limit int) ([]Process, error) { return s.store.Ended(ctx, before, limit) },
		func(id string) (bool, error) { return s.deleteEnded(ctx, id, before) })
}

// deleteEnded deletes a process that ended before a time. If the process did not, it notes when it ended. done reports
// whether it did either.
func (s *Service) deleteEnded(ctx context.Context, id string, before time.Time) (done bool, err error) {
	err = storage.InTx(ctx, s.tx, func(ctx context.Context) error {
		done = false
		p, err := s.process(ctx, id)
		if err != nil || p.Turn != nil {
			return err
		}
		done = true
		if p.noteEnd(s.now(ctx)); p.EndedAt.IsZero() || !p.EndedAt.Before(before) {
			return s.save(ctx, p)
		}
		effects, err := p.apply(process.Delete{}, s.now(ctx))
		if err != nil {
			return err
		}
		return s.carryOut(ctx, &p, process.Delete{}, effects)
	})
	return done && err == nil, err
}

// remove removes a process with its document from the store.
func (s records) remove(ctx context.Context, p *Process) error {
	size, err := s.size(ctx, p.Document)
	if err != nil {
		return err
	}
	return errors.Join(
		s.record(ctx, p, deletedEntry, struct{}{}),
		s.stored(ctx, p.Account, -size),
		s.documents.Delete(ctx, p.Document),
		s.store.DeleteProcess(ctx, p.ID),
	)
}
