package xades_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	xmldsig "github.com/innsigli/innsigli/internal/xml/dsig"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
	"github.com/innsigli/innsigli/xades"
)

// TestExistingSignatures signs documents that have a signature, in each packing. It checks that
// Prepare and Check refuse if the existing signature is not valid, or would break, or cannot be
// fully read (EN 319 132-1 6.3, EN 319 102-1 5.2.3 and 5.2.7, xmldsig-core1 4.4.3 and 6.6).
func TestExistingSignatures(t *testing.T) {
	t.Parallel()
	ca := catest.New(t)
	p, q := newPerson(t, ca, p256(t)), newPerson(t, ca, p256(t))
	signed := make(map[packing][]byte)
	for _, k := range packings {
		signed[k] = sign(t, []byte(`<a><b Id="b">c</b></a>`), p, k.options())
	}
	doc := func(k packing, c change) []byte { return c(t, p, signed[k]) }
	otherKeyInfo := string(keyInfo.Find(sign(t, []byte("<a/>"), q, xades.Options{})))
	bound := replace("<internally-detached>", `<internally-detached xmlns:ds="`+xmldsig.Namespace+`">`)
	unbound := replace(`<internally-detached xmlns:ds="`+xmldsig.Namespace+`">`, "<internally-detached>")
	ok, forbidden := error(nil), ades.ErrForbidden
	accepted, broken := [4]error{}, [4]error{ades.ErrBroken, ades.ErrBroken, ades.ErrBroken, ades.ErrBroken}
	unknown := [4]error{forbidden, forbidden, ok, forbidden}
	// For these the error may say of any signature that it would break.
	unnamed := []string{"enveloped", "enveloping", "leaves out only itself", "inclusive canonicalization"}
	for _, test := range []struct {
		name string
		b    []byte
		want [4]error // by the packing of the new signature
	}{
		{"enveloped", signed[enveloped], [4]error{ok, forbidden, ok, forbidden}},
		{"enveloping", signed[enveloping], [4]error{forbidden, ok, ok, ok}},
		{"internally detached", signed[detached], accepted},
		{"in the content of the document", []byte("<bundle>" + string(signed[enveloping]) + "</bundle>"), accepted},
		{"leaves out only itself", doc(enveloped, signs(replace(filterTransform, ownTransform))), unknown},
		{"inclusive canonicalization", doc(detached, signs(replace(exclusiveTransform, inclusiveTransform))), [4]error{ok, forbidden, ok, ok}},
		{"valid only inside an enveloping signature", doc(detached, all(signs(bound, replace(exclusiveTransform, inclusiveTransform)), unbound)), broken},
		{"stylesheet", doc(detached, signs(replace(exclusiveTransform, styleTransform))), unknown},
		{"unknown canonicalization of SignedInfo", doc(detached, replace(`CanonicalizationMethod Algorithm="`, `CanonicalizationMethod Algorithm="x`)), unknown},
		{"over another file", doc(enveloped, signs(replace(` URI=""><ds:Transforms>`+filterTransform, ` URI="contract.xml"><ds:Transforms>`))), accepted},
		{"content changed", doc(enveloped, replace(">c</b>", ">d</b>")), broken},
		{"content changed, no identifiers", doc(enveloped, all(replace(">c</b>", ">d</b>"), withoutVariables)), broken},
		{"value changed", doc(enveloped, substitute(signatureValue, "${1}"+strings.Repeat("A", 86)+"==")), broken},
		{"properties changed", doc(enveloped, replace("text/xml", "text/XML")), broken},
		{"unreadable", doc(detached, before("<ds:SignedInfo>", "<ds:SignedInfo/>")), broken},
		{"properties of another signature", doc(detached, replace(`Target="#`, `Target="#x`)), broken},
		{"no Type for the properties", doc(detached, signs(replace(` Type="http://uri.etsi.org/01903#SignedProperties"`, ""))), broken},
		{"no reference to data", doc(detached, signs(substitute(documentReference, ""))), broken},
		{"Type Object for an element of the document", doc(detached, signs(replace("<ds:Reference ", `<ds:Reference Type="http://www.w3.org/2000/09/xmldsig#Object" `))), broken},
		{"SigningCertificate with another digest", doc(detached, signs(nameAnother)), broken},
		{"certificate of another person", doc(detached, substitute(keyInfo, otherKeyInfo)), unknown},
		{"no certificate", doc(detached, substitute(keyInfo, "<ds:KeyInfo><ds:KeyName>p</ds:KeyName></ds:KeyInfo>")), unknown},
		{"Manifest entry with another digest", doc(detached, signsManifest(referenceTo("", "#b", exclusiveTransform))), broken},
		{"empty Manifest", doc(detached, signsManifest("")), broken},
		{"counter-signature", doc(detached, countersignature{by: q}.add), accepted},
		{"counter-signature over another element", doc(detached, countersignature{by: q, over: "b"}.add), broken},
		{"unsigned Object", doc(detached, before(signatureEnd, "<ds:Object>"+forgedPrice+"</ds:Object>")), [4]error{forbidden, ok, ok, forbidden}},
	} {
		existing := verify(t, test.b, ca)
		for i, k := range packings {
			r, err := xades.Sign(t.Context(), document(test.b), p.key, p.signer, k.options(), ades.Sources{})
			checked := xades.Check(t.Context(), document(test.b), k.options())
			for _, err := range []error{err, checked} {
				if !errors.Is(err, test.want[i]) || err != nil && test.want[i] == nil {
					t.Errorf("%s, then %s: got %v, want %v", test.name, k.name, err, test.want[i])
				}
			}
			if err != nil && !slices.Contains(unnamed, test.name) && !namesSignature(err, test.b) {
				t.Errorf("%s, then %s: %v does not name the signature", test.name, k.name, err)
			}
			if err == nil {
				checkSignedAgain(t, test.name+", then "+k.name, existing, verify(t, apply(t, test.b, r), ca))
			}
		}
	}
}

