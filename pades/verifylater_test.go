package pades_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/tsp"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/internal/test/validators"
	"github.com/innsigli/innsigli/pades"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

const day = 24 * time.Hour

// sinceNow is a clock that is off by so much.
func sinceNow(d time.Duration) func() time.Time {
	return func() time.Time { return time.Now().Add(d) }
}

// signAt signs with sources that have a time of their own, and claims one if that is given.
func signAt(t testing.TB, b []byte, p person, level ades.Level, s ades.Sources, claimed ...time.Time) []byte {
	t.Helper()
	o := pades.Options{Level: level}
	for _, at := range claimed {
		o.Time = at
	}
	pending, err := pades.Prepare(t.Context(), document(b), p.signer, o)
	if err != nil {
		t.Fatal(err)
	}
	r, err := pending.Sign(t.Context(), p.key, s.Time)
	if err != nil {
		t.Fatal(err)
	}
	return appendAll(t, b, []pades.Revision{r})
}

// tenDaysAgo is a person whose authority began then, and is asked on some day since.
func tenDaysAgo(t *testing.T) (p person, on func(days int) ades.Sources) {
	t.Helper()
	start := time.Now().Add(-10 * day)
	ca, err := sandboxca.New(start)
	if err != nil {
		t.Fatal(err)
	}
	key := p256(t)
	cert, err := ca.Issue("Dæmi um nafn", "1203894569", key.Public(), start)
	if err != nil {
		t.Fatal(err)
	}
	return person{ades.Signer{Certificate: cert, Chain: ca.Chain()}, key, ca},
		func(days int) ades.Sources { return ca.Sources(sinceNow(time.Duration(days-10) * day)) }
}

// unitOf is another timestamp authority of the same issuer.
type unitOf struct {
	tsp.Unit
	clock func() time.Time
}

func (u unitOf) Timestamp(_ context.Context, h crypto.Hash, sum []byte) ([]byte, error) {
	return u.Create(tsp.Request{Hash: h, Sum: sum, Certificates: true}, u.clock())
}

func otherUnit(t *testing.T, ca *sandboxca.Authority, clock func() time.Time) unitOf {
	t.Helper()
	purpose, err := asn1.Marshal([]asn1.ObjectIdentifier{{1, 3, 6, 1, 5, 5, 7, 3, 8}})
	if err != nil {
		t.Fatal(err)
	}
	key := p256(t)
	cert, err := ca.IssueProfile(&x509.Certificate{
		Subject: pkix.Name{CommonName: "Another TSA"}, NotBefore: clock().Add(-day), NotAfter: clock().Add(365 * day),
		KeyUsage: x509.KeyUsageDigitalSignature, BasicConstraintsValid: true,
		ExtraExtensions: []pkix.Extension{{Id: asn1.ObjectIdentifier{2, 5, 29, 37}, Critical: true, Value: purpose}},
	}, key.Public())
	if err != nil {
		t.Fatal(err)
	}
	return unitOf{tsp.Unit{Certificate: cert, Chain: ca.Chain(), Key: key, Policy: asn1.ObjectIdentifier{2, 999, 1}}, clock}
}

// A proof of one day says nothing about another: whoever signs later, and each renewal,
// brings proofs of its own, so that all is proven then as now, to us and to EU DSS.
func TestProofsOfTheirDay(t *testing.T) {
	p, on := tenDaysAgo(t)
	last := func(b []byte, s ades.Sources) []byte {
		b = signAt(t, b, p, ades.LT, s)
		revisions, err := pades.Extender{Sources: s}.ExtendLast(t.Context(), document(b), ades.LT)
		if err != nil {
			t.Fatal(err)
		}
		return appendAll(t, b, revisions)
	}
	otherTSA := on(5)
	otherTSA.Time = otherUnit(t, p.ca, sinceNow(-5*day))
	blank := pdftest.Build(pdftest.Options{})
	first := last(blank, on(0))
	archived := extend(t, signAt(t, blank, p, ades.LTA, on(0)), ades.LTA, on(0))
	renewed := renew(t, archived, on(5))
	var files []levelFile
	for _, row := range []struct {
		name   string
		days   int
		b      []byte
		levels []ades.Level
		stamps int
	}{
		{"LT", 0, first, []ades.Level{ades.LT}, 0},
		{"LT and LT later", 5, last(first, on(5)), []ades.Level{ades.LT, ades.LT}, 0},
		{"LT and LT later, by another TSA", 5, last(first, otherTSA), []ades.Level{ades.LT, ades.LT}, 0},
		{"LT and LTA later", 5, extend(t, first, ades.LTA, on(5)), []ades.Level{ades.LTA}, 1},
		{"LTA", 0, archived, []ades.Level{ades.LTA}, 1},
		{"LTA renewed", 5, renewed, []ades.Level{ades.LTA}, 2},
		{"LTA renewed twice", 8, renew(t, renewed, on(8)), []ades.Level{ades.LTA}, 3},
	} {
		f := levelFile{name: row.name, path: filepath.Join(t.TempDir(), "signed.pdf"), levels: row.levels, stamps: row.stamps}
		writeFile(t, f.path, row.b)
		files = append(files, f)
		for _, at := range []time.Time{time.Now().Add(time.Duration(row.days-10)*day + time.Minute), time.Now()} {
			f.check(t, row.b, ades.VerifyOptions{Roots: p.ca.Roots(), Time: at})
		}
	}
	judgeByDSS(t, files, validators.DSSOptions{Roots: []*x509.Certificate{p.ca.Root()}})
}

