package queue_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/storage"
)

// A runner that stops lets jobs end, for a while, and gives back those that do not.
func TestStop(t *testing.T) {
	for _, test := range []struct {
		name  string
		lasts time.Duration
		took  time.Duration
		left  bool
	}{
		{"idle", 0, 0, false},
		{"a job that ends in time", 8 * time.Second, 7 * time.Second, false},
		{"a job that does not", time.Hour, 10 * time.Second, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(q *fixture) {
				q.add(storage.Job{})
				stop := q.start(q.runner(lasting(test.lasts)))
				time.Sleep(time.Second)
				began := time.Now()
				if err := stop(); err != nil {
					t.Error(err)
				}
				if took := time.Since(began); took != test.took {
					t.Errorf("stopped after %v, want %v", took, test.took)
				}
				due, none := q.left()
				if none == test.left || due > time.Since(q.began) {
					t.Errorf("left: %v, due after %v", !none, due)
				}
				if q.reported != nil {
					t.Error(q.reported)
				}
			})
		})
	}
}

// A runner that is to stop before it has begun reports no error of the store.
func TestStopAtStart(t *testing.T) {
	bubble(t, func(q *fixture) {
		r := q.runner(do)
		r.SingleProcess = true
		ctx, cancel := context.WithCancel(q.Context())
		cancel()
		if err := r.Run(ctx); err != nil || q.reported != nil {
			t.Error(err, q.reported)
		}
	})
}

// A handler that heeds no context is not waited for.
func TestHandlerThatDoesNotEnd(t *testing.T) {
	bubble(t, func(q *fixture) {
		q.add(storage.Job{})
		stuck := make(chan struct{})
		stop := q.start(q.runner(func(context.Context, storage.Job) (time.Time, error) {
			<-stuck
			return time.Time{}, nil
		}))
		time.Sleep(time.Second)
		began := time.Now()
		if err := stop(); err == nil {
			t.Error("no error")
		}
		if took := time.Since(began); took != 15*time.Second {
			t.Errorf("stopped after %v", took)
		}
		close(stuck)
		synctest.Wait()
	})
}

// A handler's context ends at its time limit, and no two do a job at once.
func TestHandlerThatTakesTooLong(t *testing.T) {
	bubble(t, func(q *fixture) {
		q.add(storage.Job{})
		var working atomic.Int32
		r := q.runner(func(ctx context.Context, _ storage.Job) (time.Time, error) {
			if working.Add(1) > 1 {
				t.Error("two at one job")
			}
			defer working.Add(-1)
			<-ctx.Done()
			return time.Time{}, ctx.Err()
		})
		first, second := q.start(r), q.start(r)
		time.Sleep(4 * time.Minute)
		if err := errors.Join(first(), second()); err != nil {
			t.Error(err)
		}
		if len(q.reported) != 2 || !errors.Is(q.reported[0], context.DeadlineExceeded) {
			t.Errorf("reported %v", q.reported)
		}
		want := []time.Duration{0, 125 * time.Second}
		if diff := cmp.Diff(want, q.done); diff != "" {
			t.Error(diff)
		}
	})
}

// unreachable is a store that is away for a while.
type unreachable struct {
	storage.Transactor
	from, to time.Time
	unsaid   bool // it does what it is asked to, and does not say so
}

func (u *unreachable) InTx(ctx context.Context, fn func(context.Context) error) error {
	away := !time.Now().Before(u.from) && time.Now().Before(u.to)
	if !away || u.unsaid {
		if err := u.Transactor.InTx(ctx, fn); err != nil || !away {
			return err
		}
	}
	return storage.ErrUnavailable
}

