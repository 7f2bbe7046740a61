package storagetest

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/storage"
)

var jobs = tests{
	"a job is claimed as it was enqueued": func(t *testing.T, open func(*testing.T) Backend) {
		b, want := open(t), uniqueJob("k", "g", "u")
		enqueue(t, b, want)
		l := claimOne(t, b, after(5))
		if l.ID == "" || l.Token == "" {
			t.Errorf("a lease without an ID or a token: %+v", l)
		}
		want.ID, want.Attempt = l.ID, 1
		if diff := cmp.Diff(storage.Lease{Job: want, Token: l.Token, Until: after(5).Add(lease)}, l); diff != "" {
			t.Errorf("the lease (-want +got):\n%s", diff)
		}
	},

	"a job may have no payload, and each gets an ID": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		bare := storage.Job{ID: "mine", Kind: "k", Group: "g", Attempt: 7, Due: base}
		enqueue(t, b, bare, bare)
		leases := claim(t, b, base, 10, 10)
		if len(leases) != 2 || leases[0].ID == leases[1].ID || leases[0].Token == leases[1].Token {
			t.Fatalf("the leases are %+v", leases)
		}
		for _, l := range leases {
			if len(l.Payload) != 0 || l.ID == "mine" || l.Attempt != 1 {
				t.Errorf("the job became %+v", l.Job)
			}
		}
	},

	"a job is not claimed before it is due": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		enqueue(t, b, exampleJob("k", "g", 10))
		claimNone(t, b, after(10).Add(-time.Microsecond))
		claimOne(t, b, after(10))
	},

	"the jobs of a dropped group are deleted, and their leases lost": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		enqueue(t, b, exampleJob("k", "gone", 0), exampleJob("k", "gone", 1), exampleJob("k", "gone2", 2), exampleJob("k2", "gone", 2))
		l := claimOne(t, b, base)
		do(t, b, func(ctx context.Context) error { return b.Jobs.Drop(ctx, "k", "gone") })
		checkLost(t, b, l)
		if left := claimOne(t, b, after(1000)); left.Group != "gone2" {
			t.Errorf("left is %+v", left.Job)
		}
	},

	"the next due time is that of a job or of the end of a lease": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		next := func(want map[string]time.Time) {
			t.Helper()
			due, err := b.Jobs.NextDue(t.Context(), "k", "k2", "none")
			checkRead(t, due, err, want)
		}
		next(map[string]time.Time{})
		enqueue(t, b, exampleJob("k", "g", 200), exampleJob("k", "h", 10), exampleJob("k2", "g", 5), exampleJob("another", "g", 0))
		next(map[string]time.Time{"k": after(10), "k2": after(5)})
		l := claimOne(t, b, after(10))
		next(map[string]time.Time{"k": l.Until, "k2": after(5)})
		do(t, b, func(ctx context.Context) error { return b.Jobs.Retry(ctx, l, after(300)) })
		next(map[string]time.Time{"k": after(200), "k2": after(5)})
		due, err := b.Jobs.NextDue(t.Context())
		checkRead(t, due, err, map[string]time.Time{})
	},

	"a rollback undoes enqueuing, claiming and finishing": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		rollBack(t, b, func(ctx context.Context) error { return b.Jobs.Enqueue(ctx, exampleJob("k", "g", 0)) })
		claimNone(t, b, base)
		enqueue(t, b, exampleJob("k", "g", 0))
		rollBack(t, b, func(ctx context.Context) error {
			_, err := b.Jobs.Claim(ctx, "k", base, 1, 1, lease)
			return err
		})
		l := claimOne(t, b, base)
		if l.Attempt != 1 {
			t.Errorf("attempt %d", l.Attempt)
		}
		rollBack(t, b, func(ctx context.Context) error { return b.Jobs.Finish(ctx, l) })
		finish(t, b, l)
	},

	"a committed transaction is announced, another is not": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		do(t, b, func(ctx context.Context) error {
			if err := b.Jobs.Enqueue(ctx, exampleJob("k", "g", 0), exampleJob("k", "g", 0)); err != nil {
				return err
			}
			checkNotEnqueued(t, b)
			return nil
		})
		waitEnqueued(t, b)
		checkNotEnqueued(t, b)
		rollBack(t, b, func(ctx context.Context) error { return b.Jobs.Enqueue(ctx, exampleJob("k", "g", 0)) })
		checkNotEnqueued(t, b)
		for range 3 {
			enqueue(t, b, exampleJob("k", "g", 0)) // the channel is not read, which blocks no transaction
		}
		waitEnqueued(t, b)
		l := claim(t, b, base, 1, 1)[0]
		checkNotEnqueued(t, b)
		do(t, b, func(ctx context.Context) error { return b.Jobs.Retry(ctx, l, base) })
		waitEnqueued(t, b)
	},

	"jobs and leases survive a restart": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		enqueue(t, b, uniqueJob("k", "g", "u"), exampleJob("k", "h", 10))
		l := claimOne(t, b, base)
		b = b.Reopen(t)
		enqueue(t, b, uniqueJob("k", "g", "u"))
		if other := claimOne(t, b, after(10)); other.Group != "h" {
			t.Errorf("claimed %+v", other.Job)
		}
		finish(t, b, l)
	},
}

