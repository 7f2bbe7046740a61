package report

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/x509"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/innsigli/innsigli/ades"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
	"github.com/innsigli/innsigli/xades"
)

// TestJSON checks that reports on files of both formats satisfy the schema, and are parsed as they were.
func TestJSON(t *testing.T) {
	schema := compiledSchema(t)
	for _, d := range reports(t) {
		encoded, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		if err := validate(schema, encoded); err != nil {
			t.Errorf("%s: %v\n%s", d.File, err, encoded)
		}
		var parsed Document
		if err := json.Unmarshal(encoded, &parsed); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(d, parsed, cmpopts.EquateApproxTime(0)); diff != "" {
			t.Errorf("%s (-written +parsed):\n%s", d.File, diff)
		}
	}
}

// TestSchemaRefuses checks that the schema refuses changed reports.
func TestSchemaRefuses(t *testing.T) {
	schema := compiledSchema(t)
	s := newScene(t)
	encoded, err := json.Marshal(New("a.pdf", s.verifyPDF(t, s.pdf(t, ades.LT, pades.Options{}), s.ca.Roots())))
	if err != nil {
		t.Fatal(err)
	}
	for _, change := range [][2]string{
		{`"indication":"TOTAL_PASSED"`, `"indication":"PASSED"`},
		{`"subIndication":""`, `"subIndication":"BAD_LUCK"`},
		{`"passed":true`, `"passed":"true"`},
		{`"bestTime":"2026-06-17T12:00:00Z"`, `"bestTime":"17 June 2026"`},
		{`"problems":[]`, `"problems":null`},
		{`"intact":true,`, ``},
		{`"type":"SIGNATURE_TIMESTAMP"`, `"type":"CONTENT_TIMESTAMP"`},
		{`"coveredBytes":`, `"coveredBytes":-`},
	} {
		changed := bytes.Replace(encoded, []byte(change[0]), []byte(change[1]), 1)
		if bytes.Equal(changed, encoded) || validate(schema, changed) == nil {
			t.Errorf("%s: unchanged, or satisfies the schema: %s", change[1], changed)
		}
	}
}

// TestSchema checks that the schema describes and requires all members of the types, and that it has all
// values of the types of package ades.
func TestSchema(t *testing.T) {
	var schema map[string]any
	if err := json.Unmarshal(Schema(), &schema); err != nil {
		t.Fatal(err)
	}
	defs := schema["$defs"].(map[string]any)
	defs["document"] = schema
	for name, value := range map[string]any{
		"document": Document{}, "signature": Signature{}, "certificate": Certificate{}, "certificateStatus": CertificateStatus{},
		"algorithm": Algorithm{}, "timestamp": Timestamp{}, "change": Change{},
	} {
		var members []string
		for field := range reflect.TypeOf(value).Fields() {
			members = append(members, field.Tag.Get("json"))
		}
		slices.Sort(members)
		object := defs[name].(map[string]any)
		properties := object["properties"].(map[string]any)
		if diff := cmp.Diff(members, slices.Sorted(maps.Keys(properties))) + cmp.Diff(members, sortedTexts(object["required"])); diff != "" {
			t.Errorf("%s: written (-) and described or required (+):\n%s", name, diff)
		}
		for member, p := range properties {
			if d, _ := p.(map[string]any)["description"].(string); len(d) < 10 {
				t.Errorf("%s.%s has no description", name, member)
			}
		}
	}
	for typeName, place := range map[string][2]string{
		"Indication": {"signature", "indication"}, "Coverage": {"signature", "coverage"}, "TimestampType": {"timestamp", "type"}, "ChangeKind": {"change", "kind"},
		"SubIndication": {"signature", "subIndication"}, "RevocationStatus": {"certificateStatus", "revocation"},
	} {
		property := defs[place[0]].(map[string]any)["properties"].(map[string]any)[place[1]].(map[string]any)
		if missing := without(adesConstants(t, typeName), sortedTexts(property["enum"])); len(missing) > 0 {
			t.Errorf("%s.%s has no %s", place[0], place[1], missing)
		}
	}
}

