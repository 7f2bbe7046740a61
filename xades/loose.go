package xades

import (
	"slices"

	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
	xmldsig "github.com/innsigli/innsigli/internal/xml/dsig"
)

// ns11 is the namespace of what XML Signature 1.1 adds to KeyInfo.
const ns11 = "http://www.w3.org/2009/xmldsig11#"

// hasLoose reports whether there is something in a signature that it does not sign, and that is no part of a
// signature. The others leave the signature out, so that nobody signs it, and who looks for a contract by its
// name finds it.
func (s *scope) hasLoose() bool {
	if s.Signature == nil {
		return false
	}
	signed := s.signed(func(r signedReference) bool { return r.err == nil })
	mayHold := func(n xmldoc.Node) bool { return n == s.qualifying || signed.leads(n) }
	for _, object := range s.Objects {
		if !signed.has(object) && !(saysOfObject(object) && holds(object, mayHold)) {
			return true
		}
	}
	return !says(s.element, "Id") || !says(s.SignatureValue, "Id") || !holds(s.element, isElement) ||
		!signed.has(s.KeyInfo) && !holdsKeys(s.KeyInfo) ||
		!signed.has(s.qualifying) && !s.holdsProperties()
}

// says reports whether an element has no attributes but some without a namespace.
func says(n xmldoc.Node, names ...string) bool {
	for name := range n.Attributes() {
		if name.Space != "" || !slices.Contains(names, name.Local) {
			return false
		}
	}
	return true
}

// saysOfObject reports whether an Object has the attributes of its own (xmldsig-core1 4.5).
func saysOfObject(n xmldoc.Node) bool { return says(n, "Id", "MimeType", "Encoding") }

// holds reports whether there is nothing in an element but what belongs there.
func holds(n xmldoc.Node, belongs func(xmldoc.Node) bool) bool {
	for child := range n.Children() {
		if !isEmpty(child) && !belongs(child) {
			return false
		}
	}
	return true
}

func isElement(n xmldoc.Node) bool { return n.Kind() == xmldoc.Element }

// holdsKeys reports whether there is nothing in a KeyInfo but what leads to a key. The schema would have
// anything there.
func holdsKeys(info xmldoc.Node) bool {
	if !says(info, "Id") || !holds(info, isElement) {
		return false
	}
	for n := range info.Descendants() {
		if !isOfKey(n.Name()) || !says(n, "Id", "URI", "Type", "Algorithm", "Encoding") {
			return false
		}
	}
	return true
}

// isOfKey reports whether an element is one of those for keys (xmldsig-core1 4.6).
func isOfKey(name xmldoc.Name) bool {
	if name.Space != xmldsig.Namespace {
		return name.Space == ns11
	}
	switch name.Local {
	case "KeyName", "KeyValue", "RetrievalMethod", "X509Data", "PGPData", "SPKIData", "MgmtData",
		"DSAKeyValue", "P", "Q", "G", "Y", "J", "Seed", "PgenCounter", "RSAKeyValue", "Modulus", "Exponent",
		"Transforms", "Transform", "XPath", "X509IssuerSerial", "X509IssuerName", "X509SerialNumber",
		"X509SKI", "X509SubjectName", "X509Certificate", "X509CRL", "PGPKeyID", "PGPKeyPacket", "SPKISexp":
		return true
	}
	return false
}

// holdsProperties reports whether there is nothing in the QualifyingProperties but properties of signatures
// (EN 319 132-1 4.3). What unsigned ones say of data nobody signed.
func (s *scope) holdsProperties() bool {
	for n := range s.unsigned.Elements() {
		if n.Is(ns132, "CounterSignature") && !(says(n, "Id") && holds(n, isSignature)) {
			return false
		}
	}
	unsigned := at(s.qualifying, "UnsignedProperties")
	return says(s.qualifying, "Id", "Target") && holds(s.qualifying, isProperties) &&
		says(unsigned, "Id") && holds(unsigned, isOfSignature) &&
		says(s.unsigned, "Id") && holds(s.unsigned, isUnsignedProperty)
}

func isProperties(n xmldoc.Node) bool {
	return n.Is(ns132, "SignedProperties") || n.Is(ns132, "UnsignedProperties")
}

func isOfSignature(n xmldoc.Node) bool { return n.Is(ns132, "UnsignedSignatureProperties") }

// isUnsignedProperty reports whether an element is an unsigned property of a signature: one of XAdES, or of
// somebody else, which the schema allows.
func isUnsignedProperty(n xmldoc.Node) bool {
	switch name := n.Name(); {
	case !isElement(n), name.Space == "", name.Space == xmldsig.Namespace:
		return false
	case name.Space != ns132:
		return true
	default:
		return isUnsignedName(name.Local)
	}
}

// isUnsignedName reports whether XAdES has an unsigned property of that name (EN 319 132-1 5.2.7, 5.3 to 5.5, A).
func isUnsignedName(local string) bool {
	switch local {
	case "CounterSignature", "SignatureTimeStamp", "CertificateValues", "RevocationValues", "ArchiveTimeStamp",
		"AttrAuthoritiesCertValues", "AttributeRevocationValues", "CompleteCertificateRefs", "CompleteRevocationRefs",
		"AttributeCertificateRefs", "AttributeRevocationRefs", "SigAndRefsTimeStamp", "RefsOnlyTimeStamp":
		return true
	}
	return false
}