var uniqueJobs = tests{
	"a job whose Unique exists is not added": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		enqueue(t, b, uniqueJob("k", "first", "u"))
		enqueue(t, b, uniqueJob("k", "second", "u"), uniqueJob("k", "other", "v"))
		enqueue(t, b, uniqueJob("k", "other", "w"), uniqueJob("k", "other", "w"))
		groups := map[string]int{}
		for _, l := range claim(t, b, base, 10, 10) {
			groups[l.Group]++
		}
		checkRead(t, groups, nil, map[string]int{"first": 1, "other": 2})
	},

	"also while it is leased": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		enqueue(t, b, uniqueJob("k", "g", "u"))
		l := claimOne(t, b, base)
		enqueue(t, b, uniqueJob("k", "g", "u"))
		claimNone(t, b, base)
		finish(t, b, l)
		claimNone(t, b, after(1000))
	},

	"after a job is finished or dropped, another may have its Unique": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		enqueue(t, b, uniqueJob("k", "g", "u"))
		finish(t, b, claimOne(t, b, base))
		enqueue(t, b, uniqueJob("k", "g", "u"))
		do(t, b, func(ctx context.Context) error { return b.Jobs.Drop(ctx, "k", "g") })
		enqueue(t, b, uniqueJob("k", "g", "u"))
		claimOne(t, b, base)
	},

	"a job is dropped by its Unique, and its lease is lost": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		enqueue(t, b, uniqueJob("k", "g", "u"))
		l := claimOne(t, b, base)
		enqueue(t, b, uniqueJob("k", "g", "another"), uniqueJob("k2", "g", "u"))
		drop := func(ctx context.Context) error { return b.Jobs.DropUnique(ctx, "k", "u") }
		do(t, b, drop)
		do(t, b, drop)
		checkLost(t, b, l)
		if left := claimOne(t, b, base); left.Unique != "another" {
			t.Errorf("left is %+v", left.Job)
		}
		enqueue(t, b, uniqueJob("k", "g", "u"))
		claimOne(t, b, base)
	},

	"also in the same transaction": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		enqueue(t, b, uniqueJob("k", "g", "u"))
		l := claimOne(t, b, base)
		do(t, b, func(ctx context.Context) error {
			if err := b.Jobs.Finish(ctx, l); err != nil {
				return err
			}
			return b.Jobs.Enqueue(ctx, uniqueJob("k", "g", "u"))
		})
		if again := claimOne(t, b, base); again.ID == l.ID {
			t.Error("the finished job was claimed again")
		}
	},

	"of two concurrent transactions one adds it": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		add := func(ctx context.Context) error { return b.Jobs.Enqueue(ctx, uniqueJob("k", "g", "u")) }
		o := &overlap{b: b, fn: add}
		do(t, b, func(ctx context.Context) error {
			defer o.meanwhile(t)
			return add(ctx)
		})
		o.wait(t)
		claimOne(t, b, base)
	},

	"a job that is added while another with its Unique is being finished": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		enqueue(t, b, uniqueJob("k", "g", "u"))
		l := claimOne(t, b, base)
		o := &overlap{b: b, fn: func(ctx context.Context) error { return b.Jobs.Enqueue(ctx, uniqueJob("k", "g", "u")) }}
		do(t, b, func(ctx context.Context) error {
			defer o.meanwhile(t)
			return b.Jobs.Finish(ctx, l)
		})
		o.wait(t)
		claimOne(t, b, base)
	},

	"kinds are independent": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		enqueue(t, b, uniqueJob("k", "g", "u"), uniqueJob("k2", "g", "u"), uniqueJob("k2", "g", ""), uniqueJob("k2", "g", ""))
		claimOne(t, b, base)
		checkClaimKind(t, b, "k2", 3)
	},

	"kinds, groups and Uniques whose concatenations are equal are different": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		enqueue(t, b, uniqueJob("k", "ab", "ac"), uniqueJob("ka", "b", "c"), uniqueJob("", "kab", "kac"), uniqueJob("kab", "", "c"))
		do(t, b, func(ctx context.Context) error { return b.Jobs.Drop(ctx, "k", "a") })
		claimOne(t, b, base)
		for _, kind := range []string{"ka", "", "kab"} {
			checkClaimKind(t, b, kind, 1)
		}
	},
}

