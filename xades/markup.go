package xades

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/innsigli/innsigli/ades"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
	xmldsig "github.com/innsigli/innsigli/internal/xml/dsig"
)

// exclusive is the canonicalization of everything that this package signs. Its result does not
// depend on the elements around (EN 319 132-1 6.3, requirement b).
var exclusive = xmldoc.Canonicalization{Method: xmldoc.Exclusive}

// signatureMarkup is the markup of a Signature element in three parts. Between them come the
// signature value and the unsigned properties; after them may come an Object with the document.
type signatureMarkup struct {
	head string // up to the value
	body string // from the value to the unsigned properties
	foot string // from the unsigned properties to the end tag, or to the Object with the document
}

// ids are the identifiers of one signature. They all end in one random text, so that no other
// document has them.
type ids string

// reference describes the ds:Reference to the document (xmldsig-core1 4.4.3).
type reference struct {
	uri        string
	kind       string // Type; "" for none
	transforms []string
	encoding   string // Encoding of the Object, also for DataObjectFormat; "" for none
}

// attributes are names and values in turn.
type attributes []string

// newMarkup returns the markup of a signature over a document with the digest sum.
func newMarkup(signer ades.SignerIdentity, o Options, r reference, x ids, sum []byte) (t signatureMarkup, err error) {
	h := signer.Algorithm.Hash
	digestMethod, err := xmldsig.DigestMethod(h)
	if err != nil {
		return t, err
	}
	digest := func(sum []byte) string {
		return element("ds:DigestMethod", attributes{"Algorithm", digestMethod}) + base64Element("ds:DigestValue", nil, sum)
	}
	t.body = "</ds:SignatureValue>" + keyInfo(signer) + qualifyingObject(o, r, x, digest(sumOf(h, signer.Certificate.Raw)))
	t.foot = "</xades:QualifyingProperties></ds:Object>"
	start := startTag("ds:Signature", attributes{"xmlns:ds", xmldsig.Namespace, "Id", x.signature()})
	value := startTag("ds:SignatureValue", attributes{"Id", x.value()})
	t.head = start + value
	properties, err := canonicalPart(t.whole("", ""), ns132, "SignedProperties")
	if err != nil {
		return t, err
	}
	info, err := signedInfo(signer, r, x, digest(sum), digest(sumOf(h, properties)))
	t.head = start + info + value
	return t, err
}

// qualifyingObject returns the Object with the qualifying properties, up to the unsigned ones (EN
// 319 132-1 4.3).
func qualifyingObject(o Options, r reference, x ids, certificateDigest string) string {
	return "<ds:Object>" +
		startTag("xades:QualifyingProperties", attributes{"xmlns:xades", ns132, "Target", "#" + x.signature()}) +
		element("xades:SignedProperties", attributes{"Id", x.signedProperties()},
			signatureProperties(o, certificateDigest), dataProperties(o, r, x))
}

// signedInfo returns the markup of SignedInfo. The reference to the document comes first.
func signedInfo(signer ades.SignerIdentity, r reference, x ids, document, properties string) (string, error) {
	method, err := xmldsig.SignatureMethod(signer.Algorithm)
	if err != nil {
		return "", err
	}
	canonicalization := xmldsig.CanonicalizationMethod(exclusive)
	to := attributes{"Id", x.reference()}
	if r.kind != "" {
		to = append(to, "Type", r.kind)
	}
	return element("ds:SignedInfo", nil,
		element("ds:CanonicalizationMethod", attributes{"Algorithm", canonicalization}),
		element("ds:SignatureMethod", attributes{"Algorithm", method}),
		element("ds:Reference", append(to, "URI", r.uri), element("ds:Transforms", nil, r.transforms...), document),
		element("ds:Reference", attributes{"Type", propertiesType, "URI", "#" + x.signedProperties()},
			element("ds:Transforms", nil, transform(canonicalization)), properties),
	), nil
}

