package dsig

import (
	"errors"
	"fmt"
	"strings"

	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// readReferences reads those of SignedInfo or of a Manifest, which have one at least.
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

// readReference reads a ds:Reference (xmldsig-core1 4.4.3). A transform that is not known is no fault of the
// signature: what it leads to is not found.
func (s *namespaces) readReference(n xmldoc.Node) (Reference, error) {
	r := Reference{Element: n}
	r.ID, _ = n.Attr("", "Id")
	r.Type, _ = n.Attr("", "Type")
	r.URI, r.HasURI = n.Attr("", "URI")
	in := sequenceOf(n)
	transforms := in.maybe(Namespace, "Transforms")
	method, value := in.one("DigestMethod"), in.one("DigestValue")
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

// readTransforms reads a ds:Transforms. Those that leave nodes out come before the one that makes octets:
// octets are not parsed again.
func (s *namespaces) readTransforms(n xmldoc.Node) (all []Transform, err error) {
	if n == (xmldoc.Node{}) {
		return nil, nil
	}
	in := sequenceOf(n)
	elements := in.some("Transform", maxTransforms)
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
			return nil, fmt.Errorf("%w: one more after that to octets", ErrTransform)
		}
		all = append(all, t)
	}
	return all, nil
}

// The algorithms of transforms that are no canonicalization (xmldsig-core1 6.6, XPath Filter 2.0).
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

// Manifest is what a reference to a list of further references has in it (xmldsig-core1 5.1). The list has to
// stand in an Object of this very signature. [ErrReference], [ErrLimit], and what [Reader.Read] says of
// references.
func (s *Signature) Manifest(r Reference) ([]Reference, error) {
	list, err := s.Target(r)
	if err != nil {
		return nil, err
	}
	object := list.Parent()
	if !list.Is(Namespace, "Manifest") || !object.Is(Namespace, "Object") || object.Parent() != s.Element {
		return nil, fmt.Errorf("%w: to no Manifest of the signature", ErrReference)
	}
	if err := s.work.pass(list); err != nil { // a thousand references may lead to it
		return nil, err
	}
	in := sequenceOf(list)
	elements := in.some("Reference", maxReferences)
	if err := in.end(); err != nil {
		return nil, err
	}
	return s.namespaces.readReferences(elements)
}

// namespaces are what prefixes are bound to in the references of a document. An element is looked through
// once for a prefix, and charged for: hundreds of elements around a signature may have ten thousand attributes
// each, and each of its transforms an expression with a prefix.
type namespaces struct {
	*work
	known map[binding]string
}

type binding struct {
	element xmldoc.Node
	prefix  string
}

// of is what a prefix is bound to where an element stands; "" when it is to nothing. [ErrLimit], and the
// error of the context.
func (s *namespaces) of(n xmldoc.Node, prefix string) (uri string, err error) {
	at := binding{n, prefix}
	uri, known := s.known[at]
	if known || n == (xmldoc.Node{}) {
		return uri, nil
	}
	if err := s.charge(int64(n.Width())); err != nil {
		return "", err
	}
	uri, declared := n.Declares(prefix)
	if !declared {
		if uri, err = s.of(n.Parent(), prefix); err != nil {
			return "", err
		}
	}
	s.known[at] = uri
	return uri, nil
}

// The expressions that are known, with a prefix of XML Signature where the space is. They are compared and
// never evaluated: what one can leave out of a document is known before.
var (
	// Of XPath (xmldsig-core1 6.6.3): what stays.
	expressions = map[string]TransformKind{"not(ancestor-or-self:: :Signature)": WithoutSignatures}
	// Of XPath Filter 2.0: what is subtracted. EU DSS has written the first and the last; the second is the short form
	// of the first.
	filters = map[string]TransformKind{
		"/descendant:: :Signature": WithoutSignatures,
		"// :Signature":            WithoutSignatures,
		"/*/ :Signature":           WithoutRootSignatures,
	}
)

func (s *namespaces) readXPath(transform xmldoc.Node) (Transform, error) {
	in := sequenceOf(transform)
	expression := in.one("XPath")
	if err := in.end(); err != nil {
		return Transform{}, err
	}
	return s.readExpression(expression, expressions)
}

// readFilter2 reads a filter alone: several would be applied to one another's results.
func (s *namespaces) readFilter2(transform xmldoc.Node) (Transform, error) {
	in := sequenceOf(transform)
	expression := in.maybe(transformFilter2, "XPath")
	if err := in.end(); err != nil {
		return Transform{}, err
	}
	if expression == (xmldoc.Node{}) {
		return Transform{}, fmt.Errorf("%w: no XPath in a filter", ErrFormat)
	}
	if filter, _ := expression.Attr("", "Filter"); filter != "subtract" {
		return Transform{}, fmt.Errorf("%w: a filter that does not subtract", ErrTransform)
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
	return Transform{}, fmt.Errorf("%w: an XPath expression that is not known", ErrTransform)
}

// checkPrefix: an expression says what it does only with the namespace that its prefix is bound to where it
// stands. There is no default namespace in XPath 1.0.
func (s *namespaces) checkPrefix(n xmldoc.Node, prefix string) error {
	uri, err := s.of(n, prefix)
	if err == nil && uri != Namespace {
		err = fmt.Errorf("%w: an XPath expression with a prefix of another namespace", ErrTransform)
	}
	return err
}

// Target is the element that a reference leads to; zero for the whole document. [ErrReference], [ErrTransform].
func (s *Signature) Target(r Reference) (xmldoc.Node, error) {
	target, _, err := s.dereference(r)
	return target, err
}

// dereference finds what a URI leads to in the document itself, and whether comments are among it: they
// are with the forms of XPointer, and not with "" and "#id" (xmldsig-core1 4.4.3.3).
func (s *Signature) dereference(r Reference) (target xmldoc.Node, comments bool, err error) {
	if r.fault != nil {
		return target, false, r.fault
	}
	if !r.HasURI {
		return target, false, fmt.Errorf("%w: without a URI", ErrReference)
	}
	if r.URI == "" {
		return target, false, nil
	}
	fragment, same := strings.CutPrefix(r.URI, "#")
	if !same {
		return target, false, fmt.Errorf("%w: out of the document", ErrReference)
	}
	if fragment == "xpointer(/)" {
		return target, true, nil
	}
	id, comments := pointerID(fragment)
	if id == "" || strings.ContainsAny(id, "()'\"") {
		return target, false, fmt.Errorf("%w: a pointer that is not known", ErrReference)
	}
	target, ok := s.Document.ByID(id)
	if !ok {
		return target, false, fmt.Errorf("%w: not to one element", ErrReference)
	}
	return target, comments, nil
}

// pointerID is the identifier in "xpointer(id('x'))", or the fragment itself.
func pointerID(fragment string) (id string, pointer bool) {
	for _, quote := range []string{"'", `"`} {
		rest, begins := strings.CutPrefix(fragment, "xpointer(id("+quote)
		if id, ends := strings.CutSuffix(rest, quote+"))"); begins && ends {
			return id, true
		}
	}
	return fragment, false
}
