package storagetest

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/storage"
)

// fail fails the attempt of a lease. A due time of 0 parks the job.
func fail(t *testing.T, b Backend, l storage.Lease, text string, at, due int) {
	t.Helper()
	f := storage.Failure{Error: text, At: after(at)}
	if due > 0 {
		f.Due = after(due)
	}
	do(t, b, func(ctx context.Context) error { return b.Jobs.Fail(ctx, l, f) })
}

// parkOnly parks the only job that can be claimed, and returns it as it is stored then.
func parkOnly(t *testing.T, b Backend, at int) storage.Job {
	t.Helper()
	l := claimOne(t, b, after(at))
	fail(t, b, l, "the last", at, 0)
	l.Failures++
	l.LastError, l.FailedAt, l.Parked, l.Due = "the last", after(at), true, after(at)
	return l.Job
}

// checkStoredJob fails the test unless a job is stored as it is given.
func checkStoredJob(t *testing.T, b Backend, want storage.StoredJob) {
	t.Helper()
	got, err := b.Jobs.Job(t.Context(), want.ID)
	checkRead(t, got, err, want)
}

var failedJobs = tests{
	"a failed attempt is counted, and its error stored": func(t *testing.T, open func(*testing.T) Backend) {
		b, want := open(t), exampleJob("k", "g", 0)
		enqueue(t, b, want)
		first := claimOne(t, b, base)
		fail(t, b, first, "því miður", 1, 3)
		waitEnqueued(t, b)
		checkLost(t, b, first)
		want.ID, want.Attempt, want.Due, want.Failures, want.LastError, want.FailedAt = first.ID, 1, after(3), 1, "því miður", after(1)
		checkStoredJob(t, b, storage.StoredJob{Job: want})
		claimNone(t, b, after(2))
		second := claimOne(t, b, after(3))
		want.Attempt = 2
		checkRead(t, second.Job, nil, want)
		do(t, b, func(ctx context.Context) error { return b.Jobs.Retry(ctx, second, after(4)) }) // not a failure
		third := claimOne(t, b, after(4))
		fail(t, b, third, "another", 5, 6)
		want.Attempt, want.Due, want.Failures, want.LastError, want.FailedAt = 3, after(6), 2, "another", after(5)
		checkStoredJob(t, b, storage.StoredJob{Job: want})
	},

	"a postponed job keeps its interruptions, and its attempt is not counted": func(t *testing.T, open func(*testing.T) Backend) {
		b, want := open(t), exampleJob("k", "g", 0)
		want.Failures, want.Interruptions, want.LastError, want.FailedAt = 7, 4, "interrupted", base
		enqueue(t, b, want)
		waitEnqueued(t, b)
		var first storage.Lease
		do(t, b, func(ctx context.Context) error {
			leases, err := b.Jobs.Claim(ctx, "k", base, 1, 1, lease)
			if err != nil || len(leases) != 1 {
				t.Fatalf("%d leases, error %v", len(leases), err)
			}
			first = leases[0]
			return b.Jobs.Postpone(ctx, first, after(3))
		})
		waitEnqueued(t, b)
		checkLost(t, b, first)
		want.ID, want.Due = first.ID, after(3)
		checkStoredJob(t, b, storage.StoredJob{Job: want})
		claimNone(t, b, after(2))
		second := claimOne(t, b, after(3))
		want.Attempt = 1
		checkRead(t, second.Job, nil, want)
	},

	"successive interruptions are counted": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		enqueue(t, b, exampleJob("k", "g", 0))
		first := claimOne(t, b, base)
		interrupt := func(at, failures, interruptions int) {
			t.Helper()
			l := claimOne(t, b, after(at)) // the lease before has expired
			if !l.Interrupted || l.ID != first.ID || l.Failures != failures-1 {
				t.Errorf("claimed %+v", l)
			}
			do(t, b, func(ctx context.Context) error {
				return b.Jobs.Fail(ctx, l, storage.Failure{Error: "interrupted", At: after(at), Due: after(at), Interrupted: true})
			})
			l.Failures, l.Interruptions, l.LastError, l.FailedAt, l.Due = failures, interruptions, "interrupted", after(at), after(at)
			checkStoredJob(t, b, storage.StoredJob{Job: l.Job})
			if next := claimOne(t, b, after(at)); next.Interrupted || next.Attempt != l.Attempt+1 || next.Interruptions != interruptions {
				t.Errorf("claimed %+v, and for the next attempt %+v", l, next)
			}
		}
		interrupt(100, 1, 1)
		interrupt(200, 2, 2)
		l := claimOne(t, b, after(300)) // a lease of an interrupted attempt may expire, too
		again := claimOne(t, b, after(400))
		if !again.Interrupted || again.Attempt != l.Attempt || again.Interruptions != 2 {
			t.Errorf("claimed %+v after %+v", again, l)
		}
		fail(t, b, again, "a fault", 400, 500)
		if l = claimOne(t, b, after(500)); l.Interrupted || l.Failures != 3 || l.Interruptions != 0 {
			t.Errorf("after another failure: %+v", l)
		}
		interrupt(600, 4, 1)
		l = claimOne(t, b, after(700))
		do(t, b, func(ctx context.Context) error { return b.Jobs.Retry(ctx, l, after(800)) })
		if l = claimOne(t, b, after(800)); l.Interrupted || l.Failures != 4 || l.Interruptions != 0 {
			t.Errorf("after an attempt that ended: %+v", l)
		}
		interrupt(900, 5, 1)
		do(t, b, func(ctx context.Context) error { return b.Jobs.RetryNow(ctx, first.ID, after(1000)) })
		if l = claimOne(t, b, after(1000)); l.Interrupted || l.Failures != 0 || l.Interruptions != 0 {
			t.Errorf("after the operator's retry: %+v", l)
		}
	},

	"a parked job is stored, and is not claimed": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		enqueue(t, b, uniqueJob("k", "g", "u"))
		parked := parkOnly(t, b, 1)
		enqueue(t, b, exampleJob("k", "g", 2))
		finish(t, b, claimOne(t, b, after(1_000_000)))
		due, err := b.Jobs.NextDue(t.Context(), "k")
		checkRead(t, due, err, map[string]time.Time{})
		b = b.Reopen(t)
		checkStoredJob(t, b, storage.StoredJob{Job: parked})
		claimNone(t, b, after(1_000_000))
	},

	"a parked job keeps its Unique until it is dropped": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		enqueue(t, b, uniqueJob("k", "g", "u"))
		parkOnly(t, b, 1)
		enqueue(t, b, uniqueJob("k", "g", "u"))
		claimNone(t, b, after(10))
		do(t, b, func(ctx context.Context) error { return b.Jobs.DropUnique(ctx, "k", "u") })
		enqueue(t, b, uniqueJob("k", "g", "u"))
		parkOnly(t, b, 10)
		do(t, b, func(ctx context.Context) error { return b.Jobs.Drop(ctx, "k", "g") })
		enqueue(t, b, uniqueJob("k", "g", "u"))
		claimOne(t, b, base)
	},

	"a job is enqueued with its failures": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		enqueue(t, b, uniqueJob("k", "g", "u"))
		parked := parkOnly(t, b, 1)
		parked.Interruptions = 1
		other := open(t)
		enqueue(t, other, parked)
		list, err := other.Jobs.List(t.Context(), storage.JobQuery{Limit: 10})
		if err != nil || len(list) != 1 {
			t.Fatalf("%d jobs, error %v", len(list), err)
		}
		parked.ID, parked.Attempt = list[0].ID, 0
		checkRead(t, list[0], nil, storage.StoredJob{Job: parked})
		claimNone(t, other, after(1000))
	},

	"an operator retries a job": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		retry := func(id string, now int, want error) {
			t.Helper()
			doWithError(t, b, want, func(ctx context.Context) error { return b.Jobs.RetryNow(ctx, id, after(now)) })
		}
		enqueue(t, b, uniqueJob("k", "g", "u"))
		parked := parkOnly(t, b, 1)
		waitEnqueued(t, b)
		retry(parked.ID, 5, nil)
		waitEnqueued(t, b)
		l := claimOne(t, b, after(5))
		want := parked
		want.Attempt, want.Due, want.Failures, want.Parked = 2, after(5), 0, false // the last error stays
		checkRead(t, l.Job, nil, want)
		retry(l.ID, 6, storage.ErrInWork)
		checkStoredJob(t, b, storage.StoredJob{Job: want, LeasedUntil: l.Until})
		fail(t, b, l, "again", 7, 1000) // waits
		retry(l.ID, 8, nil)
		l = claimOne(t, b, after(8))
		dead := int(l.Until.Sub(base)/time.Second) + 1
		retry(l.ID, dead, nil) // its lease has expired
		checkLost(t, b, l)
		finish(t, b, claimOne(t, b, after(dead)))
		for _, none := range []string{l.ID, id("none"), "", "\x00 made up"} {
			retry(none, dead, storage.ErrNotFound)
		}
	},

	"an operator removes a job in any state": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		remove := func(id string, want error) {
			t.Helper()
			doWithError(t, b, want, func(ctx context.Context) error { return b.Jobs.Remove(ctx, id) })
		}
		enqueue(t, b, uniqueJob("k", "g", "u"))
		remove(parkOnly(t, b, 1).ID, nil)
		enqueue(t, b, uniqueJob("k", "g", "u"))
		l := claimOne(t, b, base)
		remove(l.ID, nil)
		checkLost(t, b, l)
		for _, none := range []string{l.ID, id("none"), "", "\x00 made up"} {
			remove(none, storage.ErrNotFound)
			_, err := b.Jobs.Job(t.Context(), none)
			checkError(t, err, storage.ErrNotFound)
		}
		parked, err := b.Jobs.CountParked(t.Context())
		checkRead(t, parked, err, map[string]int{})
	},
}

