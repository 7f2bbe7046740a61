package pades_test

import (
	"bytes"
	"compress/zlib"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"io"
	"regexp"
	"testing"
)

var (
	hexString  = regexp.MustCompile(`<[0-9A-Fa-f\s]{500,}>`)
	streamHead = regexp.MustCompile(`stream\r?\n`)
)

// selfSignedIn are the certificates by their own key that stand anywhere in the files: in signatures, in
// timestamps, in validation data. They are looked for byte by byte, without the reader that is tested.
func selfSignedIn(t testing.TB, paths []string) (all []*x509.Certificate) {
	seen := make(map[[sha256.Size]byte]bool)
	for _, path := range paths {
		for _, blob := range blobsOf(readFile(t, path)) {
			for _, c := range certificatesIn(blob) {
				key := sha256.Sum256(c.Raw)
				if !seen[key] && bytes.Equal(c.RawIssuer, c.RawSubject) && c.CheckSignature(c.SignatureAlgorithm, c.RawTBSCertificate, c.Signature) == nil {
					all = append(all, c)
				}
				seen[key] = true
			}
		}
	}
	return all
}

// blobsOf is a file as it stands, its long strings, and its streams where they are compressed.
func blobsOf(file []byte) [][]byte {
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

// certificatesIn are those that stand in the bytes: a SEQUENCE that begins with another one, as long as
// certificates are.
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
