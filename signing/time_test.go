package signing_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/signing"
)

func waits(s idp.State) (idp.State, idp.Event, error) { return s, idp.Waiting{}, nil }

// spec 3.6: ExpiredToken repeats until a start
// call of the account finds the request 15 minutes old.
func TestExpiryAndClearing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPhone(t)
		s := newService(t, p, signing.Options{})
		p.poll = waits
		signal, err := s.signals.Create(t.Context(), account)
		if err != nil {
			t.Fatal(err)
		}
		id := s.mustStart(func(in *signing.Start) { in.BusySignal = &signing.BusySignalUse{ID: signal} })
		time.Sleep(289 * time.Second)
		if r := s.poll(id); r.Code != idp.AuthorizationPending {
			t.Errorf("before its time: %+v", r)
		}
		time.Sleep(3 * time.Second)
		for range 3 {
			if r := s.poll(id); r.Code != idp.ExpiredToken {
				t.Errorf("after its time: %+v", r)
			}
		}
		if err := s.signals.Take(t.Context(), account, signal, busysignal.Holder{ID: "another"}); err != nil {
			t.Errorf("an expired request holds the signal: %v", err)
		}
		time.Sleep(9 * time.Minute) // not 15 minutes old
		s.mustStart()
		if r := s.poll(id); r.Code != idp.ExpiredToken {
			t.Errorf("cleared too early: %+v", r)
		}
		time.Sleep(2 * time.Minute)
		if _, err := s.start(func(in *signing.Start) { in.Account = "another account" }); err != nil {
			t.Fatal(err)
		}
		if r := s.poll(id); r.Code != idp.ExpiredToken {
			t.Errorf("cleared by another account: %+v", r)
		}
		s.mustStart()
		if r := s.poll(id); !r.Finished {
			t.Errorf("not cleared: %+v", r)
		}
	})
}

// A request expires when the provider says, if that is sooner than the service's own limit.
func TestExpiryOfTheProvider(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPhone(t)
		expires := time.Now().Add(100 * time.Second)
		p.sign = func(state idp.State) (idp.State, idp.Event, error) {
			state.Expires = expires
			return state, idp.Waiting{}, nil
		}
		p.poll = waits
		s := newService(t, p, signing.Options{})
		started, err := s.start()
		if err != nil || started.ExpiresIn != 100*time.Second {
			t.Fatalf("%+v, %v", started, err)
		}
		time.Sleep(99 * time.Second)
		s.pending(started.ID, "before the end")
		time.Sleep(2 * time.Second)
		if r := s.poll(started.ID); r.Code != idp.ExpiredToken {
			t.Errorf("%+v", r)
		}
	})
}

// A signature given in time is not lost to a client that polls late.
func TestLatePollGetsTheSignature(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newService(t, newPhone(t), signing.Options{})
		id := s.mustStart()
		time.Sleep(14 * time.Minute)
		s.checkSigned(s.poll(id).Document)
	})
}

func TestUndeliveredDocumentIsCleared(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newService(t, newPhone(t), signing.Options{})
		id := s.mustStart()
		_ = s.Poll(t.Context(), account, id, func(signing.Answer) error { return errors.New("connection broken") })
		time.Sleep(16 * time.Minute)
		_ = s.Poll(t.Context(), account, id, func(signing.Answer) error { return errors.New("connection broken") })
		s.mustStart()
		if r := s.poll(id); !r.Finished {
			t.Errorf("%+v", r)
		}
	})
}

func TestClearingMoreThanABatch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPhone(t)
		s := newService(t, p, signing.Options{})
		var ids []string
		for range 45 {
			ids = append(ids, s.mustStart())
		}
		time.Sleep(16 * time.Minute)
		s.mustStart()
		for _, id := range ids {
			if r := s.poll(id); !r.Finished {
				t.Fatalf("%+v", r)
			}
		}
	})
}

// spec 3.11: held by one request, for 5 minutes at most.
func TestBusySignal(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPhone(t)
		p.poll = waits
		s := newService(t, p, signing.Options{Expiry: time.Hour})
		signal, err := s.signals.Create(t.Context(), account)
		if err != nil {
			t.Fatal(err)
		}
		use := func(user *string) func(*signing.Start) {
			return func(in *signing.Start) { in.BusySignal = &signing.BusySignalUse{ID: signal, UserID: user} }
		}
		first := "the first"
		s.mustStart(use(&first))
		time.Sleep(4*time.Minute + 59*time.Second)
		var held *busysignal.HeldError
		if _, err := s.start(use(nil)); !errors.As(err, &held) || held.UserID == nil || *held.UserID != first {
			t.Fatalf("while held: %v", err)
		}
		time.Sleep(2 * time.Second)
		p.poll = func(state idp.State) (idp.State, idp.Event, error) { return state, p.signed(), nil }
		id := s.mustStart(use(nil))
		if _, err := s.start(use(&first)); !errors.As(err, &held) || held.UserID != nil {
			t.Fatalf("held by one without a name: %v", err)
		}
		s.checkSigned(s.poll(id).Document)
		s.mustStart(use(nil)) // free after the end
		if _, err := s.start(func(in *signing.Start) {
			in.BusySignal = &signing.BusySignalUse{ID: "4e3c0e0e-6f0a-4c39-9b4c-000000000000"}
		}); !errors.Is(err, busysignal.ErrNotFound) {
			t.Errorf("unknown signal: %v", err)
		}
	})
}

