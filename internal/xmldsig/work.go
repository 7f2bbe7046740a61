package xmldsig

import (
	"context"
	"crypto"
	"fmt"
	"io"

	"github.com/innsigli/innsigli/internal/xmldoc"
)

// work is what the signatures of a document have cost so far: a thousand references to one element of ten
// megabytes are easily written, and so is a namespace that each of a million elements has to repeat in
// canonical form.
type work struct {
	left int64
	size int64          // of the document
	sums map[key][]byte // of what was digested
}

// A document may be read and written so many times, and a small one for so many bytes: enough for the
// timestamps of ten signers in thirty years, and less than two seconds for ten megabytes.
const (
	maxPasses = 64
	minWork   = 64 << 20
)

func newWork(d *xmldoc.Document) *work {
	_, size := d.Root().Span()
	return &work{left: minWork + maxPasses*size, size: size, sums: make(map[key][]byte)}
}

// begin charges for going through an element (zero: the document), and returns a writer that charges for
// what comes of it. [ErrLimit].
func (k *work) begin(w io.Writer, apex xmldoc.Node) (io.Writer, error) {
	if err := k.pass(apex); err != nil {
		return nil, err
	}
	return &charged{w, k}, nil
}

// pass charges for going through an element, or (zero) the document.
func (k *work) pass(n xmldoc.Node) error {
	if n == (xmldoc.Node{}) {
		return k.charge(k.size)
	}
	start, end := n.Span()
	return k.charge(end - start)
}

func (k *work) charge(n int64) error {
	if k.left -= n; k.left < 0 {
		return fmt.Errorf("%w: more work than the document is worth", ErrLimit)
	}
	return nil
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

// key is what a digest is of.
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

// patient writes until the context ends.
type patient struct {
	ctx context.Context
	w   io.Writer
	n   int // bytes since the context was asked
}

func (p *patient) Write(b []byte) (int, error) {
	if p.n += len(b); p.n >= 1<<16 {
		p.n = 0
		if err := p.ctx.Err(); err != nil {
			return 0, err
		}
	}
	return p.w.Write(b)
}
