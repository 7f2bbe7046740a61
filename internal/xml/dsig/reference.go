package dsig

import (
	"errors"
	"fmt"
	"strings"

	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// readReferences reads the references of a SignedInfo or a Manifest, of which there is at least
// one.
func (s *namespaces) readReferences(elements []xmldoc.Node) (all []Reference, err error) {
	if len(elements) == 0 {
		return nil, fmt.Errorf("%w: no Reference", ErrFormat)
	}
	for _, n := range elements {
		r, err := s.readReference(n)
		if err != nil {
			return nil, err
		}
		all = append(all, r)
	}
	return all, nil
}

// readReference reads a ds:Reference (xmldsig-core1 4.4.3). An unsupported transform does not make
// the signature malformed: it is reported when the referenced data is needed.
func (s *namespaces) readReference(n xmldoc.Node) (Reference, error) {
	r := Reference{Element: n}
	r.ID, _ = n.Attr("", "Id")
	r.Type, _ = n.Attr("", "Type")
	r.URI, r.HasURI = n.Attr("", "URI")
	in := sequenceOf(n)
	transforms := in.optional(Namespace, "Transforms")
	method, value := in.required("DigestMethod"), in.required("DigestValue")
	err := in.end()
	if err != nil {
		return r, err
	}
	if err := sequenceOf(method).end(); err != nil {
		return r, err
	}
	uri, _ := method.Attr("", "Algorithm")
	r.Hash = Hash(uri)
	if r.Digest, err = binaryOf(value); err != nil {
		return r, err
	}
	if r.Transforms, err = s.readTransforms(transforms); errors.Is(err, ErrTransform) {
		r.fault, err = err, nil
	}
	return r, err
}

// readTransforms reads a ds:Transforms. Transforms from nodes to octets have to come last, because
// octets are not parsed again.
func (s *namespaces) readTransforms(n xmldoc.Node) (all []Transform, err error) {
	if n == (xmldoc.Node{}) {
		return nil, nil
	}
	in := sequenceOf(n)
	elements := in.repeated("Transform", maxTransforms)
	if err := in.end(); err != nil {
		return nil, err
	}
	if len(elements) == 0 {
		return nil, fmt.Errorf("%w: no Transform in Transforms", ErrFormat)
	}
	for i, element := range elements {
		t, err := s.readTransform(element)
		if err != nil {
			return nil, err
		}
		if t.Kind >= Base64 && i < len(elements)-1 {
			return nil, fmt.Errorf("%w: a transform after one that returns octets", ErrTransform)
		}
		all = append(all, t)
	}
	return all, nil
}

// Transforms other than canonicalizations (xmldsig-core1 6.6, XPath Filter 2.0).
const (
	transformEnveloped = Namespace + "enveloped-signature"
	transformBase64    = Namespace + "base64"
	transformXPath     = "http://www.w3.org/TR/1999/REC-xpath-19991116"
	transformFilter2   = "http://www.w3.org/2002/06/xmldsig-filter2"
)

func (s *namespaces) readTransform(n xmldoc.Node) (Transform, error) {
	switch uri, _ := n.Attr("", "Algorithm"); uri {
	case transformEnveloped:
		return Transform{Kind: EnvelopedSignature}, sequenceOf(n).end()
	case transformBase64:
		return Transform{Kind: Base64}, sequenceOf(n).end()
	case transformXPath:
		return s.readXPath(n)
	case transformFilter2:
		return s.readFilter2(n)
	}
	c, err := ReadCanonicalization(n)
	return Transform{Kind: Canonicalize, Canonicalization: c}, err
}

// Manifest returns the references of the Manifest to which r leads (xmldsig-core1 5.1). The
// Manifest has to be in an Object of the same signature. Errors are [ErrReference], [ErrLimit], and
// those of [Reader.Read] about references.
func (s *Signature) Manifest(r Reference) ([]Reference, error) {
	list, err := s.Target(r)
	if err != nil {
		return nil, err
	}
	object := list.Parent()
	if !list.Is(Namespace, "Manifest") || !object.Is(Namespace, "Object") || object.Parent() != s.Element {
		return nil, fmt.Errorf("%w: no Manifest of the signature", ErrReference)
	}
	if err := s.work.chargePass(list); err != nil { // up to maxReferences references may lead to it
		return nil, err
	}
	in := sequenceOf(list)
	elements := in.repeated("Reference", maxReferences)
	if err := in.end(); err != nil {
		return nil, err
	}
	return s.namespaces.readReferences(elements)
}

// namespaces caches the namespaces of prefixes in the references of a document. Each element is
// searched once for a prefix, and the search is charged: a signature may be inside hundreds of
// elements with tags of megabytes, and each of its transforms may have an expression with a prefix.
type namespaces struct {
	*work
	cached map[binding]string
}

type binding struct {
	element xmldoc.Node
	prefix  string
}

// of returns the namespace to which a prefix is bound at an element, or "" if it is unbound. The
// error is [ErrLimit] or that of the context.
func (s *namespaces) of(n xmldoc.Node, prefix string) (uri string, err error) {
	at := binding{n, prefix}
	uri, cached := s.cached[at]
	if cached || n == (xmldoc.Node{}) {
		return uri, nil
	}
	if err := s.charge(s.tagLength(n)); err != nil {
		return "", err
	}
	uri, declared := n.Declares(prefix)
	if !declared {
		if uri, err = s.of(n.Parent(), prefix); err != nil {
			return "", err
		}
	}
	s.cached[at] = uri
	return uri, nil
}

// The supported XPath expressions. The space stands for a prefix of XML Signature. Expressions are
// only compared and never evaluated, so it is known which nodes they can leave out.
var (
	// XPath expressions (xmldsig-core1 6.6.3), which select the remaining nodes.
	expressions = map[string]TransformKind{"not(ancestor-or-self:: :Signature)": WithoutSignatures}
	// XPath Filter 2.0 expressions, which select the subtracted nodes. EU DSS has written the first
	// and the last; the second is the short form of the first.
	filters = map[string]TransformKind{
		"/descendant:: :Signature": WithoutSignatures,
		"// :Signature":            WithoutSignatures,
		"/*/ :Signature":           WithoutRootSignatures,
	}
)

func (s *namespaces) readXPath(transform xmldoc.Node) (Transform, error) {
	in := sequenceOf(transform)
	expression := in.required("XPath")
	if err := in.end(); err != nil {
		return Transform{}, err
	}
	return s.readExpression(expression, expressions)
}

// readFilter2 reads a transform with a single filter. Several filters would be combined, which the
// package does not support.
func (s *namespaces) readFilter2(transform xmldoc.Node) (Transform, error) {
	in := sequenceOf(transform)
	expression := in.optional(transformFilter2, "XPath")
	if err := in.end(); err != nil {
		return Transform{}, err
	}
	if expression == (xmldoc.Node{}) {
		return Transform{}, fmt.Errorf("%w: no XPath in a Filter 2.0 transform", ErrFormat)
	}
	if filter, _ := expression.Attr("", "Filter"); filter != "subtract" {
		return Transform{}, fmt.Errorf("%w: a Filter 2.0 transform that does not subtract", ErrTransform)
	}
	return s.readExpression(expression, filters)
}

func (s *namespaces) readExpression(n xmldoc.Node, known map[string]TransformKind) (Transform, error) {
	text, err := textOf(n)
	if err != nil {
		return Transform{}, err
	}
	text = strings.Trim(text, space)
	for expression, kind := range known {
		before, after, _ := strings.Cut(expression, " ")
		rest, begins := strings.CutPrefix(text, before)
		prefix, ends := strings.CutSuffix(rest, after)
		if begins && ends && prefix != "" {
			return Transform{Kind: kind}, s.checkPrefix(n, prefix)
		}
	}
	return Transform{}, fmt.Errorf("%w: an unsupported XPath expression", ErrTransform)
}

// checkPrefix checks that the prefix of an expression is bound to the namespace of XML Signature at
// the expression. XPath 1.0 has no default namespace.
func (s *namespaces) checkPrefix(n xmldoc.Node, prefix string) error {
	uri, err := s.of(n, prefix)
	if err == nil && uri != Namespace {
		err = fmt.Errorf("%w: an XPath expression with a prefix of another namespace", ErrTransform)
	}
	return err
}

// Target returns the element to which a reference leads, or the zero Node for the whole document.
// The error is [ErrReference] or [ErrTransform].
func (s *Signature) Target(r Reference) (xmldoc.Node, error) {
	target, _, err := s.dereference(r)
	return target, err
}

// dereference resolves a URI within the document. comments reports whether comments belong to the
// selected nodes: they do with the forms of XPointer, and not with "" and "#id" (xmldsig-core1
// 4.4.3.3).
func (s *Signature) dereference(r Reference) (target xmldoc.Node, comments bool, err error) {
	if r.fault != nil {
		return target, false, r.fault
	}
	if !r.HasURI {
		return target, false, fmt.Errorf("%w: no URI", ErrReference)
	}
	if r.URI == "" {
		return target, false, nil
	}
	fragment, same := strings.CutPrefix(r.URI, "#")
	if !same {
		return target, false, fmt.Errorf("%w: outside the document", ErrReference)
	}
	if fragment == "xpointer(/)" {
		return target, true, nil
	}
	id, comments := pointerID(fragment)
	if id == "" || strings.ContainsAny(id, "()'\"") {
		return target, false, fmt.Errorf("%w: an unsupported XPointer", ErrReference)
	}
	target, ok := s.Document.ByID(id)
	if !ok {
		return target, false, fmt.Errorf("%w: the URI does not name exactly one element", ErrReference)
	}
	return target, comments, nil
}

// pointerID returns the identifier in "xpointer(id('x'))", or the fragment itself.
func pointerID(fragment string) (id string, pointer bool) {
	for _, quote := range []string{"'", `"`} {
		rest, begins := strings.CutPrefix(fragment, "xpointer(id("+quote)
		if id, ends := strings.CutSuffix(rest, quote+"))"); begins && ends {
			return id, true
		}
	}
	return fragment, false
}
