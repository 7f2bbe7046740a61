package xades_test

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/test/validators"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
	xmldsig "github.com/innsigli/innsigli/internal/xml/dsig"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
	"github.com/innsigli/innsigli/xades"
)

var enveloped, enveloping, enveloping64, detached = packings[0], packings[1], packings[2], packings[3]

// Parts of signatures.
var (
	wholeSignature     = element("ds:Signature")
	keyInfo            = element("ds:KeyInfo")
	qualifying         = element("xades:QualifyingProperties")
	signedProperties   = element("xades:SignedProperties")
	signingCertificate = element("xades:SigningCertificateV2")
	contained          = element("signed-document")
	signedObject       = regexp.MustCompile(`(?s)<ds:Object Id=.*?</ds:Object>`)
	documentReference  = regexp.MustCompile(`(?s)<ds:Reference Id=.*?</ds:Reference>`)
	propertyReference  = regexp.MustCompile(`(?s)<ds:Reference Type="http://uri.etsi.org/01903#SignedProperties".*?</ds:Reference>`)
	signatureValue     = regexp.MustCompile(`(<ds:SignatureValue Id="([^"]*)">)[^<]*`)
	identifier         = regexp.MustCompile(` (Id|Target)="[^"]*"`)
	signatureID        = regexp.MustCompile(`signature-[A-Z2-7]{26}`)
)

// element returns a pattern from the first start tag of an element to its last end tag.
func element(name string) *regexp.Regexp {
	return regexp.MustCompile(`(?s)<` + name + `[ >].*</` + name + `>`)
}

const (
	signatureEnd         = "</ds:Signature>"
	qualifyingEnd        = "</xades:QualifyingProperties>"
	exclusiveMethod      = "http://www.w3.org/2001/10/xml-exc-c14n#"
	exclusiveTransform   = `<ds:Transform Algorithm="` + exclusiveMethod + `"></ds:Transform>`
	prefixTransform      = `<ds:Transform Algorithm="` + exclusiveMethod + `"><ec:InclusiveNamespaces xmlns:ec="` + exclusiveMethod + `" PrefixList="#default"></ec:InclusiveNamespaces></ds:Transform>`
	commentTransform     = `<ds:Transform Algorithm="` + exclusiveMethod + `WithComments"></ds:Transform>`
	inclusiveTransform   = `<ds:Transform Algorithm="http://www.w3.org/TR/2001/REC-xml-c14n-20010315"></ds:Transform>`
	inclusive11Transform = `<ds:Transform Algorithm="http://www.w3.org/2006/12/xml-c14n11"></ds:Transform>`
	filterTransform      = `<ds:Transform Algorithm="http://www.w3.org/2002/06/xmldsig-filter2"><dsig-filter2:XPath xmlns:dsig-filter2="http://www.w3.org/2002/06/xmldsig-filter2" Filter="subtract">/descendant::ds:Signature</dsig-filter2:XPath></ds:Transform>`
	ownTransform         = `<ds:Transform Algorithm="http://www.w3.org/2000/09/xmldsig#enveloped-signature"></ds:Transform>`
	styleTransform       = `<ds:Transform Algorithm="http://www.w3.org/TR/1999/REC-xslt-19991116"></ds:Transform>`
	sha256Method         = `<ds:DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"></ds:DigestMethod>`
	sha1Method           = `<ds:DigestMethod Algorithm="http://www.w3.org/2000/09/xmldsig#sha1"></ds:DigestMethod>`
)

// plainContract has no comment, of which Verify would warn.
const plainContract = `<contract xmlns="urn:example:contract" number="17"><price currency="ISK">250000</price></contract>`

// referenceTo returns a reference with the digest "AAAA".
func referenceTo(kind, uri, transforms string) string {
	if transforms != "" {
		transforms = "<ds:Transforms>" + transforms + "</ds:Transforms>"
	}
	return fmt.Sprintf(`<ds:Reference%s URI="%s">%s%s<ds:DigestValue>AAAA</ds:DigestValue></ds:Reference>`, kind, uri, transforms, sha256Method)
}

