package dsig

import (
	"context"
	"crypto/x509"
	"fmt"

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
