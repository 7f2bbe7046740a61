package validators

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// The wrappers are worth something only if they can say no: each is asked about a good
// file with its root and without, and about the same file with one byte changed.

func TestDSS(t *testing.T) {
	f := newFixture(t)
	files := []string{f.path, f.forged(t)}
	missing := Finding{"BBB_XCV_IRDPFC_ANS", "No revocation data found for the certificate!"}
	for name, test := range map[string]struct {
		options                   DSSOptions
		indication, subIndication string // of the good file
		errors, warnings          []Finding
	}{
		"default policy": {
			DSSOptions{Roots: f.roots},
			"INDETERMINATE", "CERTIFICATE_CHAIN_GENERAL_FAILURE", []Finding{missing}, nil,
		},
		"revocation optional": {
			DSSOptions{Roots: f.roots, RevocationOptional: true},
			"TOTAL_PASSED", "", nil, []Finding{missing},
		},
		"no root": {
			DSSOptions{RevocationOptional: true},
			"INDETERMINATE", "NO_CERTIFICATE_CHAIN_FOUND", nil, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			reports := DSS(t, test.options, files...)
			first := DSSSignature{
				Format: "PAdES-BASELINE-B", Indication: test.indication, SubIndication: test.subIndication,
				Intact: true, Valid: true, Scopes: []string{"PARTIAL"}, SignedBy: "Signer of a test",
			}
			second := first
			second.Scopes = []string{"FULL"}
			want := DSSReport{File: files[0], Signatures: []DSSSignature{first, second}}
			verdicts := cmpopts.IgnoreFields(DSSSignature{}, "SigningTime", "BestTime", "Errors", "Warnings")
			if diff := cmp.Diff(want, reports[0], verdicts, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("good file (-want +got):\n%s", diff)
			}
			good := reports[0].Signatures[0]
			if !containsAll(good.Errors, test.errors) || !containsAll(good.Warnings, test.warnings) {
				t.Errorf("errors %q, warnings %q", good.Errors, good.Warnings)
			}
			if good.SigningTime.IsZero() || good.BestTime.IsZero() {
				t.Errorf("signing time %v, best time %v", good.SigningTime, good.BestTime)
			}
			for _, forged := range reports[1].Signatures {
				if forged.Indication != "TOTAL_FAILED" || forged.SubIndication != "HASH_FAILURE" || forged.Valid {
					t.Errorf("forged file: %+v", forged)
				}
			}
		})
	}
}

func containsAll(findings, wanted []Finding) bool {
	for _, finding := range wanted {
		if !slices.Contains(findings, finding) {
			return false
		}
	}
	return true
}

func TestPyHanko(t *testing.T) {
	f := newFixture(t)
	sig := PyHankoSignature{
		Field: "Sig1", Type: "/Sig", SubFilter: "/ETSI.CAdES.detached",
		Intact: true, Valid: true, Trusted: true, DocMDPOK: true, BottomLine: true,
		Coverage: "ENTIRE_REVISION", ModificationLevel: "FORM_FILLING",
	}
	last := sig
	last.Field, last.Coverage, last.ModificationLevel = "Sig2", "ENTIRE_FILE", "NONE"
	files := []string{f.path, f.forged(t)}
	reports := PyHanko(t, f.roots, files...)
	want := PyHankoReport{File: files[0], Signatures: []PyHankoSignature{sig, last}}
	if diff := cmp.Diff(want, reports[0]); diff != "" {
		t.Errorf("good file (-want +got):\n%s", diff)
	}
	for _, got := range reports[1].Signatures {
		if got.Intact || got.BottomLine {
			t.Errorf("forged file: %+v", got)
		}
	}
	for _, got := range PyHanko(t, nil, f.path)[0].Signatures {
		if !got.Intact || got.Trusted || got.BottomLine || got.Problem != "NO_CERTIFICATE_CHAIN_FOUND" {
			t.Errorf("no root: %+v", got)
		}
	}
}

func TestPDFSig(t *testing.T) {
	f := newFixture(t)
	for name, test := range map[string]struct {
		options                PDFSigOptions
		file                   string
		signature, certificate string
	}{
		"good":         {PDFSigOptions{Roots: f.roots, OCSP: true}, f.path, "Signature is Valid.", "Certificate is Trusted."},
		"without OCSP": {PDFSigOptions{Roots: f.roots}, f.path, "Signature is Valid.", "Unknown issue with Certificate or corrupted data."},
		"no root":      {PDFSigOptions{}, f.path, "Signature is Valid.", "Certificate issuer isn't Trusted."},
		"forged":       {PDFSigOptions{Roots: f.roots, OCSP: true}, f.forged(t), "Digest Mismatch.", ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := PDFSig(t, test.options, test.file)
			if err != nil {
				t.Fatal(err)
			}
			first := PDFSigSignature{
				Field: "Sig1", Type: "ETSI.CAdES.detached", Hash: "SHA-256", SignedBy: "Signer of a test",
				Signature: test.signature, Certificate: test.certificate,
			}
			second := first
			second.Field, second.Total = "Sig2", true
			if diff := cmp.Diff([]PDFSigSignature{first, second}, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if got[0].Valid() != (name != "forged") || got[0].Trusted() != (name == "good") {
				t.Errorf("valid %t, trusted %t", got[0].Valid(), got[0].Trusted())
			}
		})
	}
}

func TestOpenSSLCMS(t *testing.T) {
	f := newFixture(t)
	signature, content := f.firstCMS(t)
	if err := OpenSSLCMS(t, f.roots, signature, content); err != nil {
		t.Error(err)
	}
	for name, test := range map[string]struct {
		err     error
		message string
	}{
		"no root":       {OpenSSLCMS(t, nil, signature, content), "certificate verify error"},
		"other content": {OpenSSLCMS(t, f.roots, signature, content[1:]), "verification failure"},
		"no CMS":        {OpenSSLCMS(t, f.roots, content, content), "Error reading"},
	} {
		if test.err == nil || !strings.Contains(test.err.Error(), test.message) {
			t.Errorf("%s: %v, want %q", name, test.err, test.message)
		}
	}
}

func TestQPDFCheck(t *testing.T) {
	f := newFixture(t)
	if warnings, err := QPDFCheck(t, f.path); err != nil || len(warnings) > 0 {
		t.Errorf("good file: %q, %v", warnings, err)
	}
}
