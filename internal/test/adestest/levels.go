package adestest

import (
	"context"
	"crypto"
	"crypto/elliptic"
	"crypto/x509"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// Levels are those of EN 319 142-1 6.3 and EN 319 132-1 6.3.
var Levels = []ades.Level{ades.B, ades.T, ades.LT, ades.LTA}

// RunLevels is the part of the suite that signs in each variant at each level, with one signer and
// several, and extends and renews; then Verify, EU DSS and [Format].Judge have to find exactly the
// levels and timestamps that were made.
func RunLevels(t *testing.T, f Format) {
	l := newFolder(t, f, time.Now())
	l.algorithms = newAlgorithms(t)
	for _, v := range f.Variants {
		l.addSingle(v)
		l.addSeveral(v)
		if !v.Hides {
			l.addAfterArchiveTimestamp(v)
		}
	}
	l.addAlgorithms()
	l.addPreparedAnswers()
	l.judge()
}

// RunRenewed is a short form of [RunLevels] for many variants: each has one document, of two
// signers who sign at level LTA one after the other, renewed.
func RunRenewed(t *testing.T, f Format) {
	l := newFolder(t, f, time.Now())
	for _, v := range f.Variants {
		d := f.newDocument(v)
		for range 2 {
			d.sign(t, l.newSigner(), ades.LTA, l.ca.Sources(nil))
		}
		d.renew(t, l.ca.Sources(nil))
		l.add("LTA of two, renewed", d)
	}
	l.judge()
}

// folder is where signed documents are put for those who validate them.
type folder struct {
	*testing.T
	f          Format
	path       string
	ca         *sandboxca.Authority
	algorithms []algorithm // of signers, by turns
	signers    int         // so many were made
	files      []File
}

// algorithm is a signature algorithm with a key for it.
type algorithm struct {
	name string
	key  crypto.Signer
	ades.Algorithm
}

func newFolder(t *testing.T, f Format, began time.Time) *folder {
	t.Helper()
	return &folder{
		T: t, f: f, path: t.TempDir(), ca: newAuthority(t, began),
		algorithms: []algorithm{{"P-256", newKey(t), ades.Algorithm{}}},
	}
}

// newAlgorithms returns those that validators in the European Union rely on.
func newAlgorithms(t testing.TB) []algorithm {
	t.Helper()
	long := certtest.NewRSAKey(t, 3072)
	algorithms := []algorithm{
		{"RSA", long, ades.Algorithm{}},
		{"RSA, SHA-512", long, ades.Algorithm{Hash: crypto.SHA512, Scheme: ades.PKCS1v15}},
		{"RSASSA-PSS", long, ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.PSS}},
		{"RSASSA-PSS, SHA-384", long, ades.Algorithm{Hash: crypto.SHA384, Scheme: ades.PSS}},
	}
	for _, curve := range []elliptic.Curve{elliptic.P256(), elliptic.P384(), elliptic.P521()} {
		algorithms = append(algorithms, algorithm{curve.Params().Name, certtest.NewKey(t, curve), ades.Algorithm{}})
	}
	return algorithms
}

// newSigner returns another signer each time.
func (l *folder) newSigner() signer {
	a := l.algorithms[l.signers%len(l.algorithms)]
	l.signers++
	return l.newSignerWith(a)
}

func (l *folder) newSignerWith(a algorithm) signer {
	l.Helper()
	identity := catest.IssueSigner(l, l.ca, a.key, time.Now())
	identity.Algorithm = a.Algorithm
	return signer{identity, a.key, l.ca}
}

// add writes a document to a file.
func (l *folder) add(name string, d *document, times ...time.Time) {
	l.Helper()
	f := d.file()
	f.Name, f.Root, f.Times = d.variant.Name+": "+name, l.ca.Root(), times
	f.Path = l.write(fmt.Sprintf("%03d", len(l.files)), d.content)
	l.files = append(l.files, f)
}

func (l *folder) write(name string, content []byte) (path string) {
	l.Helper()
	path = filepath.Join(l.path, name+l.f.Extension)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		l.Fatal(err)
	}
	return path
}

// addSingle adds documents with one signature, which is made at its level or extended from level B.
func (l *folder) addSingle(v Variant) {
	for _, level := range Levels {
		d := l.f.newDocument(v)
		d.signInOneCall(l, l.newSigner(), level)
		l.add(level.String(), d)
	}
	for _, level := range []ades.Level{ades.LT, ades.LTA} {
		d := l.f.newDocument(v)
		d.sign(l, l.newSigner(), ades.B, l.ca.Sources(nil))
		d.extend(l, level, l.ca.Sources(nil))
		l.add("B extended to "+level.String(), d)
	}
}

// addSeveral adds documents of several signers, which are extended after each signature or after
// the last one.
func (l *folder) addSeveral(v Variant) {
	s := l.ca.Sources(nil)
	mixed := l.f.newDocument(v)
	for _, level := range []ades.Level{ades.T, ades.B, ades.T} {
		mixed.sign(l, l.newSigner(), level, s)
	}
	l.add("T, B and T", mixed)
	for _, level := range []ades.Level{ades.LT, ades.LTA} {
		d := l.f.newDocument(v)
		for range 3 {
			d.sign(l, l.newSigner(), level, s)
		}
		l.add(fmt.Sprintf("%v of three, in turns", level), d)
	}
	count := 3
	if v.Name == l.f.Variants[0].Name {
		count = 10
	}
	d := l.f.newDocument(v)
	for range count {
		d.sign(l, l.newSigner(), ades.T, s)
	}
	d.extend(l, ades.LTA, s)
	l.add(fmt.Sprintf("LTA of %d, at once", count), d)
}

