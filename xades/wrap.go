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

// wrapping is the plan of a signature around a document. The package parses only the new document,
// and not the original one as well, so that one tree is in memory.
type wrapping struct {
	layout
	next           *source     // the new document, with an empty signature
	documentPieces []Piece     // where the original document is in next: its opening, and the rest
	wrapper        xmldoc.Node // the element in next whose content is the rest
}

// wrappingPrefix is the prefix that the signature binds around an enveloped document.
const wrappingPrefix = "ds"

// wrap reads the document that a signature around doc makes, and writes doc itself to sink.
func wrap(ctx context.Context, doc Document, o Options, begin opening, sink io.Writer) (*wrapping, error) {
	w := &wrapping{layout: newLayout(begin.encoding)}
	if o.Packing == Enveloping {
		w.placeEnveloping(begin, doc.Size)
	} else {
		w.placeDetached(begin, doc.Size)
	}
	made := w.withEmptySignature(doc.Size)
	if err := checkSize(made); err != nil {
		return nil, err
	}
	b, err := readBytes(ctx, doc.With(made))
	if err != nil {
		return nil, err
	}
	w.documentPieces = piecesOf(made)
	var document [][]byte
	for _, p := range w.documentPieces {
		document = append(document, b[p.From:p.To])
	}
	if w.next, err = parseBeside(ctx, b, sink, document...); err != nil {
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

// placeEnveloping puts a document of size bytes into an Object of the signature, except its opening,
// which stays at the start.
func (l *layout) placeEnveloping(begin opening, size int64) {
	l.before = []Piece{{To: begin.end}}
	l.after = []Piece{
		l.markup(startTag("ds:Object", attributes{"Id", l.ids.document()})),
		{From: begin.end, To: size},
		l.markup("</ds:Object>" + endTag),
	}
	l.reference = reference{uri: "#" + l.ids.document(), kind: objectType, transforms: []string{canonicalizationTransform(exclusive)}}
}

// placeDetached puts a document of size bytes and the signature side by side into a new root
// element. The opening of the document stays at the start.
func (l *layout) placeDetached(begin opening, size int64) {
	l.before = []Piece{
		{To: begin.end},
		l.markup("<" + containerName + ">" + startTag(containedName, attributes{"Id", l.ids.document()})),
		{From: begin.end, To: size},
		l.markup("</" + containedName + ">"),
	}
	l.after = []Piece{l.markup(endTag + "</" + containerName + ">")}
	l.reference = reference{uri: "#" + l.ids.document(), transforms: []string{canonicalizationTransform(exclusive)}}
}

// piecesOf returns where the original document is in the document that a revision makes.
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

// content returns where the original document without its opening is.
func (w *wrapping) content() Piece { return w.documentPieces[len(w.documentPieces)-1] }

// check makes sure that the original bytes are a well-formed document by themselves, and do not
// become one only through the markup around them: they are the whole content of the wrapper, they
// have one root element with nothing but white space, comments and processing instructions beside
// it (XML 1.0, productions 1 and 27), and they declare their prefixes themselves.
func (w *wrapping) check() (err error) {
	if w.wrapper, err = w.findWrapper(); err != nil {
		return err
	}
	start, end, ok := w.wrapper.ContentRange()
	if content := w.content(); !ok || start != content.From || end != content.To {
		return fmt.Errorf("%w: an end tag without a start tag", ades.ErrUnreadable)
	}
	var roots []xmldoc.Node
	for n := range w.wrapper.Children() {
		from, to := n.Span()
		switch n.Kind() {
		case xmldoc.Element:
			roots = append(roots, n)
		case xmldoc.Text:
			if !w.encoding.IsSpace(w.next.bytes[from:to]) {
				return fmt.Errorf("%w: text beside the root element", ades.ErrUnreadable)
			}
		}
	}
	switch {
	case len(roots) != 1:
		return fmt.Errorf("%w: %d root elements", ades.ErrUnreadable, len(roots))
	case roots[0].Inherits(wrappingPrefix):
		return fmt.Errorf("%w: the prefix %s is not declared", ades.ErrUnreadable, wrappingPrefix)
	}
	return nil
}

func (w *wrapping) findWrapper() (xmldoc.Node, error) {
	n, ok := w.next.doc.ByID(w.ids.document())
	if !ok {
		return n, fmt.Errorf("%w: the identifier of the signed element does not occur exactly once", ades.ErrUnreadable)
	}
	return n, nil
}

// Elements that are a part of the signature when they are children of its Object (xmldsig-core1
// 4.5, EN 319 132-1 4.3.1 and 4.3.2).
var (
	signatureElementNames  = []string{"Manifest", "SignatureProperties"}
	propertiesElementNames = []string{"QualifyingProperties", "QualifyingPropertiesReference"}
)

// editions is the beginning of the namespaces of all versions of XAdES.
const editions = "http://uri.etsi.org/01903/v"

// checkObjectContent refuses a document that a verifier would take for a part of the signature when
// the document is in its Object. EU DSS also looks deeper than the children for properties in the
// namespaces of XAdES 1.1.1 and 1.2.2.
func checkObjectContent(object xmldoc.Node) error {
	for n := range object.Descendants() {
		name := n.Name()
		switch {
		case n.Parent() == object && name.Space == xmldsig.Namespace && slices.Contains(signatureElementNames, name.Local),
			n.Parent() == object && strings.HasPrefix(name.Space, editions) && slices.Contains(propertiesElementNames, name.Local),
			n.Is(editions+"1.1.1#", "QualifyingProperties"), n.Is(editions+"1.2.2#", "QualifyingProperties"):
			return fmt.Errorf("%w: in an Object the document would be read as part of the signature; use Base64", ades.ErrForbidden)
		}
	}
	return nil
}

// plan writes the octets to sign to signedData, and checks that the existing signatures are valid and
// stay so. If the new document alone cannot show that, plan parses the original document too; before,
// it releases the tree of the new one.
func (w *wrapping) plan(ctx context.Context, signedData io.Writer) error {
	if err := w.next.doc.Canonicalize(contextWriter{ctx, signedData}, exclusive, xmldoc.Subset{Apex: w.wrapper}); err != nil {
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

// original restores the original document in the buffer of the new one. The tree of the new
// document is invalid after that.
func (w *wrapping) original() []byte {
	b, content := w.next.bytes, w.content()
	opening := b[:w.documentPieces[0].To]
	start := content.From - int64(len(opening))
	copy(b[start:], opening)
	return b[start:content.To]
}

// readSnapshots parses a document and returns the snapshots of its signatures.
func readSnapshots(ctx context.Context, b []byte) ([]snapshot, error) {
	src, err := parseSource(b)
	if err != nil {
		return nil, err
	}
	all, err := readExistingSignatures(ctx, src.doc, "")
	return snapshots(ctx, all, err)
}
