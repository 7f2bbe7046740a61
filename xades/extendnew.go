package xades

import (
	"context"
	"fmt"
	"hash"
	"io"
	"strings"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/hashstate"
	"github.com/innsigli/innsigli/internal/pki/validation"
)

// extendNew extends the signature of a pending signature that [Pending.Complete] has just made, as
// [Extender.ExtendLast] does, and returns the revision that makes the extended document from the
// one that was prepared. It does not read the document: the signature is a document of its own, and
// dataHash is the hash of the signed data, from which both reference and archive timestamp
// continue.
//
// ok is false in two cases, and the caller then uses ExtendLast: level LTA of an enveloping
// signature, whose archive timestamp covers the Object with the document; and additions of more
// tags than [Prepare] reserves.
func (p *Pending) extendNew(ctx context.Context, made Revision, o Options, dataHash hash.Hash, sources ades.Sources) (r Revision, ok bool, err error) {
	if o.Packing == Enveloping && o.Level >= ades.LTA {
		return r, false, nil
	}
	state, err := hashstate.Save(dataHash)
	if err != nil {
		return r, false, err
	}
	alone := p.signatureOf(made)
	e := extension{Extender: Extender{sources}, ctx: ctx, which: lastSignature, dataHashState: state, known: validation.NewKnown(ctx, sources)}
	if err := e.readAndVerify(alone); err != nil {
		return r, false, err
	}
	if err := e.extend(o.Level); err != nil {
		return r, false, err
	}
	further, err := e.revisions()
	if err != nil {
		return r, false, err
	}
	for _, next := range further {
		alone = alone.With(next)
	}
	markup, err := readAll(alone)
	if err != nil {
		return r, false, err
	}
	r = p.frame.revision(p.documentSize, strings.TrimSuffix(markup, endTag))
	if added := strings.Count(markup, "<"); added >= reservedNodes {
		return r, false, nil
	}
	if size := r.size(); size > MaxSize {
		return r, false, errSize(size)
	}
	return r, true, nil
}

// signatureOf returns the signature that a revision of the pending signature adds, as a document.
// It declares its own prefixes, so its canonical forms are the same as in the signed document.
func (p *Pending) signatureOf(made Revision) Document {
	pieces := made.Pieces[len(p.frame.before) : len(made.Pieces)-len(p.frame.after)]
	var b strings.Builder
	for _, piece := range pieces {
		b.WriteString(p.frame.encoding.Decode(piece.Bytes))
	}
	b.WriteString(endTag)
	return Document{ReaderAt: strings.NewReader(b.String()), Size: int64(b.Len())}
}

func readAll(doc Document) (string, error) {
	var b strings.Builder
	if _, err := io.Copy(&b, io.NewSectionReader(doc, 0, doc.Size)); err != nil {
		return "", fmt.Errorf("xades: reading the signature: %w", err)
	}
	return b.String(), nil
}
