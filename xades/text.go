package xades

import (
	"crypto"
	"crypto/x509"

	"github.com/innsigli/innsigli/ades"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
	xmldsig "github.com/innsigli/innsigli/internal/xml/dsig"
)

// text is the markup of a Signature element but for its value, its timestamp, and what of it stands
// behind the properties: that may be the document.
type text struct {
	head string // up to the value
	body string // up to the unsigned properties
	foot string // up to the end tag of the signature, or the object with the document
}

// endTag is where every signature ends.
const endTag = "</ds:Signature>"

// whole is the markup with a value and unsigned properties, without the document.
func (t text) whole(value, unsigned string) string {
	return t.head + value + t.body + unsigned + t.foot + endTag
}

// signedInfo is what the value is over (xmldsig-core1 4.4).
func (t text) signedInfo() ([]byte, error) {
	return canonicalPart(t.whole("", ""), xmldsig.Namespace, "SignedInfo")
}

// ids are the identifiers of a signature. They are made of one that is in no other document.
type ids string

func (x ids) signature() string        { return "signature-" + string(x) }
func (x ids) value() string            { return "value-" + string(x) }
func (x ids) reference() string        { return "reference-" + string(x) }
func (x ids) signedProperties() string { return "signed-properties-" + string(x) }
func (x ids) timestamp() string        { return "signature-timestamp-" + string(x) }
func (x ids) document() string         { return "document-" + string(x) } // what is signed, where it has none

// isOf reports whether a signature has these identifiers. There may be none.
func (x ids) isOf(n xmldoc.Node) bool {
	id, _ := n.Attr("", "Id")
	return x != "" && id == x.signature()
}

// reference is what the reference to the document says (xmldsig-core1 4.4.3).
type reference struct {
	uri        string
	kind       string // Type, if any
	transforms []string
	encoding   string // of the object, if any
}

// propertiesType is the Type of the reference to SignedProperties (EN 319 132-1 4.4.2).
const propertiesType = "http://uri.etsi.org/01903#SignedProperties"

// newText writes a signature over the document, of which sum is the digest.
func newText(signer ades.Signer, o Options, r reference, x ids, sum []byte) (t text, err error) {
	h := signer.Algorithm.Hash
	digestMethod, err := xmldsig.DigestMethod(h)
	if err != nil {
		return t, err
	}
	digest := func(sum []byte) string {
		return element("ds:DigestMethod", attributes{"Algorithm", digestMethod}) + base64Element("ds:DigestValue", nil, sum)
	}
	t.body = "</ds:SignatureValue>" + keyInfo(signer) + qualified(o, r, x, digest(sumOf(h, signer.Certificate.Raw)))
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

// qualified is the object with the properties, up to those that are not signed (EN 319 132-1 4.3).
func qualified(o Options, r reference, x ids, certificateDigest string) string {
	return "<ds:Object>" +
		startTag("xades:QualifyingProperties", attributes{"xmlns:xades", ns132, "Target", "#" + x.signature()}) +
		element("xades:SignedProperties", attributes{"Id", x.signedProperties()},
			signatureProperties(o, certificateDigest), dataProperties(o, r, x))
}

func sumOf(h crypto.Hash, b []byte) []byte {
	sum := h.New()
	sum.Write(b)
	return sum.Sum(nil)
}

// signedInfo is the markup of SignedInfo: the reference to the document is the first.
func signedInfo(signer ades.Signer, r reference, x ids, document, properties string) (string, error) {
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

// transform is one that needs no more than its name.
func transform(algorithm string, content ...string) string {
	return element("ds:Transform", attributes{"Algorithm", algorithm}, content...)
}

// keyInfo has the certificates and nothing else: other forms name subjects, which some readers cannot
// parse when they have serial numbers.
func keyInfo(signer ades.Signer) string {
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
