package xades

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/innsigli/innsigli/ades"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
	xmldsig "github.com/innsigli/innsigli/internal/xml/dsig"
)

// wrapping is a document that something is put around. It is read as what is made of it, and not for
// itself, so that there is one of it in memory.
type wrapping struct {
	layout
	next           *source
	documentPieces []Piece     // where the document is in next: its opening, and the rest
	wrapper        xmldoc.Node // the element in next that the rest is the content of
}

// wrappingPrefix is bound around a document that is enveloped.
const wrappingPrefix = "ds"

// wrap reads a document as what is made of it, and writes the document itself to base.
func wrap(ctx context.Context, doc Document, o Options, begin opening, base io.Writer) (*wrapping, error) {
	w := &wrapping{layout: newLayout(begin.encoding)}
	if o.Packing == Enveloping {
		w.placeEnveloping(begin.end, doc.Size)
	} else {
		w.placeDetached(begin.end, doc.Size)
	}
	made := w.withEmptySignature(doc.Size)
	if err := checkSize(made); err != nil {
		return nil, err
	}
	b, err := readBytes(ctx, doc.With(made), io.Discard)
	if err != nil {
		return nil, err
	}
	w.documentPieces = piecesOf(made)
	for _, p := range w.documentPieces {
		if _, err := (contextWriter{ctx, base}).Write(b[p.From:p.To]); err != nil {
			return nil, err
		}
	}
	if w.next, err = parseSource(b); err != nil {
		return nil, err
	}
	if err := w.check(); err != nil {
		return nil, err
	}
	if o.Packing == Enveloping {
		err = checkObjectContent(w.wrapper)
	}
	return w, cmp.Or(err, checkXMLNames(w.next.doc))
}

// keptIn is where a document is in what a revision makes of it.
func piecesOf(made Revision) (all []Piece) {
	at := int64(0)
	for _, p := range made.Pieces {
		if p.Bytes == nil {
			all = append(all, Piece{From: at, To: at + p.size()})
		}
		at += p.size()
	}
	return all
}

// content is the document but for its opening.
func (w *wrapping) content() Piece { return w.documentPieces[len(w.documentPieces)-1] }

// check makes sure that what was put around a document did not make one of something that is none: that its
// bytes are all of the content, with one element and nothing but white space beside it (XML 1.0,
// productions 1 and 27), and that it binds its prefixes by itself.
func (w *wrapping) check() (err error) {
	if w.wrapper, err = w.findWrapper(); err != nil {
		return err
	}
	start, end, ok := w.wrapper.Inside()
	if content := w.content(); !ok || start != content.From || end != content.To {
		return fmt.Errorf("%w: it ends elements that it does not begin", ades.ErrUnreadable)
	}
	var roots []xmldoc.Node
	for n := range w.wrapper.Children() {
		from, to := n.Span()
		switch n.Kind() {
		case xmldoc.Element:
			roots = append(roots, n)
		case xmldoc.Text:
			if !w.encoding.IsSpace(w.next.bytes[from:to]) {
				return fmt.Errorf("%w: there is text beside the root", ades.ErrUnreadable)
			}
		}
	}
	switch {
	case len(roots) != 1:
		return fmt.Errorf("%w: it has %d roots", ades.ErrUnreadable, len(roots))
	case roots[0].Inherits(wrappingPrefix):
		return fmt.Errorf("%w: the prefix %s is not declared", ades.ErrUnreadable, wrappingPrefix)
	}
	return nil
}

// wrapped is the element around the document.
func (w *wrapping) findWrapper() (xmldoc.Node, error) {
	n, ok := w.next.doc.ByID(w.ids.document())
	if !ok {
		return n, fmt.Errorf("%w: the identifier of what is signed is not there once", ades.ErrUnreadable)
	}
	return n, nil
}

// Elements that mean something for the signature when they stand in its Object (xmldsig-core1 4.5, EN 319
// 132-1 4.3.1 and 4.3.2).
var (
	signatureElementNames  = []string{"Manifest", "SignatureProperties"}
	propertiesElementNames = []string{"QualifyingProperties", "QualifyingPropertiesReference"}
)

// editions is what the namespaces of all editions of XAdES begin with.
const editions = "http://uri.etsi.org/01903/v"

// checkEnveloped refuses a document that would be taken for a part of the signature when it stands in its
// Object. EU DSS looks deeper for the properties of the first editions of XAdES.
func checkObjectContent(object xmldoc.Node) error {
	for n := range object.Descendants() {
		name := n.Name()
		switch {
		case n.Parent() == object && name.Space == xmldsig.Namespace && slices.Contains(signatureElementNames, name.Local),
			n.Parent() == object && strings.HasPrefix(name.Space, editions) && slices.Contains(propertiesElementNames, name.Local),
			n.Is(editions+"1.1.1#", "QualifyingProperties"), n.Is(editions+"1.2.2#", "QualifyingProperties"):
			return fmt.Errorf("%w: in an Object the document would be of the signature; in Base64 it is none", ades.ErrForbidden)
		}
	}
	return nil
}

// lay writes what is to be signed, and makes sure that the signatures of the document are right, and stay
// so. Where that cannot be told from what was made of it, the document is read by itself; the other one is
// forgotten before.
func (w *wrapping) plan(ctx context.Context, signed io.Writer) error {
	if err := w.next.doc.Canonicalize(contextWriter{ctx, signed}, exclusive, xmldoc.Subset{Apex: w.wrapper}); err != nil {
		return readError(err)
	}
	all, err := readExistingSignatures(ctx, w.next.doc, w.ids)
	if err := checkSignatureLimits(w.next.doc, len(all)); err != nil {
		return err
	}
	if err == nil && independentOfContext(all) {
		return nil
	}
	after, err := snapshots(ctx, all, err)
	alone := w.original()
	all, w.next, w.wrapper = nil, nil, none
	before, unread := readSnapshots(ctx, alone)
	if unread != nil {
		return unread
	}
	return checkUnchanged(before, after, err)
}

// original is the document by itself, in the memory that it is in already: what was read there does not hold
// any more.
func (w *wrapping) original() []byte {
	b, content := w.next.bytes, w.content()
	opening := b[:w.documentPieces[0].To]
	start := content.From - int64(len(opening))
	copy(b[start:], opening)
	return b[start:content.To]
}

// readSnapshots reads how the signatures of a document are.
func readSnapshots(ctx context.Context, b []byte) ([]snapshot, error) {
	src, err := parseSource(b)
	if err != nil {
		return nil, err
	}
	all, err := readExistingSignatures(ctx, src.doc, "")
	return snapshots(ctx, all, err)
}
