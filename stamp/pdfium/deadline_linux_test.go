package pdfium_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"runtime"
	"testing"
	"time"

	"github.com/innsigli/innsigli/internal/testenv"
	"github.com/innsigli/innsigli/stamp"
	"github.com/innsigli/innsigli/stamp/pdfium"
)

// A page that took its time is told from one that did not get it.
func TestLimitIsOfProcessorTime(t *testing.T) {
	const limit = 200 * time.Millisecond
	r := started(t, pdfium.Options{Cache: testenv.RendererCache(), Instances: 1, Limit: limit, Wait: enough})
	working := func(ctx context.Context, _ io.ReaderAt) error {
		for began := threadTime(t); threadTime(t)-began < limit; {
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
	use := func(delay time.Duration, do func(context.Context, io.ReaderAt) error) func() error {
		return func() error { return r.Use(t.Context(), limit, late{bytes.NewReader(quick), delay}, do) }
	}
	for name, test := range map[string]struct {
		ask  func() error
		want error
	}{
		"a page that gets no processor":   {use(0, waiting), stamp.ErrNotReady},
		"a store that takes long":         {use(limit, reading), stamp.ErrNotReady},
		"a document of many parts":        {use(5*time.Millisecond, reading), context.DeadlineExceeded},
		"a page that takes its processor": {use(0, working), context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			err := test.ask()
			for until := time.Now().Add(3 * enough); time.Now().Before(until) && !errors.Is(err, test.want); {
				err = test.ask() // on a busy machine
			}
			if !errors.Is(err, test.want) {
				t.Errorf("error %v", err)
			}
			if _, err := r.Within(enough).Render(t.Context(), bytes.NewReader(quick), int64(len(quick)), 1, 200, 100); err != nil {
				t.Errorf("a page after it: %v", err)
			}
		})
	}
}

// What PDFium does for a page is done by the thread that is timed.
func TestDrawingIsTimed(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const limit = time.Second
	r := started(t, pdfium.Options{Cache: testenv.RendererCache(), Instances: 1, Limit: limit, Wait: enough})
	var all, timed time.Duration
	for try := 0; try < 3 && timed <= all/2; try++ { // the collector of garbage may have been busy
		began, beganTimed := testenv.ProcessorTime(t), threadTime(t)
		_, err := rendered(t.Context(), r, slow(), 1000, 1000)
		all, timed = testenv.ProcessorTime(t)-began, threadTime(t)-beganTimed
		blamed := errors.Is(err, context.DeadlineExceeded)
		if !blamed && (timed > limit*3/4 || !errors.Is(err, stamp.ErrNotReady)) {
			t.Errorf("after %v: %v", timed, err)
		}
	}
	if timed <= all/2 {
		t.Errorf("of %v only %v", all, timed)
	}
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
	time.Sleep(l.Duration)
	return l.ReaderAt.ReadAt(p, offset)
}
