package postgres

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"golang.org/x/sync/errgroup"

	"github.com/innsigli/innsigli/storage"
)

// Two transactions that wait for each other both end well: the server ends one of them,
// and its function is run again.
func TestDeadlock(t *testing.T) {
	db, _ := opened(t, Options{})
	withAccounts(t, db, "a", "b")
	var both, group = new(sync.WaitGroup), new(errgroup.Group)
	both.Add(2)
	runs := make(chan bool, 2*tries)
	for _, order := range [][]string{{"a", "b"}, {"b", "a"}} {
		var once sync.Once
		group.Go(func() error {
			return db.InTx(t.Context(), func(ctx context.Context) error {
				runs <- true
				if err := raise(ctx, db, order[0]); err != nil {
					return err
				}
				once.Do(func() { both.Done(); both.Wait() }) // each has its first one now
				return raise(ctx, db, order[1])
			})
		})
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
	if len(runs) < 3 {
		t.Errorf("%d runs: there was no deadlock", len(runs))
	}
	if a, b := quota(t, db, "a"), quota(t, db, "b"); a != 2 || b != 2 {
		t.Errorf("the quotas are %d and %d", a, b)
	}
}

// A transaction that always collides is not run for ever.
func TestCollisionsEnd(t *testing.T) {
	db, _ := opened(t, Options{})
	runs := 0
	err := db.InTx(t.Context(), func(ctx context.Context) error {
		runs++
		return db.write(ctx, func(tx pgx.Tx) error {
			_, err := tx.Exec(ctx, "DO $$ BEGIN RAISE serialization_failure; END $$")
			return err
		})
	})
	if !errors.Is(err, storage.ErrUnavailable) || runs != tries {
		t.Errorf("after %d runs: %v", runs, err)
	}
}
