package busysignal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/innsigli/innsigli/storage"
)

// sweepLimit bounds the work of one Sweep.
const sweepLimit = 1000

// Store keeps signals by ID.
//
// Methods that write join the transaction of their context and answer
// storage.ErrNoTx outside one. A signal read in a transaction stays as it was
// read until that transaction ends, but for what the transaction itself writes:
// of two requests that take a signal at once, one reads what the other wrote.
type Store interface {
	// Signal answers storage.ErrNotFound when there is none.
	Signal(ctx context.Context, id string) (Signal, error)
	// AddSignal answers storage.ErrExists when the ID is taken.
	AddSignal(ctx context.Context, s Signal) error
	// UpdateSignal replaces the signal of that ID; storage.ErrNotFound when there
	// is none.
	UpdateSignal(ctx context.Context, s Signal) error
	// DeleteSignal removes the signal of that ID; storage.ErrNotFound when there is none.
	DeleteSignal(ctx context.Context, id string) error
	// DeleteUnusedSignals deletes signals whose UsedAt is the time given or
	// before, at most limit of them, and says how many.
	DeleteUnusedSignals(ctx context.Context, lastUse time.Time, limit int) (int, error)
}

// Service is the rules of busy signals over a [Store]. Its methods may be called
// from several goroutines.
type Service struct {
	store Store
	tx    storage.Transactor
	clock storage.Clock
}

// Options of a [Service]; the zero value is right for most.
type Options struct {
	// Now tells the time; nil is the machine's clock.
	Now storage.Clock
}

// New returns a service over a store and the transactions that it takes part in.
func New(store Store, tx storage.Transactor, o Options) *Service {
	return &Service{store: store, tx: tx, clock: o.Now}
}

// Create makes a free signal of the account and returns its id.
func (s *Service) Create(ctx context.Context, account string) (string, error) {
	now := s.now(ctx)
	signal := Signal{ID: uuid.NewString(), Account: account, CreatedAt: now, UsedAt: now}
	err := s.tx.InTx(ctx, func(ctx context.Context) error {
		return s.store.AddSignal(ctx, signal)
	})
	if err != nil {
		return "", fmt.Errorf("busysignal: creating: %w", err)
	}
	return signal.ID, nil
}

// Take lets the request h hold the account's signal from now on. A request that
// holds it already may take it again. Errors: [ErrNotFound], also for another
// account's signal, and [HeldError].
func (s *Service) Take(ctx context.Context, account, id string, h Holder) error {
	return s.tx.InTx(ctx, func(ctx context.Context) error {
		now := s.now(ctx)
		signal, err := s.store.Signal(ctx, id)
		if errors.Is(err, storage.ErrNotFound) {
			return ErrNotFound
		}
		if err != nil {
			return fmt.Errorf("busysignal: reading %q: %w", id, err)
		}
		if signal.Account != account || signal.expired(now) {
			return ErrNotFound
		}
		signal, err = signal.taken(h, now)
		if err != nil {
			return err
		}
		return s.store.UpdateSignal(ctx, signal)
	})
}

// Release frees the signal if the request holderID still holds it. Otherwise it
// does nothing, and that is no error: holds end by themselves, and another
// request may have taken the signal since.
func (s *Service) Release(ctx context.Context, id, holderID string) error {
	return s.tx.InTx(ctx, func(ctx context.Context) error {
		signal, err := s.store.Signal(ctx, id)
		if errors.Is(err, storage.ErrNotFound) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("busysignal: reading %q: %w", id, err)
		}
		if !signal.heldBy(holderID) {
			return nil
		}
		signal.Holder = nil
		return s.store.UpdateSignal(ctx, signal)
	})
}

// Sweep deletes signals that nobody has used for a year, a bounded number at a
// time, and says how many; when there were any, there may be more.
func (s *Service) Sweep(ctx context.Context) (swept int, err error) {
	err = s.tx.InTx(ctx, func(ctx context.Context) error {
		swept, err = s.store.DeleteUnusedSignals(ctx, lastUse(s.now(ctx)), sweepLimit)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("busysignal: sweeping: %w", err)
	}
	return swept, nil
}

func (s *Service) now(ctx context.Context) time.Time { return s.clock.Now(ctx) }
