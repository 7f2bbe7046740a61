package main

import (
	"crypto/x509"
	"fmt"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/innsigli/innsigli/ades"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/internal/test/validators"
)

// What is signed over the real API, and by "innsigli sign", is judged by foreign
// validators: at every level one signature and three, by keys of both kinds, on both kinds of
// file. A validator that is not installed is skipped, and says so.
func TestForeignValidators(t *testing.T) {
	testenv.Slow(t, "foreign programs verify what is signed")
	files, roots := signedFiles(t)
	t.Run("EU DSS", func(t *testing.T) { checkDSS(t, files, roots) })
	t.Run("pyHanko", func(t *testing.T) { checkPyHanko(t, files, roots) })
	t.Run("openssl cms", func(t *testing.T) { checkOpenSSL(t, files, roots) })
	t.Run("pdfsig", func(t *testing.T) { checkPDFSig(t, files, roots) })
	t.Run("qpdf", func(t *testing.T) { checkQPDF(t, files) })

	var text strings.Builder
	table := tabwriter.NewWriter(&text, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "file\tsignatures\tverdicts")
	for _, f := range files {
		fmt.Fprintf(table, "%s\t%d\t%s\n", f.name, len(f.signers), strings.Join(f.verdicts, ", "))
	}
	table.Flush()
	t.Log("\n" + text.String())
}

// checkDSS: with its own policy at the levels that have proof of revocation, and at the
// others with the one that does not ask for it, EU DSS passes each signature with exactly
// its level, and each timestamp.
func checkDSS(t *testing.T, files []*signedFile, roots []*x509.Certificate) {
	for _, optional := range []bool{false, true} {
		judged := slices.DeleteFunc(slices.Clone(files), func(f *signedFile) bool { return (f.level < ades.LT) != optional })
		reports := validators.DSS(t, validators.DSSOptions{Roots: roots, RevocationOptional: optional}, paths(judged)...)
		for i, f := range judged {
			if diff := cmp.Diff(f.inDSS(), reports[i], dssRest); diff != "" {
				t.Errorf("%s (-want +got):\n%s", f.name, diff)
				continue
			}
			checkWarnings(t, f, reports[i])
			f.says("DSS %s %s", reports[i].Signatures[0].Format, reports[i].Signatures[0].Indication)
		}
	}
}

// What EU DSS may warn of where the policy does not ask for proof of revocation: that there
// is none.
var noRevocation = []string{
	"BBB_XCV_IRDPFC_ANS",     // no revocation data
	"BBB_XCV_SUB_ANS",        // so the certificate's validation is not conclusive
	"BBB_XCV_AIA_PRES_ANS",   // no authority information access
	"BBB_XCV_REVOC_PRES_ANS", // neither OCSP nor CRL
}

func checkWarnings(t *testing.T, f *signedFile, report validators.DSSReport) {
	t.Helper()
	for _, s := range report.Signatures {
		for _, finding := range s.Warnings {
			if f.level >= ades.LT || !slices.Contains(noRevocation, finding.Key) {
				t.Errorf("%s, by %s: warning %+v", f.name, s.SignedBy, finding)
			}
		}
	}
}

func checkPyHanko(t *testing.T, files []*signedFile, roots []*x509.Certificate) {
	reports := validators.PyHanko(t, roots, paths(files)...)
	for i, f := range files {
		rest := cmpopts.IgnoreFields(validators.PyHankoTimestamp{}, "Time")
		if diff := cmp.Diff(f.inPyHanko(), reports[i], rest); diff != "" {
			t.Errorf("%s (-want +got):\n%s", f.name, diff)
			continue
		}
		f.says("pyHanko bottom line")
	}
}

func checkPDFSig(t *testing.T, files []*signedFile, roots []*x509.Certificate) {
	for _, f := range files {
		got, err := validators.PDFSig(t, validators.PDFSigOptions{Roots: roots}, f.path)
		if err != nil {
			t.Errorf("%s: %v", f.name, err)
			continue
		}
		// What pdfsig says of a certificate offline is no verdict: see PDFSigOptions.
		rest := cmpopts.IgnoreFields(validators.PDFSigSignature{}, "Certificate")
		if diff := cmp.Diff(f.inPDFSig(), got, rest); diff != "" {
			t.Errorf("%s (-want +got):\n%s", f.name, diff)
			continue
		}
		f.says("pdfsig valid")
	}
}

func checkOpenSSL(t *testing.T, files []*signedFile, roots []*x509.Certificate) {
	for _, f := range files {
		parts := signatureParts(t, testenv.ReadFile(t, f.path))
		fields := f.fields()
		if len(parts) != len(fields) {
			t.Errorf("%s: %d byte ranges", f.name, len(parts))
			continue
		}
		passed := true
		for i, p := range parts {
			if fields[i].signer == "" {
				continue // a timestamp token is no CAdES signature
			}
			if err := validators.OpenSSLCMS(t, roots, p.cms, p.content); err != nil {
				t.Errorf("%s, %s: %v", f.name, fields[i].name, err)
				passed = false
			}
		}
		if passed {
			f.says("openssl -cades")
		}
	}
}

func checkQPDF(t *testing.T, files []*signedFile) {
	for _, f := range files {
		if warnings, err := validators.QPDFCheck(t, f.path); err != nil || len(warnings) > 0 {
			t.Errorf("%s: %q, %v", f.name, warnings, err)
			continue
		}
		f.says("qpdf clean")
	}
}
