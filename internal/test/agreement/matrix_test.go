package agreement_test

import (
	"bytes"
	"crypto/x509"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/test/agreement"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/internal/test/validators"
)

// Where the verdicts differ on what EU DSS and pyHanko sign, as it is and altered, there is a reason.
func TestMatrix(t *testing.T) {
	s := newStudio(t)
	files := s.matrix()
	if testenv.Full() && len(files) < 1000 {
		t.Errorf("%d files", len(files))
	}
	roots := []*x509.Certificate{s.ca.Root()}
	pool := poolOf(roots)
	pdf, xml := verifyPDF(ades.VerifyOptions{Roots: pool}), verifyXML(ades.VerifyOptions{Roots: pool})
	agreement.Comparison{
		Table: "agreement-matrix.md", Title: "Agreement with EU DSS on a matrix", Preamble: matrixPreamble, Files: files, Every: 1,
		Runs: []agreement.Run{{
			Title: "The root an anchor", About: "The root of the authority is the anchor, and the validation time is that of the test.",
			DSS: validators.DSSOptions{Roots: roots}, Classes: matrixClasses, Verdicts: 0.93, Formats: 0.9,
			Verify: func(t testing.TB, path string) (*ades.Report, error) {
				if filepath.Ext(path) == ".pdf" {
					return pdf(t, path)
				}
				return xml(t, path)
			},
		}},
	}.Check(t)
}

// matrixSample are the documents that are altered without INNSIGLI_FULL, by the names of their recipes.
var matrixSample = []string{"pdf dss LT p256", "pdf pyhanko T rsa pkcs7", "enveloped dss LTA p256", "internally_detached dss LT p256"}

// matrix makes the documents, and each of them with every second alteration, the others with the next document. A sample
// has a few documents, and each of these with a few alterations.
func (s *studio) matrix() (files []string) {
	s.Helper()
	folder := s.TempDir()
	recipes, every := recipes(), 2
	if !testenv.Full() {
		recipes = slices.DeleteFunc(recipes, func(r recipe) bool { return !slices.Contains(matrixSample, r.name()) })
		every = 6
		if len(recipes) != len(matrixSample) {
			s.Fatalf("%d of the documents %q are there", len(recipes), matrixSample)
		}
	}
	for i, r := range recipes {
		signed := s.make(r)
		alterations := xmlAlterations()
		if r.packaging == "" {
			alterations = pdfAlterations()
		}
		files = append(files, s.put(folder, r, "as signed", signed))
		for j, a := range alterations {
			if (i+j)%every != 0 {
				continue
			}
			if altered := a.alter(signed); altered != nil {
				if bytes.Equal(altered, signed) {
					s.Errorf("%s: %s changes nothing", r.name(), a.name)
				}
				files = append(files, s.put(folder, r, a.name, altered))
			}
		}
	}
	return files
}

func (s *studio) put(folder string, r recipe, alteration string, b []byte) string {
	s.Helper()
	path := filepath.Join(folder, r.name()+" ~ "+alteration+r.extension())
	s.write(path, b)
	return path
}

var matrixPreamble = strings.TrimSpace(`
Documents that EU DSS 6.4 and pyHanko sign with each option that they have: levels, packagings, algorithms, signature
policies, content timestamps, counter-signatures, commitments, roles, places, several archive timestamps, validation data in
each place, and two or three signatures in a file. Each is judged as it was signed, and altered in one thing at a time, by
` + "`pades.Verify` and `xades.Verify`" + ` and by EU DSS, on the same machine and offline, by the default policy of EU DSS. The keys are
new each time. Written by TestMatrix under INNSIGLI_FULL=1, whose code is the list of documents and alterations; a file has the
name of both, as in "pdf dss LT p256 ~ value.pdf".

What lacks revocation data, or has none by a responder that is known, and nothing else, is TRY_LATER here, and with EU DSS
CERTIFICATE_CHAIN_GENERAL_FAILURE, with BBB_XCV_SUB_ANS, BBB_XCV_IRDPFC_ANS, BBB_XCV_IARDPFC_ANS and BBB_XCV_REVOC_ISSUER_KNOWN_ANS as its
only errors: two names for one fact (EN 319 102-1 5.2.6.4 and table 6). The first figure is of equal words, the second of equal facts.
The first class that fits a file counts.
`)

