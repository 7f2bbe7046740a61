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

// memory is the beginning of a backend: transactions and busy signals in a map. The contract allows one
// transaction at a time.
type memory struct {
	mu      sync.Mutex // held by the running transaction
	signals map[string]busysignal.Signal
}

// transaction is the value in the context.
type transaction struct {
	of     *memory
	open   bool
	failed error // of a nested transaction
}

type transactionKey struct{}

// joined returns the running transaction of this backend in the context, or nil.
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
	if b.joined(ctx) == nil { // writing needs one
		return storage.ErrNoTx
	}
	if _, exists := b.signals[s.ID]; exists {
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

// TestMemory runs the suite for the topics of the stores that exist. Each further store adds a topic.
func TestMemory(t *testing.T) {
	storagetest.Run(t, func(t *testing.T) storagetest.Backend {
		m := &memory{signals: map[string]busysignal.Signal{}}
		return storagetest.Backend{Transactor: m, BusySignals: busySignals{m}}
	}, "BusySignals")
}

// TestMemoryTransactions checks what the topics that need all stores check of transactions.
func TestMemoryTransactions(t *testing.T) {
	m := &memory{signals: map[string]busysignal.Signal{}}
	signals, refused := busySignals{m}, errors.New("refused")
	add := func(ctx context.Context) error { return signals.AddSignal(ctx, busysignal.Signal{ID: "s"}) }
	var ended context.Context
	for name, fn := range map[string]func(ctx context.Context) error{
		"an error": func(ctx context.Context) error { return errors.Join(add(ctx), refused) },
		"an error of a nested transaction": func(ctx context.Context) error {
			ended = ctx
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
	for name, ctx := range map[string]context.Context{"no transaction": t.Context(), "an ended transaction": ended} {
		if err := add(ctx); !errors.Is(err, storage.ErrNoTx) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
