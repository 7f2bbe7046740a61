package xades

import (
	"cmp"
	"slices"

	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
	xmldsig "github.com/innsigli/innsigli/internal/xml/dsig"
)

// none is the node that there is not.
var none xmldoc.Node

// splicing puts unsigned properties into the signatures of a document.
type splicing struct {
	*source
	encoding xmldoc.Encoding
	splices  []splice
}

// splice replaces the bytes from From to To by pieces.
type splice struct {
	from, to int64
	pieces   []Piece
}

// add puts properties behind those that a signature has (EN 319 132-1 4.3.5 to 4.3.7). The elements around
// them are added where there are none.
func (x *splicing) add(s *signature, properties string) {
	if s.unsigned != none {
		x.into(s.unsigned, properties, false)
		return
	}
	prefix := declarations(s.growing(), "xades")
	properties = element("xades:UnsignedSignatureProperties", prefix, properties)
	if unsigned := at(s.qualifying, "UnsignedProperties"); unsigned != none {
		x.into(unsigned, properties, true) // before UnsignedDataObjectProperties
		return
	}
	x.into(s.qualifying, element("xades:UnsignedProperties", prefix, properties), false)
}

// into puts markup into an element, as its first content or its last. An empty-element tag becomes two tags.
func (x *splicing) into(n xmldoc.Node, markup string, first bool) {
	start, end, ok := n.Inside()
	text := Piece{Bytes: x.encoding.Encode(markup)}
	switch {
	case !ok:
		from, to := x.nameOf(n, x.encoding)
		_, after := n.Span()
		x.splices = append(x.splices, splice{start, after, []Piece{
			{Bytes: x.encoding.Encode(">")}, text, {Bytes: x.encoding.Encode("</")},
			{From: from, To: to}, {Bytes: x.encoding.Encode(">")},
		}})
	case first:
		x.splices = append(x.splices, splice{start, start, []Piece{text}})
	default:
		x.splices = append(x.splices, splice{end, end, []Piece{text}})
	}
}

// revision is the document with all that was added.
func (x *splicing) revision() Revision {
	slices.SortFunc(x.splices, func(a, b splice) int { return cmp.Compare(a.from, b.from) })
	r, at := Revision{Base: x.size()}, int64(0)
	for _, s := range x.splices {
		r.Pieces = append(append(r.Pieces, Piece{From: at, To: s.from}), s.pieces...)
		at = s.to
	}
	r.Pieces = append(r.Pieces, Piece{From: at, To: x.size()})
	return r
}

// declarations are the attributes that bind prefixes at a place in a document where they are not bound so
// already: in a foreign document they may be bound to something else.
func declarations(place xmldoc.Node, prefixes ...string) attributes {
	var all attributes
	for _, prefix := range prefixes {
		if uri, _ := place.Namespace(prefix); uri != namespaceOf(prefix) {
			all = append(all, "xmlns:"+prefix, namespaceOf(prefix))
		}
	}
	return all
}

// namespaceOf is what a prefix stands for in the markup of this package.
func namespaceOf(prefix string) string {
	switch prefix {
	case "xades":
		return ns132
	case "xades141":
		return ns141
	}
	return xmldsig.Namespace
}
