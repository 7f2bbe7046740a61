package xades

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
)

// Revision is how a document becomes the next one: the pieces in their order. It is small however long
// the document is, and can be stored.
type Revision struct {
	Base   int64   `json:"base"`   // length of the document that it was made for
	Pieces []Piece `json:"pieces"` // of the next one
}

// Piece is a part of a document: Bytes, or else the bytes from From to To of the document before.
type Piece struct {
	Bytes  []byte `json:"bytes,omitempty"`
	From   int64  `json:"from,omitempty"`
	To     int64  `json:"to,omitempty"`
	Base64 bool   `json:"base64,omitempty"` // those of the document are encoded (RFC 4648 section 4), without line breaks
}

// size is how long the piece is in the next document.
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

// size is how long the next document is.
func (r Revision) size() (n int64) {
	for _, p := range r.Pieces {
		n += p.size()
	}
	return n
}

// join returns the revision that makes of a document what the next one makes of the document that this one makes.
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

// cut returns the part of a piece between two offsets of it. Base64 is not cut, and need not be: it is the signed
// document, of which no later revision changes a part.
func (p Piece) cut(from, to int64) (Piece, bool) {
	switch {
	case from == 0 && to == p.size():
		return p, true
	case p.Bytes != nil:
		return Piece{Bytes: p.Bytes[from:to]}, true
	}
	return Piece{From: p.From + from, To: p.From + to}, !p.Base64
}

// readAt fills b from an offset of the piece, within its size.
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

// encodedAtOnce is how much of a document is encoded at a time: whole groups of three bytes.
const encodedAtOnce = 6 << 10

// readEncoded fills b from the Base64 of the document's bytes.
func (p Piece) readEncoded(doc io.ReaderAt, b []byte, at int64) error {
	group := at / 4
	skip := int(at % 4)
	raw := make([]byte, min(encodedAtOnce, (int64(len(b))+3)/4*3+3))
	var text [encodedAtOnce / 3 * 4]byte
	for from := p.From + group*3; len(b) > 0; from += int64(len(raw)) {
		part := raw[:min(int64(len(raw)), p.To-from)]
		if err := readFull(doc, part, from); err != nil {
			return err
		}
		base64.StdEncoding.Encode(text[:], part)
		n := copy(b, text[skip:base64.StdEncoding.EncodedLen(len(part))])
		b, skip = b[n:], 0
	}
	return nil
}

// With returns the document that a revision makes, without a copy of it: it reads from both. Reading
// fails when the revision was made for a document of another length. That the content is the same as well is
// for the caller to know: see [Pending.Base].
func (d Document) With(r Revision) Document {
	next := pieced{base: d, pieces: r.Pieces, ends: make([]int64, len(r.Pieces))}
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

// pieced reads pieces as one document. ends are where each of them ends in it.
type pieced struct {
	base     io.ReaderAt
	pieces   []Piece
	ends     []int64
	mismatch error
}

// ReadAt implements [io.ReaderAt].
func (d pieced) ReadAt(b []byte, at int64) (int, error) {
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

// readFull reads all of b; a document that ends before is an error.
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
