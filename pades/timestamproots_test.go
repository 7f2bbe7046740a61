package pades_test

import (
	"context"
	"crypto/x509"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// twoAuthorities answer for the certificates that each issued.
type twoAuthorities struct{ signers, timestamps *sandboxca.Authority }

func (a twoAuthorities) Revocation(ctx context.Context, cert, issuer *x509.Certificate, notBefore time.Time) (ades.RevocationData, error) {
	for _, ca := range []*sandboxca.Authority{a.signers, a.timestamps} {
		if issuer.Equal(ca.Root()) || issuer.Equal(ca.Chain()[0]) {
			return ca.Sources(nil).Revocation.Revocation(ctx, cert, issuer, notBefore)
		}
	}
	return ades.RevocationData{}, ades.ErrNoRevocation
}

// A root for timestamps is none for signers, and the other way round.
func TestTimestampRoots(t *testing.T) {
	t.Parallel()
	a := twoAuthorities{newAuthority(t), newAuthority(t)}
	sources := ades.Sources{
		Time: a.timestamps.Sources(nil).Time, Revocation: a, Issuers: ades.IssuersInOrder{ades.NewPool(a.timestamps.Chain()...)},
		Roots: a.signers.Roots(), TimestampRoots: a.timestamps.Roots(),
	}
	p := newPerson(t, a.signers, p256(t))
	pending, err := pades.Prepare(t.Context(), document(pdftest.Build(pdftest.Options{})), p.signer, pades.Options{Level: ades.LTA})
	if err != nil {
		t.Fatal(err)
	}
	r, err := pending.Sign(t.Context(), p.key, sources.Time)
	if err != nil {
		t.Fatal(err)
	}
	signed := appendAll(t, pdftest.Build(pdftest.Options{}), []pades.Revision{r})
	archived := extend(t, signed, ades.LTA, sources)
	for name, row := range map[string]struct {
		signers, timestamps *x509.CertPool
		want                ades.SubIndication
	}{
		"each its own":                  {a.signers.Roots(), a.timestamps.Roots(), ""},
		"exchanged":                     {a.timestamps.Roots(), a.signers.Roots(), ades.NoCertificateChainFound},
		"that of the signers alone":     {a.signers.Roots(), nil, ""},
		"no timestamp is to be trusted": {a.signers.Roots(), x509.NewCertPool(), ""},
	} {
		report, err := pades.Verify(t.Context(), document(archived), ades.VerifyOptions{Roots: row.signers, TimestampRoots: row.timestamps})
		if err != nil {
			t.Fatal(err)
		}
		s := report.Signatures[0]
		if s.SubIndication != row.want {
			t.Errorf("%s: %s %s %v", name, s.Indication, s.SubIndication, s.Problems)
		}
		for _, stamp := range s.Timestamps {
			if stamp.Trusted != (row.timestamps != nil && row.timestamps.Equal(a.timestamps.Roots())) {
				t.Errorf("%s: timestamp trusted %t, %v", name, stamp.Trusted, stamp.Problems)
			}
		}
	}

	// The root of the timestamps does not vouch for a signer.
	stranger := newPerson(t, a.timestamps, p256(t))
	b := sign(t, pdftest.Build(pdftest.Options{}), stranger, pades.Options{})
	if _, err := (pades.Extender{Sources: sources}).Extend(t.Context(), document(b), ades.LT); err == nil {
		t.Error("a signer below the root for timestamps reached level LT")
	}
	report, err := pades.Verify(t.Context(), document(b), ades.VerifyOptions{Roots: a.signers.Roots(), TimestampRoots: a.timestamps.Roots()})
	if err != nil || report.Signatures[0].SubIndication != ades.NoCertificateChainFound {
		t.Errorf("%+v, %v", report, err)
	}
}