// withoutVariables removes the random part of identifiers.
func withoutVariables(_ testing.TB, _ person, b []byte) []byte {
	id := signatureID.Find(b)
	return bytes.ReplaceAll(b, id[len("signature-"):], nil)
}

// namesSignature reports whether an error has the Id of a signature in b. Without random parts,
// there is nothing to find.
func namesSignature(err error, b []byte) bool {
	for _, id := range signatureID.FindAll(b, -1) {
		if strings.Contains(err.Error(), string(id)) {
			return true
		}
	}
	return !signatureID.Match(b)
}

// checkSignedAgain checks that the new signature, the last one, covers the whole document, and that
// it changes nothing for the existing ones.
func checkSignedAgain(t *testing.T, name string, before, after []ades.SignatureReport) {
	t.Helper()
	if last := after[len(after)-1]; !last.Intact || last.Coverage != ades.WholeDocument {
		t.Errorf("%s: the new signature: intact %t, %s, %q", name, last.Intact, last.Coverage, last.Problems)
	}
	for i, s := range after[:len(after)-1] {
		if was := before[i]; s.Name != was.Name || s.Intact != was.Intact || (s.Coverage == ades.Partial) != (was.Coverage == ades.Partial) {
			t.Errorf("%s: existing signature: intact %t, %s, was intact %t, %s: %q", name, s.Intact, s.Coverage, was.Intact, was.Coverage, s.Problems)
		}
	}
}

// unreadable are documents that cannot be read, also if they are between the tags of a signature.
var unreadable = map[string]string{
	"empty":                                "",
	"white space":                          " \n",
	"PDF":                                  "%PDF-1.7\n",
	"two roots":                            `<a/><b/>`,
	"text after the root":                  `<a/>b`,
	"CDATA before the root":                `<![CDATA[ ]]><a/>`,
	"document type declaration":            `<!DOCTYPE a><a/>`,
	"undeclared prefix ds of an element":   `<ds:a/>`,
	"undeclared prefix ds of an attribute": "<a\nds:b=''/>",
	"end tag of the container":             `<a/></signed-document><signed-document><b/>`,
	"end tag of the Object":                `<a/></ds:Object><ds:Object><b/>`,
	"root without end tag":                 `<a>`,
	"only a comment":                       `<!-- a -->`,
	"comment without end":                  `<a/><!-- `,
	"character reference after the root":   `<a/>&#32;`,
	"two byte order marks":                 "\uFEFF\uFEFF<a/>",
	"declaration after white space":        "\n<?xml version='1.0'?><a/>",
	"two declarations":                     "<?xml version='1.0'?><?xml version='1.0'?><a/>",
	"declaration without end":              "<?xml version='1.0'<a/>",
	"half of a character":                  string(utf16("<a/>", true)) + "\n",
	"UTF-16, two roots":                    string(utf16("<a/><b/>", false)),
	"UTF-16 that is declared as UTF-8":     string(utf16("<?xml version='1.0' encoding='UTF-8'?><a/>", false)),
	"relative namespace name":              `<a xmlns="b"/>`,
	"not UTF-8":                            "<a>\xff</a>",
	"100,000 deep":                         strings.Repeat("<a>", 100000) + strings.Repeat("</a>", 100000),
}