// TestTimestampIndication checks the indication of a timestamp (EN 319 102-1 5.4).
func TestTimestampIndication(t *testing.T) {
	for want, timestamp := range map[string]ades.TimestampReport{
		"PASSED": {Intact: true, Trusted: true}, "INDETERMINATE": {Intact: true}, "FAILED": {},
	} {
		d := New("a.pdf", &ades.Report{Signatures: []ades.SignatureReport{{Timestamps: []ades.TimestampReport{timestamp}}}})
		if got := d.Signatures[0].Timestamps[0].Indication; got != want {
			t.Errorf("%+v: got %s, want %s", timestamp, got, want)
		}
	}
}

func compiledSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	object, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("schema.json", object); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("schema.json") // which checks it against the schema of its draft
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

func validate(schema *jsonschema.Schema, encoded []byte) error {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(encoded))
	if err != nil {
		return err
	}
	return schema.Validate(value)
}

func sortedTexts(list any) (out []string) {
	for _, one := range list.([]any) {
		out = append(out, one.(string))
	}
	slices.Sort(out)
	return out
}

// without returns the texts of all that are not in some.
func without(all, some []string) []string {
	return slices.DeleteFunc(slices.Clone(all), func(text string) bool { return slices.Contains(some, text) })
}

// reports are reports on signed files, and reports that need no file.
func reports(t *testing.T) []Document {
	t.Helper()
	s := newScene(t)
	proven := s.pdf(t, ades.LTA, pades.Options{Name: "Jóna Jónsdóttir", Reason: "Samþykki", Location: "Reykjavík"})
	plain := s.pdf(t, ades.B, pades.Options{Name: "Another Signer"})
	broken := bytes.Replace(plain, []byte("842"), []byte("841"), 1)
	return []Document{
		New("proven.pdf", s.verifyPDF(t, proven, s.ca.Roots())),
		New("untrusted.pdf", s.verifyPDF(t, proven, nil)),
		New("plain.pdf", s.verifyPDF(t, plain, s.ca.Roots())),
		New("broken.pdf", s.verifyPDF(t, broken, s.ca.Roots())),
		New("twice.xml", s.verifyXML(t)),
		s.contract(),
		New("changed.pdf", s.changed()),
		New("unsigned.pdf", &ades.Report{}),
		Unreadable("letter.txt", errors.New("neither a PDF nor XML")),
	}
}

// signedAt is the time of all signatures.
var signedAt = time.Date(2026, time.June, 17, 12, 0, 0, 0, time.UTC)

// scene is an authority and a signer.
type scene struct {
	ca     *sandboxca.Authority
	signer ades.SignerIdentity
	key    *ecdsa.PrivateKey
}

func newScene(t *testing.T) scene {
	t.Helper()
	ca, err := sandboxca.New(signedAt)
	if err != nil {
		t.Fatal(err)
	}
	key := certtest.NewKey(t, elliptic.P256())
	cert, err := ca.Issue("Jóna Jónsdóttir", "0101302989", key.Public(), signedAt)
	if err != nil {
		t.Fatal(err)
	}
	return scene{ca, ades.SignerIdentity{Certificate: cert, Chain: ca.Chain()}, key}
}

// pdf returns a signed PDF at a level.
func (s scene) pdf(t *testing.T, level ades.Level, o pades.Options) []byte {
	t.Helper()
	content := pdftest.Build(pdftest.Options{})
	o.Time, o.Level = signedAt, level
	sources := s.ca.Sources(func() time.Time { return signedAt })
	p, err := pades.Prepare(t.Context(), pdfOf(content), s.signer, o)
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Sign(t.Context(), s.key, sources.Time)
	if err != nil {
		t.Fatal(err)
	}
	content = append(content, r.Bytes...)
	if level == ades.B {
		return content
	}
	revisions, err := pades.Extender{Sources: sources}.Extend(t.Context(), pdfOf(content), level)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range revisions {
		content = append(content, r.Bytes...)
	}
	return content
}

func pdfOf(content []byte) pades.Document {
	return pades.Document{ReaderAt: bytes.NewReader(content), Size: int64(len(content))}
}

