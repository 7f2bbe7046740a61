package signing_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"

	"github.com/innsigli/innsigli/idp"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	postgrestest "github.com/innsigli/innsigli/internal/test/postgres"
	"github.com/innsigli/innsigli/signing"
)

func ordersOnDatabase(t *testing.T, url string, p *phone) (one, two *orders) {
	t.Helper()
	both := serversOn(t, url, p, 2)
	one = ordersOn(t, both[0].db, nil, p, signing.Options{IgnoreInterval: true})
	other, db := *one, both[1].db
	other.owner = &owner{log: db.EvidenceLog()}
	other.service = onStore(t, db, p, signing.Options{IgnoreInterval: true, Owner: other.owner, Ledger: ledger{db.EvidenceLog()}})
	return one, &other
}

// meet has what happens in two transactions on a database overlap: the second one's begins once the first has
// come to the point, and the first one goes on once the second waits for what it holds.
func meet(t *testing.T, url string) (point func(), second func()) {
	t.Helper()
	db, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close(context.WithoutCancel(t.Context())) })
	reached := make(chan struct{})
	return func() {
		close(reached)
		testenv.Wait(t, "the second transaction to wait for the first", func() (waits bool) {
			err := db.QueryRow(t.Context(), "SELECT count(*) > 0 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'").Scan(&waits)
			if err != nil {
				t.Error(err)
			}
			return waits || err != nil
		})
	}, func() { <-reached }
}

// One server completes a request while another removes it. Either the signature is in the document
// and all is told, or it is not and nothing is.
func TestCancelOnAnotherServer(t *testing.T) {
	t.Parallel()
	t.Run("a moment after it landed", func(t *testing.T) {
		url := postgrestest.Database(t)
		one, two := ordersOnDatabase(t, url, newPhone(t))
		id := one.mustOrder()
		completes, then := meet(t, url)
		one.owner.objects = func() error { completes(); return nil }
		var cancelling sync.WaitGroup
		cancelling.Go(func() {
			then()
			two.cancel(id)
		})
		if _, err := one.Drive(t.Context(), id); err != nil && !errors.Is(err, signing.ErrFinished) {
			t.Error(err)
		}
		cancelling.Wait()
		one.tells(property, landed...)
		one.tells(id, ordered...)
		one.wantSignatures(1)
		one.wantNoJobs()
	})
	t.Run("a moment before it would have", func(t *testing.T) {
		url := postgrestest.Database(t)
		one, two := ordersOnDatabase(t, url, newPhone(t))
		id := one.mustOrder()
		cancels, then := meet(t, url)
		two.owner.ends = cancels
		answer := one.phone.poll
		one.phone.poll = func(s idp.State) (idp.State, idp.Event, error) { then(); return answer(s) }
		var cancelling sync.WaitGroup
		cancelling.Go(func() { two.cancel(id) })
		if _, err := one.Drive(t.Context(), id); !errors.Is(err, signing.ErrFinished) {
			t.Error(err)
		}
		cancelling.Wait()
		one.wantCancelled(id, "signature.asked", "signature.prepared", "signature.abandoned")
	})
}
