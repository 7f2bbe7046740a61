package xades

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/validation"
)

// Prepare makes a document ready to be signed: all of the signature but its value. [ades.ErrUnreadable],
// [ades.ErrForbidden], [ades.ErrBroken], [ades.ErrAlgorithm], [ades.ErrOutsideValidity] for a time at which the signer's
// certificate is not valid. Options that contradict themselves are an error of no kind.
func Prepare(ctx context.Context, doc Document, signer ades.Signer, options Options) (*Pending, error) {
	signer, err := signer.Resolve()
	if err != nil {
		return nil, err
	}
	if options.Time.IsZero() {
		options.Time = time.Now()
	}
	if err := options.check(); err != nil {
		return nil, err
	}
	if err := validation.CheckClaimedTime(signer.Certificate, options.Time); err != nil {
		return nil, fmt.Errorf("xades: signing time: %w", err)
	}
	base, sum := signer.Algorithm.Hash.New(), signer.Algorithm.Hash.New()
	l, err := lay(ctx, doc, options, base, sum)
	if err != nil {
		return nil, err
	}
	p := &Pending{signer: signer, base: doc.Size, baseSum: base.Sum(nil), level: options.Level, frame: l.frame}
	if p.text, err = newText(signer, options, l.reference, l.ids, sum.Sum(nil)); err != nil {
		return nil, err
	}
	p.signedInfo, err = p.text.signedInfo()
	return p, err
}

// Check reports whether a document takes a signature with these options, without a signer. Its errors are
// those of [Prepare] but [ades.ErrAlgorithm] and [ades.ErrOutsideValidity].
func Check(ctx context.Context, doc Document, options Options) error {
	if err := options.check(); err != nil {
		return err
	}
	_, err := lay(ctx, doc, options, io.Discard, io.Discard)
	return err
}

// lay finds the place of a signature, and makes sure that those which are there are right, and stay so.
// It writes the document to base, and what is to be signed to signed.
func lay(ctx context.Context, doc Document, o Options, base, signed io.Writer) (layout, error) {
	if o.Packing == Enveloped || o.Base64 {
		src, err := readSource(ctx, doc, base)
		if err != nil {
			return layout{}, err
		}
		return layInside(ctx, src, o, signed)
	}
	begin, err := readOpening(doc)
	if err != nil {
		return layout{}, err
	}
	if o.Packing == InternallyDetached && begin.container {
		src, err := readSource(ctx, doc, base)
		if err != nil {
			return layout{}, err
		}
		if holdsContainer(src.doc) {
			return layInside(ctx, src, o, signed)
		}
		base = io.Discard // has it
	}
	w, err := wrap(ctx, doc, o, begin, base)
	if err != nil {
		return layout{}, err
	}
	return w.layout, w.lay(ctx, signed)
}

// layInside does it for a document that stays the root of what is made, or becomes a file in it.
func layInside(ctx context.Context, src *source, o Options, signed io.Writer) (layout, error) {
	before, err := readEarlier(ctx, src.doc, "")
	if err != nil {
		return layout{}, err
	}
	l, err := layOut(src, o)
	if err != nil {
		return l, err
	}
	if !o.Base64 { // where nothing changes for anybody, and nobody reads more
		if err := cmp.Or(leaveRoom(before), checkRoom(src.doc, len(before)), checkNames(src.doc)); err != nil {
			return l, err
		}
	}
	if err := checkSize(l.bare(src.size())); err != nil {
		return l, err
	}
	return l, readError(l.data(contextWriter{ctx, signed}))
}
