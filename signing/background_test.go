package signing_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/innsigli/innsigli/internal/queue"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
)

// background is what a server does besides answering: it goes on with what waits.
func (s service) background(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	jobs := queue.Runner{
		Jobs: s.db.Jobs(), Tx: s.db, Kinds: s.works(),
		Failed: func(_ context.Context, job storage.Job, err error) { t.Errorf("%s: %v", job.Kind, err) },
	}
	done := make(chan error, 1)
	go func() { done <- jobs.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
}

// works are what a runner does for the service.
func (s service) works() (all []queue.Kind) {
	for name, do := range s.Handlers() {
		all = append(all, queue.Kind{Name: name, Do: do})
	}
	return all
}

// work does what the background would do now, within the context, and says how many jobs it
// finished. What the store keeps it from is put off.
func (s service) work(ctx context.Context) (finished int) {
	s.t.Helper()
	for kind, handle := range s.Handlers() {
		var leases []storage.Lease
		must := func(f func(ctx context.Context) error) {
			s.t.Helper()
			if err := s.db.InTx(s.t.Context(), f); err != nil {
				s.t.Fatal(err)
			}
		}
		must(func(ctx context.Context) (err error) {
			leases, err = s.db.Jobs().Claim(ctx, kind, time.Now(), 10, 10, time.Minute)
			return err
		})
		for _, l := range leases {
			retry, err := handle(ctx, l.Job)
			if again(err) {
				retry = time.Now().Add(5 * time.Second)
			} else if err != nil {
				s.t.Error(err)
			}
			if !retry.IsZero() {
				must(func(ctx context.Context) error { return s.db.Jobs().Retry(ctx, l, retry) })
				continue
			}
			must(func(ctx context.Context) error {
				if err := s.db.Jobs().Finish(ctx, l); !errors.Is(err, storage.ErrLeaseLost) { // a job may end itself
					return err
				}
				return nil
			})
			finished++
		}
	}
	return finished
}

// While a poll completes a request, no job completes it too.
func TestPollDropsTheJob(t *testing.T) {
	t.Parallel()
	s := newService(t, newPhone(t), signing.Options{})
	id := s.mustStart()
	broken := errors.New("connection broken")
	if err := s.Poll(t.Context(), account, id, func(signing.Answer) error { return broken }); !errors.Is(err, broken) {
		t.Fatal(err)
	}
	if due, err := s.db.Jobs().NextDue(t.Context(), "signing.complete"); err != nil || len(due) > 0 {
		t.Errorf("there is a job at %v, %v", due, err)
	}
}
