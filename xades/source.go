package xades

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

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

// source is a document that was read.
type source struct {
	bytes []byte
	doc   *xmldoc.Document
}

func (s *source) size() int64 { return int64(len(s.bytes)) }

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

func errSize(size int64) error {
	return fmt.Errorf("%w: %w: it has %d bytes, and %d are the most", ades.ErrUnreadable, ErrLimit, size, maxSize)
}

// parseSource reads what is in memory.
func parseSource(b []byte) (*source, error) {
	d, err := xmldoc.Parse(b)
	if err != nil {
		return nil, readError(err)
	}
	return &source{b, d}, nil
}

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

// opening is how a document begins.
type opening struct {
	encoding  xmldoc.Encoding
	end       int64 // of the byte order mark and the XML declaration, in bytes
	container bool  // the root may be that of a container
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

// maxPrefixes bounds the list of prefixes in a reference.
const maxPrefixes = 50

// ofSignatures are prefixes that signatures bind for themselves, and the one that is bound everywhere.
var signaturePrefixes = []string{"xml", "ds", "xades", "xades141", "dsig-filter2", "ec"}

// wholeForm is how a document is canonicalized of which the root is signed: exclusively, but for the prefixes
// that it declares. Values such as that of xsi:type have them too, and whoever bound them to something else there
// would change what is said (Exclusive XML Canonicalization 1.0, 1.3). A part that is signed by its identifier has
// no such list: it would take the declarations around it for its own, and could not be put anywhere else.
func documentCanonicalization(d *xmldoc.Document) xmldoc.Canonicalization {
	prefixes := slices.DeleteFunc(d.Prefixes(), func(p string) bool { return slices.Contains(signaturePrefixes, p) })
	c := exclusive
	c.Prefixes = prefixes[:min(len(prefixes), maxPrefixes)]
	return c
}

// canonicalized is the transform for it.
func canonicalizationTransform(c xmldoc.Canonicalization) string {
	method := xmldsig.CanonicalizationMethod(c)
	if len(c.Prefixes) == 0 {
		return transform(method)
	}
	list := slices.Clone(c.Prefixes)
	if i := slices.Index(list, ""); i >= 0 {
		list[i] = "#default"
	}
	return transform(method, element("ec:InclusiveNamespaces", attributes{"xmlns:ec", method, "PrefixList", strings.Join(list, " ")}))
}
