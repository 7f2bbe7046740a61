package storagetest_test

import (
	"context"
	"errors"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/storagetest"
)

// memory is the beginning of a backend: transactions, and busy signals, in a map. One transaction at
// a time is all that the contract asks for.
type memory struct {
	mu      sync.Mutex // of the transaction that runs
	signals map[string]busysignal.Signal
}

// transaction travels in the context.
type transaction struct {
	of     *memory
	open   bool
	failed error // of a transaction within
}

type transactionKey struct{}

// joined is the transaction of this backend that the context carries, while it runs.
func (m *memory) joined(ctx context.Context) *transaction {
	if tx, ok := ctx.Value(transactionKey{}).(*transaction); ok && tx.of == m && tx.open {
		return tx
	}
	return nil
}

func (m *memory) InTx(ctx context.Context, fn func(ctx context.Context) error) error {
	if tx := m.joined(ctx); tx != nil {
		err := fn(ctx)
		tx.failed = errors.Join(tx.failed, err)
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	tx, before, done := &transaction{of: m, open: true}, maps.Clone(m.signals), false
	defer func() {
		tx.open = false
		if !done { // fn failed, or panicked
			m.signals = before
		}
	}()
	if err := fn(context.WithValue(ctx, transactionKey{}, tx)); err != nil {
		return err
	}
	done = tx.failed == nil
	return tx.failed
}

// busySignals implements busysignal.Store.
type busySignals struct{ *memory }

var _ busysignal.Store = busySignals{}

func (b busySignals) Signal(ctx context.Context, id string) (busysignal.Signal, error) {
	if b.joined(ctx) == nil { // reading needs no transaction
		b.mu.Lock()
		defer b.mu.Unlock()
	}
	s, ok := b.signals[id]
	if !ok {
		return busysignal.Signal{}, storage.ErrNotFound
	}
	return s, nil
}

func (b busySignals) AddSignal(ctx context.Context, s busysignal.Signal) error {
	if b.joined(ctx) == nil { // writing does
		return storage.ErrNoTx
	}
	if _, taken := b.signals[s.ID]; taken {
		return storage.ErrExists
	}
	b.signals[s.ID] = s
	return nil
}

func (b busySignals) UpdateSignal(ctx context.Context, s busysignal.Signal) error {
	if b.joined(ctx) == nil {
		return storage.ErrNoTx
	}
	if _, ok := b.signals[s.ID]; !ok {
		return storage.ErrNotFound
	}
	b.signals[s.ID] = s
	return nil
}

func (b busySignals) DeleteSignal(ctx context.Context, id string) error {
	if b.joined(ctx) == nil {
		return storage.ErrNoTx
	}
	if _, ok := b.signals[id]; !ok {
		return storage.ErrNotFound
	}
	delete(b.signals, id)
	return nil
}

func (b busySignals) DeleteUnusedSignals(ctx context.Context, lastUse time.Time, limit int) (deleted int, err error) {
	if b.joined(ctx) == nil {
		return 0, storage.ErrNoTx
	}
	for id, s := range b.signals {
		if deleted < limit && !s.UsedAt.After(lastUse) {
			delete(b.signals, id)
			deleted++
		}
	}
	return deleted, nil
}

// TestMemory runs the suite for the topics that are there, to be one more with each store.
func TestMemory(t *testing.T) {
	storagetest.Run(t, func(t *testing.T) storagetest.Backend {
		m := &memory{signals: map[string]busysignal.Signal{}}
		return storagetest.Backend{Transactor: m, BusySignals: busySignals{m}}
	}, "BusySignals")
}

// What the topics about all stores at once ask of transactions, for the one that is there.
func TestMemoryTransactions(t *testing.T) {
	m := &memory{signals: map[string]busysignal.Signal{}}
	signals, refused := busySignals{m}, errors.New("refused")
	add := func(ctx context.Context) error { return signals.AddSignal(ctx, busysignal.Signal{ID: "s"}) }
	var kept context.Context
	for name, fn := range map[string]func(ctx context.Context) error{
		"an error": func(ctx context.Context) error { return errors.Join(add(ctx), refused) },
		"an error within": func(ctx context.Context) error {
			kept = ctx
			_ = m.InTx(ctx, func(ctx context.Context) error { return errors.Join(add(ctx), refused) })
			return nil
		},
	} {
		if err := m.InTx(t.Context(), fn); !errors.Is(err, refused) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := signals.Signal(t.Context(), "s"); !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("after %s: %v", name, err)
		}
	}
	for name, ctx := range map[string]context.Context{"no transaction": t.Context(), "one that is over": kept} {
		if err := add(ctx); !errors.Is(err, storage.ErrNoTx) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