// change makes another document from a document that p signed.
type change func(t testing.TB, p person, b []byte) []byte

func unchanged(_ testing.TB, _ person, b []byte) []byte { return b }

// replace replaces the first occurrence of a text.
func replace(old, by string) change {
	return func(t testing.TB, _ person, b []byte) []byte {
		t.Helper()
		if !bytes.Contains(b, []byte(old)) {
			t.Fatalf("the document does not contain %q", old)
		}
		return bytes.Replace(b, []byte(old), []byte(by), 1)
	}
}

func after(old, more string) change { return replace(old, old+more) }

func before(old, more string) change { return replace(old, more+old) }

// edit replaces the first match of a pattern by what f makes of it.
func edit(pattern *regexp.Regexp, f func(string) string) change {
	return func(t testing.TB, _ person, b []byte) []byte {
		t.Helper()
		at := pattern.FindIndex(b)
		if at == nil {
			t.Fatalf("the document does not match %v", pattern)
		}
		return slices.Concat(b[:at[0]], []byte(f(string(b[at[0]:at[1]]))), b[at[1]:])
	}
}

// substitute replaces the first match of a pattern by a template of [regexp.Regexp.Expand].
func substitute(pattern *regexp.Regexp, template string) change {
	return edit(pattern, func(s string) string { return pattern.ReplaceAllString(s, template) })
}

// all applies changes one after another.
func all(changes ...change) change {
	return func(t testing.TB, p person, b []byte) []byte {
		t.Helper()
		for _, c := range changes {
			b = c(t, p, b)
		}
		return b
	}
}

// signs applies changes that the signer makes before signing.
func signs(changes ...change) change { return all(all(changes...), resign) }

// signsManifest has the signer also sign a Manifest with these entries.
func signsManifest(entries string) change {
	return signs(
		before(signatureEnd, `<ds:Object Id="other">AAAA</ds:Object><ds:Object><ds:Manifest Id="list">`+entries+"</ds:Manifest></ds:Object>"),
		before("</ds:SignedInfo>", referenceTo(manifestType, "#list", exclusiveTransform)),
	)
}

// resign computes the digests and the value of the first signature of a document again. It keeps a digest that is not of
// the document or of an element in canonical form.
func resign(t testing.TB, p person, b []byte) []byte {
	t.Helper()
	for i := range strings.Count(string(b), "<ds:Reference") {
		var references []xmldoc.Node
		d := parse(t, b)
		for r := range childOf(xmldsig.Find(d)[0], "SignedInfo").Elements() {
			if r.Is(xmldsig.Namespace, "Reference") {
				references = append(references, r)
			}
		}
		if i < len(references) {
			b = fill(b, childOf(references[i], "DigestValue"), referenceDigest(t, d, b, references[i]))
		}
	}
	return revalue(t, p, b)
}

// revalue computes the value of the first signature of a document again, and keeps its digests.
func revalue(t testing.TB, p person, b []byte) []byte {
	t.Helper()
	return fill(b, childOf(xmldsig.Find(parse(t, b))[0], "SignatureValue"), valueOver(t, p, signedInfo(t, b)))
}

// signedInfo returns the canonical SignedInfo of the first signature.
func signedInfo(t testing.TB, b []byte) []byte {
	t.Helper()
	d := parse(t, b)
	return canonical(t, d, xmldoc.Canonicalization{Method: xmldoc.Exclusive}, xmldoc.Subset{Apex: childOf(xmldsig.Find(d)[0], "SignedInfo")})
}

// valueOver returns the value of a signature over octets, in Base64.
func valueOver(t testing.TB, p person, octets []byte) string {
	t.Helper()
	a, err := ades.DefaultAlgorithm(p.key.Public())
	if err != nil {
		t.Fatal(err)
	}
	value, err := p.key.Sign(rand.Reader, a.Digest(octets).Sum, a.SignerOpts())
	if err != nil {
		t.Fatal(err)
	}
	encoded, err := xmldsig.EncodeValue(a, p.key.Public(), value)
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(encoded)
}

