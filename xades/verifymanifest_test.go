package xades_test

import (
	"crypto"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
	"github.com/innsigli/innsigli/xades"
)

// sumOf is the digest of an element as exclusive canonical form has it, in Base64.
func sumOf(t testing.TB, b []byte, h crypto.Hash, is func(xmldoc.Node) bool) string {
	t.Helper()
	d, err := xmldoc.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	for n := range d.Root().Descendants() {
		if is(n) {
			sum := h.New()
			sum.Write([]byte(write(t, d, xmldoc.Subset{Apex: n})))
			return base64.StdEncoding.EncodeToString(sum.Sum(nil))
		}
	}
	t.Fatal("the element is not there")
	return ""
}

func named(local string) func(xmldoc.Node) bool {
	return func(n xmldoc.Node) bool { return n.Name().Local == local }
}

const (
	exclusiveTransform = `<ds:Transforms><ds:Transform Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"></ds:Transform></ds:Transforms>`
	sha256Method       = `<ds:DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"></ds:DigestMethod>`
	sha1Method         = `<ds:DigestMethod Algorithm="http://www.w3.org/2000/09/xmldsig#sha1"></ds:DigestMethod>`
)

// listing is a signature that signs a Manifest, too.
func listing(t *testing.T, p person, signed []byte, entry string) []byte {
	t.Helper()
	b := altered(t, signed, endOfElement, `<ds:Object Id="other">AAAA</ds:Object><ds:Object><ds:Manifest Id="list">`+entry+"</ds:Manifest></ds:Object>"+endOfElement)
	reference := `<ds:Reference Type="http://www.w3.org/2000/09/xmldsig#Manifest" URI="#list">` + exclusiveTransform + sha256Method +
		"<ds:DigestValue>" + sumOf(t, b, crypto.SHA256, named("Manifest")) + "</ds:DigestValue></ds:Reference>"
	return rewritten(t, b, p, "</ds:SignedInfo>", reference+"</ds:SignedInfo>")
}

// What a Manifest lists has to be what it was if it is in the document. If it is not, the signature says nothing
// wrong, and a reader is told (xmldsig-core1 5.1, EN 319 102-1 5.2.7); the document does not pass by it.
func TestManifests(t *testing.T) {
	t.Parallel()
	p := newPerson(t, newAuthority(t), p256(t))
	signed := sign(t, []byte("<a/>"), p, xades.Options{})
	entry := func(uri, transforms, digest string) string {
		return fmt.Sprintf(`<ds:Reference URI="%s">%s%s<ds:DigestValue>%s</ds:DigestValue></ds:Reference>`, uri, transforms, sha256Method, digest)
	}
	for _, test := range []struct {
		name, entry string
		want        ades.SubIndication
		warnings    int
	}{
		{"elsewhere", entry("annex.pdf", "", "AAAA"), ades.TryLater, 1},
		{"several elsewhere", entry("annex.pdf", "", "AAAA") + entry("map.pdf", "", "AAAA"), ades.TryLater, 1},
		{"not there", entry("#annex", "", "AAAA"), ades.TryLater, 1},
		{"another", entry("#other", exclusiveTransform, "AAAA"), ades.HashFailure, 0},
		{"transformed by something unknown", entry("#other", `<ds:Transforms>`+styleTransform+`</ds:Transforms>`, "AAAA"), ades.SignedDataNotFound, 0},
		{"no digest", entry("#other", "", "?"), ades.FormatFailure, 0},
		{"nothing", "", ades.FormatFailure, 0},
	} {
		b := listing(t, p, signed, test.entry)
		report, err := xades.Verify(t.Context(), document(b), ades.VerifyOptions{Roots: p.ca.Roots()})
		if err != nil {
			t.Fatal(err)
		}
		got := report.Signatures[0]
		if diff := cmp.Diff([]any{test.want, test.warnings}, []any{got.SubIndication, len(got.Warnings)}); diff != "" {
			t.Errorf("%s (-want +got):\n%s%q %q", test.name, diff, got.Problems, got.Warnings)
		}
		if report.Passed() || test.warnings > 0 && got.Coverage != ades.Partial {
			t.Errorf("%s: the document passes, %s", test.name, got.Coverage)
		}
	}
	tampered := altered(t, listing(t, p, signed, entry("#other", "", "AAAA")), `<ds:DigestValue>AAAA`, `<ds:DigestValue>?`)
	if got := verify(t, tampered, p.ca)[0]; got.SubIndication != ades.HashFailure {
		t.Errorf("tampered with: %s %q", got.SubIndication, got.Problems)
	}
}

// A hash that nobody relies on is told even where revocation data may come later: that would not mend it.
func TestWeakDigests(t *testing.T) {
	t.Parallel()
	p := newPerson(t, newAuthority(t), p256(t))
	signed := sign(t, []byte(contract), p, xades.Options{})
	was := sumOf(t, signed, crypto.SHA256, named("SignedProperties"))
	method := sha256Method + "<ds:DigestValue>" + was
	weak := sha1Method + "<ds:DigestValue>" + sumOf(t, signed, crypto.SHA1, named("SignedProperties"))
	got := verify(t, rewritten(t, signed, p, method, weak), p.ca)[0]
	if got.SubIndication != ades.CryptoConstraintsFailureNoPOE || !got.Intact || got.Passed() {
		t.Errorf("%s, intact %t: %q", got.SubIndication, got.Intact, got.Problems)
	}
}

// A format is what a signature has, whether or not it is read by this package (EN 319 132-1 6.3): with a transform
// that is not known, or by an earlier edition of XAdES.
func TestFormatsOfWhatIsNotFound(t *testing.T) {
	t.Parallel()
	p := newPerson(t, newAuthority(t), p256(t))
	signed := sign(t, []byte(contract), p, xades.Options{})
	for name, b := range map[string][]byte{
		"stylesheet":      rewritten(t, signed, p, filterTransform, styleTransform),
		"earlier edition": []byte(strings.ReplaceAll(string(signed), "http://uri.etsi.org/01903/v1.3.2#", "http://uri.etsi.org/01903/v1.2.2#")),
	} {
		got := verify(t, b, p.ca)[0]
		if got.Format != "XAdES-BASELINE-B" || got.SubIndication != ades.SignedDataNotFound || got.Intact {
			t.Errorf("%s: %s %s, intact %t: %q", name, got.Format, got.SubIndication, got.Intact, got.Problems)
		}
	}
}