// doWithError runs fn in a transaction that must have the error given, or none.
func doWithError(t *testing.T, b Backend, want error, fn func(ctx context.Context) error) {
	t.Helper()
	if want == nil {
		do(t, b, fn)
		return
	}
	doFailing(t, b, want, fn)
}

var listedJobs = tests{
	"jobs are listed by kind and state, page by page": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		var want []storage.StoredJob
		for i := range 12 {
			enqueue(t, b, exampleJob("k", fmt.Sprint(i), 0))
			l := claimOne(t, b, base)
			if i%3 != 1 { // otherwise it stays leased
				fail(t, b, l, "a fault", 1, 500*(i%3)) // parked, or due later
			}
		}
		enqueue(t, b, exampleJob("k2", "g", 0), exampleJob("", "g", 0))
		all, err := b.Jobs.List(t.Context(), storage.JobQuery{Limit: 100})
		if err != nil || len(all) != 14 {
			t.Fatalf("%d jobs, error %v", len(all), err)
		}
		if !slices.IsSortedFunc(all, func(a, b storage.StoredJob) int { return strings.Compare(a.ID, b.ID) }) {
			t.Error("they are not in the order of their IDs")
		}
		for _, kind := range []string{"", "k", "k2", "another"} {
			for _, state := range []storage.JobState{"", storage.JobWaiting, storage.JobInWork, storage.JobParked, "unknown"} {
				for _, now := range []time.Time{after(2), base.Add(2 * lease)} {
					q := storage.JobQuery{Kind: kind, State: state, Now: now}
					want = nil
					for _, j := range all {
						if q.Selects(j) {
							want = append(want, j)
						}
					}
					if diff := cmp.Diff(want, listInPages(t, b, q, 3)); diff != "" {
						t.Errorf("kind %q, state %q at %v (-want +got):\n%s", kind, state, now, diff)
					}
				}
			}
		}
		for state, n := range map[storage.JobState]int{storage.JobParked: 4, storage.JobInWork: 4, storage.JobWaiting: 6} {
			if list := listInPages(t, b, storage.JobQuery{State: state, Now: after(2)}, 100); len(list) != n {
				t.Errorf("%d jobs are %s, want %d", len(list), state, n)
			}
		}
		parked, err := b.Jobs.CountParked(t.Context())
		checkRead(t, parked, err, map[string]int{"k": 4})
		for _, limit := range []int{0, -1} {
			list, err := b.Jobs.List(t.Context(), storage.JobQuery{Limit: limit})
			if len(list) != 0 || err != nil {
				t.Errorf("limit %d: %d jobs, error %v", limit, len(list), err)
			}
		}
	},
}

// listInPages lists jobs in pages of so many.
func listInPages(t *testing.T, b Backend, q storage.JobQuery, limit int) (list []storage.StoredJob) {
	t.Helper()
	for q.Limit = limit; ; {
		page, err := b.Jobs.List(t.Context(), q)
		if err != nil || len(page) > limit {
			t.Fatalf("%d jobs on a page, error %v", len(page), err)
		}
		list = append(list, page...)
		if len(page) < limit {
			return list
		}
		q.After = page[len(page)-1].ID
	}
}
