package decisions

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/beevik/etree"
	dsig "github.com/russellhaering/goxmldsig"

	"github.com/innsigli/innsigli/xades"
)

// docs/decisions/own-xml.md: etree does not write what it has read, and goxmldsig looks at one reference.
func TestXML(t *testing.T) {
	t.Run("etree writes another file", func(t *testing.T) {
		const content = "<?xml version='1.0'?>\r\n<contract number='17' >\r\n<price><![CDATA[1 < 2]]></price><end></end></contract>\r\n"
		document := etree.NewDocument()
		if err := document.ReadFromString(content); err != nil {
			t.Fatal(err)
		}
		written, err := document.WriteToString()
		if err != nil {
			t.Fatal(err)
		}
		shows(t, "own-xml.md", "etree reads  %q", content)
		shows(t, "own-xml.md", "etree writes %q", written)
		for settings := range 1 << 6 {
			if written := byEtree(t, content, settings); written == content {
				t.Errorf("etree writes what it has read, with the settings %06b", settings)
			}
		}
		s := newSigner(t)
		signed := signedXML(t, s, content)
		shows(t, "own-xml.md", "xades keeps every byte of it: %v", keeps(signed, content))
		if !keeps(signed, content) {
			t.Errorf("the signed document is %s", signed)
		}
	})
	t.Run("goxmldsig takes ECDSA values in ASN.1, which XML Signature has as two numbers", func(t *testing.T) {
		inASN1 := validate(t, func(s signer, sum []byte) ([]byte, error) { return ecdsa.SignASN1(rand.Reader, s.key, sum) })
		asTwoNumbers := validate(t, func(s signer, sum []byte) ([]byte, error) {
			r, v, err := ecdsa.Sign(rand.Reader, s.key, sum)
			if err != nil {
				return nil, err
			}
			return append(r.FillBytes(make([]byte, 32)), v.FillBytes(make([]byte, 32))...), nil
		})
		shows(t, "own-xml.md", "goxmldsig says of an ECDSA value in ASN.1: %v; as two numbers: %v", inASN1, asTwoNumbers)
		if inASN1 != nil || asTwoNumbers == nil {
			t.Error("it is not as the page has it")
		}
	})
	t.Run("goxmldsig looks at one reference", func(t *testing.T) {
		s := newSigner(t)
		root := twoReferences(t, s, func(sum []byte) ([]byte, error) { return ecdsa.SignASN1(rand.Reader, s.key, sum) })
		validation := dsig.NewDefaultValidationContext(&dsig.MemoryX509CertificateStore{Roots: []*x509.Certificate{s.certificate}})
		if _, err := validation.Validate(root); err != nil {
			t.Fatalf("as signed: %v", err)
		}
		root.FindElement("//Claim").SetText("signed for the board")
		_, err := validation.Validate(root)
		shows(t, "own-xml.md", "goxmldsig says when what the second reference signs was changed: %v", err)
		if err != nil {
			t.Error("goxmldsig notices the change")
		}
	})
}

// byEtree returns what etree writes of a document that it has read. Each bit of settings switches one setting.
func byEtree(t *testing.T, content string, settings int) string {
	t.Helper()
	on := func(bit int) bool { return settings&(1<<bit) != 0 }
	document := etree.NewDocument()
	document.ReadSettings.PreserveCData, document.ReadSettings.PreserveDuplicateAttrs = on(0), on(1)
	document.WriteSettings.CanonicalEndTags, document.WriteSettings.CanonicalText, document.WriteSettings.CanonicalAttrVal = on(2), on(3), on(4)
	document.WriteSettings.AttrSingleQuote = on(5)
	if err := document.ReadFromString(content); err != nil {
		t.Fatal(err)
	}
	written, err := document.WriteToString()
	if err != nil {
		t.Fatal(err)
	}
	return written
}

