package bolt_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/bolt"
)

// disk is where a store is that comes to its end.
type disk struct {
	folder string
	// leave leaves the store n more bytes, about; relieve leaves it plenty.
	leave   func(t *testing.T, db *bolt.DB, n int64)
	relieve func(t *testing.T)
}

// filling writes to a store and remembers what was said to be stored.
type filling struct {
	db        *bolt.DB
	mu        sync.Mutex
	accounts  []string
	documents map[string][]byte
}

// testFullDisk fills the disk again and again, so that one write after the other is the
// first that finds no room. What was stored is always there, nothing else is, and the
// store goes on when there is room.
func testFullDisk(t *testing.T, d disk) {
	f := &filling{db: openIn(t, d.folder), documents: map[string][]byte{}}
	for round := range 8 {
		d.leave(t, f.db, int64(round)*15_000)
		f.until(t, storage.ErrFull, f.addAccount)
		f.until(t, storage.ErrFull, f.addDocument)
		f.until(t, storage.ErrFull, f.addAccounts)
		f.intact(t)
		d.relieve(t)
		f.until(t, nil, f.addDocument)
		f.until(t, nil, f.addAccount)
		f.intact(t)
	}
	if err := f.db.Close(); err != nil {
		t.Fatal(err)
	}
	f.db = openIn(t, d.folder)
	f.intact(t)
	if _, err := f.db.Documents().Sweep(t.Context(), time.Now().Add(time.Hour)); err != nil {
		t.Errorf("Sweep: %v", err)
	}
	f.intact(t)
	ids, err := f.db.DocumentIDs()
	if diff := cmp.Diff(slices.Sorted(maps.Keys(f.documents)), ids); diff != "" || err != nil {
		t.Errorf("documents (-stored +found):\n%s%v", diff, err)
	}
}

// until adds until that gives the error wanted: at once, if it is none.
func (f *filling) until(t *testing.T, want error, add func(context.Context) error) {
	t.Helper()
	for range 2000 {
		err := add(t.Context())
		if err != nil && !errors.Is(err, storage.ErrFull) || want == nil && err != nil {
			t.Fatalf("adding: %v, want %v", err, want)
		}
		if errors.Is(err, want) {
			return
		}
	}
	t.Fatal("there is always room")
}

func (f *filling) addAccount(ctx context.Context) error {
	id := uuid.NewString()
	err := f.db.InTx(ctx, func(ctx context.Context) error {
		return f.db.Accounts().AddAccount(ctx, account.Account{ID: id, Name: strings.Repeat("n", 2000)})
	})
	if err == nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.accounts = append(f.accounts, id)
	}
	return err
}

// addAccounts adds several accounts at once, whose transactions share commits.
func (f *filling) addAccounts(ctx context.Context) error {
	var group errgroup.Group
	for range 8 {
		group.Go(func() error { return f.addAccount(ctx) })
	}
	return group.Wait()
}

// addDocument adds a document and a revision of it.
func (f *filling) addDocument(ctx context.Context) error {
	documents, base := f.db.Documents(), bytes.Repeat([]byte{byte(len(f.documents))}, 70_000)
	ref, err := documents.Create(ctx, bytes.NewReader(base), 1<<20)
	if err != nil {
		return err
	}
	if err := f.db.InTx(ctx, func(ctx context.Context) error { return documents.Keep(ctx, ref.ID) }); err != nil {
		return err
	}
	f.documents[ref.ID] = base
	more := bytes.Repeat([]byte("more"), 2000)
	err = f.db.InTx(ctx, func(ctx context.Context) error {
		return documents.Append(ctx, ref.ID, storage.Revision{Base: ref.Size, Bytes: more})
	})
	if err == nil {
		f.documents[ref.ID] = append(base, more...)
	}
	return err
}

// intact fails the test unless the store has what was stored, and nothing else.
func (f *filling) intact(t *testing.T) {
	t.Helper()
	if faults := f.db.Check(); len(faults) > 0 {
		t.Fatalf("the file is damaged: %v", errors.Join(faults...))
	}
	accounts, err := f.db.Accounts().Accounts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, a := range accounts {
		ids = append(ids, a.ID)
	}
	slices.Sort(ids)
	slices.Sort(f.accounts)
	if diff := cmp.Diff(f.accounts, ids); diff != "" {
		t.Fatalf("accounts (-stored +found):\n%s", diff)
	}
	for id, want := range f.documents {
		if got := readDocument(t, f.db, id); !bytes.Equal(got, want) {
			t.Fatalf("document %s has %d bytes of %d, or others", id, len(got), len(want))
		}
	}
}

// readDocument returns the content of a document.
func readDocument(t *testing.T, db *bolt.DB, id string) []byte {
	t.Helper()
	blob, err := db.Documents().Open(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	defer blob.Close()
	content, err := io.ReadAll(io.NewSectionReader(blob, 0, blob.Size()))
	if err != nil {
		t.Fatal(err)
	}
	return content
}
