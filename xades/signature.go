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

// none is the node that there is not.
var none xmldoc.Node

// signature is a signature of a document with its properties.
type signature struct {
	*xmldsig.Signature             // nil: it cannot be read
	element            xmldoc.Node // ds:Signature, also of one that cannot be read
	fault              error       // why it cannot be read

	qualifying       xmldoc.Node // QualifyingProperties; zero: none
	properties       xmldoc.Node // SignedProperties that the signature signs; zero: none
	formatProperties xmldoc.Node // SignedProperties as they stand, signed or not, of whatever edition: they name the format; zero: none
	unsigned         xmldoc.Node // UnsignedSignatureProperties; zero: none yet
	irregularity     error       // what is wrong with where the properties are; then there may be none
	enclosed         bool        // something is signed that its unsigned properties belong to, so that they may not change

	// signer is the certificate that the value and SigningCertificate(V2) agree on; where they do not, the
	// first that is named; where none of those that are there is named, one that the value agrees with.
	// It is nil when there is none of these.
	signer        *x509.Certificate
	signerNamed   bool      // SigningCertificate(V2) names the signer
	signingTime   time.Time // SigningTime; zero: none
	city, country string
	reason        string

	knownCertificates    []*x509.Certificate     // that KeyInfo and the timestamps carry
	values               []encapsulatedValues    // validation data, in the order of the properties
	validationData       *validation.Data        // all of it
	signatureTimestamps  []encapsulatedTimestamp // SignatureTimeStamps, in their order
	archiveTimestamps    []encapsulatedTimestamp // ArchiveTimeStamps of 1.4.1, in their order
	archiveTimestamps132 []xmldoc.Node           // ArchiveTimeStamps of 1.3.2, which are over something else and not judged
	hashes               archiveHashes           // of what archives are over
}

// encapsulatedTimestamp is a timestamp in an unsigned property.
type encapsulatedTimestamp struct {
	property xmldoc.Node             // zero: none yet, and it comes behind all that there are
	c14n     xmldoc.Canonicalization // zero: one that is not known
	der      []byte
	token    *tsp.Token // nil: it cannot be read
}

// encapsulatedValues are the validation data of an unsigned property.
type encapsulatedValues struct {
	property xmldoc.Node
	data     *validation.Data
}

// signatureReader reads the signatures of one document.
type signatureReader struct {
	dsig     *xmldsig.Reader
	unsigned unsignedReader
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

func newSignatureReader(ctx context.Context, d *xmldoc.Document) *signatureReader {
	return &signatureReader{xmldsig.NewReader(ctx, d), unsignedReader{remaining: maxEvidence}}
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

// findProperties finds the properties where the schema has them and nowhere else: QualifyingProperties in
// an Object of this very signature, and SignedProperties in those, if they are what the signature signs.
// Properties that are not signed, or another signature's, are what wrapping attacks show to readers who
// look for them by name.
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

// findShown is the one element SignedProperties in an Object, of any edition of XAdES; zero where there are several.
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
				return errors.New("the signature has several QualifyingProperties")
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
		return errors.New("the QualifyingProperties are not for this signature")
	}
	return nil
}

// errUnsigned: nothing is missing, but what is there is not signed.
var errUnsignedProperties = errors.New("the signature does not sign its properties")

// findSigned notes the SignedProperties if they are what the one reference of their type leads to, as they
// stand: a transform that makes something else of them would have something else signed.
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
		return errors.New("the signed properties are transformed into something else")
	}
	target, err := s.Target(found[0])
	switch {
	case err != nil:
		return err
	case signed == none || target != signed:
		return errors.New("the signature signs other properties than its own")
	}
	s.properties = signed
	return nil
}

// describe notes what the signer says in signed properties (EN 319 132-1 5.2.1, 5.2.3, 5.2.5).
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

// parseTime reads an xsd:dateTime; zero when it is none. Without a zone it is taken for UTC.
func parseTime(s string) time.Time {
	for _, layout := range []string{time.RFC3339, "2006-01-02T15:04:05"} {
		if t, err := time.Parse(layout, s); err == nil {
			return t.UTC()
		}
	}
	return time.Time{}
}

// name is the Id of the signature, also of one that cannot be read; "" without one.
func (s *signature) name() string {
	id, _ := s.element.Attr("", "Id")
	return id
}

// before is the validation data that precedes an unsigned property.
func (s *signature) dataBefore(property xmldoc.Node) *validation.Data {
	var all []*validation.Data
	for _, v := range s.values {
		if v.property.Precedes(property) {
			all = append(all, v.data)
		}
	}
	return validation.Merge(all...)
}

// growing is the element that unsigned properties are added to, or have been.
func (s *signature) unsignedParent() xmldoc.Node {
	for _, n := range []xmldoc.Node{s.unsigned, elementAt(s.qualifying, "UnsignedProperties"), s.qualifying} {
		if n != none {
			return n
		}
	}
	return s.element
}

// only is the one child element of that name; zero when there is none. Of several, nobody can tell which
// one is meant.
func onlyChild(parent xmldoc.Node, space, local string) (found xmldoc.Node, err error) {
	if parent == found {
		return found, nil
	}
	for e := range parent.Elements() {
		switch {
		case !e.Is(space, local):
		case found != none:
			return none, fmt.Errorf("there are several elements %s", local)
		default:
			found = e
		}
	}
	return found, nil
}

// at follows a path of elements of one namespace, each the only one of its name; zero where it ends.
func elementAt(n xmldoc.Node, path ...string) xmldoc.Node {
	for _, local := range path {
		n, _ = onlyChild(n, n.Name().Space, local)
	}
	return n
}

// textAt is the text at the end of a path.
func textAt(n xmldoc.Node, path ...string) string {
	if n = elementAt(n, path...); n == none {
		return ""
	}
	return strings.TrimSpace(n.Text())
}
