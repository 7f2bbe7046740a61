package page

import (
	"container/list"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"time"

	"github.com/innsigli/innsigli/internal/admission"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/stamp"
)

// Limits of the cache and of concurrent work.
const (
	cacheCapacity = 64 << 20         // bytes
	cacheTTL      = 10 * time.Minute // after the last use
	failureTTL    = 10 * time.Minute // after which a failed page is tried again
	maxQueued     = 1024             // waiting to be drawn
	queueTimeout  = 30 * time.Second // longest wait in the queue
)

// Errors of pictures, page sizes and texts.
var (
	// errBusy: too many pages are being drawn.
	errBusy = errors.New("too many pages are being drawn")
	// errUnreadable: the page is damaged, or too much for the renderer.
	errUnreadable = errors.New("the page cannot be drawn or read")
	// errClosed: the server is stopping.
	errClosed = errors.New("pages are not drawn any more")
)

// docRevision is one revision of the document of a process of an account.
type docRevision struct {
	account, process string
	revision         int
}

// cacheKey is the key of a picture, of the text of a page (width 0), or of the sizes of all pages (page 0).
type cacheKey struct {
	docRevision
	page, width int
}

// failure returns the key of a [cachedFailure]. A page that cannot be drawn in one width is not drawn in another.
func (k cacheKey) failure() cacheKey {
	if k.width > 0 {
		k.width = anyWidth
	}
	return k
}

// anyWidth is the width in the key of a failure.
const anyWidth = -1

// cacheValue is a value of the cache. Its cost is its approximate size in bytes.
type cacheValue interface{ cost() int }

// openFunc opens the document of a docRevision.
type openFunc func(ctx context.Context) (portal.DocumentCopy, error)

// pictures draws and caches pictures of document pages with their text. Concurrent requests for the same value
// share one call. Values are computed in turns of the queue, in which signing requests wait too. Page sizes have a queue
// of their own and need no renderer, so that no page of HTML waits until pictures are drawn. Memory is bounded by the
// cache and one page for each place of the queues.
type pictures struct {
	renderer      Renderer
	drawing       *admission.Queue // to draw a page or to extract its text
	sizing        *admission.Queue // to read page sizes
	ctx           context.Context  // until close
	cancel        context.CancelFunc
	running       sync.WaitGroup
	prefetchQueue chan prefetchJob // documents to draw before they are requested

	mu       sync.Mutex // guards the fields below
	cache    *cache
	inflight map[cacheKey]*inflightCall
}

// newPictures starts the prefetching goroutine; see close. drawing is the queue for the renderer; nil: one of its own.
func newPictures(r Renderer, drawing *admission.Queue) *pictures {
	places := max(3, runtime.GOMAXPROCS(0)+1)
	if drawing == nil {
		drawing = admission.NewQueue(places, maxQueued)
	}
	p := &pictures{
		renderer:      r,
		drawing:       drawing,
		sizing:        admission.NewQueue(places, maxQueued),
		prefetchQueue: make(chan prefetchJob, maxPrefetchQueue),
		cache:         newCache(cacheCapacity, cacheTTL),
		inflight:      make(map[cacheKey]*inflightCall),
	}
	p.ctx, p.cancel = context.WithCancel(context.Background())
	p.running.Go(p.runPrefetch)
	return p
}

// close cancels all work and waits for it.
func (p *pictures) close() {
	p.mu.Lock() // no call starts from now on
	p.cancel()
	p.mu.Unlock()
	p.running.Wait()
}

// inflightCall is the computation of a value that one or more requests wait for.
type inflightCall struct {
	waiters int // at 0 the call is cancelled
	cancel  context.CancelFunc
	done    chan struct{}
	value   cacheValue // set when done is closed
	err     error
}

// buildFunc computes a value from a document. Its errors are those of the document, not of the store.
type buildFunc func(ctx context.Context, file io.ReaderAt, size int64) (cacheValue, error)

// cachedFailure marks a value that cannot be computed, so that a request does not repeat a slow failure at
// once.
type cachedFailure struct{ until time.Time }

func (cachedFailure) cost() int { return 0 }

