package page

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/stamp"
	"github.com/innsigli/innsigli/stamp/pdfium"
)

// A request for all pages of a document at once delays others by one page at most, however few tickets run at once.
func TestQueueIsFair(t *testing.T) {
	t.Parallel()
	for n := 1; n <= 2; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) { queueIsFair(t, n) })
	}
}

func queueIsFair(t *testing.T, n int) {
	synctest.Test(t, func(t *testing.T) {
		queue := newRenderQueue(n, 100, 100)
		var order []string
		var lock sync.Mutex
		var all sync.WaitGroup
		work := func(process string) {
			all.Go(func() {
				if err := queue.acquire(t.Context(), process, time.Hour); err != nil {
					t.Error(err)
					return
				}
				lock.Lock()
				order = append(order, process)
				lock.Unlock()
				time.Sleep(time.Second)
				queue.release(process)
			})
			synctest.Wait()
		}
		for range 40 {
			work("long")
		}
		work("short")
		work("short")
		all.Wait()
		if order[n] != "short" && order[n+1] != "short" {
			t.Errorf("in the order %v", order)
		}
		if len(queue.running) != 0 || queue.free != n {
			t.Errorf("left: %v, %d free", queue.running, queue.free)
		}
	})
}

// No more tickets run than may, and none is lost, however waiting requests end.
func TestQueueCountsTickets(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const most = 3
		queue := newRenderQueue(most, 1000, 1000)
		var working, served atomic.Int32
		var all sync.WaitGroup
		random := rand.New(rand.NewPCG(1, 2))
		for i := range 300 {
			timeout, work := time.Duration(random.IntN(30))*time.Millisecond, time.Duration(random.IntN(5))*time.Millisecond
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(random.IntN(60))*time.Millisecond)
			process := fmt.Sprint(i % 7)
			all.Go(func() {
				defer cancel()
				if queue.acquire(ctx, process, timeout) != nil {
					return
				}
				defer queue.release(process)
				if n := working.Add(1); n > most {
					t.Errorf("%d at work", n)
				}
				time.Sleep(work)
				served.Add(1)
				working.Add(-1)
			})
		}
		all.Wait()
		if queue.free != most || len(queue.waiting) != 0 || len(queue.running) != 0 || served.Load() < 10 {
			t.Errorf("%d free, %d waiting, %v, %d served", queue.free, len(queue.waiting), queue.running, served.Load())
		}
	})
}

// A full queue, a long wait and the end of a request are errors.
func TestQueueRefuses(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		queue := newRenderQueue(1, 1, 1)
		if err := queue.acquire(t.Context(), "a", time.Second); err != nil {
			t.Fatal(err)
		}
		go queue.acquire(t.Context(), "b", time.Minute)
		synctest.Wait()
		if err := queue.acquire(t.Context(), "c", time.Minute); !errors.Is(err, errBusy) {
			t.Errorf("full queue: %v", err)
		}
		time.Sleep(2 * time.Minute)
		if err := queue.acquire(t.Context(), "c", time.Second); !errors.Is(err, errBusy) {
			t.Errorf("long wait: %v", err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if err := queue.acquire(ctx, "c", time.Second); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the request has ended: %v", err)
		}
	})
}

// One process cannot fill the queue.
func TestQueueOfOneProcess(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		queue := newRenderQueue(1, 10, 3)
		if err := queue.acquire(t.Context(), "long", time.Second); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			go func() {
				if queue.acquire(t.Context(), "long", time.Minute) == nil {
					queue.release("long")
				}
			}()
		}
		synctest.Wait()
		began := time.Now()
		if err := queue.acquire(t.Context(), "long", time.Minute); !errors.Is(err, errBusy) || time.Since(began) > 0 {
			t.Errorf("one more of the same: %v after %v", err, time.Since(began))
		}
		time.AfterFunc(time.Second, func() { queue.release("long") })
		if err := queue.acquire(t.Context(), "short", time.Minute); err != nil {
			t.Errorf("another: %v", err)
		}
	})
}

// stallingRenderer reads documents from a store that does not answer.
type stallingRenderer struct {
	Renderer
	drawing chan<- struct{} // gets a value for each page
	release <-chan struct{}
}

func (s stallingRenderer) Render(ctx context.Context, _ io.ReaderAt, size int64, page, width, height int) (*image.RGBA, error) {
	return s.Renderer.Render(ctx, stalled(s), size, page, width, height)
}

type stalled stallingRenderer

func (s stalled) ReadAt([]byte, int64) (int, error) {
	select {
	case s.drawing <- struct{}{}:
	default:
	}
	<-s.release
	return 0, io.ErrUnexpectedEOF
}

// However many pictures wait, the renderer finds places for visible signatures, which creating a process requires, also
// with one processor.
func TestPicturesLeaveAnInstanceForPlaceSearches(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	renderer := newRenderer(t, pdfium.Options{Limit: enoughTime, Wait: time.Minute})
	drawing, release := make(chan struct{}, 1), make(chan struct{})
	p := newPictures(stallingRenderer{renderer, drawing, release})
	var all sync.WaitGroup
	document := pdftest.Book(make([]pdftest.Leaf, 1))
	for n := range 10 {
		all.Go(func() {
			rev := docRevision{fmt.Sprint("process ", n), 0}
			if _, err := p.picture(t.Context(), rev, openingOf(bytes.NewReader(document), int64(len(document)), 0, nil), 1, 640); err == nil {
				t.Error("a page is drawn of a document that cannot be read")
			}
		})
	}
	<-drawing
	page, err := stamp.ReadPage(bytes.NewReader(document), int64(len(document)), 1)
	if err != nil {
		t.Fatal(err)
	}
	if places, err := page.Capacity(t.Context(), renderer, stamp.BottomRight, stamp.StandardSize, 3); err != nil || len(places) != 3 {
		t.Errorf("places: %v, %v", places, err)
	}
	close(release)
	all.Wait()
	p.close()
}
