package dsig

import (
	"crypto"
	"crypto/elliptic"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/ades"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	"github.com/innsigli/innsigli/internal/test/validators"
)

// signers are one of each algorithm that signatures are made with.
func signers(t testing.TB) map[string]signer {
	t.Helper()
	all := map[string]signer{
		"RSA":     newRSASigner(t, ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.PKCS1v15}),
		"RSA 512": newRSASigner(t, ades.Algorithm{Hash: crypto.SHA512, Scheme: ades.PKCS1v15}),
		"PSS":     newRSASigner(t, ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.PSS}),
		"PSS 384": newRSASigner(t, ades.Algorithm{Hash: crypto.SHA384, Scheme: ades.PSS}),
		"Ed25519": newEd25519Signer(t),
	}
	for name, curve := range map[string]elliptic.Curve{"P-256": elliptic.P256(), "P-384": elliptic.P384(), "P-521": elliptic.P521()} {
		key := certtest.NewKey(t, curve)
		a, err := ades.DefaultAlgorithm(key.Public())
		if err != nil {
			t.Fatal(err)
		}
		all[name] = newSigner(t, key, a)
	}
	return all
}

// packings are a document with a signature in each place that there is for one.
func packings(t testing.TB, k signer) map[string]string {
	t.Helper()
	content := base64.StdEncoding.EncodeToString([]byte("<not-read/>\n"))
	return map[string]string{
		"enveloped":           `<?xml version="1.0"?><!-- before --><?go?><a b="c"> d ` + k.signature(t, reference("", enveloped, excC14N)) + `</a><!-- after -->`,
		"by XPath":            `<a b="c"> d ` + k.signature(t, reference("", xpath, excC14N)) + `</a>`,
		"by filter":           `<a b="c"> d ` + k.signature(t, reference("", filter2, excC14N)) + k.signature(t, reference("", filter2, excC14N)) + `</a>`,
		"by pointer":          `<a><!-- of it --> ` + k.signature(t, reference("#xpointer(/)", enveloped, transform(exclusive+"WithComments"))) + `</a>`,
		"inclusive":           `<a xmlns="urn:a" xmlns:b="urn:b"><b:c Id="x"/>` + k.signature(t, reference("#x")) + `</a>`,
		"element with ID":     `<a><b ID="x"> d </b>` + k.signature(t, reference("#xpointer(id('x'))", transform("http://www.w3.org/2006/12/xml-c14n11"))) + `</a>`,
		"enveloping":          k.signature(t, reference("#x", excC14N), `<ds:Object Id="x"><a>b</a></ds:Object>`),
		"enveloping, base64":  k.signature(t, reference("#x", transform(transformBase64)), `<ds:Object Id="x">`+content+`</ds:Object>`),
		"two references":      `<a><b id="x"/><c xml:id="y"/>` + k.signature(t, reference("#x")+reference("#y", excC14N)) + `</a>`,
		"inclusive prefix":    `<a xmlns:p="urn:p"><b id="x"/>` + k.signature(t, reference("#x", transform(exclusive, `<e:InclusiveNamespaces xmlns:e="`+exclusive+`" PrefixList="p #default"/>`))) + `</a>`,
		"enveloped, no C14N":  `<a xml:lang="is">` + k.signature(t, reference("", enveloped)) + `</a>`,
		"comments":            `<!-- 1 --><a><!-- 2 -->` + k.signature(t, reference("", enveloped, transform(exclusive+"WithComments"))) + `<b/></a>`,
		"comments, by ID":     `<a><b Id="x"><!-- 2 -->c</b>` + k.signature(t, reference("#x", transform(c14nComments))) + `</a>`,
		"a pointer, no C14N":  `<!-- 1 --><a><!-- 2 -->` + k.signature(t, reference("#xpointer(/)", enveloped)) + `</a>`,
		"by pointer to ID":    `<a><b Id="x"><!-- 2 -->c</b>` + k.signature(t, reference("#xpointer(id('x'))", transform(c14nComments))) + `</a>`,
		"by filter of root":   `<a>` + k.signature(t, reference("", rootFilter, excC14N)) + k.signature(t, reference("", rootFilter, excC14N)) + `</a>`,
		"by short filter":     `<a b="c"> d ` + k.signature(t, reference("", shortFilter, excC14N)) + k.signature(t, reference("", shortFilter, excC14N)) + `</a>`,
		"filter, object":      `<a><b Id="x"><c/>` + k.signature(t, reference("#x", filter2)) + `</b></a>`,
		"base64 in parts":     `<a><b Id="x">aGVs<!-- 1 --> <c>bG8=</c></b>` + k.signature(t, reference("#x", transform(transformBase64))) + `</a>`,
		"three transforms":    `<a><b/>` + k.signature(t, reference("", enveloped, xpath, transform(c14n10))) + `</a>`,
		"elements inside one": `<a><b Id="x">` + k.signature(t, reference("#x", enveloped, excC14N)) + `</b></a>`,
	}
}

