package pades_test

import (
	"context"
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
	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/internal/test/validators"
	"github.com/innsigli/innsigli/pades"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// A file of each level passes in EU DSS under its own policy, with exactly that level
// (EN 319 142-1 6.3), and in pyHanko and pdfsig. What signatures of level B and T
// cannot have is proof of revocation.
func TestLevels(t *testing.T) {
	t.Parallel()
	testenv.Slow(t, "others judge signatures of each level")
	ca := newAuthority(t)
	ca.At("http://sandbox.example") // or pyHanko asks for no revocation
	if _, err := ca.Renew(time.Now()); err != nil {
		t.Fatal(err)
	}
	folder := levelFolder{T: t, path: t.TempDir(), ca: ca}
	folder.addSingle()
	folder.addMany()
	folder.addSequences()
	judgeLevels(t, folder.files, ca)
}

// Responders that prepare their answers give one from before the signature, which is in force at its time.
func TestLevelsByPreparedAnswers(t *testing.T) {
	t.Parallel()
	anHourAgo := time.Now().Add(-time.Hour)
	ca, err := sandboxca.New(anHourAgo)
	if err != nil {
		t.Fatal(err)
	}
	ca.At("http://sandbox.example") // or pyHanko asks for no revocation
	if _, err := ca.Renew(anHourAgo); err != nil {
		t.Fatal(err)
	}
	key := p256(t)
	certificate, err := ca.Issue("Dæmi um nafn", "1203894569", key.Public(), anHourAgo)
	if err != nil {
		t.Fatal(err)
	}
	p := person{ades.Signer{Certificate: certificate, Chain: ca.Chain()}, key, ca}
	s := ca.Sources(nil)
	s.Revocation = preparedAnswers{ca.Sources(func() time.Time { return time.Now().Add(-30 * time.Minute) }).Revocation}
	folder := levelFolder{T: t, path: t.TempDir(), ca: ca}
	for _, level := range []ades.Level{ades.LT, ades.LTA} {
		b := extend(t, signFor(t, pdftest.Build(pdftest.Options{}), p, level), level, s)
		folder.add(levelFile{name: level.String(), levels: []ades.Level{level}, stamps: stampsOf(level, 1)}, b)
		for _, r := range verify(t, b, ca) {
			if r.Format != "PAdES-BASELINE-"+level.String() || r.Indication != ades.TotalPassed {
				t.Errorf("%v: %s %s %s %v", level, r.Format, r.Indication, r.SubIndication, r.Problems)
			}
		}
	}
	judgeLevels(t, folder.files, ca)
}

// preparedAnswers gives the answers of a source whatever time is asked for.
type preparedAnswers struct{ of ades.Revocation }

func (p preparedAnswers) Revocation(ctx context.Context, cert, issuer *x509.Certificate, _ time.Time) (ades.RevocationData, error) {
	return p.of.Revocation(ctx, cert, issuer, time.Time{})
}

// levelFolder is where signed documents are put for those who judge them.
type levelFolder struct {
	*testing.T
	path  string
	ca    *sandboxca.Authority
	files []levelFile
}

func (l *levelFolder) add(f levelFile, b []byte) {
	f.path = filepath.Join(l.path, fmt.Sprintf("%02d.pdf", len(l.files)))
	writeFile(l, f.path, b)
	l.files = append(l.files, f)
}

var everyLevel = []ades.Level{ades.B, ades.T, ades.LT, ades.LTA}

// stampsOf is how many document timestamps so many signatures have that were raised to a
// level one after another.
func stampsOf(level ades.Level, signatures int) int {
	if level == ades.LTA {
		return signatures
	}
	return 0
}

// addSingle adds a document of each level, and those that have no timestamp but of the
// document.
func (l *levelFolder) addSingle() {
	p := newPerson(l, l.ca, p256(l))
	blank := pdftest.Build(pdftest.Options{})
	for _, level := range everyLevel {
		f := levelFile{name: level.String(), levels: []ades.Level{level}, stamps: stampsOf(level, 1)}
		l.add(f, signLevel(l, blank, p, level))
		if level >= ades.LT {
			f.name += " of one without a timestamp"
			f.stamps++
			f.untimed = []int{0}
			l.add(f, extend(l, signFor(l, blank, p, ades.B), level, l.ca.Sources(nil)))
		}
	}
}

// addMany adds documents of three and ten signers, with an algorithm after the other; in
// full, of one, three and ten with each algorithm and at each level.
func (l *levelFolder) addMany() {
	all := l.schemes()
	l.addInTurns("all", ades.LT, 3, all[1:]...)
	l.addInTurns("all", ades.LTA, 3, all[1:]...)
	l.addAtOnce("all", ades.LTA, 10, all...)
	if !testenv.Full() {
		return
	}
	l.addInTurns("all", ades.LTA, 10, all...)
	for _, level := range everyLevel {
		for _, s := range all {
			l.addInTurns(s.name, level, 1, s)
			l.addInTurns(s.name, level, 3, s)
			l.addAtOnce(s.name, level, 10, s)
		}
	}
}

// levelScheme is an algorithm with a key for it.
type levelScheme struct {
	name      string
	key       crypto.Signer
	algorithm ades.Algorithm
}

func (l *levelFolder) schemes() []levelScheme {
	long := rsaKey(l, 3072)
	return []levelScheme{
		{"P-256", p256(l), ades.Algorithm{}},
		{"P-384", curveKey(l, elliptic.P384()), ades.Algorithm{}},
		{"RSA-3072", long, ades.Algorithm{}},
		{"RSASSA-PSS", long, ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.PSS}},
	}
}

