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

// TestLimitIsOfProcessorTime checks that a page fails that has had a processor, or has read the document, for the
// limit; that one which had no processor is drawn however long that takes, up to Options.Wait; and that the error is
// ErrNotReady after that. A read of the document counts for a short time.
func TestLimitIsOfProcessorTime(t *testing.T) {
	const limit, wait = time.Second / 2, 4 * time.Second
	worksFor := func(d time.Duration) {
		for began := threadTime(t); threadTime(t)-began < d; {
		}
	}
	// The virtual time of the test only passes while no goroutine works.
	pause := func(ctx context.Context, d time.Duration) error {
		select {
		case <-ctx.Done():
		case <-time.After(d): // time: virtual
		}
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
		ends  time.Duration // in virtual time; 0: not checked
	}{
		"page that waits for a processor": {0, func(ctx context.Context, _ io.ReaderAt) error {
			worksFor(limit * 3 / 4)
			err := pause(ctx, 3*limit)
			worksFor(limit / 8)
			return err
		}, nil, 3 * limit},
		"page without a processor": {0, func(ctx context.Context, _ io.ReaderAt) error { return pause(ctx, enough) }, stamp.ErrNotReady, wait},
		"page that takes most of the limit, and gets no processor": {0, func(ctx context.Context, _ io.ReaderAt) error {
			worksFor(limit * 3 / 4)
			return pause(ctx, enough)
		}, stamp.ErrNotReady, 0},
		"slow reads": {limit, reads, stamp.ErrNotReady, 0},
		"many reads": {5 * time.Millisecond, reads, context.DeadlineExceeded, 0},
		"page that takes processor": {0, func(ctx context.Context, _ io.ReaderAt) error {
			worksFor(limit)
			return pause(ctx, enough)
		}, context.DeadlineExceeded, limit},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				r := started(t, pdfium.Options{Instances: 1, Limit: enough, Wait: wait})
				document := readerFunc(func(p []byte, offset int64) (int, error) {
					time.Sleep(test.delay) // time: virtual
					return copy(p, quick[offset:]), nil
				})
				began := time.Now()
				err := r.Use(t.Context(), limit, document, test.do)
				if !errors.Is(err, test.want) {
					t.Errorf("got error %v, want %v", err, test.want)
				}
				if took := time.Since(began); test.ends > 0 && (took < test.ends || took > test.ends+limit/4) {
					t.Errorf("ended after %v, want %v", took, test.ends)
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
