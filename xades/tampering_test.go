package xades_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/innsigli/innsigli/ades"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/internal/test/validators"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
	xmldsig "github.com/innsigli/innsigli/internal/xml/dsig"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
	"github.com/innsigli/innsigli/xades"
)

const (
	forged      = `<contract xmlns="urn:example:contract" number="17"><price currency="ISK">1</price></contract>`
	forgedPrice = `<contract xmlns=""><price>1</price></contract>`
	stylesheet  = `<?xml-stylesheet href="#"?>`
)

func inUnsignedProperties(content string) change {
	return before(qualifyingEnd, "<xades:UnsignedProperties>"+content+"</xades:UnsignedProperties>")
}

func inUnsignedProperty(content string) change {
	return inUnsignedProperties("<xades:UnsignedSignatureProperties>" + content + "</xades:UnsignedSignatureProperties>")
}

func withoutIdentifiers(s string) string { return identifier.ReplaceAllString(s, "") }

// TestOrderOfChecks changes a document in ways that several checks detect. The first check in the order of EN 319 102-1
// decides: the format (5.2.2), the signer's certificate (5.2.3.4), the chain (5.2.6), the value (5.2.7.4).
func TestOrderOfChecks(t *testing.T) {
	t.Parallel()
	p := newPerson(t, catest.New(t), p256(t))
	certificate := func(der []byte, at int) change {
		altered := bytes.Clone(der)
		altered[at] ^= 1
		return replace(base64.StdEncoding.EncodeToString(der), base64.StdEncoding.EncodeToString(altered))
	}
	signer, issuer := p.signer.Certificate.Raw, p.signer.Chain[0].Raw
	checkChanges(t, p, ades.LT, plainContract, []changedDocument{
		{"unchanged", enveloped, unchanged, "TOTAL_PASSED WHOLE_DOCUMENT intact, passes"},
		{"value of the signer's certificate", enveloped, certificate(signer, len(signer)-1), noSigner + " intact"},
		{"serial number of the signer's certificate", enveloped, certificate(signer, bytes.Index(signer, p.signer.Certificate.SerialNumber.Bytes())), noSigner + " intact"},
		{"content changed, and KeyInfo removed", enveloped, all(replace("250000", "250001"), substitute(keyInfo, "")), "NO_SIGNING_CERTIFICATE_FOUND PARTIAL"},
		{"value of the issuer's certificate", enveloped, certificate(issuer, len(issuer)-1), "NO_CERTIFICATE_CHAIN_FOUND WHOLE_DOCUMENT intact"},
		{"no reference to the properties", enveloped, substitute(propertyReference, ""), "SIG_CRYPTO_FAILURE WHOLE_DOCUMENT"},
		{"the same signature twice", enveloped, substitute(wholeSignature, "$0$0"), "FORMAT_FAILURE WHOLE_DOCUMENT; FORMAT_FAILURE WHOLE_DOCUMENT"},
	})
}

// TestTransplants copies valid signatures into other documents, without a key. The signatures stay valid, and the
// document does not pass.
func TestTransplants(t *testing.T) {
	t.Parallel()
	ca := catest.New(t)
	p, q := newPerson(t, ca, p256(t)), newPerson(t, ca, p256(t))
	signature := func(b []byte) string { return string(wholeSignature.Find(b)) }
	note := func(k packing) string {
		return signature(sign(t, []byte(`<n:note xmlns:n="urn:example:note">agreed</n:note>`), q, k.options()))
	}
	// second adds the signature of q over the same document to a property of the signature of p.
	second := func(object string) change {
		return func(t testing.TB, p person, b []byte) []byte {
			two := string(sign(t, b, q, xades.Options{}))
			at := strings.LastIndex(two, "<ds:Signature ")
			moved := two[at : strings.LastIndex(two, signatureEnd)+len(signatureEnd)]
			moved = strings.TrimSuffix(moved, signatureEnd) + object + signatureEnd
			return inUnsignedProperty(`<p:x xmlns:p="urn:x">`+moved+"</p:x>")(t, p, b)
		}
	}
	// The signer p signs an Object with another contract, which has the signature of q over the same contract as p.
	const offer = "<contract><price>5</price></contract>"
	anothers := `<ds:Object Id="more"><contract><price>1</price>` + signature(sign(t, []byte(offer), q, xades.Options{})) + "</contract></ds:Object>"
	inSignedObject := signs(before(signatureEnd, anothers), before("</ds:SignedInfo>", referenceTo("", "#more", exclusiveTransform)))
	const whole = "TRY_LATER WHOLE_DOCUMENT intact"
	const partialFirst, partialSecond, partialBoth = partial + "; " + whole, whole + "; " + partial, partial + "; " + partial
	checkChanges(t, p, ades.B, plainContract, []changedDocument{
		{"enveloping, after an enveloped signature", enveloped, after(signatureEnd, note(enveloping)), partialSecond},
		{"enveloping Base64, after an enveloped signature", enveloped, after(signatureEnd, note(enveloping64)), partialSecond},
		{"enveloping, in a container", detached, after(signatureEnd, note(enveloping)), partialSecond},
		{"enveloping, in KeyInfo", enveloped, after("<ds:KeyInfo>", note(enveloping)), partialBoth},
		{"enveloped, in an unsigned property", enveloped, second(""), partialFirst},
		{"enveloped, in an unsigned property, with an unsigned Object", enveloped, second("<ds:Object>" + forged + "</ds:Object>"), partialBoth},
	})
	checkChanges(t, p, ades.B, offer, []changedDocument{{"enveloped, in a signed Object of another signature", enveloped, inSignedObject, partialFirst}})
}

