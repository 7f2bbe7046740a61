package signing_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
)

// cost is what calls took of the store.
type cost struct{ Reads, Writes, Transactions int64 }

// counted is a store of requests whose calls are counted.
type counted struct {
	signing.Store
	reads, writes atomic.Int64
}

func (s *counted) Request(ctx context.Context, id string) (signing.Request, error) {
	s.reads.Add(1)
	return s.Store.Request(ctx, id)
}

func (s *counted) UpdateRequest(ctx context.Context, r signing.Request) error {
	s.writes.Add(1)
	return s.Store.UpdateRequest(ctx, r)
}

// countedTx are transactions that are counted.
type countedTx struct {
	storage.Transactor
	n atomic.Int64
}

func (tx *countedTx) InTx(ctx context.Context, fn func(context.Context) error) error {
	tx.n.Add(1)
	return tx.Transactor.InTx(ctx, fn)
}

// meter is a service and what it costs.
type meter struct {
	service
	store *counted
	tx    *countedTx
}

func newMeter(t *testing.T, p *phone, o signing.Options) meter {
	db := newStore(t)
	store, tx := &counted{Store: db.Requests()}, &countedTx{Transactor: db}
	return meter{wired(t, db, store, tx, p, o), store, tx}
}

func (m meter) cost() cost { return cost{m.store.reads.Load(), m.store.writes.Load(), m.tx.n.Load()} }

// read is the cost of a poll that only waits.
var read = cost{Reads: 1}

// polled polls and says what it came to, and what it took.
func (m meter) polled(id string) (idp.ErrorCode, cost) {
	m.t.Helper()
	before := m.cost()
	r := m.poll(id)
	after := m.cost()
	return r.Code, cost{after.Reads - before.Reads, after.Writes - before.Writes, after.Transactions - before.Transactions}
}

// Until the time before which the provider is not to be asked, a poll is one read: it does not ask the provider and
// writes nothing. Neither does a poll that comes too early.
func TestPollThatOnlyWaits(t *testing.T) {
	t.Parallel()
	for _, anyPace := range []bool{false, true} {
		t.Run(fmt.Sprint("any pace ", anyPace), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPhone(t)
				p.sign = func(s idp.State) (idp.State, idp.Event, error) {
					return s, idp.Waiting{Code: "0042", RetryAfter: 20 * time.Second}, nil
				}
				m := newMeter(t, p, signing.Options{IgnoreInterval: anyPace})
				id := m.mustStart()
				calls := p.calls
				want := map[bool]idp.ErrorCode{false: idp.SlowDown, true: pending}[anyPace]
				for time.Since(started(t, m, id)) < 20*time.Second {
					if code, took := m.polled(id); code != pending || took != read {
						t.Fatalf("a poll in time: %s, %+v", code, took)
					}
					time.Sleep(time.Second)
					if code, took := m.polled(id); code != want || took != read {
						t.Fatalf("a second later: %s, %+v", code, took)
					}
					time.Sleep(time.Second)
				}
				if p.calls != calls {
					t.Errorf("the provider was asked %d times", p.calls-calls)
				}
				m.checkSigned(m.poll(id).Document)
			})
		})
	}
}

// started is when a request was.
func started(t *testing.T, m meter, id string) time.Time {
	t.Helper()
	r, err := m.db.Requests().Request(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return r.CreatedAt
}

// While a job completes the signature, polls only read too.
func TestPollWhileAJobCompletes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPhone(t)
		o := newOutage(p.ca)
		m := newMeter(t, p, signing.Options{Sources: o.sources})
		o.cut(nil, errResponderDown)
		id := m.mustStart()
		m.pending(id, "the poll that brings the value")
		for range 5 {
			time.Sleep(2 * time.Second)
			if code, took := m.polled(id); code != pending || took != read {
				t.Errorf("%s, %+v", code, took)
			}
		}
	})
}

// What is not there to be polled costs a read.
func TestPollOfNothing(t *testing.T) {
	t.Parallel()
	m := newMeter(t, newPhone(t), signing.Options{})
	ended := m.mustStart()
	m.checkSigned(m.poll(ended).Document)
	for _, id := range []string{ended, "0b0e7a3c-5f7f-4c5e-9d53-111111111111"} {
		if _, took := m.polled(id); took != read {
			t.Errorf("%+v", took)
		}
	}
}

// The pace of polls that write nothing is known to their own server alone, that of the others
// to all.
func TestPaceOverServers(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		rest time.Duration // that the provider says
		want idp.ErrorCode
	}{
		{"polls that only read", time.Minute, pending},
		{"polls that ask", 0, idp.SlowDown},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPhone(t)
				p.sign = func(s idp.State) (idp.State, idp.Event, error) { return s, idp.Waiting{RetryAfter: test.rest}, nil }
				p.poll = waits
				db := newStore(t)
				first, second := onStore(t, db, p, signing.Options{}), onStore(t, db, p, signing.Options{})
				id := first.mustStart()
				first.pending(id, "the first poll")
				for _, s := range []struct {
					service
					want idp.ErrorCode
				}{{first, idp.SlowDown}, {second, test.want}} {
					if r := s.poll(id); r.Code != s.want {
						t.Errorf("%q, want %q", r.Code, s.want)
					}
				}
			})
		})
	}
}
