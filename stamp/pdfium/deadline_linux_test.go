package pdfium_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"slices"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/stamp"
	"github.com/innsigli/innsigli/stamp/pdfium"
)

// A page that took its time is told from one that did not get it.
func TestLimitIsOfProcessorTime(t *testing.T) {
	const limit = time.Second / 2
	working := func(ctx context.Context, _ io.ReaderAt) error {
		for began := threadTime(t); threadTime(t)-began < limit/2; {
		}
		<-ctx.Done()
		return ctx.Err()
	}
	waiting := func(ctx context.Context, _ io.ReaderAt) error {
		<-ctx.Done()
		return ctx.Err()
	}
	reading := func(ctx context.Context, document io.ReaderAt) error {
		for ctx.Err() == nil {
			document.ReadAt(make([]byte, 1), 0)
		}
		return ctx.Err()
	}
	quick := source{page: page200}.bytes()
	for name, test := range map[string]struct {
		delay time.Duration // of the document
		do    func(context.Context, io.ReaderAt) error
		want  error
	}{
		"a page that gets no processor":   {0, waiting, stamp.ErrNotReady},
		"a store that takes long":         {limit, reading, stamp.ErrNotReady},
		"a document of many parts":        {5 * time.Millisecond, reading, context.DeadlineExceeded},
		"a page that takes its processor": {0, working, context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := started(t, pdfium.Options{Cache: testenv.RendererCache(), Instances: 1, Limit: enough, Wait: enough})
				if err := r.Use(t.Context(), limit, late{bytes.NewReader(quick), test.delay}, test.do); !errors.Is(err, test.want) {
					t.Errorf("error %v", err)
				}
				drawn(t, r, quick, 200, 100)
			})
		})
	}
}

// What PDFium does for a page is done by the thread that asked, whose time is taken.
func TestDrawingIsTimed(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	document := source{page: page200}.bytes()
	reading := &readers{ReaderAt: bytes.NewReader(document)}
	if _, err := shared(t).Render(t.Context(), reading, int64(len(document)), 1, 200, 100); err != nil {
		t.Fatal(err)
	}
	if slices.Sort(reading.threads); !slices.Equal(slices.Compact(reading.threads), []int{syscall.Gettid()}) {
		t.Errorf("read by the threads %v, asked by %d", slices.Compact(reading.threads), syscall.Gettid())
	}
}

// readers is a document that notes which threads read it.
type readers struct {
	io.ReaderAt
	threads []int
}

func (r *readers) ReadAt(p []byte, offset int64) (int, error) {
	r.threads = append(r.threads, syscall.Gettid())
	return r.ReaderAt.ReadAt(p, offset)
}

func threadTime(t *testing.T) time.Duration {
	t.Helper()
	used, err := pdfium.ThreadTime()
	if err != nil {
		t.Fatal(err)
	}
	return used
}

// late is a document of which each part takes a while.
type late struct {
	io.ReaderAt
	time.Duration
}

func (l late) ReadAt(p []byte, offset int64) (int, error) {
	time.Sleep(l.Duration) // time: the store is slow, and what is judged asks until it gets the answer
	return l.ReaderAt.ReadAt(p, offset)
}
