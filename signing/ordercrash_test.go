package signing_test

import (
	"bytes"
	"context"
	"crypto"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
)

// Whatever an order was at when its server died, another goes on, and no client waits for long.
func TestOrdersOfAServerThatDied(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		dies func(o *orders, out *outage) // at the end, the server is dead
		want int                          // signatures
	}{
		"before the provider answered": {func(o *orders, _ *outage) {
			o.phone.begin = func() (idp.Event, error) { time.Sleep(time.Hour); return nil, errors.New("dead") } // time: in a bubble
			go func() { _, _ = o.order() }()
			time.Sleep(time.Second) // time: in a bubble
		}, 0},
		"before the person answered": {func(o *orders, _ *outage) { o.mustOrder() }, 1},
		"before it was complete": {func(o *orders, out *outage) {
			out.cut(errTSADown, nil)
			id := o.mustOrder()
			ctx, end := context.WithTimeout(o.t.Context(), time.Second) // time: in a bubble
			defer end()
			if _, err := o.Drive(ctx, id); !errors.Is(err, context.DeadlineExceeded) {
				o.t.Error(err)
			}
			out.cut(nil, nil)
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPhone(t)
				out := newOutage(p.ca)
				o := newOrders(t, p, signing.Options{Sources: out.sources})
				row.dies(o, out)
				synctest.Wait()
				o.phone = p.again()
				next := o.beside(signing.Options{Sources: out.sources, SingleProcess: true}) // to which all others are dead
				next.background(t)
				time.Sleep(10 * time.Second)
				next.wantSignatures(row.want)
				next.mustOrder()
				time.Sleep(5 * time.Second)
				next.wantSignatures(row.want + 1)
				time.Sleep(time.Hour) // the first server was only slow, and comes back
				next.wantSignatures(row.want + 1)
				next.wantNoJobs()
			})
		})
	}
}

// again is the same phone as another server calls it.
func (p *phone) again() *phone {
	again := *p
	again.busy = make(chan struct{}, 1)
	again.begin = func() (idp.Event, error) { return again.needDigest(), nil }
	again.poll = func(s idp.State) (idp.State, idp.Event, error) { return s, again.signed(), nil }
	return &again
}

// meddling is a timestamp authority during whose answer something happens, once.
type meddling struct {
	ades.Timestamper
	happens func()
}

func (m *meddling) Timestamp(ctx context.Context, h crypto.Hash, sum []byte) ([]byte, error) {
	if happens := m.happens; happens != nil {
		m.happens = nil
		happens()
	}
	return m.Timestamper.Timestamp(ctx, h, sum)
}

// meddled are orders, and what happens while a signature is completed.
func meddled(t *testing.T, p *phone) (*orders, *meddling) {
	t.Helper()
	sources := p.ca.Sources(nil)
	m := &meddling{Timestamper: sources.Time}
	sources.Time = m
	return newOrders(t, p, signing.Options{IgnoreInterval: true, Sources: func() ades.Sources { return sources }}), m
}

func (o *orders) change(f func(ctx context.Context) error) {
	o.t.Helper()
	if err := o.db.InTx(o.t.Context(), f); err != nil {
		o.t.Error(err)
	}
}

// Who lost the lease while completing a signature puts nothing into the document: another may be
// at it.
func TestLeaseLostWhileAnOrderIsCompleted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		o, meanwhile := meddled(t, newPhone(t))
		id := o.mustOrder()
		meanwhile.happens = func() {
			o.change(func(ctx context.Context) error {
				r, err := o.db.Requests().Request(ctx, id)
				r.Revision++
				r.Lease = signing.Lease{Process: "another", Token: "another", Until: time.Now().Add(10 * time.Second)}
				return errors.Join(err, o.db.Requests().UpdateRequest(ctx, r))
			})
		}
		if _, err := o.Drive(t.Context(), id); !errors.Is(err, storage.ErrUnavailable) {
			t.Error(err)
		}
		o.wantSignatures(0)
		o.tells(property, "accepted")
		o.background(t)
		time.Sleep(20 * time.Second)
		o.wantSignatures(1)
		o.tells(property, landed...)
		o.tells(id, ordered...)
	})
}

// The document belongs to an owner. What another person has added to it since the person was asked stays
// the last word.
func TestDocumentThatMovedOn(t *testing.T) {
	t.Parallel()
	grow := func(o *orders) {
		o.change(func(ctx context.Context) error {
			return o.db.Documents().Append(ctx, o.document, storage.Revision{Base: int64(len(o.unsigned)), Bytes: []byte("% more\n")})
		})
	}
	for name, meddle := range map[string]func(o *orders, m *meddling){
		"before the signature was given": func(o *orders, _ *meddling) { grow(o) },
		"while it was completed":         func(o *orders, m *meddling) { m.happens = func() { grow(o) } },
	} {
		t.Run(name, func(t *testing.T) {
			o, meanwhile := meddled(t, newPhone(t))
			id := o.mustOrder()
			meddle(o, meanwhile)
			if got := o.drive(id); !got.Done || got.Failure == nil || got.Failure.Code != idp.InternalError {
				t.Errorf("%+v", got)
			}
			if want := append(bytes.Clone(o.unsigned), "% more\n"...); !bytes.Equal(o.content(), want) {
				t.Error("something was put into the document")
			}
			o.tells(property, "accepted", "ended")
			o.tells(id, "signature.asked", "signature.prepared", "signature.made", "signature.failed")
			o.wantNoJobs()
		})
	}
}
