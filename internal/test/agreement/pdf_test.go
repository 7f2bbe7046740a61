package agreement_test

import (
	"bytes"
	"maps"
	"path/filepath"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/test/agreement"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/internal/test/validators"
	"github.com/innsigli/innsigli/pades"
)

// agreeOnPDF compares the validation of foreign PDF files (EN 319 102-1, EN 319 142-1), with and without
// anchors.
func agreeOnPDF(t *testing.T) {
	t.Parallel()
	// After the last of the files was signed, and before 2029, when the policy ends for RSA below 3000 bits:
	// what is judged at this time stays as it is.
	judgedAt := time.Date(2026, time.June, 1, 12, 0, 0, 0, time.UTC)
	paths, err := filepath.Glob(filepath.Join(testenv.Corpus(t, "signed/pdf"), "*.pdf"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files: %v", err)
	}
	anchors := selfSignedIn(t, paths, rootsInPDF)
	agreement.Comparison{
		Table: "agreement-pdf.md", Title: "Agreement with EU DSS on PDF", Preamble: pdfPreamble, Files: paths, Every: 12,
		Runs: []agreement.Run{{
			Title: "No anchors", About: "There are no anchors, and the validation time is that of the test.",
			Verify: verifyPDF(ades.VerifyOptions{}), Reasons: pdfEverywhere, Verdicts: 0.9, Formats: 0.95,
		}, {
			Title: "Every embedded root an anchor", About: pdfAnchors,
			DSS:     validators.DSSOptions{Roots: anchors, At: judgedAt},
			Verify:  verifyPDF(ades.VerifyOptions{Roots: poolOf(anchors), Time: judgedAt}),
			Reasons: pdfWithAnchors, Verdicts: 0.8, Formats: 0.95,
		}},
	}.Check(t)
}

func verifyPDF(options ades.VerifyOptions) func(testing.TB, string) (*ades.Report, error) {
	return func(t testing.TB, path string) (*ades.Report, error) {
		b := readFile(t, path)
		return pades.Verify(t.Context(), pades.Document{ReaderAt: bytes.NewReader(b), Size: int64(len(b))}, options)
	}
}

const pdfPreamble = `
The signed PDF files of the corpus, judged by ` + "`pades.Verify`" + ` and by EU DSS 6.4, on the same machine and offline. The
policy is that of EU DSS, ` + "`policy/constraint.xml`" + ` of dss-policy-jaxb 6.4: revocation data is required of every
certificate below the anchors, and it may be of any age. Written by TestAgreementWithEUDSS under INNSIGLI_FULL=1.

A file that one of the two cannot read, or in which it finds no signature, equals one of which the other says the same,
and no other. No signature may be TOTAL_PASSED here whose counterpart is anything else with EU DSS. A file may pass as a
whole, before there is revocation data, only where EU DSS has TOTAL_PASSED, TRY_LATER, or as its only errors
BBB_XCV_SUB_ANS and BBB_XCV_IRDPFC_ANS, which say that it found no revocation data: that is TRY_LATER here and
CERTIFICATE_CHAIN_GENERAL_FAILURE there, for one and the same fact.`

const pdfAnchors = `
Every certificate by its own key that stands in any of the files, in signatures, timestamps or validation data, is an
anchor for all of them. The time is 2026-06-01 12:00 UTC: after the last of the files was signed, and before 2029, when
the policy ends for RSA below 3000 bits, so that the table stays as it is.`

// pdfEverywhere are the files about which the two differ, with and without anchors, and why.
var pdfEverywhere = map[string]agreement.Reason{
	"BadEncodedCMS.pdf": {Right: agreement.Here,
		Why: "EU DSS passes over a field whose Contents it cannot parse. A reader shows it, and what is against its format is TOTAL_FAILED (EN 319 102-1 5.2.2.4)."},
	"pdf-with-two-empty-sigs.pdf": {Right: agreement.Here,
		Why: "Contents is all zeros. EU DSS passes over that as over what it cannot parse. A reader shows two signatures, which are TOTAL_FAILED (EN 319 102-1 5.2.2.4)."},
	"pades_opposite_infinite_loop.pdf": {Right: agreement.Here,
		Why: "The field is its own parent and kid, and the cross-reference broken. EU DSS finds no signature then, but in pades_infinite_loop.pdf, with the same one: what stands in a field and is against its format is TOTAL_FAILED (EN 319 102-1 5.2.2.4)."},
	"pades-enveloping-empty-bytes-cms.pdf": {Right: agreement.Here,
		Why: "The CMS carries content, which EN 319 142-1 6.3 (b) excludes: the format fails, and comes first (EN 319 102-1 5.1.4). EU DSS checks the value over that content, and it fails."},
	"pades-unsupported-signature-algorithm.pdf": {Right: agreement.Arguable,
		Why: "What stands for the signature algorithm is a curve, P-256. EU DSS takes a value that it cannot verify for a wrong one; here it is neither right nor wrong, as an algorithm that is not known (EN 319 102-1 5.2.7)."},
	"pdf-double-signer-info.pdf": {Right: agreement.Here, Why: "EN 319 142-1 6.3 (a) and ISO 32000-2 12.8.3.3.1 want one signer. EU DSS judges the first of the two."},
}

// pdfWithAnchors adds the files about which the two differ only when there are anchors.
var pdfWithAnchors = merged(pdfEverywhere, map[string]agreement.Reason{
	"DSS-3226.pdf": {Right: agreement.Here,
		Why: "The signer's certificate is a certification authority's (CA:TRUE), and not one for signing documents (RFC 5280 4.2.1.9, EN 319 412-2 4.1). EU DSS does not look at that in its default policy."},
	"TeleSec_PKS_eIDAS_QES_CA_1-baseline-b.pdf": {Right: agreement.EUDSS,
		Why: "The signer's certificate has a key on a Brainpool curve, which crypto/x509 does not read: it is known which one it is, and not where it leads. EU DSS reads it, and finds no revocation data."},
	"DSS-3567.pdf": {Right: agreement.Arguable,
		Why: "Nothing but revocation data is missing (BBB_XCV_IRDPFC_ANS alone). EU DSS keeps TRY_LATER for data that is too old; table 6 of EN 319 102-1 has it for all that additional revocation information may decide."},
	"PAdES-LT.pdf": {Right: agreement.Arguable,
		Why: "The anchor is a certificate of version 3 and none of an authority, whose key must not be used to verify certificates (RFC 5280 4.2.1.9). EU DSS asks nothing of an anchor, which is no part of the path (6.1)."},
	"lt-short.pdf": {Right: agreement.Arguable,
		Why: "The anchor is a certificate of version 3 and none of an authority, whose key must not be used to verify certificates (RFC 5280 4.2.1.9). EU DSS asks nothing of an anchor, which is no part of the path (6.1)."},
	"Test.pdf": {Right: agreement.Arguable,
		Why: "The chain is by SHA-1 and the key RSA of 1024 bits. EU DSS goes by the list of such an issuer, and fails the algorithms (EN 319 102-1 5.2.8); here it proves nothing, and the certificate that has expired has no status."},
	"certified-no-change-permitted.pdf": {Right: agreement.EUDSS,
		Why: "The chain is by SHA-1 up to a certificate with the name and key of an anchor that is not in the file. The anchor is for tests alone; EU DSS finds that anchor, and here the chain is not told from none."},
	"pades-ocsp-archiveCutOff-invalid.pdf": {Right: agreement.Arguable,
		Why: "The certificates of the OCSP responders are without id-pkix-ocsp-nocheck, nothing is said of their status, and they have expired. RFC 6960 4.2.2.2.1 leaves it to the policy whether they are checked: EU DSS warns, and finds the responders expired; here their answers are no proof."},
})

func merged(a, b map[string]agreement.Reason) map[string]agreement.Reason {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}
