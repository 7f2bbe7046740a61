package portal_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/storage"
)

// keyed returns a draft with an idempotency key.
func (s *service) keyed(value, body string) portal.Draft {
	s.t.Helper()
	return s.draft(1, func(d *portal.Draft) { d.Key = &portal.DraftKey{Value: value, Fingerprint: body} })
}

// TestRepeatedCreation checks that the same key and body return the same process for 24 hours (spec 1.8).
func TestRepeatedCreation(t *testing.T) {
	bubble(t, func(t *testing.T, s *service) {
		first := s.mustCreate(s.keyed("a key", "a body"))
		repeat := func(client, body string, want error) portal.ProcessView {
			t.Helper()
			d := s.keyed("a key", body)
			d.Client = client
			v, err := s.Create(t.Context(), d)
			s.wants(want, err)
			s.noUploads()
			return v
		}
		s.same(first, repeat("a client", "a body", nil))
		s.must(s.declineAs(first, 0))
		if got := repeat("a client", "a body", nil); got.Status != portal.Declined || got.ID != first.ID {
			t.Error(got.Status, got.ID)
		}
		repeat("a client", "another body", portal.ErrKeyReused)
		if got := repeat("another client", "a body", nil); got.ID == first.ID {
			t.Error("the key of another client")
		}
		s.must(s.Delete(t.Context(), s.account, first.ID))
		repeat("a client", "a body", portal.ErrNotFound)
		time.Sleep(24*time.Hour - 1)
		repeat("a client", "a body", portal.ErrNotFound)
		time.Sleep(time.Nanosecond)
		if got := repeat("a client", "another body", nil); got.ID == first.ID {
			t.Error("the key is known after a day")
		}
	})
}

// TestReservedKey checks that a key is reserved while a process is being created with it, however long that takes.
func TestReservedKey(t *testing.T) {
	bubble(t, func(t *testing.T, s *service) {
		planned := make(chan struct{})
		s.signer.afterPlan = func() error { // of the first call alone
			s.signer.afterPlan = nil
			<-planned
			return nil
		}
		var first portal.ProcessView
		var created sync.WaitGroup
		d := s.keyed("a key", "a body")
		created.Go(func() { first = s.mustCreate(d) })
		synctest.Wait()
		for range 5 {
			_, err := s.Create(t.Context(), s.keyed("a key", "a body"))
			s.wants(portal.ErrKeyInUse, err)
			_, err = s.Create(t.Context(), s.keyed("a key", "another body"))
			s.wants(portal.ErrKeyReused, err)
			time.Sleep(7 * time.Second)
		}
		close(planned)
		created.Wait()
		s.same(first, s.mustCreate(s.keyed("a key", "a body")))
	})
}

// TestLostReservation checks that a key is free ten seconds after its reservation was last renewed. If the call that
// reserved it still runs, it creates no process and leaves the new reservation alone.
func TestLostReservation(t *testing.T) {
	bubble(t, func(t *testing.T, s *service) {
		var unavailable atomic.Bool
		s.store.updateKey = func() error {
			if unavailable.Load() {
				return storage.ErrUnavailable
			}
			return nil
		}
		waitFor := func(c chan struct{}) func() error { return func() error { <-c; return nil } }
		firstPlans, secondPlans := make(chan struct{}), make(chan struct{})
		s.signer.afterPlan = waitFor(firstPlans)
		var first, second sync.WaitGroup
		d := s.keyed("a key", "a body")
		first.Go(func() {
			_, err := s.Create(t.Context(), d)
			s.wants(portal.ErrKeyInUse, err)
		})
		synctest.Wait()
		s.signer.afterPlan = waitFor(secondPlans)
		unavailable.Store(true) // the first reservation is not renewed
		time.Sleep(10*time.Second - time.Nanosecond)
		_, err := s.Create(t.Context(), s.keyed("a key", "a body"))
		s.wants(portal.ErrKeyInUse, err)
		time.Sleep(time.Nanosecond)
		unavailable.Store(false)
		var created portal.ProcessView
		again := s.keyed("a key", "a body")
		second.Go(func() { created = s.mustCreate(again) })
		synctest.Wait()
		close(firstPlans)
		first.Wait()
		close(secondPlans)
		second.Wait()
		s.same(created, s.mustCreate(s.keyed("a key", "a body")))
		waiting, err := s.db.Processes().Waiting(t.Context(), s.account, time.Now(), 9)
		if s.must(err); len(waiting) != 1 {
			t.Errorf("%d processes are waiting", len(waiting))
		}
		s.noUploads()
	})
}

// TestReservationOfAWrongClock checks that a reservation that ends far in the future does not count.
func TestReservationOfAWrongClock(t *testing.T) {
	s := newService(t)
	ahead := portal.Key{Client: "a client", Value: "a key", Fingerprint: "a body", CreatedAt: time.Now(), Until: time.Now().Add(time.Hour)}
	s.must(s.db.InTx(t.Context(), func(ctx context.Context) error { return s.db.Processes().CreateKey(ctx, ahead) }))
	s.mustCreate(s.keyed("a key", "a body"))
}

// TestLostOutcome checks the creation of a process whose transaction is committed while the store fails to say so: the
// document is not discarded, and a repeated call with the key finds the process.
func TestLostOutcome(t *testing.T) {
	bubble(t, func(t *testing.T, s *service) {
		d := s.keyed("a key", "a body")
		s.outbox.lost = 2
		_, err := s.Create(t.Context(), d)
		s.wants(storage.ErrUnavailable, err)
		v := s.mustCreate(s.keyed("a key", "a body"))
		if v.Document != d.Document {
			t.Error(v.Document)
		}
		s.stores(len(s.read(v.ID)), 0)

		s.outbox.lost = 1 // of the transaction that reserves the key
		_, err = s.Create(t.Context(), s.keyed("another key", "a body"))
		s.wants(storage.ErrUnavailable, err)
		_, err = s.Create(t.Context(), s.keyed("another key", "a body"))
		s.wants(portal.ErrKeyInUse, err)
		time.Sleep(10 * time.Second)
		s.mustCreate(s.keyed("another key", "a body"))
	})
}
