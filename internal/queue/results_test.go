package queue_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/internal/queue"
	"github.com/innsigli/innsigli/storage"
)

// followed is a kind whose jobs take a second and are followed by one of another kind that has
// their name, so that the store says for which of them then was called.
func (q *fixture) followed(then func(ctx context.Context, job storage.Job) error) queue.Kind {
	return queue.Kind{Name: kind, Concurrency: 1000, DoThen: func(_ context.Context, job storage.Job) (func(context.Context) error, error) {
		q.note(job)
		time.Sleep(time.Second) // time: virtual, as in all tests of the runner
		return func(ctx context.Context) error {
			if err := q.db.Jobs().Enqueue(ctx, storage.Job{Kind: "following", Unique: job.Unique}); err != nil {
				return err
			}
			return then(ctx, job)
		}, nil
	}}
}

// following are the jobs that follow.
func (q *fixture) following() (unique []string) {
	q.Helper()
	q.tx(func(ctx context.Context) error {
		leases, err := q.db.Jobs().Claim(ctx, "following", time.Now(), 1000, 1000, time.Minute)
		for _, l := range leases {
			unique = append(unique, l.Unique)
		}
		return err
	})
	return unique
}

// What follows a job is stored when the job is, and only then. One job that comes to nothing
// harms none of those that end together with it.
func TestThen(t *testing.T) {
	fault := errors.New("a fault")
	lost := func(q *fixture) { // the lease of the third
		time.Sleep(500 * time.Millisecond) // time: virtual, as in all tests of the runner
		q.tx(func(ctx context.Context) error { return q.db.Jobs().DropUnique(ctx, kind, "2") })
	}
	for _, test := range []struct {
		name      string
		meanwhile func(q *fixture)
		third     func() error
		times     []int // in seconds, at which the third is done
		follows   bool
		reported  int
	}{
		{"goes well", func(*fixture) {}, func() error { return nil }, []int{0}, true, 0},
		{"fails", func(*fixture) {}, func() error { return fault }, []int{0, 6, 17, 38, 79}, false, 5},
		{"panics", func(*fixture) {}, func() error { panic(fault) }, []int{0, 6, 17, 38, 79}, false, 5},
		{"has lost its lease", lost, func() error { return nil }, []int{0}, false, 0},
		{"would fail and has lost its lease", lost, func() error { return fault }, []int{0}, false, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(q *fixture) {
				q.add(many(5)...)
				r := q.runner(do)
				store := &counted{Jobs: r.Jobs, Transactor: r.Tx, takes: time.Microsecond}
				r.Tx = store // so that those end together
				r.Kinds = []queue.Kind{q.followed(func(_ context.Context, job storage.Job) error {
					if job.Unique == "2" {
						return test.third()
					}
					return nil
				})}
				stop := q.start(r)
				test.meanwhile(q)
				time.Sleep(100 * time.Second)
				if err := stop(); err != nil {
					t.Error(err)
				}
				var times []int
				for i, at := range q.done {
					if q.unique[i] == "2" {
						times = append(times, int(at/time.Second))
					}
				}
				if diff := cmp.Diff(test.times, times); diff != "" || len(q.done) != 4+len(test.times) {
					t.Errorf("%d jobs done, the third at other times (-want +got):\n%s", len(q.done), diff)
				}
				got := strings.Join(q.following(), " ")
				if want := map[bool]int{true: 5, false: 4}[test.follows]; len(strings.Fields(got)) != want || strings.Contains(got, "2") != test.follows {
					t.Errorf("what follows: %s", got)
				}
				if len(q.reported) != test.reported {
					t.Errorf("reported %v", q.reported)
				}
			})
		})
	}
}

// Nothing follows a job that failed, or that a runner which stops gives back.
func TestNothingFollowsAFailure(t *testing.T) {
	for _, stops := range []bool{false, true} {
		t.Run(fmt.Sprint("stops ", stops), func(t *testing.T) {
			bubble(t, func(q *fixture) {
				q.add(storage.Job{})
				r := q.runner(do)
				r.Kinds = []queue.Kind{{Name: kind, DoThen: func(ctx context.Context, _ storage.Job) (func(context.Context) error, error) {
					then := func(context.Context) error { t.Error("then was called"); return nil }
					if stops {
						<-ctx.Done()
						return then, ctx.Err()
					}
					return then, errors.New("a fault")
				}}}
				q.during(time.Second, r)
				if _, none := q.left(); none {
					t.Error("the job was finished")
				}
			})
		})
	}
}

