package validators

import (
	"crypto/x509"
	"fmt"
	"path/filepath"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// nssDatabase makes NSS trust the roots as signers' anchors and returns its name.
func nssDatabase(t testing.TB, roots []*x509.Certificate) string {
	t.Helper()
	certutil := testenv.Program(t, "certutil")
	folder := t.TempDir()
	database := "sql:" + folder
	mustRun(t, certutil, "-N", "-d", database, "--empty-password")
	for i, root := range roots {
		path := filepath.Join(folder, "root.pem")
		writePEM(t, path, root)
		mustRun(t, certutil, "-A", "-d", database, "-n", fmt.Sprintf("root%d", i), "-t", "C,C,C", "-i", path)
	}
	return database
}

// nickname is what databases of NSS call the signer.
const nickname = "signer"

// nssSigner returns a database with the signer's key and certificates, where the root is trusted.
func nssSigner(t testing.TB, options SignOptions) string {
	t.Helper()
	var roots []*x509.Certificate
	if options.Root != nil {
		roots = append(roots, options.Root)
	}
	database := nssDatabase(t, roots)
	files := options.files(t)
	packed := filepath.Join(t.TempDir(), "signer.p12")
	mustRun(t, testenv.Program(t, "openssl"), "pkcs12", "-export", "-name", nickname, "-passout", "pass:",
		"-inkey", files.key, "-in", files.certificate, "-certfile", files.chain, "-out", packed)
	mustRun(t, testenv.Program(t, "pk12util"), "-i", packed, "-d", database, "-W", "")
	return database
}

// PDFSigSign signs files of different names at level B with poppler's pdfsig, whose CMS is of NSS:
// in an empty field of each, or without the name of one in a new field that is drawn on the first page.
// The key is RSA: with others, poppler 22.12 writes signatures that it does not recognize itself.
func PDFSigSign(t testing.TB, options SignOptions, field string, files ...string) []SignedFile {
	t.Helper()
	how := []string{"-nssdir", nssSigner(t, options), "-nick", nickname}
	if field == "" {
		how = append(how, "-add-signature")
	} else {
		how = append(how, "-sign", field)
	}
	folder := t.TempDir()
	var signed []SignedFile
	for _, file := range files {
		s := SignedFile{File: file, Path: filepath.Join(folder, filepath.Base(file))}
		mustRun(t, testenv.Program(t, "pdfsig"), append([]string{file, s.Path}, how...)...)
		signed = append(signed, s)
	}
	return signed
}
