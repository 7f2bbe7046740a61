package pdfium

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"math"
	"time"

	"github.com/innsigli/innsigli/stamp"
)

// Within returns the renderer with another limit than that of its [Options], for callers that can
// wait longer. The result shares everything else.
func (r *Renderer) Within(limit time.Duration) Limited { return Limited{r, limit} }

// Limited is a [Renderer] with its own limit.
type Limited struct {
	renderer *Renderer
	limit    time.Duration
}

// Render is [Renderer.Render].
func (l Limited) Render(ctx context.Context, src io.ReaderAt, size int64, page, width, height int) (*image.RGBA, error) {
	if err := checkPage(size, page); err != nil {
		return nil, err
	}
	if width < 1 || height < 1 || width > maxPixels || height > maxPixels/width {
		return nil, fmt.Errorf("pdfium: a picture of %d x %d pixels", width, height)
	}
	var picture *image.RGBA
	err := l.use(ctx, src, size, func(ctx context.Context, i *instance, file *io.SectionReader) (err error) {
		picture, err = i.draw(ctx, drawing{file, page, width, height})
		return err
	})
	if err != nil {
		return nil, err
	}
	return picture, nil
}

// checkPage checks that the page number and the document's size are within the limits of PDFium.
func checkPage(size int64, page int) error {
	switch {
	case size <= 0 || size > maxDocument:
		return fmt.Errorf("pdfium: a document of %d bytes", size)
	case page < 1 || page > math.MaxInt32:
		return fmt.Errorf("pdfium: page %d", page)
	}
	return nil
}

// use calls do with an instance and the document while it holds a slot.
func (l Limited) use(ctx context.Context, src io.ReaderAt, size int64, do func(context.Context, *instance, *io.SectionReader) error) error {
	r := l.renderer
	if err := r.beginUse(); err != nil {
		return err
	}
	defer r.running.Done()
	until, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(r.lifetime, cancel)()

	file := &timedReader{ReaderAt: src}
	err := r.runInSlot(until, l.limit, file, func(ctx context.Context, i *instance) error {
		return do(ctx, i, io.NewSectionReader(file, 0, size))
	})
	switch {
	case err == nil || errors.Is(err, stamp.ErrNotReady):
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	case r.lifetime.Err() != nil:
		return ErrClosed
	}
	return err
}

// runInSlot limits the time for a page. If drawing and reading the document took less than half of
// the limit, the machine was busy and the page may be a fast one, so the error is ErrNotReady.
func (r *Renderer) runInSlot(ctx context.Context, limit time.Duration, file *timedReader, do func(context.Context, *instance) error) error {
	if err := r.acquireSlot(ctx); err != nil {
		return err
	}
	defer func() { <-r.slots }()
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	stop := startStopwatch()
	err := r.runWithInstance(limited, do)
	used := stop()
	if lackedProcessor := used < limit/2-file.took; err != nil && lackedProcessor && limited.Err() != nil && ctx.Err() == nil {
		return fmt.Errorf("%w: the page was not drawn within %v, of which it had a processor for %v", stamp.ErrNotReady, limit, used.Round(time.Millisecond))
	}
	return err
}

// acquireSlot waits for the engine and then acquires a slot.
func (r *Renderer) acquireSlot(ctx context.Context) error {
	timer := time.NewTimer(r.options.Wait)
	defer timer.Stop()
	select {
	case <-r.prepare():
	case <-timer.C:
		return stamp.ErrNotReady
	case <-ctx.Done():
		return ctx.Err()
	}
	if r.engine.err != nil {
		return r.engine.err
	}
	select {
	case r.slots <- struct{}{}:
		return nil
	case <-timer.C:
		return stamp.ErrNotReady
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (r *Renderer) runWithInstance(ctx context.Context, do func(context.Context, *instance) error) error {
	i := r.takeIdle()
	if i == nil {
		var err error
		if i, err = newInstance(ctx, r.engine.pool); err != nil {
			return err
		}
	}
	if err := do(ctx, i); err != nil || i.isSpent() {
		i.close() // the document may have damaged it
		return err
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	r.idle = append(r.idle, i)
	return nil
}

// takeIdle returns an idle instance, or nil.
func (r *Renderer) takeIdle() *instance {
	r.lock.Lock()
	defer r.lock.Unlock()
	last := len(r.idle) - 1
	if last < 0 {
		return nil
	}
	i := r.idle[last]
	r.idle = r.idle[:last]
	return i
}

// timedReader is a document that measures how long reading it took. The document determines how
// many reads there are, but not how long a single one takes.
type timedReader struct {
	io.ReaderAt
	took time.Duration
}

// maxCountedRead is the most time of a single read that is counted against the document.
const maxCountedRead = 10 * time.Millisecond

func (t *timedReader) ReadAt(p []byte, offset int64) (int, error) {
	began := time.Now()
	defer func() { t.took += min(time.Since(began), maxCountedRead) }()
	return t.ReaderAt.ReadAt(p, offset)
}