// addAfterArchiveTimestamp adds documents of level LTA to which something is added.
func (l *folder) addAfterArchiveTimestamp(v Variant) {
	s := l.ca.Sources(nil)
	archived := l.f.newDocument(v)
	archived.sign(l, l.newSigner(), ades.LTA, s)
	then := func(name string, add func(d *document)) {
		d := *archived
		d.signatures = append([]signature(nil), archived.signatures...)
		add(&d)
		l.add("LTA, then "+name, &d)
	}
	then("renewed twice", func(d *document) { d.renew(l, s); d.renew(l, s) })
	for _, level := range []ades.Level{ades.B, ades.T} {
		then(level.String(), func(d *document) { d.sign(l, l.newSigner(), level, s) })
		then(level.String()+", extended to LTA", func(d *document) {
			d.sign(l, l.newSigner(), level, s)
			d.extend(l, ades.LTA, s)
		})
	}
	then("LT", func(d *document) { d.sign(l, l.newSigner(), ades.LT, s) })
	then("B, renewed", func(d *document) {
		d.sign(l, l.newSigner(), ades.B, s)
		d.renew(l, s)
	})
}

// addAlgorithms adds documents signed with each algorithm at level T; in full, in each variant, at
// each level, alone and with others.
func (l *folder) addAlgorithms() {
	variants, levels, counts := l.f.Variants[:1], []ades.Level{ades.T}, []int{1}
	if testenv.Full() {
		variants, levels, counts = l.f.Variants, Levels, []int{1, 3}
	}
	for _, a := range l.algorithms {
		for _, v := range variants {
			for _, level := range levels {
				for _, count := range counts {
					d := l.f.newDocument(v)
					for range count {
						d.sign(l, l.newSignerWith(a), level, l.ca.Sources(nil))
					}
					l.add(fmt.Sprintf("%s, %v of %d", a.name, level, count), d)
				}
			}
		}
	}
}

// addPreparedAnswers adds documents of an authority whose OCSP responder prepares its answers:
// these are from before the signature, and in force at its time.
func (l *folder) addPreparedAnswers() {
	anHourAgo := time.Now().Add(-time.Hour)
	now := l.ca
	defer func() { l.ca = now }()
	l.ca = newAuthority(l, anHourAgo)
	s := l.ca.Sources(nil)
	s.Revocation = preparedAnswers{l.ca.Sources(clock(-30 * time.Minute)).Revocation}
	for _, level := range []ades.Level{ades.LT, ades.LTA} {
		d := l.f.newDocument(l.f.Variants[0])
		d.sign(l, newSigner(l, l.ca, anHourAgo), level, s)
		l.add(fmt.Sprintf("%v, prepared OCSP answers", level), d)
	}
}

// preparedAnswers gives the answers of a source, whatever time is asked for.
type preparedAnswers struct{ source ades.Revocation }

func (p preparedAnswers) Revocation(ctx context.Context, certificate, issuer *x509.Certificate, _ time.Time) (ades.RevocationData, error) {
	return p.source.Revocation(ctx, certificate, issuer, time.Time{})
}

// testLevelsOverDays signs, extends and renews on different days. Revocation data of one day proves
// nothing about another: each signature and each renewal adds new data, so that the signatures pass
// on the day and later (EN 319 102-1 5.6, EN 319 142-1 5.5, EN 319 132-1 5.5.2).
func testLevelsOverDays(t *testing.T, f Format) {
	began := time.Now().Add(-10 * day)
	l := newFolder(t, f, began)
	for _, v := range f.Variants {
		l.addOverDays(v, newSigner(t, l.ca, began), began)
	}
	l.judge()
}

func (l *folder) addOverDays(v Variant, s signer, began time.Time) {
	sources := func(days int) ades.Sources { return l.ca.Sources(clock(time.Duration(days-10) * day)) }
	add := func(name string, days int, change ...func(d *document)) {
		d := l.f.newDocument(v)
		for _, c := range change {
			c(d)
		}
		l.add(name, d, began.Add(time.Duration(days)*day+time.Minute))
	}
	sign := func(level ades.Level, on ades.Sources) func(*document) {
		return func(d *document) { d.sign(l, s, level, on, began) }
	}
	extend := func(level ades.Level, days int) func(*document) {
		return func(d *document) { d.extend(l, level, sources(days)) }
	}
	renew := func(days int) func(*document) { return func(d *document) { d.renew(l, sources(days)) } }

	other := sources(5)
	other.Time = NewTimestampUnit(l, l.ca, clock(-5*day))
	add("LT", 0, sign(ades.LT, sources(0)))
	add("LT, and LT five days later", 5, sign(ades.LT, sources(0)), sign(ades.LT, sources(5)))
	add("LT, and LT with another timestamp authority", 5, sign(ades.LT, sources(0)), sign(ades.LT, other))
	add("LT, extended to LTA five days later", 5, sign(ades.LT, sources(0)), extend(ades.LTA, 5))
	add("LTA", 0, sign(ades.LTA, sources(0)))
	add("LTA, renewed after five and eight days", 8, sign(ades.LTA, sources(0)), renew(5), renew(8))
}
