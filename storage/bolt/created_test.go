package bolt

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"testing"
	"testing/synctest"
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

// A document that a transaction has deleted does not exist for the rest of that transaction, for later ones of its group and
// for those after the commit: none keeps it. If the transaction or the commit fails, the document is there as before.
func TestADeletedDocumentCannotBeKept(t *testing.T) {
	failed := errors.New("failed")
	for name, test := range map[string]struct {
		isStored bool  // an earlier transaction of the group stores its record
		deletes  error // of the transaction that deletes it
		commit   error
	}{
		"deleted":                             {},
		"stored and deleted":                  {isStored: true},
		"the transaction fails":               {deletes: failed},
		"stored, and the transaction fails":   {isStored: true, deletes: failed},
		"the commit fails":                    {commit: failed},
		"stored, and the commit fails":        {isStored: true, commit: failed},
		"the transaction and the commit fail": {deletes: failed, commit: failed},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				db := opened(t)
				documents := db.Documents()
				ref, err := documents.Create(t.Context(), bytes.NewReader([]byte("content")), 100)
				if err != nil {
					t.Fatal(err)
				}
				is := func(where string, ctx context.Context, want error) {
					t.Helper()
					_, err := documents.Open(ctx, ref.ID)
					if !errors.Is(err, want) || want == nil && err != nil {
						t.Errorf("%s: Open: %v, want %v", where, err, want)
					}
					if db.txn(ctx) == nil || want == nil {
						return
					}
					if err := documents.Keep(ctx, ref.ID); !errors.Is(err, want) {
						t.Errorf("%s: Keep: %v, want %v", where, err, want)
					}
				}
				var later error // what later transactions of the group read
				if test.deletes == nil {
					later = storage.ErrNotFound
				}
				errs := together(t, db,
					func(ctx context.Context) error {
						if !test.isStored {
							return addAccount(ctx, db, "a")
						}
						return documents.Append(ctx, ref.ID, storage.Revision{Base: 7, Bytes: []byte("more")})
					},
					func(ctx context.Context) error {
						if err := documents.Delete(ctx, ref.ID); err != nil {
							return err
						}
						is("in the transaction", ctx, storage.ErrNotFound)
						is("for all others", t.Context(), nil)
						return test.deletes
					},
					func(ctx context.Context) error {
						is("in the next transaction", ctx, later)
						if test.commit != nil {
							db.txn(ctx).group.fail(test.commit)
						}
						return nil
					},
				)
				if test.commit != nil {
					for i, err := range errs {
						if !errors.Is(err, test.commit) {
							t.Errorf("transaction %d: %v", i, err)
						}
					}
				}
				after := storage.ErrNotFound
				if test.deletes != nil || test.commit != nil {
					after = nil
				}
				is("after the commit", t.Context(), after)
				if err := db.Backup(t.Context(), io.Discard); err != nil {
					t.Errorf("Backup: %v", err)
				}
			})
		})
	}
}

// The document is gone as soon as the commit has ended, before the functions that follow it have run.
func TestADeletedDocumentIsGoneWithTheCommit(t *testing.T) {
	db := opened(t)
	ref, err := db.Documents().Create(t.Context(), bytes.NewReader([]byte("content")), 100)
	if err != nil {
		t.Fatal(err)
	}
	in := func(do func(ctx context.Context, id string) error) error {
		_, err := db.transact(t.Context(), func(ctx context.Context) error { return do(ctx, ref.ID) })
		return err
	}
	if err := in(db.Documents().Delete); err != nil {
		t.Error(err)
	}
	if err := in(db.Documents().Keep); !errors.Is(err, storage.ErrNotFound) {
		t.Errorf("Keep: %v", err)
	}
}
