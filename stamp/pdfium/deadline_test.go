package pdfium_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/stamp"
	"github.com/innsigli/innsigli/stamp/pdfium"
)

// slow is a page that takes minutes to draw: the colour of every pixel is the end of a long
// calculation (ISO 32000-2 7.10.5, 8.7.4.5.2).
func slow() []byte {
	calculation := "{ " + strings.Repeat("exch 1.01 mul sin exch cos ", 20_000) + "2 copy add }"
	return source{
		page:    "/MediaBox [0 0 1000 1000] /Resources << /Shading << /S 10 0 R >> >>",
		content: "/S sh",
		objects: []string{
			"<< /ShadingType 1 /ColorSpace /DeviceRGB /Matrix [1000 0 0 1000 0 0] /Function 11 0 R >>",
			stream("/FunctionType 4 /Domain [0 1 0 1] /Range [0 1 0 1 0 1]", calculation),
		},
	}.bytes()
}

// enough is more than any page takes, however busy the machine is.
const enough = time.Hour

// The deadline stops a rendering, and the next page is drawn.
func TestDeadline(t *testing.T) {
	r := shared(t)
	for name, test := range map[string]struct {
		document      func(t *testing.T) []byte
		width, height int
	}{
		"built":   {func(*testing.T) []byte { return slow() }, 1000, 1000},
		"foreign": {foreignSlow, 960, 540},
	} {
		t.Run(name, func(t *testing.T) {
			document := test.document(t)
			// time: it ends while the page is drawn, which takes minutes, or before that
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			if _, err := rendered(ctx, r, document, test.width, test.height); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("error %v", err)
			}
			drawn(t, r, source{page: page200}.bytes(), 200, 100)
		})
	}
}

func foreignSlow(t *testing.T) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(testenv.Corpus(t, "pdf"), "issue16263.pdf"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A page has a limit of its own, which counts from when an instance draws it: the time that it waits for slow pages
// of others does not count. A call waits no longer than Options.Wait, and no longer than its context.
func TestLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := started(t, pdfium.Options{Cache: testenv.RendererCache(), Instances: 1, Wait: 8 * time.Second, Limit: enough})
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
					t.Errorf("%v after %v, want %v after %v", err, took, want, ends)
				}
			})
			synctest.Wait()
		}
		notDone := context.DeadlineExceeded
		if runtime.GOOS == "linux" {
			notDone = stamp.ErrNotReady // for it had no processor
		}
		gone, leave := context.WithCancel(t.Context())
		use(t.Context(), 6*time.Second, enough, 6*time.Second, notDone)     // at once
		use(t.Context(), 5*time.Second, 4*time.Second, 10*time.Second, nil) // behind it
		use(gone, 5*time.Second, 0, time.Second, context.Canceled)          // waiting
		time.Sleep(time.Second)
		leave()
		use(t.Context(), 5*time.Second, 0, 9*time.Second, stamp.ErrNotReady) // waiting for as long as allowed
		all.Wait()
	})
}

// begun is a document that says when it is read.
type begun struct {
	io.ReaderAt
	read chan struct{}
	once sync.Once
}

func begin(document []byte) *begun {
	return &begun{ReaderAt: bytes.NewReader(document), read: make(chan struct{})}
}

func (b *begun) ReadAt(p []byte, offset int64) (int, error) {
	b.once.Do(func() { close(b.read) })
	return b.ReaderAt.ReadAt(p, offset)
}

// Close stops who has an instance.
func TestClose(t *testing.T) {
	before := runtime.NumGoroutine()
	r := started(t, pdfium.Options{Cache: testenv.RendererCache(), Instances: 1, Wait: enough, Limit: enough})
	document := slow()
	reading, ended := begin(document), make(chan error)
	go func() {
		_, err := r.Render(t.Context(), reading, int64(len(document)), 1, 1000, 1000)
		ended <- err
	}()
	<-reading.read

	closing := make(chan error)
	go func() { closing <- r.Close() }()
	if err := <-ended; !errors.Is(err, pdfium.ErrClosed) {
		t.Errorf("what ran at Close: %v", err)
	}
	if err := <-closing; err != nil {
		t.Error(err)
	}
	if _, err := rendered(t.Context(), r, document, 1000, 1000); !errors.Is(err, pdfium.ErrClosed) {
		t.Errorf("drawing after Close: %v", err)
	}
	if _, err := r.Warm(t.Context()); !errors.Is(err, pdfium.ErrClosed) {
		t.Errorf("warming after Close: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Errorf("closing again: %v", err)
	}
	testenv.Wait(t, "all goroutines to end", func() bool { return runtime.NumGoroutine() <= before })
}

// Fifty at once, and each gets the picture of its own page, with the form on it.
func TestCrowd(t *testing.T) {
	r := started(t, pdfium.Options{Cache: testenv.RendererCache(), Instances: 3, Wait: enough, Limit: enough})
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
			picture, err := rendered(t.Context(), r, document, 200, 100)
			if err != nil {
				t.Error(err)
				return
			}
			if got := inked(picture); got.Min.X != n*3 || got.Dx() != 40 {
				t.Errorf("page %d: the field is at %v", n, got)
			}
		})
	}
	all.Wait()
	if idle := len(r.Idle()); idle == 0 || idle > 3 {
		t.Errorf("%d instances", idle)
	}
}

// An instance is used a number of times, and not after it has grown, or a page has failed.
func TestRecycling(t *testing.T) {
	r := started(t, pdfium.Options{Cache: testenv.RendererCache(), Instances: 1, Limit: enough})
	small := source{page: page200}.bytes()
	for n := range pdfium.MaxUses + 2 {
		drawn(t, r, small, 200, 100)
		left := []int{(n + 1) % pdfium.MaxUses}
		if left[0] == 0 {
			left = nil
		}
		if got := r.Idle(); fmt.Sprint(got) != fmt.Sprint(left) {
			t.Fatalf("after %d pages, instances have been used %v times, want %v", n+1, got, left)
		}
	}
	transparent := source{
		page:    page200 + "/Resources << /XObject << /X 10 0 R >> /ExtGState << /G << /ca 0.5 >> >> >>",
		content: "/G gs /X Do",
		objects: []string{stream("/Type /XObject /Subtype /Form /BBox [0 0 200 100] /Group << /S /Transparency >>", "0 0 150 90 re f 20 20 150 80 re f")},
	}.bytes()
	drawn(t, r, transparent, 2880, 1440)
	if idle := r.Idle(); len(idle) != 0 {
		t.Errorf("an instance that has grown is kept: %v", idle)
	}
	drawn(t, r, small, 200, 100)
	if _, err := rendered(t.Context(), r, []byte("no PDF"), 200, 100); err == nil || len(r.Idle()) != 0 {
		t.Errorf("an instance is kept after the error %v", err)
	}
}