// referenceDigest returns the digest of a reference in Base64: the present one, if resign keeps it.
func referenceDigest(t testing.TB, d *xmldoc.Document, b []byte, r xmldoc.Node) string {
	t.Helper()
	start, end := r.Span()
	_, text, _ := strings.Cut(string(b[start:end]), "<ds:Transforms>")
	transforms, _, _ := strings.Cut(text, "</ds:Transforms>")
	uri, _ := r.Attr("", "URI")
	c, part := xmldoc.Canonicalization{Method: xmldoc.Exclusive}, xmldoc.Subset{Without: isSignature}
	target, found := d.ByID(strings.TrimPrefix(uri, "#"))
	whole := uri == "" || uri == "#xpointer(/)"
	switch {
	case found && transforms == exclusiveTransform:
		part = xmldoc.Subset{Apex: target}
	case found && transforms == inclusiveTransform:
		part, c.Method = xmldoc.Subset{Apex: target}, xmldoc.C14N10
	case whole && transforms == filterTransform+commentTransform:
		c.Comments = uri != ""
	case whole && transforms == strings.Replace(filterTransform, "/descendant::", "/*/", 1)+exclusiveTransform:
		part.Without = func(n xmldoc.Node) bool { return isSignature(n) && n.Parent() == d.Root() }
	case whole && transforms == ownTransform+exclusiveTransform:
		part.Without = func(n xmldoc.Node) bool { return n == xmldsig.Find(d)[0] }
	case whole && transforms == filterTransform+exclusiveTransform:
	case whole && transforms == filterTransform+prefixTransform:
		c.Prefixes = []string{""}
	default:
		return childOf(r, "DigestValue").Text()
	}
	method, _ := childOf(r, "DigestMethod").Attr("", "Algorithm")
	sum := xmldsig.Hash(method).New()
	sum.Write(canonical(t, d, c, part))
	return base64.StdEncoding.EncodeToString(sum.Sum(nil))
}

