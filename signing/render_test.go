package signing

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/internal/admission"
	"github.com/innsigli/innsigli/stamp"
)

// costlyRenderer needs a second for each page, and fails.
type costlyRenderer struct {
	rendered atomic.Int32
	err      error
}

func (r *costlyRenderer) Render(context.Context, io.ReaderAt, int64, int, int, int) (*image.RGBA, error) {
	time.Sleep(time.Second)
	r.rendered.Add(1)
	return nil, r.err
}

// TestFailedPages checks which pages are rendered again.
func TestFailedPages(t *testing.T) {
	damaged := errors.New("damaged")
	unreadable := stamp.NewErrorReaderAt(failingReader{})
	unreadable.ReadAt(nil, 0)
	for name, test := range map[string]struct {
		err      error
		document io.ReaderAt
		account  string // of the second call
		sha256   string
		page     int
		later    time.Duration
		rendered int // in both calls
	}{
		"the same page":                   {err: damaged, account: "a", sha256: "x", page: 1, rendered: 1},
		"the same page later":             {err: damaged, account: "a", sha256: "x", page: 1, later: failedPagesTTL, rendered: 2},
		"another page":                    {err: damaged, account: "a", sha256: "x", page: 2, rendered: 2},
		"another document":                {err: damaged, account: "a", sha256: "y", page: 1, rendered: 2},
		"a document of another account":   {err: damaged, account: "b", sha256: "x", page: 1, rendered: 2},
		"a page that was rendered":        {err: nil, account: "a", sha256: "x", page: 1, rendered: 2},
		"a page for which was no time":    {err: stamp.ErrNotReady, account: "a", sha256: "x", page: 1, rendered: 2},
		"a page that could not be read":   {err: damaged, document: unreadable, account: "a", sha256: "x", page: 1, rendered: 2},
		"a page that could not be read 2": {err: damaged, document: stamp.NewErrorReaderAt(bytes.NewReader(nil)), account: "a", sha256: "x", page: 1, rendered: 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				renderer := &costlyRenderer{err: test.err}
				p := newPlanning(Options{Renderer: renderer})
				p.rendererFor("a", content{SHA256: "x"}).Render(t.Context(), test.document, 1, 1, 1, 1)
				time.Sleep(test.later)
				p.rendererFor(test.account, content{SHA256: test.sha256}).Render(t.Context(), test.document, 1, test.page, 1, 1)
				if int(renderer.rendered.Load()) != test.rendered {
					t.Errorf("rendered %d times, want %d", int(renderer.rendered.Load()), test.rendered)
				}
			})
		})
	}
}

type failingReader struct{}

func (failingReader) ReadAt([]byte, int64) (int, error) { return 0, errors.New("the store is away") }

// TestFailedPagesAreBounded checks that as many are remembered as may be, the latest ones.
func TestFailedPagesAreBounded(t *testing.T) {
	var f failedPages
	now := time.Now()
	key := func(n int) failedPage { return failedPage{"a", fmt.Sprint(n), 1} }
	for n := range maxFailedPages + 10 {
		f.add(key(n), now.Add(time.Duration(n)))
	}
	if len(f.until) != maxFailedPages || f.has(key(9), now) || !f.has(key(10), now) {
		t.Errorf("%d remembered", len(f.until))
	}
	f.add(key(0), now.Add(failedPagesTTL+time.Hour))
	if len(f.until) != 1 {
		t.Errorf("%d remembered, want 1 whose time is not over", len(f.until))
	}
	if f.add(failedPage{account: "a", page: 1}, now); len(f.until) != 1 {
		t.Error("a document without a digest is remembered")
	}
}

// TestFloodOfStarts checks that none of an account's starts is refused, nor waits, beside those of
// an account that fills the queues.
func TestFloodOfStarts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		renderer := &costlyRenderer{}
		p := newPlanning(Options{Renderer: renderer, Rendering: admission.NewQueue(2, plansWaiting)})
		var all sync.WaitGroup
		start := func(account string, n int) (took time.Duration, err error) {
			began := time.Now()
			done, err := p.startReading(t.Context(), account)
			if err == nil {
				defer done()
				_, err = p.rendererFor(account, content{SHA256: fmt.Sprint(n)}).Render(t.Context(), nil, 1, 1, 1, 1)
			}
			return time.Since(began), err
		}
		var refused atomic.Int32
		for n := range 2 * plansWaiting {
			all.Go(func() {
				if _, err := start("flood", n); errors.Is(err, stamp.ErrNotReady) {
					refused.Add(1)
				} else if err != nil {
					t.Error(err)
				}
			})
			synctest.Wait()
		}
		for n := range 5 {
			if took, err := start("other", n); err != nil || took != time.Second {
				t.Errorf("start %d of another account: %v after %v", n, err, took)
			}
		}
		all.Wait()
		if served := 2*plansWaiting - refused.Load(); served < 8 {
			t.Errorf("%d starts of the flood are served", served)
		}
	})
}

// TestFoundPlaces checks that a place is searched for once, and that no other search gets it.
func TestFoundPlaces(t *testing.T) {
	var f foundPlaces
	key := search{"a", "x", 1, stamp.TopLeft, stamp.StandardSize, 1}
	others := []search{
		{"b", "x", 1, stamp.TopLeft, stamp.StandardSize, 1}, {"a", "y", 1, stamp.TopLeft, stamp.StandardSize, 1},
		{"a", "x", 2, stamp.TopLeft, stamp.StandardSize, 1}, {"a", "x", 1, stamp.BottomLeft, stamp.StandardSize, 1},
		{"a", "x", 1, stamp.TopLeft, stamp.Size{Width: 1, Height: 1}, 1}, {"a", "x", 1, stamp.TopLeft, stamp.StandardSize, 2},
	}
	searches := 0
	find := func(key search, err error) (float64, error) {
		places, got := f.places(key, func() ([]stamp.Rect, error) {
			searches++
			return []stamp.Rect{{Left: float64(searches)}}, err
		})
		return places[0].Left, got
	}
	want := func(key search, place float64) {
		t.Helper()
		if got, err := find(key, nil); got != place || err != nil {
			t.Errorf("%+v: place %v, %v; want %v", key, got, err, place)
		}
	}
	failed := errors.New("failed")
	if _, err := find(key, failed); !errors.Is(err, failed) {
		t.Error(err)
	}
	want(key, 2) // a failure is not remembered
	for i, other := range others {
		want(other, float64(3+i))
	}
	want(key, 2)
	unknown := search{account: "a", page: 1}
	want(unknown, 9)
	want(unknown, 10)
	for n := range 3 * maxFoundPlaces { // one that is asked for stays
		if _, err := find(search{account: "a", sha256: "z", page: n}, nil); err != nil {
			t.Fatal(err)
		}
		if n%(maxFoundPlaces/4) == 0 {
			want(key, 2)
		}
	}
	if n := len(f.young) + len(f.old); n > 2*maxFoundPlaces {
		t.Errorf("%d searches are remembered", n)
	}
	if _, found := f.get(others[0]); found {
		t.Error("a place that is not asked for is remembered for ever")
	}
}