func TestUnreadable(t *testing.T) {
	t.Parallel()
	p := newPerson(t, catest.New(t), p256(t))
	for name, b := range unreadable {
		for _, k := range packings {
			if k.base64 && name == "relative namespace name" { // this affects the canonical form only
				continue
			}
			_, err := xades.Prepare(t.Context(), document([]byte(b)), p.signer, k.options())
			checked := xades.Check(t.Context(), document([]byte(b)), k.options())
			if !errors.Is(err, ades.ErrUnreadable) || !errors.Is(checked, ades.ErrUnreadable) {
				t.Errorf("%s, %s: got %v, and %v of Check, want ErrUnreadable", name, k.name, err, checked)
			}
		}
	}
	// Errors are logged, so they must not have personal data of the document.
	private := `<a><name>Jóna</name><kennitala>1203894569</kennitala>`
	_, err := xades.Prepare(t.Context(), document([]byte(private)), p.signer, xades.Options{})
	if err == nil || strings.Contains(err.Error(), "Jóna") || strings.Contains(err.Error(), "1203894569") {
		t.Errorf("got %v, want an error without the content of the document", err)
	}
}

// failingReader is a document that cannot be read.
type failingReader struct{}

var errRead = errors.New("read error")

func (failingReader) ReadAt([]byte, int64) (int, error) { return 0, errRead }

func TestPrepareRefuses(t *testing.T) {
	p := newPerson(t, catest.New(t), p256(t))
	t.Setenv("GODEBUG", "rsa1024min=0")
	weak := newPerson(t, p.ca, certtest.NewRSAKey(t, 1024))
	sha1 := ades.SignerIdentity{Certificate: p.signer.Certificate, Algorithm: ades.Algorithm{Hash: crypto.SHA1, Scheme: ades.ECDSA}}
	template := *p.signer.Certificate
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	server, err := p.ca.IssueProfile(&template, p.key.Public())
	if err != nil {
		t.Fatal(err)
	}
	doc := document([]byte(contract))
	failing := func(size int64) xades.Document { return xades.Document{ReaderAt: failingReader{}, Size: size} }
	at := func(t time.Time) xades.Options { return xades.Options{Time: t} }
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, test := range []struct {
		name    string
		ctx     context.Context
		doc     xades.Document
		signer  ades.SignerIdentity
		options xades.Options
		want    error // nil: any error but ErrUnreadable
	}{
		{"RSA-1024", t.Context(), doc, weak.signer, xades.Options{}, ades.ErrAlgorithm},
		{"SHA-1", t.Context(), doc, sha1, xades.Options{}, ades.ErrAlgorithm},
		{"no certificate", t.Context(), doc, ades.SignerIdentity{}, xades.Options{}, nil},
		{"certificate of a server", t.Context(), doc, ades.SignerIdentity{Certificate: server}, xades.Options{}, ades.ErrPurpose},
		{"1 GiB", t.Context(), failing(1 << 30), p.signer, xades.Options{}, ades.ErrUnreadable},
		{"negative size", t.Context(), failing(-1), p.signer, xades.Options{}, ades.ErrUnreadable},
		{"read error", t.Context(), failing(10), p.signer, xades.Options{}, errRead},
		{"shorter than its size", t.Context(), xades.Document{ReaderAt: bytes.NewReader(nil), Size: 10}, p.signer, xades.Options{}, nil},
		{"enveloped in Base64", t.Context(), doc, p.signer, xades.Options{Base64: true}, nil},
		{"unknown packing", t.Context(), doc, p.signer, xades.Options{Packing: 3}, nil},
		{"unknown level", t.Context(), doc, p.signer, xades.Options{Level: 4}, nil},
		{"year 10000", t.Context(), doc, p.signer, at(time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)), nil},
		{"year 10000 in UTC", t.Context(), doc, p.signer, at(time.Date(9999, 12, 31, 23, 0, 0, 0, time.FixedZone("", -12*3600))), nil},
		{"before the certificate is valid", t.Context(), doc, p.signer, at(p.signer.Certificate.NotBefore.Add(-1)), ades.ErrOutsideValidity},
		{"after the certificate expires", t.Context(), doc, p.signer, at(p.signer.Certificate.NotAfter.Add(time.Second)), ades.ErrOutsideValidity},
		{"canceled", canceled, doc, p.signer, xades.Options{}, context.Canceled},
	} {
		_, err := xades.Prepare(test.ctx, test.doc, test.signer, test.options)
		if err == nil || test.want != nil && !errors.Is(err, test.want) || test.want == nil && errors.Is(err, ades.ErrUnreadable) {
			t.Errorf("%s: got %v, want %v", test.name, err, test.want)
		}
	}
}