// statement is what a document and the signed properties in it state, in canonical form and without comments.
type statement struct {
	document   string
	properties []string
}

// statementOf reads a document without the references of its signatures. The container of an internally detached
// signature is not a part of the document.
func statementOf(t testing.TB, b []byte) (s statement) {
	t.Helper()
	d := parse(t, b)
	write := func(part xmldoc.Subset) string {
		return string(canonical(t, d, xmldoc.Canonicalization{Method: xmldoc.Exclusive}, part))
	}
	if d.Root().Is("", "internally-detached") {
		for n := range d.Root().Elements() {
			if !isSignature(n) {
				s.document += write(xmldoc.Subset{Apex: n})
			}
		}
	} else {
		s.document = write(xmldoc.Subset{Without: isSignature})
	}
	for _, signature := range xmldsig.Find(d) {
		for object := range signature.Elements() {
			if !object.Is(xmldsig.Namespace, "Object") {
				continue
			}
			elements := slices.Collect(object.Elements())
			properties := slices.IndexFunc(slices.Collect(object.Descendants()), isSignedProperties)
			switch {
			case properties >= 0:
				s.properties = append(s.properties, write(xmldoc.Subset{Apex: slices.Collect(object.Descendants())[properties]}))
			case len(elements) == 0: // Base64: XML Signature 1.1 6.6.2 ignores white space, and does not sign attributes
				s.document += strings.Join(strings.Fields(object.Text()), "")
			default:
				s.document += write(xmldoc.Subset{Apex: object})
			}
		}
	}
	return s
}

func isSignedProperties(n xmldoc.Node) bool {
	return n.Is("http://uri.etsi.org/01903/v1.3.2#", "SignedProperties")
}

func documentPasses(t testing.TB, b []byte, ca *sandboxca.Authority) bool {
	t.Helper()
	report, err := xades.Verify(t.Context(), document(b), ades.VerifyOptions{Roots: ca.Roots()})
	return err == nil && report.Passed()
}

// flipBits changes one bit in every step-th byte of a signed document. It returns the documents that still pass, all of
// which have to state the same.
func flipBits(t *testing.T, signed []byte, step int, ca *sandboxca.Authority) (passing [][]byte, tried int) {
	t.Helper()
	if !documentPasses(t, signed, ca) {
		t.Fatal("the document does not pass without a change")
	}
	was := statementOf(t, signed)
	signer := verify(t, signed, ca)[0]
	for at := 0; at < len(signed); at += step {
		b := bytes.Clone(signed)
		b[at] ^= 1 << (at / step % 8)
		tried++
		if !documentPasses(t, b, ca) {
			continue
		}
		passing = append(passing, b)
		now := verify(t, b, ca)[0]
		diff := cmp.Diff([]any{was, claims(signer)}, []any{statementOf(t, b), claims(now)}, cmp.AllowUnexported(statement{}))
		if diff != "" || !now.BestTime.IsZero() && !now.BestTime.Equal(signer.BestTime) {
			t.Errorf("passes with byte %d changed to %q in %q, best time %v (-want +got):\n%s", at, b[at], signed[max(0, at-50):min(len(signed), at+50)], now.BestTime, diff)
		}
	}
	return passing, tried
}

// claims returns the part of a report that is signed.
func claims(s ades.SignatureReport) ades.SignatureReport {
	return ades.SignatureReport{
		Intact: s.Intact, Coverage: s.Coverage, Certificate: s.Certificate, Chain: s.Chain, Algorithm: s.Algorithm,
		ClaimedTime: s.ClaimedTime, SignerName: s.SignerName, Reason: s.Reason, Location: s.Location,
	}
}

