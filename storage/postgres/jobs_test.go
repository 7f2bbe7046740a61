package postgres

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/storage"
)

// claimedJobs enqueues jobs of the kind "k", each with a Unique, and claims them.
func claimedJobs(t *testing.T, db *DB, now time.Time, uniques ...string) (leases []storage.Lease) {
	t.Helper()
	err := db.InTx(t.Context(), func(ctx context.Context) (err error) {
		for _, unique := range uniques {
			if err := db.Jobs().Enqueue(ctx, storage.Job{Kind: "k", Unique: unique, Due: now}); err != nil {
				return err
			}
		}
		leases, err = db.Jobs().Claim(ctx, "k", now, 10, 10, time.Minute)
		return err
	})
	if err != nil || len(leases) != len(uniques) {
		t.Fatalf("%d leases, error %v", len(leases), err)
	}
	return leases
}

// TestExtendDoesNotWait checks that Extend does not wait for a transaction that changes one of the jobs, such as that of a handler.
func TestExtendDoesNotWait(t *testing.T) {
	db, now, rollback := openedAt(t, migrated(t), Options{}), time.Now().UTC().Truncate(time.Microsecond), errors.New("rollback")
	leases := claimedJobs(t, db, now, "a", "b")
	until := now.Add(time.Hour)
	var held []bool
	err := db.InTx(t.Context(), func(ctx context.Context) error {
		if err := db.Jobs().DropUnique(ctx, "k", "a"); err != nil {
			return err
		}
		if _, err := db.Jobs().Job(ctx, leases[1].ID); err != nil { // and with this statement the queued one is sent
			return err
		}
		err := db.InTx(t.Context(), func(ctx context.Context) (err error) {
			held, err = db.Jobs().Extend(ctx, leases, until)
			return err
		})
		return errors.Join(err, rollback)
	})
	if !errors.Is(err, rollback) {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]bool{true, true}, held); diff != "" {
		t.Errorf("held (-want +got):\n%s", diff)
	}
	for i, want := range []time.Time{leases[0].Until, until} {
		if got, err := db.Jobs().Job(t.Context(), leases[i].ID); err != nil || !got.LeasedUntil.Equal(want) {
			t.Errorf("lease %d lasts until %v, want %v; error %v", i, got.LeasedUntil, want, err)
		}
	}
}

// TestParkedJobsInEarlierVersion checks that servers of the version before, during a rolling upgrade, take a parked job as one that is
// due in the far future, and do not enqueue another with its Unique.
func TestParkedJobsInEarlierVersion(t *testing.T) {
	url := migrated(t)
	db, now := openedAt(t, url, Options{}), time.Now()
	l := claimedJobs(t, db, now, "a")[0]
	do(t, db, func(ctx context.Context) error {
		return db.Jobs().Fail(ctx, l, storage.Failure{Error: "a fault", At: now})
	})
	conn := connected(t, url)
	var due time.Time
	if err := conn.QueryRow(t.Context(), `SELECT ready FROM jobs WHERE kind = $1 ORDER BY ready LIMIT 1`, "k").Scan(&due); err != nil || due.Before(now.AddDate(1000, 0, 0)) {
		t.Errorf("due at %v, error %v", due, err)
	}
	tag, err := conn.Exec(t.Context(), `INSERT INTO jobs (kind, grp, unique_key, due, payload) VALUES ('k', '', 'a', now(), '')
		ON CONFLICT (kind, unique_key) WHERE unique_key IS NOT NULL DO NOTHING`)
	if err != nil || tag.RowsAffected() != 0 {
		t.Errorf("enqueued again: %v, error %v", tag, err)
	}
}

// TestEarlierInterruptedAttempt checks that an attempt of the version before is interrupted if its server dies, although that version
// does not know interruptions.
func TestEarlierInterruptedAttempt(t *testing.T) {
	url := migrated(t)
	db, now := openedAt(t, url, Options{}), time.Now()
	claimed := claimedJobs(t, db, now, "a")[0]
	do(t, db, func(ctx context.Context) error { return db.Jobs().Retry(ctx, claimed, now) })
	_, err := connected(t, url).Exec(t.Context(), `UPDATE jobs SET attempt = attempt + 1, token = gen_random_uuid(), leased_until = $1`, now)
	if err != nil {
		t.Fatal(err)
	}
	var leases []storage.Lease
	err = db.InTx(t.Context(), func(ctx context.Context) (err error) {
		leases, err = db.Jobs().Claim(ctx, "k", now, 10, 10, time.Minute)
		return err
	})
	if err != nil || len(leases) != 1 || !leases[0].Interrupted || leases[0].Attempt != 2 {
		t.Errorf("claimed %+v, error %v", leases, err)
	}
}
