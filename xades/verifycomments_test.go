package xades_test

import (
	"crypto"
	"crypto/sha256"
	"encoding/base64"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/ades"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
	xmldsig "github.com/innsigli/innsigli/internal/xml/dsig"
	"github.com/innsigli/innsigli/xades"
)

// keepingComments has the reference of an enveloped signature lead to the document by a URI and a canonicalization, with
// the digest of the document with its comments or without.
func keepingComments(t *testing.T, signed []byte, p person, uri, method string, comments bool) []byte {
	t.Helper()
	d, err := xmldoc.Parse(signed)
	if err != nil {
		t.Fatal(err)
	}
	digest := func(c xmldoc.Canonicalization) string {
		sum := sha256.New()
		without := func(n xmldoc.Node) bool { return n.Is(xmldsig.Namespace, "Signature") }
		if err := d.Canonicalize(sum, c, xmldoc.Subset{Without: without}); err != nil {
			t.Fatal(err)
		}
		return base64.StdEncoding.EncodeToString(sum.Sum(nil))
	}
	was, is := digest(xmldoc.Canonicalization{Method: xmldoc.Exclusive}), digest(xmldoc.Canonicalization{Method: xmldoc.Exclusive, Comments: comments})
	signed = altered(t, signed, ` URI=""`, ` URI="`+uri+`"`)
	signed = altered(t, signed, filterTransform+canonicalTransform, filterTransform+strings.Replace(canonicalTransform, xmldsig.CanonicalizationMethod(xmldoc.Canonicalization{Method: xmldoc.Exclusive}), method, 1))
	return rewritten(t, signed, p, was, is)
}

// A comment can be changed in what is signed, unless the reference and its canonicalization keep comments (xmldsig-core1
// 4.4.3.3, Canonical XML 1.1 2.1), and a reader is told where there is one.
func TestComments(t *testing.T) {
	t.Parallel()
	p := newPerson(t, newAuthority(t), p256(t))
	const (
		plain     = `<a><b>to Jón</b></a>`
		commented = `<a><b>to <!-- 1 -->Jón</b></a>`
		with      = "http://www.w3.org/2001/10/xml-exc-c14n#WithComments"
		without   = "http://www.w3.org/2001/10/xml-exc-c14n#"
	)
	enveloped := func(content string) []byte { return sign(t, []byte(content), p, xades.Options{}) }
	inSignature := altered(t, enveloped(plain), "<ds:KeyInfo>", "<ds:KeyInfo><!-- 1 -->")
	for _, test := range []struct {
		name   string
		b      []byte
		warned bool
	}{
		{"no comment", enveloped(plain), false},
		{"an instruction", enveloped(`<a><?go 1?></a>`), false},
		{"in the content", enveloped(commented), true},
		{"before the root", enveloped(`<!-- 1 -->` + plain), true},
		{"behind the root", enveloped(plain + `<!-- 1 -->`), true},
		{"in an element that is signed alone", sign(t, []byte(commented), p, packings[3].options()), true},
		{"beside an element that is signed alone", altered(t, sign(t, []byte(plain), p, packings[3].options()), "<ds:Signature ", "<!-- 1 --><ds:Signature "), false},
		{"in an object", sign(t, []byte(commented), p, packings[1].options()), true},
		{"in a file in Base64", sign(t, []byte(commented), p, packings[2].options()), false},
		{"in Base64", altered(t, sign(t, []byte(plain), p, packings[2].options()), "</ds:Object></ds:Signature>", "<!-- 1 --></ds:Object></ds:Signature>"), true},
		{"in the signature", inSignature, false},
		{"in the signed properties", altered(t, enveloped(plain), "<xades:SigningTime>", "<!-- 1 --><xades:SigningTime>"), true},
		{"kept", keepingComments(t, enveloped(commented), p, "#xpointer(/)", with, true), false},
		{"kept by the canonicalization alone", keepingComments(t, enveloped(commented), p, "", with, false), true},
		{"kept by the pointer alone", keepingComments(t, enveloped(commented), p, "#xpointer(/)", without, false), true},
	} {
		got := verify(t, test.b, p.ca)
		if len(got) != 1 || !got[0].Intact {
			t.Fatalf("%s: %+v", test.name, got)
		}
		if want := count(test.warned); len(got[0].Warnings) != want || want > 0 && !strings.Contains(got[0].Warnings[0], "comments") {
			t.Errorf("%s: %q", test.name, got[0].Warnings)
		}
	}
	if got := verify(t, enveloped(commented), p.ca)[0]; !got.Passed() || got.Coverage != ades.WholeDocument {
		t.Errorf("a comment keeps the signature from passing: %s, %s", got.SubIndication, got.Coverage)
	}
	if got := verify(t, altered(t, enveloped(commented), "<!-- 1 -->", ""), p.ca)[0]; !got.Intact {
		t.Errorf("without the comment it is not intact: %q", got.Problems)
	}
	kept := keepingComments(t, enveloped(commented), p, "#xpointer(/)", with, true)
	if got := verify(t, altered(t, kept, "<!-- 1 -->", ""), p.ca)[0]; got.SubIndication != ades.HashFailure {
		t.Errorf("without a comment that is signed: %s %q", got.SubIndication, got.Problems)
	}
}

// A comment that one reference drops and another one keeps cannot be changed.
func TestCommentsKeptByAnother(t *testing.T) {
	t.Parallel()
	p := newPerson(t, newAuthority(t), p256(t))
	signed := sign(t, []byte(`<a><b Id="b">to <!-- 1 -->Jón</b></a>`), p, xades.Options{})
	digest := sumOf(t, signed, crypto.SHA256, named("b"))
	also := `<ds:Reference URI="#b">` + exclusiveTransform + sha256Method + `<ds:DigestValue>` + digest + `</ds:DigestValue></ds:Reference></ds:SignedInfo>`
	signed = keepingComments(t, signed, p, "#xpointer(/)", "http://www.w3.org/2001/10/xml-exc-c14n#WithComments", true)
	got := verify(t, rewritten(t, signed, p, "</ds:SignedInfo>", also), p.ca)[0]
	if !got.Intact || len(got.Warnings) > 0 {
		t.Errorf("intact %t: %q %q", got.Intact, got.Problems, got.Warnings)
	}
}
