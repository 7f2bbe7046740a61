package storage

import (
	"context"
	"time"
)

// Rate is how often something may happen: so many times a second in the long run, and Burst times at
// once after a pause. The zero Rate is no limit.
type Rate struct{ PerSecond, Burst int }

// Cost is the time in which one of them becomes free again.
func (r Rate) Cost() time.Duration { return time.Second / time.Duration(r.PerSecond) }

// Buckets count what happens on all servers of a deployment, each by a key. A backend that one process has to
// itself needs none. Methods do not take part in a transaction.
type Buckets interface {
	// Draw takes up to n of what may happen now out of the bucket of a key, by the backend's own clock, and
	// says how many it got, and how long it takes from now until nothing is missing in the bucket. One that was
	// not drawn from before is full. Callers that draw at once never get more together than there is.
	Draw(ctx context.Context, key string, r Rate, n int) (drawn int, full time.Duration, err error)
	// DeleteFull forgets up to limit buckets in which nothing is missing, and returns how many they were.
	DeleteFull(ctx context.Context, limit int) (int, error)
}
