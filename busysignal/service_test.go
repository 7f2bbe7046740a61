package busysignal_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/uuid"
	"golang.org/x/sync/errgroup"

	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/storage/bolt"
)

// bubble runs a test with an empty store in a synctest bubble.
func bubble(t *testing.T, test func(t *testing.T, s *busysignal.Service, db *bolt.DB)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		db, err := bolt.Open(filepath.Join(t.TempDir(), "store.db"), bolt.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		test(t, busysignal.New(db.BusySignals(), db, busysignal.Options{}), db)
	})
}

func create(t *testing.T, s *busysignal.Service) string {
	t.Helper()
	id, err := s.Create(t.Context(), "account")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := uuid.Parse(id); err != nil {
		t.Error(err)
	}
	return id
}

// take takes the signal for a request and reports whether another request holds it.
func take(t *testing.T, s *busysignal.Service, id, request string) (held bool) {
	t.Helper()
	err := s.Take(t.Context(), "account", id, busysignal.Holder{ID: request})
	var heldErr *busysignal.HeldError
	if err != nil && !errors.As(err, &heldErr) {
		t.Fatalf("Take: %v", err)
	}
	return heldErr != nil
}

func release(t *testing.T, s *busysignal.Service, id, request string) {
	t.Helper()
	if err := s.Release(t.Context(), id, request); err != nil {
		t.Errorf("Release: %v", err)
	}
}

func TestTakeHeldSignal(t *testing.T) {
	bubble(t, func(t *testing.T, s *busysignal.Service, _ *bolt.DB) {
		id, user := create(t, s), "anna"
		if err := s.Take(t.Context(), "account", id, busysignal.Holder{ID: "1", UserID: &user}); err != nil {
			t.Fatal(err)
		}
		err := s.Take(t.Context(), "account", id, busysignal.Holder{ID: "2"})
		var held *busysignal.HeldError
		if !errors.As(err, &held) || held.UserID == nil || *held.UserID != user {
			t.Errorf("Take: %#v", err)
		}
		if take(t, s, id, "1") {
			t.Error("the holder was refused")
		}
		if take(t, s, create(t, s), "2") {
			t.Error("another signal is held")
		}
	})
}

func TestHoldTimeout(t *testing.T) {
	bubble(t, func(t *testing.T, s *busysignal.Service, _ *bolt.DB) {
		id := create(t, s)
		take(t, s, id, "1")
		time.Sleep(4 * time.Minute)
		take(t, s, id, "1") // does not prolong it
		time.Sleep(time.Minute - time.Second)
		if !take(t, s, id, "2") {
			t.Error("free before 5 minutes")
		}
		time.Sleep(time.Second)
		if take(t, s, id, "2") {
			t.Error("held after 5 minutes")
		}
		release(t, s, id, "1") // its hold has expired, and the signal was taken again
		if !take(t, s, id, "3") {
			t.Error("a request whose hold has expired released the signal")
		}
	})
}

func TestReleaseByAnotherRequest(t *testing.T) {
	bubble(t, func(t *testing.T, s *busysignal.Service, _ *bolt.DB) {
		id := create(t, s)
		release(t, s, id, "1")
		release(t, s, uuid.NewString(), "1")
		take(t, s, id, "1")
		release(t, s, id, "2")
		if !take(t, s, id, "2") {
			t.Error("another request released the signal")
		}
		release(t, s, id, "1")
		if take(t, s, id, "2") {
			t.Error("held after Release")
		}
	})
}

// spec 1.7
func TestSignalOfAnotherAccount(t *testing.T) {
	bubble(t, func(t *testing.T, s *busysignal.Service, _ *bolt.DB) {
		id := create(t, s)
		take(t, s, id, "1")
		for account, id := range map[string]string{"other": id, "account": uuid.NewString(), "": ""} {
			err := s.Take(t.Context(), account, id, busysignal.Holder{ID: "2"})
			if !errors.Is(err, busysignal.ErrNotFound) {
				t.Errorf("%q, %q: %v", account, id, err)
			}
		}
	})
}

// spec 3.11
func TestSignalExpiresAfterAYear(t *testing.T) {
	bubble(t, func(t *testing.T, s *busysignal.Service, _ *bolt.DB) {
		used, unused := create(t, s), create(t, s)
		time.Sleep(300 * 24 * time.Hour)
		take(t, s, used, "1")
		sweep(t, s, 0)
		time.Sleep(100 * 24 * time.Hour)
		if err := s.Take(t.Context(), "account", unused, busysignal.Holder{ID: "2"}); !errors.Is(err, busysignal.ErrNotFound) {
			t.Errorf("Take before it is swept: %v", err)
		}
		sweep(t, s, 1)
		if take(t, s, used, "2") {
			t.Error("held")
		}
		time.Sleep(367 * 24 * time.Hour)
		sweep(t, s, 1)
		sweep(t, s, 0)
	})
}

func sweep(t *testing.T, s *busysignal.Service, want int) {
	t.Helper()
	if n, err := s.Sweep(t.Context()); err != nil || n != want {
		t.Errorf("Sweep: %d, %v, want %d", n, err, want)
	}
}

func TestTakeJoinsTheTransaction(t *testing.T) {
	bubble(t, func(t *testing.T, s *busysignal.Service, db *bolt.DB) {
		id, refused := create(t, s), errors.New("the provider refused")
		err := db.InTx(t.Context(), func(ctx context.Context) error {
			if err := s.Take(ctx, "account", id, busysignal.Holder{ID: "1"}); err != nil {
				return err
			}
			return refused
		})
		if err != refused {
			t.Errorf("InTx: %v", err)
		}
		if take(t, s, id, "2") {
			t.Error("a transaction that failed holds the signal")
		}
	})
}

// Releasing a deleted signal does not fail the transaction.
func TestReleaseDeletedSignal(t *testing.T) {
	bubble(t, func(t *testing.T, s *busysignal.Service, db *bolt.DB) {
		err := db.InTx(t.Context(), func(ctx context.Context) error {
			return s.Release(ctx, uuid.NewString(), "1")
		})
		if err != nil {
			t.Error(err)
		}
	})
}

func TestConcurrentTake(t *testing.T) {
	bubble(t, func(t *testing.T, s *busysignal.Service, _ *bolt.DB) {
		id := create(t, s)
		won := make(chan string, 20)
		var group errgroup.Group
		for range cap(won) {
			group.Go(func() error {
				request := uuid.NewString()
				err := s.Take(t.Context(), "account", id, busysignal.Holder{ID: request})
				var held *busysignal.HeldError
				if errors.As(err, &held) {
					return nil
				}
				won <- request
				return err
			})
		}
		if err := group.Wait(); err != nil || len(won) != 1 {
			t.Errorf("%d hold it, error %v", len(won), err)
		}
	})
}

// The service uses the time of Options.Now: a hold has expired when this clock was moved by an hour.
func TestClock(t *testing.T) {
	bubble(t, func(t *testing.T, _ *busysignal.Service, db *bolt.DB) {
		now := time.Now()
		s := busysignal.New(db.BusySignals(), db, busysignal.Options{Now: func(context.Context) time.Time { return now }})
		id := create(t, s)
		if take(t, s, id, "first") || !take(t, s, id, "second") {
			t.Fatal("the first request did not hold the signal alone")
		}
		now = now.Add(time.Hour)
		if take(t, s, id, "second") {
			t.Error("the first request held the signal an hour later")
		}
	})
}
