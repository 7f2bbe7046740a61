package portal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/innsigli/innsigli/internal/failpoint"
	"github.com/innsigli/innsigli/portal/process"
	"github.com/innsigli/innsigli/storage"
)

// deleteAttempts is how often a deletion reads the process and cancels its request, if other turns begin in between.
const deleteAttempts = 10

// Delete deletes a process with its document, links and unsent mail (spec 4.4). A signature that is being made is
// cancelled. Events that were sent before are still delivered, and signatures that were made are still charged.
// [ErrNotFound] if there is no such process.
func (s *Service) Delete(ctx context.Context, account, id string) error {
	return s.deleteRead(ctx, func() (Process, error) { return s.ofAccount(ctx, account, id) })
}

// Remove is [Service.Delete] for a process of any account and origin. Operators call it.
func (s *Service) Remove(ctx context.Context, id string) error {
	return s.deleteRead(ctx, func() (Process, error) { return s.process(ctx, id) })
}

// deleteRead deletes the process that read returns.
func (s *Service) deleteRead(ctx context.Context, read func() (Process, error)) error {
	for range deleteAttempts {
		p, err := read()
		if err != nil {
			return err
		}
		err = storage.InTx(ctx, s.tx, func(ctx context.Context) error { return s.delete(ctx, &p) })
		if err == nil {
			failpoint.Here("portal/deleted")
		}
		if !errors.Is(err, errTurnBegan) {
			return err
		}
	}
	return ErrTurn
}

// delete deletes a process that was read before the transaction. It cancels the signing request before it reads the
// process again, because the end of a request locks the request before the process. It returns errTurnBegan if
// another turn has begun since.
func (s *Service) delete(ctx context.Context, before *Process) error {
	e := process.Delete{}
	effects, err := before.apply(e, s.now(ctx))
	if err != nil {
		return err
	}
	if len(effects) > 0 && effects[0].Kind == process.CancelRequest {
		if err := s.signing.Cancel(ctx, effects[0].Request); err != nil {
			return fmt.Errorf("portal: ending the signature under way: %w", err)
		}
		effects = effects[1:]
	}
	p, err := s.process(ctx, before.ID)
	if err != nil {
		return err
	}
	if p.Turns != before.Turns {
		return errTurnBegan
	}
	return s.carryOut(ctx, &p, e, effects)
}

// deleteStored deletes a process with its document from the store.
func (s core) deleteStored(ctx context.Context, p *Process) error {
	size, err := s.documentSize(ctx, p.Document)
	if err != nil {
		return err
	}
	return errors.Join(
		s.record(ctx, p, deletedEntry, struct{}{}),
		s.addStored(ctx, p.Account, -size),
		s.documents.Delete(ctx, p.Document),
		s.store.DeleteProcess(ctx, p.ID),
	)
}

// DeleteEnded deletes processes of all accounts and origins that ended before the time given, as [Service.Delete] does,
// except those in which a signature is being made. It processes one batch and returns how many processes it has
// deleted or stored the end of. If that is not zero, there may be more.
func (s *Service) DeleteEnded(ctx context.Context, before time.Time) (int, error) {
	return s.sweepEach(ctx, func(limit int) ([]Process, error) { return s.store.Ended(ctx, before, limit) },
		func(id string) (bool, error) { return s.deleteEnded(ctx, id, before) })
}