// get returns the value of a key from the cache, or computes it. Errors: [portal.ErrChanged] if the document
// has another revision now; errBusy, errUnreadable, errClosed, the error of ctx, or one of opening and reading
// the document.
func (p *pictures) get(ctx context.Context, k cacheKey, open openFunc, build buildFunc) (cacheValue, error) {
	p.mu.Lock()
	if found := p.cached(k); found != nil {
		p.mu.Unlock()
		if _, failed := found.(cachedFailure); failed {
			return nil, errUnreadable
		}
		return found, nil
	}
	if p.ctx.Err() != nil {
		p.mu.Unlock()
		return nil, errClosed
	}
	f := p.inflight[k]
	if f == nil {
		f = p.start(k, open, build)
	}
	f.waiters++
	p.mu.Unlock()

	select {
	case <-f.done:
		return f.value, f.err
	case <-ctx.Done():
		p.abandon(k, f)
		return nil, ctx.Err()
	}
}

// cached returns the value of a key from the cache, a [cachedFailure] that lasts, or nil. The caller holds mu.
func (p *pictures) cached(k cacheKey) cacheValue {
	now := cacheTime()
	if f, failed := p.cache.get(k.failure(), now).(cachedFailure); failed && now.Before(f.until) {
		return f
	}
	found := p.cache.get(k, now)
	if _, failed := found.(cachedFailure); failed {
		return nil
	}
	return found
}

// start computes a value in the background. The caller holds mu.
func (p *pictures) start(k cacheKey, open openFunc, build buildFunc) *inflightCall {
	ctx, cancel := context.WithCancel(p.ctx)
	f := &inflightCall{cancel: cancel, done: make(chan struct{})}
	p.inflight[k] = f
	p.running.Go(func() {
		defer cancel()
		value, err := p.build(ctx, k, open, build)
		p.mu.Lock()
		defer p.mu.Unlock()
		switch {
		case err == nil:
			p.cache.put(k, value, cacheTime())
		case errors.Is(err, errUnreadable):
			p.cache.put(k.failure(), cachedFailure{cacheTime().Add(failureTTL)}, cacheTime())
		case p.ctx.Err() != nil:
			err = errClosed
		}
		if p.inflight[k] == f {
			delete(p.inflight, k)
		}
		f.value, f.err = value, err
		close(f.done)
	})
	return f
}

// abandon removes a waiter, and cancels the call if it was the last.
func (p *pictures) abandon(k cacheKey, f *inflightCall) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if f.waiters--; f.waiters == 0 && p.inflight[k] == f {
		delete(p.inflight, k)
		f.cancel()
	}
}

// build waits in the queue, opens the document, and computes the value.
func (p *pictures) build(ctx context.Context, k cacheKey, open openFunc, build buildFunc) (cacheValue, error) {
	queue := p.drawing
	if k.page == 0 {
		queue = p.sizing
	}
	release, err := queue.Acquire(ctx, admission.Group{Account: k.account, Name: k.process, Long: true}, queueTimeout)
	if errors.Is(err, admission.ErrBusy) {
		return nil, errBusy
	}
	if err != nil {
		return nil, err
	}
	defer release()
	p.mu.Lock()
	_, failed := p.cached(k).(cachedFailure)
	p.mu.Unlock()
	if failed { // in another width, meanwhile
		return nil, errUnreadable
	}
	document, err := open(ctx)
	if err != nil {
		return nil, err
	}
	defer document.Close()
	if document.Revision != k.revision {
		return nil, portal.ErrChanged
	}
	file := stamp.NewErrorReaderAt(document.Blob)
	value, err := build(ctx, file, document.Size())
	switch {
	case file.Err() != nil: // an error of the store, which the renderer would report as damage
		return nil, file.Err()
	case err == nil:
		return value, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, stamp.ErrNotReady):
		return nil, errBusy
	}
	return nil, fmt.Errorf("%w: %w", errUnreadable, err)
}

// cacheTime returns the time that cache entries are measured by.
func cacheTime() time.Time { return time.Now() } // time: an account's clock does not affect the cache

// cache is an LRU cache bounded by cost and by the time since the last use. It is not safe for concurrent use.
type cache struct {
	capacity, used int
	ttl            time.Duration
	entries        map[cacheKey]*list.Element
	lru            *list.List // of *cacheEntry, most recently used first
}