// An outage of the store is reported once. The result of a job is stored when the store is there again. A claim
// whose commit was not confirmed is made again when its lease has run out.
func TestStoreThatIsAway(t *testing.T) {
	for _, test := range []struct {
		name     string
		from, to time.Duration
		unsaid   bool
		want     []time.Duration // when the jobs were done
		later    []string        // the errors that were reported after the outage
	}{
		{"before the claim", 0, 10500 * time.Millisecond, false, []time.Duration{11020 * time.Millisecond}, nil}, // tried when it is announced, and each second
		{"before the end of the job", 500 * time.Millisecond, 20 * time.Second, false, []time.Duration{0}, nil},
		{"at the end of the job, which was committed", 500 * time.Millisecond, 1500 * time.Millisecond, true, []time.Duration{0}, nil},
		{"at the claim, which was committed", 0, 500 * time.Millisecond, true, []time.Duration{15 * time.Second}, []string{interrupted}},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(q *fixture) {
				q.add(storage.Job{})
				r := q.runner(lasting(time.Second))
				r.Tx = &unreachable{q.db, q.began.Add(test.from), q.began.Add(test.to), test.unsaid}
				q.during(5*time.Minute, r)
				if diff := cmp.Diff(test.want, q.done); diff != "" {
					t.Error(diff)
				}
				if _, none := q.left(); !none {
					t.Error("the job was not finished")
				}
				if len(q.reported) == 0 || !errors.Is(q.reported[0], storage.ErrUnavailable) || q.kinds[0] != "" {
					t.Fatalf("reported %v of %q", q.reported, q.kinds)
				}
				var later []string
				for _, err := range q.reported[1:] {
					later = append(later, err.Error())
				}
				if diff := cmp.Diff(test.later, later); diff != "" {
					t.Errorf("reported later (-want +got):\n%s", diff)
				}
			})
		})
	}
}

// A result is stored, and reported, once, whether or not the store had stored it before it became unavailable.
func TestResultWhoseStoringIsNotConfirmed(t *testing.T) {
	fault := errors.New("a fault")
	for _, test := range []struct {
		name     string
		retry    time.Duration
		err      error
		attempts int // that are permitted
		want     []time.Duration
		kinds    []string // of the reports, after that of the store
	}{
		{"Retry", 5 * time.Second, nil, 0, []time.Duration{0, 6 * time.Second}, nil},
		{"Fail", 0, fault, 0, []time.Duration{0, 6 * time.Second}, []string{kind}},
		{"Fail, which parks the job", 0, fault, 1, []time.Duration{0}, []string{kind}},
	} {
		for _, unsaid := range []bool{false, true} {
			t.Run(fmt.Sprint(test.name, ", stored ", unsaid), func(t *testing.T) {
				bubble(t, func(q *fixture) {
					q.add(storage.Job{})
					r := q.runner(func(_ context.Context, job storage.Job) (time.Time, error) {
						if job.Attempt > 1 {
							return time.Time{}, nil
						}
						time.Sleep(time.Second) // time: virtual, as in all tests of the runner
						if test.err != nil {
							return time.Time{}, test.err
						}
						return time.Now().Add(test.retry), nil
					})
					r.Kinds[0].MaxAttempts = test.attempts
					r.Tx = &unreachable{q.db, q.began.Add(500 * time.Millisecond), q.began.Add(1500 * time.Millisecond), unsaid}
					q.during(time.Minute, r)
					if diff := cmp.Diff(test.want, q.done); diff != "" {
						t.Errorf("called at other times (-want +got):\n%s", diff)
					}
					if diff := cmp.Diff(append([]string{""}, test.kinds...), q.kinds); diff != "" {
						t.Errorf("reported %v (-want +got):\n%s", q.reported, diff)
					}
					if test.attempts == 0 {
						if _, none := q.left(); !none || q.parked != nil {
							t.Errorf("the job is done: %v; reported as parked: %v", none, q.parked)
						}
					} else if diff := cmp.Diff([]storage.Job{q.only().Job}, q.parked); diff != "" {
						t.Errorf("reported as parked (-want +got):\n%s", diff)
					}
				})
			})
		}
	}
}