// keyInfo returns a KeyInfo with certificates only. Other forms have subject names, which some
// readers cannot parse if the name has a serialNumber attribute.
func keyInfo(signer ades.SignerIdentity) string {
	var certificates []string
	seen := map[string]bool{}
	for _, c := range append([]*x509.Certificate{signer.Certificate}, signer.Chain...) {
		if !seen[string(c.Raw)] {
			seen[string(c.Raw)] = true
			certificates = append(certificates, base64Element("ds:X509Certificate", nil, c.Raw))
		}
	}
	return element("ds:KeyInfo", nil, element("ds:X509Data", nil, certificates...))
}

// signatureProperties returns the SignedSignatureProperties (EN 319 132-1 5.2.1, 5.2.2, 5.2.5), in
// the order of the schema.
func signatureProperties(o Options, certificate string) string {
	return element("xades:SignedSignatureProperties", nil,
		element("xades:SigningTime", nil, o.Time.UTC().Format(time.RFC3339)),
		element("xades:SigningCertificateV2", nil,
			element("xades:Cert", nil, element("xades:CertDigest", nil, certificate))),
		productionPlace(o))
}

// productionPlace returns the SignatureProductionPlaceV2, or "" if the options have no place.
func productionPlace(o Options) string {
	if o.City == "" && o.Country == "" {
		return ""
	}
	return element("xades:SignatureProductionPlaceV2", nil,
		optional("xades:City", o.City), optional("xades:CountryName", o.Country))
}

// proofOfApproval is the commitment type of a signature with a reason (EN 319 132-1 5.2.3, TS 119
// 172-1 B.1).
const proofOfApproval = "http://uri.etsi.org/01903/v1.2.2#ProofOfApproval"

// dataProperties returns the SignedDataObjectProperties (EN 319 132-1 5.2.4, 5.2.3).
func dataProperties(o Options, r reference, x ids) string {
	commitment := ""
	if o.Reason != "" {
		commitment = element("xades:CommitmentTypeIndication", nil,
			element("xades:CommitmentTypeId", nil,
				element("xades:Identifier", nil, proofOfApproval),
				element("xades:Description", nil, escape(o.Reason))),
			element("xades:AllSignedDataObjects", nil))
	}
	return element("xades:SignedDataObjectProperties", nil,
		element("xades:DataObjectFormat", attributes{"ObjectReference", "#" + x.reference()},
			element("xades:MimeType", nil, mimeType), optional("xades:Encoding", r.encoding)),
		commitment)
}

// mimeType is the MimeType of every document.
const mimeType = "text/xml"

// propertiesType is the Type of the reference to SignedProperties (EN 319 132-1 4.4.2).
const propertiesType = "http://uri.etsi.org/01903#SignedProperties"

// whole returns the markup with a value and unsigned properties, without an Object for the
// document.
func (t signatureMarkup) whole(value, unsigned string) string {
	return t.head + value + t.body + unsigned + t.foot + endTag
}

// endTag ends every signature.
const endTag = "</ds:Signature>"

// signedInfo returns the canonical form of SignedInfo, which the signature value is over
// (xmldsig-core1 4.4).
func (t signatureMarkup) signedInfo() ([]byte, error) {
	return canonicalPart(t.whole("", ""), xmldsig.Namespace, "SignedInfo")
}

func (x ids) signature() string        { return "signature-" + string(x) }
func (x ids) value() string            { return "value-" + string(x) }
func (x ids) reference() string        { return "reference-" + string(x) }
func (x ids) signedProperties() string { return "signed-properties-" + string(x) }
func (x ids) timestamp() string        { return "signature-timestamp-" + string(x) }
func (x ids) document() string         { return "document-" + string(x) } // of the element around the document

// belongTo reports whether a signature element has these identifiers. Empty ids belong to none.
func (x ids) belongTo(n xmldoc.Node) bool {
	id, _ := n.Attr("", "Id")
	return x != "" && id == x.signature()
}

// maxPrefixes limits the PrefixList of a reference.
const maxPrefixes = 50

// signaturePrefixes are the prefixes that signatures declare themselves, and xml, which is always
// bound.
var signaturePrefixes = []string{"xml", "ds", "xades", "xades141", "dsig-filter2", "ec"}

