package storagetest

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
)

var concurrency = tests{
	"no change of a record that was read in its transaction is lost": func(t *testing.T, open func(*testing.T) Backend) {
		b, a := open(t), exampleAccount("a")
		a.Quota = 0
		do(t, b, func(ctx context.Context) error { return b.Accounts.AddAccount(ctx, a) })
		const writers, changes = 8, 10
		concurrently(t, writers, func(int) error { return repeat(changes, func() error { return raiseQuota(t.Context(), b, a.ID) }) })
		a.Quota = writers * changes
		got, err := b.Accounts.Account(t.Context(), a.ID)
		checkRead(t, got, err, a)
	},

	"one of several updates of one revision of a request succeeds": func(t *testing.T, open func(*testing.T) Backend) {
		b, r := open(t), exampleRequest("r")
		addRequests(t, b, r)
		const writers, rounds = 8, 10
		for range rounds {
			r.Revision++
			made := make(chan string, writers)
			var group errgroup.Group
			for i := range writers {
				change := r
				change.Code = fmt.Sprint(i)
				group.Go(func() error {
					err := b.InTx(t.Context(), func(ctx context.Context) error { return b.Requests.UpdateRequest(ctx, change) })
					if err == nil {
						made <- change.Code
						return nil
					}
					checkError(t, err, signing.ErrConflict)
					return nil
				})
			}
			group.Wait()
			if len(made) != 1 {
				t.Fatalf("%d changes were made", len(made))
			}
			r.Code = <-made
			got, err := b.Requests.Request(t.Context(), r.ID)
			checkRead(t, got, err, r)
		}
	},

	"one of several revisions with the same base is appended": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		ref := create(t, b, nil)
		const writers, rounds = 8, 10
		for round := range rounds {
			added := make(chan int, writers)
			var group errgroup.Group
			for range writers {
				group.Go(func() error {
					err := b.InTx(t.Context(), func(ctx context.Context) error {
						return b.Documents.Append(ctx, ref.ID, storage.Revision{Base: int64(round), Bytes: []byte("x")})
					})
					if err == nil {
						added <- round
						return nil
					}
					checkError(t, err, storage.ErrMoved)
					return nil
				})
			}
			group.Wait()
			if len(added) != 1 {
				t.Fatalf("%d revisions were added", len(added))
			}
		}
		checkDocument(t, b, ref.ID, bytes.Repeat([]byte("x"), rounds))
	},

	"documents are created, read and deleted concurrently": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		concurrently(t, 8, func(i int) error {
			return repeat(3, func() error { return createReadDelete(t.Context(), b, content(uint64(i), 1<<20+i)) })
		})
		checkNothingToSweep(t, b)
	},

	"a document is read while it grows": func(t *testing.T, open func(*testing.T) Backend) {
		b, p := open(t), content(1, 200_000)
		const base, step = 50_000, 5_000
		ref := create(t, b, p[:base])
		var group errgroup.Group
		group.Go(func() error {
			for at := base; at < len(p); at += step {
				err := b.InTx(t.Context(), func(ctx context.Context) error {
					return b.Documents.Append(ctx, ref.ID, storage.Revision{Base: int64(at), Bytes: p[at : at+step]})
				})
				if err != nil {
					return err
				}
			}
			return nil
		})
		for range 4 {
			group.Go(func() error { return repeat(30, func() error { return checkPrefix(t.Context(), b, ref.ID, p) }) })
		}
		if err := group.Wait(); err != nil {
			t.Fatal(err)
		}
		checkDocument(t, b, ref.ID, p)
	},

	"a blob is read by several goroutines": func(t *testing.T, open func(*testing.T) Backend) {
		b, p := open(t), content(1, 1<<20)
		blob := openBlob(t, b, create(t, b, p).ID)
		concurrently(t, 8, func(int) error { return checkContent(blob, p) })
	},
}

func repeat(times int, fn func() error) error {
	for range times {
		if err := fn(); err != nil {
			return err
		}
	}
	return nil
}

func raiseQuota(ctx context.Context, b Backend, id string) error {
	return b.InTx(ctx, func(ctx context.Context) error {
		a, err := b.Accounts.Account(ctx, id)
		if err != nil {
			return err
		}
		a.Quota++
		return b.Accounts.UpdateAccount(ctx, a)
	})
}
