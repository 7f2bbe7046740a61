package xades

import (
	"cmp"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"

	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
	xmldsig "github.com/innsigli/innsigli/internal/xml/dsig"
)

// Revision makes the next document from a document: it lists the pieces of the next document in
// their order. It is small for a document of any length, and can be stored.
type Revision struct {
	Base   int64   `json:"base"`   // length of the document that the revision was made for
	Pieces []Piece `json:"pieces"` // of the next document
}

// Piece is a part of the next document: Bytes, or otherwise the bytes From to To of the document
// before.
type Piece struct {
	Bytes  []byte `json:"bytes,omitempty"`
	From   int64  `json:"from,omitempty"`
	To     int64  `json:"to,omitempty"`
	Base64 bool   `json:"base64,omitempty"` // encodes the bytes (RFC 4648 section 4), without line breaks
}

// revisedDocument reads pieces as one document.
type revisedDocument struct {
	base     io.ReaderAt
	pieces   []Piece
	ends     []int64 // the offset at which each piece ends
	mismatch error   // the revision was made for a document of another length
}

// splicing inserts unsigned properties into the signatures of a document.
type splicing struct {
	*source
	encoding xmldoc.Encoding
	splices  []splice
}

// splice replaces the bytes from to to of the document by pieces.
type splice struct {
	from, to int64
	pieces   []Piece
}

// With returns the document that a revision makes from d. It copies nothing: the result reads from
// d and from the revision. Reading fails if the revision was made for a document of another length.
// The caller has to make sure that the content is the same too: see [Pending.Base].
func (d Document) With(r Revision) Document {
	next := revisedDocument{base: d, pieces: r.Pieces, ends: make([]int64, len(r.Pieces))}
	if r.Base != d.Size {
		next.mismatch = fmt.Errorf("xades: a revision of a document of %d bytes, for one of %d", r.Base, d.Size)
	}
	var size int64
	for i, p := range r.Pieces {
		size += p.size()
		next.ends[i] = size
	}
	return Document{ReaderAt: next, Size: size}
}

