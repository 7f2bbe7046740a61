package queue_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/internal/queue"
	"github.com/innsigli/innsigli/storage"
)

// Several runners on one queue do each job once, and bound what is in work, also that of one
// group over all of them.
func TestSeveralRunners(t *testing.T) {
	bubble(t, func(q *fixture) {
		var jobs []storage.Job
		for i := range 60 {
			jobs = append(jobs, storage.Job{Group: fmt.Sprint("group ", i%20), Unique: fmt.Sprint(i)})
		}
		q.add(jobs...)
		var mu sync.Mutex
		all, of := make(map[string]int), make(map[string]int) // in work, by runner and by group
		var stops []func() error
		for name := range 3 {
			stops = append(stops, q.start(q.runner(func(_ context.Context, job storage.Job) (time.Time, error) {
				count := func(by int) {
					mu.Lock()
					defer mu.Unlock()
					all[fmt.Sprint(name)] += by
					of[job.Group] += by
					if all[fmt.Sprint(name)] > 8 || of[job.Group] > 2 {
						t.Errorf("%d jobs of the runner in work, %d of the group", all[fmt.Sprint(name)], of[job.Group])
					}
				}
				count(1)
				time.Sleep(10 * time.Millisecond)
				count(-1)
				return time.Time{}, nil
			})))
		}
		time.Sleep(10 * time.Second)
		for _, stop := range stops {
			if err := stop(); err != nil {
				t.Error(err)
			}
		}
		times := make(map[string]int)
		for _, unique := range q.unique {
			times[unique]++
		}
		for unique, n := range times {
			if n != 1 {
				t.Errorf("job %s was done %d times", unique, n)
			}
		}
		if _, none := q.left(); len(times) != 60 || !none || q.reported != nil {
			t.Errorf("%d jobs done, all: %v; reported %v", len(times), none, q.reported)
		}
	})
}

// A group with much to do holds up no other.
func TestGroupsAreFair(t *testing.T) {
	bubble(t, func(q *fixture) {
		for range 100 {
			q.add(storage.Job{Group: "much", Unique: ""})
		}
		stop := q.start(q.runner(lasting(time.Minute)))
		time.Sleep(10 * time.Second)
		q.add(storage.Job{Group: "little", Unique: "the one"})
		time.Sleep(time.Millisecond)
		if err := stop(); err != nil {
			t.Error(err)
		}
		if got := q.unique[len(q.unique)-1]; got != "the one" || len(q.unique) != 3 {
			t.Errorf("%d jobs begun, the last %q", len(q.unique), got)
		}
	})
}

// Work begins at once: when it is enqueued, when it is due, and when there is room for it.
// That of other processes, which do not announce it here, waits for five seconds at most.
func TestWhenWorkBegins(t *testing.T) {
	for _, test := range []struct {
		name string
		due  time.Duration
		deaf bool
		want time.Duration // after it was enqueued
	}{
		{name: "at once"},
		{name: "when due", due: 300 * time.Millisecond, want: 300 * time.Millisecond},
		{name: "due later", due: 3210 * time.Millisecond, want: 3210 * time.Millisecond},
		{name: "of another process", deaf: true, want: 4500 * time.Millisecond},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(q *fixture) {
				r := q.runner(do)
				if test.deaf {
					r.Jobs = deaf{r.Jobs}
				}
				stop := q.start(r)
				time.Sleep(10*time.Second + 500*time.Millisecond)
				q.add(storage.Job{Due: time.Now().Add(test.due)})
				time.Sleep(10 * time.Second)
				if err := stop(); err != nil {
					t.Error(err)
				}
				want := []time.Duration{10*time.Second + 500*time.Millisecond + test.want}
				if diff := cmp.Diff(want, q.done); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
	t.Run("when there is room", func(t *testing.T) {
		bubble(t, func(q *fixture) {
			q.add(storage.Job{Group: "g"}, storage.Job{Group: "g"}, storage.Job{Group: "g"})
			q.during(10*time.Second, q.runner(lasting(1234*time.Millisecond)))
			if diff := cmp.Diff([]time.Duration{0, 0, 1234 * time.Millisecond}, q.done); diff != "" {
				t.Error(diff)
			}
		})
	})
}

// deaf is a queue that does not tell of what is enqueued.
type deaf struct{ storage.Jobs }

func (deaf) Enqueued() <-chan struct{} { return nil }

// A job is done again when its handler says so, and after errors with pauses that grow.
func TestJobsAreDoneAgain(t *testing.T) {
	fault := errors.New("a fault")
	for _, test := range []struct {
		name     string
		handler  func(q *fixture) queue.Handler
		want     []int  // seconds
		reported string // of each
	}{
		{"at the time that it says", func(q *fixture) queue.Handler {
			return func(_ context.Context, job storage.Job) (time.Time, error) {
				if job.Attempt == 3 {
					return time.Time{}, nil
				}
				return time.Now().Add(7 * time.Second), nil
			}
		}, []int{0, 7, 14}, ""},
		{"at the time that it says, with an error", func(q *fixture) queue.Handler {
			return func(context.Context, storage.Job) (time.Time, error) { return time.Now().Add(time.Hour), fault }
		}, []int{0}, "a fault"},
		{"after an error", func(q *fixture) queue.Handler {
			return func(context.Context, storage.Job) (time.Time, error) { return time.Time{}, fault }
		}, []int{0, 5, 15, 35, 75, 155, 315, 615, 915}, "a fault"},
		{"after a panic", func(q *fixture) queue.Handler {
			return func(context.Context, storage.Job) (time.Time, error) { panic(fault) }
		}, []int{0, 5, 15, 35, 75, 155, 315, 615, 915}, "panicked: *errors.errorString"},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(q *fixture) {
				q.add(storage.Job{})
				q.during(1000*time.Second, q.runner(test.handler(q)))
				var got []int
				for _, at := range q.done {
					got = append(got, int(at/time.Second))
				}
				if diff := cmp.Diff(test.want, got); diff != "" {
					t.Error(diff)
				}
				if want := map[bool]int{true: len(test.want)}[test.reported != ""]; len(q.reported) != want {
					t.Errorf("%d errors reported, want %d", len(q.reported), want)
				}
				for _, err := range q.reported {
					if !strings.Contains(err.Error(), test.reported) {
						t.Error(err)
					}
				}
			})
		})
	}
}

// Jobs of a kind that the runner does not have are left to others.
func TestOtherKindsAreLeftAlone(t *testing.T) {
	bubble(t, func(q *fixture) {
		q.tx(func(ctx context.Context) error { return q.db.Jobs().Enqueue(ctx, storage.Job{Kind: "another kind"}) })
		q.add(storage.Job{})
		q.during(time.Minute, q.runner(do))
		next, err := q.db.Jobs().NextDue(t.Context(), "another kind")
		if due, there := next["another kind"]; err != nil || !there || due.After(q.began) || len(q.done) != 1 {
			t.Errorf("due %v, %v; %d jobs done", next, err, len(q.done))
		}
	})
}
