package page

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/stamp"
)

const (
	maxPixels = 4 << 20 // of a picture
	maxShown  = 2000    // pages of a document that are shown; it can be downloaded for the others
)

// pictureWidths are those of the pictures of a page, in pixels, if it is not too high for that, and
// usualWidth is that for browsers that do not choose.
var pictureWidths = []int{640, usualWidth, widest}

const (
	usualWidth = 960
	widest     = 1440
)

// sizes are those of the pages of a document.
type sizes struct {
	pages []stamp.Size // that are shown
	all   int          // how many pages there are
}

func (s *sizes) weight() int { return 16 * len(s.pages) }

// sizes returns how large pages are. Errors are those of get.
func (p *pictures) sizes(ctx context.Context, of edition, open opener) (*sizes, error) {
	made, err := p.get(ctx, key{edition: of}, open, func(_ context.Context, file io.ReaderAt, size int64) (kept, error) {
		pages, all, err := stamp.Sizes(file, size, maxShown)
		return &sizes{pages, all}, err
	})
	if err != nil {
		return nil, err
	}
	return made.(*sizes), nil
}

// text is what is written on a page.
type text struct{ lines []stamp.Line }

func (t *text) weight() int {
	n := 0
	for _, line := range t.lines {
		n += 64 + len(line.Text)
	}
	return n
}

// text returns what is written on a page. Errors are those of get.
func (p *pictures) text(ctx context.Context, of edition, open opener, page int) (*text, error) {
	made, err := p.get(ctx, key{edition: of, page: page}, open, func(ctx context.Context, file io.ReaderAt, size int64) (kept, error) {
		lines, err := p.renderer.Lines(ctx, file, size, page)
		return &text{lines}, err
	})
	if err != nil {
		return nil, err
	}
	return made.(*text), nil
}

// picture returns a picture of a page. [portal.ErrNotFound]: there is no such page; else errors are those of
// get.
func (p *pictures) picture(ctx context.Context, of edition, open opener, page, width int) (*encoded, error) {
	sizes, err := p.sizes(ctx, of, open)
	if err != nil {
		return nil, err
	}
	if page < 1 || page > len(sizes.pages) {
		return nil, portal.ErrNotFound
	}
	p.awaitWidest(ctx, key{of, page, width})
	made, err := p.get(ctx, key{of, page, width}, open, func(ctx context.Context, file io.ReaderAt, size int64) (kept, error) {
		w, h, err := pixels(sizes.pages[page-1], width)
		if err != nil {
			return nil, err
		}
		if wide := p.widest(key{of, page, width}); wide != nil {
			return wide.scaled(w, h)
		}
		drawn, err := p.renderer.Render(ctx, file, size, page, w, h)
		if err != nil {
			return nil, err
		}
		return encode(drawn)
	})
	if err != nil {
		return nil, err
	}
	return made.(*encoded), nil
}

// pixels are the sides of a picture of a page: of a width, or a smaller one if that would be too many
// pixels.
func pixels(page stamp.Size, width int) (w, h int, err error) {
	if !(page.Width > 0 && page.Height > 0) {
		return 0, 0, fmt.Errorf("a page of %g by %g points", page.Width, page.Height)
	}
	scale := min(float64(width)/page.Width, math.Sqrt(maxPixels/page.Width/page.Height))
	w = max(1, int(math.Round(page.Width*scale)))
	h = max(1, min(int(math.Round(page.Height*scale)), maxPixels/w))
	return w, h, nil
}
