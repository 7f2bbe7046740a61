package storagetest

import (
	"context"
	"testing"
	"time"

	"github.com/innsigli/innsigli/storage"
)

// lease is how long the leases of this suite are.
const lease = time.Minute

// work is a job of a kind and a group that is due so many seconds after base.
func work(kind, group string, seconds int) storage.Job {
	return storage.Job{Kind: kind, Group: group, Due: after(seconds), Payload: []byte{0, 255, 'p'}}
}

// unique is a job that is due at base and that no other of its kind may be.
func unique(kind, group, key string) storage.Job {
	j := work(kind, group, 0)
	j.Unique = key
	return j
}

func after(seconds int) time.Time { return base.Add(time.Duration(seconds) * time.Second) }

func enqueue(t *testing.T, b Backend, jobs ...storage.Job) {
	t.Helper()
	do(t, b, func(ctx context.Context) error { return b.Jobs.Enqueue(ctx, jobs...) })
}

// claim claims jobs of the kind "k" at a time.
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

// lost fails the test unless the lease is good for nothing any more.
func lost(t *testing.T, b Backend, l storage.Lease) {
	t.Helper()
	do(t, b, func(ctx context.Context) error {
		failed(t, b.Jobs.Finish(ctx, l), storage.ErrLeaseLost)
		failed(t, b.Jobs.Retry(ctx, l, base), storage.ErrLeaseLost)
		failed(t, b.Jobs.Postpone(ctx, l, base), storage.ErrLeaseLost)
		failed(t, b.Jobs.Fail(ctx, l, storage.Failure{At: base}), storage.ErrLeaseLost)
		held, err := b.Jobs.Extend(ctx, []storage.Lease{l}, after(1<<20))
		found(t, held, err, []bool{false})
		return nil
	})
}

// heard waits until jobs are announced.
func heard(t *testing.T, b Backend) {
	t.Helper()
	<-b.Jobs.Enqueued()
}

func quiet(t *testing.T, b Backend) {
	t.Helper()
	select {
	case <-b.Jobs.Enqueued():
		t.Error("something was announced")
	default:
	}
}