// TestObjectContent checks which documents are refused in an Object because verifiers would take
// them for a part of the signature.
func TestObjectContent(t *testing.T) {
	t.Parallel()
	const ds, xa = xmldsig.Namespace, "http://uri.etsi.org/01903/"
	for _, test := range []struct {
		space, local string
		root, deeper bool // refused as the root, and as a child of the root
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
		root := fmt.Sprintf(`<p:%s xmlns:p="%s"/>`, test.local, test.space)
		for b, refused := range map[string]bool{root: test.root, "<a>" + root + "</a>": test.deeper} {
			for _, k := range packings {
				err := xades.Check(t.Context(), document([]byte(b)), k.options())
				if want := refused && k == enveloping; errors.Is(err, ades.ErrForbidden) != want || (err != nil) != want {
					t.Errorf("%s, %s: got %v, refused is to be %t", b, k.name, err, want)
				}
			}
		}
	}
}

// differentElements returns n elements with different names.
func differentElements(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "<n%d/>", i)
	}
	return b.String()
}

// TestLimits checks that a document that is too close to the limits is refused, and that a signed
// document can be read with all later timestamps and validation data.
func TestLimits(t *testing.T) {
	t.Parallel()
	p := newPerson(t, catest.New(t), p256(t))
	documents := map[string]bool{ // accepted or not
		"<a>" + differentElements(1<<16-300) + "</a>": true,
		"<a>" + differentElements(1<<16-200) + "</a>": false,
		"<a>" + differentElements(1<<16-20) + "</a>":  false,
	}
	if testenv.Full() {
		documents["<a>"+strings.Repeat("<b/>", 1<<22-1<<16-10)+"</a>"] = true
		documents["<a>"+strings.Repeat("<b/>", 1<<22-2)+"</a>"] = false
	}
	for b, accepted := range documents {
		for _, k := range packings {
			err := xades.Check(t.Context(), document([]byte(b)), k.options())
			if (err == nil) != (accepted || k.base64) || err != nil && !(errors.Is(err, ades.ErrUnreadable) && errors.Is(err, xades.ErrLimit)) {
				t.Errorf("%d bytes, %s: got %v, accepted is to be %t", len(b), k.name, err, accepted || k.base64)
			}
			if err != nil {
				continue
			}
			signed := signLevel(t, []byte(b), p, ades.LTA, k.options())
			if s := verify(t, renew(t, signed, p.ca.Sources(nil)), p.ca); s[0].Indication != ades.TotalPassed {
				t.Errorf("%d bytes, %s, renewed: got %s: %v", len(b), k.name, s[0].Indication, s[0].Problems)
			}
		}
	}
}

