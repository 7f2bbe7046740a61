package validators

import (
	"crypto/x509"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// LibreOfficeSign makes a signed PDF of each text document, at level B, with LibreOffice and the
// CMS of NSS. LibreOffice is large: .ci/full installs it, and .ci/run does without.
func LibreOfficeSign(t testing.TB, options SignOptions, files ...string) []SignedFile {
	t.Helper()
	soffice, database, folder := testenv.Program(t, "soffice"), nssSigner(t, options), t.TempDir()
	type value struct {
		Type  string `json:"type"`
		Value string `json:"value"`
	}
	filter, err := json.Marshal(map[string]value{
		"SignPDF":                    {"boolean", "true"},
		"SignCertificateSubjectName": {"string", nssSubject(options.Certificate)},
	})
	if err != nil {
		t.Fatal(err)
	}
	mustRun(t, testenv.Program(t, "env"), append([]string{
		"MOZILLA_CERTIFICATE_FOLDER=" + database, soffice, "-env:UserInstallation=file://" + t.TempDir(), "--headless",
		"--convert-to", "pdf:writer_pdf_Export:" + string(filter), "--outdir", folder,
	}, files...)...)
	var signed []SignedFile
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file)) + ".pdf"
		signed = append(signed, SignedFile{File: file, Path: filepath.Join(folder, name)})
	}
	return signed
}

// nssSubject is the signer's name as NSS writes it, which certutil shows in ASCII alone.
func nssSubject(certificate *x509.Certificate) string {
	return strings.Replace(certificate.Subject.String(), "SERIALNUMBER=", "serialNumber=", 1)
}
