package pdfium

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"math"
	"sync"
	"sync/atomic"
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

// runInSlot calls do with an instance and limits the time that it may take of a processor and for reading
// the document. It waits for an instance, and for a processor, no longer than Options.Wait in all.
func (r *Renderer) runInSlot(ctx context.Context, limit time.Duration, file *timedReader, do func(context.Context, *instance) error) error {
	began := time.Now()
	if err := r.acquireSlot(ctx); err != nil {
		return err
	}
	defer func() { <-r.slots }()
	patience := r.options.Wait - time.Since(began)
	limited, end := context.WithCancelCause(ctx)
	watch := startStopwatch()
	defer watch.stop()
	var watching sync.WaitGroup
	watching.Go(func() { end(watch.expired(limited, limit, patience, file)) })
	i, err := r.runWithInstance(limited, do)
	end(nil)
	watching.Wait()
	if i != nil {
		// If it makes a new instance, then on no page's time, but while this page still has its slot, so that the next one
		// does not wait for it.
		r.returnInstance(i, err)
	}
	var expired *expiredError
	if err != nil && ctx.Err() == nil && errors.As(context.Cause(limited), &expired) {
		return expired
	}
	return err
}

// expiredError is returned when a page was not drawn or read in its time. It is [stamp.ErrNotReady] if the page
// did not have a processor for so long, and [context.DeadlineExceeded] if it did.
type expiredError struct {
	reason      error
	limit, used time.Duration
}

func (e *expiredError) Error() string {
	return fmt.Sprintf("pdfium: the page took %v of a limit of %v: %v", e.used.Round(time.Millisecond), e.limit, e.reason)
}

func (e *expiredError) Unwrap() error { return e.reason }

// shortestCheck is the least time between two readings of a stopwatch.
const shortestCheck = 5 * time.Millisecond

// expired returns an [*expiredError] when the thread has had a processor, or has read the document, for the limit, or
// has waited for a processor longer than the patience. It returns nil when ctx ends. Where the system does not tell
// how long a thread had a processor, all time counts.
func (s *stopwatch) expired(ctx context.Context, limit, patience time.Duration, file *timedReader) error {
	began := time.Now()
	for wait := limit; ; {
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil
		}
		passed := time.Since(began)
		used, known := s.used()
		if used += file.took(); !known {
			used = passed
		}
		switch {
		case used >= limit:
			return &expiredError{context.DeadlineExceeded, limit, used}
		case passed-used >= patience:
			return &expiredError{stamp.ErrNotReady, limit, used}
		}
		// The thread cannot use up the limit, nor wait for longer than the patience, before that.
		wait = max(shortestCheck, min(limit-used, patience-(passed-used)))
	}
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

// runWithInstance calls do with an idle instance or a new one, which it returns with the error of do. It returns no
// instance if none can be made.
func (r *Renderer) runWithInstance(ctx context.Context, do func(context.Context, *instance) error) (i *instance, err error) {
	if i = r.takeIdle(); i == nil {
		if i, err = r.newInstance(ctx); err != nil {
			return nil, err
		}
	}
	i.memory.ctx, i.memory.err = ctx, nil
	err = do(ctx, i)
	if i.memory.err != nil { // even if there is a picture: it may be incomplete
		err = i.memory.err
	}
	return i, err
}

// returnInstance makes an instance idle, or a new one in its place if a document failed with it or it is spent.
func (r *Renderer) returnInstance(i *instance, failed error) {
	if failed != nil || i.isSpent() {
		i.close() // the document may have damaged it
		if i, _ = r.newInstance(r.lifetime); i == nil {
			return
		}
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	r.idle = append(r.idle, i)
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
	nanoseconds atomic.Int64
}

func (t *timedReader) took() time.Duration { return time.Duration(t.nanoseconds.Load()) }

// maxCountedRead is the most time of a single read that is counted against the document.
const maxCountedRead = 10 * time.Millisecond

func (t *timedReader) ReadAt(p []byte, offset int64) (int, error) {
	began := time.Now()
	defer func() { t.nanoseconds.Add(int64(min(time.Since(began), maxCountedRead))) }()
	return t.ReaderAt.ReadAt(p, offset)
}