// A process that died while it held the lease keeps others waiting no longer than
// the lease lasts, and one that was only slow cannot write any more.
func TestLeaseOfAProcessThatDied(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPhone(t)
		slow := onStore(t, newStore(t), p, signing.Options{})
		id := slow.mustStart()
		stuck := make(chan struct{})
		took := make(chan time.Duration, 1)
		outcome := make(chan error, 1)
		go func() {
			outcome <- slow.Poll(t.Context(), account, id, func(signing.Answer) error {
				<-stuck // its renewals stop with it below
				return nil
			})
		}()
		synctest.Wait()
		// The lease is taken away as it is from a process that is gone: no renewals.
		if err := slow.db.InTx(t.Context(), func(ctx context.Context) error {
			r, err := slow.db.Requests().Request(ctx, id)
			if err != nil {
				return err
			}
			r.Revision++
			r.Lease.Process, r.Lease.Token = "gone", "gone"
			return slow.db.Requests().UpdateRequest(ctx, r)
		}); err != nil {
			t.Fatal(err)
		}
		other := onStore(t, slow.db, p, signing.Options{})
		began := time.Now()
		go func() {
			other.checkSigned(other.poll(id).Document)
			took <- time.Since(began)
		}()
		if d := <-took; d < time.Second || d > 11*time.Second {
			t.Errorf("took over after %v", d)
		}
		close(stuck)
		if err := <-outcome; err == nil {
			t.Error("the slow process ended the request although its lease was lost")
		}
	})
}

// spec 1.8: a start with the same idempotency key gives the same answer.
func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPhone(t)
		p.sign = func(s idp.State) (idp.State, idp.Event, error) { return s, idp.Waiting{Code: "4141"}, nil }
		s := newService(t, p, signing.Options{})
		with := func(client, key, body string) func(*signing.Start) {
			return func(in *signing.Start) {
				in.Key = &signing.IdempotencyKey{Client: client, Key: key, Fingerprint: body}
			}
		}
		id := s.mustStart(with("client", "key", "body"))
		again, err := s.start(with("client", "key", "body"))
		if err != nil || again.ID != id || again.Code != "4141" {
			t.Errorf("%+v, %v", again, err)
		}
		if _, err := s.start(with("client", "key", "another body")); !errors.Is(err, signing.ErrKeyReused) {
			t.Error(err)
		}
		s.checkSigned(s.poll(id).Document)
		if again, err := s.start(with("client", "key", "body")); err != nil || again.ID != id {
			t.Errorf("after delivery: %+v, %v", again, err)
		}
		abandoned := s.mustStart(with("client", "another key", "body"))
		time.Sleep(16 * time.Minute)
		if again, err := s.start(with("client", "another key", "body")); err != nil || again.ID != abandoned {
			t.Errorf("after clearing: %+v, %v", again, err)
		}
		if r := s.poll(abandoned); !r.Finished {
			t.Errorf("after clearing: %+v", r)
		}
		if other := s.mustStart(with("another client", "key", "another body")); other == id {
			t.Error("keys of two clients are mixed up")
		}
	})
}

// A start that died before it was answered may be made again, also when the account's
// next start finds it abandoned; with another body it may not.
func TestStartThatDied(t *testing.T) {
	t.Parallel()
	for _, wait := range []time.Duration{time.Minute, 16 * time.Minute} {
		synctest.Test(t, func(t *testing.T) {
			p := newPhone(t)
			s := onStore(t, newStore(t), p, signing.Options{})
			key := &signing.IdempotencyKey{Client: "client", Key: "key", Fingerprint: "body"}
			dead := signing.Request{
				ID: "9b3b1a86-4a2c-4d0d-8f0e-2a7f0f3f8f11", Account: account, CreatedAt: time.Now().UTC(), Phase: signing.Starting, Key: key,
				Lease: signing.Lease{Process: "dead", Token: "dead", Until: time.Now().Add(10 * time.Second)},
			}
			if err := s.db.InTx(t.Context(), func(ctx context.Context) error { return s.db.Requests().CreateRequest(ctx, dead) }); err != nil {
				t.Fatal(err)
			}
			again := func(body string) (signing.Started, error) {
				return s.start(func(in *signing.Start) {
					in.Key = &signing.IdempotencyKey{Client: key.Client, Key: key.Key, Fingerprint: body}
				})
			}
			if _, err := again("body"); !errors.Is(err, signing.ErrKeyInUse) {
				t.Errorf("while it may be running: %v", err)
			}
			time.Sleep(wait)
			if _, err := again("another body"); wait < 15*time.Minute && !errors.Is(err, signing.ErrKeyReused) {
				t.Errorf("another body: %v", err)
			} else if wait > 15*time.Minute {
				return // forgotten with the request: a start of its own
			}
			started, err := again("body")
			if err != nil || started.ID == dead.ID || started.ExpiresIn != 290*time.Second {
				t.Fatalf("%+v, %v", started, err)
			}
			s.checkSigned(s.poll(started.ID).Document)
		})
	}
}
