package xades

import (
	"cmp"
	"context"
	"crypto"
	"crypto/rand"
	"fmt"
	"hash"
	"io"
	"slices"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/validation"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
	xmldsig "github.com/innsigli/innsigli/internal/xml/dsig"
)

// layout is the planned signature: its position in the document and the reference to the data.
type layout struct {
	frame
	reference reference
	writeData func(w io.Writer) error // writes the octets to sign; nil in a wrapping, whose plan writes them
}

// frame is the signed document without the signature element, except that after starts with the
// Object that contains the document, if the signature is enveloping, and the element's end tag.
type frame struct {
	ids           ids
	before, after []Piece
	encoding      xmldoc.Encoding
}

// Prepare returns a signature of the document that is complete except for its value.
//
// The errors are [ades.ErrUnreadable], with [ErrDoctype], [ErrEncoding], [ErrNamespace] or
// [ErrLimit] where one of these is the cause; [ades.ErrForbidden]; [ades.ErrBroken];
// [ades.ErrAlgorithm]; [ades.ErrPurpose] if the signer's certificate was not issued for signing
// documents; and [ades.ErrOutsideValidity] if it is not valid at the signing time. Options that
// contradict each other are an error that is none of these.
func Prepare(ctx context.Context, doc Document, signer ades.SignerIdentity, options Options) (*Pending, error) {
	p, _, err := prepare(ctx, doc, signer, options)
	return p, err
}

// prepare is [Prepare]. It also returns the hash of the signed data, from which extendNew
// continues.
func prepare(ctx context.Context, doc Document, signer ades.SignerIdentity, options Options) (*Pending, hash.Hash, error) {
	signer, err := signer.Resolve()
	if err != nil {
		return nil, nil, err
	}
	if options.Time.IsZero() {
		options.Time = time.Now()
	}
	if err := options.check(); err != nil {
		return nil, nil, err
	}
	if err := validation.CheckClaimedTime(signer.Certificate, options.Time); err != nil {
		return nil, nil, fmt.Errorf("xades: signing time: %w", err)
	}
	documentHash, dataHash := signer.Algorithm.Hash.New(), signer.Algorithm.Hash.New()
	l, err := planLayout(ctx, doc, options, sinks{document: documentHash, signedData: dataHash})
	if err != nil {
		return nil, nil, err
	}
	p := &Pending{signer: signer, documentSize: doc.Size, documentSum: documentHash.Sum(nil), level: options.Level, frame: l.frame}
	if p.markup, err = newMarkup(signer, options, l.reference, l.ids, dataHash.Sum(nil)); err != nil {
		return nil, nil, err
	}
	p.signedInfo, err = p.markup.signedInfo()
	return p, dataHash, err
}

// Check reports whether a document can be signed with these options; it needs no signer. It returns
// the errors of [Prepare] except [ades.ErrAlgorithm], [ades.ErrPurpose] and
// [ades.ErrOutsideValidity].
func Check(ctx context.Context, doc Document, options Options) error {
	if err := options.check(); err != nil {
		return err
	}
	_, err := planLayout(ctx, doc, options, sinks{document: io.Discard, signedData: io.Discard})
	return err
}

// Sign signs a document with a local key, and returns the revision that adds the signature at the
// level of the options. The signature is as [Prepare], [Pending.Sign] and [Extender.ExtendLast]
// make it, but Sign usually reads the document once. It reads the document again for level LTA of
// an enveloping signature, and to add validation data of tens of thousands of elements. For level B
// the zero Sources are enough.
//
// If the signature can be made but not raised to its level, for example because validation data
// cannot be had, Sign returns the revision that adds it at level T with the error: an [Extender]
// can continue from there.
func Sign(ctx context.Context, doc Document, key crypto.Signer, signer ades.SignerIdentity, options Options, sources ades.Sources) (Revision, error) {
	p, dataHash, err := prepare(ctx, doc, signer, options)
	if err != nil {
		return Revision{}, err
	}
	r, err := p.Sign(ctx, key, sources.Time)
	if err != nil || options.Level <= ades.T {
		return r, err
	}
	extended, ok, err := p.extendNew(ctx, r, options, dataHash, sources)
	if err != nil {
		return r, err
	}
	if ok {
		return extended, nil
	}
	further, err := Extender{Sources: sources}.ExtendLast(ctx, doc.With(r), options.Level)
	if err != nil {
		return r, err
	}
	extended = r
	for _, next := range further {
		if extended, err = extended.join(next); err != nil {
			return r, err
		}
	}
	return extended, nil
}

