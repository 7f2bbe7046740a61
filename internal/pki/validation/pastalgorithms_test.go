package validation_test

import (
	"crypto/rand"
	"crypto/rsa"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/internal/test/validators"
)

// A key of 1536 bits is relied upon until October 2019 (ETSI TS 119 312). What is proven to have been signed with it
// before stays good, to us and to EU DSS (EN 319 102-1 5.6.2.3).
func TestAlgorithmsOfTheirTime(t *testing.T) {
	t.Parallel()
	const year = 365 * day
	key, err := rsa.GenerateKey(rand.Reader, 1536)
	if err != nil {
		t.Fatal(err)
	}
	signed := time.Date(2015, time.June, 1, 12, 0, 0, 0, time.UTC)
	weak := verdict{ades.Indeterminate, ades.CryptoConstraintsFailureNoPOE}
	for _, test := range []struct {
		name           string
		stamped, after time.Duration // since
		level          ades.Level
		want           verdict
	}{
		{"in time, and judged in time", 0, 100 * day, ades.LT, totalPassed},
		{"in time, archived, and judged after the end", 0, 6 * year, ades.LTA, totalPassed},
		{"after the end", 5 * year, 5*year + day, ades.LT, weak},
		{"after the end, and archived", 5 * year, 6 * year, ades.LTA, weak},
	} {
		for _, f := range formats {
			w := newWorldOf(t, signed, key, 20*year, 20*year)
			for _, a := range []interface{ Renew(time.Time) (bool, error) }{w.signing, w.stamping} {
				if _, err := a.Renew(signed.Add(test.stamped)); err != nil {
					t.Fatal(err)
				}
			}
			b := f.extend(t, f.signedByDSS(t, w), ades.T, w.sources(test.stamped))
			b = f.extend(t, b, test.level, w.sources(test.stamped+time.Minute))
			path := filepath.Join(t.TempDir(), "signed."+f.name)
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			at := signed.Add(test.after)
			report := f.verify(t, b, w, at)
			if got := (verdict{report.Indication, report.SubIndication}); got != test.want {
				t.Errorf("%s, %s: %v, want %v: %q", f.name, test.name, got, test.want, report.Problems)
			}
			theirs := validators.DSS(t, validators.DSSOptions{Roots: w.roots(), At: at}, path)[0].Signatures[0]
			if got := (verdict{ades.Indication(theirs.Indication), ades.SubIndication(theirs.SubIndication)}); got != test.want {
				t.Errorf("%s, %s: EU DSS %v, want %v: %v", f.name, test.name, got, test.want, theirs.Errors)
			}
		}
	}
}

// signedByDSS is signed at level B with whatever key, by EU DSS.
func (f format) signedByDSS(t *testing.T, w *world) []byte {
	t.Helper()
	options := validators.SignOptions{Key: w.key, Certificate: w.signer.Certificate, Chain: w.signer.Chain, Level: "B"}
	b := pdftest.Build(pdftest.Options{})
	if f.name == "xml" {
		options.Packaging, b = "ENVELOPED", []byte("<contract>What is agreed</contract>")
	}
	path := filepath.Join(t.TempDir(), "plain."+f.name)
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	signed, err := os.ReadFile(validators.DSSSign(t, options, path)[0].Path)
	if err != nil {
		t.Fatal(err)
	}
	return signed
}
