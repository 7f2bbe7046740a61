package xades_test

import (
	"crypto/x509"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/ades"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/internal/test/validators"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
	xmldsig "github.com/innsigli/innsigli/internal/xml/dsig"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
	"github.com/innsigli/innsigli/xades"
)

// differentElements are so many, each with a name of its own.
func differentElements(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "<n%d/>", i)
	}
	return b.String()
}

// A document that is full takes no signature, and what has taken one is read with all evidence.
func TestRoomForSignatures(t *testing.T) {
	t.Parallel()
	p := newPerson(t, newAuthority(t), p256(t))
	documents := map[string]bool{ // whether a signature has room
		"<a>" + differentElements(1<<16-300) + "</a>": true,
		"<a>" + differentElements(1<<16-200) + "</a>": false,
		"<a>" + differentElements(1<<16-20) + "</a>":  false,
	}
	if testenv.Full() {
		documents["<a>"+strings.Repeat("<b/>", 1<<22-1<<16-10)+"</a>"] = true
		documents["<a>"+strings.Repeat("<b/>", 1<<22-2)+"</a>"] = false
	}
	for b, takes := range documents {
		for _, k := range packings {
			err := xades.Check(t.Context(), document([]byte(b)), k.options())
			if (err == nil) != (takes || k.base64) || err != nil && !(errors.Is(err, ades.ErrUnreadable) && errors.Is(err, xades.ErrLimit)) {
				t.Errorf("%.20s of %d bytes, %s: %v", b, len(b), k.name, err)
			}
			if err != nil {
				continue
			}
			signed := signLevel(t, []byte(b), p, ades.LTA, k.options())
			if s := verify(t, renew(t, signed, p.ca.Sources(nil)), p.ca); s[0].Indication != ades.TotalPassed {
				t.Errorf("%.20s of %d bytes, %s: %v", b, len(b), k.name, s[0].Problems)
			}
		}
	}
}

// Evidence is not added where the document could not be read with it.
func TestRoomForEvidence(t *testing.T) {
	t.Parallel()
	p := newPerson(t, newAuthority(t), p256(t))
	signed := sign(t, []byte("<a/>"), p, packings[1].options())
	d, err := xmldoc.Parse(signed)
	if err != nil {
		t.Fatal(err)
	}
	filled := func(content string) []byte {
		return altered(t, signed, endOfSignature, "<ds:Object>"+content+"</ds:Object>"+endOfSignature)
	}
	nodes, attributes, names := d.RemainingLimits()
	checkExtension(t, "many names", filled(differentElements(names-200)), p.ca, false)
	checkExtension(t, "all names", filled(differentElements(names)), p.ca, true)
	deep := strings.Repeat("<a>", 248) + string(signed) + strings.Repeat("</a>", 248)
	checkExtension(t, "as deep as can be", []byte(deep), p.ca, false)
	if testenv.Full() {
		checkExtension(t, "many nodes", filled(strings.Repeat("<b/>", nodes-200)), p.ca, false)
		checkExtension(t, "all attributes", filled(strings.Repeat(`<b c="" d="" e="" f=""/>`, attributes/4)), p.ca, true)
		checkExtension(t, "all nodes", filled(strings.Repeat("<b/>", nodes-1)), p.ca, true)
	}
}

// checkExtension makes sure that a document with a signature is read when it is extended, or is not.
func checkExtension(t *testing.T, name string, b []byte, ca *sandboxca.Authority, full bool) {
	t.Helper()
	if _, err := xades.Verify(t.Context(), document(b), ades.VerifyOptions{}); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	revisions, err := xades.Extender{Sources: ca.Sources(nil)}.Extend(t.Context(), document(b), ades.LTA)
	switch {
	case err == nil && !full:
		if s := verify(t, apply(t, b, revisions...), ca); s[0].Format != "XAdES-BASELINE-LTA" {
			t.Errorf("%s: %s", name, s[0].Format)
		}
	case full && err == nil, err != nil && !errors.Is(err, xades.ErrLimit):
		t.Errorf("%s: %v", name, err)
	}
}

// A document has five hundred signatures, and no more.
func TestRoomAmongSignatures(t *testing.T) {
	t.Parallel()
	p := newPerson(t, newAuthority(t), p256(t))
	signed := sign(t, []byte("<a/>"), p, packings[3].options())
	other := `<ds:Signature xmlns:ds="` + xmldsig.Namespace + `"><ds:SignedInfo>` +
		`<ds:CanonicalizationMethod Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"/>` +
		`<ds:SignatureMethod Algorithm="http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256"/>` +
		strings.Replace(string(wholeReference.Find(signed)), ` Id="`, ` Type="`, 1) +
		`</ds:SignedInfo><ds:SignatureValue>AAAA</ds:SignatureValue>` + keyInfo.FindString(string(signed)) + `</ds:Signature>`
	other = strings.Replace(other, "AAAA", firstValue(t, []byte(other), p), 1)
	for n, want := range map[int]error{499: nil, 500: ades.ErrForbidden, 501: ades.ErrUnreadable} {
		b := altered(t, signed, endOfSignature, endOfSignature+strings.Repeat(other, n-1))
		for _, k := range packings {
			want := want
			if n == 500 && k.base64 {
				want = nil
			}
			err := xades.Check(t.Context(), document(b), k.options())
			if !errors.Is(err, want) || want != nil && !errors.Is(err, xades.ErrLimit) {
				t.Errorf("%d signatures, %s: %v", n, k.name, err)
			}
		}
	}
}

