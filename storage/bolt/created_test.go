package bolt

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"testing"
	"time"

	"github.com/innsigli/innsigli/storage"
)

// A document that Create has stored is there before its record is: it can be opened, kept, appended to and deleted, and a
// transaction that fails changes nothing of that. What was not kept is gone with the process, and its file is swept.
func TestCreatedDocuments(t *testing.T) {
	t.Parallel()
	db := opened(t)
	documents := func() storage.Documents { return db.Documents() }
	create := func() string {
		t.Helper()
		ref, err := documents().Create(t.Context(), bytes.NewReader([]byte("content")), 100)
		if err != nil {
			t.Fatal(err)
		}
		return ref.ID
	}
	isThere := func(what, id string, want bool) {
		t.Helper()
		blob, err := documents().Open(t.Context(), id)
		if want && err == nil {
			_, err = blob.ReadAt(make([]byte, 7), 0)
		}
		if want && err != nil || !want && !errors.Is(err, storage.ErrNotFound) {
			t.Errorf("%s: %v", what, err)
		}
	}
	in := func(result error, do func(ctx context.Context) error) {
		t.Helper()
		err := db.InTx(t.Context(), func(ctx context.Context) error { return errors.Join(do(ctx), result) })
		if !errors.Is(err, result) || result == nil && err != nil {
			t.Error(err)
		}
	}
	keep := func(id string) func(context.Context) error {
		return func(ctx context.Context) error { return documents().Keep(ctx, id) }
	}
	remove := func(id string) func(context.Context) error {
		return func(ctx context.Context) error { return documents().Delete(ctx, id) }
	}
	failed := errors.New("failed")

	kept, appended, deleted, old, left := create(), create(), create(), create(), create()
	in(failed, keep(kept))
	in(failed, remove(kept))
	isThere("after transactions that failed", kept, true)
	in(nil, keep(kept))
	in(nil, func(ctx context.Context) error {
		return documents().Append(ctx, appended, storage.Revision{Base: 7, Bytes: []byte(" and more")})
	})
	in(nil, remove(deleted))
	isThere("deleted", deleted, false)
	in(nil, remove(kept))
	isThere("kept and deleted", kept, false)
	kept = create()
	in(nil, keep(kept))
	if n := len(db.folder.created.before(time.Now().Add(time.Hour))); n != 2 {
		t.Errorf("%d records are in memory, want 2", n)
	}
	if n, err := documents().Sweep(t.Context(), time.Now().Add(-time.Hour)); n != 0 || err != nil {
		t.Errorf("Sweep of young documents: %d, %v", n, err)
	}
	in(nil, keep(left)) // which is not old
	if n, err := documents().Sweep(t.Context(), time.Now().Add(time.Hour)); n != 2 || err != nil {
		t.Errorf("Sweep: %d, %v", n, err)
	}
	isThere("swept", old, false)
	isThere("swept, although appended to", appended, false)

	gone := create()
	db = reopened(t, db)
	isThere("kept", kept, true)
	isThere("kept before it was swept", left, true)
	isThere("not kept", gone, false)
	if n, err := documents().Sweep(t.Context(), time.Now().Add(-time.Hour)); n != 1 || err != nil {
		t.Errorf("Sweep of the file: %d, %v", n, err)
	}
	if _, err := db.folder.root.Stat(gone); !errors.Is(err, fs.ErrNotExist) {
		t.Error("the file was not removed")
	}
}
