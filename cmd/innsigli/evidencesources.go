package main

import (
	"context"
	"crypto/x509"
	"errors"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/ades/online"
)

// evidence is where a server's evidence comes from: its own authority, and what is
// configured on top of it. The configuration may change while it is used.
type evidence struct {
	own     func() ades.Sources
	current atomic.Pointer[configured]
}

// sources are those of now. Without a configuration nobody outside is asked.
func (e *evidence) sources() ades.Sources {
	if c := e.current.Load(); c != nil {
		return c.over(e.own())
	}
	return e.own()
}

// take puts a configuration in force. Clients are kept, with their caches and connections,
// where nothing that they are made of has changed. It is called by one at a time.
func (e *evidence) take(c configuration) {
	next := &configured{configuration: c, pool: ades.NewPool(c.intermediates...), trusted: c.rootsBeside(e.own().Roots)}
	before := e.current.Load()
	if before != nil && slices.Equal(before.private, c.private) {
		next.revocation, next.issuers = before.revocation, before.issuers
	} else {
		client := online.NewClient(c.private...)
		next.revocation, next.issuers = &online.Revocation{Client: client}, &online.Issuers{Client: client}
	}
	for _, a := range c.authorities {
		a.tsa.Client = before.client(a)
		if a.tsa.Roots == nil { // so that the next one is asked for a token that is of use
			a.tsa.Roots = next.trusted
		}
		next.time = append(next.time, a.tsa)
	}
	e.current.Store(next)
}

// configured is a configuration in force.
type configured struct {
	configuration
	time       online.InOrder
	revocation *online.Revocation
	issuers    *online.Issuers
	pool       *ades.Pool
	trusted    *x509.CertPool // the roots, and the server's own
}

// client is that of an authority with the same identity, or the new one.
func (c *configured) client(a timestampAuthority) *http.Client {
	if c != nil {
		for _, old := range c.authorities {
			if old.identity == a.identity {
				return old.tsa.Client
			}
		}
	}
	return a.tsa.Client
}

// rootsBeside are the configured roots with a server's own.
func (c configuration) rootsBeside(own *x509.CertPool) *x509.CertPool {
	all := x509.NewCertPool()
	if own != nil {
		all = own.Clone()
	}
	for _, root := range c.roots {
		all.AddCert(root)
	}
	return all
}

// over are a server's own sources with those that are configured. Its own authority knows
// only what it issued, and is asked first, since it is at hand. Timestamps are from the
// authorities that are configured, and from its own where there are none.
func (c *configured) over(own ades.Sources) ades.Sources {
	all := own
	all.Roots, all.Revocation, all.Issuers = c.trusted, c.revocation, ades.IssuersInOrder{c.pool, c.issuers}
	if len(c.time) > 0 {
		all.Time = c.time
	}
	if own.Revocation != nil {
		all.Revocation = revocationInOrder{own.Revocation, c.revocation}
	}
	if own.Issuers != nil {
		all.Issuers = ades.IssuersInOrder{c.pool, own.Issuers, c.issuers}
	}
	return all
}

// revocationInOrder asks one source after the other until one knows the certificate.
type revocationInOrder []ades.Revocation

// Revocation implements [ades.Revocation].
func (o revocationInOrder) Revocation(ctx context.Context, cert, issuer *x509.Certificate, notBefore time.Time) (ades.Proof, error) {
	var failures []error
	for _, source := range o {
		proof, err := source.Revocation(ctx, cert, issuer, notBefore)
		if err == nil || errors.Is(err, ades.ErrRevoked) {
			return proof, err
		}
		failures = append(failures, err)
		if ctx.Err() != nil {
			break // whoever asked went away
		}
	}
	return ades.Proof{}, errors.Join(failures...)
}
