package pades_test

import (
	"context"
	"crypto/x509"
	"crypto/x509/pkix"
	"path/filepath"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/internal/test/validators"
	"github.com/innsigli/innsigli/pades"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// either asks the authority that issued a certificate.
type either struct {
	own, other *sandboxca.Authority
	clock      func() time.Time
}

func (e either) of(cert *x509.Certificate) ades.Sources {
	for _, issuer := range append(e.own.Chain(), e.own.Root()) {
		if cert.CheckSignatureFrom(issuer) == nil {
			return e.own.Sources(e.clock)
		}
	}
	return e.other.Sources(e.clock)
}

func (e either) Revocation(ctx context.Context, cert, issuer *x509.Certificate, notBefore time.Time) (ades.RevocationData, error) {
	return e.of(cert).Revocation.Revocation(ctx, cert, issuer, notBefore)
}

func (e either) Issuers(ctx context.Context, cert *x509.Certificate) ([]*x509.Certificate, error) {
	return e.of(cert).Issuers.Issuers(ctx, cert)
}

// EN 319 102-1 5.6.2.3: when who signed the revocation data has expired, the data has to be known from before,
// by a document timestamp. EU DSS judges alike.
func TestEvidenceOfTheExpired(t *testing.T) {
	t.Parallel()
	now := time.Now()
	signed := now.Add(-40 * day)
	stamping, err := sandboxca.New(signed.Add(-day))
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	var wants []ades.SubIndication
	roots := []*x509.Certificate{stamping.Root()}
	for _, test := range []struct {
		name        string
		years, days int                // since the authority began
		renewed     int                // days since its responder got a certificate, for a year
		lasting     int                // days that the signer's certificate lasts
		want        ades.SubIndication // at level LT
	}{
		{"all in force", 5, 0, 42, 100, ""},
		{"signer expired", 5, 0, 42, -5, ""},
		{"issuer expired, and its responder has not", 15, 10, 42, -15, ""},
		{"responder expired", 5, 0, 370, 100, ades.RevocationOutOfBoundsNoPOE},
		{"responder and signer expired", 5, 0, 370, -5, ades.OutOfBoundsNoPOE},
	} {
		own, err := sandboxca.New(now.AddDate(-test.years, 0, -test.days))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := own.Renew(now.AddDate(0, 0, -test.renewed)); err != nil {
			t.Fatal(err)
		}
		p := person{key: p256(t), ca: own}
		p.signer.Chain = own.Chain()
		p.signer.Certificate, err = own.IssueProfile(&x509.Certificate{
			Subject: pkix.Name{CommonName: "Short"}, NotBefore: signed.Add(-day), NotAfter: now.AddDate(0, 0, test.lasting),
			KeyUsage: x509.KeyUsageContentCommitment, BasicConstraintsValid: true,
		}, p.key.Public())
		if err != nil {
			t.Fatal(err)
		}
		roots = append(roots, own.Root())
		asked := either{own, stamping, sinceNow(-40 * day)}
		sources := ades.Sources{Time: stamping.Sources(asked.clock).Time, Revocation: asked, Issuers: asked, Roots: x509.NewCertPool()}
		sources.Roots.AddCert(own.Root())
		sources.Roots.AddCert(stamping.Root())
		b := signOn(t, signed, p, sources)
		for level, want := range map[ades.Level]ades.SubIndication{ades.LT: test.want, ades.LTA: ""} {
			b := extend(t, b, level, sources)
			report, err := pades.Verify(t.Context(), document(b), ades.VerifyOptions{Roots: sources.Roots})
			if err != nil {
				t.Fatal(err)
			}
			if got := report.Signatures[0]; got.SubIndication != want || got.BestTime.IsZero() {
				t.Errorf("%s, %v: %s %s %q, want %s", test.name, level, got.Indication, got.SubIndication, got.Problems, want)
			}
			path := filepath.Join(t.TempDir(), "signed.pdf")
			writeFile(t, path, b)
			files, wants = append(files, path), append(wants, want)
		}
	}
	for i, theirs := range validators.DSS(t, validators.DSSOptions{Roots: roots}, files...) {
		if len(theirs.Signatures) != 1 || theirs.Signatures[0].SubIndication != string(wants[i]) {
			t.Errorf("file %d: EU DSS says %+v, want %s", i, theirs.Signatures, wants[i])
		}
	}
}

// signOn signs, and claims the time.
func signOn(t *testing.T, at time.Time, p person, s ades.Sources) []byte {
	t.Helper()
	blank := pdftest.Build(pdftest.Options{})
	pending, err := pades.Prepare(t.Context(), document(blank), p.signer, pades.Options{Level: ades.LT, Time: at})
	if err != nil {
		t.Fatal(err)
	}
	r, err := pending.Sign(t.Context(), p.key, s.Time)
	if err != nil {
		t.Fatal(err)
	}
	return appendAll(t, blank, []pades.Revision{r})
}
