package signing

import (
	"context"
	"fmt"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/pades"
	"github.com/innsigli/innsigli/stamp"
	"github.com/innsigli/innsigli/storage"
)

// Plan finds the places of the standard stamps of so many people who are to sign a document to
// order, one after another: each in the first place that is free then, from the corner of the page.
// Its errors are those of pades.Check and stamp.ReadPage, found in this order; pades.ErrEncrypted
// also for a document that opens without a password; then those of stamp.Page.Capacity, and
// stamp.ErrNoRoom when the page has no room for all of them, stamp.ErrNotDrawn when it is not known.
func (s *Service) Plan(ctx context.Context, document string, page int, c stamp.Corner, signers int) ([]*Stamp, error) {
	blob, err := s.documents.Open(ctx, document)
	if err != nil {
		return nil, fmt.Errorf("signing: opening the document: %w", err)
	}
	defer blob.Close()
	list, err := s.planAll(ctx, blob, page, c, signers)
	if err != nil {
		return nil, fmt.Errorf("signing: planning stamps: %w", err)
	}
	return list, nil
}

// plansAtOnce bounds how many documents are read at once to find places on their pages: one may take
// 50 MB while that lasts.
const plansAtOnce = 4

// planPatience is how long a document waits to be planned on.
const planPatience = 8 * time.Second

// planning waits until there may be one more, else stamp.ErrNotReady. done is to be called when it is
// over.
func (s *Service) planning(ctx context.Context) (done func(), err error) {
	select {
	case s.plans <- struct{}{}:
		return func() { <-s.plans }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(planPatience):
		return nil, stamp.ErrNotReady
	}
}

func (s *Service) planAll(ctx context.Context, blob storage.Blob, number int, c stamp.Corner, signers int) ([]*Stamp, error) {
	done, err := s.planning(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	doc, options := document(blob), pades.Options{Level: ades.LT}
	encrypted, err := pades.Encrypted(doc)
	if encrypted {
		err = pades.ErrEncrypted
	}
	if err != nil {
		return nil, err
	}
	if err := pades.Check(ctx, doc, options); err != nil {
		return nil, err
	}
	page, err := stamp.ReadPage(blob, blob.Size(), number)
	if err != nil {
		return nil, err
	}
	places, err := page.Capacity(ctx, s.options.Renderer, c, stamp.StandardSize, signers)
	if err != nil {
		return nil, err
	}
	if len(places) < signers {
		return nil, fmt.Errorf("%w: page %d has room for %d of %d stamps", stamp.ErrNoRoom, number, len(places), signers)
	}
	var list []*Stamp
	for _, place := range places {
		planned := &Stamp{Page: number}
		r := &planned.Rect
		r[0], r[1], r[2], r[3] = page.UserSpace(place)
		list = append(list, planned)
	}
	if len(list) == 0 {
		return nil, nil
	}
	options.Visible = list[0].visible(nil) // what is true of it is true of the others on the page
	return list, pades.Check(ctx, doc, options)
}