func TestSigned(t *testing.T) {
	var names, files []string
	folder := t.TempDir()
	keep := func(name, document string) {
		path := filepath.Join(folder, strings.ReplaceAll(name, " ", "-")+".xml")
		if err := os.WriteFile(path, []byte(document), 0o600); err != nil {
			t.Fatal(err)
		}
		names, files = append(names, name), append(files, path)
	}
	for algorithm, k := range signers(t) {
		for packing, document := range packings(t, k) {
			name := algorithm + " " + packing
			signed := k.sign(t, document)
			if err := verify(t.Context(), signed); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if k.algorithm.Scheme != ades.Ed25519 { // which the library does not know
				keep(name, signed)
			}
		}
	}
	for i, report := range validators.XMLSec(t, nil, files...) {
		if report.Error != "" || len(report.Signatures) == 0 {
			t.Errorf("%s: xmlsec: %s", names[i], report.Error)
		}
		for _, s := range report.Signatures {
			if !s.Valid {
				t.Errorf("%s: xmlsec: %s", names[i], s.Error)
			}
		}
	}
}

// What stands in an unsigned property of a signature signs that signature, and is not one of the document.
func TestFind(t *testing.T) {
	const ds = `xmlns:ds="` + Namespace + `"`
	const unsigned = `<q:QualifyingProperties xmlns:q="http://uri.etsi.org/01903/v1.3.2#"><q:UnsignedProperties><ds:Signature Id="counter"/></q:UnsignedProperties></q:QualifyingProperties>`
	for name, row := range map[string]struct {
		document string
		want     string
	}{
		"none":                      {`<a/>`, ""},
		"of another namespace":      {`<a><Signature/></a>`, ""},
		"the root":                  {`<ds:Signature ` + ds + ` Id="1"/>`, "1"},
		"two":                       {`<a ` + ds + `><ds:Signature Id="1"/><b><ds:Signature Id="2"/></b></a>`, "1 2"},
		"one in another's object":   {`<ds:Signature ` + ds + ` Id="1"><ds:Object><ds:Signature Id="2"/></ds:Object></ds:Signature>`, "1 2"},
		"a counter-signature":       {`<a ` + ds + `><ds:Signature Id="1"><ds:Object>` + unsigned + `</ds:Object></ds:Signature><ds:Signature Id="2"/></a>`, "1 2"},
		"properties of nothing":     {`<a ` + ds + `>` + unsigned + `</a>`, "counter"},
		"properties somewhere else": {`<ds:Signature ` + ds + ` Id="1"><ds:KeyInfo>` + unsigned + `</ds:KeyInfo></ds:Signature>`, "1 counter"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, n := range Find(parse(t, row.document)) {
				id, _ := n.Attr("", "Id")
				got = append(got, id)
			}
			if strings.Join(got, " ") != row.want {
				t.Errorf("%q, want %q", got, row.want)
			}
		})
	}
}

func TestURIs(t *testing.T) {
	for name, k := range signers(t) {
		document := `<a>` + k.signature(t, reference("", enveloped)) + `</a>`
		if got := signatures(t, document)[0].Algorithm; got != k.algorithm {
			t.Errorf("%s: %v is read as %v", name, k.algorithm, got)
		}
	}
	for _, h := range []crypto.Hash{crypto.SHA256, crypto.SHA384, crypto.SHA512} {
		uri, err := DigestMethod(h)
		if err != nil || Hash(uri) != h {
			t.Errorf("%v: %q, %v", h, uri, err)
		}
	}
	if _, err := DigestMethod(crypto.SHA1); !errors.Is(err, ades.ErrAlgorithm) {
		t.Errorf("SHA-1: %v", err)
	}
	if _, err := SignatureMethod(ades.Algorithm{Hash: crypto.SHA1, Scheme: ades.PKCS1v15}); !errors.Is(err, ades.ErrAlgorithm) {
		t.Errorf("RSA with SHA-1: %v", err)
	}
	if _, err := SignatureMethod(ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.PSS, Salt: 20}); !errors.Is(err, ades.ErrAlgorithm) {
		t.Errorf("a salt that the URI does not say: %v", err)
	}
	if Hash(Namespace+"md5") != 0 {
		t.Error("a hash that is not known")
	}
}
