package signing_test

import (
	"bytes"
	"crypto"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/idp"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/signing"
)

// A source of evidence is down for an hour, and longer than any poll would wait. The document is
// not a draft: there is nothing in it until the signature has all its evidence.
func TestOrderDuringAnOutage(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		cut    func(n *network)
		stamps int // timestamps asked for while the responder is down
	}{
		"timestamp authority": {func(n *network) { n.set(tsa, down) }, 0},
		"responder":           {func(n *network) { n.set(responder, down); n.set(list, down) }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := newNetwork(t)
				options := func() signing.Options { return n.options(n.client(tsa, n.roots)) }
				o := newOrders(t, n.phone, options())
				o.drive(o.mustOrder())
				o.wantSignatures(1)
				before, asked := o.content(), n.requests(tsa)
				row.cut(n)
				id := o.mustOrder()
				time.Sleep(3 * time.Second)
				given := time.Now() // which the first job hears of
				for range 12 {
					o.work(t.Context())
					time.Sleep(5 * time.Minute)
					if !bytes.Equal(o.content(), before) {
						t.Fatal("something is in the document that may come to nothing")
					}
				}
				if again := n.requests(tsa) - asked; row.stamps != 0 && again != row.stamps {
					t.Errorf("%d timestamps", again)
				}
				o.tells(id, ordered[:3]...)
				n.restore()
				asked = n.requests(tsa)
				next := o.beside(options()) // of a server that was started meanwhile
				next.background(t)
				time.Sleep(time.Minute)
				next.wantSignatures(2)
				if again := n.requests(tsa) - asked; again != 1-row.stamps {
					t.Errorf("%d more timestamps", again)
				}
				next.tells(id, ordered...)
				next.wantTold(id, before, given)
				next.wantHashed()
				next.remembered(id)
				next.wantNoJobs()
			})
		})
	}
}

// The person has answered, and the provider cannot say for an hour what the answer needs.
func TestAnsweredOrderDuringAnOutage(t *testing.T) {
	testenv.Slow(t, "it asks for hours of virtual time")
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := once(t)
		answer := p.poll
		back := time.Now().Add(time.Hour)
		p.poll = func(s idp.State) (idp.State, idp.Event, error) {
			switch {
			case s.Secret == nil:
				s, _, err := answer(s)
				return s, idp.Continue{Answer: true}, err
			case time.Now().Before(back):
				return s, nil, errors.New("502")
			}
			return answer(s)
		}
		o := newOrders(t, p, signing.Options{})
		o.background(t)
		o.mustOrder()
		time.Sleep(time.Until(back) - time.Second)
		o.wantSignatures(0)
		time.Sleep(time.Minute)
		o.wantSignatures(1)
		o.wantNoJobs()
	})
}

// wantHashed says that the next signature need not read all of the document.
func (o *orders) wantHashed() {
	o.t.Helper()
	blob, err := o.db.Documents().Open(o.t.Context(), o.document)
	if err != nil {
		o.t.Fatal(err)
	}
	defer blob.Close()
	for _, m := range blob.Hashed() {
		if m.Hash == crypto.SHA256 && m.Offset == blob.Size() {
			return
		}
	}
	o.t.Errorf("of %d bytes: %+v", blob.Size(), blob.Hashed())
}

// An outage that does not end ends the order after half a day, and gives the document back.
func TestOrderDuringAnOutageWithoutEnd(t *testing.T) {
	testenv.Slow(t, "hours of attempts are made")
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPhone(t)
		out := newOutage(p.ca)
		o := newOrders(t, p, signing.Options{Sources: out.sources})
		out.cut(nil, errResponderDown)
		id := o.mustOrder()
		workFor := func(long time.Duration) {
			for began := time.Now(); time.Since(began) < long; o.work(t.Context()) {
				time.Sleep(10 * time.Minute)
			}
		}
		workFor(12 * time.Hour)
		if got := o.progress(id); got.Done {
			t.Errorf("%+v", got)
		}
		workFor(20 * time.Minute)
		if got := o.progress(id); !got.Done || got.Failure == nil || got.Failure.Code != idp.InternalError {
			t.Errorf("%+v", got)
		}
		o.tells(property, "accepted", "ended")
		o.tells(id, unsettled...)
		o.wantSignatures(0)
		o.keptForRecovery(id)
		out.cut(nil, nil)
		if got := o.drive(o.mustOrder()); got.Failure != nil {
			t.Errorf("%+v", got)
		}
		o.wantSignatures(1)
	})
}
