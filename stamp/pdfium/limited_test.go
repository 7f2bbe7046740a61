package pdfium_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/stamp"
	"github.com/innsigli/innsigli/stamp/pdfium"
)

// TestDeadline checks that the end of the context stops a rendering that takes minutes, and that the next
// page is drawn.
func TestDeadline(t *testing.T) {
	r := shared(t)
	check := func(t *testing.T, document []byte, width, height int) {
		// time: it ends while the page is drawn, which takes minutes, or before that
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		if _, err := render(ctx, r, document, width, height); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got error %v, want DeadlineExceeded", err)
		}
		drawn(t, r, source{page: page200}.bytes(), 200, 100)
	}
	t.Run("made for the test", func(t *testing.T) { check(t, slowPage(), 1000, 1000) })
	t.Run("foreign file", func(t *testing.T) {
		check(t, testenv.ReadFile(t, filepath.Join(testenv.Corpus(t, "pdf"), "issue16263.pdf")), 960, 540)
	})
}

// TestWait checks that the limit of a page counts from when an instance draws it, and that a call waits
// for an instance no longer than Options.Wait and its context.
func TestWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := started(t, pdfium.Options{Instances: 1, Wait: 8 * time.Second, Limit: enough})
		began := time.Now()
		var all sync.WaitGroup
		use := func(ctx context.Context, limit, takes, ends time.Duration, want error) {
			all.Go(func() {
				err := r.Use(ctx, limit, bytes.NewReader(nil), func(ctx context.Context, _ io.ReaderAt) error {
					select {
					case <-ctx.Done():
					case <-time.After(takes):
					}
					return ctx.Err()
				})
				if took := time.Since(began); !errors.Is(err, want) || took != ends {
					t.Errorf("got error %v after %v, want %v after %v", err, took, want, ends)
				}
			})
			synctest.Wait()
		}
		canceled, cancel := context.WithCancel(t.Context())
		use(t.Context(), 10*time.Second, 6*time.Second, 6*time.Second, nil) // drawn at once
		use(t.Context(), 5*time.Second, 4*time.Second, 10*time.Second, nil) // drawn after the first
		use(canceled, 5*time.Second, 0, time.Second, context.Canceled)      // waits until its context ends
		time.Sleep(time.Second)
		cancel()
		use(t.Context(), 5*time.Second, 0, 9*time.Second, stamp.ErrNotReady) // waits for Options.Wait
		all.Wait()
	})
}

// TestTwoPagesAtOnce checks that one page that takes long keeps no other one waiting, also on a machine with one
// processor.
func TestTwoPagesAtOnce(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	synctest.Test(t, func(t *testing.T) {
		r := started(t, pdfium.Options{Limit: enough, Wait: time.Second})
		first, end := context.WithCancel(t.Context())
		var all sync.WaitGroup
		all.Go(func() {
			err := r.Use(first, enough, bytes.NewReader(nil), func(ctx context.Context, _ io.ReaderAt) error {
				<-ctx.Done()
				return ctx.Err()
			})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("the page that takes long: %v", err)
			}
		})
		synctest.Wait()
		drawn(t, r, source{page: page200}.bytes(), 200, 100)
		end()
		all.Wait()
	})
}

// TestClose checks that Close stops a rendering, that later calls return ErrClosed, and that no goroutine
// remains.
func TestClose(t *testing.T) {
	before := runtime.NumGoroutine()
	r := started(t, pdfium.Options{Instances: 1, Wait: enough, Limit: enough})
	document := slowPage()
	reading, ended := &signalingReader{ReaderAt: bytes.NewReader(document), read: make(chan struct{})}, make(chan error)
	go func() {
		_, err := r.Render(t.Context(), reading, int64(len(document)), 1, 1000, 1000)
		ended <- err
	}()
	<-reading.read
	closed := make(chan error)
	go func() { closed <- r.Close() }()
	rendering, closing := <-ended, <-closed
	_, later := render(t.Context(), r, document, 1000, 1000)
	_, warming := r.Warm(t.Context())
	want := []error{pdfium.ErrClosed, nil, pdfium.ErrClosed, pdfium.ErrClosed, nil}
	if got := []error{rendering, closing, later, warming, r.Close()}; !slices.Equal(got, want) {
		t.Errorf("running Render, Close, Render, Warm and Close: got errors %v, want %v", got, want)
	}
	testenv.Wait(t, "all goroutines to end", func() bool { return runtime.NumGoroutine() <= before })
}

