package pades_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/authority"
	"github.com/innsigli/innsigli/internal/pdftest"
	"github.com/innsigli/innsigli/internal/testenv"
	"github.com/innsigli/innsigli/internal/validators"
	"github.com/innsigli/innsigli/pades"
)

// levelFile is a document with signatures, and the levels that they have in the end.
type levelFile struct {
	name   string
	path   string
	levels []ades.Level
	stamps int // document timestamps
}

// A file of each level passes in EU DSS under its own policy, with exactly that level
// (EN 319 142-1 6.3), and in pyHanko and pdfsig. What signatures of level B and T
// cannot have is proof of revocation.
func TestLevels(t *testing.T) {
	ca := newAuthority(t)
	ca.At("http://sandbox.example") // or pyHanko asks for no revocation
	if _, err := ca.Renew(time.Now()); err != nil {
		t.Fatal(err)
	}
	files := levelFiles(t, ca)
	t.Run("EU DSS", func(t *testing.T) { levelsByDSS(t, files, ca) })
	t.Run("pyHanko", func(t *testing.T) { levelsByPyHanko(t, files, ca) })
	t.Run("pdfsig", func(t *testing.T) { levelsByPDFSig(t, files) })
}

func curveKey(t testing.TB, curve elliptic.Curve) crypto.Signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func levelFiles(t *testing.T, ca *authority.Authority) []levelFile {
	folder := t.TempDir()
	var all []levelFile
	add := func(name string, b []byte, stamps int, levels ...ades.Level) {
		path := filepath.Join(folder, fmt.Sprintf("%02d.pdf", len(all)))
		writeFile(t, path, b)
		all = append(all, levelFile{name, path, levels, stamps})
	}
	s := ca.Sources(nil)
	p := newPerson(t, ca, p256(t))
	blank := pdftest.Build(pdftest.Options{})
	for _, level := range []ades.Level{ades.B, ades.T, ades.LT, ades.LTA} {
		stamps := 0
		if level == ades.LTA {
			stamps = 1
		}
		add(level.String(), signLevel(t, blank, p, level), stamps, level)
		if level < ades.LT {
			continue
		}
		add(level.String()+" of one without a timestamp", extend(t, signFor(t, blank, p, ades.B), level, s), 1+stamps, level)
		b := pdftest.Build(pdftest.Options{Kind: pdftest.Stream})
		for range 3 {
			b = signLevel(t, b, newPerson(t, ca, p256(t)), level)
		}
		add(level.String()+" of three", b, 3*stamps, level, level, level)
		if !testenv.Full() {
			continue
		}
		b = blank
		for range 3 {
			b = signFor(t, b, newPerson(t, ca, p256(t)), ades.T)
		}
		add(level.String()+" of three at once", extend(t, b, level, s), stamps, level, level, level)
		add(level.String()+" by RSA-3072", signLevel(t, blank, newPerson(t, ca, rsaKey(t, 3072)), level), stamps, level)
		add(level.String()+" by RSASSA-PSS", signLevel(t, blank, newPersonWith(t, ca, rsaKey(t, 3072), ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.PSS}), level), stamps, level)
		add(level.String()+" on P-384", signLevel(t, blank, newPerson(t, ca, curveKey(t, elliptic.P384())), level), stamps, level)
	}
	// No certification counts validation data and document timestamps as changes (table 257).
	certified := sign(t, blank, p, pades.Options{Certify: pades.NoChanges})
	add("LTA of one that permits no changes", extend(t, certified, ades.LTA, s), 2, ades.LTA)
	archived := signLevel(t, blank, p, ades.LTA)
	add("LTA renewed twice", renew(t, renew(t, archived, s), s), 3, ades.LTA)
	second := newPerson(t, ca, p256(t))
	add("LT after LTA", signLevel(t, archived, second, ades.LT), 1, ades.LTA, ades.LT)
	add("B after LTA, extended", extend(t, signFor(t, archived, second, ades.B), ades.LTA, s), 3, ades.LTA, ades.LTA)
	return all
}

func levelsByDSS(t *testing.T, files []levelFile, ca *authority.Authority) {
	var short, long []levelFile
	for _, f := range files {
		if f.levels[0] < ades.LT {
			short = append(short, f)
		} else {
			long = append(long, f)
		}
	}
	roots := []*x509.Certificate{ca.Root()}
	judgeByDSS(t, long, validators.DSSOptions{Roots: roots})
	judgeByDSS(t, short, validators.DSSOptions{Roots: roots, RevocationOptional: true})
}

func judgeByDSS(t *testing.T, files []levelFile, options validators.DSSOptions) {
	for i, r := range validators.DSS(t, options, paths(files)...) {
		f := files[i]
		if r.Error != "" || len(r.Signatures) != len(f.levels) {
			t.Errorf("%s: %q, %d signatures", f.name, r.Error, len(r.Signatures))
			continue
		}
		for i, s := range r.Signatures {
			if s.Format != "PAdES-BASELINE-"+f.levels[i].String() || s.Indication != "TOTAL_PASSED" || s.Modified || s.UndefinedChange > 0 {
				t.Errorf("%s: %s %s %s, modified %v, %d undefined changes: %v", f.name, s.Format, s.Indication, s.SubIndication, s.Modified, s.UndefinedChange, s.Errors)
			}
		}
		for _, s := range r.Timestamps {
			if s.Indication != "PASSED" {
				t.Errorf("%s: %s %s %s: %v", f.name, s.Type, s.Indication, s.SubIndication, s.Errors)
			}
		}
	}
}

func paths(files []levelFile) []string {
	var all []string
	for _, f := range files {
		all = append(all, f.path)
	}
	return all
}

func levelsByPyHanko(t *testing.T, files []levelFile, ca *authority.Authority) {
	for i, r := range validators.PyHanko(t, []*x509.Certificate{ca.Root()}, paths(files)...) {
		f := files[i]
		if r.Error+r.Lenient != "" || len(r.Signatures) != len(f.levels)+f.stamps {
			t.Errorf("%s: %q, %q, %d signatures", f.name, r.Error, r.Lenient, len(r.Signatures))
		}
		for _, s := range r.Signatures {
			if s.Error != "" || !s.Intact || !s.Valid || !s.Trusted || !s.BottomLine && s.Type == "/Sig" {
				t.Errorf("%s: %+v", f.name, s)
			}
		}
	}
}

func levelsByPDFSig(t *testing.T, files []levelFile) {
	for _, f := range files {
		signatures, err := validators.PDFSig(t, validators.PDFSigOptions{}, f.path)
		if err != nil || len(signatures) != len(f.levels)+f.stamps {
			t.Errorf("%s: %d signatures, %v", f.name, len(signatures), err)
		}
		for _, s := range signatures {
			if s.Type == "ETSI.CAdES.detached" && !s.Valid() {
				t.Errorf("%s: %+v", f.name, s)
			}
		}
	}
}