// matrixClasses are why the two differ on the matrix. The first class that fits counts.
var matrixClasses = []agreement.Class{
	{Files: "* ~ certificates removed.pdf", EUDSS: passed, Here: noSigner, Reason: ownSigner},
	{Files: "* ~ certificate, serial number.pdf", EUDSS: passed, Here: noSigner, Reason: ownSigner},
	{Files: "* ~ certificate, key.pdf", EUDSS: passed, Here: noSigner, Reason: ownSigner},
	{Files: "* ~ certificate, value.pdf", EUDSS: noChain, Here: noSigner, Reason: otherSigner},
	{Files: "* ~ certificate, serial number.xml", EUDSS: noChain, Here: noSigner, Reason: otherSigner},
	{Files: "* ~ issuer, value.???", EUDSS: general, Here: noChain, Reason: agreement.Reason{Right: agreement.Arguable,
		Why: "The issuer's certificate that the signature carries was altered, and the true one is elsewhere in the file. A certificate of the same issuer and number as one in the chain " +
			"(RFC 5280 4.1.2.2) keeps it from being taken for one here; EU DSS finds the chain of the OCSP responder broken first."}},
	{Files: "* ~ issuer, value.???", EUDSS: later, Here: noChain, Reason: agreement.Reason{Right: agreement.Arguable,
		Why: "The issuer's certificate was altered in one place, and the true one is in another signature or in the store. Here this keeps either of the two from being taken for the issuer; EU DSS finds the chain by the true one, and lacks revocation data."}},
	{Files: "* ~ signing certificate removed.xml", EUDSS: noSigner, Here: "TOTAL_FAILED/HASH_FAILURE", Reason: agreement.Reason{Right: agreement.Arguable,
		Why: "Nothing names the signer any more, and the digest of the properties is wrong. The value is that of the certificate in KeyInfo, so that the signer is found here (EN 319 102-1 5.2.3.4) and the digest decides (5.2.7.4); " +
			"EU DSS takes a certificate that nothing names only where the digests are right, too."}},

	{Files: "* ~ signature timestamp, certificate.???", Reason: ownAuthority},
	{Files: "* ~ document timestamp, certificate.pdf", Reason: ownAuthority},
	{Files: "* ~ certificate, ???*.???", Reason: noData},
	{Files: "* ~ issuer, value.???", Reason: noData},
	{Files: "* ~ CRL, value.xml", Reason: noData},
	{Files: "* ~ last byte missing.pdf", Reason: agreement.Reason{Right: agreement.Here,
		Why: "The last document timestamp does not cover a whole revision any more, which ends with its end-of-file marker (ISO 32000-2 7.5.5): it is no timestamp of the document here. EU DSS counts it."}},
	{Files: "* ~ OCSPs removed.pdf", Reason: ownLevel},
	{Files: "* ~ reference to the properties removed.xml", Reason: agreement.Reason{Right: agreement.Here,
		Why: "Properties that the signature does not sign are none of its own (EN 319 132-1 4.4): it has no signing time, which a baseline signature has (6.3). EU DSS reads them all the same."}},
}

const (
	passed   = "TOTAL_PASSED"
	later    = "INDETERMINATE/TRY_LATER"
	noSigner = "INDETERMINATE/NO_SIGNING_CERTIFICATE_FOUND"
	noChain  = "INDETERMINATE/NO_CERTIFICATE_CHAIN_FOUND"
	general  = "INDETERMINATE/CERTIFICATE_CHAIN_GENERAL_FAILURE"
)

var (
	ownSigner = agreement.Reason{Right: agreement.Here, Why: "The CMS does not hold the signer's certificate any more, which it has to (EN 319 142-1 6.3): the one that it holds was altered, or is gone. " +
		"EU DSS takes the true one from the document security store."}
	otherSigner = agreement.Reason{Right: agreement.Here, Why: "The certificate that the signature holds is not the one that the signed attribute names (EN 319 102-1 5.2.3.4). " +
		"EU DSS says so only where the true one is nowhere else in the file; else it goes on to the chain of the false one."}
	ownAuthority = agreement.Reason{Right: agreement.Arguable, Why: "The timestamp's certificate was altered, and the true one is elsewhere in the file, which RFC 3161 2.4.1 lets it be. " +
		"Both take that one; EU DSS wants revocation data of the false one, too, for level LT."}
	noData = agreement.Reason{Right: agreement.Arguable, Why: "A certificate or list was altered so that its signature is wrong. Its level is what a signature has (EN 319 132-1 6.3), good or not, and the verdict says that it is not; " +
		"EU DSS finds no data for the false certificate, or leaves out the list, and with it the level."}
	ownLevel = agreement.Reason{Right: agreement.Here, Why: "The data is another signature's, or was there before the signature. It counts for the verdict of both; " +
		"for a level a signature has to have its own (EN 319 132-1 6.3, EN 319 142-1 6.3)."}
)
