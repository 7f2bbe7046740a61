package dsig

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"

	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// selection is the data to which a reference leads after its transforms. It is comparable, so
// digests can be cached by it.
type selection struct {
	apex               xmldoc.Node // zero: the whole document
	comments           bool        // comments are among the nodes
	envelopedSignature xmldoc.Node // left out by the enveloped-signature transform; zero: none
	allSignatures      bool        // all signatures are left out
	rootSignatures     bool        // the signatures that are children of the root are left out
	base64             bool        // the text of the nodes is decoded
}

// selectNodes resolves a reference and its transforms. c is the canonicalization of the last
// transform, or nil if that is another transform.
func (s *Signature) selectNodes(r Reference) (sel selection, c *xmldoc.Canonicalization, err error) {
	if sel.apex, sel.comments, err = s.dereference(r); err != nil {
		return sel, nil, err
	}
	for _, t := range r.Transforms {
		switch t.Kind {
		case EnvelopedSignature:
			sel.envelopedSignature = s.Element
		case WithoutSignatures:
			sel.allSignatures = true
		case WithoutRootSignatures:
			sel.rootSignatures = true
		case Base64:
			sel.base64 = true
		case Canonicalize:
			c = &t.Canonicalization
		default:
			return sel, nil, fmt.Errorf("%w: unknown kind", ErrTransform) // does not happen with transforms that were read
		}
	}
	return sel, c, s.check(sel)
}

// check refuses a selection of which everything is left out, and an enveloped-signature transform
// on data that does not contain the signature (xmldsig-core1 6.6.4).
func (s *Signature) check(sel selection) error {
	top := sel.apex
	if top == (xmldoc.Node{}) {
		top = s.Document.Root()
	}
	if sel.envelopedSignature != (xmldoc.Node{}) && !top.Contains(sel.envelopedSignature) {
		return fmt.Errorf("%w: the element does not contain the signature", ErrReference)
	}
	for n := top; n != (xmldoc.Node{}); n = n.Parent() {
		if sel.excludes(n) {
			return fmt.Errorf("%w: the element is not in the selected node-set", ErrReference)
		}
	}
	return nil
}

// excludes reports whether an element is left out, with its content.
func (sel selection) excludes(n xmldoc.Node) bool {
	if n == sel.envelopedSignature {
		return true
	}
	return (sel.allSignatures || sel.rootSignatures && isChildOfRoot(n)) && n.Is(Namespace, "Signature")
}

func isChildOfRoot(n xmldoc.Node) bool {
	parent := n.Parent()
	return parent != (xmldoc.Node{}) && parent.Parent() == (xmldoc.Node{})
}

// subset is the nodes of the selection.
func (sel selection) subset() xmldoc.Subset {
	if sel.envelopedSignature == (xmldoc.Node{}) && !sel.allSignatures && !sel.rootSignatures {
		return xmldoc.Subset{Apex: sel.apex}
	}
	return xmldoc.Subset{Apex: sel.apex, Without: sel.excludes, Named: signatureName}
}

// Covers returns the part of the document to which a reference leads after its transforms: an
// element or (zero) the whole document, and which elements in it are left out.
func (s *Signature) Covers(r Reference) (xmldoc.Subset, error) {
	sel, _, err := s.selectNodes(r)
	if err != nil {
		return xmldoc.Subset{}, err
	}
	return sel.subset(), nil
}

// KeepsComments reports whether the digest of a reference covers comments: they are among the
// selected nodes (xmldsig-core1 4.4.3.3), and the canonicalization writes them.
func (s *Signature) KeepsComments(r Reference) bool {
	sel, c, err := s.selectNodes(r)
	return err == nil && sel.comments && !sel.base64 && c != nil && c.Comments
}

// HasComments reports whether there are comments in the data to which a reference leads, whether or
// not the digest covers them. It reads the data once, as [Signature.VerifyReference] does, whose
// bound on the work holds for both.
func (s *Signature) HasComments(r Reference) bool {
	sel, _, err := s.selectNodes(r)
	if err != nil {
		return false
	}
	sel.comments, sel.base64 = false, false
	has, cached := s.work.comments[sel]
	if !cached {
		has = s.Document.HasComments(sel.subset())
		s.work.comments[sel] = has
	}
	return has
}

