package server

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"sync"
	"time"

	"github.com/innsigli/innsigli/ades"
)

// sources returns a function that returns the current sources: the configured ones, with those of the test authority if
// the server has one. All of its results have one cache of chains, unless the configured sources bring their own.
func (p people) sources(configured func() ades.Sources) func() ades.Sources {
	current := configured
	switch {
	case p.authority == nil && configured == nil:
		none := ades.Sources{Roots: x509.NewCertPool()}
		current = func() ades.Sources { return none }
	case p.authority == nil:
	case configured == nil:
		current = p.authority.Sources
	default:
		var signers, timestamps extendedPool
		current = func() ades.Sources { return p.withAuthority(configured(), &signers, &timestamps) }
	}
	chains := new(ades.Chains)
	return func() ades.Sources {
		s := current()
		s.Chains = cmp.Or(s.Chains, chains)
		return s
	}
}

// withAuthority returns sources together with the test authority of the server. The test authority is asked first, because
// it answers without the network; it knows only certificates that it issued. Timestamps come from the configured
// authorities, and from the test authority if none is configured.
func (p people) withAuthority(s ades.Sources, signers, timestamps *extendedPool) ades.Sources {
	own := p.authority.Sources()
	all := own
	all.Chains = s.Chains
	if s.Roots != nil {
		all.Roots = signers.get(s.Roots, p.authority.RootPEM())
	}
	if s.TimestampRoots != nil {
		all.TimestampRoots = timestamps.get(s.TimestampRoots, p.authority.RootPEM())
	}
	if s.Time != nil {
		all.Time = s.Time
	}
	if s.Revocation != nil {
		all.Revocation = revocationInOrder{own.Revocation, s.Revocation}
	}
	if s.Issuers != nil {
		all.Issuers = ades.IssuersInOrder{own.Issuers, s.Issuers}
	}
	return all
}

// extendedPool is a configured pool with one more root. It is made anew when the configured pool is another one: a cache
// of chains finds nothing for a pool that is made for each call.
type extendedPool struct {
	mu                   sync.Mutex
	configured, extended *x509.CertPool
}

// get returns the pool with the root, in PEM.
func (e *extendedPool) get(configured *x509.CertPool, root []byte) *x509.CertPool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.configured != configured {
		e.configured, e.extended = configured, configured.Clone()
		e.extended.AppendCertsFromPEM(root)
	}
	return e.extended
}

// revocationInOrder asks its sources one after the other, until one knows the certificate.
type revocationInOrder []ades.Revocation

// Revocation implements [ades.Revocation].
func (o revocationInOrder) Revocation(ctx context.Context, cert, issuer *x509.Certificate, notBefore time.Time) (ades.RevocationData, error) {
	var failures []error
	for _, source := range o {
		data, err := source.Revocation(ctx, cert, issuer, notBefore)
		if err == nil || errors.Is(err, ades.ErrRevoked) {
			return data, err
		}
		failures = append(failures, err)
		if ctx.Err() != nil {
			break // the caller has given up
		}
	}
	return ades.RevocationData{}, errors.Join(failures...)
}
