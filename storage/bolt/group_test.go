package bolt

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"strconv"
	"testing"
	"testing/synctest"

	"golang.org/x/sync/errgroup"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/storage"
)

// opened opens a new store until the end of the test.
func opened(t testing.TB) *DB {
	t.Helper()
	db, err := Open(filepath.Join(t.TempDir(), "store.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// commits returns the number of commits of a store since its file was made.
func commits(db *DB) (n int) {
	_ = db.view(func(tx *boltTx) error {
		n = tx.ID()
		return nil
	})
	return n
}

func addAccount(ctx context.Context, db *DB, id string) error {
	return db.Accounts().AddAccount(ctx, account.Account{ID: id})
}

// together runs functions in a transaction each, the first of which ends when all others wait, and returns their errors.
// It is called in a bubble of package synctest.
func together(t *testing.T, db *DB, functions ...func(ctx context.Context) error) []error {
	t.Helper()
	errs := make([]error, len(functions))
	var group errgroup.Group
	first := func(ctx context.Context) error {
		for i, fn := range functions[1:] {
			group.Go(func() error { errs[i+1] = db.InTx(t.Context(), fn); return nil })
			synctest.Wait()
		}
		return functions[0](ctx)
	}
	errs[0] = db.InTx(t.Context(), first)
	_ = group.Wait()
	return errs
}

// Transactions that wait for each other share a commit, up to a bound, and those that fail take nothing with them.
func TestTransactionsShareACommit(t *testing.T) {
	refused := errors.New("refused")
	for name, test := range map[string]struct {
		transactions, commits int
		fails                 func(i int) bool
	}{
		"one":             {1, 1, func(int) bool { return false }},
		"two":             {2, 1, func(int) bool { return false }},
		"many":            {maxGroupTransactions, 1, func(int) bool { return false }},
		"more":            {maxGroupTransactions + 1, 2, func(int) bool { return false }},
		"the first fails": {8, 1, func(i int) bool { return i == 0 }},
		"the last fails":  {8, 1, func(i int) bool { return i == 7 }},
		"some fail":       {8, 1, func(i int) bool { return i%2 == 1 }},
		"all fail":        {8, 0, func(int) bool { return true }},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				db := opened(t)
				var functions []func(context.Context) error
				for i := range test.transactions {
					functions = append(functions, func(ctx context.Context) error {
						if err := addAccount(ctx, db, strconv.Itoa(i)); err != nil || !test.fails(i) {
							return err
						}
						return refused
					})
				}
				before := commits(db)
				for i, err := range together(t, db, functions...) {
					_, missing := db.Accounts().Account(t.Context(), strconv.Itoa(i))
					if fails := test.fails(i); (err == nil) == fails || (missing == nil) == fails {
						t.Errorf("transaction %d: %v; the account: %v", i, err, missing)
					}
				}
				if n := commits(db) - before; n != test.commits {
					t.Errorf("%d commits, want %d", n, test.commits)
				}
				if faults := db.Check(); len(faults) > 0 {
					t.Error(errors.Join(faults...))
				}
			})
		})
	}
}

// Transactions that only read count towards the bound of a group.
func TestTransactionsThatDoNotWriteFillAGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := opened(t)
		groups := map[*group]int{}
		functions := []func(context.Context) error{
			func(ctx context.Context) error { return addAccount(ctx, db, "a") },
		}
		for range 2 * maxGroupTransactions {
			functions = append(functions, func(ctx context.Context) error {
				groups[db.txn(ctx).group]++
				return nil
			})
		}
		if err := errors.Join(together(t, db, functions...)...); err != nil {
			t.Error(err)
		}
		for _, n := range groups {
			if n > maxGroupTransactions {
				t.Errorf("a group of %d transactions, want at most %d", n, maxGroupTransactions)
			}
		}
	})
}

// If the file of a document cannot be flushed, all transactions of the group fail with that error, and nothing of them is
// stored.
func TestAFlushThatFailsFailsTheGroup(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := opened(t)
		ref, err := db.Documents().Create(t.Context(), bytes.NewReader([]byte("content")), 100)
		if err != nil {
			t.Fatal(err)
		}
		before := commits(db)
		errs := together(t, db,
			func(ctx context.Context) error { return addAccount(ctx, db, "first") },
			func(ctx context.Context) error {
				err := db.Documents().Append(ctx, ref.ID, storage.Revision{Base: 7, Bytes: []byte("more")})
				return errors.Join(err, db.txn(ctx).files[ref.ID].Close()) // a file that is closed cannot be flushed
			},
			func(ctx context.Context) error { return addAccount(ctx, db, "last") },
		)
		for i, err := range errs {
			if !errors.Is(err, ErrClosed) {
				t.Errorf("transaction %d: %v", i, err)
			}
		}
		if n := commits(db) - before; n != 0 {
			t.Errorf("%d commits", n)
		}
		accounts, err := db.Accounts().Accounts(t.Context())
		if err != nil || len(accounts) != 0 {
			t.Errorf("%d accounts were stored, %v", len(accounts), err)
		}
		if blob, err := db.Documents().Open(t.Context(), ref.ID); err != nil || blob.Size() != 7 {
			t.Errorf("the document: %v, %v", blob, err)
		}
	})
}