// ReadAt implements [io.ReaderAt].
func (d revisedDocument) ReadAt(b []byte, at int64) (int, error) {
	switch {
	case at < 0:
		return 0, errors.New("xades: reading before the start of a document")
	case d.mismatch != nil:
		return 0, d.mismatch
	}
	n := 0
	start := int64(0)
	for i, end := range d.ends {
		if from := at + int64(n) - start; n < len(b) && start+from < end {
			part := b[n:min(int64(len(b)), int64(n)+end-start-from)]
			if err := d.pieces[i].readAt(d.base, part, from); err != nil {
				return n, err
			}
			n += len(part)
		}
		start = end
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// size returns the length of the next document.
func (r Revision) size() (n int64) {
	for _, p := range r.Pieces {
		n += p.size()
	}
	return n
}

// join returns one revision with the effect of r followed by next.
func (r Revision) join(next Revision) (Revision, error) {
	if next.Base != r.size() {
		return r, fmt.Errorf("xades: joining a revision of %d bytes with one of a document of %d", r.size(), next.Base)
	}
	joined := Revision{Base: r.Base}
	for _, p := range next.Pieces {
		if p.Bytes != nil {
			joined.Pieces = append(joined.Pieces, p)
			continue
		}
		at := int64(0)
		for _, own := range r.Pieces {
			size := own.size()
			from, to := max(p.From-at, 0), min(p.To-at, size)
			at += size
			if from >= to {
				continue
			}
			part, ok := own.cut(from, to)
			if !ok || p.Base64 {
				return r, errors.New("xades: joining revisions across Base64")
			}
			joined.Pieces = append(joined.Pieces, part)
		}
	}
	return joined, nil
}

// size returns the length of the piece in the next document.
func (p Piece) size() int64 {
	n := p.To - p.From
	switch {
	case p.Bytes != nil:
		return int64(len(p.Bytes))
	case n <= 0:
		return 0
	case p.Base64:
		return (n + 2) / 3 * 4
	}
	return n
}

// cut returns the part of a piece between two offsets in it. A part of a Base64 piece is never
// needed: such a piece is the signed document, and no later revision changes a part of that.
func (p Piece) cut(from, to int64) (Piece, bool) {
	switch {
	case from == 0 && to == p.size():
		return p, true
	case p.Bytes != nil:
		return Piece{Bytes: p.Bytes[from:to]}, true
	}
	return Piece{From: p.From + from, To: p.From + to}, !p.Base64
}

// readAt fills b with the bytes of the piece from offset at on. All of them are within its size.
func (p Piece) readAt(doc io.ReaderAt, b []byte, at int64) error {
	switch {
	case p.Bytes != nil:
		copy(b, p.Bytes[at:])
		return nil
	case p.Base64:
		return p.readEncoded(doc, b, at)
	}
	return readFull(doc, b, p.From+at)
}

// encodedAtOnce is the number of bytes that are encoded at a time: a multiple of three.
const encodedAtOnce = 3 << 10

// readEncoded fills b with the Base64 of the document's bytes, from offset at in the encoding on.
func (p Piece) readEncoded(doc io.ReaderAt, b []byte, at int64) error {
	if at%4 > 0 || len(b) < 4 {
		var group [4]byte // around at
		if err := p.encode(doc, group[:], at/4*3); err != nil {
			return err
		}
		n := copy(b, group[at%4:])
		b, at = b[n:], at+int64(n)
	}
	whole := b[:len(b)/4*4]
	if len(whole) > 0 {
		if err := p.encode(doc, whole, at/4*3); err != nil {
			return err
		}
	}
	if b = b[len(whole):]; len(b) > 0 {
		return p.readEncoded(doc, b, at+int64(len(whole)))
	}
	return nil
}

// encode fills b, groups of four characters, with the Base64 of the piece's bytes from offset from on.
// It reads these into the end of b, and encodes some at a time, which are always before those that are
// not encoded yet.
func (p Piece) encode(doc io.ReaderAt, b []byte, from int64) error {
	raw := b[len(b)-int(min(int64(len(b)/4*3), p.To-p.From-from)):]
	if err := readFull(doc, raw, p.From+from); err != nil {
		return err
	}
	var some [encodedAtOnce]byte
	for len(raw) > 0 {
		n := copy(some[:], raw)
		raw = raw[n:]
		base64.StdEncoding.Encode(b, some[:n])
		b = b[base64.StdEncoding.EncodedLen(n):]
	}
	return nil
}

// readFull fills b. It returns [io.ErrUnexpectedEOF] if the document ends before.
func readFull(r io.ReaderAt, b []byte, at int64) error {
	n, err := r.ReadAt(b, at)
	switch {
	case n == len(b):
		return nil
	case err == nil || err == io.EOF:
		return io.ErrUnexpectedEOF
	}
	return err
}

// add inserts properties after the unsigned properties of a signature (EN 319 132-1 4.3.5 to
// 4.3.7). It also inserts the elements around them if the signature lacks them.
func (x *splicing) add(s *signature, properties string) {
	if s.unsigned != none {
		x.insert(s.unsigned, properties, false)
		return
	}
	prefix := declarations(s.unsignedParent(), "xades")
	properties = element("xades:UnsignedSignatureProperties", prefix, properties)
	if unsigned := elementAt(s.qualifying, "UnsignedProperties"); unsigned != none {
		x.insert(unsigned, properties, true) // before UnsignedDataObjectProperties
		return
	}
	x.insert(s.qualifying, element("xades:UnsignedProperties", prefix, properties), false)
}

// insert adds markup to an element, as its first or its last content. An empty-element tag becomes
// a start tag and an end tag.
func (x *splicing) insert(n xmldoc.Node, markup string, first bool) {
	start, end, ok := n.ContentRange()
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

// revision returns the revision with everything that was added.
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

// declarations returns the namespace declarations for prefixes that place does not already bind to
// the namespaces of this package. A document from elsewhere may bind them to other namespaces.
func declarations(place xmldoc.Node, prefixes ...string) attributes {
	var all attributes
	for _, prefix := range prefixes {
		if uri, _ := place.Namespace(prefix); uri != namespaceOf(prefix) {
			all = append(all, "xmlns:"+prefix, namespaceOf(prefix))
		}
	}
	return all
}

// namespaceOf returns the namespace of a prefix in the markup of this package.
func namespaceOf(prefix string) string {
	switch prefix {
	case "xades":
		return ns132
	case "xades141":
		return ns141
	}
	return xmldsig.Namespace
}
