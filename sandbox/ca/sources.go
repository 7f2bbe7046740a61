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

// sources gets timestamps and revocation data from an authority in the same process. Requests and responses are
// encoded as in the protocols.
type sources struct {
	*Authority
	now func() time.Time
}

var (
	_ ades.Timestamper = sources{}
	_ ades.Revocation  = sources{}
	_ ades.Issuers     = sources{}
)

// Sources returns sources that get timestamps, revocation data and issuers from the authority without a server. now
// returns the time; nil is [time.Now]. All of them have the same pool of the root, and no cache of chains: the caller
// sets one.
func (a *Authority) Sources(now func() time.Time) ades.Sources {
	if now == nil {
		now = time.Now
	}
	s := sources{a, now}
	a.once.Do(func() { a.roots = a.Roots() })
	return ades.Sources{Time: s, Revocation: s, Issuers: s, Roots: a.roots}
}

// sourcePool is the pool of the root that all sources of an authority share, since ades.Chains caches chains by the
// pool.
type sourcePool struct {
	once  sync.Once
	roots *x509.CertPool
}

// Timestamp implements [ades.Timestamper].
func (s sources) Timestamp(_ context.Context, h crypto.Hash, sum []byte) ([]byte, error) {
	request := tsp.Request{Hash: h, Sum: sum, Nonce: new(big.Int).SetBytes(nonce()), Certificates: true}
	der, err := request.Marshal()
	if err != nil {
		return nil, fmt.Errorf("ca: %w: %w", ades.ErrTimestamp, err)
	}
	token, err := tsp.ParseResponse(s.Authority.Timestamp(der, s.now()))
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

// Revocation implements [ades.Revocation]. Certificates that the root issued are looked up in its revocation list,
// others by OCSP.
func (s sources) Revocation(_ context.Context, cert, issuer *x509.Certificate, notBefore time.Time) (ades.RevocationData, error) {
	now := s.now()
	if now.Before(notBefore.Truncate(time.Second)) {
		return ades.RevocationData{}, fmt.Errorf("ca: %w: %w: data as of %v was requested at %v", ades.ErrNoRevocation, ades.ErrUnavailable, notBefore, now)
	}
	if issuer.Equal(s.Root()) {
		if !s.issuedByRoot(cert) { // a list does not contain certificates that were never issued
			return ades.RevocationData{}, fmt.Errorf("ca: %w: %s is not known", ades.ErrNoRevocation, ades.Identify(cert))
		}
		return s.revocationFromCRL(cert, now, notBefore)
	}
	return s.revocationFromOCSP(cert, issuer, now)
}

func (s sources) revocationFromCRL(cert *x509.Certificate, now, notBefore time.Time) (ades.RevocationData, error) {
	der, err := s.rootCRL(now, notBefore)
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

func (s sources) revocationFromOCSP(cert, issuer *x509.Certificate, now time.Time) (ades.RevocationData, error) {
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

// nonce returns a random nonce of 32 bytes (RFC 9654 2.1).
func nonce() []byte {
	b := make([]byte, 32)
	rand.Read(b) // never fails
	return b
}
