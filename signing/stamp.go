package signing

import (
	"bytes"
	"context"
	"fmt"

	"github.com/innsigli/innsigli/pades"
	"github.com/innsigli/innsigli/stamp"
	"github.com/innsigli/innsigli/storage"
)

// StampRequest asks for a visible signature (spec 3.3, signatureImage).
type StampRequest struct {
	Page   int // the first is 1
	Corner stamp.Corner
	// Auto: the stamp takes the first free place from the corner. Else its nearest corner
	// is X and Y points inwards from there.
	Auto bool
	X, Y float64
	// Image is drawn in a place of Size, as Drawing says. nil: the standard stamp, whose
	// size is its own.
	Image   *stamp.Image
	Size    stamp.Size
	Drawing stamp.Drawing
}

// Stamp is a visible signature as it was planned at the start.
type Stamp struct {
	Page int        `json:"page"`
	Rect [4]float64 `json:"rect"` // in the page's user space: lower left corner, upper right corner
	// Image is the image as it is drawn, a PDF of one page in storage.Documents. Empty: the
	// standard stamp, which is drawn when the certificate is known.
	Image string `json:"image,omitempty"`
}

// plan finds the place of the stamp that a start asks for and draws its image; nil when it asks
// for none. What is wrong with the document, the page and the place is found in that order, and
// before anything is held (spec 3.1).
func (s *Service) plan(ctx context.Context, in Start) (*Stamp, error) {
	if in.Stamp == nil {
		return nil, nil
	}
	blob, err := s.documents.Open(ctx, in.Document)
	if err != nil {
		return nil, fmt.Errorf("signing: opening the document: %w", err)
	}
	defer blob.Close()
	planned, err := s.planOn(ctx, blob, in)
	if err != nil {
		return nil, fmt.Errorf("signing: planning the stamp: %w", err)
	}
	return planned, nil
}

func (s *Service) planOn(ctx context.Context, blob storage.Blob, in Start) (*Stamp, error) {
	done, err := s.planning(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	doc, options := document(blob), pades.Options{Level: in.Level}
	if err := pades.Check(ctx, doc, options); err != nil {
		return nil, err
	}
	page, err := stamp.ReadPage(blob, blob.Size(), in.Stamp.Page)
	if err != nil {
		return nil, err
	}
	place, err := s.choose(ctx, page, in.Stamp)
	if err != nil {
		return nil, err
	}
	planned := &Stamp{Page: in.Stamp.Page}
	r := &planned.Rect
	r[0], r[1], r[2], r[3] = page.UserSpace(place)
	options.Visible = planned.visible(nil)
	if options.Visible.Appearance, err = s.draw(ctx, in.Stamp, page); err != nil {
		return nil, err
	}
	if err := pades.Check(ctx, doc, options); err != nil {
		return nil, err
	}
	planned.Image, err = s.keepImage(ctx, options.Visible.Appearance)
	return planned, err
}

// choose takes the place that was named, or looks for one.
func (s *Service) choose(ctx context.Context, page *stamp.Page, in *StampRequest) (stamp.Rect, error) {
	size := in.Size
	if in.Image == nil {
		size = stamp.StandardSize
	}
	if !in.Auto {
		return page.Place(in.Corner, in.X, in.Y, size)
	}
	return page.Find(ctx, s.options.Renderer, in.Corner, size)
}

// draw draws the image, if there is one: one at a time, as it takes memory for all its pixels.
// What is archived has no transparency: PDF/A-1 forbids it (ISO 19005-1 6.4).
func (s *Service) draw(ctx context.Context, in *StampRequest, page *stamp.Page) ([]byte, error) {
	if in.Image == nil {
		return nil, nil
	}
	select {
	case s.images <- struct{}{}:
		defer func() { <-s.images }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	drawing := in.Drawing
	drawing.Opaque = drawing.Opaque || page.Archival
	return in.Image.Draw(in.Size, drawing)
}

// keepImage stores a drawn image until its request is over: the request is rewritten at each
// step, and is to stay small.
func (s *Service) keepImage(ctx context.Context, drawn []byte) (document string, err error) {
	if drawn == nil {
		return "", nil
	}
	ref, err := s.documents.Create(ctx, bytes.NewReader(drawn), int64(len(drawn)))
	return ref.ID, err
}

// documents are those that only the stamp refers to.
func (p *Stamp) documents() []string {
	if p == nil || p.Image == "" {
		return nil
	}
	return []string{p.Image}
}

// visible is the stamp with what is drawn in its place.
func (p *Stamp) visible(appearance []byte) *pades.Visible {
	r := p.Rect
	return &pades.Visible{Page: p.Page, Rect: pades.Rect{LLX: r[0], LLY: r[1], URX: r[2], URY: r[3]}, Appearance: appearance}
}
