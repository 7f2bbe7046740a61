package signing_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/internal/queue"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
)

// hiccup is a store that fails one transaction when it is told to.
type hiccup struct {
	storage.Transactor
	next atomic.Bool
}

func (h *hiccup) InTx(ctx context.Context, fn func(context.Context) error) error {
	if h.next.CompareAndSwap(true, false) {
		return storage.ErrUnavailable
	}
	return h.Transactor.InTx(ctx, fn)
}

// A store that was unavailable for a moment does not prevent a later signature from being stored, however
// often the provider was asked before.
func TestOrderIsDrivenOnAfterAStoreError(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, db := newPhone(t), newStore(t)
		tx, began := &hiccup{Transactor: db}, time.Now()
		p.poll = func(s idp.State) (idp.State, idp.Event, error) {
			switch since := time.Since(began); {
			case since < 40*time.Second:
				return s, idp.Waiting{}, nil
			case since < 3*time.Minute: // for as long as the provider keeps the answer
				return s, p.signed(), nil
			}
			return s, idp.Failed{Failure: idp.Failure{Code: idp.ExpiredToken}}, nil
		}
		o := ordersOn(t, db, tx, p, signing.Options{})
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- queue.Runner{Jobs: db.Jobs(), Tx: db, Kinds: o.works()}.Run(ctx) }()
		o.mustOrder()
		time.Sleep(30 * time.Second)
		tx.next.Store(true)
		time.Sleep(10 * time.Minute)
		stop()
		<-done
		o.wantSignatures(1)
	})
}

// A signature that was given is not swept away while no server completes it.
func TestGivenSignatureOutlivesADayWithoutServers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPhone(t)
		out := newOutage(p.ca)
		o := newOrders(t, p, signing.Options{Sources: out.sources})
		out.cut(errTSADown, nil)
		id := o.mustOrder()
		ctx, end := context.WithTimeout(t.Context(), time.Second)
		defer end()
		if _, err := o.Drive(ctx, id); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		out.cut(nil, nil)
		time.Sleep(25 * time.Hour)
		o.phone = p.again()
		next := o.beside(signing.Options{Sources: out.sources, SingleProcess: true})
		if _, err := next.Sweep(t.Context()); err != nil { // what a server begins with
			t.Error(err)
		}
		next.background(t)
		time.Sleep(time.Minute)
		next.wantSignatures(1)
	})
}

// A server of a version that knows no orders may have noted a failure, and have reported it to no owner.
func TestOrderFailedByTheVersionBefore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPhone(t)
		p.poll = waits
		o := newOrders(t, p, signing.Options{})
		id := o.mustOrder()
		o.change(func(ctx context.Context) error {
			r, err := o.db.Requests().Request(ctx, id)
			r.Revision++
			r.Phase, r.Failure, r.Lease = signing.Failed, &idp.Failure{Code: idp.UserCancelled}, signing.Lease{}
			return errors.Join(err, o.db.Requests().UpdateRequest(ctx, r))
		})
		o.background(t)
		time.Sleep(time.Minute)
		if _, err := o.order(); err != nil {
			t.Error(err)
		}
	})
}

// Only a start call of the Signing API clears what the account has abandoned there (spec 3.6).
func TestOrderClearsNothing(t *testing.T) {
	t.Parallel()
	for name, answered := range map[string]bool{"pending": false, "complete": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPhone(t)
				if !answered {
					p.poll = waits
				}
				o := newOrders(t, p, signing.Options{IgnoreInterval: true})
				o.background(t)
				own, err := o.start()
				if err != nil {
					t.Fatal(err)
				}
				if answered {
					broken := errors.New("the connection broke")
					if err := o.Poll(t.Context(), account, own.ID, func(signing.Answer) error { return broken }); !errors.Is(err, broken) {
						t.Error(err)
					}
				}
				time.Sleep(20 * time.Minute)
				o.mustOrder()
				if err := o.Poll(t.Context(), account, own.ID, func(signing.Answer) error { return nil }); err != nil {
					t.Errorf("a poll of the client's own request: %v", err)
				}
			})
		})
	}
}
