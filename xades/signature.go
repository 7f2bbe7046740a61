package xades

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/tsp"
	"github.com/innsigli/innsigli/internal/pki/validation"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
	xmldsig "github.com/innsigli/innsigli/internal/xml/dsig"
)

// Namespaces of the qualifying properties (EN 319 132-1 5).
const (
	ns132 = "http://uri.etsi.org/01903/v1.3.2#"
	ns141 = "http://uri.etsi.org/01903/v1.4.1#"
)

const (
	// maxSignatures limits the signatures of a document.
	maxSignatures = 500
	// maxUnsignedValues limits the timestamps, certificates, OCSP responses and CRLs in the
	// unsigned properties of a document, all together.
	maxUnsignedValues = 4096
)

// none is the zero Node, which stands for no node and, where it says so, for the whole document.
var none xmldoc.Node

// signature is a signature in a document with its properties.
type signature struct {
	*xmldsig.Signature             // nil: it cannot be read
	element            xmldoc.Node // ds:Signature, also of one that cannot be read
	fault              error       // why it cannot be read

	qualifying xmldoc.Node // QualifyingProperties; zero: none
	properties xmldoc.Node // SignedProperties that the signature signs; zero: none
	// formatProperties are the SignedProperties of any version of XAdES, whether they are signed or
	// not. The format and level are found by them. Zero: none.
	formatProperties xmldoc.Node
	unsigned         xmldoc.Node // UnsignedSignatureProperties; zero: none yet
	irregularity     error       // what is wrong with the properties, or with the reference to them
	enclosed         bool        // something covers its unsigned properties: they must not change

	// signer is the signer's certificate. If SigningCertificate(V2) names certificates of the
	// document, signer is the first of those with which the value verifies, or else the first of
	// those. If it names none of the document, signer is a certificate with which the value
	// verifies, or nil.
	signer        *x509.Certificate
	signerNamed   bool      // SigningCertificate(V2) names signer
	signingTime   time.Time // SigningTime; zero: none
	city, country string
	reason        string

	knownCertificates   []*x509.Certificate     // of KeyInfo and the timestamps
	values              []encapsulatedValues    // validation data, in the order of the properties
	validationData      *validation.Data        // all values together
	signatureTimestamps []encapsulatedTimestamp // SignatureTimeStamps, in document order
	archiveTimestamps   []encapsulatedTimestamp // ArchiveTimeStamps of 1.4.1, in document order
	// archiveTimestamps132 are ArchiveTimeStamps of 1.3.2. They are over other data than those of
	// 1.4.1, and are not validated.
	archiveTimestamps132 []xmldoc.Node
	imprints             imprintCache // of the archive timestamps
}

// encapsulatedTimestamp is a timestamp in an unsigned property.
type encapsulatedTimestamp struct {
	property xmldoc.Node             // zero: it is still to be added, after all existing properties
	c14n     xmldoc.Canonicalization // zero: an unknown method
	der      []byte
	token    *tsp.Token // nil: it cannot be read
}

// encapsulatedValues is the validation data of one unsigned property.
type encapsulatedValues struct {
	property xmldoc.Node
	data     *validation.Data
}

// signatureReader reads the signatures of one document.
type signatureReader struct {
	dsig     *xmldsig.Reader
	unsigned unsignedReader
}

// readSignatures returns all signatures of a document except counter-signatures, in document order.
// An unreadable signature does not hide the others, and unreadable validation data is left out. The
// signatures share one limit on the work; one goroutine at a time may use them. The error is
// [ades.ErrUnreadable] if there are too many.
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

func newSignatureReader(ctx context.Context, d *xmldoc.Document) *signatureReader {
	return &signatureReader{xmldsig.NewReader(ctx, d), unsignedReader{remaining: maxUnsignedValues}}
}

func (r *signatureReader) readAll(elements []xmldoc.Node) []signature {
	all := make([]signature, len(elements))
	for i, element := range elements {
		all[i] = r.readSignature(element)
	}
	return all
}

// readSignature reads a ds:Signature. It does not set enclosed, which depends on the other
// signatures.
func (r *signatureReader) readSignature(element xmldoc.Node) signature {
	s := signature{element: element, validationData: new(validation.Data)}
	if s.Signature, s.fault = r.dsig.Read(element); s.fault != nil {
		s.Signature = nil
		return s
	}
	s.irregularity = s.findProperties()
	s.describe()
	r.unsigned.read(&s)
	s.findSigner()
	return s
}

// findProperties finds the properties where the schema has them and nowhere else:
// QualifyingProperties in an Object of this signature, and in them the SignedProperties that this
// signature signs. Wrapping attacks add properties that are unsigned, or signed by another
// signature, for readers that look for them by name.
func (s *signature) findProperties() error {
	s.formatProperties = s.findFormatProperties()
	if err := s.findQualifying(); err != nil || s.qualifying == none {
		return errors.Join(err, s.findSignedProperties(none))
	}
	signed, err := onlyChild(s.qualifying, ns132, "SignedProperties")
	if err == nil {
		err = s.findSignedProperties(signed)
	}
	unsigned, problem := onlyChild(s.qualifying, ns132, "UnsignedProperties")
	if problem == nil {
		s.unsigned, problem = onlyChild(unsigned, ns132, "UnsignedSignatureProperties")
	}
	return errors.Join(err, problem)
}

