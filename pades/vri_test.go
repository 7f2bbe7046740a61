package pades_test

import (
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
)

var contentsOf = regexp.MustCompile(`/Contents <([0-9a-f]+)>`)

// ISO 32000-2 table 262: asked for, the validation data is listed for each signature too,
// under the digest of its Contents, and what is listed stays.
func TestVRI(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	ca.At("http://sandbox.example")
	if _, err := ca.Renew(time.Now()); err != nil {
		t.Fatal(err)
	}
	x := pades.Extender{Sources: ca.Sources(nil), VRI: true}
	b := pdftest.Build(pdftest.Options{})
	for range 2 {
		b = signFor(t, b, newPerson(t, ca, p256(t)), ades.LTA)
		revisions, err := x.ExtendLast(t.Context(), document(b), ades.LTA)
		if err != nil {
			t.Fatal(err)
		}
		b = appendAll(t, b, revisions)
		if revisions, err = x.ExtendLast(t.Context(), document(b), ades.LTA); err != nil || len(revisions) > 0 {
			t.Errorf("again: %d revisions, %v", len(revisions), err)
		}
	}
	signatures := contentsOf.FindAllSubmatch(b, -1)
	if len(signatures) != 4 {
		t.Fatalf("%d signatures and timestamps", len(signatures))
	}
	for i, contents := range [][]byte{signatures[0][1], signatures[2][1]} {
		raw, err := hex.DecodeString(string(contents))
		if err != nil {
			t.Fatal(err)
		}
		key := strings.ToUpper(fmt.Sprintf("%x", sha1.Sum(raw)))
		entry := regexp.MustCompile("/" + key + ` (\d+ 0) R`).FindSubmatch(b)
		if entry == nil {
			t.Fatalf("signature %d: %s is not listed", i, key)
		}
		if body := regexp.MustCompile(`\n` + string(entry[1]) + ` obj\n<< /Type /VRI /Cert \[[^\]]+\] /OCSP \[[^\]]+\] /CRL \[[^\]]+\] >>`).Find(b); body == nil {
			t.Errorf("signature %d: certificates, responses and lists are not listed", i)
		}
	}
	path := filepath.Join(t.TempDir(), "vri.pdf")
	writeFile(t, path, b)
	judgeLevels(t, []levelFile{{name: "VRI", path: path, levels: []ades.Level{ades.LTA, ades.LTA}, stamps: 2}}, ca)
}

// A document that does not take what comes behind the signature is refused before anybody
// signs, and taken at levels that need none of it.
func TestLevelIsRehearsed(t *testing.T) {
	p := newPerson(t, newAuthority(t), p256(t))
	for name, row := range map[string]struct {
		b    []byte
		from ades.Level // at which it is refused
	}{
		"certificates that are no array": {pdftest.Build(pdftest.Options{Catalog: "/DSS << /Certs 1 >>"}), ades.LT},
		"a store that is none":           {pdftest.Build(pdftest.Options{Catalog: "/DSS 1"}), ades.LT},
	} {
		for level := ades.B; level <= ades.LTA; level++ {
			_, err := prepare(t, row.b, p.signer, pades.Options{Level: level})
			if refused := err != nil; refused != (level >= row.from) {
				t.Errorf("%s, level %v: %v", name, level, err)
			}
			if err != nil {
				continue
			}
			if _, err := (pades.Extender{Sources: p.ca.Sources(nil)}).Extend(t.Context(), document(signFor(t, row.b, p, level)), level); err != nil {
				t.Errorf("%s, level %v: %v", name, level, err)
			}
		}
	}
}
