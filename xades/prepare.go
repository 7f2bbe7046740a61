package xades

import (
	"cmp"
	"context"
	"crypto"
	"crypto/rand"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/validation"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
	xmldsig "github.com/innsigli/innsigli/internal/xml/dsig"
)

// layout is where a signature comes to stand, and what it refers to.
type layout struct {
	frame
	reference reference
	writeData func(w io.Writer) error // writes what the reference leads to; nil when that is still to be made
}

// frame is what the document becomes around a signature.
type frame struct {
	ids           ids
	before, after []Piece // after begins with the end tag of the signature, or an object before it
	encoding      xmldoc.Encoding
}

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
	l, err := planLayout(ctx, doc, options, base, sum)
	if err != nil {
		return nil, err
	}
	p := &Pending{signer: signer, base: doc.Size, baseSum: base.Sum(nil), level: options.Level, frame: l.frame}
	if p.markup, err = newMarkup(signer, options, l.reference, l.ids, sum.Sum(nil)); err != nil {
		return nil, err
	}
	p.signedInfo, err = p.markup.signedInfo()
	return p, err
}

// Check reports whether a document takes a signature with these options, without a signer. Its errors are
// those of [Prepare] but [ades.ErrAlgorithm] and [ades.ErrOutsideValidity].
func Check(ctx context.Context, doc Document, options Options) error {
	if err := options.check(); err != nil {
		return err
	}
	_, err := planLayout(ctx, doc, options, io.Discard, io.Discard)
	return err
}

// Sign signs a document with a key that is at hand, at the level of the options: [Prepare], [Pending.Sign] with the
// timestamp authority of the sources, and [Extender.ExtendLast]. The zero Sources are enough for level B.
//
// Where the signature and its timestamp were made and the validation data for levels LT and LTA could not be had, Sign
// returns that revision beside the error: an [Extender] can continue from there.
func Sign(ctx context.Context, doc Document, key crypto.Signer, signer ades.Signer, options Options, sources ades.Sources) (Revision, error) {
	p, err := Prepare(ctx, doc, signer, options)
	if err != nil {
		return Revision{}, err
	}
	r, err := p.Sign(ctx, key, sources.Time)
	if err != nil || options.Level == ades.B {
		return r, err
	}
	further, err := Extender{Sources: sources}.ExtendLast(ctx, doc.With(r), options.Level)
	if err != nil {
		return r, err
	}
	for _, next := range further {
		if r, err = r.join(next); err != nil {
			return r, err
		}
	}
	return r, nil
}

// lay finds the place of a signature, and makes sure that those which are there are right, and stay so.
// It writes the document to base, and what is to be signed to signed.
func planLayout(ctx context.Context, doc Document, o Options, base, signed io.Writer) (layout, error) {
	if o.Packing == Enveloped || o.Base64 {
		src, err := readSource(ctx, doc, base)
		if err != nil {
			return layout{}, err
		}
		return planInside(ctx, src, o, signed)
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
		if isSignedContainer(src.doc) {
			return planInside(ctx, src, o, signed)
		}
		base = io.Discard // has it
	}
	w, err := wrap(ctx, doc, o, begin, base)
	if err != nil {
		return layout{}, err
	}
	return w.layout, w.plan(ctx, signed)
}

// layInside does it for a document that stays the root of what is made, or becomes a file in it.
func planInside(ctx context.Context, src *source, o Options, signed io.Writer) (layout, error) {
	before, err := readExistingSignatures(ctx, src.doc, "")
	if err != nil {
		return layout{}, err
	}
	l, err := newLayoutIn(src, o)
	if err != nil {
		return l, err
	}
	if !o.Base64 { // where nothing changes for anybody, and nobody reads more
		if err := cmp.Or(checkUnaffected(before), checkSignatureLimits(src.doc, len(before)), checkXMLNames(src.doc)); err != nil {
			return l, err
		}
	}
	if err := checkSize(l.withEmptySignature(src.size())); err != nil {
		return l, err
	}
	return l, readError(l.writeData(contextWriter{ctx, signed}))
}

func newLayout(e xmldoc.Encoding) layout {
	return layout{frame: frame{ids: ids(rand.Text()), encoding: e}}
}

// layOut finds the place of a signature in a document, or around its file.
func newLayoutIn(src *source, o Options) (layout, error) {
	l := newLayout(src.doc.Encoding())
	switch o.Packing {
	case Enveloping:
		l.placeBase64(src)
		return l, nil
	case InternallyDetached:
		return l, l.placeInContainer(src)
	}
	return l, l.placeEnveloped(src)
}

// transforms of references; all end in octets.
const (
	filter2         = "http://www.w3.org/2002/06/xmldsig-filter2"
	base64Transform = xmldsig.Namespace + "base64"
	objectType      = xmldsig.Namespace + "Object"
)

