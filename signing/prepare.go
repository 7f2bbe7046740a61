package signing

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/internal/pki/validation"
)

// prepare makes the document ready to be signed with the certificate. What keeps
// it from being signed, in the document or in the certificate, is the failure.
func (t *turn) prepare(ctx context.Context, need idp.NeedDigest) (preparation, *idp.Failure, error) {
	if p := t.prepared(need.Certificate); p != nil {
		return p, nil, nil
	}
	traits, at := t.traits(), time.Now()
	signer := ades.SignerIdentity{Certificate: need.Certificate, Algorithm: traits.Algorithm}
	if !traits.CMS {
		chain, f, err := t.checkCertificate(ctx, need.Certificate, need.Chain, t.options.Sources(), at)
		if f != nil || err != nil {
			return nil, f, err
		}
		signer.Chain = chain[1:]
	}
	blob, err := t.documents.Open(ctx, t.r.Document)
	if err != nil {
		return nil, nil, fmt.Errorf("signing: opening the document: %w", err)
	}
	defer blob.Close()
	format := t.r.format()
	p, err := format.prepare(ctx, t, blob, signer, at)
	if f := format.failure(err); f != nil {
		return nil, f, nil
	}
	if errors.Is(err, ades.ErrAlgorithm) {
		return nil, &idp.Failure{Code: idp.CertificateValidationError, Description: "The certificate's key cannot be used."}, nil
	}
	return p, nil, err
}

// prepared is what was prepared for the certificate already: whoever is asked again is asked
// the same, so that the code on the phone is the one before.
func (t *turn) prepared(cert *x509.Certificate) preparation {
	if t.r.Pending == nil {
		return nil
	}
	p, err := t.r.format().read(t.r.Pending)
	if err != nil || !p.Signer().Certificate.Equal(cert) {
		return nil
	}
	return p
}

// traits are those of the request's method.
func (t *turn) traits() idp.Traits { return t.provider.Traits(t.r.Person.Method) }

// allows says whether the method is one for the start's document and level. A CMS that is made on
// the phone goes into a PDF alone; it is no baseline signature, and is not raised. An order appends to a
// document that stays its owner's, as signing XML does not.
func (s *Service) allows(in Start) error {
	cms := s.provider.Traits(in.Person.Method).CMS
	switch {
	case in.Format != PDF && (cms || in.Order != nil):
		return ErrFormat
	case cms && in.Level > ades.B:
		return ErrLevel
	}
	return nil
}

// checkCertificate says what is wrong with a signer's certificate (spec 3.8), or
// returns its chain to a root: over the certificates that came with it, or else those that
// the sources find. The error is ades.ErrUnavailable: one of them is down.
func (t *turn) checkCertificate(ctx context.Context, cert *x509.Certificate, further []*x509.Certificate, sources ades.Sources, now time.Time) ([]*x509.Certificate, *idp.Failure, error) {
	if cert == nil {
		return nil, &idp.Failure{Code: idp.CertificateNotFound, Description: "The identity provider gave no certificate."}, nil
	}
	if !t.traits().ByPhone && idp.Kennitala(cert) != t.r.Person.Kennitala {
		return nil, &idp.Failure{Code: idp.CertificateValidationError, Description: "The certificate is another person's."}, nil
	}
	if ades.CheckPurpose(cert) != nil || !ades.AllowsNonRepudiation(cert) && !t.options.AllowDigitalSignature {
		return nil, &idp.Failure{Code: idp.CertificateValidationError, Description: "The certificate is not for signing documents."}, nil
	}
	chain, err := validation.FindChain(ctx, sources, validation.NewKnown(ctx, sources, further...), cert, now)
	switch {
	case errors.Is(err, ades.ErrUnavailable):
		return nil, nil, err
	case err != nil:
		return nil, &idp.Failure{Code: idp.CertificateValidationError, Description: "The certificate does not lead to a trusted root."}, nil
	}
	return chain, nil, nil
}

// cannotSign is what a document that cannot be signed is answered with (spec 3.10).
func cannotSign(why string) *idp.Failure {
	return &idp.Failure{Code: idp.UnableToHandleGivenData, OAuth: "invalid_request", Description: why}
}
