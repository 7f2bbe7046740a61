package xades

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/innsigli/innsigli/ades"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
	xmldsig "github.com/innsigli/innsigli/internal/xml/dsig"
)

// MaxSize is the size in bytes of the largest document that is read. It is in memory with a tree of its
// elements.
const MaxSize = 256 << 20

// readSize is the number of bytes that are read at a time.
const readSize = 1 << 20

// What a document has to leave free of its limits, so that the signed and extended document can be
// read.
const (
	// reservedBytes is the number of bytes left for validation data and timestamps that signatures
	// get later.
	reservedBytes = 16 << 20
	// reservedNodes is the number of nodes, and the number of attributes, left for them.
	reservedNodes = 1 << 16
	// reservedNames is more than the number of names and namespaces that this package writes.
	reservedNames = 128
)

// source is a document in memory with its tree.
type source struct {
	bytes []byte
	doc   *xmldoc.Document
}

// opening is how a document begins.
type opening struct {
	encoding  xmldoc.Encoding
	end       int64 // end of the byte order mark and the XML declaration, in bytes
	container bool  // the first maxOpening bytes have a start tag like that of a container
}

// readSource reads a document once and parses it. It also writes the bytes to sink, if sink is not
// nil.
func readSource(ctx context.Context, doc Document, sink io.Writer) (*source, error) {
	b, err := readBytes(ctx, doc)
	if err != nil {
		return nil, err
	}
	if sink == nil {
		return parseSource(b)
	}
	return parseBeside(ctx, b, sink, b)
}

// parseBeside parses a document, and writes parts of its bytes to sink at the same time.
func parseBeside(ctx context.Context, b []byte, sink io.Writer, parts ...[]byte) (*source, error) {
	written := make(chan error)
	go func() {
		w := contextWriter{ctx, sink}
		var err error
		for _, part := range parts {
			for len(part) > 0 && err == nil {
				n := min(len(part), readSize)
				_, err = w.Write(part[:n])
				part = part[n:]
			}
		}
		written <- err
	}()
	src, err := parseSource(b)
	return src, cmp.Or(<-written, err)
}

func readBytes(ctx context.Context, doc Document) ([]byte, error) {
	if doc.Size < 0 || doc.Size > MaxSize {
		return nil, errSize(doc.Size)
	}
	b := make([]byte, doc.Size)
	for at := int64(0); at < doc.Size; at += readSize {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := readFull(doc, b[at:min(at+readSize, doc.Size)], at); err != nil {
			return nil, fmt.Errorf("xades: reading the document at %d: %w", at, err)
		}
	}
	return b, ctx.Err()
}

func parseSource(b []byte) (*source, error) {
	d, err := xmldoc.Parse(b)
	if err != nil {
		return nil, readError(err)
	}
	return &source{b, d}, nil
}

// maxOpening is the number of bytes in which the XML declaration and the root element of a
// container are looked for. The declaration, comments and white space before the root fit in it.
const maxOpening = 64 << 10

// readOpening reads how a document begins, and not the rest of it. If the opening is unreadable,
// the whole document is unreadable.
func readOpening(doc Document) (o opening, err error) {
	if doc.Size < 0 || doc.Size > MaxSize {
		return o, errSize(doc.Size)
	}
	b := make([]byte, min(doc.Size, maxOpening))
	if err := readFull(doc, b, 0); err != nil {
		return o, fmt.Errorf("xades: reading the document: %w", err)
	}
	if o.encoding, o.end, err = xmldoc.ReadEncoding(b); err != nil {
		return o, readError(err)
	}
	o.container = bytes.Contains(b, o.encoding.Encode("<"+containerName))
	return o, nil
}

func (s *source) size() int64 { return int64(len(s.bytes)) }

// nameOf returns where the name in an element's start tag is, in bytes. The name may have
// characters that are not ASCII, so a second tag copies its bytes.
func (s *source) nameOf(n xmldoc.Node, e xmldoc.Encoding) (from, to int64) {
	start, end := n.Span()
	from = start + e.Width()
	for to = from; to < end && !s.delimiterAt(to, e); to += e.Width() {
	}
	return from, to
}

// delimiterAt reports whether the character at an offset ends a name (XML 1.0, production 44).
func (s *source) delimiterAt(at int64, e xmldoc.Encoding) bool {
	for _, c := range []string{" ", "\t", "\r", "\n", "/", ">"} {
		if bytes.HasPrefix(s.bytes[at:], e.Encode(c)) {
			return true
		}
	}
	return false
}

func checkSize(made Revision) error {
	if made.size() > MaxSize-reservedBytes {
		return fmt.Errorf("%w: %w: the signed document would have more than %d bytes", ades.ErrUnreadable, ErrLimit, MaxSize-reservedBytes)
	}
	return nil
}

// checkSignatureLimits reports whether a document with this number of signatures can take another
// one, and later its timestamps and validation data.
func checkSignatureLimits(d *xmldoc.Document, signatures int) error {
	nodes, attributes, names := d.RemainingLimits()
	switch {
	case signatures >= maxSignatures:
		return fmt.Errorf("%w: %w: it has %d signatures", ades.ErrForbidden, ErrLimit, signatures)
	case min(nodes, attributes) < reservedNodes:
		return fmt.Errorf("%w: %w: too many nodes, or attributes, for a signature to be added", ades.ErrUnreadable, ErrLimit)
	case names < 2*reservedNames: // for this signature, and for the properties that are added later
		return fmt.Errorf("%w: %w: too many names for a signature to be added", ades.ErrUnreadable, ErrLimit)
	}
	return nil
}

// checkPropertyLimits reports whether markup with this number of tags can be added to unsigned
// properties. A tag accounts for at most one node, because an element has two tags with its text
// between them, and on average for less than one attribute. The depth needs no check: no unsigned
// property is deeper in a signature than the digest of the signer's certificate.
func checkPropertyLimits(d *xmldoc.Document, tags int) error {
	if nodes, attributes, names := d.RemainingLimits(); min(nodes, attributes) < tags || names < reservedNames {
		return fmt.Errorf("%w: %w: no space for timestamps and validation data", ades.ErrUnreadable, ErrLimit)
	}
	return nil
}

// checkXMLNames refuses names that other XML parsers do not read: their users could not verify the
// signature.
func checkXMLNames(d *xmldoc.Document) error {
	if !d.HasPortableNames() {
		return fmt.Errorf("%w: it has a name that is very long, or that only the fifth edition of XML 1.0 allows", ades.ErrUnreadable)
	}
	return nil
}

func errSize(size int64) error {
	return fmt.Errorf("%w: %w: it has %d bytes, more than %d", ades.ErrUnreadable, ErrLimit, size, MaxSize)
}

// readError adds [ades.ErrUnreadable] to an error of reading XML, so that callers can tell it
// apart.
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

// contextWriter is a writer that fails when its context is done.
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
