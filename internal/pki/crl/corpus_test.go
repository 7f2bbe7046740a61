package crl

import (
	"bytes"
	"crypto/x509"
	"encoding/base64"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/google/go-cmp/cmp"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

var embedded = regexp.MustCompile(`EncapsulatedCRLValue[^>]*>([^<]+)<`)

// Lists of authorities of many countries, from signatures in XML, as crypto/x509 reads
// them: every entry is found.
func TestListsInForeignSignatures(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testenv.Corpus(t, "signed/xml"), "*.xml"))
	if err != nil {
		t.Fatal(err)
	}
	read, entries := 0, 0
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range embedded.FindAllSubmatch(content, -1) {
			der, err := base64.StdEncoding.DecodeString(string(bytes.Join(bytes.Fields(bytes.ReplaceAll(m[1], []byte("&#13;"), nil)), nil)))
			if err != nil || len(der) == 0 {
				continue
			}
			l, err := Parse(der)
			if err != nil {
				t.Errorf("%s: %v", filepath.Base(file), err)
				continue
			}
			want, err := x509.ParseRevocationList(der)
			if err != nil {
				t.Logf("%s: crypto/x509: %v", filepath.Base(file), err)
				continue
			}
			read++
			entries += len(want.RevokedCertificateEntries)
			compare(t, filepath.Base(file), l, want)
		}
	}
	t.Logf("%d lists with %d entries", read, entries)
	if read < 20 || entries < 100 {
		t.Errorf("%d lists with %d entries", read, entries)
	}
}

func compare(t *testing.T, name string, l *List, want *x509.RevocationList) {
	t.Helper()
	if !l.ThisUpdate.Equal(want.ThisUpdate) || !l.NextUpdate.Equal(want.NextUpdate) || !bytes.Equal(l.issuer, want.RawIssuer) {
		t.Errorf("%s: %v to %v", name, l.ThisUpdate, l.NextUpdate)
	}
	l.scope = scope{} // there are no certificates to be for
	for i, e := range want.RevokedCertificateEntries {
		if i == 100 {
			break
		}
		got, err := l.Find(&x509.Certificate{RawIssuer: l.issuer, SerialNumber: e.SerialNumber})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		if diff := cmp.Diff(&Entry{e.RevocationTime.UTC(), e.ReasonCode}, got); diff != "" {
			t.Errorf("%s, %x: %s", name, e.SerialNumber, diff)
		}
	}
}
