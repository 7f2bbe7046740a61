package storagetest

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/storage"
)

// exampleProcessKey has a value in every field.
func exampleProcessKey(value string) portal.Key {
	return portal.Key{Client: "client", Value: value, Fingerprint: "f", CreatedAt: base, Process: id("p"), Until: after(1)}
}

// processKeyAt is a key that was created so many seconds after base.
func processKeyAt(value string, seconds int) portal.Key {
	k := exampleProcessKey(value)
	k.CreatedAt = after(seconds)
	return k
}

func addProcessKeys(t *testing.T, b Backend, list ...portal.Key) {
	t.Helper()
	for _, k := range list {
		do(t, b, func(ctx context.Context) error { return b.Processes.CreateKey(ctx, k) })
	}
}

// checkProcessKeys fails the test unless keys are stored as they are wanted.
func checkProcessKeys(t *testing.T, b Backend, list ...portal.Key) {
	t.Helper()
	for _, want := range list {
		got, err := b.Processes.Key(t.Context(), want.Client, want.Value)
		checkRead(t, got, err, want)
	}
}

var processKeys = tests{
	"a key is stored with all fields": func(t *testing.T, open func(*testing.T) Backend) {
		b, fresh := open(t), portal.Key{Client: "c", Value: "“漢字”", Fingerprint: "f", CreatedAt: base}
		addProcessKeys(t, b, exampleProcessKey("k"), fresh)
		b = b.Reopen(t)
		checkProcessKeys(t, b, exampleProcessKey("k"), fresh)
	},

	"clients may have equal keys": func(t *testing.T, open func(*testing.T) Backend) {
		b, one, other := open(t), exampleProcessKey("k"), exampleProcessKey("k")
		one.Client, one.Value = "c", "1k"
		other.Client, other.Process = "c1", id("other")
		addProcessKeys(t, b, one, other)
		checkProcessKeys(t, b, one, other)
		do(t, b, func(ctx context.Context) error { return b.Processes.DeleteKey(ctx, one.Client, one.Value) })
		checkProcessKeys(t, b, other)
	},

	"an unknown key is not found": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		addProcessKeys(t, b, exampleProcessKey("k"))
		for _, unknown := range []string{"", "K", "k0", "\x00", "\xff"} {
			for _, k := range []portal.Key{{Client: "client", Value: unknown}, {Client: unknown, Value: "k"}} {
				_, err := b.Processes.Key(t.Context(), k.Client, k.Value)
				checkError(t, err, storage.ErrNotFound)
				doFailing(t, b, storage.ErrNotFound, func(ctx context.Context) error { return b.Processes.UpdateKey(ctx, k) })
				do(t, b, func(ctx context.Context) error { return b.Processes.DeleteKey(ctx, k.Client, k.Value) })
			}
		}
		checkProcessKeys(t, b, exampleProcessKey("k"))
	},

	"a key of a client exists once, and the transaction goes on": func(t *testing.T, open func(*testing.T) Backend) {
		b, again := open(t), exampleProcessKey("k")
		again.Fingerprint = "another"
		addProcessKeys(t, b, exampleProcessKey("k"))
		do(t, b, func(ctx context.Context) error {
			checkError(t, b.Processes.CreateKey(ctx, again), storage.ErrExists)
			return b.Processes.CreateKey(ctx, exampleProcessKey("other"))
		})
		checkProcessKeys(t, b, exampleProcessKey("k"), exampleProcessKey("other"))
	},

	"a key is replaced and deleted": func(t *testing.T, open func(*testing.T) Backend) {
		b, k := open(t), exampleProcessKey("k")
		addProcessKeys(t, b, k, exampleProcessKey("other"))
		k.Fingerprint, k.CreatedAt, k.Process, k.Until = "another", after(9), "", time.Time{}
		do(t, b, func(ctx context.Context) error { return b.Processes.UpdateKey(ctx, k) })
		checkProcessKeys(t, b, k, exampleProcessKey("other"))
		for range 2 {
			do(t, b, func(ctx context.Context) error { return b.Processes.DeleteKey(ctx, k.Client, k.Value) })
			_, err := b.Processes.Key(t.Context(), k.Client, k.Value)
			checkError(t, err, storage.ErrNotFound)
		}
		checkProcessKeys(t, b, exampleProcessKey("other"))
	},

	"one of several concurrent transactions adds a key": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		var added atomic.Int64
		var group errgroup.Group
		for range 8 {
			group.Go(func() error {
				err := b.InTx(t.Context(), func(ctx context.Context) error { return b.Processes.CreateKey(ctx, exampleProcessKey("k")) })
				if errors.Is(err, storage.ErrExists) {
					return nil
				}
				added.Add(1)
				return err
			})
		}
		if err := group.Wait(); err != nil || added.Load() != 1 {
			t.Errorf("%d were added, %v", added.Load(), err)
		}
	},

	"old keys are deleted in batches, the earliest first": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		addProcessKeys(t, b, processKeyAt("third", 3), processKeyAt("first", 1), processKeyAt("second", 2))
		until := func(ctx context.Context, before time.Time, limit int) (int, error) {
			return b.Processes.DeleteKeys(ctx, before.Add(-time.Microsecond), limit)
		}
		checkDeleteBefore(t, b, after(3), until, func() (left []string) {
			for _, value := range []string{"first", "second", "third"} {
				if k, err := b.Processes.Key(t.Context(), "client", value); err == nil {
					left = append(left, k.Value)
				}
			}
			return left
		}, "first", "second", "third")
	},
}
