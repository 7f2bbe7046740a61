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

	"github.com/innsigli/innsigli/stamp"
	"github.com/innsigli/innsigli/stamp/pdfium"
)

// TestLimitIsOfProcessorTime checks that a page that exceeds the limit fails, unless it had no processor
// for half of the limit: then the error is ErrNotReady. Each read of the document counts for a short time.
func TestLimitIsOfProcessorTime(t *testing.T) {
	const limit = time.Second / 2
	waits := func(ctx context.Context, _ io.ReaderAt) error {
		<-ctx.Done()
		return ctx.Err()
	}
	works := func(ctx context.Context, _ io.ReaderAt) error {
		for began := threadTime(t); threadTime(t)-began < limit/2; {
		}
		<-ctx.Done()
		return ctx.Err()
	}
	reads := func(ctx context.Context, document io.ReaderAt) error {
		for ctx.Err() == nil {
			document.ReadAt(make([]byte, 1), 0)
		}
		return ctx.Err()
	}
	quick := source{page: page200}.bytes()
	for name, test := range map[string]struct {
		delay time.Duration // of a read of the document
		do    func(context.Context, io.ReaderAt) error
		want  error
	}{
		"page without a processor":  {0, waits, stamp.ErrNotReady},
		"one slow read":             {limit, reads, stamp.ErrNotReady},
		"many reads":                {5 * time.Millisecond, reads, context.DeadlineExceeded},
		"page that takes processor": {0, works, context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := started(t, pdfium.Options{Instances: 1, Limit: enough, Wait: enough})
				document := readerFunc(func(p []byte, offset int64) (int, error) {
					time.Sleep(test.delay) // time: virtual
					return copy(p, quick[offset:]), nil
				})
				if err := r.Use(t.Context(), limit, document, test.do); !errors.Is(err, test.want) {
					t.Errorf("got error %v, want %v", err, test.want)
				}
				drawn(t, r, quick, 200, 100)
			})
		})
	}
}

// TestThread checks that PDFium runs on the thread whose processor time is measured, that of the caller.
func TestThread(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	document := source{page: page200}.bytes()
	var threads []int
	reader := readerFunc(func(p []byte, offset int64) (int, error) {
		threads = append(threads, syscall.Gettid())
		return bytes.NewReader(document).ReadAt(p, offset)
	})
	if _, err := shared(t).Render(t.Context(), reader, int64(len(document)), 1, 200, 100); err != nil {
		t.Fatal(err)
	}
	if slices.Sort(threads); !slices.Equal(slices.Compact(threads), []int{syscall.Gettid()}) {
		t.Errorf("the threads %v read the document, want %d", slices.Compact(threads), syscall.Gettid())
	}
}

// readerFunc is a document.
type readerFunc func(p []byte, offset int64) (int, error)

func (f readerFunc) ReadAt(p []byte, offset int64) (int, error) { return f(p, offset) }

func threadTime(t *testing.T) time.Duration {
	t.Helper()
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_THREAD, &usage); err != nil {
		t.Fatal(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}