// findFormatProperties returns the one SignedProperties element in the Objects, of any version of
// XAdES. It returns none if there are several.
func (s *signature) findFormatProperties() (shown xmldoc.Node) {
	for _, object := range s.Objects {
		for e := range object.Elements() {
			space := e.Name().Space
			if !strings.HasPrefix(space, editions) || !e.Is(space, "QualifyingProperties") {
				continue
			}
			if shown != none {
				return none
			}
			shown, _ = onlyChild(e, space, "SignedProperties")
		}
	}
	return shown
}

func (s *signature) findQualifying() error {
	for _, object := range s.Objects {
		for e := range object.Elements() {
			switch {
			case !e.Is(ns132, "QualifyingProperties"):
			case s.qualifying != none:
				s.qualifying = none
				return errors.New("the signature has several QualifyingProperties elements")
			default:
				s.qualifying = e
			}
		}
	}
	if s.qualifying == none {
		return nil
	}
	if target, _ := s.qualifying.Attr("", "Target"); s.ID == "" || target != "#"+s.ID {
		s.qualifying = none
		return errors.New("the Target of QualifyingProperties does not name this signature")
	}
	return nil
}

// errUnsignedProperties: the signature has SignedProperties where they belong, but has no reference
// of their type.
var errUnsignedProperties = errors.New("the signature does not sign its properties")

// findSignedProperties sets properties to signed if that element is the target of the one reference
// of their Type. It permits no transform but canonicalization: with another one, the digest would
// be of something else.
func (s *signature) findSignedProperties(signed xmldoc.Node) error {
	others := func(r xmldsig.Reference) bool { return r.Type != propertiesType }
	found := slices.DeleteFunc(slices.Clone(s.References), others)
	switch {
	case len(found) == 0 && signed == none:
		return nil
	case len(found) == 0:
		return errUnsignedProperties
	case len(found) != 1:
		return fmt.Errorf("the signature has %d references to signed properties", len(found))
	case slices.ContainsFunc(found[0].Transforms, func(t xmldsig.Transform) bool { return t.Kind != xmldsig.Canonicalize }):
		return errors.New("the reference to the signed properties has other transforms than a canonicalization")
	}
	target, err := s.Target(found[0])
	switch {
	case err != nil:
		return err
	case signed == none || target != signed:
		return errors.New("the reference to the signed properties names another element")
	}
	s.properties = signed
	return nil
}

// describe reads the claims in the signed properties (EN 319 132-1 5.2.1, 5.2.3, 5.2.5).
func (s *signature) describe() {
	about := elementAt(s.properties, "SignedSignatureProperties")
	s.signingTime = parseTime(textAt(about, "SigningTime"))
	for _, place := range []string{"SignatureProductionPlaceV2", "SignatureProductionPlace"} {
		if n := elementAt(about, place); n != none {
			s.city, s.country = textAt(n, "City"), textAt(n, "CountryName")
			break
		}
	}
	objects := elementAt(s.properties, "SignedDataObjectProperties")
	if objects == none {
		return
	}
	for e := range objects.Elements() {
		if s.reason == "" && e.Is(ns132, "CommitmentTypeIndication") {
			s.reason = textAt(e, "CommitmentTypeId", "Description")
		}
	}
}

// parseTime parses an xsd:dateTime. A time without a zone is UTC. It returns the zero time if s is
// not one.
func parseTime(s string) time.Time {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}

// name returns the Id of the signature, also of an unreadable one; "" if it has none.
func (s *signature) name() string {
	id, _ := s.element.Attr("", "Id")
	return id
}

// dataBefore returns the validation data of the unsigned properties before property.
func (s *signature) dataBefore(property xmldoc.Node) *validation.Data {
	var all []*validation.Data
	for _, v := range s.values {
		if v.property.Precedes(property) {
			all = append(all, v.data)
		}
	}
	return validation.Merge(all...)
}

// unsignedParent returns the innermost existing element that unsigned properties are added to.
func (s *signature) unsignedParent() xmldoc.Node {
	for _, n := range []xmldoc.Node{s.unsigned, elementAt(s.qualifying, "UnsignedProperties"), s.qualifying} {
		if n != none {
			return n
		}
	}
	return s.element
}

// onlyChild returns the one child element of that name, or none. Several are an error, because
// readers may differ in which one they use.
func onlyChild(parent xmldoc.Node, space, local string) (found xmldoc.Node, err error) {
	if parent == found {
		return found, nil
	}
	for e := range parent.Elements() {
		switch {
		case !e.Is(space, local):
		case found != none:
			return none, fmt.Errorf("several %s elements", local)
		default:
			found = e
		}
	}
	return found, nil
}

// elementAt follows a path of child elements in the namespace of n, each the only one of its name.
// It returns none if the path ends before.
func elementAt(n xmldoc.Node, path ...string) xmldoc.Node {
	for _, local := range path {
		n, _ = onlyChild(n, n.Name().Space, local)
	}
	return n
}

// textAt returns the text of the element at the end of a path, without surrounding white space.
func textAt(n xmldoc.Node, path ...string) string {
	if n = elementAt(n, path...); n == none {
		return ""
	}
	return strings.TrimSpace(n.Text())
}