// sinks receive the document and the octets to sign.
type sinks struct{ document, signedData io.Writer }

// planLayout chooses the position of the new signature. It checks that the existing signatures are
// valid as far as the document shows, and that they stay so: in planInside, or in wrapping.plan.
func planLayout(ctx context.Context, doc Document, o Options, to sinks) (layout, error) {
	if o.Packing == Enveloped || o.Base64 {
		src, err := readSource(ctx, doc, to.document)
		if err != nil {
			return layout{}, err
		}
		return planInside(ctx, src, o, to.signedData)
	}
	begin, err := readOpening(doc)
	if err != nil {
		return layout{}, err
	}
	if o.Packing == InternallyDetached && begin.container {
		return planDetached(ctx, doc, o, begin, to)
	}
	return planAround(ctx, doc, o, begin, to)
}

// planDetached is planLayout for InternallyDetached and a document that may be a container. If that
// cannot take another signature, it gets a container around it.
func planDetached(ctx context.Context, doc Document, o Options, begin opening, to sinks) (layout, error) {
	src, err := readSource(ctx, doc, to.document)
	if err != nil {
		return layout{}, err
	}
	if isSignedContainer(src.doc) {
		return planInside(ctx, src, o, to.signedData)
	}
	// readSource has written the document already.
	return planAround(ctx, doc, o, begin, sinks{document: io.Discard, signedData: to.signedData})
}

// planAround is planLayout for a document that gets new elements around it.
func planAround(ctx context.Context, doc Document, o Options, begin opening, to sinks) (layout, error) {
	w, err := wrap(ctx, doc, o, begin, to.document)
	if err != nil {
		return layout{}, err
	}
	err = w.plan(ctx, to.signedData)
	return w.layout, err
}

// planInside is planLayout for a document that stays the root of the signed document, or that is
// embedded as a file in Base64.
func planInside(ctx context.Context, src *source, o Options, signedData io.Writer) (layout, error) {
	before, err := readExistingSignatures(ctx, src.doc, "")
	if err != nil {
		return layout{}, err
	}
	l, err := newLayoutIn(src, o)
	if err != nil {
		return l, err
	}
	if !o.Base64 { // in Base64 the document is data: it does not change and is not parsed again
		if err := cmp.Or(checkUnaffected(before), checkSignatureLimits(src.doc, len(before)), checkXMLNames(src.doc)); err != nil {
			return l, err
		}
	}
	if err := checkSize(l.withEmptySignature(src.size())); err != nil {
		return l, err
	}
	err = l.writeData(contextWriter{ctx, signedData})
	return l, readError(err)
}

func newLayout(e xmldoc.Encoding) layout {
	return layout{frame: frame{ids: ids(rand.Text()), encoding: e}}
}

// newLayoutIn returns the layout of a signature inside a document, or around its file in Base64.
func newLayoutIn(src *source, o Options) (layout, error) {
	l := newLayout(src.doc.Encoding())
	var err error
	switch {
	case o.Base64:
		l.placeBase64(src)
	case o.Packing == InternallyDetached:
		err = l.placeInContainer(src)
	default:
		err = l.placeEnveloped(src)
	}
	return l, err
}

// Transforms of references. All of them end in octets.
const (
	filter2         = "http://www.w3.org/2002/06/xmldsig-filter2"
	base64Transform = xmldsig.Namespace + "base64"
	objectType      = xmldsig.Namespace + "Object"
)

// placeEnveloped puts the signature after all content of the root element. Its reference leaves out
// all signatures, not only this one, so that parallel signatures do not break each other (XPath
// Filter 2.0).
func (l *layout) placeEnveloped(src *source) error {
	root := src.doc.Root()
	if isSignature(root) {
		return fmt.Errorf("%w: the root is a Signature, which cannot contain an enveloped signature", ades.ErrForbidden)
	}
	l.appendToRoot(src)
	form := documentCanonicalization(src.doc)
	l.reference = reference{transforms: []string{
		transform(filter2, element("dsig-filter2:XPath", attributes{"xmlns:dsig-filter2", filter2, "Filter", "subtract"}, "/descendant::ds:Signature")),
		canonicalizationTransform(form),
	}}
	l.writeData = func(w io.Writer) error {
		return src.doc.Canonicalize(w, form, xmldoc.Subset{Without: isSignature, Named: signatureName})
	}
	return nil
}

