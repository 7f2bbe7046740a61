package page

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/stamp"
)

// Each failure is what it is, and of those the one that takes long is not repeated at once.
func TestPicturesThatFail(t *testing.T) {
	t.Parallel()
	damaged, away := errors.New("damaged"), errors.New("the store is away")
	for name, test := range map[string]struct {
		open openFunc
		err  error // of the renderer
		want error
		kept bool
	}{
		"another edition":      {opening(4, nil), nil, portal.ErrChanged, false},
		"deleted":              {opening(3, portal.ErrNotFound), nil, portal.ErrNotFound, false},
		"store away":           {opening(3, away), nil, away, false},
		"damaged":              {opening(3, nil), damaged, errUnreadable, true},
		"too much":             {opening(3, nil), context.DeadlineExceeded, errUnreadable, true},
		"renderer not ready":   {opening(3, nil), stamp.ErrNotReady, errBusy, false},
		"store away meanwhile": {openingOf(unreadable{away}, 100, 3, nil), damaged, away, false},
		"end of a short file":  {openingOf(unreadable{io.EOF}, 100, 3, nil), damaged, errUnreadable, true},
		"store away unnoticed": {openingOf(unreadable{away}, 100, 3, nil), nil, away, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := newPictures(blank{})
				defer p.close()
				var made atomic.Int32
				do := func(_ context.Context, file io.ReaderAt, _ int64) (cacheValue, error) {
					made.Add(1)
					file.ReadAt(make([]byte, 10), 0) // what comes of it is for get to see
					return weighing(1), test.err
				}
				ask := func() error {
					_, err := p.get(t.Context(), third, test.open, do)
					return err
				}
				if err := ask(); !errors.Is(err, test.want) {
					t.Errorf("%v, want %v", err, test.want)
				}
				before := made.Load()
				if err := ask(); !errors.Is(err, test.want) || test.kept && made.Load() != before {
					t.Errorf("again: %v, made %d times", err, made.Load())
				}
				time.Sleep(failureTTL + time.Second)
				if err := ask(); !errors.Is(err, test.want) || test.kept && made.Load() != before+1 {
					t.Errorf("later: %v, made %d times", err, made.Load())
				}
			})
		})
	}
}

// unreadable is a file that cannot be read.
type unreadable struct{ err error }

func (f unreadable) ReadAt([]byte, int64) (int, error) { return 0, f.err }
