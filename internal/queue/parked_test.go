package queue_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/innsigli/innsigli/internal/queue"
	"github.com/innsigli/innsigli/storage"
)

// only returns the only job there is.
func (q *fixture) only() storage.StoredJob {
	q.Helper()
	list, err := q.db.Jobs().List(q.Context(), storage.JobQuery{Limit: 10})
	if err != nil || len(list) != 1 {
		q.Fatalf("%d jobs, error %v", len(list), err)
	}
	return list[0]
}

// A job whose attempts fail is parked after the last one that is permitted, and tried again when an operator says so.
func TestJobsAreParked(t *testing.T) {
	fault := errors.New("a fault")
	for _, test := range []struct {
		name string
		fail func(q *fixture) queue.Kind
		text string
	}{
		{"an error", func(q *fixture) queue.Kind {
			return queue.Kind{Do: func(context.Context, storage.Job) (time.Time, error) { return time.Time{}, fault }}
		}, "a fault"},
		{"an error with a later time", func(q *fixture) queue.Kind {
			return queue.Kind{Do: func(context.Context, storage.Job) (time.Time, error) { return time.Now().Add(time.Second), fault }}
		}, "a fault"},
		{"the store is unavailable to it alone", func(q *fixture) queue.Kind {
			return queue.Kind{Do: func(context.Context, storage.Job) (time.Time, error) {
				return time.Time{}, fmt.Errorf("reading: %w", storage.ErrUnavailable)
			}}
		}, "reading: storage: not available"},
		{"the store is full to it alone", func(q *fixture) queue.Kind {
			return queue.Kind{Do: func(context.Context, storage.Job) (time.Time, error) { return time.Time{}, storage.ErrFull }}
		}, "storage: no room left"},
		{"a panic", func(q *fixture) queue.Kind {
			return queue.Kind{Do: func(context.Context, storage.Job) (time.Time, error) { panic("0101302989") }}
		}, "the handler panicked: string"},
		{"its time is up", func(q *fixture) queue.Kind { return queue.Kind{Do: lasting(time.Hour)} }, "context deadline exceeded"},
		{"an error after two interruptions", func(q *fixture) queue.Kind {
			return queue.Kind{Timeout: time.Minute, Do: func(ctx context.Context, job storage.Job) (time.Time, error) {
				if job.Failures < 2 {
					time.Sleep(100 * time.Second) // time: virtual, as in all tests of the runner; it does not heed its context
				}
				return time.Time{}, fault
			}}
		}, "a fault"},
		{"what follows fails", func(q *fixture) queue.Kind {
			return q.followed(func(context.Context, storage.Job) error { return fault })
		}, "a fault"},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(q *fixture) {
				q.add(storage.Job{Unique: "u"})
				r := q.runner(do)
				k := test.fail(q)
				k.Name, k.MaxAttempts = kind, 3
				r.Kinds = []queue.Kind{k}
				q.during(time.Hour, r)
				got := q.only()
				if len(q.reported) != 3 {
					t.Fatalf("reported %v", q.reported)
				}
				for i, kind := range q.kinds {
					if kind != got.Kind {
						t.Errorf("reported %v of %q", q.reported[i], kind)
					}
				}
				if diff := cmp.Diff([]storage.Job{got.Job}, q.parked); diff != "" {
					t.Errorf("reported as parked (-want +got):\n%s", diff)
				}
				if got.State(time.Now()) != storage.JobParked || got.Failures != 3 || got.Attempt != 3 || got.LastError != test.text || got.FailedAt.IsZero() {
					t.Errorf("it became %+v", got)
				}
				q.add(storage.Job{Unique: "u"})
				q.tx(func(ctx context.Context) error { return q.db.Jobs().RetryNow(ctx, got.ID, time.Now()) })
				r.Kinds = []queue.Kind{{Name: kind, Do: do}}
				q.during(time.Minute, r)
				if list, err := q.db.Jobs().List(t.Context(), storage.JobQuery{Limit: 10}); len(list) != 0 || err != nil {
					t.Errorf("left: %v, error %v", list, err)
				}
			})
		})
	}
}

// What is no failure of a job does not count.
func TestWhatIsNoFailedAttempt(t *testing.T) {
	for _, test := range []struct {
		name    string
		handler queue.Handler
	}{
		{"a later time without an error", func(context.Context, storage.Job) (time.Time, error) { return time.Now().Add(time.Second), nil }},
		{"the stop of the runner", func(ctx context.Context, _ storage.Job) (time.Time, error) {
			<-ctx.Done()
			return time.Time{}, ctx.Err()
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(q *fixture) {
				q.add(storage.Job{})
				for range 10 {
					r := q.runner(test.handler)
					r.Kinds[0].MaxAttempts = 2
					q.during(10*time.Second, r)
				}
				if got := q.only(); got.Attempt < 10 || got.Failures != 0 || got.Parked || got.LastError != "" {
					t.Errorf("it became %+v", got)
				}
			})
		})
	}
}
