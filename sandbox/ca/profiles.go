package ca

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"math/big"
	"time"
)

// The profiles of certificates: RFC 5280 4.2 for authorities, EN 319 412-2 for persons.

const (
	rootYears         = 20
	issuingYears      = 15
	signerYears       = 5
	timestampingYears = 5
	responderYears    = 1

	// backdate is how long before its issue a certificate is valid, so that relying parties with slow clocks accept
	// it.
	backdate = 5 * time.Minute
)

func rootTemplate(now time.Time) *x509.Certificate {
	t := authorityTemplate("Innsigli Sandbox Root", now, rootYears)
	t.MaxPathLen = 1
	return t
}

func issuingTemplate(now time.Time) *x509.Certificate {
	t := authorityTemplate("Innsigli Sandbox Issuing", now, issuingYears)
	t.MaxPathLenZero = true
	t.Policies = []x509.OID{anyPolicy}
	return t
}

// responderTemplate returns the template of a delegated responder (RFC 6960 4.2.2.2) whose certificate is not
// checked for revocation (4.2.2.2.1).
func responderTemplate(now time.Time) *x509.Certificate {
	t := serviceTemplate("Innsigli Sandbox OCSP", now, responderYears)
	t.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageOCSPSigning}
	t.ExtraExtensions = []pkix.Extension{ocspNoCheck}
	return t
}

// timestampingTemplate returns a template by RFC 3161 2.3 and EN 319 422 6: extKeyUsage has one purpose and is
// critical, which crypto/x509 does not write by itself.
func timestampingTemplate(now time.Time) *x509.Certificate {
	t := serviceTemplate("Innsigli Sandbox TSA", now, timestampingYears)
	t.Policies = []x509.OID{testPolicy}
	t.ExtraExtensions = []pkix.Extension{timestampingOnly}
	return t
}

func subject(commonName string) pkix.Name {
	return pkix.Name{Country: []string{"IS"}, Organization: []string{"Innsigli Sandbox"}, CommonName: commonName}
}

func serviceTemplate(name string, now time.Time, years int) *x509.Certificate {
	return &x509.Certificate{
		Subject:               subject(name),
		NotBefore:             now.Add(-backdate).UTC(),
		NotAfter:              now.AddDate(years, 0, 0).UTC(),
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageDigitalSignature,
	}
}

func authorityTemplate(name string, now time.Time, years int) *x509.Certificate {
	return &x509.Certificate{
		Subject:               subject(name),
		NotBefore:             now.Add(-backdate).UTC(),
		NotAfter:              now.AddDate(years, 0, 0).UTC(),
		BasicConstraintsValid: true,
		IsCA:                  true,
		KeyUsage:              x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}
}

func signerTemplate(name, kennitala string, now time.Time) *x509.Certificate {
	return &x509.Certificate{
		Subject:               pkix.Name{Country: []string{"IS"}, CommonName: name, SerialNumber: kennitala},
		NotBefore:             now.Add(-backdate).UTC(),
		NotAfter:              now.AddDate(signerYears, 0, 0).UTC(),
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageContentCommitment, // alone: EN 319 412-2 4.3.2 type A
		Policies:              []x509.OID{testPolicy, qcpNaturalQSCD},
		ExtraExtensions:       []pkix.Extension{qcStatements},
	}
}

var (
	anyPolicy = oid(2, 5, 29, 32, 0)
	// QCP-n-qscd, EN 319 411-2 5.3.
	qcpNaturalQSCD = oid(0, 4, 0, 194112, 1, 2)
	// testPolicy is the sandbox's own policy, below the arc for UUIDs (ITU-T X.667).
	testPolicy = uuidOID("5fb10c9e6f3e4b7f8a50f1c39a3c0a72")

	// id-pkix-ocsp-nocheck, which is NULL.
	ocspNoCheck = pkix.Extension{
		Id:    asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 48, 1, 5},
		Value: []byte{0x05, 0x00},
	}

	// extKeyUsage with id-kp-timeStamping.
	timestampingOnly = pkix.Extension{
		Id:       asn1.ObjectIdentifier{2, 5, 29, 37},
		Critical: true,
		Value:    []byte{0x30, 0x0a, 0x06, 0x08, 0x2b, 0x06, 0x01, 0x05, 0x05, 0x07, 0x03, 0x08},
	}

	// QcCompliance, QcSSCD and QcType esign (EN 319 412-5 4.2.1 to 4.2.3) of a qualified certificate of a person.
	qcStatements = pkix.Extension{
		Id: asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 1, 3},
		Value: []byte{
			0x30, 0x29,
			0x30, 0x08, 0x06, 0x06, 0x04, 0x00, 0x8e, 0x46, 0x01, 0x01,
			0x30, 0x08, 0x06, 0x06, 0x04, 0x00, 0x8e, 0x46, 0x01, 0x04,
			0x30, 0x13, 0x06, 0x06, 0x04, 0x00, 0x8e, 0x46, 0x01, 0x06,
			0x30, 0x09, 0x06, 0x07, 0x04, 0x00, 0x8e, 0x46, 0x01, 0x06, 0x01,
		},
	}
)

func oid(arcs ...uint64) x509.OID {
	o, err := x509.OIDFromInts(arcs)
	if err != nil {
		panic(err) // a constant of this file is invalid
	}
	return o
}

func uuidOID(hex string) x509.OID {
	n, _ := new(big.Int).SetString(hex, 16)
	o, err := x509.ParseOID("2.25." + n.String())
	if err != nil {
		panic(err) // a constant of this file is invalid
	}
	return o
}
