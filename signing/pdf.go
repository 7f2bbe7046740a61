package signing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/pades"
	"github.com/innsigli/innsigli/storage"
)

// pdfFormat signs PDF documents. A signature is appended to the document, as revisions.
type pdfFormat struct{}

func (pdfFormat) prepare(ctx context.Context, sess *session, blob storage.Blob, signer ades.SignerIdentity, at time.Time) (preparation, error) {
	options := pades.Options{Reason: sess.r.Text.Reason, Location: sess.r.Place, Time: at, Level: sess.r.Level}
	cms := sess.traits().CMS
	if !cms {
		options.Name = signer.Certificate.Subject.CommonName
	}
	var err error
	if options.Visible, err = sess.visible(ctx, signer.Certificate, options); err != nil {
		return nil, err
	}
	var p *pades.Pending
	if cms {
		p, err = pades.PrepareCMS(ctx, document(blob), signer.Algorithm.Hash, options)
	} else {
		p, err = pades.Prepare(ctx, document(blob), signer, options)
	}
	return p, err
}

func (pdfFormat) read(encoded []byte) (preparation, error) { return readPDF(encoded) }

func readPDF(encoded []byte) (*pades.Pending, error) {
	p := new(pades.Pending)
	if err := p.UnmarshalBinary(encoded); err != nil {
		return nil, fmt.Errorf("signing: reading the prepared signature: %w", err)
	}
	return p, nil
}

func (pdfFormat) openDraft(_ context.Context, _ *session, blob storage.Blob, encoded []byte) (draft, error) {
	p, err := readPDF(encoded)
	if err != nil {
		return nil, err
	}
	return &pdfDraft{Blob: blob, prepared: p, currentSize: blob.Size(), doc: document(blob)}, nil
}

func (pdfFormat) failure(err error) *idp.Failure {
	switch {
	case errors.Is(err, pades.ErrEncrypted):
		return cannotSign("The document is encrypted and cannot be opened without a password or key.")
	case errors.Is(err, ades.ErrForbidden):
		return cannotSign("The document does not allow signatures.")
	case errors.Is(err, ades.ErrBroken):
		return cannotSign("The last signature in the document is broken.")
	case errors.Is(err, ades.ErrUnreadable):
		return cannotSign("The document is not a readable PDF.")
	case errors.Is(err, pades.ErrAppearance):
		return cannotSign("The stamp cannot be drawn.")
	}
	return nil
}

// pdfDraft is a PDF with the revisions that will be appended.
type pdfDraft struct {
	storage.Blob
	prepared    *pades.Pending
	currentSize int64          // of the document without the revisions
	doc         pades.Document // with the revisions
	revisions   []storage.Revision
}

func (d *pdfDraft) signer(value []byte) (ades.SignerIdentity, error) {
	return d.prepared.SignerOf(value)
}

func (d *pdfDraft) preparedSize() int64 {
	size, _ := d.prepared.Base()
	return size
}

func (d *pdfDraft) hasGrown() bool { return d.currentSize != d.preparedSize() }

func (d *pdfDraft) reader() *io.SectionReader { return io.NewSectionReader(d.doc, 0, d.doc.Size) }

func (d *pdfDraft) rebase() {
	d.currentSize = d.preparedSize()
	d.doc.Size = d.currentSize
	d.doc.Hashed = slices.DeleteFunc(d.doc.Hashed, func(m pades.Midstate) bool { return m.Offset > d.currentSize })
}

func (d *pdfDraft) sign(ctx context.Context, value []byte, t ades.Timestamper) error {
	r, err := d.prepared.Complete(ctx, value, t)
	if err == nil {
		d.grow(r)
	}
	return err
}

func (d *pdfDraft) extend(ctx context.Context, level ades.Level, s ades.Sources) error {
	further, err := pades.Extender{Sources: s}.ExtendLast(ctx, d.doc, level)
	if err == nil {
		d.grow(further...)
	}
	return err
}

func (d *pdfDraft) grow(revisions ...pades.Revision) {
	for _, r := range revisions {
		d.revisions = append(d.revisions, stored(r))
		d.doc = d.doc.With(r)
	}
}

func (d *pdfDraft) storeNew(context.Context, storage.Documents) (content, error) {
	return knownContent(d.doc), nil
}

func (d *pdfDraft) uncommitted() []string { return nil }

func (d *pdfDraft) commit(ctx context.Context, documents storage.Documents, r *Request) error {
	return documents.Append(ctx, r.Document, d.revisions...)
}

// keep appends the revisions to the document. Those of an order are stored with the request instead: its
// document is the owner's and gets complete signatures alone.
func (d *pdfDraft) keep(ctx context.Context, documents storage.Documents, r *Request) (err error) {
	switch {
	case len(d.revisions) == 0:
		return nil
	case !r.ordered():
		return documents.Append(ctx, r.Document, d.revisions...)
	}
	r.Draft, err = json.Marshal(d.revisions)
	return err
}

func (d *pdfDraft) restore(kept []byte) error {
	var all []storage.Revision
	if err := json.Unmarshal(kept, &all); err != nil {
		return fmt.Errorf("signing: reading the draft of an earlier attempt: %w", err)
	}
	for _, r := range all {
		d.grow(restored(r))
	}
	return nil
}
