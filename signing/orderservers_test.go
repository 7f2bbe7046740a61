package signing_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/signing"
)

// ordersOnPostgres are two services on one database, each with connections of its own.
func ordersOnPostgres(t *testing.T, p *phone) (one, two *orders) {
	t.Helper()
	both := servers(t, p, 2)
	one = ordersOn(t, both[0].db, nil, p, signing.Options{AnyPace: true})
	other, db := *one, both[1].db
	other.owner = &owner{log: db.EvidenceLog()}
	other.service = onStore(t, db, p, signing.Options{AnyPace: true, Owner: other.owner, Ledger: ledger{db.EvidenceLog()}})
	return one, &other
}

// meet has what happens in two transactions overlap: the second one's begins once the first has
// come to the point, and has time to come to what the first one holds.
func meet() (point func(), second func()) {
	reached := make(chan struct{})
	return func() {
		close(reached)
		time.Sleep(300 * time.Millisecond)
	}, func() { <-reached }
}

// One server completes a request while another removes it. Either the signature is in the document
// and all is told, or it is not and nothing is.
func TestCancelOnAnotherServer(t *testing.T) {
	t.Run("a moment after it landed", func(t *testing.T) {
		one, two := ordersOnPostgres(t, newPhone(t))
		id := one.mustOrder()
		completes, then := meet()
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
		one, two := ordersOnPostgres(t, newPhone(t))
		id := one.mustOrder()
		cancels, then := meet()
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

// Two servers drive one request after the other's lease, and each job is done by both.
func TestOrdersOnSeveralServers(t *testing.T) {
	p := newPhone(t)
	one, two := ordersOnPostgres(t, p)
	for n := range 3 {
		id := one.mustOrder()
		if err := two.db.InTx(t.Context(), func(ctx context.Context) error { return two.owner.accept(ctx, "another") }); !errors.Is(err, errTaken) {
			t.Error(err)
		}
		var servers sync.WaitGroup
		for _, by := range []*orders{one, two, one, two} {
			servers.Go(func() {
				if got := by.drive(id); !got.Done || got.Failure != nil {
					t.Errorf("%+v", got)
				}
			})
		}
		servers.Wait()
		two.wantSignatures(n + 1)
		two.tells(id, ordered...)
	}
	one.wantNoJobs()
}
