package pdfium

import (
	"context"
	"time"
)

// MaxUses is for tests.
const MaxUses = maxUses

// Idle says how often each instance that has nothing to do has been used.
func (r *Renderer) Idle() (used []int) {
	r.lock.Lock()
	defer r.lock.Unlock()
	for _, i := range r.idle {
		used = append(used, i.used)
	}
	return used
}

// Use has something done in the place of drawing.
func (r *Renderer) Use(ctx context.Context, limit time.Duration, do func(context.Context) error) error {
	return r.Within(limit).use(ctx, new(timed), func(ctx context.Context, _ *instance) error { return do(ctx) })
}
