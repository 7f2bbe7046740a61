package busysignal

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/innsigli/innsigli/storage"
)

// sweepLimit is the largest number of signals that one call of Sweep deletes.
const sweepLimit = 1000

// Store stores signals by ID.
//
// Methods that write join the transaction of their context and return storage.ErrNoTx outside one. A signal
// that a transaction has read is not changed by others until the transaction ends: if two requests take a
// signal at the same time, one of them reads what the other wrote.
type Store interface {
	// Signal returns storage.ErrNotFound if no signal has the ID.
	Signal(ctx context.Context, id string) (Signal, error)
	// AddSignal returns storage.ErrExists if the ID is taken.
	AddSignal(ctx context.Context, s Signal) error
	// UpdateSignal replaces the signal with s.ID; storage.ErrNotFound.
	UpdateSignal(ctx context.Context, s Signal) error
	// DeleteSignal removes the signal with the ID; storage.ErrNotFound.
	DeleteSignal(ctx context.Context, id string) error
	// DeleteUnusedSignals deletes up to limit signals whose UsedAt is lastUse or earlier, and returns how many
	// it deleted.
	DeleteUnusedSignals(ctx context.Context, lastUse time.Time, limit int) (int, error)
}

// Service implements the rules of busy signals on top of a [Store]. Its methods may be called from several
// goroutines.
type Service struct {
	store   Store
	tx      storage.Transactor
	options Options
}

// Options configure a [Service]; the zero value is valid.
type Options struct {
	// Now returns the time; nil is the machine's clock.
	Now storage.Clock
	// CheckAccount returns an error if an account takes no new signals, which Create returns. It is called in the
	// transaction that stores a signal. nil: all accounts take signals.
	CheckAccount func(ctx context.Context, account string) error
}

// New returns a service that keeps its signals in store and writes them in transactions of tx.
func New(store Store, tx storage.Transactor, o Options) *Service {
	return &Service{store: store, tx: tx, options: o}
}

// Create creates a signal of the account and returns its id. Its error wraps that of [Options].CheckAccount.
func (s *Service) Create(ctx context.Context, account string) (string, error) {
	now := s.now(ctx)
	signal := Signal{ID: uuid.NewString(), Account: account, CreatedAt: now, UsedAt: now}
	err := s.tx.InTx(ctx, func(ctx context.Context) error {
		if check := s.options.CheckAccount; check != nil {
			if err := check(ctx, account); err != nil {
				return err
			}
		}
		return s.store.AddSignal(ctx, signal)
	})
	if err != nil {
		return "", fmt.Errorf("busysignal: creating: %w", err)
	}
	return signal.ID, nil
}

// Take takes the account's signal for the request h. A request that holds the signal may take it again.
// Errors: [ErrNotFound], also for a signal of another account, and [*HeldError].
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
		signal, err = signal.take(h, now)
		if err != nil {
			return err
		}
		return s.store.UpdateSignal(ctx, signal)
	})
}

// Release releases the signal if the request holderID took it last. Otherwise it does nothing and returns nil:
// the hold may have expired, and another request may have taken the signal since.
func (s *Service) Release(ctx context.Context, id, holderID string) error {
	return s.tx.InTx(ctx, func(ctx context.Context) error {
		signal, err := s.store.Signal(ctx, id)
		if errors.Is(err, storage.ErrNotFound) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("busysignal: reading %q: %w", id, err)
		}
		if !signal.lastTakenBy(holderID) {
			return nil
		}
		signal.Holder = nil
		return s.store.UpdateSignal(ctx, signal)
	})
}

// Sweep deletes one bounded batch of signals that were not used for a year, and returns how many it deleted; if
// it deleted any, there may be more.
func (s *Service) Sweep(ctx context.Context) (swept int, err error) {
	err = s.tx.InTx(ctx, func(ctx context.Context) error {
		swept, err = s.store.DeleteUnusedSignals(ctx, expiryCutoff(s.now(ctx)), sweepLimit)
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("busysignal: sweeping: %w", err)
	}
	return swept, nil
}

func (s *Service) now(ctx context.Context) time.Time { return s.options.Now.Now(ctx) }
