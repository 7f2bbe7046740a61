package signing

import (
	"context"
	"crypto/x509"
	"errors"
	"slices"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/internal/pki/validation"
)

// prove makes what the level asks for beside the signature, and sees to it that the
// signer's certificate is not revoked at any level.
func (t *turn) prove(ctx context.Context, d draft, signer ades.SignerIdentity, sources ades.Sources) error {
	if t.r.Level >= ades.T { // a token that was too long for the signature stands beside it
		if err := d.extend(ctx, t.r.Level, sources); err != nil {
			return err
		}
	}
	if t.r.Level >= ades.LT {
		return nil
	}
	return checkRevocation(ctx, signer, sources)
}

// checkRevocation asks about the certificates below the root, about the signer's anew. The
// document carries none of it: whoever validates it asks again, so that any answer of now
// will do, and a revocation counts until the document is delivered. Without a source it
// cannot ask: that is an operator's choice, and level LT is not to be had then.
func checkRevocation(ctx context.Context, signer ades.SignerIdentity, sources ades.Sources) error {
	if sources.Revocation == nil {
		return nil
	}
	sources.Revocation = anew{sources.Revocation, signer.Certificate}
	_, err := validation.Collect(ctx, sources, validation.NewKnown(ctx, sources, signer.Chain...), validation.Target{Certificate: signer.Certificate})
	return err
}

// anew asks about one certificate past every cache.
type anew struct {
	source ades.Revocation
	about  *x509.Certificate
}

// Revocation implements [ades.Revocation].
func (a anew) Revocation(ctx context.Context, cert, issuer *x509.Certificate, notBefore time.Time) (ades.RevocationData, error) {
	if cert.Equal(a.about) {
		notBefore = cert.NotBefore // and so is every proof about it
	}
	return a.source.Revocation(ctx, cert, issuer, notBefore)
}

// revoked is the failure of a signer whose certificate is revoked, or that of an authority
// in its chain. A revoked certificate of another chain is not the signer's fault, and no
// failure.
func revoked(err error, chain []*x509.Certificate) *idp.Failure {
	var r *ades.RevokedError
	switch {
	case !errors.As(err, &r):
		return nil
	case r.Certificate.Equal(chain[0]):
		return &idp.Failure{Code: idp.CertificateIsRevoked, Description: "The certificate is revoked."}
	case isAbove(r.Certificate, chain):
		return &idp.Failure{Code: idp.CertificateValidationError, Description: "The certificate of the certificate's issuer is revoked."}
	}
	return nil
}

// isAbove says whether an authority's certificate is in a chain or stands for one that is:
// an authority may have several under one key, and another may have been found on the way.
func isAbove(authority *x509.Certificate, chain []*x509.Certificate) bool {
	return slices.ContainsFunc(chain, func(c *x509.Certificate) bool { return ades.CheckIssuer(c, authority) == nil })
}
