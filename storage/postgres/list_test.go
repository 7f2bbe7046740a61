package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/idp"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// statistics are the server's statistics of a table.
type statistics struct {
	SequentialScans, Updates, HeapOnlyUpdates int64
	UnusedIndexes                             []string
}

// waitForStatistics waits until the statistics of a table are those wanted. A session reports its own shortly
// after it ends.
func waitForStatistics(t *testing.T, url, table string, want statistics) {
	t.Helper()
	diff := ""
	defer func() {
		if diff != "" {
			t.Logf("statistics of %s (-want +got):\n%s", table, diff)
		}
	}()
	testenv.Wait(t, "the statistics of "+table, func() bool {
		got := statisticsOf(t, url, table)
		diff = cmp.Diff(want, got)
		if got.SequentialScans > want.SequentialScans { // the number never decreases
			t.FailNow()
		}
		return diff == ""
	})
}

func statisticsOf(t *testing.T, url, table string) (s statistics) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close(context.Background())
	err = conn.QueryRow(t.Context(), `
		SELECT seq_scan, n_tup_upd, n_tup_hot_upd,
			(SELECT array_agg(indexrelname::text) FROM pg_stat_user_indexes i WHERE i.relid = t.relid AND idx_scan = 0)
		FROM pg_stat_user_tables t WHERE relname = $1`, table).Scan(&s.SequentialScans, &s.Updates, &s.HeapOnlyUpdates, &s.UnusedIndexes)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestIndexes checks that every query uses an index, so that it takes no longer with a million records more, and that every
// index is used. The server's settings make it scan a whole table only if there is no index.
func TestIndexes(t *testing.T) {
	db, url := opened(t, Options{})
	addUsers(t, db, "a", 100) // with few rows, the planner may use any index
	execute(t, url, "ANALYZE sandbox_users")
	for table, lookUps := range map[string]func(ctx context.Context, db *DB) error{
		"clients": func(ctx context.Context, db *DB) error {
			_, one := db.Accounts().Client(ctx, "c")
			_, all := db.Accounts().Clients(ctx, "a")
			return errors.Join(unlessAbsent(one), all)
		},
		"tokens": func(ctx context.Context, db *DB) error {
			_, one := db.Accounts().Token(ctx, []byte("t"))
			_, expired := db.Accounts().DeleteExpiredTokens(ctx, time.Now(), 10)
			return errors.Join(unlessAbsent(one), expired)
		},
		"busy_signals": func(ctx context.Context, db *DB) error {
			_, one := db.BusySignals().Signal(ctx, "s")
			_, unused := db.BusySignals().DeleteUnusedSignals(ctx, time.Now(), 10)
			return errors.Join(unlessAbsent(one), unused)
		},
		"signing_requests": func(ctx context.Context, db *DB) error {
			_, one := db.Requests().Request(ctx, "r")
			_, byKey := db.Requests().RequestByKey(ctx, "client", "key")
			_, abandoned := db.Requests().Abandoned(ctx, "a", time.Now(), 10)
			_, old := db.Requests().RequestsBefore(ctx, time.Now(), 10)
			_, unfinished := db.Requests().Unfinished(ctx, time.Now(), 10)
			for _, err := range db.RequestsOf(ctx, "a") {
				return err
			}
			return errors.Join(unlessAbsent(one), unlessAbsent(byKey), abandoned, old, unfinished)
		},
		"kept_certificates": func(ctx context.Context, db *DB) error {
			_, one := db.Requests().KeptCertificate(ctx, "p")
			_, expired := db.Requests().DropCertificates(ctx, time.Now(), 10)
			return errors.Join(unlessAbsent(one), expired)
		},
		"sandbox_users": func(ctx context.Context, db *DB) error {
			_, one := db.Sandbox().User(ctx, "a", "u")
			_, byKennitala := db.Sandbox().UserByKennitala(ctx, "a", "1234567890")
			_, byPhone := db.Sandbox().UserByPhone(ctx, "a", "5550101")
			_, all := db.Sandbox().Users(ctx, "a")
			return errors.Join(unlessAbsent(one), unlessAbsent(byKennitala), unlessAbsent(byPhone), all)
		},
		"processes": func(ctx context.Context, db *DB) error {
			_, one := db.Processes().Process(ctx, "p")
			_, byLink := db.Processes().ProcessByLink(ctx, []byte("h"))
			_, waiting := db.Processes().Waiting(ctx, "a", time.Now(), 10)
			_, unopened := db.Processes().Unopened(ctx, time.Now(), 10)
			_, listed := db.Processes().ListProcesses(ctx, portal.Listing{Account: "a", Origin: portal.API}, portal.Position{}, 10)
			_, byStatus := db.Processes().ListProcesses(ctx, portal.Listing{Account: "a", Origin: portal.API, Status: portal.Waiting}, portal.Position{}, 10)
			_, ended := db.Processes().Ended(ctx, time.Now(), 10)
			for _, of := range []string{"", "a"} {
				for _, err := range db.Processes().Overdue(ctx, of, time.Now()) {
					return err
				}
			}
			for _, err := range db.AllUnopened(ctx) {
				return err
			}
			return errors.Join(unlessAbsent(one), unlessAbsent(byLink), waiting, unopened, listed, byStatus, ended)
		},
		"process_links": func(ctx context.Context, db *DB) error {
			_, byLink := db.Processes().ProcessByLink(ctx, []byte("h"))
			return errors.Join(unlessAbsent(byLink), db.Processes().CreateProcess(ctx, portal.Process{ID: "p"}))
		},
		"process_keys": func(ctx context.Context, db *DB) error {
			_, one := db.Processes().Key(ctx, "c", "v")
			_, old := db.Processes().DeleteKeys(ctx, time.Now(), 10)
			for _, err := range db.AllKeys(ctx) {
				return err
			}
			return errors.Join(unlessAbsent(one), db.Processes().DeleteKey(ctx, "c", "v"), old)
		},
		"page_records": func(ctx context.Context, db *DB) error {
			_, one := db.Pages().Record(ctx, []byte("k"))
			_, old := db.Pages().DeleteRecords(ctx, time.Now(), 10)
			return errors.Join(unlessAbsent(one), db.Pages().DeleteRecord(ctx, []byte("k")), old)
		},
		"ledger": func(ctx context.Context, db *DB) error {
			for _, err := range db.Accounts().Lines(ctx, "a", time.Now(), time.Now()) {
				return err
			}
			for range 2 { // the second looks for its ID in the unique index
				if err := db.Accounts().AddLine(ctx, account.Line{ID: "l", At: time.Now()}); err != nil && !errors.Is(err, storage.ErrExists) {
					return err
				}
			}
			return nil
		},
		"webhook_subscriptions": func(ctx context.Context, db *DB) error {
			_, one := db.Webhooks().Subscription(ctx, "s")
			_, all := db.Webhooks().Subscriptions(ctx, "a")
			added := db.Webhooks().CreateSubscription(ctx, delivery.Subscription{ID: "s", Account: "a", EventTypes: []string{"e"}, Secret: []byte{1}}, 1)
			return errors.Join(unlessAbsent(one), all, added)
		},
		"webhook_attempts": func(ctx context.Context, db *DB) error {
			for _, err := range db.Webhooks().Attempts(ctx, "s") {
				return err
			}
			_, old := db.Webhooks().DeleteAttempts(ctx, time.Now(), 10)
			return old
		},
		"webhook_dropped": func(ctx context.Context, db *DB) error {
			_, one := db.Webhooks().RemoveDropped(ctx, "s", "e")
			_, all := db.Webhooks().Dropped(ctx, "s")
			_, old := db.Webhooks().DeleteDropped(ctx, time.Now(), 10)
			return errors.Join(unlessAbsent(one), all, old)
		},
	} {
		t.Run(table, func(t *testing.T) {
			before := statisticsOf(t, url, table)
			db := openedAt(t, with(t, url, "enable_seqscan", "off", "enable_bitmapscan", "off", "enable_sort", "off"), Options{})
			do(t, db, func(ctx context.Context) error { return lookUps(ctx, db) })
			db.Close()
			waitForStatistics(t, url, table, statistics{SequentialScans: before.SequentialScans})
		})
	}
}

