// Package stamp draws the appearances of visible signatures and finds free places for them on a
// page.
//
// # The page
//
// [ReadPage] reads the geometry of a page as it is displayed: the part of the crop box within the
// media box, turned by Rotate and scaled by UserUnit (ISO 32000-2 14.11.2 and table 31). All
// rectangles of this package are on that page, in points of 1/72 inch from its upper left corner.
// [Page.UserSpace] converts one to the /Rect of an annotation.
//
// # A place
//
// [Page.Place] measures a place from a corner. [Page.Find] searches a free place, and
// [Page.PlanPlaces] the places of several signers. Both let a [Renderer] draw the page, and search
// from the corner along the page's horizontal edge, then inwards. A place is free if all of it has
// the colour of the paper and no annotation's rectangle overlaps it, not even that of an invisible
// annotation. The colour of the paper is the light colour that most of the page has. A page that is
// dark everywhere has no free place, because black text cannot be read on it. Package stamp/pdfium
// has a renderer.
//
// # An appearance
//
// [Standard] draws the standard stamp, and [Image.Draw] a custom image. Both return a PDF of one
// page, which package pades accepts as an appearance.
//
// This code places a standard stamp on the last page of doc, a pades.Document:
//
//	_, last, err := stamp.Sizes(doc, doc.Size, 0)
//	...
//	page, err := stamp.ReadPage(doc, doc.Size, last)
//	...
//	place, err := page.Find(ctx, renderer, stamp.BottomRight, stamp.StandardSize) // a pdfium.Renderer
//	...
//	appearance, err := stamp.Standard(stamp.Text{Name: name, Reason: reason, Time: now})
//	...
//	var rect pades.Rect
//	rect.LLX, rect.LLY, rect.URX, rect.URY = page.UserSpace(place)
//	options := pades.Options{
//		Name: name, Reason: reason, Time: now,
//		Visible: &pades.Visible{Page: last, Rect: rect, Appearance: appearance},
//	}
package stamp

import (
	"context"
	"errors"
	"image"
	"io"
)

var (
	// ErrUnreadable: the document is not a PDF, or needs a password, or a part that has to be read
	// is damaged.
	ErrUnreadable = errors.New("stamp: document cannot be read")
	// ErrNoPage: the document has no page with that number.
	ErrNoPage = errors.New("stamp: document has no such page")
	// ErrOutside: the place is not entirely on the page.
	ErrOutside = errors.New("stamp: place leaves the page")
	// ErrOverlap: another visible signature overlaps the place.
	ErrOverlap = errors.New("stamp: place is taken by another signature")
	// ErrNoRoom: the page has no free place of that size.
	ErrNoRoom = errors.New("stamp: no free place on the page")
	// ErrNotDrawn: the page cannot be drawn, or not in time, so it is not known whether it has a
	// free place.
	ErrNotDrawn = errors.New("stamp: page cannot be drawn to find a free place")
	// ErrNotReady: the renderer is not ready, or all of it is in use. A later call may succeed.
	ErrNotReady = errors.New("stamp: renderer is not ready yet")
	// ErrImage: the image cannot be decoded, is not of the given type, or is too large.
	ErrImage = errors.New("stamp: image cannot be used")
)

// Size is a size on the displayed page, in points.
type Size struct{ Width, Height float64 }

// StandardSize is the size of the standard stamp.
var StandardSize = Size{117, 55}

// Rect is a rectangle on the displayed page, in points. Left and Top are the distances of its upper
// left corner from the upper left corner of the page.
type Rect struct{ Left, Top, Width, Height float64 }

// Corner is the corner of the displayed page from which a place is measured or searched.
type Corner int

const (
	TopLeft Corner = iota
	TopRight
	BottomLeft
	BottomRight
)

func (c Corner) right() bool  { return c == TopRight || c == BottomRight }
func (c Corner) bottom() bool { return c == BottomLeft || c == BottomRight }

// overlapTolerance is how far places may overlap and still count as adjacent, in points: numbers in
// a PDF are rounded.
const overlapTolerance = 0.01

func (r Rect) overlaps(o Rect) bool {
	return r.Left+overlapTolerance < o.Left+o.Width && o.Left+overlapTolerance < r.Left+r.Width &&
		r.Top+overlapTolerance < o.Top+o.Height && o.Top+overlapTolerance < r.Top+r.Height
}

// expand returns the rectangle with a margin added on each side.
func (r Rect) expand(margin float64) Rect {
	return Rect{r.Left - margin, r.Top - margin, r.Width + 2*margin, r.Height + 2*margin}
}

// Renderer draws pages as PDF viewers do. Several goroutines may use it at once.
type Renderer interface {
	// Render draws a page of the PDF that r holds in its first size bytes, as it is displayed, with
	// annotations and form fields. The first page is number 1. The picture has the given width and
	// height in pixels, and shows the whole page on white.
	//
	// The renderer limits the time for one page. Time does not count while the renderer waits for
	// other callers, is being prepared, or gets no processor. If that lasts too long, the error is
	// ErrNotReady. If ctx ends, the error is that of ctx. Any other error means that this page
	// cannot be drawn.
	Render(ctx context.Context, r io.ReaderAt, size int64, page, width, height int) (*image.RGBA, error)
}
