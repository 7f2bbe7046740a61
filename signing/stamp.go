package signing

import (
	"bytes"
	"cmp"
	"context"
	"crypto/x509"
	"fmt"
	"io"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
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

// Stamp is a visible signature as planned at the start.
type Stamp struct {
	Page int        `json:"page"`
	Rect [4]float64 `json:"rect"` // in the page's user space: lower left corner, upper right corner
	// Image is the image as it is drawn, a PDF of one page in storage.Documents. Empty: the
	// standard stamp, which is drawn when the certificate is known.
	Image string `json:"image,omitempty"`
}

// plan finds the place of the stamp that a start asks for and draws its image. It returns nil when the start
// asks for none. Errors of the document, the page and the place are found in this order, and before the
// busy signal is taken (spec 3.1).
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
	done, err := s.planning.startReading(ctx, in.Account)
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
	place, err := s.choose(ctx, page, in, knownContent(doc))
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

// choose returns the place that was named, or looks for a free one on a page of the document with the content c.
func (s *Service) choose(ctx context.Context, page *stamp.Page, start Start, c content) (stamp.Rect, error) {
	in := start.Stamp
	size := in.Size
	if in.Image == nil {
		size = stamp.StandardSize
	}
	if !in.Auto {
		return page.Place(in.Corner, in.X, in.Y, size)
	}
	key := search{start.Account, c.SHA256, in.Page, in.Corner, size, 1}
	found, err := s.planning.found.places(key, func() ([]stamp.Rect, error) {
		place, err := page.Find(ctx, s.planning.rendererFor(start.Account, c), in.Corner, size)
		return []stamp.Rect{place}, err
	})
	if err != nil {
		return stamp.Rect{}, err
	}
	if len(found) == 0 { // [Service.Plan] looked for one before
		return stamp.Rect{}, fmt.Errorf("%w: page %d has none for the stamp", stamp.ErrNoRoom, in.Page)
	}
	return found[0], nil
}

// draw draws the image, if there is one. The service draws one image at a time, since all its pixels are in
// memory. In an archival document it has no transparency, which PDF/A-1 forbids (ISO 19005-1 6.4).
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

// keepImage stores a drawn image as a document until its request has ended. It is not in the record of the
// request, which is rewritten at each step.
func (s *Service) keepImage(ctx context.Context, drawn []byte) (document string, err error) {
	if drawn == nil {
		return "", nil
	}
	ref, err := s.documents.Create(ctx, bytes.NewReader(drawn), int64(len(drawn)))
	return ref.ID, err
}

// documents returns the IDs of the documents that only the stamp refers to.
func (p *Stamp) documents() []string {
	if p == nil || p.Image == "" {
		return nil
	}
	return []string{p.Image}
}

// visible returns the stamp with its appearance.
func (p *Stamp) visible(appearance []byte) *pades.Visible {
	r := p.Rect
	return &pades.Visible{Page: p.Page, Rect: pades.Rect{LLX: r[0], LLY: r[1], URX: r[2], URY: r[3]}, Appearance: appearance}
}

// Plan finds the places of the standard stamps of the given number of people who are to sign the document of
// an account's [Order] one after another: each in the first free place from the corner of the page.
//
// It returns, in this order, pades.ErrEncrypted also for a document that opens without a password, the errors
// of pades.Check, stamp.ReadPage and stamp.Page.PlanPlaces, and stamp.ErrNoRoom when the page has no room for
// all stamps; stamp.ErrNotDrawn when the page was not rendered.
func (s *Service) Plan(ctx context.Context, account, document string, page int, c stamp.Corner, signers int) ([]*Stamp, error) {
	blob, err := s.documents.Open(ctx, document)
	if err != nil {
		return nil, fmt.Errorf("signing: opening the document: %w", err)
	}
	defer blob.Close()
	list, err := s.planAll(ctx, account, blob, page, c, signers)
	if err != nil {
		return nil, fmt.Errorf("signing: planning stamps: %w", err)
	}
	return list, nil
}

func (s *Service) planAll(ctx context.Context, account string, blob storage.Blob, number int, c stamp.Corner, signers int) ([]*Stamp, error) {
	done, err := s.planning.startReading(ctx, account)
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
	found := knownContent(doc)
	key := search{account, found.SHA256, number, c, stamp.StandardSize, signers}
	places, err := s.planning.found.places(key, func() ([]stamp.Rect, error) {
		return page.PlanPlaces(ctx, s.planning.rendererFor(account, found), c, stamp.StandardSize, signers)
	})
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
	options.Visible = list[0].visible(nil) // the others differ in their rectangles alone
	return list, pades.Check(ctx, doc, options)
}

// visible returns the visible part of the signature; nil when it has none.
func (sess *session) visible(ctx context.Context, cert *x509.Certificate, o pades.Options) (*pades.Visible, error) {
	planned := sess.r.Stamp
	if planned == nil {
		return nil, nil
	}
	draw := func() ([]byte, error) { return stamp.Standard(sess.stampText(cert, o)) }
	if planned.Image != "" {
		draw = func() ([]byte, error) { return sess.readImage(ctx, planned.Image) }
	}
	appearance, err := draw()
	if err != nil {
		return nil, fmt.Errorf("signing: drawing the stamp: %w", err)
	}
	return planned.visible(appearance), nil
}

// stampText returns the text of the standard stamp (spec 3.3). A provider that makes the CMS on the phone
// shows no certificate before: the stamp then has the kennitala that the client named.
func (sess *session) stampText(cert *x509.Certificate, o pades.Options) stamp.Text {
	text := stamp.Text{Name: o.Name, Kennitala: sess.r.Person.Kennitala, Time: o.Time, Reason: o.Reason}
	if cert != nil {
		text.Kennitala = cmp.Or(idp.ShownKennitala(cert), text.Kennitala)
	}
	return text
}

// readImage reads the image that was drawn at the start.
func (sess *session) readImage(ctx context.Context, id string) ([]byte, error) {
	blob, err := sess.documents.Open(ctx, id)
	if err != nil {
		return nil, err
	}
	defer blob.Close()
	return io.ReadAll(io.NewSectionReader(blob, 0, blob.Size()))
}