func (s scene) verifyPDF(t *testing.T, content []byte, roots *x509.CertPool) *ades.Report {
	t.Helper()
	r, err := pades.Verify(t.Context(), pdfOf(content), ades.VerifyOptions{Time: signedAt.Add(time.Hour), Roots: roots})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// verifyXML returns the report on XML that was signed twice.
func (s scene) verifyXML(t *testing.T) *ades.Report {
	t.Helper()
	const content = "<letter><sum>842</sum></letter>"
	document := xades.Document{ReaderAt: strings.NewReader(content), Size: int64(len(content))}
	for range 2 {
		o := xades.Options{Packing: xades.Enveloping, Time: signedAt, Reason: "Samþykkt", City: "Akureyri", Country: "IS"}
		r, err := xades.Sign(t.Context(), document, s.key, s.signer, o, ades.Sources{})
		if err != nil {
			t.Fatal(err)
		}
		document = document.With(r)
	}
	r, err := xades.Verify(t.Context(), document, ades.VerifyOptions{Time: signedAt, Roots: s.ca.Roots()})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// changed is a report on a document with many changes after it was signed.
func (s scene) changed() *ades.Report {
	first := ades.SignatureReport{
		Name: "Signature1", Format: "PAdES-BASELINE-LT", Indication: ades.TotalPassed, Intact: true, Coverage: ades.WholeRevision, CoveredBytes: 1000,
		Certificate: s.signer.Certificate, Chain: s.ca.Chain(), Path: s.path(), ClaimedTime: signedAt,
		BestTime: signedAt.Add(time.Second), JudgedAt: signedAt.Add(time.Second),
		Timestamps: []ades.TimestampReport{{Type: ades.SignatureTimestamp, Time: signedAt.Add(time.Second), Intact: true, Trusted: true, Authority: s.ca.Root()}},
		Warnings:   []string{"The key is weak by the standards of tomorrow."},
		Changes: []ades.Change{
			{Revision: 2, Kind: ades.ChangeValidationData, Object: "20 0 R", Permitted: true},
			{Revision: 3, Kind: ades.ChangeForm, Object: "21 0 R", Field: "Kaupandi", Page: 1, Permitted: true},
			{Revision: 3, Kind: ades.ChangeForm, Object: "22 0 R", Field: "Verð", Page: 1, Permitted: true},
			{Revision: 3, Kind: ades.ChangeSignature, Object: "23 0 R", Field: "Signature2", Page: 3, Permitted: true},
			{Revision: 4, Kind: ades.ChangeContent, Object: "24 0 R", Where: "/Pages/Kids/1/Contents", Page: 2},
			{Revision: 4, Kind: ades.ChangeAnnotation, Object: "25 0 R", Page: 3},
			{Revision: 4, Kind: ades.ChangeAnnotation, Object: "26 0 R", Page: 4},
			{Revision: 4, Kind: ades.ChangeAnnotation, Object: "27 0 R", Page: 5},
			{Revision: 4, Kind: ades.ChangeAnnotation, Object: "28 0 R", Page: 7},
			{Revision: 4, Kind: ades.ChangeHidden, Object: "29 0 R"},
		},
	}
	second := first
	second.Name, second.Changes, second.Warnings, second.Timestamps, second.BestTime = "Signature2", first.Changes[4:], nil, nil, time.Time{}
	second.Indication, second.SubIndication, second.Format = ades.Indeterminate, ades.RevokedNoPOE, "PKCS7-B"
	second.JudgedAt, second.Path = signedAt.Add(time.Hour), s.path()
	second.Path[0].Revocation, second.Path[0].RevokedAt, second.Path[0].Reason = ades.RevocationRevoked, signedAt.Add(30*time.Minute), 1
	second.Path[0].Fetched = true
	second.Problems = []string{"The certificate is revoked."}
	return &ades.Report{Signatures: []ades.SignatureReport{first, second}}
}

// path leads from the signer to the root, with an OCSP response and a CRL.
func (s scene) path() []ades.CertificateStatus {
	good := func(source ades.RevocationSource, c *x509.Certificate) ades.CertificateStatus {
		return ades.CertificateStatus{Certificate: c, Revocation: ades.RevocationGood, Source: source, ProducedAt: signedAt, ThisUpdate: signedAt}
	}
	return []ades.CertificateStatus{
		good(ades.SourceOCSP, s.signer.Certificate), good(ades.SourceCRL, s.ca.Chain()[0]),
		{Certificate: s.ca.Root(), Revocation: ades.RevocationNotNeeded},
	}
}

// contract is the report of docs/verifying.md, on a document with a page that was changed.
func (s scene) contract() Document {
	r := s.changed()
	r.Signatures = r.Signatures[:1]
	one := &r.Signatures[0]
	one.Changes, one.Warnings = one.Changes[:5], nil
	one.Algorithm = ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.ECDSA}
	return New("contract.pdf", r)
}
