package page

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"math/rand/v2"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/internal/admission"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/stamp"
	"github.com/innsigli/innsigli/storage"
)

// content is a document in memory.
type content struct {
	io.ReaderAt
	size int64
}

func (content) Close() error { return nil }

func (c content) Size() int64 { return c.size }

func (content) Hashed() []storage.Midstate { return nil }

// opening returns a function that opens 100 bytes as a revision, or returns err.
func opening(revision int, err error) openFunc {
	return openingOf(bytes.NewReader(make([]byte, 100)), 100, revision, err)
}

// openingOf does so with other content.
func openingOf(r io.ReaderAt, size int64, revision int, err error) openFunc {
	return func(context.Context) (portal.DocumentCopy, error) {
		return portal.DocumentCopy{Revision: revision, Blob: content{r, size}}, err
	}
}

// clear empties the cache.
func (p *pictures) clear() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.cache.evictExpired(time.Now().Add(2 * cacheTTL))
}

var third = cacheKey{docRevision: docRevision{"an account", "a process", 3}, page: 1, width: 640}

// Concurrent requests for a value share one computation, and later ones get it from the cache.
func TestRequestsShareACall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPictures(blank{}, nil)
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

// A request that ends does not affect the others. When all have ended, the computation is cancelled, and can start
// again.
func TestRequestsEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPictures(blank{}, nil)
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
			t.Errorf("the request has ended: %v", err)
		}
		if got := <-stays; got != weighing(7) {
			t.Errorf("the other request: %v", got)
		}
		p.clear()

		short, leave = context.WithTimeout(t.Context(), time.Second)
		defer leave()
		if _, err := p.get(short, third, opening(3, nil), do); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the request has ended: %v", err)
		}
		synctest.Wait()
		p.mu.Lock()
		if ended.Load() != 1 || len(p.inflight) != 0 {
			t.Errorf("ended %d times, %d calls in flight", ended.Load(), len(p.inflight))
		}
		p.mu.Unlock()
		if got, err := p.get(t.Context(), third, opening(3, nil), do); got != weighing(7) || err != nil {
			t.Errorf("started again: %v, %v", got, err)
		}
	})
}

// close cancels calls in flight, and none starts after it.
func TestPicturesClose(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPictures(blank{}, nil)
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
			t.Errorf("in flight: %v", err)
		}
		p.close()
		if _, err := p.get(t.Context(), third, opening(3, nil), nil); !errors.Is(err, errClosed) {
			t.Errorf("afterwards: %v", err)
		}
		p.prefetch(third.docRevision, opening(3, nil))
	})
}

// Each failure is reported as what it is. Only a page that cannot be read is a cached failure.
func TestFailures(t *testing.T) {
	t.Parallel()
	damaged, away := errors.New("damaged"), errors.New("the store is away")
	for name, test := range map[string]struct {
		open   openFunc
		err    error // of the renderer
		want   error
		cached bool
	}{
		"another revision":     {opening(4, nil), nil, portal.ErrChanged, false},
		"deleted":              {opening(3, portal.ErrNotFound), nil, portal.ErrNotFound, false},
		"store away":           {opening(3, away), nil, away, false},
		"damaged":              {opening(3, nil), damaged, errUnreadable, true},
		"too much":             {opening(3, nil), context.DeadlineExceeded, errUnreadable, true},
		"renderer not ready":   {opening(3, nil), stamp.ErrNotReady, errBusy, false},
		"store away meanwhile": {openingOf(unreadable{away}, 100, 3, nil), damaged, away, false},
		"end of a short file":  {openingOf(unreadable{io.EOF}, 100, 3, nil), damaged, errUnreadable, true},
		"store away unnoticed": {openingOf(unreadable{away}, 100, 3, nil), nil, away, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPictures(blank{}, nil)
				defer p.close()
				var made atomic.Int32
				do := func(_ context.Context, file io.ReaderAt, _ int64) (cacheValue, error) {
					made.Add(1)
					file.ReadAt(make([]byte, 10), 0) // pictures check the error
					return weighing(1), test.err
				}
				ask := func() error {
					_, err := p.get(t.Context(), third, test.open, do)
					return err
				}
				if err := ask(); !errors.Is(err, test.want) {
					t.Errorf("%v, want %v", err, test.want)
				}
				before := made.Load()
				if err := ask(); !errors.Is(err, test.want) || test.cached && made.Load() != before {
					t.Errorf("again: %v, made %d times", err, made.Load())
				}
				time.Sleep(failureTTL + time.Second)
				if err := ask(); !errors.Is(err, test.want) || test.cached && made.Load() != before+1 {
					t.Errorf("later: %v, made %d times", err, made.Load())
				}
			})
		})
	}
}

// unreadable is a file that cannot be read.
type unreadable struct{ err error }

func (f unreadable) ReadAt([]byte, int64) (int, error) { return 0, f.err }

