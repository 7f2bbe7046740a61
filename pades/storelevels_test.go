package pades_test

import (
	"bytes"
	"crypto/sha1"
	"crypto/x509"
	"encoding/hex"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/innsigli/innsigli/ades"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/internal/test/validators"
	"github.com/innsigli/innsigli/pades"
)

// The level of a signature depends on the stores of the document and on where the validation data is in them (EN 319
// 142-1 6.3). EU DSS finds the same levels and indications.
func TestLevelByStores(t *testing.T) {
	t.Parallel()
	w := newStoreWorld(t)
	authority := w.honest
	authority.signer.Certificate = verifyAny(t, w.one, w.honest.ca)[0].Timestamps[0].Authority
	w.proofs["stamped"] = responseAbout(t, authority, time.Now())
	const objects = "\n~\n$issuing\n~\n$root\n~\n$good\n~\n$list\n~\n$stamped"
	whole := []byte("<< /Type /DSS /Certs [900 0 R 901 0 R] /OCSPs [902 0 R 904 0 R] /CRLs [903 0 R] >>" + objects)
	contents, err := hex.DecodeString(string(contentsOf.FindSubmatch(w.one)[1]))
	if err != nil {
		t.Fatal(err)
	}
	inVRI := []byte("<< /VRI << /" + fmt.Sprintf("%X", sha1.Sum(contents)) + " << /Cert [900 0 R 901 0 R] /OCSP [902 0 R 904 0 R] /CRL [903 0 R] >> >> >>" + objects)
	empty := []byte("<< /Type /DSS >>")
	stored := w.attach(t, w.one, whole)
	storedAndSigned := signFor(t, stored, w.honest, ades.T)
	// The form is a direct object, so that each signature writes the catalog again.
	form := pdftest.Build(pdftest.Options{Catalog: "/AcroForm << /Fields [] >>"})
	removed := signFor(t, w.attach(t, signFor(t, form, w.honest, ades.T), whole), w.honest, ades.T)
	stores := regexp.MustCompile(`/DSS\s*<<`).FindAllIndex(removed, -1)
	if len(stores) != 2 {
		t.Fatalf("%d catalogs with a store", len(stores))
	}
	copy(removed[stores[1][0]:], "/DSX")
	archived := extend(t, signFor(t, pdftest.Build(pdftest.Options{}), w.honest, ades.LTA), ades.LTA, w.honest.ca.Sources(nil))
	otherType := bytes.Replace(archived, []byte("/Type /DocTimeStamp"), []byte("/Type /Sig         "), 1)
	const storeFirst = "store before the signature"
	tests := map[string]struct {
		b    []byte
		want string // levels
	}{
		"store":                               {stored, "LT"},
		"store with data in VRI alone":        {w.attach(t, w.one, inVRI), "LT"},
		"store replaced after two signatures": {w.attach(t, storedAndSigned, empty), "LT T"},
		"store removed after two signatures":  {w.attach(t, storedAndSigned, []byte("null")), "T T"},
		"store removed with the second one":   {removed, "T T"},
		"store replaced after the signature":  {w.attach(t, stored, empty), "T"},
		storeFirst:                            {signFor(t, w.attach(t, pdftest.Build(pdftest.Options{}), whole), w.honest, ades.T), "T"},
		"document timestamp":                  {archived, "LTA"},
		"document timestamp of another Type":  {otherType, "LT"},
	}
	names := slices.Sorted(maps.Keys(tests))
	var paths []string
	verdicts := make(map[string][]string)
	folder := t.TempDir()
	for i, name := range names {
		var levels []string
		for _, s := range verifyAny(t, tests[name].b, w.honest.ca) {
			levels = append(levels, strings.TrimPrefix(s.Format, "PAdES-BASELINE-"))
			verdicts[name] = append(verdicts[name], s.Format+" "+string(s.Indication))
		}
		if got := strings.Join(levels, " "); got != tests[name].want {
			t.Errorf("%s: levels %s, want %s", name, got, tests[name].want)
		}
		paths = append(paths, filepath.Join(folder, fmt.Sprintf("%d.pdf", i)))
		writeFile(t, paths[i], tests[name].b)
	}
	stamps := verifyAny(t, otherType, w.honest.ca)[0].Timestamps // ISO 32000-2 12.8.5
	if last := stamps[len(stamps)-1]; last.Trusted || !slices.Equal(last.Problems, []string{"The timestamp of the document is not of type DocTimeStamp."}) {
		t.Errorf("timestamp of another Type: %+v", last)
	}
	for i, r := range validators.DSS(t, validators.DSSOptions{Roots: []*x509.Certificate{w.honest.ca.Root()}}, paths...) {
		var theirs []string
		for j, s := range r.Signatures {
			if names[i] == storeFirst { // EU DSS reads no store from before the first signature
				s.Indication = strings.Fields(verdicts[storeFirst][j])[1]
			}
			theirs = append(theirs, s.Format+" "+s.Indication)
		}
		if diff := cmp.Diff(theirs, verdicts[names[i]]); diff != "" {
			t.Errorf("%s (-EU DSS +Innsigli):\n%s", names[i], diff)
		}
	}
}

