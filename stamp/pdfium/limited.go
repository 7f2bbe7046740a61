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

// Within returns the renderer with another limit than that of its [Options], for callers who can wait
// for longer than others. Everything else is shared.
func (r *Renderer) Within(limit time.Duration) Limited { return Limited{r, limit} }

// Limited is a [Renderer] with a limit of its own.
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

// checkPage says whether PDFium can count to a page, and through the document that it is in.
func checkPage(size int64, page int) error {
	switch {
	case size <= 0 || size > maxDocument:
		return fmt.Errorf("pdfium: a document of %d bytes", size)
	case page < 1 || page > math.MaxInt32:
		return fmt.Errorf("pdfium: page %d", page)
	}
	return nil
}

// timed is a document that says how long reading it took. A document can bring about that it is read in many
// places, and not that one of them takes long.
type timed struct {
	io.ReaderAt
	took time.Duration
}

// longRead is what a document may take the blame for, of one place.
const longRead = 10 * time.Millisecond

func (t *timed) ReadAt(p []byte, offset int64) (int, error) {
	began := time.Now()
	defer func() { t.took += min(time.Since(began), longRead) }()
	return t.ReaderAt.ReadAt(p, offset)
}

// use has something done with an instance and a document, in its turn.
func (l Limited) use(ctx context.Context, src io.ReaderAt, size int64, do func(context.Context, *instance, *io.SectionReader) error) error {
	r := l.renderer
	if err := r.enter(); err != nil {
		return err
	}
	defer r.running.Done()
	until, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(r.life, cancel)()

	file := &timed{ReaderAt: src}
	err := r.inTurn(until, l.limit, file, func(ctx context.Context, i *instance) error {
		return do(ctx, i, io.NewSectionReader(file, 0, size))
	})
	switch {
	case err == nil || errors.Is(err, stamp.ErrNotReady):
		return err
	case ctx.Err() != nil:
		return ctx.Err()
	case r.life.Err() != nil:
		return ErrClosed
	}
	return err
}

// inTurn blames a page for what it took of the processors, and of the document. When that is less than half
// of the time, the machine had other things to do, and the page may be a quick one.
func (r *Renderer) inTurn(ctx context.Context, limit time.Duration, file *timed, do func(context.Context, *instance) error) error {
	if err := r.turn(ctx); err != nil {
		return err
	}
	defer func() { <-r.slots }()
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	stop := stopwatch()
	err := r.attempt(limited, do)
	used := stop()
	if starved := used < limit/2-file.took; err != nil && starved && limited.Err() != nil && ctx.Err() == nil {
		return fmt.Errorf("%w: of %v the page had a processor for %v", stamp.ErrNotReady, limit, used.Round(time.Millisecond))
	}
	return err
}

func (r *Renderer) attempt(ctx context.Context, do func(context.Context, *instance) error) error {
	i := r.take()
	if i == nil {
		var err error
		if i, err = newInstance(ctx, r.engine.pool); err != nil {
			return err
		}
	}
	if err := do(ctx, i); err != nil || i.spent() {
		i.close() // whatever a document did to it ends here
		return err
	}
	r.lock.Lock()
	defer r.lock.Unlock()
	r.idle = append(r.idle, i)
	return nil
}
