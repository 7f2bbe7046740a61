package dsig

import (
	"context"
	"crypto"
	"fmt"
	"io"

	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// work bounds and caches the work for the signatures of a document. Without a bound, a small
// document could have a thousand references to an element of ten megabytes, or a namespace that the
// canonical form repeats for each of a million elements.
type work struct {
	ctx      context.Context
	left     int64
	size     int64              // bytes of the document
	tables   int64              // bytes of the tables for each canonicalization
	hashes   map[hashKey][]byte // the states of hashes
	comments map[selection]bool // whether the selection has comments

	valuePrefixes map[hashKey]string    // of Signature.ValuePrefix
	tagLengths    map[xmldoc.Node]int64 // of tags
}

// Bounds of the bytes that are read and written for a document. A small document may be processed
// manyPasses times and a bit more, enough for the timestamps of ten signers in thirty years. A
// large one is bounded to about a second of work, but to no less than fewPasses: signatures and
// timestamps over the same content share its hash.
const (
	minWork    = 64 << 20
	manyPasses = 64
	maxWork    = 96 << 20
	fewPasses  = 5 // two to read and two to write, with some to spare
)

func newWork(ctx context.Context, d *xmldoc.Document) *work {
	_, size := d.Root().Span()
	k := &work{
		ctx: ctx, size: size, tables: d.TableSize(), hashes: make(map[hashKey][]byte),
		comments: make(map[selection]bool), valuePrefixes: make(map[hashKey]string), tagLengths: make(map[xmldoc.Node]int64),
	}
	k.reset()
	return k
}

func (k *work) reset() {
	k.left = max(min(minWork+manyPasses*k.size, maxWork), fewPasses*k.size)
}

// RenewWork resets the bound on the work for all signatures of the [Reader], for a caller that
// extends the signatures after verifying them. Caches are kept.
func (s *Signature) RenewWork() { s.work.reset() }

// chargedWriter charges for reading an element (zero: the document), and returns a writer that
// charges for its output. The error is [ErrLimit], or that of the context.
func (k *work) chargedWriter(w io.Writer, apex xmldoc.Node) (io.Writer, error) {
	if err := k.chargePass(apex); err != nil {
		return nil, err
	}
	return &chargingWriter{w, k}, nil
}

// chargePass charges for reading an element, or (zero) the document.
func (k *work) chargePass(n xmldoc.Node) error {
	if n == (xmldoc.Node{}) {
		return k.charge(k.size)
	}
	start, end := n.Span()
	return k.charge(end - start)
}

// chargeForm charges for what a canonicalization needs beside reading the element: its tables, and
// the start tags of the ancestors, which it reads as often as it searches them. Canonical XML
// searches namespaces and inherited attributes, and 1.1 also xml:base (Canonical XML 1.1 2.4).
// Exclusive searches the namespaces of its PrefixList.
func (k *work) chargeForm(c xmldoc.Canonicalization, apex xmldoc.Node) error {
	searches := int64(0)
	switch {
	case c.Method == xmldoc.C14N10:
		searches = 2
	case c.Method == xmldoc.C14N11:
		searches = 3
	case len(c.Prefixes) > 0:
		searches = 1
	}
	cost := k.tables
	if searches > 0 {
		cost += searches * k.tagsAround(apex)
	}
	return k.charge(cost)
}

// tagsAround returns the length of the start tags of the ancestors of an element.
func (k *work) tagsAround(n xmldoc.Node) int64 { return k.tags(n.Parent()) }

// tagLength returns the length of the start tag of an element.
func (k *work) tagLength(n xmldoc.Node) int64 { return k.tags(n) - k.tagsAround(n) }

// tags returns the length of the start tags of an element and its ancestors. It reads each tag
// once.
func (k *work) tags(n xmldoc.Node) int64 {
	if n == (xmldoc.Node{}) {
		return 0
	}
	length, known := k.tagLengths[n]
	if !known {
		length = n.TagLength() + k.tags(n.Parent())
		k.tagLengths[n] = length
	}
	return length
}

// charge subtracts n from the remaining work. The error is [ErrLimit], or that of the context.
func (k *work) charge(n int64) error {
	if k.left -= n; k.left < 0 {
		return fmt.Errorf("%w: more work than documents of this size may take", ErrLimit)
	}
	return k.ctx.Err()
}

type chargingWriter struct {
	w io.Writer
	*work
}

func (c *chargingWriter) Write(b []byte) (int, error) {
	if err := c.charge(int64(len(b))); err != nil {
		return 0, err
	}
	return c.w.Write(b)
}

// hashKey identifies the data that a hash has read.
type hashKey struct {
	selection
	method   xmldoc.Method
	comments bool
	prefixes string
	hash     crypto.Hash
}

// hashKeyOf returns the key of a selection in canonical form. Selections with equal keys have the
// same canonical form.
func hashKeyOf(sel selection, c xmldoc.Canonicalization, h crypto.Hash) hashKey {
	k := hashKey{selection: sel, method: c.Method, comments: c.Comments, hash: h}
	for _, prefix := range c.Prefixes { // an empty prefix differs from no prefix
		k.prefixes += " " + prefix
	}
	return k
}

// contextWriter writes until the context ends.
type contextWriter struct {
	ctx context.Context
	w   io.Writer
	n   int // bytes since the context was last checked
}

func (p *contextWriter) Write(b []byte) (int, error) {
	if p.n += len(b); p.n >= 1<<16 {
		p.n = 0
		if err := p.ctx.Err(); err != nil {
			return 0, err
		}
	}
	return p.w.Write(b)
}
