package validators

import (
	"path/filepath"
	"testing"
)

// signFiles are the key and the certificates of a signer, for programs that read these in PEM.
type signFiles struct{ key, certificate, chain string }

func (o SignOptions) files(t testing.TB) signFiles {
	t.Helper()
	folder := t.TempDir()
	path := func(name string) string { return filepath.Join(folder, name) }
	f := signFiles{path("key.pem"), path("certificate.pem"), path("chain.pem")}
	writeKey(t, f.key, o.Key)
	writePEM(t, f.certificate, o.Certificate)
	writePEM(t, f.chain, o.Chain...)
	return f
}
