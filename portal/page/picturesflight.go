package page

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/stamp"
)

// flight is something that is being made.
type flight struct {
	waiting int // how many ask for it: when nobody does any more, it is given up
	cancel  context.CancelFunc
	done    chan struct{}
	made    kept // when done is closed
	err     error
}

// maker makes something of a document. What it says against that is said of the document.
type maker func(ctx context.Context, file io.ReaderAt, size int64) (kept, error)

// failure is kept for a while, so that what takes long to fail does not do so at each request.
type failure struct{ until time.Time }

func (failure) weight() int { return 0 }

// get returns what is kept under a key, or has it made. [portal.ErrChanged]: the document is of another
// edition now; errBusy, errUndrawable, errEnding, the error of ctx, or one of opening and reading the
// document.
func (p *pictures) get(ctx context.Context, k key, open opener, do maker) (kept, error) {
	p.lock.Lock()
	switch found := p.shelf.take(k, cacheTime()).(type) {
	case nil:
	case failure:
		if cacheTime().Before(found.until) {
			p.lock.Unlock()
			return nil, errUndrawable
		}
	default:
		p.lock.Unlock()
		return found, nil
	}
	if p.life.Err() != nil {
		p.lock.Unlock()
		return nil, errEnding
	}
	f := p.flights[k]
	if f == nil {
		f = p.begin(k, open, do)
	}
	f.waiting++
	p.lock.Unlock()

	select {
	case <-f.done:
		return f.made, f.err
	case <-ctx.Done():
		p.leave(k, f)
		return nil, ctx.Err()
	}
}

// begin begins to make something. The lock is held.
func (p *pictures) begin(k key, open opener, do maker) *flight {
	ctx, cancel := context.WithCancel(p.life)
	f := &flight{cancel: cancel, done: make(chan struct{})}
	p.flights[k] = f
	p.running.Go(func() {
		defer cancel()
		made, err := p.make(ctx, k, open, do)
		p.lock.Lock()
		defer p.lock.Unlock()
		switch {
		case err == nil:
			p.shelf.put(k, made, cacheTime())
		case errors.Is(err, errUndrawable):
			p.shelf.put(k, failure{cacheTime().Add(failedFor)}, cacheTime())
		case p.life.Err() != nil:
			err = errEnding
		}
		if p.flights[k] == f {
			delete(p.flights, k)
		}
		f.made, f.err = made, err
		close(f.done)
	})
	return f
}

// leave is for who does not wait any longer.
func (p *pictures) leave(k key, f *flight) {
	p.lock.Lock()
	defer p.lock.Unlock()
	if f.waiting--; f.waiting == 0 && p.flights[k] == f {
		delete(p.flights, k)
		f.cancel()
	}
}

// make opens the document in its turn, and makes something of it.
func (p *pictures) make(ctx context.Context, k key, open opener, do maker) (kept, error) {
	turns := p.turns
	if k.page == 0 {
		turns = p.sizing
	}
	if err := turns.wait(ctx, k.process, patience); err != nil {
		return nil, err
	}
	defer turns.done(k.process)
	document, err := open(ctx)
	if err != nil {
		return nil, err
	}
	defer document.Close()
	if document.Revision != k.revision {
		return nil, portal.ErrChanged
	}
	file := stamp.NewErrorReaderAt(document.Blob)
	made, err := do(ctx, file, document.Size())
	switch {
	case file.Err() != nil: // an error of the store, which the renderer would report as damage
		return nil, file.Err()
	case err == nil:
		return made, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, stamp.ErrNotReady):
		return nil, errBusy
	}
	return nil, fmt.Errorf("%w: %w", errUndrawable, err)
}

// cacheTime is the time by which pictures are kept.
func cacheTime() time.Time { return time.Now() } // time: pictures are alike for all accounts
