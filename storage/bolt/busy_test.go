package bolt_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/innsigli/innsigli/account"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/bolt"
)

// busy is a store that four write to: each has a document of its own that he adds his
// number to in the transaction that sets his account's quota to the document's length.
// All records and documents of a moment agree with each other, and with no other moment's.
type busy struct {
	db        *bolt.DB
	documents []storage.Ref
	rounds    [writers]atomic.Int64
}

const writers = 4

func newBusy(t *testing.T, db *bolt.DB) *busy {
	b := &busy{db: db}
	for i := range writers {
		ref := stored(t, db, "")
		b.documents = append(b.documents, ref)
		err := db.InTx(t.Context(), func(ctx context.Context) error {
			return db.Accounts().AddAccount(ctx, account.Account{ID: fmt.Sprint(i), Name: ref.ID})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// write is one writer's work until the context ends. It creates and deletes a document in
// each round too.
func (b *busy) write(ctx context.Context, i int) error {
	for ctx.Err() == nil {
		passing, err := b.db.Documents().Create(ctx, &pattern{size: 100_000}, 1<<20)
		if err == nil {
			err = b.db.InTx(ctx, func(ctx context.Context) error { return b.round(ctx, i, passing.ID) })
		}
		if err != nil && ctx.Err() == nil {
			return err
		}
		b.rounds[i].Add(1)
	}
	return nil
}

func (b *busy) round(ctx context.Context, i int, passing string) error {
	a, err := b.db.Accounts().Account(ctx, fmt.Sprint(i))
	if err != nil {
		return err
	}
	more := bytes.Repeat([]byte{byte(i)}, 5000)
	err = b.db.Documents().Append(ctx, b.documents[i].ID, storage.Revision{Base: a.Quota, Bytes: more})
	a.Quota += int64(len(more))
	return errors.Join(err, b.db.Accounts().UpdateAccount(ctx, a), b.db.Documents().Delete(ctx, passing))
}

// until waits until the writers have done so many rounds more, and each of them one.
func (b *busy) until(t *testing.T, more int64) {
	t.Helper()
	var before [writers]int64
	for i := range before {
		before[i] = b.rounds[i].Load()
	}
	testenv.Wait(t, "the writers", func() bool {
		all, idle := int64(0), false
		for i, began := range before {
			done := b.rounds[i].Load() - began
			all, idle = all+done, idle || done == 0
		}
		return all >= more && !idle
	})
}

// agrees fails the test unless accounts and documents are of one moment, and whole.
func agrees(t *testing.T, db *bolt.DB, b *busy) {
	t.Helper()
	if faults := db.Check(); len(faults) > 0 {
		t.Fatalf("the file is damaged: %v", errors.Join(faults...))
	}
	accounts, err := db.Accounts().Accounts(t.Context())
	if err != nil || len(accounts) != writers {
		t.Fatalf("Accounts: %d, %v", len(accounts), err)
	}
	for i, a := range accounts {
		if content := readDocument(t, db, a.Name); a.Quota == 0 || !bytes.Equal(content, bytes.Repeat([]byte{byte(i)}, int(a.Quota))) {
			t.Errorf("document %d has %d bytes of %d, or others", i, len(content), a.Quota)
		}
	}
}
