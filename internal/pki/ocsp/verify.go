package ocsp

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"fmt"
	"slices"

	"github.com/innsigli/innsigli/ades"
)

// Verify checks the signature and that who made it may answer for the issuer: the
// issuer itself, or a responder that the issuer certified for that and nobody
// between them (RFC 6960 4.2.2.2). The certificate of who made it has to be valid
// at ProducedAt. It returns that certificate.
//
// The errors are [ErrResponder], [ades.ErrValue] when the signature does not
// verify, [ades.ErrAlgorithm] when its algorithm is not accepted, and
// [ades.ErrOutsideValidity].
func (r *Response) Verify(issuer *x509.Certificate) (responder *x509.Certificate, err error) {
	return r.VerifyWith(issuer, ades.CheckIssuer)
}

// VerifyWith is [Response.Verify] for who remembers the authorities that [ades.CheckIssuer]
// was asked about.
func (r *Response) VerifyWith(issuer *x509.Certificate, checkIssuer func(cert, issuer *x509.Certificate) error) (responder *x509.Certificate, err error) {
	err = ErrResponder
	for _, c := range append([]*x509.Certificate{issuer}, r.Certificates...) {
		if !r.names(c) {
			continue
		}
		if err = r.verifyBy(c, issuer, checkIssuer); err == nil {
			return c, nil
		}
	}
	return nil, err
}

// Responder is the certificate that the ResponderID names, among those that the response carries or else the
// issuer; nil when it names another. Nothing is verified.
func (r *Response) Responder(issuer *x509.Certificate) *x509.Certificate {
	all := append(slices.Clone(r.Certificates), issuer)
	if i := slices.IndexFunc(all, r.names); i >= 0 {
		return all[i]
	}
	return nil
}

// names says whether the ResponderID is this certificate's (RFC 6960 4.2.2.3).
func (r *Response) names(c *x509.Certificate) bool {
	if r.responderName != nil {
		return bytes.Equal(r.responderName, c.RawSubject)
	}
	return bytes.Equal(r.responderKey, sum(crypto.SHA1, publicKeyBits(c)))
}

func (r *Response) verifyBy(c, issuer *x509.Certificate, checkIssuer func(cert, issuer *x509.Certificate) error) error {
	if err := mayAnswer(c, issuer, checkIssuer); err != nil {
		return fmt.Errorf("%w: %w", ErrResponder, err)
	}
	if r.ProducedAt.Before(c.NotBefore) || r.ProducedAt.After(c.NotAfter) {
		return fmt.Errorf("ocsp: %w: responder's %s at %v", ades.ErrOutsideValidity, ades.Identify(c), r.ProducedAt)
	}
	if err := r.signed.Verify(c); err != nil {
		return fmt.Errorf("ocsp: signature by %s: %w", ades.Identify(c), err)
	}
	return nil
}

// mayAnswer is the rule of RFC 6960 4.2.2.2. A responder that shares name and key
// with the issuer is the issuer, under a renewed certificate.
func mayAnswer(c, issuer *x509.Certificate, checkIssuer func(cert, issuer *x509.Certificate) error) error {
	if bytes.Equal(c.RawSubject, issuer.RawSubject) && bytes.Equal(c.RawSubjectPublicKeyInfo, issuer.RawSubjectPublicKeyInfo) {
		return nil
	}
	if err := checkIssuer(c, issuer); err != nil {
		return err
	}
	if !slices.Contains(c.ExtKeyUsage, x509.ExtKeyUsageOCSPSigning) {
		return fmt.Errorf("%s is not certified for OCSP signing", ades.Identify(c))
	}
	if c.KeyUsage != 0 && c.KeyUsage&(x509.KeyUsageDigitalSignature|x509.KeyUsageContentCommitment) == 0 {
		return fmt.Errorf("key usage of %s allows no signatures", ades.Identify(c)) // RFC 5280 4.2.1.12
	}
	if len(c.UnhandledCriticalExtensions) > 0 {
		return fmt.Errorf("%s has critical extensions that are not known: %v", ades.Identify(c), c.UnhandledCriticalExtensions)
	}
	return nil
}