// appendToRoot puts the signature before the end tag of the root element. An empty-element tag
// becomes a start tag and an end tag.
func (l *layout) appendToRoot(src *source) {
	start, end, ok := src.doc.Root().ContentRange() // start is the offset of "/>" of an empty-element tag
	if ok {
		l.before, l.after = []Piece{{To: end}}, []Piece{l.markup(endTag), {From: end, To: src.size()}}
		return
	}
	from, to := src.nameOf(src.doc.Root(), l.encoding)
	l.before = []Piece{{To: start}, l.markup(">")}
	l.after = []Piece{l.markup(endTag + "</"), {From: from, To: to}, {From: start + l.encoding.Width(), To: src.size()}}
}

// placeBase64 puts the unchanged file into an Object of the signature, in Base64.
func (l *layout) placeBase64(src *source) {
	l.encoding = xmldoc.SingleBytes
	l.before = []Piece{l.markup(`<?xml version="1.0" encoding="UTF-8"?>`)}
	l.after = []Piece{
		l.markup(startTag("ds:Object", attributes{"Id", l.ids.document(), "MimeType", mimeType, "Encoding", base64Transform})),
		{To: src.size(), Base64: true},
		l.markup("</ds:Object>" + endTag),
	}
	l.reference = reference{
		uri: "#" + l.ids.document(), kind: objectType, encoding: base64Transform,
		transforms: []string{transform(base64Transform)},
	}
	l.writeData = func(w io.Writer) error {
		_, err := w.Write(src.bytes)
		return err
	}
}

// Names of the elements around a document that is signed internally detached.
const (
	containerName = "internally-detached"
	containedName = "signed-document"
)

// placeInContainer puts another signature into a container, over the same document as the existing
// ones.
func (l *layout) placeInContainer(src *source) error {
	document, ok := containedDocument(src.doc.Root())
	if !ok {
		return fmt.Errorf("%w: not a container of a signed document", ades.ErrUnreadable)
	}
	id, _ := document.Attr("", "Id")
	if n, _ := src.doc.ByID(id); n != document {
		return fmt.Errorf("%w: another element has the identifier of the contained document", ades.ErrForbidden)
	}
	l.appendToRoot(src)
	l.reference = reference{uri: "#" + id, transforms: []string{canonicalizationTransform(exclusive)}}
	l.writeData = func(w io.Writer) error {
		return src.doc.Canonicalize(w, exclusive, xmldoc.Subset{Apex: document})
	}
	return nil
}

// containedDocument returns the element of a container that the signatures sign. ok is false if the
// container has no such element, no signature, or any other content, which another signature would
// not cover.
func containedDocument(root xmldoc.Node) (document xmldoc.Node, ok bool) {
	if !isContainer(root) {
		return none, false
	}
	signatures := 0
	for n := range root.Children() {
		switch {
		case document == none && n.Is("", containedName):
			document = n
		case isSignature(n):
			signatures++
		default:
			return none, false
		}
	}
	if document == none || signatures == 0 {
		return none, false
	}
	id, _ := document.Attr("", "Id")
	return document, isPlainName(id)
}

// isSignedContainer reports whether a document is a container that can take another signature, with
// no processing instruction beside the root, which that signature would not cover.
func isSignedContainer(d *xmldoc.Document) bool {
	_, ok := containedDocument(d.Root())
	return ok && !hasInstructions(d)
}

// isPlainName reports whether an identifier is an ASCII name. Other identifiers may have another
// meaning in a reference, for example as an XPointer.
func isPlainName(id string) bool {
	for i, c := range []byte(id) {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_'
		if !letter && (i == 0 || !('0' <= c && c <= '9' || c == '-' || c == '.')) {
			return false
		}
	}
	return id != ""
}

// revision returns the revision that adds the markup of a signature between before and after.
func (f frame) revision(base int64, signature ...string) Revision {
	r := Revision{Base: base, Pieces: slices.Clone(f.before)}
	for _, s := range signature {
		r.Pieces = append(r.Pieces, f.markup(s))
	}
	r.Pieces = append(r.Pieces, f.after...)
	return r
}

func (f frame) markup(ascii string) Piece { return Piece{Bytes: f.encoding.Encode(ascii)} }

// withEmptySignature returns the revision that adds a signature element without content.
func (f frame) withEmptySignature(base int64) Revision {
	return f.revision(base, startTag("ds:Signature", attributes{"xmlns:ds", xmldsig.Namespace, "Id", f.ids.signature()}))
}
