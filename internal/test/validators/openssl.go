package validators

import (
	"bytes"
	"crypto/x509"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// OpenSSLCMS verifies a detached CMS signature (DER) over content with "openssl cms
// -cades": the signing-certificate attribute has to be there and fit, and the chain has to
// end in one of the roots. An error is OpenSSL's refusal.
func OpenSSLCMS(t testing.TB, roots []*x509.Certificate, signature, content []byte) error {
	t.Helper()
	openssl := testenv.Program(t, "openssl")
	folder := t.TempDir()
	signaturePath := filepath.Join(folder, "signature.der")
	contentPath := filepath.Join(folder, "content")
	writeFile(t, signaturePath, signature)
	writeFile(t, contentPath, content)
	args := []string{"cms", "-verify", "-binary", "-cades", "-purpose", "any",
		"-inform", "DER", "-in", signaturePath, "-content", contentPath, "-out", os.DevNull}
	args = append(args, trustOnly(t, filepath.Join(folder, "roots.pem"), roots)...)
	got := run(t, openssl, args...)
	if got.status != 0 {
		return fmt.Errorf("openssl: exit status %d: %s", got.status, bytes.TrimSpace(got.stderr))
	}
	return nil
}

// trustOnly keeps the system's anchors out. An empty file of anchors would be an error of
// its own, so without roots there is none.
func trustOnly(t testing.TB, path string, roots []*x509.Certificate) []string {
	t.Helper()
	if len(roots) == 0 {
		return []string{"-no-CAfile", "-no-CApath", "-no-CAstore"}
	}
	writePEM(t, path, roots...)
	return []string{"-CAfile", path, "-no-CApath", "-no-CAstore"}
}

// OpenSSLSign signs content with "openssl cms -cades" and a digest such as "sha256", and returns a
// detached CMS signature (DER).
func OpenSSLSign(t testing.TB, options SignOptions, digest string, content []byte) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "content")
	writeFile(t, path, content)
	files := options.files(t)
	return mustRun(t, testenv.Program(t, "openssl"), "cms", "-sign", "-binary", "-cades", "-md", digest, "-nosmimecap",
		"-signer", files.certificate, "-inkey", files.key, "-certfile", files.chain, "-in", path, "-outform", "DER")
}
