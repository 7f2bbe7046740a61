package pades_test

import (
	"maps"

	"github.com/innsigli/innsigli/internal/agreement"
)

const agreementPreamble = `
The signed PDF files of the corpus, judged by ` + "`pades.Verify`" + ` and by EU DSS 6.4, on the same machine and offline. The
policy is that of EU DSS, ` + "`policy/constraint.xml`" + ` of dss-policy-jaxb 6.4: revocation data is required of every
certificate below the anchors, and it may be of any age. Written by TestAgreementWithEUDSS under INNSIGLI_FULL=1.

A file in which one of the two finds nothing to verify counts as equal where the other one finds nothing but
FORMAT_FAILURE, and so does having no format where nothing is found. Nothing may pass here that does not pass with EU
DSS, whether as a signature or as a file. One whose certificates are in force, and of which nothing but revocation data
is missing, is TRY_LATER here and CERTIFICATE_CHAIN_GENERAL_FAILURE there; it has not passed in either.`

const agreementAnchors = `
Every certificate by its own key that stands in any of the files, in signatures, timestamps or validation data, is an
anchor for all of them. The time is 2026-06-01 12:00 UTC: after the last of the files was signed, and before 2029, when
the policy ends for RSA below 3000 bits, so that the table stays as it is.`

// Why the two differ, whoever is trusted.
var everywhere = map[string]agreement.Reason{
	"BadEncodedCMS.pdf":           {Right: agreement.Here, Why: "A signature field whose Contents is no CMS: a reader shows it, and whoever verifies has to hear of it."},
	"pdf-with-two-empty-sigs.pdf": {Right: agreement.Here, Why: "Two signature dictionaries that nobody completed: a reader shows them, and whoever verifies has to hear of them."},
	"pades_infinite_loop.pdf":     {Right: agreement.Arguable, Why: "The cross-references lead outside of the file, which is refused as unreadable. EU DSS reads what it can, and fails the signature."},
	"pdf-signed-corrupted.pdf":    {Right: agreement.Arguable, Why: "The cross-references point to no object, and the file is refused as unreadable. EU DSS reads what it can, and fails the signature."},
	"pades-enveloping-empty-bytes-cms.pdf": {Right: agreement.Here,
		Why: "The CMS carries content, which EN 319 142-1 6.3 (b) excludes: the format fails, and comes first (EN 319 102-1 5.1.4)."},
	"pades-unsupported-signature-algorithm.pdf": {Right: agreement.Arguable,
		Why: "What stands for the signature algorithm is a curve. That the value could not be verified is no proof that it is wrong."},
	"pdf-double-signer-info.pdf": {Right: agreement.Here, Why: "EN 319 142-1 6.3 (a) and ISO 32000-2 12.8.3.3.1 want one signer. EU DSS judges the first of the two."},
	"TeleSec_PKS_eIDAS_QES_CA_1-baseline-b.pdf": {Right: agreement.Arguable,
		Why: "A signed attribute stands twice, against RFC 5652 5.3; and a certificate on a Brainpool curve, which crypto/x509 does not read."},
	"wrong-digest-algo.pdf": {Right: agreement.Arguable,
		Why: "What stands for the digest algorithm is one of signatures, so that there is no digest to compare; no level is made of timestamps over that."},
	"Signature-P-FR_CS-5.pdf": {Right: agreement.Arguable,
		Why: "No issuer of the signer's certificate is found among those that can be read here: without it there is no chain, and no level."},
	"Signature-P-SK-6.pdf": {Right: agreement.EUDSS,
		Why: "A timestamp of /Type /Sig counts here, against the letter of ISO 32000-2 12.8.5; and so does a list that is older than the certificate, which EU DSS leaves out."},
}

var withoutAnchors = everywhere

// withAnchors adds what shows where somebody is trusted.
var withAnchors = merged(everywhere, map[string]agreement.Reason{
	"DSS-3567.pdf": {Right: agreement.Arguable,
		Why: "Nothing but revocation data is missing, which is TRY_LATER in table 6 of EN 319 102-1. EU DSS has a general failure for it."},
	"PAdES-LT.pdf": {Right: agreement.Here, Why: "The issuer's certificate is none of an authority (RFC 5280 4.2.1.9, 6.1.4 (k)): there is no chain. EU DSS asks nothing of an anchor."},
	"lt-short.pdf": {Right: agreement.Here, Why: "The issuer's certificate is none of an authority (RFC 5280 4.2.1.9, 6.1.4 (k)): there is no chain. EU DSS asks nothing of an anchor."},
	"Test.pdf":     {Right: agreement.Arguable, Why: "SHA-1 and no revocation data: both are said, and which comes first is the order of the checks."},
	"certified-no-change-permitted.pdf": {Right: agreement.EUDSS,
		Why: "The chain is by SHA-1 up to an anchor that is not in the file. Nobody relies on it, and it is not told from none here."},
	"pades-ocsp-archiveCutOff-invalid.pdf": {Right: agreement.Arguable,
		Why: "The revocation data that the signatures carry does not reach up the whole chain by the rules here; EU DSS finds data of a responder that has expired."},
})

func merged(a, b map[string]agreement.Reason) map[string]agreement.Reason {
	all := maps.Clone(a)
	maps.Copy(all, b)
	return all
}
