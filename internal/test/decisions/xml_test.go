package decisions

import (
	"bytes"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"math/big"
	"strings"
	"testing"
	"time"

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
		if written == content {
			t.Error("etree writes what it has read")
		}
		s := newSigner(t)
		signed := signedXML(t, s, content)
		shows(t, "own-xml.md", "xades keeps every byte of it: %v", keeps(signed, content))
		if !keeps(signed, content) {
			t.Errorf("the signed document is %s", signed)
		}
	})
	t.Run("goxmldsig takes ECDSA values in ASN.1, which XML Signature has as two numbers", func(t *testing.T) {
		s := newSigner(t)
		theirs := etree.NewDocument()
		if err := theirs.ReadFromBytes(signedXML(t, s, "<contract/>")); err != nil {
			t.Fatal(err)
		}
		validation := dsig.NewDefaultValidationContext(&dsig.MemoryX509CertificateStore{Roots: []*x509.Certificate{s.certificate}})
		_, err := validation.Validate(theirs.Root())
		shows(t, "own-xml.md", "goxmldsig says of a signature with a key on P-256: %v", err)
		if err == nil {
			t.Error("goxmldsig verifies the signature")
		}
	})
	t.Run("goxmldsig looks at one reference", func(t *testing.T) {
		root, certificate := twoReferences(t)
		validation := dsig.NewDefaultValidationContext(&dsig.MemoryX509CertificateStore{Roots: []*x509.Certificate{certificate}})
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
func twoReferences(t *testing.T) (root *etree.Element, certificate *x509.Certificate) {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageDigitalSignature}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	if certificate, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
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
		`<SignatureMethod Algorithm="http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"></SignatureMethod>` +
		reference("", `<Transform Algorithm="http://www.w3.org/2000/09/xmldsig#enveloped-signature"></Transform>`, digest(parsed("<contract></contract>"))) +
		reference("#claim", "", digest(parsed(claim))) + `</SignedInfo>`
	sum := sha256.Sum256(canonical(parsed(info)))
	value, err := rsa.SignPKCS1v15(rand.Reader, key, crypto.SHA256, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	return parsed(fmt.Sprintf(`<contract><Signature xmlns="http://www.w3.org/2000/09/xmldsig#">%s<SignatureValue>%s</SignatureValue>`+
		`<KeyInfo><X509Data><X509Certificate>%s</X509Certificate></X509Data></KeyInfo><Object>%s</Object></Signature></contract>`,
		info, base64.StdEncoding.EncodeToString(value), base64.StdEncoding.EncodeToString(der), claim)), certificate
}
