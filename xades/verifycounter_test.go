package xades_test

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/internal/test/validators"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
	"github.com/innsigli/innsigli/xades"
)

var (
	valueID       = regexp.MustCompile(`<ds:SignatureValue Id="([^"]+)"`)
	firstSum      = regexp.MustCompile(`<ds:DigestValue>[^<]*`)
	allTransforms = regexp.MustCompile(`<ds:Transforms>.*?</ds:Transforms>`)
)

// counterSigned puts a signature of the element with an Id into the unsigned properties of a signature, of which
// the number is given.
func counterSigned(t *testing.T, signed []byte, p person, in int, over, kind string) []byte {
	t.Helper()
	d, err := xmldoc.Parse(signed)
	if err != nil {
		t.Fatal(err)
	}
	target, ok := d.ByID(over)
	if !ok {
		t.Fatalf("no %q", over)
	}
	var octets bytes.Buffer
	if err := d.Canonicalize(&octets, exclusive, xmldoc.Subset{Apex: target}); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(octets.Bytes())
	plain := allTransforms.ReplaceAll(sign(t, []byte("<a/>"), p, xades.Options{}),
		[]byte(`<ds:Transforms><ds:Transform Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"></ds:Transform></ds:Transforms>`))
	plain = replaced(t, plain, firstSum, func(string) string { return "<ds:DigestValue>" + base64.StdEncoding.EncodeToString(sum[:]) })
	counter := wholeSignature.FindString(string(rewritten(t, plain, p, ` URI=""`, kind+` URI="#`+over+`"`)))
	property := `<xades:UnsignedProperties><xades:UnsignedSignatureProperties><xades:CounterSignature>` + counter +
		`</xades:CounterSignature></xades:UnsignedSignatureProperties></xades:UnsignedProperties>`
	const end = `</xades:SignedProperties>`
	parts := strings.SplitAfter(string(signed), end)
	parts[in] += property
	return []byte(strings.Join(parts, ""))
}

const countersignedType = ` Type="http://uri.etsi.org/01903#CountersignedSignature"`

func idsOfValues(b []byte) (all []string) {
	for _, match := range valueID.FindAllSubmatch(b, -1) {
		all = append(all, string(match[1]))
	}
	return all
}

// EN 319 132-1 5.2.7: a counter-signature is over the value of the signature that it stands in, and nothing
// else. EU DSS says the same of each.
func TestCounterSignatures(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	p, q := newPerson(t, ca, p256(t)), newPerson(t, ca, p256(t))
	one := sign(t, []byte(contract), p, xades.Options{})
	two := sign(t, one, q, xades.Options{})
	values := idsOfValues(two)
	held := sign(t, []byte(`<a><b Id="b">c</b></a>`), p, xades.Options{})
	good := counterSigned(t, one, q, 0, values[0], countersignedType)
	nested := counterSigned(t, good, p, 1, idsOfValues(good)[1], countersignedType)
	const right, wrong = ades.TryLater, ades.HashFailure
	folder := t.TempDir()
	var files []string
	var wants [][]ades.SubIndication
	for name, test := range map[string]struct {
		b     []byte
		wants []ades.SubIndication // by signature
	}{
		"typed":                             {good, []ades.SubIndication{right, right}},
		"without a type":                    {counterSigned(t, one, q, 0, values[0], ""), []ades.SubIndication{right, right}},
		"of a counter-signature":            {nested, []ades.SubIndication{right, right, right}},
		"in one, of what that is of":        {counterSigned(t, good, p, 1, values[0], countersignedType), []ades.SubIndication{right, right, wrong}},
		"beside another signature":          {counterSigned(t, two, q, 0, values[0], countersignedType), []ades.SubIndication{right, right, right}},
		"of another signature":              {counterSigned(t, two, q, 0, values[1], countersignedType), []ades.SubIndication{right, wrong, right}},
		"of something else":                 {counterSigned(t, held, q, 0, "b", countersignedType), []ades.SubIndication{right, wrong}},
		"of something else, without a type": {counterSigned(t, held, q, 0, "b", ""), []ades.SubIndication{right, wrong}},
		"with another's value":              {otherValue(good, values[0]), []ades.SubIndication{right, ades.SigCryptoFailure}},
	} {
		path := filepath.Join(folder, name+".xml")
		writeFile(t, path, test.b)
		files, wants = append(files, path), append(wants, test.wants)
		report := ades.Report{Signatures: verify(t, test.b, ca)}
		checkCounters(t, name, &report, test.wants)
	}
	for i, theirs := range validators.DSS(t, validators.DSSOptions{Roots: []*x509.Certificate{ca.Root()}, RevocationOptional: true}, files...) {
		var got []ades.SubIndication
		for _, s := range theirs.Signatures {
			got = append(got, cmp.Or(ades.SubIndication(s.SubIndication), right)) // which does not ask for revocation data
		}
		if diff := gocmp.Diff(wants[i], got); diff != "" {
			t.Errorf("%s (-want +EU DSS):\n%s", files[i], diff)
		}
	}
}

