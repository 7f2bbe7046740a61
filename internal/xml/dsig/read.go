package dsig

import (
	"context"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"strings"

	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// What one signature may have; the corpora of the field have up to 900 references.
const (
	maxReferences   = 1000
	maxTransforms   = 5
	maxObjects      = 1000
	maxCertificates = 1000
)

// Reader reads the signatures of one document. What they have in common is digested once, and the work for
// all of them together is bounded.
type Reader struct {
	document   *xmldoc.Document
	namespaces *namespaces
}

// NewReader is for the signatures of a document. With the context ends the work for them.
func NewReader(ctx context.Context, d *xmldoc.Document) *Reader {
	return &Reader{d, &namespaces{newWork(ctx, d), make(map[binding]string)}}
}

// Read is [Reader.Read] for one signature alone.
func Read(d *xmldoc.Document, element xmldoc.Node) (*Signature, error) {
	return NewReader(context.Background(), d).Read(element)
}

// Read reads a ds:Signature element. [ErrFormat], [ErrTransform], [ErrLimit], and
// [ades.ErrAlgorithm] for a signature method that is not known, and the error of the context.
func (r *Reader) Read(element xmldoc.Node) (*Signature, error) {
	if !element.Is(Namespace, "Signature") {
		return nil, fmt.Errorf("%w: not a Signature", ErrFormat)
	}
	s := &Signature{Document: r.document, Element: element, namespaces: r.namespaces}
	s.ID, _ = element.Attr("", "Id")
	in := sequenceOf(element)
	s.SignedInfo, s.SignatureValue = in.one("SignedInfo"), in.one("SignatureValue")
	s.KeyInfo = in.maybe(Namespace, "KeyInfo")
	s.Objects = in.some("Object", maxObjects)
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

// readSignedInfo reads what the value is over (xmldsig-core1 4.4).
func (s *Signature) readSignedInfo() (err error) {
	in := sequenceOf(s.SignedInfo)
	canonicalization, method := in.one("CanonicalizationMethod"), in.one("SignatureMethod")
	references := in.some("Reference", maxReferences)
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

// readKeyInfo takes the certificates of X509Data. Keys by name, by value or at other places are not
// looked at: XAdES goes by certificates (EN 319 132-1 6.3).
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

// maxOctets bounds a digest, a value or a certificate in bytes.
const maxOctets = 1 << 20

// sequence is the elements in an element, which are taken in the order of the schema. The first that is
// not as the schema has it ends the reading.
type sequence struct {
	name string // of the element that they are in
	rest []xmldoc.Node
	err  error
}

// sequenceOf is what stands in an element that has no text of its own. Comments and instructions say
// nothing.
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

// maybe takes an element that may be missing; it is zero then.
func (s *sequence) maybe(namespace, local string) (n xmldoc.Node) {
	if s.err == nil && len(s.rest) > 0 && s.rest[0].Is(namespace, local) {
		n, s.rest = s.rest[0], s.rest[1:]
	}
	return n
}

// one takes an element of XML Signature that has to be there.
func (s *sequence) one(local string) xmldoc.Node {
	n := s.maybe(Namespace, local)
	if n == (xmldoc.Node{}) {
		s.fail("no " + local + " where it belongs")
	}
	return n
}

// some takes as many elements of XML Signature as there are, and fails beyond a number of them.
func (s *sequence) some(local string, limit int) []xmldoc.Node {
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

// end says whether everything was as expected, and nothing is left.
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

// textOf is the text of an element that has nothing else. All of it: who takes the part before a comment
// for the whole reads something else than was signed.
func textOf(n xmldoc.Node) (string, error) {
	for range n.Elements() {
		return "", fmt.Errorf("%w: an element in the text of %s", ErrFormat, n.Name().Local)
	}
	return n.Text(), nil
}

func binaryOf(n xmldoc.Node) ([]byte, error) { return Binary(n, maxOctets) }

// Binary is what the text of an element is the base64 of (XML Schema Part 2 3.2.16): white space in it says
// nothing, and bits behind the last octet are zero. [ErrFormat] for anything else, and [ErrLimit] beyond a number
// of octets.
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