// ValuePrefix returns a prefix in a value of the data to which a reference leads, to whose namespace
// the digest does not extend: it can be declared for another one. It is "" if there is none. Like
// [Signature.HasComments], it reads the data once.
func (s *Signature) ValuePrefix(r Reference) string {
	sel, c, err := s.selectNodes(r)
	if err != nil || sel.base64 || c == nil || c.Method != xmldoc.Exclusive {
		return ""
	}
	what := hashKeyOf(sel, *c, 0)
	prefix, cached := s.work.valuePrefixes[what]
	if !cached {
		prefix, _ = s.Document.ValuePrefix(sel.subset(), c.Prefixes)
		s.work.valuePrefixes[what] = prefix
	}
	return prefix
}

// Process writes the data to which a reference leads after its transforms. If the last transform
// returns nodes, c canonicalizes them. Errors are [ErrReference], [ErrTransform], [ErrLimit], and
// [xmldoc.ErrNamespace] if there is no canonical form.
func (s *Signature) Process(w io.Writer, r Reference, c xmldoc.Canonicalization) error {
	sel, own, err := s.selectNodes(r)
	if err != nil {
		return err
	}
	if own != nil {
		c = *own
	}
	return s.write(w, sel, c)
}

// Canonicalize writes the canonical form of a part of the document. The error is [ErrLimit] when
// that exceeds the bound on the work for all signatures of the [Reader], or [xmldoc.ErrNamespace].
func (s *Signature) Canonicalize(w io.Writer, c xmldoc.Canonicalization, part xmldoc.Subset) error {
	if err := s.work.chargeForm(c, part.Apex); err != nil {
		return err
	}
	out, err := s.work.chargedWriter(w, part.Apex)
	if err != nil {
		return err
	}
	err = s.Document.Canonicalize(out, c, part)
	if errors.Is(err, xmldoc.ErrLimit) {
		return fmt.Errorf("%w: %w", ErrLimit, err)
	}
	return err
}

func (s *Signature) write(w io.Writer, sel selection, c xmldoc.Canonicalization) error {
	if sel.base64 {
		return s.decode(w, sel)
	}
	c.Comments = c.Comments && sel.comments
	return s.Canonicalize(w, c, sel.subset())
}

// decode writes the text of a selection, decoded from base64 (xmldsig-core1 6.6.2), in pieces.
func (s *Signature) decode(w io.Writer, sel selection) error {
	out, err := s.work.chargedWriter(w, sel.apex)
	if err != nil {
		return err
	}
	apex := sel.apex
	if apex == (xmldoc.Node{}) {
		apex = s.Document.Root()
	}
	d := &decoder{out: out}
	if err := d.text(apex, sel.subset().Without); err != nil {
		return err
	}
	return d.end()
}

// decoder decodes base64 that comes in pieces and contains white space.
type decoder struct {
	out    io.Writer
	group  []byte // at most decodeAtOnce characters to decode
	octets [decodeAtOnce / 4 * 3]byte
	ended  bool // there was padding
}

// decodeAtOnce is a multiple of the four characters that make three octets.
const decodeAtOnce = 4096

// text decodes the text in an element, without that in excluded elements.
func (d *decoder) text(in xmldoc.Node, without func(xmldoc.Node) bool) error {
	for n := range in.Children() {
		var err error
		switch {
		case n.Kind() == xmldoc.Text:
			err = d.characters(n)
		case n.Kind() == xmldoc.Element && (without == nil || !without(n)):
			err = d.text(n, without)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (d *decoder) characters(run xmldoc.Node) error {
	for piece := range run.Pieces() {
		for len(piece) > 0 {
			n := 0 // how many of the next characters are taken
			for n < len(piece) && n < decodeAtOnce-len(d.group) && !isSpace(piece[n]) {
				n++
			}
			d.group = append(d.group, piece[:n]...)
			if n < len(piece) && isSpace(piece[n]) {
				n++
			}
			piece = piece[n:]
			if len(d.group) == decodeAtOnce {
				if err := d.flush(); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\r' || c == '\n' }

func (d *decoder) end() error { return d.flush() }

// flush decodes the pending characters. Padding may occur only at the very end.
func (d *decoder) flush() error {
	if len(d.group) == 0 {
		return nil
	}
	n, err := base64.StdEncoding.Strict().Decode(d.octets[:], d.group)
	if err != nil || d.ended {
		return fmt.Errorf("%w: the element's text is not base64", ErrReference)
	}
	d.ended = d.group[len(d.group)-1] == '='
	d.group = d.group[:0]
	_, err = d.out.Write(d.octets[:n])
	return err
}
