package pdfium

import (
	"context"
	"io"
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

// Use has something done with a document in the place of drawing.
func (r *Renderer) Use(ctx context.Context, limit time.Duration, document io.ReaderAt, do func(context.Context, io.ReaderAt) error) error {
	return r.Within(limit).use(ctx, document, 1, func(ctx context.Context, _ *instance, file *io.SectionReader) error {
		return do(ctx, file)
	})
}
