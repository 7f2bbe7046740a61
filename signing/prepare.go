package signing

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/internal/evidence"
	"github.com/innsigli/innsigli/pades"
)

// prepare makes the document ready to be signed with the certificate. What keeps
// it from being signed, in the document or in the certificate, is the failure.
func (t *turn) prepare(ctx context.Context, need idp.NeedDigest) (*pades.Pending, *idp.Failure, error) {
	traits, options := t.traits(), pades.Options{
		Reason:   t.r.Text.Reason,
		Location: t.r.Place,
		Time:     time.Now(),
		Level:    t.r.Level,
	}
	if p := t.prepared(need.Certificate); p != nil {
		return p, nil, nil
	}
	signer := ades.Signer{Certificate: need.Certificate, Algorithm: traits.Algorithm}
	if !traits.CMS {
		chain, f, err := t.checkCertificate(ctx, need.Certificate, need.Chain, t.options.Sources(), options.Time)
		if f != nil || err != nil {
			return nil, f, err
		}
		signer.Chain, options.Name = chain[1:], need.Certificate.Subject.CommonName
	}
	blob, err := t.documents.Open(ctx, t.r.Document)
	if err != nil {
		return nil, nil, fmt.Errorf("signing: opening the document: %w", err)
	}
	defer blob.Close()
	if options.Visible, err = t.visible(ctx, need.Certificate, options); err != nil {
		return nil, nil, err
	}
	var pending *pades.Pending
	if traits.CMS {
		pending, err = pades.PrepareCMS(ctx, document(blob), traits.Algorithm.Hash, options)
	} else {
		pending, err = pades.Prepare(ctx, document(blob), signer, options)
	}
	if f := documentFailure(err); f != nil {
		return nil, f, nil
	}
	if errors.Is(err, ades.ErrAlgorithm) {
		return nil, &idp.Failure{Code: idp.CertificateValidationError, Description: "The certificate's key cannot be used."}, nil
	}
	return pending, nil, err
}

// prepared is what was prepared for the certificate already: whoever is asked again is asked
// the same, so that the code on the phone is the one before.
func (t *turn) prepared(cert *x509.Certificate) *pades.Pending {
	p := new(pades.Pending)
	if t.r.Pending == nil || p.UnmarshalBinary(t.r.Pending) != nil || !p.Signer().Certificate.Equal(cert) {
		return nil
	}
	return p
}

// traits are those of the request's method.
func (t *turn) traits() idp.Traits { return t.provider.Traits(t.r.Person.Method) }

// highest is the highest level that a method allows: a CMS that is made on the phone is no
// baseline signature, and is not raised.
func (s *Service) highest(m idp.Method) ades.Level {
	if s.provider.Traits(m).CMS {
		return ades.B
	}
	return ades.LTA
}

// checkCertificate says what is wrong with a signer's certificate (decisions.md 4.9), or
// returns its chain to a root: over the certificates that came with it, or else those that
// the sources find. The error is ades.ErrUnavailable: one of them is down.
func (t *turn) checkCertificate(ctx context.Context, cert *x509.Certificate, further []*x509.Certificate, sources ades.Sources, now time.Time) ([]*x509.Certificate, *idp.Failure, error) {
	if cert == nil {
		return nil, &idp.Failure{Code: idp.CertificateNotFound, Description: "The identity provider gave no certificate."}, nil
	}
	if !t.traits().ByPhone && idp.Kennitala(cert) != t.r.Person.Kennitala {
		return nil, &idp.Failure{Code: idp.CertificateValidationError, Description: "The certificate is another person's."}, nil
	}
	chain, err := evidence.FindChain(ctx, sources, evidence.NewKnown(ctx, sources, further...), cert, now)
	switch {
	case errors.Is(err, ades.ErrUnavailable):
		return nil, nil, err
	case err != nil:
		return nil, &idp.Failure{Code: idp.CertificateValidationError, Description: "The certificate does not lead to a trusted root."}, nil
	}
	return chain, nil, nil
}

// documentFailure is what a document that cannot be signed is answered with
// (decisions.md 4.11).
func documentFailure(err error) *idp.Failure {
	f := &idp.Failure{Code: idp.UnableToHandleGivenData, OAuth: "invalid_request"}
	switch {
	case errors.Is(err, pades.ErrEncrypted):
		f.Description = "The document is encrypted and does not open without a password or key."
	case errors.Is(err, pades.ErrForbidden):
		f.Description = "The document does not allow signatures."
	case errors.Is(err, pades.ErrBroken):
		f.Description = "The last signature in the document is broken."
	case errors.Is(err, pades.ErrUnreadable):
		f.Description = "The document is not a readable PDF."
	case errors.Is(err, pades.ErrAppearance):
		f.Description = "The stamp cannot be drawn."
	default:
		return nil
	}
	return f
}
