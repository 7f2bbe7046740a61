package xades

import (
	"crypto/x509"

	"github.com/innsigli/innsigli/internal/pki/crl"
	"github.com/innsigli/innsigli/internal/pki/ocsp"
	"github.com/innsigli/innsigli/internal/pki/tsp"
	"github.com/innsigli/innsigli/internal/pki/validation"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
	xmldsig "github.com/innsigli/innsigli/internal/xml/dsig"
)

const (
	// maxCertificate limits one certificate, and maxToken one timestamp, in bytes.
	maxCertificate = 64 << 10
	maxToken       = 4 << 20
)

// unsignedReader reads unsigned properties (EN 319 132-1 5.3 to 5.5). remaining is how many more
// values and timestamps it reads in the document.
type unsignedReader struct{ remaining int }

// read reads the unsigned properties of a signature, and takes the certificates of KeyInfo.
func (r *unsignedReader) read(s *signature) {
	s.knownCertificates = append(s.knownCertificates, s.Certificates...)
	if s.unsigned == none {
		return
	}
	for property := range s.unsigned.Elements() {
		switch property.Name() {
		case xmldoc.Name{Space: ns132, Local: "SignatureTimeStamp"}:
			s.signatureTimestamps = append(s.signatureTimestamps, r.readTimestamps(s, property)...)
		case xmldoc.Name{Space: ns141, Local: "ArchiveTimeStamp"}:
			s.archiveTimestamps = append(s.archiveTimestamps, r.readTimestamps(s, property)...)
		case xmldoc.Name{Space: ns132, Local: "ArchiveTimeStamp"}:
			s.archiveTimestamps132 = append(s.archiveTimestamps132, property)
		default:
			r.readValues(s, property)
		}
	}
	var all []*validation.Data
	for _, v := range s.values {
		all = append(all, v.data)
	}
	s.validationData = validation.Merge(all...)
}

// readTimestamps reads the timestamps of a property. A baseline signature has one in each.
func (r *unsignedReader) readTimestamps(s *signature, property xmldoc.Node) []encapsulatedTimestamp {
	var all []encapsulatedTimestamp
	method := readMethod(property)
	for e := range property.Elements() {
		if !e.Is(ns132, "EncapsulatedTimeStamp") || !r.takeOne() {
			continue
		}
		t := encapsulatedTimestamp{property: property, c14n: method}
		if der, ok := decode(e, maxToken); ok {
			t.der = der
			t.token, _ = tsp.ParseToken(der)
		}
		if t.token != nil {
			s.knownCertificates = append(s.knownCertificates, t.token.Certificates...)
		}
		all = append(all, t)
	}
	return all
}

// readMethod returns the canonicalization of a timestamp property. The default is Canonical XML 1.0
// (EN 319 132-1 4.5). It returns zero for an unknown method.
func readMethod(property xmldoc.Node) xmldoc.Canonicalization {
	n, err := onlyChild(property, xmldsig.Namespace, "CanonicalizationMethod")
	switch {
	case err != nil:
		return xmldoc.Canonicalization{}
	case n == none:
		return xmldoc.Canonicalization{Method: xmldoc.C14N10}
	}
	c, err := xmldsig.ReadCanonicalization(n)
	if err != nil {
		return xmldoc.Canonicalization{}
	}
	return c
}

// readValues reads the validation data of a property, if the property is of a kind that has any.
func (r *unsignedReader) readValues(s *signature, property xmldoc.Node) {
	data := new(validation.Data)
	switch name := property.Name(); name.Local {
	case "CertificateValues", "RevocationValues", "AttrAuthoritiesCertValues", "AttributeRevocationValues":
		if name.Space == ns132 {
			r.addValues(data, property)
		}
	case "TimeStampValidationData", "AnyValidationData":
		if name.Space == ns141 {
			for values := range property.Elements() {
				r.addValues(data, values)
			}
		}
	}
	if len(data.Certificates)+len(data.OCSP)+len(data.CRLs) > 0 {
		s.values = append(s.values, encapsulatedValues{property, data})
	}
}

// addValues reads a CertificateValues or RevocationValues element, or another element of their
// types (EN 319 132-1 5.4).
func (r *unsignedReader) addValues(data *validation.Data, values xmldoc.Node) {
	for e := range values.Elements() {
		switch e.Name() {
		case xmldoc.Name{Space: ns132, Local: "EncapsulatedX509Certificate"}:
			r.addCertificate(data, e)
		case xmldoc.Name{Space: ns132, Local: "CRLValues"}:
			data.CRLs = r.appendValues(data.CRLs, e, "EncapsulatedCRLValue", crl.MaxSize)
		case xmldoc.Name{Space: ns132, Local: "OCSPValues"}:
			data.OCSP = r.appendValues(data.OCSP, e, "EncapsulatedOCSPValue", ocsp.MaxSize)
		}
	}
}

func (r *unsignedReader) addCertificate(data *validation.Data, e xmldoc.Node) {
	der, ok := decode(e, maxCertificate)
	if !ok || !r.takeOne() {
		return
	}
	if c, err := x509.ParseCertificate(der); err == nil {
		data.Certificates = append(data.Certificates, c)
	}
}

func (r *unsignedReader) appendValues(list [][]byte, values xmldoc.Node, local string, limit int) [][]byte {
	for e := range values.Elements() {
		if !e.Is(ns132, local) {
			continue
		}
		if der, ok := decode(e, limit); ok && r.takeOne() {
			list = append(list, der)
		}
	}
	return list
}

// takeOne counts one value and reports whether the limit permits it.
func (r *unsignedReader) takeOne() bool {
	r.remaining--
	return r.remaining >= 0
}

// decode returns the Base64 content of an element. ok is false if there is any other content, none,
// or more than limit bytes.
func decode(n xmldoc.Node, limit int) (value []byte, ok bool) {
	if n == none {
		return nil, false
	}
	value, err := xmldsig.Binary(n, limit)
	return value, err == nil && len(value) > 0
}