func parse(t testing.TB, b []byte) *xmldoc.Document {
	t.Helper()
	d, err := xmldoc.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func canonical(t testing.TB, d *xmldoc.Document, c xmldoc.Canonicalization, part xmldoc.Subset) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := d.Canonicalize(&b, c, part); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func isSignature(n xmldoc.Node) bool { return n.Is(xmldsig.Namespace, "Signature") }

// childOf returns the first child element of that name in the namespace of XML Signature.
func childOf(n xmldoc.Node, local string) (child xmldoc.Node) {
	for child = range n.Elements() {
		if child.Is(xmldsig.Namespace, local) {
			return child
		}
	}
	return xmldoc.Node{}
}

// fill replaces the content of an element of b.
func fill(b []byte, n xmldoc.Node, content string) []byte {
	start, end, _ := n.ContentRange()
	return slices.Concat(b[:start], []byte(content), b[end:])
}

// verdict returns what a report says of each signature, and whether the document passes.
func verdict(r *ades.Report) string {
	var all []string
	for _, s := range r.Signatures {
		one := cmp.Or(string(s.SubIndication), string(s.Indication)) + " " + string(s.Coverage)
		if s.Intact {
			one += " intact"
		}
		all = append(all, one+strings.Repeat(" warning", len(s.Warnings)))
	}
	if r.Passed() {
		return strings.Join(all, "; ") + ", passes"
	}
	return strings.Join(all, "; ")
}

// verdictOn returns the verdict on a document, or "unreadable", and the report.
func verdictOn(t testing.TB, ca *sandboxca.Authority, b []byte) (string, *ades.Report) {
	t.Helper()
	report, err := xades.Verify(t.Context(), document(b), ades.VerifyOptions{Roots: ca.Roots()})
	switch {
	case errors.Is(err, ades.ErrUnreadable):
		return unreadableXML, new(ades.Report)
	case err != nil:
		t.Fatal(err)
	case len(report.Signatures) == 0:
		return noSignature, report
	}
	return verdict(report), report
}

// Verdicts without a report on a signature.
const (
	unreadableXML = "unreadable"
	noSignature   = "no signature"
)

// Verdicts on signatures of level B, which have no revocation data.
const (
	passes        = "TRY_LATER WHOLE_DOCUMENT intact, passes"
	partial       = "TRY_LATER PARTIAL intact"
	hashFailure   = "HASH_FAILURE PARTIAL"
	notFound      = "SIGNED_DATA_NOT_FOUND PARTIAL"
	notFormatted  = "FORMAT_FAILURE PARTIAL"
	notFoundWhole = "SIGNED_DATA_NOT_FOUND WHOLE_DOCUMENT"
	noSigner      = "NO_SIGNING_CERTIFICATE_FOUND WHOLE_DOCUMENT"
)

// changedDocument is a document that is changed after it was signed, with the verdict on it.
type changedDocument struct {
	name    string
	packing packing
	change  change
	want    string
}

// sign signs content in the packing of the row.
func (row changedDocument) sign(t testing.TB, p person, level ades.Level, content string) []byte {
	t.Helper()
	o := row.packing.options()
	o.City = "Reykjavik"
	return signLevel(t, []byte(content), p, level, o)
}

// checkChanges signs content in the packings of the rows, and compares the verdicts on the changed documents, which it
// returns.
func checkChanges(t *testing.T, p person, level ades.Level, content string, rows []changedDocument) (documents [][]byte) {
	t.Helper()
	signed := make(map[packing][]byte)
	for _, row := range rows {
		if signed[row.packing] == nil {
			signed[row.packing] = row.sign(t, p, level, content)
		}
		b := row.change(t, p, bytes.Clone(signed[row.packing]))
		got, report := verdictOn(t, p.ca, b)
		if got != row.want {
			t.Errorf("%s: got %s, want %s", row.name, got, row.want)
			for _, s := range report.Signatures {
				t.Logf("%s: %q %q", row.name, s.Problems, s.Warnings)
			}
		}
		documents = append(documents, b)
	}
	return documents
}

// compareDSS compares the sub-indications of EU DSS on the documents with those of the rows, or with those in
// differences, by the name of the row.
func compareDSS(t *testing.T, ca *sandboxca.Authority, rows []changedDocument, documents [][]byte, differences map[string]string) {
	t.Helper()
	for i, report := range dssReports(t, ca, documents...) {
		var got []string
		for _, s := range report.Signatures {
			got = append(got, cmp.Or(s.SubIndication, string(ades.TryLater))) // DSS does not require revocation data here
		}
		var want []string
		for s := range strings.SplitSeq(cmp.Or(differences[rows[i].name], rows[i].want), "; ") {
			sub, _, _ := strings.Cut(s, " ")
			want = append(want, sub)
		}
		if diff := gocmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +EU DSS):\n%s", rows[i].name, diff)
		}
	}
}

// dssReports returns the reports of EU DSS, which does not require revocation data.
func dssReports(t *testing.T, ca *sandboxca.Authority, documents ...[]byte) []validators.DSSReport {
	t.Helper()
	options := validators.DSSOptions{Roots: []*x509.Certificate{ca.Root()}, RevocationOptional: true}
	return validators.DSS(t, options, writeFiles(t, documents)...)
}

// checkXMLSec checks that XML Security Library finds every signature valid in the documents that it should.
func checkXMLSec(t *testing.T, documents [][]byte, valid func(i int) bool) {
	t.Helper()
	for i, report := range validators.XMLSec(t, nil, writeFiles(t, documents)...) {
		if len(report.Signatures) == 0 {
			t.Errorf("XML Security Library: %s: %.200s", report.Error, documents[i])
		}
		for _, s := range report.Signatures {
			if s.Valid != valid(i) {
				t.Errorf("XML Security Library: valid is %t, want %t: %.200s", s.Valid, valid(i), documents[i])
			}
		}
	}
}

func writeFiles(t *testing.T, documents [][]byte) (paths []string) {
	t.Helper()
	folder := t.TempDir()
	for i, b := range documents {
		paths = append(paths, filepath.Join(folder, fmt.Sprintf("%03d.xml", i)))
		writeFile(t, paths[i], b)
	}
	return paths
}
