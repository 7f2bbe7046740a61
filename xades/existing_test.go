package xades_test

import (
	"crypto"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/xades"
)

// naming is a signature whose SigningCertificateV2 names a certificate by another digest.
func naming(t *testing.T, signed []byte, p person) []byte {
	t.Helper()
	was := sumOf(t, signed, crypto.SHA256, named("SignedProperties"))
	const cert = "<xades:Cert><xades:CertDigest>" + sha256Method + "<ds:DigestValue>"
	other := altered(t, signed, cert, cert+"AAAA")
	return rewritten(t, other, p, was, sumOf(t, other, crypto.SHA256, named("SignedProperties")))
}

// A document whose signature is wrong by what the document itself says takes no further one in any packing, and one
// of which nobody can tell takes one in Base64 alone (EN 319 102-1 5.2.3, 5.2.7). The error names the signature.
func TestWrongEarlierSignatures(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	p, q := newPerson(t, ca, p256(t)), newPerson(t, ca, p256(t))
	signed := sign(t, []byte(`<a><b Id="b">c</b></a>`), p, packings[3].options())
	entry := func(uri, digest string) string {
		return fmt.Sprintf(`<ds:Reference URI="%s">%s%s<ds:DigestValue>%s</ds:DigestValue></ds:Reference>`, uri, exclusiveTransform, sha256Method, digest)
	}
	of := func(signed []byte) string { return "signature-" + string(idOf(signed)) }
	ok, forbidden, broken := error(nil), ades.ErrForbidden, ades.ErrBroken
	all := func(err error) [4]error { return [4]error{err, err, err, err} }
	unknown := [4]error{forbidden, forbidden, ok, forbidden}
	for _, test := range []struct {
		name string
		b    []byte
		want [4]error // by packing
	}{
		{"a Manifest of something that was changed", listing(t, p, signed, entry("#b", "AAAA")), all(broken)},
		{"a Manifest of nothing", listing(t, p, signed, ""), all(broken)},
		{"SigningCertificate with another digest", naming(t, signed, p), all(broken)},
		{"properties of another signature", altered(t, signed, `Target="#`, `Target="#x`), all(broken)},
		{"no reference to the properties", rewritten(t, signed, p, ` Type="http://uri.etsi.org/01903#SignedProperties"`, ""), all(broken)},
		{"the certificate of another person", keyInfo.ReplaceAll(signed, keyInfo.Find(sign(t, []byte("<a/>"), q, xades.Options{}))), unknown},
		{"no certificate", keyInfo.ReplaceAll(signed, []byte("<ds:KeyInfo><ds:KeyName>p</ds:KeyName></ds:KeyInfo>")), unknown},
		{"no reference to data", rewritten(t, signed, p, wholeReference.FindString(string(signed)), ""), all(broken)},
		{"an Object of the document", rewritten(t, signed, p, "<ds:Reference ", `<ds:Reference Type="http://www.w3.org/2000/09/xmldsig#Object" `), all(broken)},
		{"a counter-signature of something else", counterSigned(t, signed, q, 0, "b", countersignedType), all(broken)},
		{"a counter-signature", counterSigned(t, signed, q, 0, idsOfValues(signed)[0], countersignedType), all(ok)},
		{"no signature at all", altered(t, signed, "<ds:SignedInfo>", "<ds:SignedInfo/><ds:SignedInfo>"), all(broken)},
		{"a canonicalization that is not known", altered(t, signed, `CanonicalizationMethod Algorithm="`, `CanonicalizationMethod Algorithm="x`), unknown},
	} {
		for i, k := range packings {
			_, err := xades.Sign(t.Context(), document(test.b), p.key, p.signer, k.options(), ades.Sources{})
			if !errors.Is(err, test.want[i]) || err != nil && test.want[i] == nil {
				t.Errorf("%s, then %s: %v, want %v", test.name, k.name, err, test.want[i])
			}
			if err != nil && !strings.Contains(err.Error(), of(signed)) && !strings.Contains(test.name, "counter") {
				t.Errorf("%s, then %s: %v does not name the signature", test.name, k.name, err)
			}
		}
	}
}

// What a signature carries and does not sign stays out of enveloped signatures, and of those of a container: they would
// cover a part of the document. One that is put around it covers it.
func TestUnsignedContentOfEarlierSignatures(t *testing.T) {
	t.Parallel()
	p := newPerson(t, newAuthority(t), p256(t))
	signed := sign(t, []byte("<a/>"), p, packings[3].options())
	own := altered(t, signed, endOfElement, "<ds:Object>"+loosePrice+"</ds:Object>"+endOfElement)
	if got := verify(t, own, p.ca)[0]; !got.Intact || got.Coverage != ades.Partial {
		t.Fatalf("intact %t, %s", got.Intact, got.Coverage)
	}
	for _, k := range packings {
		r, err := xades.Sign(t.Context(), document(own), p.key, p.signer, k.options(), ades.Sources{})
		if k.packing != xades.Enveloping {
			if !errors.Is(err, ades.ErrForbidden) || !strings.Contains(err.Error(), string(idOf(signed))) {
				t.Errorf("%s: %v", k.name, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", k.name, err)
		}
		all := verify(t, apply(t, own, r), p.ca)
		last := all[len(all)-1]
		if !last.Intact || last.Coverage != ades.WholeDocument {
			t.Errorf("%s: intact %t, %s, %q", k.name, last.Intact, last.Coverage, last.Problems)
		}
		if !k.base64 && (len(all) != 2 || all[0].Coverage != ades.Partial) {
			t.Errorf("%s: the signature that carries it covers it: %v", k.name, all)
		}
	}
}

// No foreign file is signed with a signature in it that the file itself shows to be wrong, and what is signed is all of
// the document.
func TestSigningForeignFiles(t *testing.T) {
	t.Parallel()
	p := newPerson(t, newAuthority(t), p256(t))
	made, refused := 0, 0
	for _, path := range foreignPaths(t) {
		b := readFile(t, path)
		for _, k := range packings {
			r, err := xades.Sign(t.Context(), document(b), p.key, p.signer, k.options(), ades.Sources{})
			if err != nil {
				refused++
				continue
			}
			made++
			for _, s := range verify(t, apply(t, b, r), p.ca) {
				own := s.Certificate != nil && s.Certificate.Equal(p.signer.Certificate)
				outside := s.SubIndication == ades.SignedDataNotFound && strings.Contains(s.Problems[0], "xmldsig: reference: ") // is INDETERMINATE before and after
				if own && s.Coverage != ades.WholeDocument || !s.Intact && !outside {
					t.Errorf("%s, then %s: %q is %s, %s: %q", path, k.name, s.Name, s.SubIndication, s.Coverage, s.Problems)
				}
			}
		}
	}
	t.Logf("figure: %d signatures were made, %d refused", made, refused)
}
