package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/innsigli/innsigli/pades"
	"github.com/innsigli/innsigli/stamp"
)

// placement is where the stamp is to stand; nil: there is none.
func (f pdfFlags) placement() (*placement, error) {
	switch {
	case f.Stamp == "":
		return nil, nil
	case f.Field != "":
		return nil, fmt.Errorf("%w: --stamp makes a new field, and --field names one that is there", errUsage)
	}
	p, err := parsePlacement(f.Stamp)
	return &p, err
}

// visible draws the standard stamp and finds its place on the page.
func (f pdfFlags) visible(ctx context.Context, s streams, p placement, document pades.Document, text stamp.Text) (*pades.Visible, error) {
	page, err := stamp.ReadPage(document, document.Size, p.page)
	if err != nil {
		return nil, err
	}
	place, err := f.place(ctx, s, p, page)
	if err != nil {
		return nil, err
	}
	appearance, err := stamp.Standard(text)
	if err != nil {
		return nil, err
	}
	llx, lly, urx, ury := page.UserSpace(place)
	return &pades.Visible{Page: page.Number, Rect: pades.Rect{LLX: llx, LLY: lly, URX: urx, URY: ury}, Appearance: appearance}, nil
}

func (f pdfFlags) place(ctx context.Context, s streams, p placement, page *stamp.Page) (_ stamp.Rect, err error) {
	if p.manual {
		return page.Place(p.corner, p.x, p.y, stamp.StandardSize)
	}
	renderer := newRenderer(f.cache())
	defer func() { err = errors.Join(err, renderer.Close()) }()
	if err := renderer.warm(ctx, s.say); err != nil {
		return stamp.Rect{}, err
	}
	return page.Find(ctx, renderer, p.corner, stamp.StandardSize)
}
