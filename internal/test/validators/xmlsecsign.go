package validators

import (
	"path/filepath"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// XMLSecSign has xmlsec1 fill in the digests, the value and the certificates of a signature that is in each XML
// file, without them. Elements of these names have an identifier in their attribute Id.
func XMLSecSign(t testing.TB, options SignOptions, identified []string, files ...string) []SignedFile {
	t.Helper()
	pem, folder := options.files(t), t.TempDir()
	how := []string{"--sign", "--privkey-pem", pem.key + "," + pem.certificate}
	for _, name := range identified {
		how = append(how, "--id-attr:Id", name)
	}
	var signed []SignedFile
	for _, file := range files {
		s := SignedFile{File: file, Path: filepath.Join(folder, filepath.Base(file))}
		mustRun(t, testenv.Program(t, "xmlsec1"), append(how, "--output", s.Path, file)...)
		signed = append(signed, s)
	}
	return signed
}
