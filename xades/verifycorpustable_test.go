package xades_test

import "github.com/innsigli/innsigli/ades"

// Why EU DSS says something else about a file, without a trust anchor.
const (
	noAnchor          = "EU DSS finds LT and LTA without a trust anchor where revocation data goes up to a self-signed certificate"
	transforms        = "a transform that is not on the list"
	manifest          = "what a Manifest lists is elsewhere, which EU DSS only warns of"
	notOwn            = "what is signed is not where the type of its reference says, or signed properties not where they belong"
	weakDigest        = "EU DSS looks for the chain before it looks at the hash of a reference"
	firstArchive      = "EN 319 132-1 6.3 excludes the ArchiveTimeStamp of 1.3.2, which EU DSS counts as one of 1.4.1"
	namelessReference = "EU DSS takes references without an Id for one when it looks for their DataObjectFormat"
	otherOrder        = "of several faults EU DSS tells another one first"
)

// elsewhere are the files about which EU DSS says something else.
var elsewhere = map[string]string{
	"X-B-LT-with-counter-sig-X-E-ERS.xml": noAnchor, "XAdESPublicKeyInKeyInfo.xml": noAnchor, "doubleSignedTest.xml": noAnchor, "dss1788-original.xml": noAnchor,
	"dss1920-cert-in-certValues-without-publicKey.xml": noAnchor, "dss1920-cert-in-certValues.xml": noAnchor,
	"xades-attr-authorities-values.xml": noAnchor, "xades-detached-with-object-type-ref.xml": noAnchor, "xades-lta-corrupted-cert.xml": noAnchor,
	"xades-lta-valid.xml": noAnchor, "xades-ocsp-before-cert-validity.xml": noAnchor, "xades-with-equivalent-certs.xml": noAnchor,

	"Signature-X-AT-1.xml": transforms, "qes-xades111-filter2.xml": transforms,
	"sigPolicyWithBrokenTransforms.xml": transforms, "sigPolicyWithTransforms.xml": transforms,

	"X-E-ERS-MANIFEST.xml": manifest, "Signature-X-CZ_SEF-5.xml": manifest,

	"XSW-enveloped-fake-content-misplaced.xml": notOwn, "XSW-enveloped-fake-content.xml": notOwn,
	"xades-extended-xl.xml": notOwn, "dss-signed-altered-signedPropsRemoved.xml": notOwn,

	"Signature-X-ES-100.xml": weakDigest, "Signature-X-ES-103.xml": weakDigest, "factura_ejemplo2_32v1.xml": weakDigest,
	"dss1688.xml": firstArchive, "sig_bundle.signed_detached.xml": firstArchive, "xades-enveloped-arcTst132.xml": firstArchive,
	"10963_signed.xml": namelessReference,
	"xades-extended-epes-sigPolStore-noDigest.xml": otherOrder, "xades-extended-epes.xml": otherOrder, "xades-extended-t.xml": otherOrder,
	"dss-2506.xml": otherOrder, "xades-tampered-manifest.xml": otherOrder,
}

// attacks are files that somebody changed so that they say something else than was signed, or seem to be
// signed by what is not, with what the signature comes to, whoever is trusted.
var attacks = map[string]ades.SubIndication{
	"XSW-enveloped-fake-content-misplaced.xml":                ades.SignedDataNotFound,
	"XSW-enveloped-fake-content.xml":                          ades.SignedDataNotFound,
	"XSW-enveloped-fake-signedProperties.xml":                 ades.SignedDataNotFound,
	"XSW-enveloping-fake-manifest.xml":                        ades.SignedDataNotFound,
	"disable-checks.xml":                                      ades.SignedDataNotFound,
	"dss-signed-altered-refRemoved.xml":                       ades.SignedDataNotFound,
	"dss-signed-altered-signedPropsRemoved.xml":               ades.SignedDataNotFound,
	"sigPolicyWithBrokenTransforms.xml":                       ades.SignedDataNotFound,
	"dss-2506.xml":                                            ades.HashFailure,
	"document-signed-xades-baseline-b--null-for-filename.xml": ades.HashFailure,
	"valid-xades-policyId-newlines.xml":                       ades.HashFailure,
	"xades-tampered-manifest.xml":                             ades.FormatFailure,
}

// counterSignatures are files with one, by what it comes to, whoever is trusted; "": it is over what it stands in.
var counterSignatures = map[string]ades.SubIndication{
	"X-B-LT-with-counter-sig-X-E-ERS.xml":           "",
	"xades-counter-signature-injected.xml":          ades.HashFailure,
	"xades-counter-signature-no-type-invalid.xml":   ades.HashFailure,
	"xades-counter-signature-no-type.xml":           "",
	"xades-counter-signature-with-type-invalid.xml": ades.HashFailure,
	"xades-fake-counter-signature.xml":              ades.HashFailure,
}

// stampAttacks are files with timestamps of something else, by how many of them are over what they stand for.
var stampAttacks = map[string]int{"xades-t-copied-sigtst.xml": 0, "xades-lta-corrupted-cert.xml": 1}