// What follows waits for a store that is away, and follows once.
func TestThenWhileTheStoreIsAway(t *testing.T) {
	for _, unsaid := range []bool{false, true} {
		t.Run(fmt.Sprint("unsaid ", unsaid), func(t *testing.T) {
			bubble(t, func(q *fixture) {
				q.add(many(5)...)
				followed := make(map[string]int)
				r := q.runner(do)
				r.Tx = &unreachable{q.db, q.began.Add(500 * time.Millisecond), q.began.Add(1500 * time.Millisecond), unsaid}
				r.Kinds = []queue.Kind{q.followed(func(_ context.Context, job storage.Job) error {
					followed[job.Unique]++
					return nil
				})}
				q.during(time.Minute, r)
				want := map[string]int{"0": 1, "1": 1, "2": 1, "3": 1, "4": 1}
				if diff := cmp.Diff(want, followed); diff != "" || len(q.done) != 5 || len(q.reported) != 1 {
					t.Errorf("done %v, reported %v, followed (-want +got):\n%s", q.done, q.reported, diff)
				}
			})
		})
	}
}

// What follows one job meets an error each time that passes for an outage of the store. That job is parked, and the others go on.
func TestThenThatAlwaysMeetsATemporaryError(t *testing.T) {
	for _, fault := range []error{storage.ErrUnavailable, storage.ErrFull} {
		t.Run(fault.Error(), func(t *testing.T) {
			bubble(t, func(q *fixture) {
				q.add(many(5)...)
				r := q.runner(do)
				r.Kinds = []queue.Kind{q.followed(func(_ context.Context, job storage.Job) error {
					if job.Unique == "2" {
						return fmt.Errorf("statement timeout: %w", fault)
					}
					return nil
				}), {Name: "another kind", Do: do}}
				r.Kinds[0].MaxAttempts = 3
				stop := q.start(r)
				time.Sleep(1500 * time.Millisecond) // the five have ended, and none is stored
				for range 20 {
					q.tx(func(ctx context.Context) error { return q.db.Jobs().Enqueue(ctx, storage.Job{Kind: "another kind"}) })
				}
				time.Sleep(3 * time.Second)
				if list, err := q.db.Jobs().List(t.Context(), storage.JobQuery{Limit: 100, Kind: "another kind"}); err != nil || len(list) > 0 {
					t.Errorf("%d jobs of the other kind wait, error %v", len(list), err)
				}
				if got := strings.Fields(strings.Join(q.following(), " ")); len(got) != 4 {
					t.Errorf("these were followed: %v", got)
				}
				time.Sleep(time.Hour)
				if err := stop(); err != nil {
					t.Error(err)
				}
				q.reportedAndParked(3, "statement timeout: "+fault.Error())
			})
		})
	}
}

// reportedAndParked fails the test unless one job is left, which was parked after so many failures with that text, and each
// failure was reported, after one error of the store.
func (q *fixture) reportedAndParked(failures int, text string) {
	q.Helper()
	list, err := q.db.Jobs().List(q.Context(), storage.JobQuery{Limit: 10, Kind: kind})
	if err != nil || len(list) != 1 || !list[0].Parked || list[0].Failures != failures || list[0].LastError != text {
		q.Fatalf("left: %+v, error %v", list, err)
	}
	if diff := cmp.Diff([]storage.Job{list[0].Job}, q.parked); diff != "" {
		q.Errorf("reported as parked (-want +got):\n%s", diff)
	}
	var want []string
	for range failures {
		want = append(want, "", kind)
	}
	if diff := cmp.Diff(want, q.kinds); diff != "" {
		q.Errorf("reported %v of other kinds (-want +got):\n%s", q.reported, diff)
	}
}

// lockedJob is a queue in which another transaction keeps one job locked for a while, so that it cannot be finished.
type lockedJob struct {
	storage.Jobs
	unique string
	until  time.Time
}

func (l lockedJob) FinishAll(ctx context.Context, leases []storage.Lease) ([]bool, error) {
	for _, lease := range leases {
		if lease.Unique == l.unique && time.Now().Before(l.until) {
			return nil, fmt.Errorf("lock timeout: %w", storage.ErrUnavailable)
		}
	}
	return l.Jobs.FinishAll(ctx, leases)
}

// A result that cannot be stored for an hour delays no others, is reported once, and is stored then: its job is not done again.
func TestResultThatCannotBeStoredForLong(t *testing.T) {
	bubble(t, func(q *fixture) {
		q.add(many(5)...)
		r := q.runner(do)
		r.Jobs = lockedJob{r.Jobs, "2", q.began.Add(time.Hour)}
		stop := q.start(r)
		time.Sleep(10 * time.Second)
		if left := q.only(); left.Unique != "2" {
			t.Errorf("left: %+v", left)
		}
		time.Sleep(time.Hour)
		if err := stop(); err != nil {
			t.Error(err)
		}
		if _, none := q.left(); !none || len(q.done) != 5 {
			t.Errorf("all done: %v, in %d calls", none, len(q.done))
		}
		if len(q.reported) != 1 || q.kinds[0] != "" {
			t.Errorf("reported %v of %q", q.reported, q.kinds)
		}
	})
}
