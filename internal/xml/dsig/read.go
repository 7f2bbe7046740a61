package dsig

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"strings"

	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// Bounds of one signature. Published test corpora have up to 900 references.
const (
	maxReferences   = 1000
	maxTransforms   = 5
	maxObjects      = 1000
	maxCertificates = 1000
)

// Reader reads the signatures of one document. Data that several of them reference is digested
// once, and the work for all of them together is bounded.
type Reader struct {
	document   *xmldoc.Document
	namespaces *namespaces
}

// NewReader returns a Reader for the signatures of a document. When ctx ends, so does the work of
// the Reader and its signatures.
func NewReader(ctx context.Context, d *xmldoc.Document) *Reader {
	return &Reader{d, &namespaces{newWork(ctx, d), make(map[binding]string)}}
}

// Read is [Reader.Read] for a single signature.
func Read(d *xmldoc.Document, element xmldoc.Node) (*Signature, error) {
	return NewReader(context.Background(), d).Read(element)
}

// Read reads a ds:Signature element. The error is [ErrFormat], [ErrTransform], [ErrLimit],
// [ades.ErrAlgorithm] for an unknown signature method, or that of the context.
func (r *Reader) Read(element xmldoc.Node) (*Signature, error) {
	if !element.Is(Namespace, "Signature") {
		return nil, fmt.Errorf("%w: not a Signature", ErrFormat)
	}
	s := &Signature{Document: r.document, Element: element, namespaces: r.namespaces}
	s.ID, _ = element.Attr("", "Id")
	in := sequenceOf(element)
	s.SignedInfo, s.SignatureValue = in.required("SignedInfo"), in.required("SignatureValue")
	s.KeyInfo = in.optional(Namespace, "KeyInfo")
	s.Objects = in.repeated("Object", maxObjects)
	if err := in.end(); err != nil {
		return nil, err
	}
	if err := s.readSignedInfo(); err != nil {
		return nil, err
	}
	var err error
	if s.octets, err = binaryOf(s.SignatureValue); err != nil {
		return nil, err
	}
	s.Value = decodeValue(s.Algorithm, s.octets)
	return s, s.readKeyInfo()
}

// readSignedInfo reads SignedInfo, which the signature value covers (xmldsig-core1 4.4).
func (s *Signature) readSignedInfo() (err error) {
	in := sequenceOf(s.SignedInfo)
	canonicalization, method := in.required("CanonicalizationMethod"), in.required("SignatureMethod")
	references := in.repeated("Reference", maxReferences)
	if err := in.end(); err != nil {
		return err
	}
	if s.Canonicalization, err = ReadCanonicalization(canonicalization); err != nil {
		return err
	}
	if s.Algorithm, err = readSignatureMethod(method); err != nil {
		return err
	}
	s.References, err = s.namespaces.readReferences(references)
	return err
}

// readKeyInfo reads the certificates of X509Data. It ignores key names, key values and keys
// elsewhere: XAdES identifies the signer by certificates (EN 319 132-1 6.3).
func (s *Signature) readKeyInfo() error {
	if s.KeyInfo == (xmldoc.Node{}) {
		return nil
	}
	n := 0
	for data := range s.KeyInfo.Elements() {
		if !data.Is(Namespace, "X509Data") {
			continue
		}
		for element := range data.Elements() {
			if !element.Is(Namespace, "X509Certificate") {
				continue
			}
			if n++; n > maxCertificates {
				return fmt.Errorf("%w: certificates in KeyInfo", ErrLimit)
			}
			s.readCertificate(element)
		}
	}
	return nil
}

func (s *Signature) readCertificate(n xmldoc.Node) {
	der, err := binaryOf(n)
	if err != nil {
		return
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		s.Unparsed = append(s.Unparsed, der)
		return
	}
	s.Certificates = append(s.Certificates, cert)
}

const space = xmldoc.Space

// maxOctets bounds a digest, a signature value or a certificate, in bytes.
const maxOctets = 1 << 20

// sequence is the child elements of an element, which are consumed in the order of the schema.
// After the first violation of the schema it returns no more elements.
type sequence struct {
	name string // of the parent element
	rest []xmldoc.Node
	err  error
}

// sequenceOf returns the child elements of an element without text. It ignores comments and
// processing instructions.
func sequenceOf(n xmldoc.Node) *sequence {
	s := &sequence{name: n.Name().Local}
	for child := range n.Children() {
		switch child.Kind() {
		case xmldoc.Element:
			s.rest = append(s.rest, child)
		case xmldoc.Text:
			if strings.Trim(child.Text(), space) != "" {
				s.fail("text")
			}
		}
	}
	return s
}

// optional consumes an optional element. It returns the zero Node if the element is absent.
func (s *sequence) optional(namespace, local string) (n xmldoc.Node) {
	if s.err == nil && len(s.rest) > 0 && s.rest[0].Is(namespace, local) {
		n, s.rest = s.rest[0], s.rest[1:]
	}
	return n
}

// required consumes a required element of XML Signature.
func (s *sequence) required(local string) xmldoc.Node {
	n := s.optional(Namespace, local)
	if n == (xmldoc.Node{}) {
		s.fail("no " + local + " where it belongs")
	}
	return n
}

// repeated consumes all next elements of XML Signature with that name, and fails if there are more
// than limit.
func (s *sequence) repeated(local string, limit int) []xmldoc.Node {
	n := 0
	for n < len(s.rest) && s.rest[n].Is(Namespace, local) {
		n++
	}
	if s.err == nil && n > limit {
		s.err = fmt.Errorf("%w: %d %s elements in %s", ErrLimit, n, local, s.name)
	}
	if s.err != nil {
		return nil
	}
	taken := s.rest[:n:n]
	s.rest = s.rest[n:]
	return taken
}

// end returns the first violation. An element that has not been consumed is one.
func (s *sequence) end() error {
	if len(s.rest) > 0 {
		s.fail("an element that does not belong there")
	}
	return s.err
}

func (s *sequence) fail(what string) {
	if s.err == nil {
		s.err = fmt.Errorf("%w: %s in %s", ErrFormat, what, s.name)
	}
}

// textOf returns the text of an element without child elements. It returns the text on both sides
// of comments: a reader that stops at a comment reads other data than was signed.
func textOf(n xmldoc.Node) (string, error) {
	for range n.Elements() {
		return "", fmt.Errorf("%w: an element in the text of %s", ErrFormat, n.Name().Local)
	}
	return n.Text(), nil
}

func binaryOf(n xmldoc.Node) ([]byte, error) { return Binary(n, maxOctets) }

// Binary decodes the text of an element from base64 (XML Schema Part 2 3.2.16). White space is
// ignored, and the unused bits after the last octet have to be zero. The error is [ErrFormat] for
// other text, and [ErrLimit] for more than limit octets.
func Binary(n xmldoc.Node, limit int) ([]byte, error) {
	text, err := textOf(n)
	if err != nil {
		return nil, err
	}
	text = strings.Map(withoutSpace, text)
	if octets := len(strings.TrimRight(text, "=")) * 3 / 4; octets > limit {
		return nil, fmt.Errorf("%w: octets in %s", ErrLimit, n.Name().Local)
	}
	octets, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("%w: base64 in %s", ErrFormat, n.Name().Local)
	}
	return octets, nil
}

func withoutSpace(r rune) rune {
	if strings.ContainsRune(space, r) {
		return -1
	}
	return r
}
