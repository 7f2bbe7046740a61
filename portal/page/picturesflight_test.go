package page

import (
	"bytes"
	"context"
	"errors"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/storage"
)

// content is a document in memory.
type content struct {
	io.ReaderAt
	size int64
}

func (content) Close() error               { return nil }
func (c content) Size() int64              { return c.size }
func (content) Hashed() []storage.Midstate { return nil }
func opening(revision int, err error) openFunc {
	return openingOf(bytes.NewReader(make([]byte, 100)), 100, revision, err)
}

func openingOf(r io.ReaderAt, size int64, revision int, err error) openFunc {
	return func(context.Context) (portal.DocumentCopy, error) {
		return portal.DocumentCopy{Revision: revision, Blob: content{r, size}}, err
	}
}

// forgetAll forgets what was made.
func (p *pictures) forgetAll() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cache.evictExpired(time.Now().Add(2 * cacheTTL))
}

var third = cacheKey{docRevision: docRevision{"a process", 3}, page: 1, width: 640}

// What many ask for at once is made once, and what was made is kept.
func TestPicturesAreMadeOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPictures(blank{})
		defer p.close()
		var made atomic.Int32
		do := func(context.Context, io.ReaderAt, int64) (cacheValue, error) {
			time.Sleep(time.Second)
			return weighing(made.Add(1)), nil
		}
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() {
				if got, err := p.get(t.Context(), third, opening(3, nil), do); got != weighing(1) || err != nil {
					t.Errorf("%v, %v", got, err)
				}
			})
		}
		all.Wait()
		if got, err := p.get(t.Context(), third, nil, nil); got != weighing(1) || err != nil {
			t.Errorf("afterwards: %v, %v", got, err)
		}
		later := third
		later.revision = 4
		if got, err := p.get(t.Context(), later, opening(4, nil), do); got != weighing(2) || err != nil {
			t.Errorf("another revision: %v, %v", got, err)
		}
	})
}

// Who leaves takes nothing from who stays. When all have left, it is given up, and can be begun anew.
func TestPicturesNobodyWaitsFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPictures(blank{})
		defer p.close()
		var ended atomic.Int32
		do := func(ctx context.Context, _ io.ReaderAt, _ int64) (cacheValue, error) {
			select {
			case <-ctx.Done():
				ended.Add(1)
				return nil, ctx.Err()
			case <-time.After(10 * time.Second):
				return weighing(7), nil
			}
		}
		short, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		stays := make(chan cacheValue)
		go func() {
			got, _ := p.get(t.Context(), third, opening(3, nil), do)
			stays <- got
		}()
		synctest.Wait()
		if _, err := p.get(short, third, opening(3, nil), do); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("who leaves: %v", err)
		}
		if got := <-stays; got != weighing(7) {
			t.Errorf("who stays: %v", got)
		}
		p.forgetAll()

		short, leave = context.WithTimeout(t.Context(), time.Second)
		defer leave()
		if _, err := p.get(short, third, opening(3, nil), do); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("who leaves: %v", err)
		}
		synctest.Wait()
		p.mu.Lock()
		p.drawing.mu.Lock()
		if ended.Load() != 1 || len(p.inflight) != 0 || len(p.drawing.running) != 0 {
			t.Errorf("ended %d times, %d are being made, %v at work", ended.Load(), len(p.inflight), p.drawing.running)
		}
		p.drawing.mu.Unlock()
		p.mu.Unlock()
		if got, err := p.get(t.Context(), third, opening(3, nil), do); got != weighing(7) || err != nil {
			t.Errorf("begun anew: %v, %v", got, err)
		}
	})
}

// close ends what is under way, and nothing begins after it.
func TestPicturesClose(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPictures(blank{})
		failed := make(chan error)
		go func() {
			_, err := p.get(t.Context(), third, opening(3, nil), func(ctx context.Context, _ io.ReaderAt, _ int64) (cacheValue, error) {
				<-ctx.Done()
				return nil, ctx.Err()
			})
			failed <- err
		}()
		synctest.Wait()
		go p.close()
		if err := <-failed; !errors.Is(err, errClosed) {
			t.Errorf("what is under way: %v", err)
		}
		p.close()
		if _, err := p.get(t.Context(), third, opening(3, nil), nil); !errors.Is(err, errClosed) {
			t.Errorf("afterwards: %v", err)
		}
		p.prefetch(third.docRevision, opening(3, nil))
	})
}
