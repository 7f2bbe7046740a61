package signing

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/innsigli/innsigli/internal/admission"
	"github.com/innsigli/innsigli/stamp"
)

// planning limits the search for places on pages.
type planning struct {
	renderer  stamp.Renderer
	reading   *admission.Queue // for documents that are read
	rendering *admission.Queue // for the renderer
	failed    failedPages
	found     foundPlaces
}

const (
	// plansAtOnce bounds how many documents are read at once to find places on their pages. One may take 50 MB
	// of memory meanwhile.
	plansAtOnce = 4
	// plansWaiting bounds how many documents wait to be read.
	plansWaiting = 256
	// planTimeout is how long a document waits to be read, and its page to be rendered.
	planTimeout = 8 * time.Second
)

func newPlanning(o Options) *planning {
	rendering := o.Rendering
	if rendering == nil {
		rendering = admission.NewQueue(plansAtOnce, plansWaiting)
	}
	return &planning{renderer: o.Renderer, reading: admission.NewQueue(plansAtOnce, plansWaiting), rendering: rendering}
}

// startReading waits until the account may read a document. It returns stamp.ErrNotReady when that takes too long. The
// caller calls done when the document is no longer read.
func (p *planning) startReading(ctx context.Context, account string) (done func(), err error) {
	return acquire(ctx, p.reading, account)
}

func acquire(ctx context.Context, q *admission.Queue, account string) (release func(), err error) {
	release, err = q.Acquire(ctx, admission.Group{Account: account}, planTimeout)
	if errors.Is(err, admission.ErrBusy) {
		err = fmt.Errorf("%w: %w", stamp.ErrNotReady, err)
	}
	return release, err
}

// rendererFor returns a renderer for a document of an account; nil: there is none.
func (p *planning) rendererFor(account string, c content) stamp.Renderer {
	if p.renderer == nil {
		return nil
	}
	return accountRenderer{p, account, c.SHA256}
}

// accountRenderer renders pages of one document in the turns of its account. It does not render a page again that failed
// shortly before.
type accountRenderer struct {
	*planning
	account string
	sha256  string // of the document; empty: failures are not remembered
}

// Render implements [stamp.Renderer].
func (r accountRenderer) Render(ctx context.Context, src io.ReaderAt, size int64, page, width, height int) (*image.RGBA, error) {
	key := failedPage{r.account, r.sha256, page}
	if r.failed.has(key, failureTime()) {
		return nil, errFailedBefore
	}
	release, err := acquire(ctx, r.rendering, r.account)
	if err != nil {
		return nil, err
	}
	defer release()
	if r.failed.has(key, failureTime()) { // meanwhile
		return nil, errFailedBefore
	}
	picture, err := r.renderer.Render(ctx, src, size, page, width, height)
	if err != nil && ctx.Err() == nil && !errors.Is(err, stamp.ErrNotReady) && !readFailed(src) {
		r.failed.add(key, failureTime())
	}
	return picture, err
}

// readFailed reports whether reading a document failed, which a renderer takes for damage of the document.
func readFailed(src io.ReaderAt) bool {
	document, ok := src.(*stamp.ErrorReaderAt)
	return ok && document.Err() != nil
}

// failedPages remembers pages that could not be rendered. It may be used by several goroutines.
type failedPages struct {
	mu    sync.Mutex
	until map[failedPage]time.Time
}

// failedPage is a page of a document that an account sent. Accounts do not share failures: how fast an answer is would
// tell one of them what another has sent.
type failedPage struct {
	account string
	sha256  string
	page    int
}

// errFailedBefore: the page is not rendered, because that failed shortly before.
var errFailedBefore = errors.New("signing: rendering the page failed shortly before")

// failureTime returns the time by which pages are remembered.
func failureTime() time.Time { return time.Now() } // time: an account's clock does not affect the renderer

const (
	failedPagesTTL = 10 * time.Minute
	maxFailedPages = 4096
)

// has reports whether a page failed shortly before.
func (f *failedPages) has(key failedPage, now time.Time) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return now.Before(f.until[key])
}

// add remembers a page. If there are too many, it forgets those whose time is over, or else the one that failed first.
func (f *failedPages) add(key failedPage, now time.Time) {
	if key.sha256 == "" {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.until) >= maxFailedPages {
		maps.DeleteFunc(f.until, func(_ failedPage, until time.Time) bool { return !now.Before(until) })
	}
	if len(f.until) >= maxFailedPages {
		first := key
		for one, until := range f.until {
			if first == key || until.Before(f.until[first]) {
				first = one
			}
		}
		delete(f.until, first)
	}
	if f.until == nil {
		f.until = make(map[failedPage]time.Time)
	}
	f.until[key] = now.Add(failedPagesTTL)
}

// foundPlaces remembers the free places that were found on pages. Documents that are made from one template differ, but
// clients also send one document again and again, and each search renders its page. It may be used by several goroutines.
type foundPlaces struct {
	mu    sync.Mutex
	young map[search][]stamp.Rect
	old   map[search][]stamp.Rect // the generation before, of which those that are asked for are kept
	size  int                     // of young: its searches and places
}

// search has all that the places depend on: the content of the document determines its page. Accounts do not share places,
// for the reason that failedPage names.
type search struct {
	account string
	sha256  string
	page    int
	corner  stamp.Corner
	size    stamp.Size
	limit   int // places that are searched for
}

// maxFoundPlaces bounds the searches and places of a generation, of at most 200 bytes each.
const maxFoundPlaces = 8192

// places returns up to limit free places on a page of a document, remembered or by find.
func (f *foundPlaces) places(key search, find func() ([]stamp.Rect, error)) ([]stamp.Rect, error) {
	if key.sha256 == "" {
		return find()
	}
	if places, found := f.get(key); found {
		return places, nil
	}
	places, err := find()
	if err == nil {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.add(key, slices.Clone(places))
	}
	return places, err
}

func (f *foundPlaces) get(key search) (places []stamp.Rect, found bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if places, found = f.young[key]; !found {
		if places, found = f.old[key]; found {
			f.add(key, places)
		}
	}
	return slices.Clone(places), found
}

// add remembers places. The caller holds mu.
func (f *foundPlaces) add(key search, places []stamp.Rect) {
	if f.young == nil || f.size >= maxFoundPlaces {
		f.young, f.old, f.size = make(map[search][]stamp.Rect), f.young, 0
	}
	f.young[key] = places
	f.size += 1 + len(places)
}
