package page

import (
	"context"
	"image"
	"io"
	"strings"
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
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := new(counted)
		p := newPictures(r)
		t.Cleanup(p.close)
		open := smallBook(0)
		for range 1000 {
			p.prefetch(docRevision{"a process", 0}, open)
			time.Sleep(100 * time.Millisecond)
		}
		each := int32(len(prefetchWidths) * prefetchPages)
		if got := r.drawn.Load(); got != each {
			t.Errorf("%d pictures, want %d", got, each)
		}
		if _, err := p.picture(t.Context(), docRevision{"a process", 0}, nil, 1, defaultWidth); err != nil {
			t.Errorf("the first page is not there: %v", err)
		}
		for n := range 1000 {
			p.prefetch(docRevision{"another", n}, func(ctx context.Context) (portal.DocumentCopy, error) {
				c, err := open(ctx)
				c.Revision = n
				return c, err
			})
		}
		time.Sleep(time.Hour)
		if got := r.drawn.Load(); got < 2*each || got > (2+maxPrefetchQueue)*each {
			t.Errorf("%d pictures of 1000 documents, of which %d wait", got, maxPrefetchQueue)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.cache.used != 0 {
			t.Errorf("%d bytes are kept of what nobody has read for an hour", p.cache.used)
		}
	})
}

// Who comes to the page of a participant to log in again, as after another's signature, has its first
// pages drawn meanwhile.
func TestPicturesAheadOfLogins(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := new(counted)
		d := newDoor(t, func(c *Config) { c.Renderer = r })
		_, _, err := d.portal.Login(t.Context(), strings.TrimPrefix(d.link(0), "/sign/"), anna)
		d.must(err)
		for range 3 {
			d.tab().get(of(d.made, 0)).says(t, 200, "login.see")
			time.Sleep(time.Minute)
			if got := r.drawn.Load(); got != int32(len(prefetchWidths)) { // of its one page
				t.Errorf("%d pictures, want %d", got, len(prefetchWidths))
			}
		}
	})
}
