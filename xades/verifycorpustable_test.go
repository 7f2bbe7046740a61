package xades_test

import "github.com/innsigli/innsigli/ades"

// attacks are files that somebody changed so that they say something else than was signed, or seem to be
// signed by what is not, with what the signature comes to, whoever is trusted.
var attacks = map[string]ades.SubIndication{
	"XSW-enveloped-fake-content-misplaced.xml":                ades.SignedDataNotFound,
	"XSW-enveloped-fake-content.xml":                          ades.SignedDataNotFound,
	"XSW-enveloped-fake-signedProperties.xml":                 ades.SignedDataNotFound,
	"XSW-enveloping-fake-manifest.xml":                        ades.SignedDataNotFound,
	"disable-checks.xml":                                      ades.SignedDataNotFound,
	"dss-signed-altered-refRemoved.xml":                       ades.SignedDataNotFound,
	"dss-signed-altered-signedPropsRemoved.xml":               ades.SigCryptoFailure,
	"sigPolicyWithBrokenTransforms.xml":                       ades.SignedDataNotFound,
	"dss-2506.xml":                                            ades.NoSigningCertificateFound,
	"document-signed-xades-baseline-b--null-for-filename.xml": ades.HashFailure,
	"valid-xades-policyId-newlines.xml":                       ades.HashFailure,
	"xades-tampered-manifest.xml":                             ades.HashFailure,
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
