package signing_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
)

// unsettled is what the evidence log tells of a signature that was given for nothing.
var unsettled = []string{"signature.asked", "signature.prepared", "signature.made", "signature.failed"}

// A signature that the owner does not take is neither in the document nor in the ledger.
func TestUnwantedSignature(t *testing.T) {
	t.Parallel()
	o := newOrders(t, newPhone(t), signing.Options{IgnoreInterval: true})
	o.owner.objects = func() error { return signing.ErrUnwanted }
	id := o.mustOrder()
	if got := o.drive(id); !got.Done || got.Failure == nil || got.Failure.Code != idp.InternalError {
		t.Errorf("%+v", got)
	}
	o.tells(property, "accepted", "ended")
	o.tells(id, unsettled...)
	o.wantSignatures(0)
	o.wantNoJobs()
}

// A service without an Owner takes no orders.
func TestOrderWithoutAnOwner(t *testing.T) {
	t.Parallel()
	p := newPhone(t)
	o := newOrders(t, p, signing.Options{})
	o.service = onStore(t, o.db, p, signing.Options{IgnoreInterval: true})
	if _, err := o.order(); err == nil || !strings.Contains(err.Error(), "without an owner") {
		t.Error(err)
	}
	if kinds := o.allKinds(); len(kinds) != 0 || p.calls != 0 {
		t.Errorf("%v, %d calls", kinds, p.calls)
	}
	o.wantNoJobs()
	o.wantThere([]string{o.document}, true)
}

// What else keeps the owner from taking a signature does not last.
func TestOwnerThatFails(t *testing.T) {
	t.Parallel()
	for _, fault := range []error{storage.ErrUnavailable, storage.ErrFull, errors.New("a fault of ours")} {
		synctest.Test(t, func(t *testing.T) {
			o := newOrders(t, newPhone(t), signing.Options{IgnoreInterval: true})
			o.owner.objects = func() error { return fault }
			id := o.mustOrder()
			if _, err := o.Drive(t.Context(), id); !errors.Is(err, fault) {
				t.Error(err)
			}
			o.wantSignatures(0)
			o.tells(property, "accepted")
			o.tells(id, "signature.asked", "signature.prepared", "signature.made")
			o.owner.objects = nil
			o.background(t)
			time.Sleep(time.Minute)
			o.wantSignatures(1)
			o.tells(property, landed...)
			o.tells(id, ordered...)
			o.wantNoJobs()
		})
	}
}

// What an account orders is not what it polls: no start clears it, and nothing is swept while its
// signature may still land (spec 3.6 is of polled requests).
func TestOrdersAreNotCleared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPhone(t)
		out := newOutage(p.ca)
		o := newOrders(t, p, signing.Options{Sources: out.sources, Keep: time.Hour})
		out.cut(errTSADown, nil)
		id := o.mustOrder()
		time.Sleep(20 * time.Minute)
		asked := p.digests
		o.mustStart() // with which that of another would be cleared
		p.digests = asked
		o.tells(id, "signature.asked", "signature.prepared")
		o.work(t.Context()) // the person had answered in time
		o.tells(id, "signature.asked", "signature.prepared", "signature.made")
		time.Sleep(11 * time.Hour)
		if n, err := o.Sweep(t.Context()); n != 1 || err != nil { // the other
			t.Errorf("swept %d, %v", n, err)
		}
		out.cut(nil, nil)
		o.work(t.Context())
		o.wantSignatures(1)
		o.tells(property, landed...)
		if n, err := o.Sweep(t.Context()); n != 1 || err != nil {
			t.Errorf("swept %d, %v", n, err)
		}
		o.wantSignatures(1)
	})
}

// An order whose driver is gone does not hold the document for ever. What was given is its job's to end,
// which tries first.
func TestOrderWithoutAJob(t *testing.T) {
	t.Parallel()
	for _, given := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			p := newPhone(t)
			out := newOutage(p.ca)
			o := newOrders(t, p, signing.Options{Sources: out.sources, Keep: 48 * time.Hour})
			out.cut(errTSADown, nil)
			id := o.mustOrder()
			if given {
				time.Sleep(3 * time.Second)
				o.work(t.Context())
			}
			time.Sleep(25 * time.Hour)
			want, last := 1, "signature.abandoned"
			if given {
				want, last = 0, "signature.failed"
			}
			if n, err := o.Sweep(t.Context()); n != want || err != nil {
				t.Errorf("swept %d, %v", n, err)
			}
			o.work(t.Context())
			if got := o.progress(id); !got.Done || got.Failure == nil {
				t.Errorf("%+v", got)
			}
			if given {
				o.keptForRecovery(id)
			} else {
				o.remembered(id)
			}
			o.tells(property, "accepted", "ended")
			if kinds := o.kinds(id); slices.Contains(kinds, "ledger") || kinds[len(kinds)-1] != last {
				t.Errorf("%v", kinds)
			}
			o.wantNoJobs()
			o.wantSignatures(0)
			o.wantThere([]string{o.document}, true)
		})
	}
}