// beEnveloped puts the signature behind all that is in the root. Its reference leaves all signatures
// out, not only this one, so that parallel signatures do not break one another (xmldsig-filter2).
func (l *layout) placeEnveloped(src *source) error {
	root := src.doc.Root()
	if isSignature(root) {
		return fmt.Errorf("%w: it is a signature, and has no room for one that is enveloped", ades.ErrForbidden)
	}
	l.appendToRoot(src)
	form := documentCanonicalization(src.doc)
	l.reference.transforms = []string{
		transform(filter2, element("dsig-filter2:XPath", attributes{"xmlns:dsig-filter2", filter2, "Filter", "subtract"}, "/descendant::ds:Signature")),
		canonicalizationTransform(form),
	}
	l.writeData = func(w io.Writer) error {
		return src.doc.Canonicalize(w, form, xmldoc.Subset{Without: isSignature})
	}
	return nil
}

// intoRoot puts the signature before the end tag of the root. An empty-element tag becomes two tags.
func (l *layout) appendToRoot(src *source) {
	at, end, ok := src.doc.Root().Inside()
	if ok {
		l.before, l.after = []Piece{{To: end}}, []Piece{l.markup(endTag), {From: end, To: src.size()}}
		return
	}
	from, to := src.nameOf(src.doc.Root(), l.encoding)
	l.before = []Piece{{To: at}, l.markup(">")}
	l.after = []Piece{l.markup(endTag + "</"), {From: from, To: to}, {From: at + l.encoding.Width(), To: src.size()}}
}

// envelop puts a document of a size into an object of the signature, but for its opening.
func (l *layout) placeEnveloping(opening, size int64) {
	l.before = []Piece{{To: opening}}
	l.after = []Piece{
		l.markup(startTag("ds:Object", attributes{"Id", l.ids.document()})),
		{From: opening, To: size},
		l.markup("</ds:Object>" + endTag),
	}
	l.reference = reference{uri: "#" + l.ids.document(), kind: objectType, transforms: []string{canonicalizationTransform(exclusive)}}
}

// envelopFile puts the file as it is into an object of the signature, in Base64.
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

// The container of a document that is signed internally detached.
const (
	containerName = "internally-detached"
	containedName = "signed-document"
)

// detach puts a document of a size, but for its opening, and the signature side by side into a new root.
func (l *layout) placeDetached(opening, size int64) {
	l.before = []Piece{
		{To: opening},
		l.markup("<" + containerName + ">" + startTag(containedName, attributes{"Id", l.ids.document()})),
		{From: opening, To: size},
		l.markup("</" + containedName + ">"),
	}
	l.after = []Piece{l.markup(endTag + "</" + containerName + ">")}
	l.reference = reference{uri: "#" + l.ids.document(), transforms: []string{canonicalizationTransform(exclusive)}}
}

// join puts a further signature into a container, over the same document.
func (l *layout) placeInContainer(src *source) error {
	inside, ok := containedDocument(src.doc.Root())
	if !ok {
		return fmt.Errorf("%w: it is no container of a signed document", ades.ErrUnreadable)
	}
	id, _ := inside.Attr("", "Id")
	if n, _ := src.doc.ByID(id); n != inside {
		return fmt.Errorf("%w: what it contains has the same identifier as something else", ades.ErrForbidden)
	}
	l.appendToRoot(src)
	l.reference = reference{uri: "#" + id, transforms: []string{canonicalizationTransform(exclusive)}}
	l.writeData = func(w io.Writer) error {
		return src.doc.Canonicalize(w, exclusive, xmldoc.Subset{Apex: inside})
	}
	return nil
}

// containedDocument is what the signatures of a container sign. In a container there is nothing else:
// what stands beside would not be signed by a further signature.
func containedDocument(root xmldoc.Node) (inside xmldoc.Node, ok bool) {
	if !isContainer(root) {
		return inside, false
	}
	signatures := 0
	for n := range root.Children() {
		switch {
		case inside == none && n.Is("", containedName):
			inside = n
		case isSignature(n):
			signatures++
		default:
			return inside, false
		}
	}
	id, _ := inside.Attr("", "Id")
	return inside, isPlainName(id) && signatures > 0
}

// holdsContainer reports whether a document is a container that further signatures go into. Beside it there is
// nothing that they would not sign.
func isSignedContainer(d *xmldoc.Document) bool {
	_, ok := containedDocument(d.Root())
	return ok && !hasInstructions(d)
}

// isPlainName reports whether an identifier is a name in ASCII: others may mean something else in a reference,
// such as an XPointer.
func isPlainName(id string) bool {
	for i, c := range []byte(id) {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z' || c == '_'
		if !letter && (i == 0 || !('0' <= c && c <= '9' || c == '-' || c == '.')) {
			return false
		}
	}
	return id != ""
}

// revision is the document with the signature in it, up to where after begins.
func (f frame) revision(base int64, signature ...string) Revision {
	r := Revision{Base: base, Pieces: slices.Clone(f.before)}
	for _, s := range signature {
		r.Pieces = append(r.Pieces, f.markup(s))
	}
	r.Pieces = append(r.Pieces, f.after...)
	return r
}

func (f frame) markup(ascii string) Piece { return Piece{Bytes: f.encoding.Encode(ascii)} }

// bare is the document with an empty signature in it.
func (f frame) withEmptySignature(base int64) Revision {
	return f.revision(base, startTag("ds:Signature", attributes{"xmlns:ds", xmldsig.Namespace, "Id", f.ids.signature()}))
}
