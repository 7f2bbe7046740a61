package pades_test

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/internal/test/validators"
	"github.com/innsigli/innsigli/pades"
)

// ISO 32000-2 table 257: who certifies a document may permit signatures. EU DSS and pdfsig
// take a new field that is shown for one, pyHanko if it is told to, as Acrobat does by its word.
func TestVisibleAfterCertification(t *testing.T) {
	ca := newAuthority(t)
	p := newPerson(t, ca, p256(t))
	folder := t.TempDir()
	var cases []signedCase
	var paths []string
	for _, permission := range []pades.Permission{pades.FormFilling, pades.Annotations} {
		for name, first := range map[string]*pades.Visible{"invisible": nil, "visible": at(1, 100, 300)} {
			b := sign(t, pdftest.Build(pdftest.Options{Pages: 2}), p, pades.Options{Certify: permission, Visible: first})
			for page := 1; page <= 2; page++ {
				b = sign(t, b, p, pades.Options{Visible: at(page, 100, 100)})
			}
			path := filepath.Join(folder, fmt.Sprintf("%s-%d.pdf", name, permission))
			writeFile(t, path, b)
			paths = append(paths, path)
			cases = append(cases, signedCase{name: path, path: path, fields: []string{"Signature1", "Signature2", "Signature3"}})
		}
	}
	roots := []*x509.Certificate{ca.Root()}
	for i, report := range validators.DSS(t, validators.DSSOptions{Roots: roots, RevocationOptional: true}, paths...) {
		cases[i].checkDSS(t, report)
		cases[i].checkPDFSig(t, roots)
	}
	root := filepath.Join(folder, "root.pem")
	writeFile(t, root, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: ca.Root().Raw}))
	arguments := append([]string{filepath.Join("testdata", "certified.py"), root}, paths...)
	out, err := exec.CommandContext(t.Context(), testenv.Tool(t, "pyhanko/bin/python"), arguments...).Output()
	if err != nil {
		t.Fatalf("pyHanko: %v", err)
	}
	want := ""
	for range paths {
		want += "Signature1 FORM_FILLING True, Signature2 FORM_FILLING True, Signature3 NONE True\n"
	}
	if diff := cmp.Diff(want, string(out)); diff != "" {
		t.Error(diff)
	}
}
