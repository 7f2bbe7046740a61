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

	"github.com/innsigli/innsigli/internal/validators"
)

// What is signed over the real API, and by "innsigli sign", is judged by foreign
// validators: one signature and three, by keys of both kinds, on both kinds of file. A
// validator that is not installed is skipped, and says so.
func TestForeignValidators(t *testing.T) {
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

// What EU DSS may find in signatures of level B: that revocation data is missing, and
// that the test certificates name nobody who has it. These are errors as long as the
// policy asks for the data.
var (
	noRevocation = []string{
		"BBB_XCV_IRDPFC_ANS", // no revocation data
		"BBB_XCV_SUB_ANS",    // so the certificate's validation is not conclusive
	}
	noSource = []string{
		"BBB_XCV_AIA_PRES_ANS",   // no authority information access
		"BBB_XCV_REVOC_PRES_ANS", // neither OCSP nor CRL
	}
)

func checkDSS(t *testing.T, files []*signedFile, roots []*x509.Certificate) {
	for _, optional := range []bool{false, true} {
		reports := validators.DSS(t, validators.DSSOptions{Roots: roots, RevocationOptional: optional}, paths(files)...)
		for i, f := range files {
			want := validators.DSSReport{File: f.path}
			for k, signer := range f.signers {
				s := validators.DSSSignature{
					Format: "PAdES-BASELINE-B", Intact: true, Valid: true, SignedBy: signer,
					Indication: "INDETERMINATE", SubIndication: "CERTIFICATE_CHAIN_GENERAL_FAILURE", Scopes: []string{"PARTIAL"},
				}
				if optional {
					s.Indication, s.SubIndication = "TOTAL_PASSED", ""
				}
				if k == len(f.signers)-1 {
					s.Scopes = []string{"FULL"}
				}
				want.Signatures = append(want.Signatures, s)
			}
			rest := cmpopts.IgnoreFields(validators.DSSSignature{}, "SigningTime", "BestTime", "Errors", "Warnings")
			if diff := cmp.Diff(want, reports[i], rest, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("%s, revocation optional %t (-want +got):\n%s", f.name, optional, diff)
				continue
			}
			checkFindings(t, f.name, optional, reports[i])
			if optional {
				f.says("DSS %s %s", reports[i].Signatures[0].Format, reports[i].Signatures[0].Indication)
			} else {
				f.says("DSS %s for want of revocation data", reports[i].Signatures[0].Indication)
			}
		}
	}
}

// checkFindings: nothing is wrong but that revocation data is missing. Where the policy
// does not ask for it there is no error at all, so all of them were for want of it.
func checkFindings(t *testing.T, name string, optional bool, report validators.DSSReport) {
	t.Helper()
	for _, s := range report.Signatures {
		for _, finding := range s.Errors {
			if optional || !slices.Contains(noRevocation, finding.Key) {
				t.Errorf("%s, revocation optional %t, by %s: error %+v", name, optional, s.SignedBy, finding)
			}
		}
		for _, finding := range s.Warnings {
			if !slices.Contains(slices.Concat(noSource, noRevocation), finding.Key) {
				t.Errorf("%s, revocation optional %t, by %s: warning %+v", name, optional, s.SignedBy, finding)
			}
		}
	}
}

func checkPyHanko(t *testing.T, files []*signedFile, roots []*x509.Certificate) {
	reports := validators.PyHanko(t, roots, paths(files)...)
	for i, f := range files {
		want := validators.PyHankoReport{File: f.path}
		for k := range f.signers {
			s := validators.PyHankoSignature{
				Field: fmt.Sprintf("Signature%d", k+1), Type: "/Sig", SubFilter: "/ETSI.CAdES.detached",
				Intact: true, Valid: true, Trusted: true, DocMDPOK: true, BottomLine: true,
				Coverage: "ENTIRE_REVISION", ModificationLevel: "FORM_FILLING",
			}
			if k == len(f.signers)-1 {
				s.Coverage, s.ModificationLevel = "ENTIRE_FILE", "NONE"
			}
			want.Signatures = append(want.Signatures, s)
		}
		if diff := cmp.Diff(want, reports[i]); diff != "" {
			t.Errorf("%s (-want +got):\n%s", f.name, diff)
			continue
		}
		f.says("pyHanko %s", reports[i].Signatures[len(f.signers)-1].Coverage)
	}
}

func checkPDFSig(t *testing.T, files []*signedFile, roots []*x509.Certificate) {
	for _, f := range files {
		got, err := validators.PDFSig(t, validators.PDFSigOptions{Roots: roots}, f.path)
		if err != nil {
			t.Errorf("%s: %v", f.name, err)
			continue
		}
		var want []validators.PDFSigSignature
		for k, signer := range f.signers {
			want = append(want, validators.PDFSigSignature{
				Field: fmt.Sprintf("Signature%d", k+1), Type: "ETSI.CAdES.detached", Hash: "SHA-256", SignedBy: signer,
				Signature: "Signature is Valid.", Total: k == len(f.signers)-1,
			})
		}
		// What pdfsig says of a certificate offline is no verdict: see PDFSigOptions.
		rest := cmpopts.IgnoreFields(validators.PDFSigSignature{}, "Certificate")
		if diff := cmp.Diff(want, got, rest); diff != "" {
			t.Errorf("%s (-want +got):\n%s", f.name, diff)
			continue
		}
		f.says("pdfsig valid")
	}
}

func checkOpenSSL(t *testing.T, files []*signedFile, roots []*x509.Certificate) {
	for _, f := range files {
		parts := signatureParts(t, mustRead(t, f.path))
		if len(parts) != len(f.signers) {
			t.Errorf("%s: %d byte ranges", f.name, len(parts))
			continue
		}
		passed := true
		for k, p := range parts {
			if err := validators.OpenSSLCMS(t, roots, p.cms, p.content); err != nil {
				t.Errorf("%s, signature %d: %v", f.name, k+1, err)
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
