package portal

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/innsigli/innsigli/portal/process"
	"github.com/innsigli/innsigli/storage"
)

const (
	// sweepBatch is how many processes a sweep changes, each in a transaction of its own. It looks
	// behind those that fail, up to mostFailing.
	sweepBatch  = 20
	mostFailing = 32 * sweepBatch
	// keyBatch is how many idempotency keys a sweep forgets, in one transaction.
	keyBatch = 1000
)

// Sweep erases the tokens of links that have expired unopened, notes which processes have expired, and forgets
// idempotency keys that mean nothing any more: a batch of each, whatever becomes of the others. It returns how many
// processes and keys that were; when there were any, there may be more.
func (s *Service) Sweep(ctx context.Context) (int, error) {
	links, linksErr := s.sweepLinks(ctx)
	expired, expiredErr := s.sweepExpired(ctx)
	keys, keysErr := s.sweepKeys(ctx)
	return links + expired + keys, errors.Join(linksErr, expiredErr, keysErr)
}

func (s *Service) sweepLinks(ctx context.Context) (int, error) {
	// A link is good up to and with its last moment.
	until := s.now(ctx).Add(-time.Microsecond)
	return s.sweepEach(ctx, func(limit int) ([]Process, error) { return s.store.Unopened(ctx, until, limit) },
		func(id string) (bool, error) { err := s.eraseLinks(ctx, id); return err == nil, err })
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
	return s.sweepEach(ctx, overdue, func(id string) (bool, error) { return s.noteExpired(ctx, id) })
}

// noteExpired notes that a process has expired, and reports whether it has.
func (s *Service) noteExpired(ctx context.Context, id string) (expired bool, err error) {
	err = storage.InTx(ctx, s.tx, func(ctx context.Context) error {
		p, err := s.process(ctx, id)
		if err != nil {
			return err
		}
		p.noteEnd(s.now(ctx))
		expired = p.NotedStatus() != Waiting
		return s.save(ctx, p)
	})
	return expired && err == nil, err
}

// sweepEach calls do with the processes of a list one by one, so that one which cannot be changed keeps none of the
// others: then it looks at more of them. do reports whether the process is in the list no more. sweepEach returns how many
// were done, and the first error.
func (s *Service) sweepEach(ctx context.Context, list func(limit int) ([]Process, error), do func(id string) (done bool, err error)) (n int, err error) {
	stay := make(map[string]bool) // by process
	for limit := sweepBatch; ; limit *= 2 {
		some, listErr := list(limit)
		if listErr != nil {
			return n, fmt.Errorf("portal: looking for processes: %w", listErr)
		}
		for _, p := range some {
			if stay[p.ID] {
				continue
			}
			switch done, one := do(p.ID); {
			case done:
				n++
			case errors.Is(one, ErrNotFound): // it was deleted meanwhile
			case one != nil && (storage.IsTemporary(one) || ctx.Err() != nil):
				return n, one
			default:
				stay[p.ID] = true
				err = cmp.Or(err, one)
			}
		}
		if len(stay) == 0 || len(some) < limit || limit >= mostFailing {
			return n, err
		}
	}
}

func (s *Service) eraseLinks(ctx context.Context, id string) error {
	return s.change(ctx, id, process.ExpireLinks{})
}

func (s *Service) sweepKeys(ctx context.Context) (n int, err error) {
	err = storage.InTx(ctx, s.tx, func(ctx context.Context) error {
		n, err = s.store.DeleteKeys(ctx, s.now(ctx).Add(-s.options.KeepKeys), keyBatch)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("portal: sweeping idempotency keys: %w", err)
	}
	return n, nil
}
