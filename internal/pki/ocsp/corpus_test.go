package ocsp

import (
	"bytes"
	"encoding/base64"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

var embedded = regexp.MustCompile(`EncapsulatedOCSPValue[^>]*>([^<]+)<`)

// Responses that responders of many countries gave, from signatures in XML. Most verify
// with a certificate that they carry; some are signed with SHA-1.
func TestResponsesInForeignSignatures(t *testing.T) {
	read, verified := 0, 0
	err := filepath.WalkDir(testenv.Corpus(t, "signed/xml"), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		for _, m := range embedded.FindAllSubmatch(content, -1) {
			der, err := base64.StdEncoding.DecodeString(string(bytes.Join(bytes.Fields(bytes.ReplaceAll(m[1], []byte("&#13;"), nil)), nil)))
			if err != nil || len(der) == 0 {
				continue
			}
			r, err := Parse(der)
			if err != nil {
				t.Errorf("%s: %v", filepath.Base(path), err)
				continue
			}
			if read++; len(r.Singles) == 0 || r.ProducedAt.IsZero() {
				t.Errorf("%s: %+v", filepath.Base(path), r)
			}
			if r.verifies() {
				verified++
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d responses, %d of them signed by a certificate that they carry", read, verified)
	if read < 40 || verified < 35 {
		t.Errorf("%d responses were read, %d verified", read, verified)
	}
}

func (r *Response) verifies() bool {
	for _, c := range r.Certificates {
		if _, err := r.Verify(c); err == nil {
			return true
		}
		if r.matchesResponderID(c) && r.signed.Verify(c) == nil {
			return true
		}
	}
	return false
}
