package evidence

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"

	"github.com/innsigli/innsigli/ades"
)

// chain builds the chain of a target as of its Fresh, or of now. What is missing is
// asked for step by step upwards, until a root is reached or nothing new is found.
func (c *collector) chain(ctx context.Context, t Target) ([]*x509.Certificate, error) {
	at := t.Fresh
	if at.IsZero() {
		at = c.now
	}
	var failures []error
	for {
		all := ancestors(t.Certificate, c.known)
		chain, err := ades.Chain(t.Certificate, all, c.sources.Roots, at)
		if err == nil {
			return chain, nil
		}
		below := c.nextToAsk(all)
		if below == nil || ctx.Err() != nil {
			return nil, errors.Join(append(failures, err, ctx.Err())...)
		}
		if err := c.ask(ctx, below); err != nil {
			failures = append(failures, fmt.Errorf("issuer of %s: %w", below.Subject, err))
		}
	}
}

// nextToAsk chooses of a certificate and its ancestors whose issuer to ask for: one
// without, else one whose issuer may have another certificate, which fits. Nobody is
// asked when no root is trusted.
func (c *collector) nextToAsk(all []*x509.Certificate) *x509.Certificate {
	if c.sources.Issuers == nil || c.sources.Roots == nil || c.fetches == maxFetches {
		return nil
	}
	var other *x509.Certificate
	for _, below := range all {
		hasIssuer := slices.ContainsFunc(all, func(above *x509.Certificate) bool { return issued(above, below) })
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
	found, err := c.sources.Issuers.Issuers(ctx, cert)
	if err != nil {
		return err
	}
	for _, issuer := range unique(found) {
		if issued(issuer, cert) {
			c.known = append(c.known, issuer)
		}
	}
	return nil
}
