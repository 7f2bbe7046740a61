package bolt_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage/bolt"
)

// Lists are read in parts, which meet without a gap: also where many records have the same time, and while the reader
// writes. The tests of storage/transfer compare the lists of all types.
func TestLongLists(t *testing.T) {
	const many = 600
	db := open(t, filepath.Join(t.TempDir(), "store.db"))
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var ids []string
	err := db.InTx(t.Context(), func(ctx context.Context) error {
		for i := range many {
			id, at := fmt.Sprintf("%03d", (i*7)%many), at.Add(time.Duration(i/500)*time.Second)
			if err := errors.Join(db.Requests().CreateRequest(ctx, signing.Request{ID: id, CreatedAt: at}), db.Processes().CreateProcess(ctx, portal.Process{ID: id})); err != nil {
				return err
			}
			ids = append(ids, id)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Run("by an index", lists(db, db.AllRequests(t.Context()), func(r signing.Request) string { return r.ID }, ids))
	t.Run("by ID", lists(db, db.AllProcesses(t.Context()), func(p portal.Process) string { return p.ID }, slices.Sorted(slices.Values(ids))))
}

func lists[T any](db *bolt.DB, list iter.Seq2[T, error], id func(T) string, want []string) func(*testing.T) {
	return func(t *testing.T) {
		var got []string
		for one, err := range list {
			if err != nil {
				t.Fatal(err)
			}
			if got = append(got, id(one)); len(got)%100 == 0 {
				if err := db.InTx(t.Context(), func(context.Context) error { return nil }); err != nil {
					t.Fatal(err)
				}
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("the list (-want +got):\n%s", diff)
		}
		for range list {
			break // a reader may stop
		}
	}
}

func TestAListEndsWithItsError(t *testing.T) {
	db := open(t, filepath.Join(t.TempDir(), "store.db"))
	db.Close()
	n := 0
	for _, err := range db.AllRequests(t.Context()) {
		if n++; !errors.Is(err, bolt.ErrClosed) {
			t.Errorf("AllRequests: %v", err)
		}
	}
	if n != 1 {
		t.Errorf("%d times", n)
	}
}
