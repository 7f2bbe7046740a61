package storagetest

import (
	"context"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// exampleKey has something in every field.
func exampleKey(number int) delivery.SigningKey {
	return delivery.SigningKey{Number: number, Public: []byte{0, byte(number)}, Private: []byte{255, 0, byte(number)}, CreatedAt: after(number), EndsAt: after(number + 1)}
}

// signedWith fails the test unless the keys are those wanted.
func signedWith(t *testing.T, b Backend, want ...delivery.SigningKey) {
	t.Helper()
	got, err := b.Webhooks.Keys(t.Context())
	found(t, got, err, want)
}

var signingKeys = tests{
	"keys are kept whole, and listed by their numbers": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		signedWith(t, b)
		latest := exampleKey(300)
		latest.EndsAt = time.Time{}
		want := []delivery.SigningKey{exampleKey(1), exampleKey(2), exampleKey(10), latest}
		for _, i := range []int{2, 0, 3, 1} {
			do(t, b, func(ctx context.Context) error { return b.Webhooks.CreateKey(ctx, want[i]) })
		}
		b = b.Reopen(t)
		signedWith(t, b, want...)
	},

	"a number is taken once, and the transaction goes on": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		another := exampleKey(1)
		another.Public = []byte("another")
		do(t, b, func(ctx context.Context) error {
			failed(t, b.Webhooks.CreateKey(ctx, exampleKey(1)), nil)
			failed(t, b.Webhooks.CreateKey(ctx, another), storage.ErrExists)
			return b.Webhooks.CreateKey(ctx, exampleKey(2))
		})
		signedWith(t, b, exampleKey(1), exampleKey(2))
	},

	"a key is replaced and deleted by its number": func(t *testing.T, open func(*testing.T) Backend) {
		b, k := open(t), exampleKey(1)
		update := func(ctx context.Context) error { return b.Webhooks.UpdateKey(ctx, k) }
		remove := func(ctx context.Context) error { return b.Webhooks.DeleteKey(ctx, k.Number) }
		for _, fn := range []func(context.Context) error{update, remove} {
			refused(t, b, storage.ErrNotFound, fn)
		}
		for _, number := range []int{1, 2} {
			do(t, b, func(ctx context.Context) error { return b.Webhooks.CreateKey(ctx, exampleKey(number)) })
		}
		k.Public, k.Private, k.CreatedAt, k.EndsAt = []byte{1}, []byte{2}, after(5), time.Time{}
		do(t, b, update)
		signedWith(t, b, k, exampleKey(2))
		do(t, b, remove)
		signedWith(t, b, exampleKey(2))
	},

	"of several that add the first one does": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		const writers = 8
		added := make(chan delivery.SigningKey, writers)
		var group errgroup.Group
		for i := range writers {
			k := exampleKey(1)
			k.Public = []byte{byte(i)}
			group.Go(func() error {
				err := b.InTx(t.Context(), func(ctx context.Context) error { return b.Webhooks.CreateKey(ctx, k) })
				if err == nil {
					added <- k
					return nil
				}
				failed(t, err, storage.ErrExists)
				return nil
			})
		}
		group.Wait()
		if len(added) != 1 {
			t.Fatalf("%d keys were added", len(added))
		}
		signedWith(t, b, <-added)
	},
}
