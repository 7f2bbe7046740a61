package xades

import (
	"context"
	"fmt"
	"io"
	"time"

	"github.com/innsigli/innsigli/ades"
)

// Prepare makes a document ready to be signed: all of the signature but its value. [ErrUnreadable],
// [ErrForbidden], [ErrBroken], [ades.ErrAlgorithm]. Options that contradict themselves are an error of
// no kind.
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

// Check says whether a document takes a signature with these options, without a signer. Its errors are
// those of [Prepare] but [ades.ErrAlgorithm].
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
	w, err := wrap(ctx, doc, o, base)
	if err != nil {
		return layout{}, err
	}
	if o.Packing == InternallyDetached && w.holdsContainer() {
		src, err := w.original()
		if err != nil {
			return layout{}, err
		}
		return layInside(ctx, src, o, signed)
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
	made := l.bare(src.size())
	if err := checkSize(made); err != nil {
		return l, err
	}
	if err := l.data(contextWriter{ctx, signed}); err != nil {
		return l, readError(err)
	}
	if o.Base64 || len(before) == 0 { // nothing changes for anybody
		return l, nil
	}
	l.data, src.doc = nil, nil // there is one tree at a time
	next, err := src.next(made)
	if err != nil {
		return l, err
	}
	return l, unharmed(ctx, before, next.doc, l.ids)
}

// growth is the room in bytes that a document has to leave for what signatures get later: validation
// data and timestamps.
const growth = 16 << 20

func checkSize(made Revision) error {
	if size := (Document{}).With(made).Size; size > maxSize-growth {
		return fmt.Errorf("%w: signed it has more than %d bytes", ErrUnreadable, maxSize-growth)
	}
	return nil
}
