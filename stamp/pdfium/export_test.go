package pdfium

import (
	"context"
	"io"
	"time"
)

const MaxUses = maxUses

// Idle returns how often each idle instance has been used.
func (r *Renderer) Idle() (used []int) {
	r.lock.Lock()
	defer r.lock.Unlock()
	for _, i := range r.idle {
		used = append(used, i.used)
	}
	return used
}

// NotKept is whyNotCached.
func (r *Renderer) NotKept() string { return r.whyNotCached() }

// Use calls do with a document instead of drawing a page.
func (r *Renderer) Use(ctx context.Context, limit time.Duration, document io.ReaderAt, do func(context.Context, io.ReaderAt) error) error {
	return r.Within(limit).use(ctx, document, 1, func(ctx context.Context, _ *instance, file *io.SectionReader) error {
		return do(ctx, file)
	})
}