// weighing is a cache value of a cost.
type weighing int

func (w weighing) cost() int { return int(w) }

// The cache never exceeds its capacity, counts the cost of its entries, and keeps the most recently used ones.
func TestCacheCapacity(t *testing.T) {
	t.Parallel()
	const capacity = 100_000
	s, at, random := newCache(capacity, time.Hour), time.Now(), rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		k := cacheKey{page: random.IntN(40)}
		s.put(k, weighing(random.IntN(capacity/4-entryOverhead)), at)
		if s.get(k, at) == nil {
			t.Fatal("the last entry is gone")
		}
		sum := 0
		for e := s.lru.Front(); e != nil; e = e.Next() {
			sum += e.Value.(*cacheEntry).cost()
		}
		if sum != s.used || sum > capacity || s.lru.Len() != len(s.entries) {
			t.Fatalf("%d bytes, counted %d, of %d; %d and %d entries", sum, s.used, capacity, s.lru.Len(), len(s.entries))
		}
	}
	s.put(cacheKey{page: 99}, weighing(capacity/2), at)
	if s.get(cacheKey{page: 99}, at) != nil {
		t.Error("a large value evicts many")
	}
}

// Entries expire after a time without use.
func TestCacheTTL(t *testing.T) {
	t.Parallel()
	s, at := newCache(1<<20, time.Minute), time.Now()
	s.put(cacheKey{page: 1}, weighing(1), at)
	s.put(cacheKey{page: 2}, weighing(2), at)
	if at = at.Add(50 * time.Second); s.get(cacheKey{page: 1}, at) != weighing(1) {
		t.Error("expired too soon")
	}
	at = at.Add(50 * time.Second)
	if s.get(cacheKey{page: 2}, at) != nil || s.get(cacheKey{page: 1}, at) != weighing(1) {
		t.Error("the unused entry is there, or the used one is not")
	}
	if s.evictExpired(at.Add(time.Hour)); s.used != 0 || len(s.entries) != 0 {
		t.Errorf("%d bytes and %d entries are left", s.used, len(s.entries))
	}
}

// countingRenderer counts the pictures that it draws, each in a second.
type countingRenderer struct {
	blank
	drawn atomic.Int32
}

func (c *countingRenderer) Render(ctx context.Context, r io.ReaderAt, size int64, page, width, height int) (*image.RGBA, error) {
	c.drawn.Add(1)
	time.Sleep(time.Second)
	return c.blank.Render(ctx, r, size, page, width, height)
}

// However often a link is opened, its first pages are prefetched once. Of many documents at once, no more are
// prefetched than fit in the queue.
func TestPrefetch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := new(countingRenderer)
		p := newPictures(r, nil)
		t.Cleanup(p.close)
		open := smallBook(0)
		for range 1000 {
			p.prefetch(docRevision{"an account", "a process", 0}, open)
			time.Sleep(100 * time.Millisecond)
		}
		each := int32(len(prefetchWidths) * prefetchPages)
		if got := r.drawn.Load(); got != each {
			t.Errorf("%d pictures, want %d", got, each)
		}
		if _, err := p.picture(t.Context(), docRevision{"an account", "a process", 0}, nil, 1, defaultWidth); err != nil {
			t.Errorf("the first page is not cached: %v", err)
		}
		for n := range 1000 {
			p.prefetch(docRevision{"an account", "another", n}, func(ctx context.Context) (portal.DocumentCopy, error) {
				c, err := open(ctx)
				c.Revision = n
				return c, err
			})
		}
		time.Sleep(time.Hour)
		if got := r.drawn.Load(); got < 2*each || got > (2+maxPrefetchQueue)*each {
			t.Errorf("%d pictures of 1000 documents, with a queue of %d", got, maxPrefetchQueue)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.cache.used != 0 {
			t.Errorf("%d bytes are cached after an hour without use", p.cache.used)
		}
	})
}

// The login page of a participant prefetches the first pages.
func TestPrefetchDuringLogin(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := new(countingRenderer)
		d := newInvitation(t, func(c *Config) { c.Renderer = r })
		d.open(d.invited, 0, anna)
		for range 3 {
			d.newBrowser().get(of(d.invited, 0)).says(t, 200, "login.see")
			time.Sleep(time.Minute)
			if got := r.drawn.Load(); got != int32(len(prefetchWidths)) { // of its one page
				t.Errorf("%d pictures, want %d", got, len(prefetchWidths))
			}
		}
	})
}

// slowRenderer takes a while to draw.
type slowRenderer struct {
	blank
	draws time.Duration
}

