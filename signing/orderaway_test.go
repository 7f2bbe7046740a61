package signing_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
)

// Whatever transaction the store goes away at, an owner that orders until there is a signature gets
// one. A signature that was given is the one that lands, and no order is left open.
func TestOrdersWithAStoreThatGoesAway(t *testing.T) {
	for _, outing := range []outing{
		{committed: false, err: storage.ErrUnavailable},
		{committed: true, err: storage.ErrUnavailable},
		{committed: true, err: storage.ErrUnavailable, lasts: 4 * time.Second},
		{committed: false, err: storage.ErrFull, lasts: 25 * time.Second},
		{committed: true, err: storage.ErrUnavailable, lasts: 35 * time.Second},
	} {
		t.Run(fmt.Sprintf("%v, committed %v, for %v", outing.err, outing.committed, outing.lasts), func(t *testing.T) {
			t.Parallel()
			outing.at = 1
			for orderedWhile(t, outing) {
				outing.at++
			}
			if outing.at < 6 {
				t.Errorf("an order took %d transactions: the test sees too few of them", outing.at-1)
			}
		})
	}
}

// orderedWhile takes an order through the outing, and says whether the store went.
func orderedWhile(t *testing.T, away outing) (went bool) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p, db := newPhone(t), newStore(t)
		tx := &shaky{Transactor: db, outing: away}
		o := ordersOn(t, db, tx, p, signing.Options{})
		for i := 0; !slices.Contains(o.kinds(property), "signed"); i++ {
			if i == 300 {
				t.Fatalf("transaction %d: no signature after %d tries: %v", away.at, i, o.allKinds())
			}
			switch started, err := o.order(); {
			case err == nil:
				if _, err := o.Drive(t.Context(), started.ID); err != nil && !again(err) && !errors.Is(err, signing.ErrFinished) {
					t.Errorf("transaction %d: %v", away.at, err)
				}
			case !again(err) && !errors.Is(err, errTaken):
				t.Errorf("transaction %d: %v", away.at, err)
			}
			time.Sleep(time.Second)
			o.work(t.Context())
		}
		time.Sleep(time.Minute)
		o.work(t.Context())
		o.wantSignatures(1)
		o.wantNoJobs()
		all := make(map[string]int)
		for _, kind := range o.allKinds() {
			all[kind]++
		}
		if all["accepted"] != all["ended"] || all["signature.asked"] != all["accepted"] || p.calls > 3*all["accepted"]+1 {
			t.Errorf("transaction %d: %v after %d calls to the provider", away.at, all, p.calls)
		}
		for _, once := range []string{"signed", "ledger", "signature.made", "signature.completed"} {
			if all[once] != 1 {
				t.Errorf("transaction %d: %v", away.at, all)
			}
		}
		went = tx.went()
	})
	return went && !t.Failed()
}

// The provider has taken an order up, and the owner does not learn of it: the person may be
// signing already. The job goes on with it.
func TestOrderThatStartedUnheard(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, db := newPhone(t), newStore(t)
		tx := &shaky{Transactor: db, outing: outing{at: -1, committed: true, lasts: 35 * time.Second, err: storage.ErrUnavailable}}
		o := ordersOn(t, db, tx, p, signing.Options{})
		p.sign = func(s idp.State) (idp.State, idp.Event, error) {
			tx.mu.Lock()
			defer tx.mu.Unlock()
			tx.at = tx.n + 1 // that with the answer
			return s, idp.Waiting{}, nil
		}
		if _, err := o.order(); !errors.Is(err, storage.ErrUnavailable) {
			t.Error(err)
		}
		time.Sleep(time.Minute)
		o.work(t.Context())
		o.wantSignatures(1)
		o.tells(property, landed...)
	})
}
