package page

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"io"
	"net/http"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
)

// tardy is blank, and draws for a while.
type tardy struct {
	blank
	draws time.Duration
}

func (r tardy) Render(ctx context.Context, file io.ReaderAt, size int64, page, width, height int) (*image.RGBA, error) {
	select {
	case <-time.After(r.draws):
		return r.blank.Render(ctx, file, size, page, width, height)
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Somebody who asks for all pages of a long document at once takes no document from others: some of
// these pages come, for the others there are too many, and that is nobody's fault.
func TestReaderOfALongDocument(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const pages = 300
		s, long := withDocument(t, pdftest.Book(make([]pdftest.Leaf, pages)), tardy{draws: time.Second})
		short := s.process()
		greedy, jon := s.browser(annas), s.browser(jons)
		var all sync.WaitGroup
		var drawn, refused atomic.Int32
		for n := 1; n <= pages; n++ {
			all.Go(func() {
				a := greedy.ask(http.MethodGet, of(long, 0, fmt.Sprintf("/pages/%d/640?revision=0", n)))
				switch {
				case a.StatusCode == http.StatusOK:
					drawn.Add(1)
				case a.StatusCode == http.StatusServiceUnavailable && a.Header.Get("Retry-After") != "":
					refused.Add(1)
				default:
					t.Errorf("page %d: %s", n, a.Status)
				}
			})
		}
		synctest.Wait()
		began := time.Now()
		jon.get(of(short, 1)).says(t, http.StatusOK, "sign.title", "!document.unread")
		if a := jon.ask(http.MethodGet, of(short, 1, "/pages/1/640?revision=0")); a.StatusCode != http.StatusOK {
			t.Errorf("the picture of another document: %s", a.Status)
		}
		if took := time.Since(began); took > 6*time.Second {
			t.Errorf("another document takes %v", took)
		}
		all.Wait()
		if drawn.Load() == 0 || refused.Load() < pages-maxQueuedPerProcess-10 {
			t.Errorf("%d pages are drawn, %d refused", drawn.Load(), refused.Load())
		}
		if len(s.faults) > 0 {
			t.Errorf("the operator is told: %v", s.faults)
		}
	})
}

// How large pages are is known at once, whatever is drawn meanwhile.
func TestSizesWaitForNoDrawing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := newPictures(tardy{draws: time.Hour})
		defer p.close()
		leaves := bytes.NewReader(pdftest.Book(make([]pdftest.Leaf, 3)))
		open := openingOf(leaves, leaves.Size(), 0, nil)
		for n := range runtime.GOMAXPROCS(0) {
			go p.picture(t.Context(), docRevision{fmt.Sprint(n), 0}, open, 1, 640)
		}
		synctest.Wait()
		began := time.Now()
		got, err := p.sizes(t.Context(), docRevision{"another", 0}, open)
		if err != nil || got.total != 3 || time.Since(began) > 0 {
			t.Errorf("%v, %v after %v", got, err, time.Since(began))
		}
	})
}

// A crowd, or the end of the server, is a matter of time for who asks, and no fault to be told of.
func TestCrowdIsNoFault(t *testing.T) {
	t.Parallel()
	for _, err := range []error{errBusy, errClosed} {
		about := problemOf(fmt.Errorf("the document: %w", err))
		if about.status != http.StatusServiceUnavailable || about.retryAfter == 0 || !about.expected {
			t.Errorf("%v: %+v", err, about)
		}
	}
}
