package dsig

import (
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strings"

	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// selection is what a reference leads to after its transforms. It is comparable, so that what was digested
// once need not be again.
type selection struct {
	apex       xmldoc.Node // zero: the whole document
	comments   bool        // are among the nodes
	own        xmldoc.Node // the signature that is left out; zero: none
	signatures bool        // all signatures are left out
	ofRoot     bool        // the signatures that are children of the root are left out
	base64     bool        // the text of the nodes is decoded
}

// selects follows a reference. The canonicalization is that of its last transform, where it is one.
func (s *Signature) selects(r Reference) (sel selection, c *xmldoc.Canonicalization, err error) {
	if sel.apex, sel.comments, err = s.dereference(r); err != nil {
		return sel, nil, err
	}
	for _, t := range r.Transforms {
		switch t.Kind {
		case EnvelopedSignature:
			sel.own = s.Element
		case WithoutSignatures:
			sel.signatures = true
		case WithoutRootSignatures:
			sel.ofRoot = true
		case Base64:
			sel.base64 = true
		case Canonicalize:
			c = &t.Canonicalization
		default:
			return sel, nil, fmt.Errorf("%w: of no kind", ErrTransform) // nothing that was read has one
		}
	}
	return sel, c, s.check(sel)
}

// check refuses transforms that leave everything out, or that do not do what they are called: a signature
// is enveloped by what it is in (xmldsig-core1 6.6.4).
func (s *Signature) check(sel selection) error {
	top := sel.apex
	if top == (xmldoc.Node{}) {
		top = s.Document.Root()
	}
	if sel.own != (xmldoc.Node{}) && !top.Contains(sel.own) {
		return fmt.Errorf("%w: to an element that does not envelop the signature", ErrReference)
	}
	for n := top; n != (xmldoc.Node{}); n = n.Parent() {
		if sel.leavesOut(n) {
			return fmt.Errorf("%w: to what is left out", ErrReference)
		}
	}
	return nil
}

// leavesOut says whether an element is left out, with all that is in it.
func (sel selection) leavesOut(n xmldoc.Node) bool {
	if n == sel.own {
		return true
	}
	return (sel.signatures || sel.ofRoot && isChildOfRoot(n)) && n.Is(Namespace, "Signature")
}

func isChildOfRoot(n xmldoc.Node) bool {
	parent := n.Parent()
	return parent != (xmldoc.Node{}) && parent.Parent() == (xmldoc.Node{})
}

// subset is the nodes of the selection.
func (sel selection) subset() xmldoc.Subset {
	if sel.own == (xmldoc.Node{}) && !sel.signatures && !sel.ofRoot {
		return xmldoc.Subset{Apex: sel.apex}
	}
	return xmldoc.Subset{Apex: sel.apex, Without: sel.leavesOut}
}

// Covers says what of the document a reference leads to after its transforms: an element or (zero) the
// whole document, and whether an element in it is left out.
func (s *Signature) Covers(r Reference) (xmldoc.Subset, error) {
	sel, _, err := s.selects(r)
	if err != nil {
		return xmldoc.Subset{}, err
	}
	return sel.subset(), nil
}

// KeepsComments reports whether the digest of a reference is over the comments in what it leads to: they are among
// the nodes (xmldsig-core1 4.4.3.3), and its canonicalization writes them.
func (s *Signature) KeepsComments(r Reference) bool {
	sel, c, err := s.selects(r)
	return err == nil && sel.comments && !sel.base64 && c != nil && c.Comments
}

// HasComments reports whether there are comments in what a reference leads to, kept or not. It goes through that
// once, as [Signature.VerifyReference] does, whose bound on the work holds for both.
func (s *Signature) HasComments(r Reference) bool {
	sel, _, err := s.selects(r)
	if err != nil {
		return false
	}
	sel.comments, sel.base64 = false, false
	has, known := s.work.comments[sel]
	if !known {
		has = s.Document.HasComments(sel.subset())
		s.work.comments[sel] = has
	}
	return has
}

// Process writes what a reference leads to after its transforms. Where that is still nodes, they are
// written by c. [ErrReference], [ErrLimit], and [xmldoc.ErrNamespace] where there is no canonical form.
func (s *Signature) Process(w io.Writer, r Reference, c xmldoc.Canonicalization) error {
	sel, own, err := s.selects(r)
	if err != nil {
		return err
	}
	if own != nil {
		c = *own
	}
	return s.write(w, sel, c)
}

// Canonicalize writes a part of the document. [ErrLimit] when that, with what the signatures of the
// [Reader] have had written before, is more than documents of the size have use for; [xmldoc.ErrNamespace].
func (s *Signature) Canonicalize(w io.Writer, c xmldoc.Canonicalization, part xmldoc.Subset) error {
	out, err := s.work.begin(w, part.Apex)
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

// decode writes what the text of a selection is the base64 of (xmldsig-core1 6.6.2), a run of text at a
// time.
func (s *Signature) decode(w io.Writer, sel selection) error {
	out, err := s.work.begin(w, sel.apex)
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

// decoder decodes base64 that comes in pieces with white space in it.
type decoder struct {
	out   io.Writer
	group []byte // of at most decodeAtOnce characters, not decoded yet
	ended bool   // by padding
}

// decodeAtOnce is a multiple of the four characters that make three octets.
const decodeAtOnce = 4096

// text takes the text in an element but for that of elements left out.
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
		for _, c := range piece {
			if strings.IndexByte(space, c) >= 0 {
				continue
			}
			if d.group = append(d.group, c); len(d.group) == decodeAtOnce {
				if err := d.flush(); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (d *decoder) end() error { return d.flush() }

// flush decodes what has come. Padding is only at the very end.
func (d *decoder) flush() error {
	if len(d.group) == 0 {
		return nil
	}
	var octets [decodeAtOnce / 4 * 3]byte
	n, err := base64.StdEncoding.Strict().Decode(octets[:], d.group)
	if err != nil || d.ended {
		return fmt.Errorf("%w: to what is no base64", ErrReference)
	}
	d.ended = d.group[len(d.group)-1] == '='
	d.group = d.group[:0]
	_, err = d.out.Write(octets[:n])
	return err
}
