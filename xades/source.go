package xades

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/innsigli/innsigli/ades"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
	xmldsig "github.com/innsigli/innsigli/internal/xml/dsig"
)

const (
	// maxSize is the length in bytes up to which documents are read. They are in memory while that is
	// so, with a tree of their elements.
	maxSize = 256 << 20
	// readSize is how much of a document is read at a time.
	readSize = 1 << 20
)

// What has to be left of the bounds of a document, so that it is read with what is put into it.
const (
	// growth is the room in bytes that a document has to leave for what signatures get later: validation
	// data and timestamps.
	reservedBytes = 16 << 20
	// growthNodes is the room for their elements and text, and for their attributes.
	reservedNodes = 1 << 16
	// vocabulary is more than the names and namespaces that this package writes.
	reservedNames = 128
)

// source is a document that was read.
type source struct {
	bytes []byte
	doc   *xmldoc.Document
}

// opening is how a document begins.
type opening struct {
	encoding  xmldoc.Encoding
	end       int64 // of the byte order mark and the XML declaration, in bytes
	container bool  // the root may be that of a container
}

// readSource reads a document once, and writes what it reads to base as well, if that is not nil.
func readSource(ctx context.Context, doc Document, base io.Writer) (*source, error) {
	b, err := readBytes(ctx, doc, base)
	if err != nil {
		return nil, err
	}
	return parseSource(b)
}

func readBytes(ctx context.Context, doc Document, base io.Writer) ([]byte, error) {
	if doc.Size < 0 || doc.Size > maxSize {
		return nil, errSize(doc.Size)
	}
	if base == nil {
		base = io.Discard
	}
	b := make([]byte, doc.Size)
	w := contextWriter{ctx, base}
	for at := int64(0); at < doc.Size; at += readSize {
		part := b[at:min(at+readSize, doc.Size)]
		if err := readFull(doc, part, at); err != nil {
			return nil, fmt.Errorf("xades: reading the document at %d: %w", at, err)
		}
		if _, err := w.Write(part); err != nil {
			return nil, err
		}
	}
	return b, ctx.Err()
}

// parseSource reads what is in memory.
func parseSource(b []byte) (*source, error) {
	d, err := xmldoc.Parse(b)
	if err != nil {
		return nil, readError(err)
	}
	return &source{b, d}, nil
}

// maxOpening is the length in bytes up to which an XML declaration is looked for, and the root of a
// container. There is room in it for all that may be said before, and for white space.
const maxOpening = 64 << 10

// readOpening reads how a document begins, without the rest of it. Where that is nothing that can be read,
// neither is the document.
func readOpening(doc Document) (o opening, err error) {
	if doc.Size < 0 || doc.Size > maxSize {
		return o, errSize(doc.Size)
	}
	b := make([]byte, min(doc.Size, maxOpening))
	if err := readFull(doc, b, 0); err != nil {
		return o, fmt.Errorf("xades: reading the document: %w", err)
	}
	if o.encoding, o.end, err = xmldoc.Opening(b); err != nil {
		return o, readError(err)
	}
	o.container = bytes.Contains(b, o.encoding.Encode("<"+containerName))
	return o, nil
}

func (s *source) size() int64 { return int64(len(s.bytes)) }

// nameOf is where the name in an element's start tag stands. It is not of ASCII in general, and copied.
func (s *source) nameOf(n xmldoc.Node, e xmldoc.Encoding) (from, to int64) {
	start, end := n.Span()
	from = start + e.Width()
	for to = from; to < end && !s.delimiterAt(to, e); to += e.Width() {
	}
	return from, to
}

// delimiterAt reports whether a name ends before the character at an offset (XML 1.0, production 44).
func (s *source) delimiterAt(at int64, e xmldoc.Encoding) bool {
	for _, c := range []string{" ", "\t", "\r", "\n", "/", ">"} {
		if bytes.HasPrefix(s.bytes[at:], e.Encode(c)) {
			return true
		}
	}
	return false
}

func checkSize(made Revision) error {
	if made.size() > maxSize-reservedBytes {
		return fmt.Errorf("%w: %w: signed it has more than %d bytes", ades.ErrUnreadable, ErrLimit, maxSize-reservedBytes)
	}
	return nil
}

// checkRoom reports whether a document with so many signatures can take a further one, and evidence after
// that.
func checkSignatureLimits(d *xmldoc.Document, signatures int) error {
	nodes, attributes, names := d.RemainingLimits()
	switch {
	case signatures >= maxSignatures:
		return fmt.Errorf("%w: %w: it has %d signatures", ades.ErrForbidden, ErrLimit, signatures)
	case min(nodes, attributes) < reservedNodes:
		return fmt.Errorf("%w: %w: too many nodes, or attributes, for a signature to be added", ades.ErrUnreadable, ErrLimit)
	case names < 2*reservedNames: // so that there is room for evidence when this has been added
		return fmt.Errorf("%w: %w: too many names for a signature to be added", ades.ErrUnreadable, ErrLimit)
	}
	return nil
}

// checkRoomFor reports whether markup with so many tags can be added to unsigned properties. Each stands for one
// node at most, as an element has two, and text stands between them; and, one with another, for less than one
// attribute. No evidence is deeper in a signature than
// the digest that names its signer.
func checkPropertyLimits(d *xmldoc.Document, tags int) error {
	if nodes, attributes, names := d.RemainingLimits(); min(nodes, attributes) < tags || names < reservedNames {
		return fmt.Errorf("%w: %w: no room for evidence", ades.ErrUnreadable, ErrLimit)
	}
	return nil
}

// checkNames refuses what others cannot parse: nobody could verify the signature.
func checkXMLNames(d *xmldoc.Document) error {
	if !d.CommonNames() {
		return fmt.Errorf("%w: it has a name that XML 1.0 did not have before its fifth edition, or a very long one", ades.ErrUnreadable)
	}
	return nil
}

func errSize(size int64) error {
	return fmt.Errorf("%w: %w: it has %d bytes, and %d are the most", ades.ErrUnreadable, ErrLimit, size, maxSize)
}

// readError turns an error of reading XML into one that callers tell apart.
func readError(err error) error {
	if errors.Is(err, xmldsig.ErrLimit) {
		return fmt.Errorf("%w: %w: %w", ades.ErrUnreadable, ErrLimit, err)
	}
	for _, kind := range []error{xmldoc.ErrMalformed, xmldoc.ErrDoctype, xmldoc.ErrEncoding, xmldoc.ErrLimit, xmldoc.ErrNamespace} {
		if errors.Is(err, kind) {
			return fmt.Errorf("%w: %w", ades.ErrUnreadable, err)
		}
	}
	return err
}

// contextWriter ends the work with its context.
type contextWriter struct {
	context.Context
	io.Writer
}

func (w contextWriter) Write(b []byte) (int, error) {
	if err := w.Err(); err != nil {
		return 0, err
	}
	return w.Writer.Write(b)
}
