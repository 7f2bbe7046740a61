package agreement_test

import (
	"bytes"
	"crypto/x509"
	"encoding/base64"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/test/agreement"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/internal/test/validators"
	"github.com/innsigli/innsigli/xades"
)

// agreeOnXML compares the validation of foreign XML files (EN 319 102-1, EN 319 132-1), with and without
// anchors.
func agreeOnXML(t *testing.T) {
	t.Parallel()
	// After the last of the files was signed, and before 2029, when the policy ends for RSA below 3000 bits:
	// what is judged at this time stays as it is.
	judgedAt := time.Date(2026, time.June, 1, 0, 0, 0, 0, time.UTC)
	paths, err := filepath.Glob(filepath.Join(testenv.Corpus(t, "signed/xml"), "*.xml"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files: %v", err)
	}
	anchors := selfSignedIn(t, paths, certificatesInXML)
	agreement.Comparison{
		Table: "agreement-xml.md", Title: "Agreement with EU DSS on XML", Preamble: xmlPreamble, Files: paths, Every: 12,
		Runs: []agreement.Run{{
			Title: "No anchors", About: "There are no anchors, and the validation time is that of the test.",
			Verify: verifyXML(ades.VerifyOptions{}), Reasons: xmlWithoutAnchors, Verdicts: 0.9, Formats: 0.95,
		}, {
			Title: "Every embedded root an anchor", About: xmlAnchors,
			DSS:     validators.DSSOptions{Roots: anchors, At: judgedAt},
			Verify:  verifyXML(ades.VerifyOptions{Roots: poolOf(anchors), Time: judgedAt}),
			Reasons: xmlWithAnchors, Verdicts: 0.75, Formats: 0.95,
		}},
	}.Check(t)
}

func verifyXML(options ades.VerifyOptions) func(testing.TB, string) (*ades.Report, error) {
	return func(t testing.TB, path string) (*ades.Report, error) {
		b := readFile(t, path)
		return xades.Verify(t.Context(), xades.Document{ReaderAt: bytes.NewReader(b), Size: int64(len(b))}, options)
	}
}

var encapsulated = regexp.MustCompile(`(?s)<[\w:]*(?:X509Certificate|EncapsulatedX509Certificate|EncapsulatedTimeStamp)\b[^>]*>([^<]*)<`)

// certificatesInXML returns the certificates that are in elements of a file, or in its timestamps.
func certificatesInXML(file []byte) (all []*x509.Certificate) {
	for _, match := range encapsulated.FindAllSubmatch(file, -1) {
		blob, err := base64.StdEncoding.DecodeString(string(bytes.Join(bytes.Fields(match[1]), nil)))
		if err == nil {
			all = append(all, certificatesIn(blob)...)
		}
	}
	return all
}

const xmlPreamble = `
The files are signed XML that others made, good and bad: the samples of EU DSS's own tests. What is compared is
what EU DSS 6.4 and ` + "`xades.Verify`" + ` say of each signature of a file: the indication and sub-indication of
EN 319 102-1, and the format with its level. A file is equal when all its signatures are, in their order; one in
which EU DSS finds no signature, or which it cannot read, equals one that is refused here. Both see the file alone:
contents that are elsewhere are given to neither, and neither uses the network.
`

const xmlAnchors = `
Whatever certificate by its own key stands in any of the files is trusted, and all are judged as of
2026-06-01 00:00 UTC. The policy is that of EU DSS by default, ` + "`policy/constraint.xml`" + ` of dss-policy-jaxb 6.4
("QES AES/QC AES TL based"), in which revocation data has to be there, and its table of algorithms, by ETSI TS 119 312.
`

// Why the two differ.
var (
	noName = agreement.Reason{Right: agreement.Here, Why: "A baseline signature has a DataObjectFormat for each reference to data (EN 319 132-1 6.3 k), " +
		"and this one has none; EU DSS takes references without an Id for one."}
	notEnveloped = agreement.Reason{Right: agreement.Here, Why: "The transform for enveloped signatures stands on an element that does not envelop the signature " +
		"(xmldsig-core1 6.6.4): the signed element was moved. EU DSS lets the transform do nothing."}
	firstArchive = agreement.Reason{Right: agreement.Here, Why: "EN 319 132-1 6.3 excludes the ArchiveTimeStamp of XAdES 1.3.2 from baseline signatures of every level."}
	firstEdition = agreement.Reason{Right: agreement.EUDSS, Why: "XAdES 1.1.1, whose signed properties are found by an XPath expression. " +
		"No expressions are evaluated here but the few that leave signatures out."}
	otherTarget = agreement.Reason{Right: agreement.Here, Why: "The Target of the QualifyingProperties is not the Id of the signature (EN 319 132-1 4.3.1), but for upper case. EU DSS does not compare them."}
	notProven   = agreement.Reason{Right: agreement.Arguable, Why: "What says that the certificate of the counter-signature was not revoked is from who has expired since, and nothing proves that it is older " +
		"(EN 319 102-1 5.6.2.3): it says nothing here. EU DSS takes it."}
	otherString = agreement.Reason{Right: agreement.EUDSS, Why: "The root's name is encoded as another kind of string in what it issued. They are the same (RFC 5280 7.1), and crypto/x509 does not see it."}
	responder   = agreement.Reason{Right: agreement.Here, Why: "Who signed the OCSP response was certified by another authority than the one that issued the certificate, " +
		"and may not answer for it (RFC 6960 4.2.2.2): there is no revocation data. EU DSS takes the response."}
)

// xmlWithoutAnchors are the files about which the two differ when there are no anchors.
var xmlWithoutAnchors = map[string]agreement.Reason{
	"10963_signed.xml": noName, "XSW-enveloped-fake-content-misplaced.xml": notEnveloped, "XSW-enveloped-fake-content.xml": notEnveloped,
	"dss1688.xml": firstArchive, "sig_bundle.signed_detached.xml": firstArchive, "xades-enveloped-arcTst132.xml": firstArchive,
	"qes-xades111-filter2.xml": firstEdition, "xades-extended-xl.xml": otherTarget,
}

// xmlWithAnchors are the files about which the two differ when every root in the files is an anchor.
var xmlWithAnchors = map[string]agreement.Reason{
	"TSL-CY-sign.xml": {Right: agreement.Arguable,
		Why: "The extended key usage of the signer's certificate is the signing of trusted lists alone (ETSI TS 119 612 5.7.1). That the file is one, whose signers other lists name, is not looked at here; EU DSS does not look at the purpose in its default policy."},
	"10963_signed.xml": noName, "XSW-enveloped-fake-content-misplaced.xml": notEnveloped, "XSW-enveloped-fake-content.xml": notEnveloped,
	"dss1688.xml": firstArchive, "sig_bundle.signed_detached.xml": firstArchive, "xades-enveloped-arcTst132.xml": firstArchive,
	"qes-xades111-filter2.xml": firstEdition, "xades-extended-xl.xml": otherTarget,

	"X-B-LT-with-counter-sig-X-E-ERS.xml":                   notProven,
	"data2sign-signed-xades-enveloped-baseline-cts-lta.xml": otherString,
	"doubleSignedTest.xml":                                  responder, "xades-attr-authorities-values.xml": responder,
	"xades-lta-corrupted-cert.xml": responder, "xades-lta-valid.xml": responder,
}