// TestFlippedBits flips bits in documents of this package. A document passes only if it still states the same: the bit is
// in a comment, in a prefix that is declared otherwise, or in unsigned properties.
func TestFlippedBits(t *testing.T) {
	t.Parallel()
	p := newPerson(t, catest.New(t), p256(t))
	for _, k := range packings {
		for _, test := range []struct {
			level ades.Level
			step  int
			least float64 // share of the changes that are detected; most of level LTA is unsigned properties
		}{{ades.B, 50, 0.3}, {ades.LTA, 1013, 0.1}} {
			o := k.options()
			o.City, o.Reason = "Reykjavík", "Undirritun"
			passing, tried := flipBits(t, signLevel(t, []byte(contract), p, test.level, o), test.step, p.ca)
			if detected := tried - len(passing); float64(detected) < test.least*float64(tried) {
				t.Errorf("%s, %v: %d of %d changes are detected, want %.0f %%", k.name, test.level, detected, tried, 100*test.least)
			}
		}
	}
}

// TestEachByteIsSigned changes each byte of the content of an element.
func TestEachByteIsSigned(t *testing.T) {
	t.Parallel()
	p := newPerson(t, catest.New(t), p256(t))
	const plain = `<a b="c"><d>efgh</d></a>`
	for _, k := range packings {
		signed, content := sign(t, []byte(plain), p, k.options()), []byte("efgh")
		if k.base64 {
			content = []byte(base64.StdEncoding.EncodeToString([]byte(plain)))
		}
		start := bytes.Index(signed, content)
		for at := range content {
			b := bytes.Clone(signed)
			if b[start+at]++; documentPasses(t, b, p.ca) {
				t.Errorf("%s: passes with %q at %d", k.name, b[start+at], at)
			}
		}
	}
}

// TestForeignSigners verifies what EU DSS and xmlsec1 signed, as EU DSS does, and flips bits in it. XML Security Library
// also finds valid what passes then.
func TestForeignSigners(t *testing.T) {
	t.Parallel()
	ca := catest.New(t)
	url := catest.Serve(t, ca) // before the certificate, which has the address of the authority
	p := newPerson(t, ca, p256(t))
	options := validators.SignOptions{
		Key: p.key, Certificate: p.signer.Certificate, Chain: p.signer.Chain,
		Root: ca.Root(), TSA: url + sandboxca.PathTimestamp,
	}
	var names []string
	var documents [][]byte
	add := func(name string, signed validators.SignedFile) {
		names, documents = append(names, name), append(documents, readFile(t, signed.Path))
	}
	plain := filepath.Join(t.TempDir(), "contract.xml")
	writeFile(t, plain, []byte(strings.Replace(plainContract, " number", ` Id="whole" number`, 1))) // EU DSS signs that Id if internally detached
	for _, options.Packaging = range []string{"ENVELOPED", "ENVELOPING", "INTERNALLY_DETACHED"} {
		for _, level := range []ades.Level{ades.B, ades.T} {
			options.Level = level.String()
			add(fmt.Sprintf("EU DSS, %s, %v", options.Packaging, level), validators.DSSSign(t, options, plain)[0])
		}
	}
	// xmlsec1 fills in a signature of this package without digests and value, with the transform for enveloped signatures.
	template := filepath.Join(t.TempDir(), "template.xml")
	empty := edit(element("ds:SignedInfo"), func(s string) string {
		s = strings.Replace(s, filterTransform, ownTransform, 1)
		return regexp.MustCompile(`<ds:DigestValue>[^<]*`).ReplaceAllString(s, "<ds:DigestValue>")
	})
	writeFile(t, template, all(empty, substitute(signatureValue, "$1"))(t, p, sign(t, []byte(plainContract), p, xades.Options{})))
	add("xmlsec1", validators.XMLSecSign(t, options, []string{"SignedProperties"}, template)[0])
	step := 100
	if testenv.Full() {
		step = 7
	}
	for i, theirs := range dssReports(t, ca, documents...) {
		t.Run(names[i], func(t *testing.T) {
			got := verify(t, documents[i], ca)
			if v := verdict(&ades.Report{Signatures: got}); v != passes || len(theirs.Signatures) != 1 {
				t.Fatalf("got %s, want %s; EU DSS: %+v", v, passes, theirs)
			}
			if dss := theirs.Signatures[0]; dss.Indication != string(ades.TotalPassed) || dss.Format != got[0].Format {
				t.Errorf("%s; EU DSS: %s %s %s %v", got[0].Format, dss.Format, dss.Indication, dss.SubIndication, dss.Errors)
			}
			passing, tried := flipBits(t, documents[i], step, ca)
			if 2*len(passing) > tried {
				t.Errorf("%d of %d changed documents pass", len(passing), tried)
			}
			if len(passing) > 0 {
				checkXMLSec(t, passing, func(int) bool { return true })
			}
		})
	}
}