// checkClaimKind claims jobs of another kind, and fails the test unless there are so many.
func checkClaimKind(t *testing.T, b Backend, kind string, want int) {
	t.Helper()
	var leases []storage.Lease
	do(t, b, func(ctx context.Context) (err error) {
		leases, err = b.Jobs.Claim(ctx, kind, base, 10, 10, lease)
		return err
	})
	if len(leases) != want {
		t.Errorf("%d jobs of the kind %q were claimed, want %d", len(leases), kind, want)
	}
}

// lease is the duration of the leases in this suite.
const lease = time.Minute

// exampleJob is a job of a kind and a group that is due so many seconds after base.
func exampleJob(kind, group string, seconds int) storage.Job {
	return storage.Job{Kind: kind, Group: group, Due: after(seconds), Payload: []byte{0, 255, 'p'}}
}

// uniqueJob is a job that is due at base and has a Unique.
func uniqueJob(kind, group, key string) storage.Job {
	j := exampleJob(kind, group, 0)
	j.Unique = key
	return j
}

// after returns the time so many seconds after base.
func after(seconds int) time.Time { return base.Add(time.Duration(seconds) * time.Second) }

func enqueue(t *testing.T, b Backend, jobs ...storage.Job) {
	t.Helper()
	do(t, b, func(ctx context.Context) error { return b.Jobs.Enqueue(ctx, jobs...) })
}

// claim claims jobs of the kind "k".
func claim(t *testing.T, b Backend, now time.Time, limit, perGroup int) (leases []storage.Lease) {
	t.Helper()
	do(t, b, func(ctx context.Context) (err error) {
		leases, err = b.Jobs.Claim(ctx, "k", now, limit, perGroup, lease)
		return err
	})
	return leases
}

// claimOne claims the only job that can be claimed.
func claimOne(t *testing.T, b Backend, now time.Time) storage.Lease {
	t.Helper()
	leases := claim(t, b, now, 10, 10)
	if len(leases) != 1 {
		t.Fatalf("%d jobs were claimed, want one", len(leases))
	}
	return leases[0]
}

func claimNone(t *testing.T, b Backend, now time.Time) {
	t.Helper()
	if leases := claim(t, b, now, 10, 10); len(leases) != 0 {
		t.Errorf("%d jobs were claimed, want none", len(leases))
	}
}

func finish(t *testing.T, b Backend, leases ...storage.Lease) {
	t.Helper()
	do(t, b, func(ctx context.Context) error {
		for _, l := range leases {
			if err := b.Jobs.Finish(ctx, l); err != nil {
				return err
			}
		}
		return nil
	})
}

// checkLost fails the test unless all methods refuse the lease.
func checkLost(t *testing.T, b Backend, l storage.Lease) {
	t.Helper()
	do(t, b, func(ctx context.Context) error {
		checkError(t, b.Jobs.Finish(ctx, l), storage.ErrLeaseLost)
		checkError(t, b.Jobs.Retry(ctx, l, base), storage.ErrLeaseLost)
		checkError(t, b.Jobs.Postpone(ctx, l, base), storage.ErrLeaseLost)
		checkError(t, b.Jobs.Fail(ctx, l, storage.Failure{At: base}), storage.ErrLeaseLost)
		held, err := b.Jobs.Extend(ctx, []storage.Lease{l}, after(1<<20))
		checkRead(t, held, err, []bool{false})
		return nil
	})
}

// waitEnqueued waits until jobs are announced.
func waitEnqueued(t *testing.T, b Backend) {
	t.Helper()
	<-b.Jobs.Enqueued()
}

// checkNotEnqueued fails the test if jobs were announced.
func checkNotEnqueued(t *testing.T, b Backend) {
	t.Helper()
	select {
	case <-b.Jobs.Enqueued():
		t.Error("jobs were announced")
	default:
	}
}
