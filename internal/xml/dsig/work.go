package dsig

import (
	"context"
	"crypto"
	"fmt"
	"hash"
	"io"

	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// work is what the signatures of a document have cost so far: a thousand references to one element of ten
// megabytes are easily written, and so is a namespace that each of a million elements has to repeat in
// canonical form.
type work struct {
	ctx      context.Context
	left     int64
	size     int64               // of the document
	hashes   map[key]hash.Cloner // that have taken something
	comments map[selection]bool  // whether there are some
}

// What a document may have read and written, in bytes. A small one that for so many passes and some more,
// enough for the timestamps of ten signers in thirty years; a large one no more than takes a second or so, as
// long as that is a few passes: signatures and timestamps of one content share its hash.
const (
	minWork    = 64 << 20
	manyPasses = 64
	maxWork    = 96 << 20
	fewPasses  = 5 // two to read and two to write, with some to spare
)

func newWork(ctx context.Context, d *xmldoc.Document) *work {
	_, size := d.Root().Span()
	k := &work{ctx: ctx, size: size, hashes: make(map[key]hash.Cloner), comments: make(map[selection]bool)}
	k.renew()
	return k
}

func (k *work) renew() {
	k.left = max(min(minWork+manyPasses*k.size, maxWork), fewPasses*k.size)
}

// RenewWork gives all signatures of the [Reader] their bound on the work anew, for who goes on to make something
// of what was verified. What they remember they keep.
func (s *Signature) RenewWork() { s.work.renew() }

// remember keeps the state of a hash.
func (k *work) remember(what key, h hash.Hash) error {
	state, ok := h.(hash.Cloner)
	if !ok {
		return fmt.Errorf("xmldsig: %v cannot be copied", what.hash) // unlike all of the standard library
	}
	state, err := state.Clone()
	k.hashes[what] = state
	return err
}

// begin charges for going through an element (zero: the document), and returns a writer that charges for
// what comes of it. [ErrLimit].
func (k *work) begin(w io.Writer, apex xmldoc.Node) (io.Writer, error) {
	if err := k.pass(apex); err != nil {
		return nil, err
	}
	return &charged{w, k}, nil
}

// pass charges for going through an element, or (zero) the document. Beside what is in the element, canonical
// forms look through what is around it: for namespaces, for attributes, and for xml:base (Canonical XML 1.1
// 2.4).
func (k *work) pass(n xmldoc.Node) error {
	if n == (xmldoc.Node{}) {
		return k.charge(k.size)
	}
	start, end := n.Span()
	return k.charge(end - start + 3*around(n))
}

// around is how many attributes the elements around one have.
func around(n xmldoc.Node) (attributes int64) {
	for n = n.Parent(); n != (xmldoc.Node{}); n = n.Parent() {
		attributes += int64(n.Width())
	}
	return attributes
}

// charge takes something from what is left. [ErrLimit], and the error of the context.
func (k *work) charge(n int64) error {
	if k.left -= n; k.left < 0 {
		return fmt.Errorf("%w: more work than the document is worth", ErrLimit)
	}
	return k.ctx.Err()
}

type charged struct {
	w io.Writer
	*work
}

func (c *charged) Write(b []byte) (int, error) {
	if err := c.charge(int64(len(b))); err != nil {
		return 0, err
	}
	return c.w.Write(b)
}

// key is what a hash has taken.
type key struct {
	selection
	method   xmldoc.Method
	comments bool
	prefixes string
	hash     crypto.Hash
}

// keyOf takes together what is written alike.
func keyOf(sel selection, c xmldoc.Canonicalization, h crypto.Hash) key {
	k := key{selection: sel, method: c.Method, comments: c.Comments, hash: h}
	for _, prefix := range c.Prefixes { // of which one may be empty, and that is not to have none
		k.prefixes += " " + prefix
	}
	return k
}

// contextWriter writes until the context ends.
type contextWriter struct {
	ctx context.Context
	w   io.Writer
	n   int // bytes since the context was asked
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
