package validation

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/innsigli/innsigli/ades"
)

// The addresses of a certificate are followed before it is known to be below a root, and
// may be anybody's: so few of them for one target and in all, and for so long together.
const (
	maxSteps   = 4
	maxFetches = 16
	maxWait    = time.Minute
)

// chain builds the chain of a target's certificate. What is missing is asked for step by step
// upwards, until a root is reached or nothing new is found.
func (c *collector) chain(ctx context.Context, t Target, at time.Time) ([]*x509.Certificate, error) {
	var failures []error
	for step := 0; ; step++ {
		p := path{c.known.of(t), new(Data)}
		all := p.ancestors(t.Certificate)
		chain, err := p.chain(t.Certificate, at)
		if err == nil {
			return chain, nil
		}
		below := c.nextToAsk(all)
		if below == nil || step == maxSteps || ctx.Err() != nil {
			return nil, errors.Join(append(failures, err, ctx.Err())...)
		}
		if err := c.ask(ctx, below); err != nil {
			failures = append(failures, fmt.Errorf("issuer of %s: %w", ades.Identify(below), err))
		}
	}
}

// nextToAsk chooses of a certificate and its ancestors whose issuer to ask for: one
// without, else one whose issuer may have another certificate, which fits. Nobody is
// asked when no root is trusted.
func (c *collector) nextToAsk(all []*x509.Certificate) *x509.Certificate {
	if c.sources.Issuers == nil || c.sources.Roots == nil && c.sources.TimestampRoots == nil || c.fetches == maxFetches || c.waits <= 0 {
		return nil
	}
	var other *x509.Certificate
	for _, below := range all {
		hasIssuer := slices.ContainsFunc(all, func(above *x509.Certificate) bool { return c.known.work.isIssuer(above, below) })
		switch {
		case c.asked.has(below.Raw) || selfSigned(below):
		case !hasIssuer:
			return below
		case other == nil:
			other = below
		}
	}
	return other
}

// ask gets certificates and keeps those that did issue this one: nothing else that
// is found at an address is followed any further.
func (c *collector) ask(ctx context.Context, cert *x509.Certificate) error {
	c.fetches++
	c.asked.add(cert.Raw)
	begin := time.Now()
	defer func() { c.waits -= time.Since(begin) }()
	limited, cancel := context.WithTimeout(ctx, c.waits)
	defer cancel()
	found, err := c.sources.Issuers.Issuers(limited, cert)
	if err != nil {
		return err
	}
	checks := maxChecks
	among := &Known{work: c.known.work, bySubject: c.known.work.bySubject(found)}
	c.known = c.known.With(path{among, new(Data)}.issuers(cert, &checks)...)
	return nil
}
