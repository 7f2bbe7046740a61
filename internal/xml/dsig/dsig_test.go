package dsig

import (
	"bytes"
	"encoding/base64"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/ades"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/internal/test/validators"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// packings are documents with a signature without its value, in each place that a signature can have,
// and with each kind of reference and transform.
func packings(t testing.TB, k signer) map[string]string {
	t.Helper()
	content := base64.StdEncoding.EncodeToString([]byte("<not-read/>\n"))
	sig := func(transforms ...string) string { return k.signature(t, reference("", transforms...)) }
	of := func(uri string, transforms ...string) string { return k.signature(t, reference(uri, transforms...)) }
	return map[string]string{
		"enveloped":               `<?xml version="1.0"?><!-- before --><?go?><a b="c"> d ` + sig(enveloped, excC14N) + `</a><!-- after -->`,
		"enveloped, default":      `<a xml:lang="is">` + sig(enveloped) + `</a>`,
		"enveloped, by element":   `<a><b Id="x">` + of("#x", enveloped, excC14N) + `</b></a>`,
		"comments":                `<!-- 1 --><a><!-- 2 -->` + sig(enveloped, excComments) + `<b/></a>`,
		"XPath":                   `<a b="c"> d ` + sig(xpath, excC14N) + `</a>`,
		"filter":                  `<a b="c"> d ` + sig(filter2, excC14N) + sig(filter2, excC14N) + `</a>`,
		"filter of the root":      `<a>` + sig(rootFilter, excC14N) + sig(rootFilter, excC14N) + `</a>`,
		"short filter":            `<a b="c"> d ` + sig(shortFilter, excC14N) + sig(shortFilter, excC14N) + `</a>`,
		"filter of an element":    `<a><b Id="x"><c/>` + of("#x", filter2) + `</b></a>`,
		"three transforms":        `<a><b/>` + sig(enveloped, xpath, transform(c14n10)) + `</a>`,
		"pointer":                 `<a><!-- of it --> ` + of("#xpointer(/)", enveloped, excComments) + `</a>`,
		"pointer, default":        `<!-- 1 --><a><!-- 2 -->` + of("#xpointer(/)", enveloped) + `</a>`,
		"pointer to an element":   `<a><b ID="x"> d </b>` + of("#xpointer(id('x'))", transform("http://www.w3.org/2006/12/xml-c14n11")) + `</a>`,
		"pointer, comments":       `<a><b Id="x"><!-- 2 -->c</b>` + of("#xpointer(id('x'))", transform(c14nComments)) + `</a>`,
		"element, default":        `<a xmlns="urn:a" xmlns:b="urn:b"><b:c Id="x"/>` + of("#x") + `</a>`,
		"element, comments":       `<a><b Id="x"><!-- 2 -->c</b>` + of("#x", transform(c14nComments)) + `</a>`,
		"inclusive prefixes":      `<a xmlns:p="urn:p"><b id="x"/>` + of("#x", inclusivePrefixes("p #default")) + `</a>`,
		"two references":          `<a><b id="x"/><c xml:id="y"/>` + k.signature(t, reference("#x")+reference("#y", excC14N)) + `</a>`,
		"enveloping":              k.signature(t, reference("#x", excC14N), `<ds:Object Id="x"><a>b</a></ds:Object>`),
		"enveloping, base64":      k.signature(t, reference("#x", decode), `<ds:Object Id="x">`+content+`</ds:Object>`),
		"base64 of several nodes": `<a><b Id="x">aGVs<!-- 1 --> <c>bG8=</c></b>` + of("#x", decode) + `</a>`,
	}
}

// TestVerify signs each packing with each algorithm, and verifies the signatures with this package and
// with XML Security Library.
func TestVerify(t *testing.T) {
	var names, files []string
	folder := t.TempDir()
	for algorithm, k := range signers(t) {
		for packing, document := range packings(t, k) {
			if got := readAll(t, document)[0].Algorithm; got != k.algorithm {
				t.Errorf("%s: got algorithm %v, want %v", algorithm, got, k.algorithm)
			}
			name := algorithm + " " + packing
			signed := k.sign(t, document)
			if err := verify(t.Context(), signed); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if k.algorithm.Scheme == ades.Ed25519 {
				continue // which the library does not support
			}
			path := filepath.Join(folder, strings.ReplaceAll(name, " ", "-")+".xml")
			if err := os.WriteFile(path, []byte(signed), 0o600); err != nil {
				t.Fatal(err)
			}
			names, files = append(names, name), append(files, path)
		}
	}
	t.Run("XML Security Library", func(t *testing.T) {
		for i, report := range validators.XMLSec(t, nil, files...) {
			invalid := func(s validators.XMLSecSignature) bool { return !s.Valid }
			if report.Error != "" || len(report.Signatures) == 0 || slices.ContainsFunc(report.Signatures, invalid) {
				t.Errorf("%s: %+v", names[i], report)
			}
		}
	})
}

// departures are the first signatures of foreign files on which XML Security Library decides otherwise,
// with the error of this package (nil: they verify).
var departures = map[string]error{
	// The library follows the references of a Manifest, to files that do not exist.
	"Signature-X-CZ_SEF-5.xml":         nil,
	"X-E-ERS-MANIFEST.xml":             nil,
	"XSW-enveloping-fake-manifest.xml": nil,
	// The library evaluates any expression.
	"Signature-X-AT-1.xml":     ErrTransform,
	"qes-xades111-filter2.xml": ErrTransform,
	// The library leaves the signature out of an element that does not contain it.
	"XSW-enveloped-fake-content-misplaced.xml": ErrReference,
}

// TestForeignSignatures compares the verification of all signatures in foreign files, each with its
// first certificate, with that of XML Security Library.
func TestForeignSignatures(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testenv.Corpus(t, "signed/xml"), "*.xml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	good, bad := 0, 0
	for i, report := range validators.XMLSec(t, nil, files...) {
		name := filepath.Base(files[i])
		d, err := xmldoc.Parse(testenv.ReadFile(t, files[i]))
		if (err != nil) != (report.Error != "") {
			t.Errorf("%s: parsed: %v; xmlsec: %s", name, err, report.Error)
		}
		if err != nil {
			continue
		}
		all := slices.DeleteFunc(append([]xmldoc.Node{d.Root()}, slices.Collect(d.Root().Descendants())...),
			func(n xmldoc.Node) bool { return !n.Is(Namespace, "Signature") })
		if len(all) != len(report.Signatures) {
			t.Errorf("%s: %d signatures, xmlsec has %d", name, len(all), len(report.Signatures))
			continue
		}
		for j, element := range all {
			err := verifyElement(t.Context(), NewReader(t.Context(), d), element)
			want, departs := departures[name]
			if departs = departs && j == 0; departs && !errors.Is(err, want) || departs == (report.Signatures[j].Valid == (err == nil)) {
				t.Errorf("%s, signature %d: %v; xmlsec: valid %v %s", name, j, err, report.Signatures[j].Valid, report.Signatures[j].Error)
			}
			if err == nil {
				good++
			} else {
				bad++
			}
		}
	}
	if good < 50 || bad < 20 {
		t.Errorf("%d signatures verify and %d do not, want at least 50 and 20", good, bad)
	}
}

// TestFind checks which signatures are in the unsigned properties of a signature, and which of those
// are counter-signatures of which signature (EN 319 132-1 4.3, 5.2.7.2).
func TestFind(t *testing.T) {
	unsigned := func(content string) string {
		return `<Object><q:QualifyingProperties><q:UnsignedProperties>` + content + `</q:UnsignedProperties></q:QualifyingProperties></Object>`
	}
	counter := func(signature string) string {
		return unsigned(`<q:UnsignedSignatureProperties><q:CounterSignature>` + signature + `</q:CounterSignature></q:UnsignedSignatureProperties>`)
	}
	for name, row := range map[string]struct{ content, found, unsigned string }{
		"no signature":               {`<b/>`, "", ""},
		"another namespace":          {`<Signature xmlns=""/>`, "", ""},
		"two signatures":             {`<Signature Id="1"/><b><Signature Id="2"/></b>`, "1 2", ""},
		"signature in an Object":     {`<Signature Id="1"><Object><Signature Id="2"/></Object></Signature>`, "1 2", ""},
		"counter-signature":          {`<Signature Id="1">` + counter(`<Signature Id="2"/>`) + `</Signature><Signature Id="3"/>`, "1 3", "2(1)"},
		"nested counter-signature":   {`<Signature Id="1">` + counter(`<Signature Id="2">`+counter(`<Signature Id="3"/>`)+`</Signature>`) + `</Signature>`, "1", "2(1) 3(2)"},
		"another unsigned property":  {`<Signature Id="1">` + unsigned(`<q:Other><Signature Id="2"/></q:Other>`) + `</Signature>`, "1", "2"},
		"properties of no signature": {`<b>` + counter(`<Signature Id="1"/>`) + `</b>`, "1", ""},
		"properties in KeyInfo":      {`<Signature Id="1"><KeyInfo>` + counter(`<Signature Id="2"/>`) + `</KeyInfo></Signature>`, "1 2", ""},
		"property without list":      {`<q:CounterSignature><Signature Id="1"/></q:CounterSignature>`, "1", ""},
	} {
		d := parse(t, `<a xmlns="`+Namespace+`" xmlns:q="http://uri.etsi.org/01903/v1.3.2#">`+row.content+`</a>`)
		ids := func(all []xmldoc.Node) string {
			var ids []string
			for _, n := range all {
				id, _ := n.Attr("", "Id")
				if of, ok := Countersigned(n).Attr("", "Id"); ok {
					id += "(" + of + ")"
				}
				ids = append(ids, id)
			}
			return strings.Join(ids, " ")
		}
		if got, unsigned := ids(Find(d)), ids(FindUnsigned(d)); got != row.found || unsigned != row.unsigned {
			t.Errorf("%s: got %q and %q, want %q and %q", name, got, unsigned, row.found, row.unsigned)
		}
	}
	if found := Find(parse(t, `<Signature xmlns="`+Namespace+`"/>`)); len(found) != 1 {
		t.Errorf("the root: got %d signatures", len(found))
	}
}

// FuzzRead reads signed documents in which bytes are replaced, and arbitrary documents. A signature that
// verifies has the SignedInfo and covers the content of one that was signed. All errors are sentinels.
func FuzzRead(f *testing.F) {
	k := newECDSASigner(f)
	documents := packings(f, k)
	var signed []string
	for _, name := range slices.Sorted(maps.Keys(documents)) {
		f.Add(uint8(len(signed)), uint16(0), []byte{})
		f.Add(uint8(len(signed)), uint16(200), []byte("<ds:Object/>"))
		signed = append(signed, k.sign(f, documents[name]))
	}
	for _, document := range []string{
		`<Signature xmlns="` + Namespace + `"/>`,
		`<a><!-- <ds:Signature> --><?ds:Signature?></a>`,
		documents["enveloping"], // without a value
	} {
		f.Add(uint8(len(signed)), uint16(0), []byte(document))
	}
	covered := make(map[string]bool)
	for _, document := range signed {
		for _, s := range readAll(f, document) {
			covered[signedContent(f, s)] = true
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, at uint16, with []byte) {
		document := with
		if n := int(which) % (len(signed) + 1); n < len(signed) {
			document = []byte(signed[n]) // each process has its own
			copy(document[min(int(at), len(document)):], with)
		}
		d, err := xmldoc.Parse(document)
		if err != nil {
			return
		}
		for _, n := range Find(d) {
			s, err := Read(d, n)
			if err != nil {
				checkSentinel(t, err)
				continue
			}
			if len(s.References) == 0 || len(s.References) > maxReferences || len(s.Certificates) > maxCertificates {
				t.Errorf("%d references, %d certificates", len(s.References), len(s.Certificates))
			}
			if verifies(t, s) && !covered[signedContent(t, s)] {
				t.Errorf("a signature verifies over content that was not signed: %s", document)
			}
		}
	})
}

// signedContent returns the canonical SignedInfo of a signature and the content of its references.
func signedContent(t testing.TB, s *Signature) string {
	t.Helper()
	var text bytes.Buffer
	if err := s.Canonicalize(&text, s.Canonicalization, xmldoc.Subset{Apex: s.SignedInfo}); err != nil {
		t.Error(err)
	}
	for _, r := range s.References {
		if err := s.Process(&text, r, xmldoc.Canonicalization{Method: xmldoc.C14N10}); err != nil {
			t.Error(err)
		}
	}
	return text.String()
}

// verifies reports whether a signature verifies with its first certificate, after checking what its
// references cover.
func verifies(t *testing.T, s *Signature) bool {
	good := len(s.Certificates) > 0
	for _, r := range s.References {
		target, err := s.Target(r)
		checkSentinel(t, err)
		covered, err := s.Covers(r)
		checkSentinel(t, err)
		if err == nil && covered.Apex != target {
			t.Error("Covers and Target differ")
		}
		err = s.VerifyReference(t.Context(), r)
		checkSentinel(t, err)
		good = good && err == nil
	}
	if !good {
		return false
	}
	err := s.VerifyValue(s.Certificates[0])
	checkSentinel(t, err)
	return err == nil
}

func checkSentinel(t *testing.T, err error) {
	t.Helper()
	sentinels := []error{nil, ErrFormat, ErrReference, ErrTransform, ErrDigest, ErrLimit, ades.ErrAlgorithm, ades.ErrValue, xmldoc.ErrNamespace}
	if !slices.ContainsFunc(sentinels, func(sentinel error) bool { return errors.Is(err, sentinel) }) {
		t.Errorf("error without a sentinel: %v", err)
	}
}