// documentCanonicalization returns the canonicalization for a reference to the whole document:
// exclusive, with a PrefixList of the prefixes that the document declares. Attribute values such as
// xsi:type use prefixes too, and another binding would change their meaning (Exclusive XML
// Canonicalization 1.0, 1.3). An element that is signed by its identifier gets no such list: with
// one, its canonical form would include the declarations of the elements around it, and it could
// not be moved to another document.
func documentCanonicalization(d *xmldoc.Document) xmldoc.Canonicalization {
	prefixes := slices.DeleteFunc(d.Prefixes(), func(p string) bool { return slices.Contains(signaturePrefixes, p) })
	c := exclusive
	c.Prefixes = prefixes[:min(len(prefixes), maxPrefixes)]
	return c
}

// canonicalizationTransform returns the ds:Transform element for a canonicalization.
func canonicalizationTransform(c xmldoc.Canonicalization) string {
	method := xmldsig.CanonicalizationMethod(c)
	if len(c.Prefixes) == 0 {
		return transform(method)
	}
	list := slices.Clone(c.Prefixes)
	if i := slices.Index(list, ""); i >= 0 {
		list[i] = "#default"
	}
	return transform(method, element("ec:InclusiveNamespaces", attributes{"xmlns:ec", method, "PrefixList", strings.Join(list, " ")}))
}

// transform returns a ds:Transform element.
func transform(algorithm string, content ...string) string {
	return element("ds:Transform", attributes{"Algorithm", algorithm}, content...)
}

// element returns an element with its content, which is markup. There is no white space between
// elements: in an enveloped signature it would be indistinguishable from white space of the
// document.
func element(name string, a attributes, content ...string) string {
	var b strings.Builder
	b.WriteString(startTag(name, a))
	for _, c := range content {
		b.WriteString(c)
	}
	b.WriteString("</" + name + ">")
	return b.String()
}

func startTag(name string, a attributes) string {
	var b strings.Builder
	b.WriteString("<" + name)
	for i := 0; i+1 < len(a); i += 2 {
		fmt.Fprintf(&b, ` %s="%s"`, a[i], escape(a[i+1]))
	}
	b.WriteString(">")
	return b.String()
}

// base64Element returns an element with binary content in Base64.
func base64Element(name string, a attributes, content []byte) string {
	return element(name, a, base64.StdEncoding.EncodeToString(content))
}

func optional(name, content string) string {
	if content == "" {
		return ""
	}
	return element(name, nil, escape(content))
}

// escape returns text for element content and attribute values. It is ASCII, so that it has the
// same meaning in every encoding; characters that a parser would normalize are character
// references. XML does not permit a reference to a character that it excludes (XML 1.0 2.2), so
// escape replaces such a character by U+FFFD.
func escape(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case !xmldoc.IsChar(r):
			r = utf8.RuneError
			fallthrough
		case r < ' ', r > '~', strings.ContainsRune(`&<>"'`, r):
			fmt.Fprintf(&b, "&#x%X;", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// canonicalPart returns the canonical form of the first element of that name in markup that
// declares its own prefixes. It is the same in the document that the markup becomes a part of,
// because it is exclusive.
func canonicalPart(markup, space, local string) ([]byte, error) {
	d, err := xmldoc.Parse([]byte(markup))
	if err != nil {
		return nil, fmt.Errorf("xades: reading the signature: %w", err)
	}
	for n := range d.Root().Descendants() {
		if n.Is(space, local) {
			var b bytes.Buffer
			err := d.Canonicalize(&b, exclusive, xmldoc.Subset{Apex: n})
			return b.Bytes(), err
		}
	}
	return nil, fmt.Errorf("xades: signature without %s", local)
}

func sumOf(h crypto.Hash, b []byte) []byte {
	sum := h.New()
	sum.Write(b)
	return sum.Sum(nil)
}

var signatureName = xmldoc.Name{Space: xmldsig.Namespace, Local: "Signature"}

func isSignature(n xmldoc.Node) bool { return n.Is(signatureName.Space, signatureName.Local) }
