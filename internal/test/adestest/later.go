package adestest

import (
	"context"
	"crypto"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"fmt"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/tsp"
	"github.com/innsigli/innsigli/internal/test/validators"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// testVerifyLater: years later the timestamps prove a signature, for as long as the certificate of
// the last one is valid (EN 319 102-1 5.6).
func testVerifyLater(t *testing.T, f Format) {
	ca := newAuthority(t, time.Now())
	archived := f.extend(t, f.signNew(t, newSigner(t, ca, time.Now()), ades.T), ades.LTA, ca.Sources(nil))
	for years, want := range map[int]outcome{
		0: f.passed(ades.LTA), 1: f.passed(ades.LTA), 4: f.passed(ades.LTA), 6: f.undecided(ades.LTA, ades.OutOfBoundsNoPOE),
	} {
		report := f.Verify(t, archived, ades.VerifyOptions{Roots: ca.Roots(), Time: time.Now().AddDate(years, 0, 0)})
		if got := report.Signatures[0]; outcomeOf(got) != want {
			t.Errorf("after %d years: %+v, want %+v: %q", years, outcomeOf(got), want, got.Problems)
		}
	}
}

// testVerifyExpiredResponder: where the certificate that signed the revocation data has expired, an
// archive timestamp has to prove that the data is from before (EN 319 102-1 5.6.2.3). EU DSS finds
// the same.
func testVerifyExpiredResponder(t *testing.T, f Format) {
	const ago = 40 * day // since the signature
	now := time.Now()
	signed := now.Add(-ago)
	stamping := newAuthority(t, signed.Add(-day))
	l := newFolder(t, f, now)
	roots := []*x509.Certificate{stamping.Root()}
	var paths, names []string
	var wants []outcome
	for _, row := range []struct {
		name      string
		began     time.Time // of the authority
		responder time.Time // when its responder got a certificate, for a year
		expires   int       // days from now until the signer's certificate expires
		want      ades.SubIndication
	}{
		{"all certificates are valid", now.AddDate(-5, 0, 0), now.AddDate(0, 0, -42), 100, ""},
		{"the signer's has expired", now.AddDate(-5, 0, 0), now.AddDate(0, 0, -42), -5, ""},
		{"the issuer's has expired", now.AddDate(-15, 0, -10), now.AddDate(0, 0, -42), -15, ""},
		{"the responder's has expired", now.AddDate(-5, 0, 0), now.AddDate(0, 0, -370), 100, ades.RevocationOutOfBoundsNoPOE},
		{"the responder's and the signer's have expired", now.AddDate(-5, 0, 0), now.AddDate(0, 0, -370), -5, ades.OutOfBoundsNoPOE},
	} {
		own, err := sandboxca.New(row.began)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := own.Renew(row.responder); err != nil {
			t.Fatal(err)
		}
		roots = append(roots, own.Root())
		sources := sourcesOf(clock(-ago), stamping, own)
		s := newSignerBetween(t, own, signed.Add(-day), now.AddDate(0, 0, row.expires))
		b := f.sign(t, f.Variants[0].Document, s, Options{Level: ades.LT, Time: signed}, sources.Time)
		for _, level := range []ades.Level{ades.LT, ades.LTA} {
			want := f.passed(level)
			if level == ades.LT && row.want != "" {
				want = f.undecided(level, row.want)
			}
			extended := f.extend(t, b, level, sources)
			got := f.Verify(t, extended, ades.VerifyOptions{Roots: sources.Roots}).Signatures[0]
			if outcomeOf(got) != want || got.BestTime.IsZero() {
				t.Errorf("%s: %+v, want %+v; best signature time %v: %q", row.name, outcomeOf(got), want, got.BestTime, got.Problems)
			}
			paths = append(paths, l.write(fmt.Sprint(len(paths)), extended))
			names, wants = append(names, row.name), append(wants, want)
		}
	}
	for i, r := range validators.DSS(t, validators.DSSOptions{Roots: roots}, paths...) {
		if len(r.Signatures) != 1 || r.Signatures[0].SubIndication != string(wants[i].SubIndication) {
			t.Errorf("%s: EU DSS: %+v, want %+v", names[i], r.Signatures, wants[i])
		}
	}
}

// testVerifyRoots: signers and timestamps have roots of their own, and without a root nothing is
// proven.
func testVerifyRoots(t *testing.T, f Format) {
	signing, stamping := newAuthority(t, time.Now()), newAuthority(t, time.Now())
	sources := sourcesOf(nil, stamping, signing)
	sources.Roots, sources.TimestampRoots = signing.Roots(), stamping.Roots()
	archived := f.sign(t, f.Variants[0].Document, newSigner(t, signing, time.Now()), Options{Level: ades.LTA}, sources.Time)
	archived = f.extend(t, archived, ades.LTA, sources)
	for name, row := range map[string]struct {
		signers, timestamps *x509.CertPool
		want                outcome
	}{
		"each its own":           {signing.Roots(), stamping.Roots(), f.passed(ades.LTA)},
		"exchanged":              {stamping.Roots(), signing.Roots(), f.undecided(ades.LTA, ades.NoCertificateChainFound)},
		"that of signers alone":  {signing.Roots(), nil, f.passed(ades.LTA)},
		"no root for timestamps": {signing.Roots(), x509.NewCertPool(), f.passed(ades.LTA)},
		"no roots":               {nil, nil, f.undecided(ades.LTA, ades.NoCertificateChainFound)},
	} {
		got := f.Verify(t, archived, ades.VerifyOptions{Roots: row.signers, TimestampRoots: row.timestamps}).Signatures[0]
		if outcomeOf(got) != row.want {
			t.Errorf("%s: %+v, want %+v: %q", name, outcomeOf(got), row.want, got.Problems)
		}
		trusted := row.timestamps.Equal(stamping.Roots())
		if len(got.Timestamps) != 2 || got.BestTime.IsZero() == trusted {
			t.Errorf("%s: %d timestamps, want 2; best signature time %v", name, len(got.Timestamps), got.BestTime)
		}
		for _, stamp := range got.Timestamps {
			if stamp.Trusted != trusted {
				t.Errorf("%s: timestamp trusted %v, want %v: %q", name, stamp.Trusted, trusted, stamp.Problems)
			}
		}
	}

	wrong := f.signNew(t, newSigner(t, stamping, time.Now()), ades.B)
	if _, _, err := f.Extend(t, wrong, ades.LT, sources); err == nil {
		t.Error("a signer below the root for timestamps reaches level LT")
	}
	report := f.Verify(t, wrong, ades.VerifyOptions{Roots: signing.Roots(), TimestampRoots: stamping.Roots()})
	if got, want := outcomeOf(report.Signatures[0]), f.undecided(ades.B, ades.NoCertificateChainFound); got != want {
		t.Errorf("a signer below the root for timestamps: %+v, want %+v", got, want)
	}
}

// authorities ask the issuer of each certificate.
type authorities struct {
	all []*sandboxca.Authority
	at  func() time.Time
}

// sourcesOf returns the timestamps of one authority, and revocation data and issuers of all.
func sourcesOf(at func() time.Time, stamping *sandboxca.Authority, others ...*sandboxca.Authority) ades.Sources {
	a := authorities{append(others, stamping), at}
	s := ades.Sources{Time: stamping.Sources(at).Time, Revocation: a, Issuers: a, Roots: x509.NewCertPool()}
	for _, ca := range a.all {
		s.Roots.AddCert(ca.Root())
	}
	return s
}

func (a authorities) of(certificate *x509.Certificate) ades.Sources {
	for _, ca := range a.all {
		for _, issuer := range append(ca.Chain(), ca.Root()) {
			if certificate.CheckSignatureFrom(issuer) == nil {
				return ca.Sources(a.at)
			}
		}
	}
	return a.all[0].Sources(a.at)
}

func (a authorities) Revocation(ctx context.Context, certificate, issuer *x509.Certificate, notBefore time.Time) (ades.RevocationData, error) {
	return a.of(certificate).Revocation.Revocation(ctx, certificate, issuer, notBefore)
}

func (a authorities) Issuers(ctx context.Context, certificate *x509.Certificate) ([]*x509.Certificate, error) {
	return a.of(certificate).Issuers.Issuers(ctx, certificate)
}

// timestampUnit is a timestamp authority with a certificate of its own.
type timestampUnit struct {
	tsp.Unit
	at func() time.Time
}

func (u timestampUnit) Timestamp(_ context.Context, h crypto.Hash, sum []byte) ([]byte, error) {
	return u.Create(tsp.Request{Hash: h, Sum: sum, Certificates: true}, u.at())
}

// NewTimestampUnit returns a timestamp authority with a certificate of an authority. More
// extensions make the certificate, and so the tokens, longer.
func NewTimestampUnit(t testing.TB, ca *sandboxca.Authority, at func() time.Time, more ...pkix.Extension) ades.Timestamper {
	t.Helper()
	purpose, err := asn1.Marshal([]asn1.ObjectIdentifier{{1, 3, 6, 1, 5, 5, 7, 3, 8}}) // id-kp-timeStamping
	if err != nil {
		t.Fatal(err)
	}
	key := newKey(t)
	certificate, err := ca.IssueProfile(&x509.Certificate{
		Subject: pkix.Name{CommonName: "Another TSA"}, NotBefore: at().Add(-day), NotAfter: at().Add(365 * day),
		KeyUsage: x509.KeyUsageDigitalSignature, BasicConstraintsValid: true,
		ExtraExtensions: append(more, pkix.Extension{Id: asn1.ObjectIdentifier{2, 5, 29, 37}, Critical: true, Value: purpose}),
	}, key.Public())
	if err != nil {
		t.Fatal(err)
	}
	return timestampUnit{tsp.Unit{Certificate: certificate, Chain: ca.Chain(), Key: key, Policy: asn1.ObjectIdentifier{2, 999, 1}}, at}
}
