// Package stamp draws visible signatures and finds room for them: give it a page, and get a
// rectangle and an appearance.
//
// # The page
//
// [ReadPage] reads the geometry of a page as it is displayed: the crop box as far as it lies on
// the medium, turned by Rotate and scaled by UserUnit (ISO 32000-2 14.11.2 and table 31). All
// rectangles of this package are on that page, in points of 1/72 inch from its upper left
// corner; [Page.UserSpace] turns one into the /Rect of an annotation.
//
// # A place
//
// [Page.Place] measures a place from a corner. [Page.Find] looks for a free one, and
// [Page.Capacity] for those of several signers: they have a [Renderer] draw the page and go along
// the page's edge from the corner, then inwards. Free is what has the colour of the paper, which
// is the light one that most of the page has, and lies in no annotation's rectangle, be it seen or not.
// A page that is dark all over has no free place: black text cannot be read on it.
// stamp/pdfium is a renderer.
//
// # A picture
//
// [Standard] draws the standard stamp, and [Image.Draw] a custom image. Either is a PDF of one
// page, as pades takes it for an appearance.
package stamp

import (
	"context"
	"errors"
	"image"
	"io"
)

var (
	// ErrUnreadable: the document is no PDF, or damaged where it has to be read, or needs a password.
	ErrUnreadable = errors.New("stamp: document cannot be read")
	// ErrNoPage: the document has no page of that number.
	ErrNoPage = errors.New("stamp: document has no such page")
	// ErrOutside: the place is not on the page.
	ErrOutside = errors.New("stamp: place leaves the page")
	// ErrOverlap: the place is taken by another visible signature.
	ErrOverlap = errors.New("stamp: place is taken by another signature")
	// ErrNoRoom: the page has no free place of that size.
	ErrNoRoom = errors.New("stamp: no free place on the page")
	// ErrNotDrawn: the page cannot be drawn, or not in time, so that it is not known whether it has a free place.
	ErrNotDrawn = errors.New("stamp: page cannot be drawn to look for a free place")
	// ErrNotReady: the renderer cannot draw yet, or not at once. It can a little later.
	ErrNotReady = errors.New("stamp: renderer is not ready yet")
	// ErrImage: the image cannot be decoded, is not of the type it is said to be, or is too large.
	ErrImage = errors.New("stamp: image cannot be used")
)

// Size is how large something is on the displayed page, in points.
type Size struct{ Width, Height float64 }

// StandardSize is that of the standard stamp (spec 3.3).
var StandardSize = Size{117, 55}

// Rect is a rectangle on the displayed page, in points. Left and Top are the distances of its
// upper left corner from that of the page.
type Rect struct{ Left, Top, Width, Height float64 }

// Corner is the corner of the displayed page that a place is measured or looked for from.
type Corner int

const (
	TopLeft Corner = iota
	TopRight
	BottomLeft
	BottomRight
)

// Renderer draws pages as viewers do. It may be used by several goroutines.
type Renderer interface {
	// Render draws a page of the PDF that r holds in its first size bytes, the first page
	// being 1, as it is displayed and with annotations and form fields. The picture has
	// the width and height that are asked for, in pixels, and shows all of the page, on white.
	// The renderer bounds how long a page may take; that another caller is waited for,
	// that it is being made ready, or that the machine has other things to do, does not count.
	// ErrNotReady when such waiting takes long;
	// the error of ctx; any other error says that this page cannot be drawn.
	Render(ctx context.Context, r io.ReaderAt, size int64, page, width, height int) (*image.RGBA, error)
}
