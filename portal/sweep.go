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
	// linkBatch is of how many processes a sweep erases links, each in a transaction of its own. It
	// looks behind those that fail, up to mostFailing.
	linkBatch   = 20
	mostFailing = 32 * linkBatch
	// keyBatch is how many idempotency keys a sweep forgets, in one transaction.
	keyBatch = 1000
)

// Sweep erases the tokens of links that have expired unopened, and forgets idempotency keys that mean
// nothing any more: a batch of each, whatever becomes of the other. It says how many processes and keys
// that were; when there were any, there may be more.
func (s *Service) Sweep(ctx context.Context) (int, error) {
	links, linksErr := s.sweepLinks(ctx)
	keys, keysErr := s.sweepKeys(ctx)
	return links + keys, errors.Join(linksErr, keysErr)
}

// sweepLinks takes the processes one by one, so that one which cannot be changed keeps none of the
// others: then it looks at more of them. Its error is that of the first.
func (s *Service) sweepLinks(ctx context.Context) (n int, err error) {
	// A link is good up to and with its last moment.
	until := s.now(ctx).Add(-time.Microsecond)
	failed := make(map[string]bool) // by process
	for limit := linkBatch; ; limit *= 2 {
		list, listErr := s.store.Unopened(ctx, until, limit)
		if listErr != nil {
			return n, fmt.Errorf("portal: looking for expired links: %w", listErr)
		}
		for _, p := range list {
			if failed[p.ID] {
				continue
			}
			switch one := s.eraseLinks(ctx, p.ID); {
			case one == nil:
				n++
			case errors.Is(one, ErrNotFound): // it was deleted meanwhile
			case storage.IsTemporary(one), ctx.Err() != nil:
				return n, one
			default:
				failed[p.ID] = true
				err = cmp.Or(err, one)
			}
		}
		if len(failed) == 0 || len(list) < limit || limit >= mostFailing {
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
