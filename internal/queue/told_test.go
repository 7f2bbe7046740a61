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

// Errors of handlers, and of what follows their jobs, are told with the kind of the job; those of
// the store with none, also when it is a handler that meets them.
func TestWhatIsTold(t *testing.T) {
	fault := errors.New("a fault")
	away := fmt.Errorf("reading: %w", storage.ErrUnavailable)
	failing := func(err error) queue.Handler {
		return func(context.Context, storage.Job) (time.Time, error) { return time.Time{}, err }
	}
	for _, test := range []struct {
		name   string
		runner func(q *fixture) queue.Runner
		want   error
		kind   string
	}{
		{"a handler", func(q *fixture) queue.Runner { return q.runner(failing(fault)) }, fault, kind},
		{"a handler without a store", func(q *fixture) queue.Runner { return q.runner(failing(away)) }, away, ""},
		{"what follows", func(q *fixture) queue.Runner {
			r := q.runner(do)
			r.Kinds = []queue.Kind{q.followed(func(context.Context, storage.Job) error { return fault })}
			return r
		}, fault, kind},
		{"looking", func(q *fixture) queue.Runner {
			r := q.runner(do)
			r.Jobs = broken{Jobs: r.Jobs, reads: fault}
			return r
		}, fault, ""},
		{"claiming", func(q *fixture) queue.Runner {
			r := q.runner(do)
			r.Jobs = broken{Jobs: r.Jobs, claims: fault}
			return r
		}, fault, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(q *fixture) {
				q.add(storage.Job{})
				q.during(1100*time.Millisecond, test.runner(q))
				if len(q.told) == 0 {
					t.Fatal("nothing was told")
				}
				for i, err := range q.told {
					if !errors.Is(err, test.want) {
						t.Error(err)
					}
					if diff := cmp.Diff(test.kind, q.kinds[i]); diff != "" {
						t.Errorf("the kind (-want +got):\n%s", diff)
					}
				}
			})
		})
	}
}

// broken is a queue with faults that do not pass.
type broken struct {
	storage.Jobs
	reads, claims error
}

func (b broken) NextDue(ctx context.Context, kinds ...string) (map[string]time.Time, error) {
	if b.reads != nil {
		return nil, b.reads
	}
	return b.Jobs.NextDue(ctx, kinds...)
}

func (b broken) Claim(ctx context.Context, kind string, now time.Time, limit, perGroup int, lease time.Duration) ([]storage.Lease, error) {
	if b.claims != nil {
		return nil, b.claims
	}
	return b.Jobs.Claim(ctx, kind, now, limit, perGroup, lease)
}