// In an Object of a signature, some documents would be parts of it.
func TestPartsOfSignatures(t *testing.T) {
	t.Parallel()
	ds, xa := xmldsig.Namespace, "http://uri.etsi.org/01903/"
	for _, tc := range []struct {
		space, local string
		root, deeper bool // where it cannot be
	}{
		{ds, "Manifest", true, false},
		{ds, "SignatureProperties", true, false},
		{ds, "Object", false, false},
		{ds, "QualifyingProperties", false, false},
		{xa + "v1.3.2#", "QualifyingProperties", true, false},
		{xa + "v1.3.2#", "QualifyingPropertiesReference", true, false},
		{xa + "v1.3.2#", "Manifest", false, false},
		{xa + "v1.2.2#", "QualifyingProperties", true, true},
		{xa + "v1.1.1#", "QualifyingProperties", true, true},
		{"urn:example", "Manifest", false, false},
	} {
		root := fmt.Sprintf(`<p:%s xmlns:p="%s"/>`, tc.local, tc.space)
		for i, b := range []string{root, "<a>" + root + "</a>"} {
			for _, k := range packings {
				refused := k.name == "enveloping" && []bool{tc.root, tc.deeper}[i]
				if err := xades.Check(t.Context(), document([]byte(b)), k.options()); errors.Is(err, ades.ErrForbidden) != refused || err != nil && !refused {
					t.Errorf("%s, %s: %v", b, k.name, err)
				}
			}
		}
	}
}

// Names that other parsers do not know are not signed, but in Base64; all that are signed can be read by EU DSS,
// and so can every character of every charset.
func TestReadByOthers(t *testing.T) {
	t.Parallel()
	p := newPerson(t, newAuthority(t), p256(t))
	documents := []string{
		"<Þ ж='' 中:ă='' xmlns:中='u:v'><?한?></Þ>",
		"<" + strings.Repeat("é", 1000) + "/>",
		"<\U00010000/>", "<a Ĳ=''/>", "<a xmlns:ﬁ='u:v'/>", "<a><?々?></a>", "<" + strings.Repeat("a", 1001) + "/>",
	}
	const names = 2 // that are common
	var paths []string
	add := func(b []byte) {
		paths = append(paths, filepath.Join(t.TempDir(), "signed.xml"))
		writeFile(t, paths[len(paths)-1], b)
	}
	for i, b := range documents {
		for _, k := range packings {
			err := xades.Check(t.Context(), document([]byte(b)), k.options())
			if common := i < names || k.base64; (err == nil) != common || err != nil && !errors.Is(err, ades.ErrUnreadable) {
				t.Errorf("%.40q, %s: %v", b, k.name, err)
			}
			if err == nil {
				add(sign(t, []byte(b), p, k.options()))
			}
		}
	}
	for _, label := range charsets {
		add(sign(t, allCharacters(t, label), p, xades.Options{}))
	}
	for i, r := range validators.DSS(t, validators.DSSOptions{Roots: []*x509.Certificate{p.ca.Root()}, RevocationOptional: true}, paths...) {
		if len(r.Signatures) != 1 || r.Signatures[0].Indication != "TOTAL_PASSED" {
			t.Errorf("%.120s: EU DSS: %s %+v", readFile(t, paths[i]), r.Error, r.Signatures)
		}
	}
	for i, r := range validators.XMLSec(t, nil, paths...) {
		if len(r.Signatures) != 1 || !r.Signatures[0].Valid {
			t.Errorf("%.120s: XML Security Library: %s %+v", readFile(t, paths[i]), r.Error, r.Signatures)
		}
	}
}

var charsets = []string{
	"US-ASCII", "ISO-8859-1", "ISO-8859-2", "ISO-8859-3", "ISO-8859-4", "ISO-8859-5", "ISO-8859-6", "ISO-8859-7", "ISO-8859-8",
	"ISO-8859-9", "ISO-8859-13", "ISO-8859-15", "ISO-8859-16", "windows-1250", "windows-1251", "windows-1252", "windows-1253",
	"windows-1254", "windows-1256", "windows-1257", "KOI8-R", "IBM866",
}

// allCharacters is a document with every byte that can be signed in a charset.
func allCharacters(t *testing.T, label string) []byte {
	head, content := `<?xml version="1.0" encoding="`+label+`"?><a>`, []byte(nil)
	for c := range 0x100 {
		one := []byte(head + string([]byte{byte(c)}) + "</a>")
		if xades.Check(t.Context(), document(one), xades.Options{}) == nil {
			content = append(content, byte(c))
		}
	}
	if len(content) < 96 {
		t.Errorf("%s: %d characters", label, len(content))
	}
	return []byte(head + string(content) + "</a>")
}
