package main

import (
	"bytes"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/ades/report"
	"github.com/innsigli/innsigli/internal/test/validators"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// check: EU DSS passes each file as what it is. In a CMS of the phone's is no certificate but the
// signer's, so that those of the authority have to be known.
func (s *signedInProduction) check(t *testing.T, ca *sandboxca.Authority) {
	byLevel := make(map[ades.Level][]*signedFile)
	for _, f := range s.files {
		byLevel[f.level] = append(byLevel[f.level], f)
	}
	for level, options := range map[ades.Level]validators.DSSOptions{
		ades.LT: {Roots: []*x509.Certificate{ca.Root()}},
		ades.B:  {Roots: ca.Chain(), RevocationOptional: true},
	} {
		t.Run(level.String(), func(t *testing.T) {
			t.Parallel()
			files := byLevel[level]
			for i, report := range validators.DSS(t, options, paths(files)...) {
				want := files[i].inDSS()
				if level == ades.B {
					want.Signatures[0].Format = "PKCS7-B"
				} else {
					checkWarnings(t, files[i], report)
				}
				if diff := cmp.Diff(want, report, dssRest); diff != "" {
					t.Errorf("%s (-want +got):\n%s", files[i].name, diff)
					continue
				}
				t.Logf("figure: %s: EU DSS %s %s", files[i].name, report.Signatures[0].Format, report.Signatures[0].Indication)
			}
		})
	}
	for _, f := range byLevel[ades.B] {
		checkReported(t, f, ca.Chain())
	}
}

// checkReported: "innsigli verify" too says what a CMS of the phone's is.
func checkReported(t *testing.T, f *signedFile, trusted []*x509.Certificate) {
	t.Helper()
	var roots bytes.Buffer
	for _, cert := range trusted {
		pem.Encode(&roots, &pem.Block{Type: "CERTIFICATE", Bytes: cert.Raw})
	}
	trust := filepath.Join(t.TempDir(), "roots.pem")
	if err := os.WriteFile(trust, roots.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	var got report.Document
	if err := json.Unmarshal([]byte(output(t, done, "verify", "--json", "--trust", trust, f.path)), &got); err != nil {
		t.Fatal(err)
	}
	if len(got.Signatures) != 1 || got.Signatures[0].Format != "PKCS7-B" || !got.Passed {
		t.Errorf("%+v", got)
	}
}