type cacheEntry struct {
	key     cacheKey
	value   cacheValue
	lastUse time.Time
}

// entryOverhead is the approximate size in bytes of an entry beside its value.
const entryOverhead = 512

// newCache returns a cache of a capacity in bytes, whose entries expire after a time without use.
func newCache(capacity int, ttl time.Duration) *cache {
	return &cache{capacity: capacity, ttl: ttl, entries: make(map[cacheKey]*list.Element), lru: list.New()}
}

// get returns the value of a key, or nil.
func (c *cache) get(k cacheKey, now time.Time) cacheValue {
	c.evictExpired(now)
	element := c.entries[k]
	if element == nil {
		return nil
	}
	c.lru.MoveToFront(element)
	element.Value.(*cacheEntry).lastUse = now
	return element.Value.(*cacheEntry).value
}

// put adds a value and evicts the least recently used entries beyond the capacity.
func (c *cache) put(k cacheKey, value cacheValue, now time.Time) {
	if e := c.entries[k]; e != nil {
		c.remove(e)
	}
	entry := &cacheEntry{k, value, now}
	if entry.cost() > c.capacity/4 { // too large: it would evict too many others
		return
	}
	c.entries[k] = c.lru.PushFront(entry)
	c.used += entry.cost()
	for c.used > c.capacity {
		c.remove(c.lru.Back())
	}
}

// evictExpired removes expired entries, so that documents do not stay in memory after their readers have gone.
func (c *cache) evictExpired(now time.Time) {
	for element := c.lru.Back(); element != nil && now.Sub(element.Value.(*cacheEntry).lastUse) > c.ttl; element = c.lru.Back() {
		c.remove(element)
	}
}

// remove removes an entry.
func (c *cache) remove(e *list.Element) {
	entry := c.lru.Remove(e).(*cacheEntry)
	delete(c.entries, entry.key)
	c.used -= entry.cost()
}

func (e *cacheEntry) cost() int { return e.value.cost() + entryOverhead }

// Limits of prefetching.
const (
	maxPrefetchQueue = 8 // documents that wait
	prefetchPages    = 2
	prefetchAgain    = 10 * time.Minute // after which a revision may be prefetched again
)

// prefetchWidths are the widths that browsers most likely request first. A scan of the second width is scaled
// from the first.
var prefetchWidths = []int{maxWidth, defaultWidth}

// prefetchJob is a document whose first pages may soon be requested.
type prefetchJob struct {
	docRevision
	open openFunc
}

// prefetch draws the first pages of a document in the background, while a person logs in. It does nothing if
// the queue is full.
func (p *pictures) prefetch(rev docRevision, open openFunc) {
	select {
	case p.prefetchQueue <- prefetchJob{rev, open}:
	default:
	}
}

// runPrefetch prefetches one document at a time, and each revision once in prefetchAgain, however often its
// link is opened. It also evicts expired cache entries.
func (p *pictures) runPrefetch() {
	minute := time.NewTicker(time.Minute)
	defer minute.Stop()
	done := make(map[docRevision]time.Time)
	for {
		select {
		case job := <-p.prefetchQueue:
			if _, already := done[job.docRevision]; !already {
				done[job.docRevision] = cacheTime()
				p.prefetchDocument(job)
			}
		case <-minute.C:
			for rev, at := range done {
				if cacheTime().Sub(at) > prefetchAgain {
					delete(done, rev)
				}
			}
			p.mu.Lock()
			p.cache.evictExpired(cacheTime())
			p.mu.Unlock()
		case <-p.ctx.Done():
			return
		}
	}
}

// prefetchDocument draws the first pages of a document. It ignores errors, which a request for the page
// reports.
func (p *pictures) prefetchDocument(job prefetchJob) {
	ctx, cancel := context.WithTimeout(p.ctx, queueTimeout)
	defer cancel()
	sizes, err := p.sizes(ctx, job.docRevision, job.open)
	if err != nil {
		return
	}
	for n := 1; n <= min(prefetchPages, len(sizes.pages)); n++ {
		for _, width := range prefetchWidths {
			if _, err := p.picture(ctx, job.docRevision, job.open, n, width); err != nil {
				return
			}
		}
		if _, err := p.text(ctx, job.docRevision, job.open, n); err != nil {
			return
		}
	}
}