func (r slowRenderer) Render(ctx context.Context, file io.ReaderAt, size int64, page, width, height int) (*image.RGBA, error) {
	select {
	case <-time.After(r.draws):
		return r.blank.Render(ctx, file, size, page, width, height)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Requests for all pages of a long document at once do not delay other documents: some of them are drawn, and the others
// are refused for now, which is not reported as a fault.
func TestReaderOfALongDocument(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const pages = 300
		s, long := withDocument(t, pdftest.Book(make([]pdftest.Leaf, pages)), slowRenderer{draws: time.Second})
		short := s.opened()
		greedy, jon := s.browserOf(annas), s.browserOf(jons)
		var all sync.WaitGroup
		var drawn, refused atomic.Int32
		for n := 1; n <= pages; n++ {
			all.Go(func() {
				a := greedy.get(of(long, 0, fmt.Sprintf("/pages/%d/640?revision=0", n)))
				switch {
				case a.status == http.StatusOK:
					drawn.Add(1)
				case a.status == http.StatusServiceUnavailable && a.header.Get("Retry-After") != "":
					refused.Add(1)
				default:
					t.Errorf("page %d: %d", n, a.status)
				}
			})
		}
		synctest.Wait()
		began := time.Now()
		jon.get(of(short, 1)).says(t, http.StatusOK, "sign.title", "!document.unread")
		jon.get(of(short, 1, "/pages/1/640?revision=0")).says(t, http.StatusOK)
		if took := time.Since(began); took > 6*time.Second {
			t.Errorf("another document takes %v", took)
		}
		all.Wait()
		if drawn.Load() == 0 || drawn.Load()+refused.Load() != pages {
			t.Errorf("%d pages are drawn, %d refused", drawn.Load(), refused.Load())
		}
	})
}

// Page sizes do not wait until pictures are drawn.
func TestSizesWaitForNoDrawing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPictures(slowRenderer{draws: time.Hour}, nil)
		defer p.close()
		leaves := bytes.NewReader(pdftest.Book(make([]pdftest.Leaf, 3)))
		open := openingOf(leaves, leaves.Size(), 0, nil)
		for n := range runtime.GOMAXPROCS(0) {
			go p.picture(t.Context(), docRevision{"an account", fmt.Sprint(n), 0}, open, 1, 640)
		}
		synctest.Wait()
		began := time.Now()
		got, err := p.sizes(t.Context(), docRevision{"an account", "another", 0}, open)
		if err != nil || got.total != 3 || time.Since(began) > 0 {
			t.Errorf("%v, %v after %v", got, err, time.Since(began))
		}
	})
}

// A page that could not be drawn in one width is not drawn in another for a while, and other pages are.
func TestFailedPageIsRemembered(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPictures(blank{}, nil)
		defer p.close()
		made := 0
		ask := func(page, width int) error {
			k := third
			k.page, k.width = page, width
			_, err := p.get(t.Context(), k, opening(3, nil), func(context.Context, io.ReaderAt, int64) (cacheValue, error) {
				made++
				return weighing(1), errors.New("damaged")
			})
			return err
		}
		for i, step := range []struct{ page, width, made int }{{1, 1440, 1}, {1, 640, 1}, {1, 0, 2}, {1, 0, 2}, {2, 640, 3}, {1, 960, 3}} {
			if err := ask(step.page, step.width); !errors.Is(err, errUnreadable) || made != step.made {
				t.Errorf("%d: %v, made %d times, want %d", i, err, made, step.made)
			}
		}
		time.Sleep(failureTTL + time.Second)
		if err := ask(1, 640); !errors.Is(err, errUnreadable) || made != 4 {
			t.Errorf("later: %v, made %d times, want 4", err, made)
		}
	})
}

// However many pages of one account wait, those of another are drawn, and none of them is refused.
func TestPicturesOfAccountsAreFair(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPictures(blank{}, admission.NewQueue(4, 20))
		defer p.close()
		var all sync.WaitGroup
		var lock sync.Mutex
		ask := func(account string, process int, ended *[]error) {
			all.Go(func() {
				k := cacheKey{docRevision{account, fmt.Sprint(process), 3}, 1, 640}
				_, err := p.get(t.Context(), k, opening(3, nil), func(context.Context, io.ReaderAt, int64) (cacheValue, error) {
					time.Sleep(time.Second)
					return weighing(1), nil
				})
				lock.Lock()
				defer lock.Unlock()
				*ended = append(*ended, err)
			})
			synctest.Wait()
		}
		var flood, other []error
		for i := range 40 {
			ask("flood", i, &flood)
		}
		for i := range 3 {
			ask("other", i, &other)
		}
		time.Sleep(4 * time.Second)
		synctest.Wait()
		if len(other) != 3 || errors.Join(other...) != nil {
			t.Errorf("of another account: %v", other)
		}
		all.Wait()
		refused := 0
		for _, err := range flood {
			if errors.Is(err, errBusy) {
				refused++
			}
		}
		if len(flood) != 40 || refused != 40-2-20+2 { // two have places, and two of those that wait make room for the other account
			t.Errorf("%d of %d of the flood were refused", refused, len(flood))
		}
	})
}
