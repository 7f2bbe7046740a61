package storagetest

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"github.com/innsigli/innsigli/storage"
)

// Transactions that run at the same time: a backend with one writer has the second wait
// for the first, others lock what was read. Both are right, so that these tests look at
// what comes of it.
var overlapping = tests{
	"what was read by its key stays as it was": func(t *testing.T, open func(*testing.T) Backend) {
		for name, r := range records(t, open) {
			t.Run(name, func(t *testing.T) {
				var was any
				o := &overlap{b: r.b, fn: r.change}
				do(t, r.b, func(ctx context.Context) (err error) {
					if was, err = r.read(ctx); err != nil {
						return err
					}
					o.meanwhile(t)
					got, err := r.read(ctx)
					found(t, got, err, was)
					return err
				})
				o.wait(t)
				if now, err := r.read(t.Context()); err != nil || cmp.Equal(was, now) {
					t.Errorf("the change meanwhile is lost, error %v", err)
				}
			})
		}
	},

	"what was not there may be added by another, and the transaction goes on": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		// add adds the account that both want and one of its own, and says whether the first
		// was there already.
		add := func(ctx context.Context, own string, then func()) (there bool, err error) {
			_, err = b.Accounts.Account(ctx, id("wanted"))
			then()
			if errors.Is(err, storage.ErrNotFound) {
				err = b.Accounts.AddAccount(ctx, exampleAccount("wanted"))
				there = errors.Is(err, storage.ErrExists)
			}
			if err != nil && !there {
				return there, err
			}
			return there, b.Accounts.AddAccount(ctx, exampleAccount(own))
		}
		var there bool
		o := &overlap{b: b, fn: func(ctx context.Context) error {
			_, err := add(ctx, "second", func() {})
			return err
		}}
		do(t, b, func(ctx context.Context) (err error) {
			there, err = add(ctx, "first", func() { o.meanwhile(t) })
			return err
		})
		o.wait(t)
		t.Logf("the other came first: %v", there)
		for _, name := range []string{"wanted", "first", "second"} {
			_, err := b.Accounts.Account(t.Context(), id(name))
			failed(t, err, nil)
		}
	},

	"what another adds and undoes was never there": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		add := func(ctx context.Context) error { return b.Accounts.AddAccount(ctx, exampleAccount("a")) }
		o := &overlap{b: b, fn: add}
		refused(t, b, errRefused, func(ctx context.Context) error {
			if err := add(ctx); err != nil {
				return err
			}
			o.meanwhile(t)
			return errRefused
		})
		o.wait(t)
		_, err := b.Accounts.Account(t.Context(), id("a"))
		failed(t, err, nil)
	},

	"two that want what the other has both end well": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		addAccounts(t, b, "a", "b")
		both := sync.WaitGroup{} // have read their first, or given up waiting for that
		both.Add(2)
		raise := func(first, second string) error {
			var met sync.Once
			return b.InTx(t.Context(), func(ctx context.Context) error {
				one, err := b.Accounts.Account(ctx, id(first))
				if err != nil {
					return err
				}
				met.Do(func() { both.Done(); briefly(both.Wait) })
				other, err := b.Accounts.Account(ctx, id(second))
				if err != nil {
					return err
				}
				one.Quota++
				other.Quota++
				return errors.Join(b.Accounts.UpdateAccount(ctx, one), b.Accounts.UpdateAccount(ctx, other))
			})
		}
		var group errgroup.Group
		group.Go(func() error { return raise("a", "b") })
		group.Go(func() error { return raise("b", "a") })
		if err := group.Wait(); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"a", "b"} {
			want := exampleAccount(name)
			want.Quota += 2
			got, err := b.Accounts.Account(t.Context(), want.ID)
			found(t, got, err, want)
		}
	},
}

// overlap is a transaction that begins while another runs.
type overlap struct {
	b    Backend
	fn   func(ctx context.Context) error
	once sync.Once
	done chan error
}

// meanwhile begins the transaction and gives it a moment to go as far as it can. When the
// function around it is run again, it has had its moment.
func (o *overlap) meanwhile(t *testing.T) {
	o.once.Do(func() {
		o.done = make(chan error, 1)
		briefly(func() { o.done <- o.b.InTx(t.Context(), o.fn) })
	})
}

// wait fails the test unless the transaction ends well.
func (o *overlap) wait(t *testing.T) {
	t.Helper()
	if err := <-o.done; err != nil {
		t.Errorf("the transaction meanwhile: %v", err)
	}
}

// briefly waits for fn, and lets it go on alone when that takes long.
func briefly(fn func()) {
	done := make(chan bool)
	go func() { defer close(done); fn() }()
	select {
	case <-done:
	case <-time.After(100 * time.Millisecond):
	}
}