// checkCounters expects counter-signatures that cover nothing, and let a document pass if they do.
func checkCounters(t *testing.T, name string, report *ades.Report, wants []ades.SubIndication) {
	t.Helper()
	var got []ades.SubIndication
	passed := true
	for _, s := range report.Signatures {
		got, passed = append(got, s.SubIndication), passed && s.Passed()
		if s.CounterSignature && (s.Coverage != ades.Partial || s.Intact != s.Passed()) {
			t.Errorf("%s: %+v", name, s)
		}
	}
	if diff := gocmp.Diff(wants, got); diff != "" || report.Passed() != passed {
		t.Errorf("%s: passed %v (-want +got):\n%s", name, report.Passed(), diff)
	}
}

// otherValue gives all values that of one signature.
func otherValue(b []byte, id string) []byte {
	value := regexp.MustCompile(`<ds:SignatureValue Id="` + id + `">([^<]*)`).FindSubmatch(b)[1]
	return regexp.MustCompile(`(<ds:SignatureValue [^>]*>)[^<]*`).ReplaceAll(b, []byte("${1}"+string(value)))
}

// A counter-signature says nothing of the document, and there are not more than of other signatures.
func TestCounterSignaturesCoverNothing(t *testing.T) {
	t.Parallel()
	p := newPerson(t, newAuthority(t), p256(t))
	signed := sign(t, []byte(contract), p, xades.Options{})
	counter := counterSigned(t, signed, p, 0, idsOfValues(signed)[0], countersignedType)
	within := append(append([]byte("<part-of-it>"), regexp.MustCompile(`^<\?.*\?>`).ReplaceAll(counter, nil)...), "</part-of-it>"...)
	for name, b := range map[string][]byte{"covered": counter, "not covered": within} {
		if report := (ades.Report{Signatures: verify(t, b, p.ca)}); len(report.Signatures) != 2 || report.Passed() != (name == "covered") {
			t.Errorf("%s: %+v", name, report)
		}
	}
	property := regexp.MustCompile(`(?s)<xades:CounterSignature>.*</xades:CounterSignature>`)
	many := replaced(t, counter, property, func(s string) string { return strings.Repeat(s, 600) })
	if _, err := xades.Verify(t.Context(), document(many), ades.VerifyOptions{}); !errors.Is(err, ades.ErrUnreadable) {
		t.Errorf("600: %v", err)
	}
}

// What the counter-signatures of the corpus are over, whoever is trusted.
func TestCounterSignaturesOfTheCorpus(t *testing.T) {
	t.Parallel()
	folder := testenv.Corpus(t, "signed/xml")
	for name, want := range counterSignatures {
		all := verifyForeign(t, readFile(t, filepath.Join(folder, name)), nil).Signatures
		if len(all) != 2 || all[0].CounterSignature || !all[1].CounterSignature || (all[1].SubIndication == want) != (want != "") || all[1].Intact != (want == "") {
			t.Errorf("%s: %+v", name, all)
		}
	}
}