// TestLimitsOfExtension checks that an Extender refuses a document that could not be read with the
// validation data.
func TestLimitsOfExtension(t *testing.T) {
	t.Parallel()
	p := newPerson(t, catest.New(t), p256(t))
	signed := sign(t, []byte("<a/>"), p, enveloping.options())
	fill := func(content string) []byte {
		return before(signatureEnd, "<ds:Object>"+content+"</ds:Object>")(t, p, signed)
	}
	nodes, attributes, names := parse(t, signed).RemainingLimits()
	checkExtension(t, "many names", fill(differentElements(names-200)), p.ca, true)
	checkExtension(t, "all names", fill(differentElements(names)), p.ca, false)
	checkExtension(t, "greatest depth", []byte(strings.Repeat("<a>", 248)+string(signed)+strings.Repeat("</a>", 248)), p.ca, true)
	if testenv.Full() {
		checkExtension(t, "many nodes", fill(strings.Repeat("<b/>", nodes-200)), p.ca, true)
		checkExtension(t, "all attributes", fill(strings.Repeat(`<b c="" d="" e="" f=""/>`, attributes/4)), p.ca, false)
		checkExtension(t, "all nodes", fill(strings.Repeat("<b/>", nodes-1)), p.ca, false)
	}
}

// checkExtension checks that a readable document is extended, or refused with ErrLimit.
func checkExtension(t *testing.T, name string, b []byte, ca *sandboxca.Authority, accepted bool) {
	t.Helper()
	if _, err := xades.Verify(t.Context(), document(b), ades.VerifyOptions{}); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	revisions, err := xades.Extender{Sources: ca.Sources(nil)}.Extend(t.Context(), document(b), ades.LTA)
	if (err == nil) != accepted || err != nil && !errors.Is(err, xades.ErrLimit) {
		t.Errorf("%s: got %v, accepted is to be %t", name, err, accepted)
	}
	if err == nil {
		if s := verify(t, apply(t, b, revisions...), ca); s[0].Format != "XAdES-BASELINE-LTA" {
			t.Errorf("%s: got %s", name, s[0].Format)
		}
	}
}

// TestNumberOfSignatures checks that a document may have 500 signatures.
func TestNumberOfSignatures(t *testing.T) {
	t.Parallel()
	p := newPerson(t, catest.New(t), p256(t))
	signed := sign(t, []byte("<a/>"), p, detached.options())
	// another has no properties, so that 500 of them are read quickly.
	another := unvalued(string(documentReference.Find(signed)), string(keyInfo.Find(signed)))
	another = string(resign(t, p, []byte(another)))
	for n, want := range map[int]error{499: nil, 500: ades.ErrForbidden, 501: ades.ErrUnreadable} {
		b := after(signatureEnd, strings.Repeat(another, n-1))(t, p, signed)
		for _, k := range packings {
			want := want
			if n == 500 && k.base64 {
				want = nil
			}
			err := xades.Check(t.Context(), document(b), k.options())
			if !errors.Is(err, want) || want != nil && !errors.Is(err, xades.ErrLimit) {
				t.Errorf("%d signatures, %s: got %v, want %v", n, k.name, err, want)
			}
		}
	}
}

// TestTimestampsOverTheLimit puts a signature around a document with a timestamp whose imprint
// could change, after so many others that the limit on work is reached before.
func TestTimestampsOverTheLimit(t *testing.T) {
	t.Parallel()
	p := newPerson(t, catest.New(t), p256(t))
	b := signLevel(t, []byte(contract), p, ades.LTA, xades.Options{Packing: xades.InternallyDetached})
	b = edit(element("xades141:ArchiveTimeStamp"), func(s string) string {
		const end, list = "</ds:CanonicalizationMethod>", `<ec:InclusiveNamespaces xmlns:ec="` + exclusiveMethod + `" PrefixList="%s"></ec:InclusiveNamespaces>`
		with := func(prefix string) string { return strings.Replace(s, end, fmt.Sprintf(list, prefix)+end, 1) }
		var all strings.Builder
		all.WriteString(`<a xmlns="urn:a">` + strings.Repeat("evidence", 300_000) + "</a>")
		for i := range 40 { // each has another form, so its imprint reads the element above again
			all.WriteString(with(fmt.Sprint("p", i)))
		}
		return all.String() + with("ds")
	})(t, p, b)
	if _, err := xades.Prepare(t.Context(), document(b), p.signer, xades.Options{Packing: xades.Enveloping}); !errors.Is(err, xades.ErrLimit) {
		t.Errorf("got %v, want %v", err, xades.ErrLimit)
	}
}
