package signing_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/idp"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
)

// The store becomes unavailable at any transaction, whether or not that one is committed. A client that repeats its calls
// gets one document with one signature, the person is asked once, and no document is left: neither the one that was
// sent, nor a signed one of XML that a transaction which was not committed would have kept.
func TestStoreThatGoesAway(t *testing.T) {
	unavailable, full := storage.ErrUnavailable, storage.ErrFull
	for format, outings := range map[signing.Format][]outing{
		signing.PDF: {
			{committed: false, err: unavailable}, {committed: false, err: unavailable, lasts: 4 * time.Second}, {committed: false, err: unavailable, lasts: 25 * time.Second},
			{committed: true, err: unavailable}, {committed: true, err: unavailable, lasts: 4 * time.Second}, {committed: true, err: unavailable, lasts: 25 * time.Second},
			{err: full}, {err: full, lasts: 4 * time.Second}, {err: full, lasts: 25 * time.Second},
		},
		signing.XML: {{committed: true, err: unavailable}, {err: unavailable, lasts: 4 * time.Second}, {err: full}},
	} {
		for _, o := range outings {
			t.Run(fmt.Sprintf("%s, %v, committed %v, for %v", format, o.err, o.committed, o.lasts), func(t *testing.T) {
				t.Parallel()
				for o.at = 1; goesAway(t, o, format); {
					o.at++
				}
				if o.at < 8 {
					t.Errorf("a request took %d transactions: the test sees too few of them", o.at-1)
				}
			})
		}
	}
}

// goesAway takes a request through the outing, and says whether the store went.
func goesAway(t *testing.T, o outing, format signing.Format) (went bool) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p, db := newPhone(t), &creating{DB: newStore(t)}
		signal, err := busysignal.New(db.BusySignals(), db, busysignal.Options{}).Create(t.Context(), account)
		if err != nil {
			t.Fatal(err)
		}
		tx := &shaky{Transactor: db, outing: o}
		s := wired(t, db, db.Requests(), tx, p, signing.Options{})
		s.format = format
		id := s.startInsistently(signal)
		signed := s.pollInsistently(id)
		s.checkSigned(signed)
		if p.calls != 3 {
			t.Errorf("transaction %d: %d calls to the provider, want one of each", o.at, p.calls)
		}
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
		plain := onStore(t, db, p, signing.Options{})
		if r := plain.poll(id); !r.Finished && (o.lasts < 10*time.Second || !bytes.Equal(r.Document, signed)) {
			t.Errorf("transaction %d: after delivery: %+v", o.at, r)
		}
		want := []string{"signature.asked", "signature.prepared", "signature.made", "signature.completed", "signature.delivered"}
		if diff := cmp.Diff(want, plain.kinds(id)); diff != "" {
			t.Errorf("transaction %d: the evidence log (-want +got):\n%s", o.at, diff)
		}
		if err := plain.signals.Take(t.Context(), account, signal, busysignal.Holder{ID: "another"}); err != nil {
			t.Errorf("transaction %d: the busy signal after the end: %v", o.at, err)
		}
		time.Sleep(time.Minute)
		plain.work(t.Context())
		for kind := range plain.Handlers() {
			if next, err := db.Jobs().NextDue(t.Context(), kind); err != nil || len(next) > 0 {
				t.Errorf("transaction %d: there is a job %s at %v, %v", o.at, kind, next, err)
			}
		}
		plain.documents() // those of starts that were not committed are swept
		plain.wantThere(db.created, false)
		went = tx.went()
	})
	return went && !t.Failed()
}

// What the provider answered waits for the store for half a minute. Without a store for
// longer, it is asked again.
func TestAnswerWaitsForTheStore(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		away  time.Duration
		calls int
	}{{29 * time.Second, 3}, {35 * time.Second, 4}} {
		synctest.Test(t, func(t *testing.T) {
			p, db := newPhone(t), newStore(t)
			tx := &shaky{Transactor: db, outing: outing{at: -1, err: storage.ErrUnavailable}}
			s := wired(t, db, db.Requests(), tx, p, signing.Options{})
			id := s.mustStart()
			answer := p.poll
			p.poll = func(state idp.State) (idp.State, idp.Event, error) {
				if tx.until.IsZero() {
					tx.until = time.Now().Add(test.away)
				}
				return answer(state)
			}
			s.checkSigned(s.pollInsistently(id))
			if p.calls != test.calls {
				t.Errorf("away for %v: %d calls to the provider, want %d", test.away, p.calls, test.calls)
			}
		})
	}
}

// After an outage, a poll does not wait for leases from before it.
func TestLeasesAfterAnOutage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, db := newPhone(t), newStore(t)
		p.poll = waits
		tx := &shaky{Transactor: db, outing: outing{at: -1, committed: true, lasts: 3 * time.Second, err: storage.ErrUnavailable}}
		s := wired(t, db, db.Requests(), tx, p, signing.Options{})
		id := s.mustStart()
		tx.mu.Lock()
		tx.at = tx.n + 1 // the one that takes the lease
		tx.mu.Unlock()
		poll := func() error { return s.Poll(t.Context(), account, id, func(signing.Answer) error { return nil }) }
		if err := poll(); !errors.Is(err, storage.ErrUnavailable) {
			t.Error(err)
		}
		time.Sleep(5 * time.Second)
		began := time.Now()
		if err := poll(); err != nil {
			t.Error(err)
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("the next poll waited %v", took)
		}
	})
}

// Close does not wait for a store that stays away.
func TestCloseWithoutAStore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p, db := newPhone(t), newStore(t)
		tx := &shaky{Transactor: db, outing: outing{at: -1, err: storage.ErrUnavailable}}
		s := wired(t, db, db.Requests(), tx, p, signing.Options{})
		id := s.mustStart()
		p.poll = waits
		err := s.Poll(t.Context(), account, id, func(signing.Answer) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		tx.mu.Lock()
		tx.at, tx.committed, tx.lasts = tx.n+1, true, time.Hour
		tx.mu.Unlock()
		document, err := s.Upload(t.Context(), bytes.NewReader(pdftest.Build(pdftest.Options{})), 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Start(t.Context(), signing.Start{Account: account, Document: document}); !errors.Is(err, storage.ErrUnavailable) {
			t.Error(err)
		}
		ctx, end := context.WithTimeout(t.Context(), 2*time.Second)
		defer end()
		if err := s.Close(ctx); err != nil && !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
	})
}