// validate has goxmldsig validate a signature whose value is made by sign.
func validate(t *testing.T, sign func(s signer, sum []byte) ([]byte, error)) error {
	t.Helper()
	s := newSigner(t)
	root := twoReferences(t, s, func(sum []byte) ([]byte, error) { return sign(s, sum) })
	_, err := dsig.NewDefaultValidationContext(&dsig.MemoryX509CertificateStore{Roots: []*x509.Certificate{s.certificate}}).Validate(root)
	return err
}

// signedXML is a document that the package xades has signed.
func signedXML(t *testing.T, s signer, content string) []byte {
	t.Helper()
	document := xades.Document{ReaderAt: strings.NewReader(content), Size: int64(len(content))}
	pending, err := xades.Prepare(t.Context(), document, s.ades(), xades.Options{})
	if err != nil {
		t.Fatal(err)
	}
	value, err := s.sign(pending.Digest())
	if err != nil {
		t.Fatal(err)
	}
	revision, err := pending.Complete(t.Context(), value, nil)
	if err != nil {
		t.Fatal(err)
	}
	signed := document.With(revision)
	b := make([]byte, signed.Size)
	if _, err := signed.ReadAt(b, 0); err != nil {
		t.Fatal(err)
	}
	return b
}

// keeps reports whether a document is another one with something put in at one place.
func keeps(signed []byte, content string) bool {
	for i := range len(content) + 1 {
		if bytes.HasPrefix(signed, []byte(content[:i])) && bytes.HasSuffix(signed, []byte(content[i:])) {
			return true
		}
	}
	return false
}

// twoReferences returns a document with an XML signature of two references: to the document, and to a claim inside of
// the signature, as XAdES signs its properties.
func twoReferences(t *testing.T, s signer, sign func(sum []byte) ([]byte, error)) *etree.Element {
	t.Helper()
	const exclusive = "http://www.w3.org/2001/10/xml-exc-c14n#"
	canonical := func(e *etree.Element) []byte {
		b, err := dsig.MakeC14N10ExclusiveCanonicalizerWithPrefixList("").Canonicalize(e)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	parsed := func(text string) *etree.Element {
		d := etree.NewDocument()
		if err := d.ReadFromString(text); err != nil {
			t.Fatal(err)
		}
		return d.Root()
	}
	digest := func(e *etree.Element) string {
		sum := sha256.Sum256(canonical(e))
		return base64.StdEncoding.EncodeToString(sum[:])
	}
	const claim = `<Claim xmlns="" Id="claim">signed for myself</Claim>`
	reference := func(uri, transforms, digest string) string {
		return `<Reference URI="` + uri + `"><Transforms>` + transforms + `<Transform Algorithm="` + exclusive + `"></Transform></Transforms>` +
			`<DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"></DigestMethod><DigestValue>` + digest + `</DigestValue></Reference>`
	}
	info := `<SignedInfo xmlns="http://www.w3.org/2000/09/xmldsig#"><CanonicalizationMethod Algorithm="` + exclusive + `"></CanonicalizationMethod>` +
		`<SignatureMethod Algorithm="http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256"></SignatureMethod>` +
		reference("", `<Transform Algorithm="http://www.w3.org/2000/09/xmldsig#enveloped-signature"></Transform>`, digest(parsed("<contract></contract>"))) +
		reference("#claim", "", digest(parsed(claim))) + `</SignedInfo>`
	sum := sha256.Sum256(canonical(parsed(info)))
	value, err := sign(sum[:])
	if err != nil {
		t.Fatal(err)
	}
	return parsed(fmt.Sprintf(`<contract><Signature xmlns="http://www.w3.org/2000/09/xmldsig#">%s<SignatureValue>%s</SignatureValue>`+
		`<KeyInfo><X509Data><X509Certificate>%s</X509Certificate></X509Data></KeyInfo><Object>%s</Object></Signature></contract>`,
		info, base64.StdEncoding.EncodeToString(value), base64.StdEncoding.EncodeToString(s.certificate.Raw), claim))
}
