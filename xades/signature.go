package xades

import (
	"context"
	"crypto/x509"
	"fmt"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/tsp"
	"github.com/innsigli/innsigli/internal/pki/validation"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
	xmldsig "github.com/innsigli/innsigli/internal/xml/dsig"
)

// Namespaces of the properties (EN 319 132-1 5).
const (
	ns132 = "http://uri.etsi.org/01903/v1.3.2#"
	ns141 = "http://uri.etsi.org/01903/v1.4.1#"
)

const (
	// maxSignatures bounds the signatures of a document.
	maxSignatures = 500
	// maxEvidence bounds the timestamps and the validation data of a document, in pieces.
	maxEvidence = 4096
)

// signature is a signature of a document with its properties.
type signature struct {
	*xmldsig.Signature             // nil: it cannot be read
	element            xmldoc.Node // ds:Signature, also of one that cannot be read
	fault              error       // why it cannot be read

	qualifying   xmldoc.Node // QualifyingProperties; zero: none
	properties   xmldoc.Node // SignedProperties that the signature signs; zero: none
	shown        xmldoc.Node // SignedProperties as they stand, signed or not, of whatever edition: they name the format; zero: none
	unsigned     xmldoc.Node // UnsignedSignatureProperties; zero: none yet
	irregularity error       // what is wrong with where the properties are; then there may be none
	enclosed     bool        // something is signed that its unsigned properties belong to, so that they may not change

	// signer is the certificate that the value and SigningCertificate(V2) agree on; where they do not, the
	// first that is named; where none of those that are there is named, one that the value agrees with.
	// It is nil when there is none of these.
	signer        *x509.Certificate
	named         bool      // SigningCertificate(V2) names the signer
	time          time.Time // SigningTime; zero: none
	city, country string
	reason        string

	known    []*x509.Certificate // that KeyInfo and the timestamps carry
	values   []carriedValues     // validation data, in the order of the properties
	data     *validation.Data    // all of it
	stamps   []carriedStamp      // SignatureTimeStamps, in their order
	archives []carriedStamp      // ArchiveTimeStamps of 1.4.1, in their order
	old      []xmldoc.Node       // ArchiveTimeStamps of 1.3.2, which are over something else and not judged
	hashes   archiveHashes       // of what archives are over
}

// carriedStamp is a timestamp in an unsigned property.
type carriedStamp struct {
	property xmldoc.Node             // zero: none yet, and it comes behind all that there are
	c14n     xmldoc.Canonicalization // zero: one that is not known
	der      []byte
	token    *tsp.Token // nil: it cannot be read
}

// carriedValues are the validation data of an unsigned property.
type carriedValues struct {
	property xmldoc.Node
	data     *validation.Data
}

// readSignatures reads all signatures of a document, in document order. One that cannot be read does not
// hide the others, and a piece of validation data that cannot proves nothing and is left out. They share a
// bound on the work, and are for one goroutine at a time. [ades.ErrUnreadable] when there are too many.
func readSignatures(ctx context.Context, d *xmldoc.Document) ([]signature, error) {
	elements := xmldsig.Find(d)
	if err := checkNumber(len(elements)); err != nil {
		return nil, err
	}
	all := newSignatureReader(ctx, d).readAll(elements)
	markEnclosed(all)
	return all, ctx.Err()
}

func checkNumber(signatures int) error {
	if signatures > maxSignatures {
		return fmt.Errorf("%w: %w: %d signatures", ades.ErrUnreadable, ErrLimit, signatures)
	}
	return nil
}

// signatureReader reads the signatures of one document.
type signatureReader struct {
	in       *xmldsig.Reader
	unsigned unsignedReader
}

func newSignatureReader(ctx context.Context, d *xmldoc.Document) *signatureReader {
	return &signatureReader{xmldsig.NewReader(ctx, d), unsignedReader{left: maxEvidence}}
}

func (r *signatureReader) readAll(elements []xmldoc.Node) []signature {
	all := make([]signature, len(elements))
	for i, element := range elements {
		all[i] = r.readSignature(element)
	}
	return all
}

// readSignature reads a ds:Signature. Whether it is enclosed the others say.
func (r *signatureReader) readSignature(element xmldoc.Node) signature {
	s := signature{element: element, data: new(validation.Data)}
	if s.Signature, s.fault = r.in.Read(element); s.fault != nil {
		s.Signature = nil
		return s
	}
	s.irregularity = s.findProperties()
	s.describe()
	r.unsigned.read(&s)
	s.findSigner()
	return s
}

// name is the Id of the signature, also of one that cannot be read; "" without one.
func (s *signature) name() string {
	id, _ := s.element.Attr("", "Id")
	return id
}

// before is the validation data that precedes an unsigned property.
func (s *signature) before(property xmldoc.Node) *validation.Data {
	var all []*validation.Data
	for _, v := range s.values {
		if v.property.Precedes(property) {
			all = append(all, v.data)
		}
	}
	return validation.Merge(all...)
}
