package agreement_test

import (
	"bytes"
	"compress/zlib"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"io"
	"os"
	"regexp"
	"testing"
)

// Where the verdicts of EU DSS and of this project on foreign files differ, there is a reason.
func TestAgreementWithEUDSS(t *testing.T) {
	t.Run("PDF", agreeOnPDF)
	t.Run("XML", agreeOnXML)
}

func readFile(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func poolOf(certificates []*x509.Certificate) *x509.CertPool {
	pool := x509.NewCertPool()
	for _, c := range certificates {
		pool.AddCert(c)
	}
	return pool
}

var (
	hexString  = regexp.MustCompile(`<[0-9A-Fa-f\s]{500,}>`)
	streamHead = regexp.MustCompile(`stream\r?\n`)
)

// selfSignedIn returns the certificates of the files whose issuer has the name of their subject, each once.
// certificates returns those of a file: it looks for them without the reader that is tested.
func selfSignedIn(t testing.TB, paths []string, certificates func(file []byte) []*x509.Certificate) (all []*x509.Certificate) {
	seen := make(map[[sha256.Size]byte]bool)
	for _, path := range paths {
		for _, c := range certificates(readFile(t, path)) {
			key := sha256.Sum256(c.Raw)
			if !seen[key] && bytes.Equal(c.RawIssuer, c.RawSubject) {
				all = append(all, c)
			}
			seen[key] = true
		}
	}
	return all
}

// rootsInPDF returns the certificates by their own key that are anywhere in a file: in signatures,
// timestamps or validation data.
func rootsInPDF(file []byte) (all []*x509.Certificate) {
	for _, blob := range blobsOfPDF(file) {
		for _, c := range certificatesIn(blob) {
			if c.CheckSignature(c.SignatureAlgorithm, c.RawTBSCertificate, c.Signature) == nil {
				all = append(all, c)
			}
		}
	}
	return all
}

// blobsOfPDF returns a file as it is, its long strings, and its streams where they are compressed.
func blobsOfPDF(file []byte) [][]byte {
	blobs := [][]byte{file}
	for _, s := range hexString.FindAll(file, -1) {
		digits := bytes.Join(bytes.Fields(s[1:len(s)-1]), nil)
		der := make([]byte, len(digits)/2)
		if _, err := hex.Decode(der, digits[:2*len(der)]); err == nil {
			blobs = append(blobs, der)
		}
	}
	for _, at := range streamHead.FindAllIndex(file, -1) {
		r, err := zlib.NewReader(bytes.NewReader(file[at[1]:]))
		if err != nil {
			continue
		}
		content, _ := io.ReadAll(io.LimitReader(r, 1<<20)) // up to where it is damaged
		blobs = append(blobs, content)
	}
	return blobs
}

// certificatesIn returns the certificates in the bytes: it tries each SEQUENCE that begins with another
// SEQUENCE, both with lengths of two bytes.
func certificatesIn(b []byte) (all []*x509.Certificate) {
	for i := 0; i+6 < len(b); i++ {
		if b[i] != 0x30 || b[i+1] != 0x82 || b[i+4] != 0x30 || b[i+5] != 0x82 {
			continue
		}
		if size := 4 + int(b[i+2])<<8 + int(b[i+3]); size <= len(b)-i {
			if c, err := x509.ParseCertificate(b[i : i+size]); err == nil {
				all = append(all, c)
			}
		}
	}
	return all
}
