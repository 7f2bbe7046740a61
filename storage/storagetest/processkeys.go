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

var processKeys = recordType[portal.Key]{
	examples: []portal.Key{
		exampleProcessKey("k"), {Client: "c", Value: "“漢字”", Fingerprint: "f", CreatedAt: base},
		{Client: "c", Value: "1k", CreatedAt: base}, {Client: "c1", Value: "k", CreatedAt: base}, // which are equal when joined
	},
	changed: func(k portal.Key) portal.Key {
		return portal.Key{Client: k.Client, Value: k.Value, Fingerprint: "another", CreatedAt: after(9)}
	},
	others: func(k portal.Key) []portal.Key {
		all := withOtherIDs("k", func(k *portal.Key, id string) { k.Client = id })(k)
		for _, value := range []string{"", "K", "k0", "\x00", "\xff"} {
			all = append(all, portal.Key{Client: k.Client, Value: value})
		}
		return all
	},
	get: func(ctx context.Context, b Backend, k portal.Key) (portal.Key, error) {
		return b.Processes.Key(ctx, k.Client, k.Value)
	},
	add:    func(ctx context.Context, b Backend, k portal.Key) error { return b.Processes.CreateKey(ctx, k) },
	update: func(ctx context.Context, b Backend, k portal.Key) error { return b.Processes.UpdateKey(ctx, k) },
	remove: func(ctx context.Context, b Backend, k portal.Key) error {
		return b.Processes.DeleteKey(ctx, k.Client, k.Value)
	},
	continues: true,
}.and(tests{
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
})
