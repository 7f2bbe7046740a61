package ca

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/x509"
	"fmt"
	"math/big"
	"sync"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/crl"
	"github.com/innsigli/innsigli/internal/pki/ocsp"
	"github.com/innsigli/innsigli/internal/pki/tsp"
)

// sources asks the authority in its own process, in the bytes of the protocols.
type sources struct {
	*Authority
	clock func() time.Time
}

var (
	_ ades.Timestamper = sources{}
	_ ades.Revocation  = sources{}
	_ ades.Issuers     = sources{}
)

// Sources are the authority as a source of evidence, without a server between. The
// clock says what time it is; nil is [time.Now].
func (a *Authority) Sources(clock func() time.Time) ades.Sources {
	if clock == nil {
		clock = time.Now
	}
	s := sources{a, clock}
	a.trusted.once.Do(func() { a.trusted.roots = a.Roots() })
	return ades.Sources{Time: s, Revocation: s, Issuers: s, Roots: a.trusted.roots, Chains: &a.trusted.chains}
}

// trusted is the root as one pool for all sources, whose chains are remembered by it.
type trusted struct {
	once   sync.Once
	roots  *x509.CertPool
	chains ades.Chains
}

// Timestamp implements [ades.Timestamper].
func (s sources) Timestamp(_ context.Context, h crypto.Hash, sum []byte) ([]byte, error) {
	request := tsp.Request{Hash: h, Sum: sum, Nonce: new(big.Int).SetBytes(nonce()), Certificates: true}
	der, err := request.Marshal()
	if err != nil {
		return nil, fmt.Errorf("ca: %w: %w", ades.ErrTimestamp, err)
	}
	token, err := tsp.ParseResponse(s.Authority.Timestamp(der, s.clock()))
	if err != nil {
		return nil, fmt.Errorf("ca: %w: %w", ades.ErrTimestamp, err)
	}
	if _, err := request.Check(token); err != nil {
		return nil, fmt.Errorf("ca: %w: %w", ades.ErrTimestamp, err)
	}
	return token, nil
}

// Issuers implements [ades.Issuers].
func (s sources) Issuers(context.Context, *x509.Certificate) ([]*x509.Certificate, error) {
	return s.Chain(), nil
}

// Revocation implements [ades.Revocation]. About what the root issued there is its
// list, about the rest the responder.
func (s sources) Revocation(_ context.Context, cert, issuer *x509.Certificate, notBefore time.Time) (ades.RevocationData, error) {
	now := s.clock()
	if now.Before(notBefore.Truncate(time.Second)) {
		return ades.RevocationData{}, fmt.Errorf("ca: %w: %w: proof of %v is asked for at %v", ades.ErrNoRevocation, ades.ErrUnavailable, notBefore, now)
	}
	if issuer.Equal(s.Root()) {
		if !s.issuedByRoot(cert) { // a list is silent about what was never issued
			return ades.RevocationData{}, fmt.Errorf("ca: %w: %s is not known", ades.ErrNoRevocation, ades.Identify(cert))
		}
		return s.proofByList(cert, now)
	}
	return s.proofByResponse(cert, issuer, now)
}

func (s sources) proofByList(cert *x509.Certificate, now time.Time) (ades.RevocationData, error) {
	der, err := s.RootCRL(now)
	if err != nil {
		return ades.RevocationData{}, fmt.Errorf("%w: %w", ades.ErrNoRevocation, err)
	}
	list, err := crl.Parse(der)
	if err != nil {
		return ades.RevocationData{}, fmt.Errorf("%w: %w", ades.ErrNoRevocation, err)
	}
	entry, err := list.Find(cert)
	switch {
	case err != nil:
		return ades.RevocationData{}, fmt.Errorf("%w: %w", ades.ErrNoRevocation, err)
	case entry != nil:
		return ades.RevocationData{CRL: der}, &ades.RevokedError{Certificate: cert, At: entry.RevokedAt, Reason: entry.Reason}
	}
	return ades.RevocationData{CRL: der}, nil
}

func (s sources) proofByResponse(cert, issuer *x509.Certificate, now time.Time) (ades.RevocationData, error) {
	request, err := ocsp.NewRequest(cert, issuer, crypto.SHA256, nonce()).Marshal()
	if err != nil {
		return ades.RevocationData{}, fmt.Errorf("%w: %w", ades.ErrNoRevocation, err)
	}
	der := s.OCSP(request, now)
	response, err := ocsp.Parse(der)
	if err != nil {
		return ades.RevocationData{}, fmt.Errorf("%w: %w", ades.ErrNoRevocation, err)
	}
	single, ok := response.For(cert, issuer)
	switch {
	case !ok || single.Status == ocsp.Unknown:
		return ades.RevocationData{}, fmt.Errorf("ca: %w: %s is not known", ades.ErrNoRevocation, ades.Identify(cert))
	case single.Status == ocsp.Revoked:
		return ades.RevocationData{OCSP: der}, &ades.RevokedError{Certificate: cert, At: single.RevokedAt, Reason: single.Reason}
	}
	return ades.RevocationData{OCSP: der}, nil
}

// nonce draws the 32 bytes of RFC 9654 2.1.
func nonce() []byte {
	b := make([]byte, 32)
	rand.Read(b) // never fails
	return b
}