// Revocation data that is older than a signature does not make its level LT: it is fetched again for each signature.
func TestEvidenceOfEachSignature(t *testing.T) {
	t.Parallel()
	ca := catest.New(t)
	p := newPerson(t, ca, p256(t))
	b := pdftest.Build(pdftest.Options{})
	for range 3 {
		b = extend(t, signFor(t, b, p, ades.LT), ades.LT, ca.Sources(nil))
	}
	for _, s := range verify(t, b, ca) {
		if s.Format != "PAdES-BASELINE-LT" {
			t.Errorf("%s: %s", s.Name, s.Format)
		}
	}
	if revisions, err := (pades.Extender{Sources: ca.Sources(nil)}).Extend(t.Context(), document(b), ades.LT); err != nil || len(revisions) > 0 {
		t.Errorf("%d revisions for a complete document, %v", len(revisions), err)
	}
}

// The signer's certificate is the one in the CMS (EN 319 102-1 5.2.3.4, EN 319 142-1 6.3). If it or its issuer is altered
// there, the right one in the store does not take its place.
func TestAlteredCertificateInCMS(t *testing.T) {
	ca := catest.New(t)
	p := newPerson(t, ca, p256(t))
	b := signLevel(t, pdftest.Build(pdftest.Options{}), p, ades.LT)
	signer, issuer := p.signer.Certificate.Raw, p.signer.Chain[0].Raw
	for name, test := range map[string]struct {
		der  []byte
		at   int
		want ades.SubIndication
	}{
		"serial number of the signer":         {signer, bytes.Index(signer, p.signer.Certificate.SerialNumber.Bytes()), ades.NoSigningCertificateFound},
		"version of the signer, not parsable": {signer, 12, ades.NoSigningCertificateFound},
		"signature value of the signer":       {signer, len(signer) - 1, ades.NoSigningCertificateFound},
		"signature value of the issuer":       {issuer, len(issuer) - 1, ades.NoCertificateChainFound},
	} {
		altered := bytes.Clone(test.der)
		altered[test.at] ^= 1
		changed := bytes.Replace(b, fmt.Appendf(nil, "%x", test.der), fmt.Appendf(nil, "%x", altered), 1)
		if bytes.Equal(changed, b) || !bytes.Contains(changed, test.der) {
			t.Fatalf("%s: the certificate is not in the CMS and in the store", name)
		}
		for _, s := range verifyAny(t, changed, ca) {
			if s.Indication != ades.Indeterminate || s.SubIndication != test.want {
				t.Errorf("%s: %s %s, want %s: %q", name, s.Indication, s.SubIndication, test.want, s.Problems)
			}
		}
	}
}

// The problems of a signature with an unknown algorithm or key name its object identifier, and no hash.
func TestUnknownAlgorithm(t *testing.T) {
	ca := catest.New(t)
	signed := sign(t, pdftest.Build(pdftest.Options{}), newPerson(t, ca, certtest.NewRSAKey(t, 2048)), pades.Options{})
	const mlDSA65 = "608648016503040312" // 2.16.840.1.101.3.4.3.18, RFC 9881
	for old, want := range map[string]string{
		"2a864886f70d01010b": "signature algorithm 2.16.840.1.101.3.4.3.18", // of the signature
		"2a864886f70d010101": "key of type 2.16.840.1.101.3.4.3.18",         // of the certificate
	} {
		at := max(bytes.LastIndex(signed, []byte(old)), bytes.LastIndex(signed, []byte(strings.ToUpper(old))))
		if at < 0 {
			t.Fatalf("%s is not in the signature", old)
		}
		changed := bytes.Clone(signed)
		copy(changed[at:], mlDSA65)
		s := verifyAny(t, changed, ca)[0]
		problems := strings.Join(s.Problems, "\n")
		if s.Passed() || !strings.Contains(problems, want) || strings.Contains(problems, "unknown hash") || strings.Contains(problems, "<nil>") {
			t.Errorf("%s %s: %s, want %s", s.Indication, s.SubIndication, problems, want)
		}
	}
}
