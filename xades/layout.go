package xades

import (
	"crypto/rand"
	"fmt"
	"io"

	"github.com/innsigli/innsigli/ades"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
	xmldsig "github.com/innsigli/innsigli/internal/xml/dsig"
)

// layout is where a signature comes to stand, and what it refers to.
type layout struct {
	frame
	reference reference
	data      func(w io.Writer) error // writes what the reference leads to; nil when that is still to be made
}

func newLayout(e xmldoc.Encoding) layout {
	return layout{frame: frame{ids: ids(rand.Text()), encoding: e}}
}

// layOut finds the place of a signature in a document, or around its file.
func layOut(src *source, o Options) (layout, error) {
	l := newLayout(src.doc.Encoding())
	switch o.Packing {
	case Enveloping:
		l.envelopFile(src)
		return l, nil
	case InternallyDetached:
		return l, l.join(src)
	}
	return l, l.beEnveloped(src)
}

// transforms of references; all end in octets.
const (
	filter2         = "http://www.w3.org/2002/06/xmldsig-filter2"
	base64Transform = xmldsig.Namespace + "base64"
	objectType      = xmldsig.Namespace + "Object"
)

// beEnveloped puts the signature behind all that is in the root. Its reference leaves all signatures
// out, not only this one, so that parallel signatures do not break one another (xmldsig-filter2).
func (l *layout) beEnveloped(src *source) error {
	root := src.doc.Root()
	if isSignature(root) {
		return fmt.Errorf("%w: it is a signature, and has no room for one that is enveloped", ades.ErrForbidden)
	}
	l.intoRoot(src)
	form := wholeForm(src.doc)
	l.reference.transforms = []string{
		transform(filter2, element("dsig-filter2:XPath", attributes{"xmlns:dsig-filter2", filter2, "Filter", "subtract"}, "/descendant::ds:Signature")),
		canonicalized(form),
	}
	l.data = func(w io.Writer) error {
		return src.doc.Canonicalize(w, form, xmldoc.Subset{Without: isSignature})
	}
	return nil
}

// intoRoot puts the signature before the end tag of the root. An empty-element tag becomes two tags.
func (l *layout) intoRoot(src *source) {
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
func (l *layout) envelop(opening, size int64) {
	l.before = []Piece{{To: opening}}
	l.after = []Piece{
		l.markup(startTag("ds:Object", attributes{"Id", l.ids.document()})),
		{From: opening, To: size},
		l.markup("</ds:Object>" + endTag),
	}
	l.reference = reference{uri: "#" + l.ids.document(), kind: objectType, transforms: []string{canonicalized(exclusive)}}
}

// envelopFile puts the file as it is into an object of the signature, in Base64.
func (l *layout) envelopFile(src *source) {
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
	l.data = func(w io.Writer) error {
		_, err := w.Write(src.bytes)
		return err
	}
}