// addUsers adds n sandbox users to an account.
func addUsers(t *testing.T, db *DB, account string, n int) {
	t.Helper()
	err := db.InTx(t.Context(), func(ctx context.Context) error {
		for i := range n {
			name := strconv.Itoa(i)
			if err := db.Sandbox().CreateUser(ctx, sandbox.User{ID: name, Account: account, Kennitala: name, Phone: name}); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// unlessAbsent returns err unless it is storage.ErrNotFound.
func unlessAbsent(err error) error {
	if errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	return err
}

// TestRequestUpdatesAreHeapOnly checks that the updates of a request while it is polled change no index.
func TestRequestUpdatesAreHeapOnly(t *testing.T) {
	db, url := opened(t, Options{})
	r := signing.Request{ID: "r", Account: "a", CreatedAt: time.Now(), Phase: signing.Waiting, Person: idp.Person{Kennitala: "1234567890"}}
	do(t, db, func(ctx context.Context) error { return db.Requests().CreateRequest(ctx, r) })
	const changes = 20
	for range changes {
		r.Revision++
		r.PolledAt = time.Now()
		r.Lease = signing.Lease{Process: "process", Token: "token", Until: r.PolledAt.Add(time.Second)}
		r.State.Public, r.Pending = append(r.State.Public, 'x'), append(r.Pending, 'x')
		do(t, db, func(ctx context.Context) error { return db.Requests().UpdateRequest(ctx, r) })
	}
	db.Close()
	before := statisticsOf(t, url, "signing_requests")
	waitForStatistics(t, url, "signing_requests", statistics{before.SequentialScans, changes, changes, before.UnusedIndexes})
}

// TestLongList checks that a list of several batches is complete even if records have the same time. The tests of
// storage/transfer check the other lists.
func TestLongList(t *testing.T) {
	db, _ := opened(t, Options{})
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	var want []string
	err := db.InTx(t.Context(), func(ctx context.Context) error {
		want = nil
		for i := range 600 {
			id := fmt.Sprintf("%03d", (i*7)%600)
			want = append(want, id)
			err := db.Requests().CreateRequest(ctx, signing.Request{ID: id, CreatedAt: at, Level: 1})
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for r, err := range db.AllRequests(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, r.ID)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the list (-want +got):\n%s", diff)
	}
	for range db.AllRequests(t.Context()) {
		break // the caller may stop
	}
}

func TestListEndsWithError(t *testing.T) {
	db, _ := opened(t, Options{})
	db.Close()
	n := 0
	for _, err := range db.AllTokens(t.Context()) {
		if n++; !errors.Is(err, ErrClosed) {
			t.Errorf("AllTokens: %v", err)
		}
	}
	if n != 1 {
		t.Errorf("the list has %d elements, want its error alone", n)
	}
}
