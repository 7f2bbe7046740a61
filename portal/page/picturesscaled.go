package page

import (
	"bytes"
	"context"
	"image"
	"image/jpeg"

	"golang.org/x/image/draw"
)

// A scan takes a second and more to be drawn, and a tenth of that to be made smaller. So it is drawn at
// the widest once, of which the others are made.

// widest returns the widest picture of a page, if it is kept and one of a scan, and if the picture under
// the key is another; else nil.
func (p *pictures) widest(k key) *encoded {
	if k.width == widest {
		return nil
	}
	k.width = widest
	p.lock.Lock()
	defer p.lock.Unlock()
	if e, ok := p.shelf.take(k, cacheTime()).(*encoded); ok && e.kind == jpegKind {
		return e
	}
	return nil
}

// awaitWidest waits for the widest picture of a page if that is being made. Whether it comes to anything
// is of no matter.
func (p *pictures) awaitWidest(ctx context.Context, k key) {
	if k.width == widest {
		return
	}
	k.width = widest
	p.lock.Lock()
	f := p.flights[k]
	p.lock.Unlock()
	if f == nil {
		return
	}
	select {
	case <-f.done:
	case <-ctx.Done():
	}
}

// scaled is a picture of a scan with other sides.
func (e *encoded) scaled(width, height int) (*encoded, error) {
	wide, err := jpeg.Decode(bytes.NewReader(e.file))
	if err != nil {
		return nil, err
	}
	small := image.NewRGBA(image.Rect(0, 0, width, height))
	draw.CatmullRom.Scale(small, small.Rect, wide, wide.Bounds(), draw.Src, nil)
	return encode(small)
}
