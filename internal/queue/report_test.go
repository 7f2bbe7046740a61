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

// Errors of handlers, and of what follows their jobs, are reported with the kind of the job, also those that a handler meets
// in the store; the errors that the runner meets there with none.
func TestReportedErrors(t *testing.T) {
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
		{"a handler that the store is unavailable to", func(q *fixture) queue.Runner { return q.runner(failing(away)) }, away, kind},
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
				if len(q.reported) == 0 {
					t.Fatal("nothing was reported")
				}
				for i, err := range q.reported {
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

func TestErrorText(t *testing.T) {
	for _, test := range []struct {
		name, want string
		err        error
	}{
		{"as it is", "því miður", errors.New("því miður")},
		{"on one line", "one two", errors.Join(errors.New("one"), errors.New("two"))},
		{"without control characters", "a b c", errors.New("a\x00b\x1bc")},
		{"what is no text", "a\uFFFDb", errors.New("a\xffb")},
		{"long", strings.Repeat("þ", 499) + "…", errors.New(strings.Repeat("þ", 501))},
		{"as long as may be", strings.Repeat("þ", 500), errors.New(strings.Repeat("þ", 500))},
	} {
		if diff := cmp.Diff(test.want, queue.ErrorText(test.err)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestPanicText(t *testing.T) {
	var empty []int
	var none any
	for _, test := range []struct {
		name, want string
		panics     func()
	}{
		{"a text", "string", func() { panic("0101302989") }},
		{"an error", "*errors.errorString", func() { panic(errors.New("0101302989")) }},
		{"an index", "runtime error: index out of range [3] with length 0", func() { empty[3] = 1 }},
		{"a nil pointer", "runtime error: invalid memory address or nil pointer dereference", func() { *(*int)(nil) = 1 }},
		{"a type", "interface conversion: interface {} is nil, not string", func() { _ = none.(string) }},
	} {
		t.Run(test.name, func(t *testing.T) {
			defer func() {
				if got := queue.PanicText(recover()); got != test.want {
					t.Errorf("%q, want %q", got, test.want)
				}
			}()
			test.panics()
		})
	}
}
