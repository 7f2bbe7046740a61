package adestest

import (
	"crypto"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/internal/test/validators"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// SignOptions has an authority answer over HTTP, and returns how other software signs with a key
// that it certifies.
func SignOptions(t testing.TB, ca *sandboxca.Authority, key crypto.Signer) validators.SignOptions {
	t.Helper()
	url := catest.Serve(t, ca)
	certificate, err := ca.Issue("Dæmi um nafn", "1203894569", key.Public(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return validators.SignOptions{
		Key: key, Certificate: certificate, Chain: ca.Chain(), Root: ca.Root(), TSA: url + sandboxca.PathTimestamp,
	}
}

// testOtherSoftware: a signature that other software made at any level is extended to LTA, or
// renewed at that, and signed again; EU DSS extends signatures of the format. All validators find
// what one program alone would have made.
func testOtherSoftware(t *testing.T, f Format) {
	l := newFolder(t, f, time.Now())
	o := SignOptions(t, l.ca, newKey(t))
	for program, sign := range f.Signers {
		t.Run(program+" signs", func(t *testing.T) {
			for _, o.Packaging = range f.Packagings {
				for _, level := range Levels {
					o.Level = level.String()
					l.addSignedBy(t, program, sign, o, level)
				}
			}
		})
	}
	t.Run("EU DSS extends", func(t *testing.T) {
		o.Level, o.Packaging = ades.LTA.String(), f.Packagings[0]
		for i, v := range f.Variants {
			if i == 0 || !f.DocumentTimestamps { // in PDF, EU DSS gives a wrong file with cross-reference streams
				l.addExtendedByDSS(t, v, i, o)
			}
		}
	})
	l.judge()
}

// addSignedBy adds documents that a program signed at a level, renewed.
func (l *folder) addSignedBy(t *testing.T, program string, sign func(testing.TB, validators.SignOptions, ...string) []validators.SignedFile, o validators.SignOptions, level ades.Level) {
	t.Helper()
	seen := make(map[string]bool) // documents of several variants
	for i, v := range l.f.Variants {
		if seen[string(v.Document)] || level != ades.LT && i > 0 && !testenv.Full() {
			continue
		}
		seen[string(v.Document)] = true
		signed := sign(t, o, l.write(fmt.Sprintf("blank %d", i), v.Document))[0]
		d := &document{Format: l.f, variant: v, content: testenv.ReadFile(t, signed.Path), signatures: []signature{{level: level}}}
		if level == ades.LTA {
			if d.signatures[0].archives = 1; l.f.DocumentTimestamps {
				d.signatures[0].archives, d.timestamps = 0, 1
			}
		}
		name := strings.TrimSpace(o.Packaging + " " + level.String() + " by " + program)
		if got := l.f.verify(t, d.content, l.ca).Signatures[0].Format; got != l.f.format(level) {
			t.Errorf("%s: signed as %s", name, got)
		}
		d.renew(t, l.ca.Sources(nil))
		l.addFrom(signed.Path, name+", renewed", d)
		if o.Packaging != "ENVELOPING" {
			d.sign(t, newSigner(t, l.ca, time.Now()), ades.LTA, l.ca.Sources(nil))
			l.addFrom(signed.Path, name+", renewed, then LTA", d)
		}
	}
}

// addFrom adds a document with the file that it was before the other software extended it.
func (l *folder) addFrom(origin, name string, d *document) {
	l.add(name, d)
	last := &l.files[len(l.files)-1]
	last.Origin = l.write("origin of "+fmt.Sprintf("%03d", len(l.files)-1), testenv.ReadFile(l, origin))
}

// addExtendedByDSS adds documents of each level that EU DSS extended to LTA.
func (l *folder) addExtendedByDSS(t *testing.T, v Variant, number int, o validators.SignOptions) {
	t.Helper()
	levels := Levels
	if l.f.DocumentTimestamps {
		levels = Levels[1:] // EU DSS would put a signature timestamp where no space is reserved
	}
	for _, level := range levels {
		d := l.f.newDocument(v)
		d.sign(t, newSigner(t, l.ca, time.Now()), level, l.ca.Sources(nil))
		path := l.write(fmt.Sprintf("%d at %v", number, level), d.content)
		extended := validators.DSSExtend(t, o, path)[0]
		d.content = testenv.ReadFile(t, extended.Path)
		d.extended(ades.LTA, true)
		l.addFrom(path, level.String()+" extended by EU DSS", d)
	}
}