// signalingReader is a document that closes a channel when it is read.
type signalingReader struct {
	io.ReaderAt
	read chan struct{}
	once sync.Once
}

func (r *signalingReader) ReadAt(p []byte, offset int64) (int, error) {
	r.once.Do(func() { close(r.read) })
	return r.ReaderAt.ReadAt(p, offset)
}

// TestConcurrentPages checks that each of fifty callers at once gets the picture of its own page, with its
// form field, from at most three instances.
func TestConcurrentPages(t *testing.T) {
	r := started(t, pdfium.Options{Instances: 3, Wait: enough, Limit: enough})
	var all sync.WaitGroup
	for n := range 50 {
		all.Go(func() {
			document := source{
				catalog: "/AcroForm << /Fields [10 0 R] >>",
				page:    page200 + "/Annots [10 0 R]",
				objects: []string{
					fmt.Sprintf("<< /Type /Annot /Subtype /Widget /FT /Tx /T (a) /F 4 /Rect [%d 50 %d 70] /AP << /N 11 0 R >> >>", n*3, n*3+40),
					stream(box, red),
				},
			}.bytes()
			picture, err := render(t.Context(), r, document, 200, 100)
			if err != nil {
				t.Error(err)
			} else if got := inked(picture); got.Min.X != n*3 || got.Dx() != 40 {
				t.Errorf("page %d: the field is at %v, want it 40 wide at %d", n, got, n*3)
			}
		})
	}
	all.Wait()
	if idle := len(r.Idle()); idle == 0 || idle > 3 {
		t.Errorf("got %d instances, want 1 to 3", idle)
	}
}

// TestInstanceIsReplaced checks that a new instance takes the place of one that was used MaxUses times, whose memory has
// grown, or on which a page has failed.
func TestInstanceIsReplaced(t *testing.T) {
	r := started(t, pdfium.Options{Instances: 1, Limit: enough})
	small := source{page: page200}.bytes()
	for n := range pdfium.MaxUses + 2 {
		drawn(t, r, small, 200, 100)
		want := []int{(n + 1) % pdfium.MaxUses}
		if got := r.Idle(); !slices.Equal(got, want) {
			t.Fatalf("after %d pages: got uses %v of idle instances, want %v", n+1, got, want)
		}
	}
	transparent := source{
		page:    page200 + "/Resources << /XObject << /X 10 0 R >> /ExtGState << /G << /ca 0.5 >> >> >>",
		content: "/G gs /X Do",
		objects: []string{stream("/Type /XObject /Subtype /Form /BBox [0 0 200 100] /Group << /S /Transparency >>", "0 0 150 90 re f 20 20 150 80 re f")},
	}.bytes()
	drawn(t, r, transparent, 2880, 1440)
	if idle := r.Idle(); !slices.Equal(idle, []int{0}) {
		t.Errorf("after memory has grown: got uses %v of idle instances, want a new one", idle)
	}
	drawn(t, r, small, 200, 100)
	if _, err := render(t.Context(), r, []byte("not a PDF"), 200, 100); err == nil || !slices.Equal(r.Idle(), []int{0}) {
		t.Errorf("got error %v and uses %v of idle instances, want an error and a new one", err, r.Idle())
	}
}

// TestNewInstanceTakesNoTimeOfThePage checks that the watch over a page's time has ended when the instance is made that
// takes the place of the page's: it can no longer replace the error of the document.
func TestNewInstanceTakesNoTimeOfThePage(t *testing.T) {
	r := started(t, pdfium.Options{Instances: 1, Wait: enough})
	var page context.Context // nil: no page was drawn yet
	made := 0
	r.OnNewInstance(func() {
		if page == nil {
			return
		}
		if made++; page.Err() == nil {
			t.Error("the instance is made on the time of the page")
		}
	})
	failed := errors.New("the document is damaged")
	err := r.Use(t.Context(), enough, bytes.NewReader(nil), func(ctx context.Context, _ io.ReaderAt) error {
		page = ctx
		return failed
	})
	if !errors.Is(err, failed) || made != 1 || !slices.Equal(r.Idle(), []int{0}) {
		t.Errorf("got error %v and %d new instances, want %v and one: %v", err, made, failed, r.Idle())
	}
}
