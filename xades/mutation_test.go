package xades_test

import (
	"bytes"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/internal/test/validators"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// signedElsewhere is a document that a program of others signed.
type signedElsewhere struct {
	name, path string
	b          []byte
}

// everySigner has EU DSS sign in each of its packings, and xmlsec1 what it knows to be XML Signature alone.
func everySigner(t *testing.T, p person, url string) (files []signedElsewhere) {
	t.Helper()
	options := validators.SignOptions{
		Key: p.key, Certificate: p.signer.Certificate, Chain: p.signer.Chain,
		Root: p.ca.Root(), TSA: url + sandboxca.PathTimestamp,
	}
	add := func(name, path string) { files = append(files, signedElsewhere{name, path, readFile(t, path)}) }
	plain := filepath.Join(t.TempDir(), "contract.xml")
	writeFile(t, plain, []byte(strings.Replace(contract, " number", ` Id="whole" number`, 1))) // by which it is signed internally detached
	for _, options.Packaging = range []string{"ENVELOPED", "ENVELOPING", "INTERNALLY_DETACHED"} {
		for _, level := range []ades.Level{ades.B, ades.T} {
			options.Level = level.String()
			add(fmt.Sprintf("EU DSS, %s, %v", options.Packaging, level), validators.DSSSign(t, options, plain)[0].Path)
		}
	}
	template := filepath.Join(t.TempDir(), "template.xml")
	writeFile(t, template, []byte(unfilled(p)))
	add("xmlsec1", validators.XMLSecSign(t, options, []string{"SignedProperties"}, template)[0].Path)
	return files
}

// unfilled is a contract with an enveloped signature of level B that has no digests and no value yet.
func unfilled(p person) string {
	sum := sha256.Sum256(p.signer.Certificate.Raw)
	const exclusive, digest = "http://www.w3.org/2001/10/xml-exc-c14n#", "http://www.w3.org/2001/04/xmlenc#sha256"
	signature := `<ds:Signature xmlns:ds="http://www.w3.org/2000/09/xmldsig#" Id="signature"><ds:SignedInfo>` +
		`<ds:CanonicalizationMethod Algorithm="` + exclusive + `"/><ds:SignatureMethod Algorithm="http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256"/>` +
		`<ds:Reference Id="contract" URI=""><ds:Transforms><ds:Transform Algorithm="http://www.w3.org/2000/09/xmldsig#enveloped-signature"/>` +
		`<ds:Transform Algorithm="` + exclusive + `"/></ds:Transforms><ds:DigestMethod Algorithm="` + digest + `"/><ds:DigestValue/></ds:Reference>` +
		`<ds:Reference Type="http://uri.etsi.org/01903#SignedProperties" URI="#properties"><ds:Transforms><ds:Transform Algorithm="` + exclusive + `"/></ds:Transforms>` +
		`<ds:DigestMethod Algorithm="` + digest + `"/><ds:DigestValue/></ds:Reference></ds:SignedInfo><ds:SignatureValue/>` +
		`<ds:KeyInfo><ds:X509Data>` + certificates(p.signer) + `</ds:X509Data></ds:KeyInfo>` +
		`<ds:Object><xades:QualifyingProperties xmlns:xades="http://uri.etsi.org/01903/v1.3.2#" Target="#signature"><xades:SignedProperties Id="properties">` +
		`<xades:SignedSignatureProperties><xades:SigningTime>` + time.Now().UTC().Format(time.RFC3339) + `</xades:SigningTime>` +
		`<xades:SigningCertificateV2><xades:Cert><xades:CertDigest><ds:DigestMethod Algorithm="` + digest + `"/><ds:DigestValue>` +
		base64.StdEncoding.EncodeToString(sum[:]) + `</ds:DigestValue></xades:CertDigest></xades:Cert></xades:SigningCertificateV2></xades:SignedSignatureProperties>` +
		`<xades:SignedDataObjectProperties><xades:DataObjectFormat ObjectReference="#contract"><xades:MimeType>text/xml</xades:MimeType></xades:DataObjectFormat></xades:SignedDataObjectProperties>` +
		`</xades:SignedProperties></xades:QualifyingProperties></ds:Object></ds:Signature>`
	return strings.Replace(contract, "</contract>", signature+"</contract>", 1)
}

func certificates(s ades.Signer) string {
	var b strings.Builder
	for _, c := range append([]*x509.Certificate{s.Certificate}, s.Chain...) {
		b.WriteString("<ds:X509Certificate>" + base64.StdEncoding.EncodeToString(c.Raw) + "</ds:X509Certificate>")
	}
	return b.String()
}

// What programs of others signed is judged as EU DSS judges it. With one bit flipped it is noticed, unless it says the
// same: its canonical form is what it was, and XML Security Library passes it too.
func TestForeignSigners(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	url := catest.Serve(t, ca) // which the certificate is going to say
	files := everySigner(t, newPerson(t, ca, p256(t)), url)
	var paths []string
	for _, f := range files {
		paths = append(paths, f.path)
	}
	options := validators.DSSOptions{Roots: []*x509.Certificate{ca.Root()}, RevocationOptional: true}
	for i, r := range validators.DSS(t, options, paths...) {
		f := files[i]
		t.Run(f.name, func(t *testing.T) {
			f.check(t, ca, r)
			judgePassing(t, f.flip(t, ca))
		})
	}
}

func judgePassing(t *testing.T, paths []string) {
	if len(paths) == 0 {
		return
	}
	for i, r := range validators.XMLSec(t, nil, paths...) {
		if r.Error != "" || slices.ContainsFunc(r.Signatures, func(s validators.XMLSecSignature) bool { return !s.Valid }) {
			t.Errorf("XML Security Library on %s, which passes here: %+v", filepath.Base(paths[i]), r)
		}
	}
}

func (f signedElsewhere) check(t *testing.T, ca *sandboxca.Authority, theirs validators.DSSReport) {
	got := verify(t, f.b, ca)
	if len(got) != 1 || len(theirs.Signatures) != 1 {
		t.Fatalf("%+v; EU DSS: %+v", got, theirs)
	}
	s, dss := got[0], theirs.Signatures[0]
	if !s.Intact || s.Coverage != ades.WholeDocument || s.Indication != ades.Indeterminate || s.SubIndication != ades.TryLater {
		t.Errorf("%s %s %s, intact %t: %q", s.Coverage, s.Indication, s.SubIndication, s.Intact, s.Problems)
	}
	if dss.Indication != string(ades.TotalPassed) || dss.Format != s.Format {
		t.Errorf("%s; EU DSS: %s %s %s %v", s.Format, dss.Format, dss.Indication, dss.SubIndication, dss.Errors)
	}
}

// flip flips bits and returns the documents that pass all the same.
func (f signedElsewhere) flip(t *testing.T, ca *sandboxca.Authority) (passing []string) {
	step := 100
	if testenv.Full() {
		step = 7
	}
	folder, tried := t.TempDir(), 0
	was, signer := contentOf(t, f.b), verify(t, f.b, ca)[0]
	for at := 0; at < len(f.b); at += step {
		b := bytes.Clone(f.b)
		b[at] ^= 1 << (at / step % 8)
		if tried++; !passes(t, b, ca) {
			continue
		}
		is := contentOf(t, b)
		if is.document != was.document || !slices.Equal(is.properties, was.properties) {
			t.Errorf("the byte at %d is %q for %q in %q", at, b[at], f.b[at], f.b[max(0, at-50):min(len(f.b), at+50)])
		}
		now := verify(t, b, ca)[0]
		if diff := cmp.Diff(said(signer), said(now)); diff != "" || !now.BestTime.IsZero() && !now.BestTime.Equal(signer.BestTime) {
			t.Errorf("with a bit flipped at %d, proven %v:\n%s", at, now.BestTime, diff)
		}
		path := filepath.Join(folder, fmt.Sprintf("%d.xml", at))
		writeFile(t, path, b)
		passing = append(passing, path)
	}
	if 2*len(passing) > tried {
		t.Errorf("%d of %d pass", len(passing), tried)
	}
	return passing
}

// said is what a report says that the signer has signed.
func said(s ades.SignatureReport) ades.SignatureReport {
	return ades.SignatureReport{
		Intact: s.Intact, Coverage: s.Coverage, Certificate: s.Certificate, Chain: s.Chain, Algorithm: s.Algorithm,
		ClaimedTime: s.ClaimedTime, SignerName: s.SignerName, Reason: s.Reason, Location: s.Location,
	}
}