// deleteEnded deletes a process that ended before a time. If it has ended later, or is waiting, it stores the process
// with its EndedAt. done reports whether it did either.
func (s *Service) deleteEnded(ctx context.Context, id string, before time.Time) (done bool, err error) {
	err = storage.InTx(ctx, s.tx, func(ctx context.Context) error {
		done = false
		p, err := s.process(ctx, id)
		if err != nil || p.Turn != nil {
			return err
		}
		done = true
		if p.setEndedAt(s.now(ctx)); p.EndedAt.IsZero() || !p.EndedAt.Before(before) {
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

const (
	// sweepBatch is how many processes a sweep changes, each in a transaction of its own. If some cannot be changed, it
	// reads more, up to maxSweepBatch.
	sweepBatch    = 20
	maxSweepBatch = 32 * sweepBatch
	// keyBatch is how many idempotency keys a sweep deletes, in one transaction.
	keyBatch = 1000
)

// Sweep removes the tokens of links that have expired unopened, stores the end of processes that have expired, and
// deletes idempotency keys after their retention. It processes one batch of each, also if another batch fails. It
// returns how many processes it has changed and keys it has deleted. If that is not zero, there may be more.
func (s *Service) Sweep(ctx context.Context) (int, error) {
	links, linksErr := s.sweepLinks(ctx)
	expired, expiredErr := s.sweepExpired(ctx)
	keys, keysErr := s.sweepKeys(ctx)
	return links + expired + keys, errors.Join(linksErr, expiredErr, keysErr)
}

func (s *Service) sweepLinks(ctx context.Context) (int, error) {
	// A link is still valid at its last moment.
	until := s.now(ctx).Add(-time.Microsecond)
	return s.sweepEach(ctx, func(limit int) ([]Process, error) { return s.store.Unopened(ctx, until, limit) },
		func(id string) (bool, error) { err := s.change(ctx, id, process.ExpireLinks{}); return err == nil, err })
}

func (s *Service) sweepExpired(ctx context.Context) (int, error) {
	before := s.now(ctx)
	overdue := func(limit int) (list []Process, err error) {
		for p, err := range s.store.Overdue(ctx, "", before) {
			if err != nil {
				return nil, err
			}
			if list = append(list, p); len(list) == limit {
				break
			}
		}
		return list, nil
	}
	return s.sweepEach(ctx, overdue, func(id string) (bool, error) { return s.storeEnd(ctx, id) })
}

// storeEnd stores a process with its EndedAt, and reports whether the process has ended.
func (s *Service) storeEnd(ctx context.Context, id string) (ended bool, err error) {
	err = storage.InTx(ctx, s.tx, func(ctx context.Context) error {
		p, err := s.process(ctx, id)
		if err != nil {
			return err
		}
		p.setEndedAt(s.now(ctx))
		ended = p.NotedStatus() != Waiting
		return s.save(ctx, p)
	})
	return ended && err == nil, err
}

// sweepEach calls do with the ID of each process of a list. do reports whether the process is no longer in the list. A
// process that stays in the list, for example because it cannot be changed, does not keep sweepEach from the others:
// it then reads more processes. It returns how many were done, and the first error of do.
func (s *Service) sweepEach(ctx context.Context, list func(limit int) ([]Process, error), do func(id string) (done bool, err error)) (n int, err error) {
	stays := make(map[string]bool) // by process
	for limit := sweepBatch; ; limit *= 2 {
		batch, listErr := list(limit)
		if listErr != nil {
			return n, fmt.Errorf("portal: looking for processes: %w", listErr)
		}
		for _, p := range batch {
			if stays[p.ID] {
				continue
			}
			switch done, doErr := do(p.ID); {
			case done:
				n++
			case errors.Is(doErr, ErrNotFound): // the process was deleted meanwhile
			case doErr != nil && (storage.IsTemporary(doErr) || ctx.Err() != nil):
				return n, doErr
			default:
				stays[p.ID] = true
				err = cmp.Or(err, doErr)
			}
		}
		if len(stays) == 0 || len(batch) < limit || limit >= maxSweepBatch {
			return n, err
		}
	}
}

func (s *Service) sweepKeys(ctx context.Context) (n int, err error) {
	err = storage.InTx(ctx, s.tx, func(ctx context.Context) error {
		n, err = s.store.DeleteKeys(ctx, s.now(ctx).Add(-s.options.KeyRetention), keyBatch)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("portal: sweeping idempotency keys: %w", err)
	}
	return n, nil
}