// check expects signatures that pass, with timestamps that are all trusted.
func (f levelFile) check(t *testing.T, b []byte, options ades.VerifyOptions) {
	t.Helper()
	report, err := pades.Verify(t.Context(), document(b), options)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range report.Signatures {
		if s.Format != "PAdES-BASELINE-"+f.levels[i].String() || s.Indication != ades.TotalPassed {
			t.Errorf("%s at %v: %s %s %s %v", f.name, options.Time, s.Format, s.Indication, s.SubIndication, s.Problems)
		}
		for _, stamp := range s.Timestamps {
			if !stamp.Trusted {
				t.Errorf("%s at %v: timestamp of %v: %v", f.name, options.Time, stamp.Time, stamp.Problems)
			}
		}
	}
}

// What an authority says of a certificate that expired is not that it was not revoked.
func TestExtendAfterTheSignersCertificateExpired(t *testing.T) {
	p, on := tenDaysAgo(t)
	cert, err := p.ca.IssueProfile(&x509.Certificate{
		Subject: pkix.Name{CommonName: "Short"}, NotBefore: time.Now().Add(-11 * day), NotAfter: time.Now().Add(-9 * day),
		KeyUsage: x509.KeyUsageContentCommitment, BasicConstraintsValid: true,
	}, p.key.Public())
	if err != nil {
		t.Fatal(err)
	}
	p.signer.Certificate = cert
	b := signAt(t, pdftest.Build(pdftest.Options{}), p, ades.LT, on(0), cert.NotAfter)
	if _, err := (pades.Extender{Sources: on(5)}).Extend(t.Context(), document(b), ades.LT); !errors.Is(err, ades.ErrNoRevocation) {
		t.Errorf("extended on day 5: %v", err)
	}
	extended := extend(t, b, ades.LT, on(0))
	levelFile{name: "extended in time", levels: []ades.Level{ades.LT}}.check(t, extended, ades.VerifyOptions{Roots: p.ca.Roots()})
	if revisions, err := (pades.Extender{Sources: on(5)}).Extend(t.Context(), document(extended), ades.LT); err != nil || len(revisions) > 0 {
		t.Errorf("and again: %d revisions, %v", len(revisions), err)
	}
}

// What is no timestamp raises no level (EN 319 142-1 6.3), as EU DSS has it.
func TestLevelOfBrokenTimestamps(t *testing.T) {
	p := newPerson(t, newAuthority(t), p256(t))
	b := signLevel(t, pdftest.Build(pdftest.Options{}), p, ades.LT)
	stamped := extend(t, b, ades.LTA, p.ca.Sources(nil))
	token := contentsOf.FindSubmatchIndex(stamped[len(b):])
	if token == nil {
		t.Fatal("no document timestamp")
	}
	garbage, beyond := bytes.Clone(stamped), bytes.Clone(stamped)
	copy(garbage[len(b)+token[2]:], bytes.Repeat([]byte("ab"), (token[3]-token[2])/2))
	at := len(b) + bytes.Index(stamped[len(b):], []byte("/ByteRange ["))
	copy(beyond[at:], bytes.Replace(beyond[at:at+13], []byte("[0"), []byte("[1"), 1))
	path := filepath.Join(t.TempDir(), "garbage.pdf")
	writeFile(t, path, garbage)
	theirs := validators.DSS(t, validators.DSSOptions{Roots: []*x509.Certificate{p.ca.Root()}}, path)[0]
	if len(theirs.Signatures) != 1 || theirs.Signatures[0].Format != "PAdES-BASELINE-LT" {
		t.Errorf("EU DSS: %+v", theirs)
	}
	for name, broken := range map[string][]byte{"garbage": garbage, "another ByteRange": beyond} {
		if s := verify(t, broken, p.ca)[0]; s.Format != "PAdES-BASELINE-LT" || s.Indication != ades.TotalPassed {
			t.Errorf("%s: %s %s %v", name, s.Format, s.Indication, s.Problems)
		}
	}
}