func curveKey(t testing.TB, curve elliptic.Curve) crypto.Signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// addInTurns adds a document that is raised after each signature.
func (l *levelFolder) addInTurns(algorithm string, level ades.Level, n int, schemes ...levelScheme) {
	f := levelFile{name: fmt.Sprintf("%v of %d in turns, %s", level, n, algorithm), stamps: stampsOf(level, n)}
	b := pdftest.Build(pdftest.Options{Kind: pdftest.Stream})
	for i := range n {
		b = signLevel(l, b, l.signer(schemes, i), level)
		f.levels = append(f.levels, level)
	}
	l.add(f, b)
}

// addAtOnce adds a document that is raised after the last signature.
func (l *levelFolder) addAtOnce(algorithm string, level ades.Level, n int, schemes ...levelScheme) {
	f := levelFile{name: fmt.Sprintf("%v of %d at once, %s", level, n, algorithm), stamps: stampsOf(level, 1)}
	b := pdftest.Build(pdftest.Options{})
	for i := range n {
		b = signFor(l, b, l.signer(schemes, i), min(level, ades.T))
		f.levels = append(f.levels, level)
	}
	l.add(f, extend(l, b, level, l.ca.Sources(nil)))
}

// signer is somebody else each time, with the algorithms by turns.
func (l *levelFolder) signer(schemes []levelScheme, i int) person {
	s := schemes[i%len(schemes)]
	return newPersonWith(l, l.ca, s.key, s.algorithm)
}

// addSequences adds documents to which something is added after LTA, or in spite of a
// certification.
func (l *levelFolder) addSequences() {
	s := l.ca.Sources(nil)
	p, second := newPerson(l, l.ca, p256(l)), newPerson(l, l.ca, p256(l))
	blank := pdftest.Build(pdftest.Options{})
	// No certification counts validation data and document timestamps as changes (table 257).
	certified := sign(l, blank, p, pades.Options{Certify: pades.NoChanges})
	l.add(levelFile{name: "LTA of one that permits no changes", levels: []ades.Level{ades.LTA}, stamps: 2, untimed: []int{0}},
		extend(l, certified, ades.LTA, s))
	archived := signLevel(l, blank, p, ades.LTA)
	l.add(levelFile{name: "LTA renewed twice", levels: []ades.Level{ades.LTA}, stamps: 3}, renew(l, renew(l, archived, s), s))
	l.add(levelFile{name: "LT after LTA", levels: []ades.Level{ades.LTA, ades.LT}, stamps: 1}, signLevel(l, archived, second, ades.LT))
	l.add(levelFile{name: "B after LTA, extended", levels: []ades.Level{ades.LTA, ades.LTA}, stamps: 3, untimed: []int{1}},
		extend(l, signFor(l, archived, second, ades.B), ades.LTA, s))
}

// A signature of level B that is extended to LTA has document timestamps alone. That is level LTA: the trusted time of
// level T is a signature-time-stamp or a document time-stamp (EN 319 142-1 6.3), validation with time takes signature
// timestamps where there are any (EN 319 102-1 5.5.4), and the document timestamp proves that the signature existed (5.6.2.3).
// EU DSS agrees. pyHanko's validation for the long term ends before it comes to that, whenever the signature has no
// timestamp of its own; one that has is the control.
func TestDocumentTimestampsAlone(t *testing.T) {
	ca := newAuthority(t)
	ca.At("http://sandbox.example") // or pyHanko asks for no revocation
	if _, err := ca.Renew(time.Now()); err != nil {
		t.Fatal(err)
	}
	p := newPerson(t, ca, p256(t))
	folder, blank, roots := t.TempDir(), pdftest.Build(pdftest.Options{}), []*x509.Certificate{ca.Root()}
	tests := []struct {
		name     string
		document []byte
		pyHanko  string
	}{
		{"signed at B, extended to LTA", extend(t, signFor(t, blank, p, ades.B), ades.LTA, ca.Sources(nil)), "INDETERMINATE SIG_CONSTRAINTS_FAILURE"},
		{"signed at LTA", signLevel(t, blank, p, ades.LTA), "PASSED"},
	}
	var paths []string
	for _, test := range tests {
		path := filepath.Join(folder, test.name+".pdf")
		writeFile(t, path, test.document)
		paths = append(paths, path)
		if s := verify(t, test.document, ca)[0]; s.Format != "PAdES-BASELINE-LTA" || s.Indication != ades.TotalPassed || s.BestTime.IsZero() {
			t.Errorf("%s: %s %s %s, existed by %v", test.name, s.Format, s.Indication, s.SubIndication, s.BestTime)
		}
	}
	t.Run("EU DSS", func(t *testing.T) {
		for i, r := range validators.DSS(t, validators.DSSOptions{Roots: roots}, paths...) {
			if len(r.Signatures) != 1 || r.Signatures[0].Format != "PAdES-BASELINE-LTA" || r.Signatures[0].Indication != "TOTAL_PASSED" {
				t.Errorf("%s: %s %+v", tests[i].name, r.Error, r.Signatures)
			}
		}
	})
	t.Run("pyHanko", func(t *testing.T) {
		for i, r := range validators.PyHankoLongTerm(t, roots, paths...) {
			if len(r.Signatures) != 1 || r.Signatures[0].Now != tests[i].pyHanko || !r.Signatures[0].Sufficient {
				t.Errorf("%s: %s %+v, want %s", tests[i].name, r.Error, r.Signatures, tests[i].pyHanko)
			}
		}
	})
}
