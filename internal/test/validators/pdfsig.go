package validators

import (
	"bytes"
	"crypto/x509"
	"fmt"
	"strings"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// PDFSigOptions say how pdfsig validates. The zero value has no trust anchor and stays
// offline.
type PDFSigOptions struct {
	Roots []*x509.Certificate
	// OCSP lets pdfsig ask the responder that the certificate names, if any. Without it
	// poppler 22.12 never calls a certificate trusted: its "-no-ocsp" takes an error code
	// that NSS left behind for the result, so a good chain is an "Unknown issue with
	// Certificate or corrupted data." Bad ones are told apart either way.
	OCSP bool
}

// PDFSigSignature is pdfsig's verdict on one signature.
type PDFSigSignature struct {
	Field       string
	Type        string // "ETSI.CAdES.detached"; "unknown" for document timestamps
	Hash        string // "SHA-256"
	SignedBy    string
	Signature   string // "Signature is Valid." or why not
	Certificate string // "Certificate is Trusted." or why not; empty if the signature is bad
	Total       bool   // the signed ranges end where the file ends
}

// Valid reports whether the signature fits its ranges of the file.
func (s PDFSigSignature) Valid() bool { return s.Signature == "Signature is Valid." }

// Trusted reports whether pdfsig found a path from the certificate to an anchor. It can
// be true only under PDFSigOptions.OCSP.
func (s PDFSigSignature) Trusted() bool { return s.Certificate == "Certificate is Trusted." }

// Exit statuses of pdfsig for a file that it read.
const (
	pdfsigSigned   = 0
	pdfsigUnsigned = 2
)

// PDFSig validates a file with poppler's pdfsig, in the order of the signature fields. A file without signatures has an empty answer; one that pdfsig cannot read is
// an error.
func PDFSig(t testing.TB, options PDFSigOptions, file string) ([]PDFSigSignature, error) {
	t.Helper()
	args := []string{"-nssdir", nssDatabase(t, options.Roots)}
	if !options.OCSP {
		args = append(args, "-no-ocsp")
	}
	got := run(t, testenv.Program(t, "pdfsig"), append(args, file)...)
	switch got.status {
	case pdfsigSigned, pdfsigUnsigned:
		return parsePDFSig(got.stdout), nil
	default:
		return nil, fmt.Errorf("pdfsig: exit status %d: %s", got.status, bytes.TrimSpace(got.stderr))
	}
}

// parsePDFSig reads pdfsig's list: "Signature #1:" and its properties, one a line.
func parsePDFSig(text []byte) []PDFSigSignature {
	var signatures []PDFSigSignature
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if strings.HasPrefix(line, "Signature #") {
			signatures = append(signatures, PDFSigSignature{})
		} else if property, ok := strings.CutPrefix(line, "  - "); ok && len(signatures) > 0 {
			signatures[len(signatures)-1].set(property)
		}
	}
	return signatures
}

func (s *PDFSigSignature) set(property string) {
	name, value, _ := strings.Cut(property, ": ")
	switch name {
	case "Signature Field Name":
		s.Field = value
	case "Signer Certificate Common Name":
		s.SignedBy = value
	case "Signing Hash Algorithm":
		s.Hash = value
	case "Signature Type":
		s.Type = value
	case "Signature Validation":
		s.Signature = value
	case "Certificate Validation":
		s.Certificate = value
	case "Total document signed":
		s.Total = true
	}
}
