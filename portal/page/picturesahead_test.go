package page

import (
	"context"
	"image"
	"io"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/portal"
)

// counted is blank, and counts the pictures that it draws, each of which takes a second.
type counted struct {
	blank
	drawn atomic.Int32
}

func (c *counted) Render(ctx context.Context, r io.ReaderAt, size int64, page, width, height int) (*image.RGBA, error) {
	c.drawn.Add(1)
	time.Sleep(time.Second)
	return c.blank.Render(ctx, r, size, page, width, height)
}

// A link that is opened again and again has the first pages drawn once; many at once, no more than may
// wait.
func TestPicturesAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := new(counted)
		p := newPictures(r)
		t.Cleanup(p.close)
		open := smallBook(0)
		for range 1000 {
			p.ahead(edition{"a process", 0}, open)
			time.Sleep(100 * time.Millisecond)
		}
		each := int32(len(earlyWidths) * earlyPages)
		if got := r.drawn.Load(); got != each {
			t.Errorf("%d pictures, want %d", got, each)
		}
		if _, err := p.picture(t.Context(), edition{"a process", 0}, nil, 1, usualWidth); err != nil {
			t.Errorf("the first page is not there: %v", err)
		}
		for n := range 1000 {
			p.ahead(edition{"another", n}, func(ctx context.Context) (portal.Copy, error) {
				c, err := open(ctx)
				c.Revision = n
				return c, err
			})
		}
		time.Sleep(time.Hour)
		if got := r.drawn.Load(); got < 2*each || got > (2+maxEarly)*each {
			t.Errorf("%d pictures of 1000 documents, of which %d wait", got, maxEarly)
		}
		p.lock.Lock()
		defer p.lock.Unlock()
		if p.shelf.used != 0 {
			t.Errorf("%d bytes are kept of what nobody has read for an hour", p.shelf.used)
		}
	})
}
