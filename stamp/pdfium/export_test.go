package pdfium

import (
	"context"
	"io"
	"time"

	"github.com/klippa-app/go-pdfium"
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

// OnNewInstance calls do before each instance that the renderer makes from now on. The renderer is ready and not in use.
func (r *Renderer) OnNewInstance(do func()) { r.engine.pool = observedPool{r.engine.pool, do} }

type observedPool struct {
	pdfium.Pool
	do func()
}

func (p observedPool) GetInstanceWithContext(ctx context.Context) (pdfium.Pdfium, error) {
	p.do()
	return p.Pool.GetInstanceWithContext(ctx)
}
