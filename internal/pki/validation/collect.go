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

// maxResponderDepth is how many responders may answer one about another.
const maxResponderDepth = 4

// Collect gathers the validation data of the targets: chains to a root over what is
// known and, where a certificate is missing, over what the sources find; and a
// proof for each certificate below the root, as well as for whoever signed a proof.
// The result has each thing once, roots included, in the order of the targets.
//
// It is whole or there is an error: [ades.ErrNoChain] or [ades.ErrOutsideValidity]
// when a target leads to no root, [ades.ErrNoRevocation] when a proof is missing or
// says nothing of the certificate and the time, beside [ades.ErrUnavailable] when asking
// later may help, and [*ades.RevokedError]. A target that was revoked after its best signature time is
// none: its signature stands, and the proof says so.
func Collect(ctx context.Context, sources ades.Sources, known *Known, targets ...Target) (*Data, error) {
	c := newCollector(sources, known)
	for _, t := range targets {
		if t.Certificate == nil {
			return nil, fmt.Errorf("validation: %w: a certificate is absent", ades.ErrNoChain)
		}
		if err := c.collect(ctx, t, 0); err != nil {
			return nil, fmt.Errorf("validation: validation data for %s: %w", ades.Identify(t.Certificate), err)
		}
	}
	return &c.data, nil
}

// FindChain builds the chain of a certificate as of a time, over what is known and what the
// sources find. [ades.ErrNoChain] or [ades.ErrOutsideValidity] when there is none.
func FindChain(ctx context.Context, sources ades.Sources, known *Known, cert *x509.Certificate, at time.Time) ([]*x509.Certificate, error) {
	return newCollector(sources, known).chain(ctx, Target{Certificate: cert}, at)
}

func newCollector(sources ades.Sources, known *Known) *collector {
	return &collector{
		sources: sources, known: known, now: time.Now(), wait: maxWait,
		seen: make(set), issuersFetched: make(set), collected: make(map[string]collected),
	}
}

type collector struct {
	data           Data
	seen           set // what the data has
	sources        ades.Sources
	known          *Known
	now            time.Time
	fetches        int
	wait           time.Duration        // that asking for issuers may still take
	issuersFetched set                  // whose issuers were asked for
	collected      map[string]collected // by certificate
}

// proven is what was asked about a certificate, and the answer.
type collected struct {
	notBefore time.Time
	answer    Answer
}

// collect adds a certificate with its chain. The higher ones issue many and are
// asked about for all of those.
func (c *collector) collect(ctx context.Context, t Target, depth int) error {
	at := t.times(c.now)
	chain, err := c.chain(ctx, t, at.ValidationTime)
	if err != nil {
		return err
	}
	for _, cert := range chain {
		if c.seen.add(cert.Raw) {
			c.data.Certificates = append(c.data.Certificates, cert)
		}
	}
	for i, cert := range chain[:len(chain)-1] {
		if err := c.collectRevocation(ctx, Target{Certificate: cert, BestSignatureTime: t.BestSignatureTime, Timestamp: t.Timestamp, Times: at}, chain[i+1], depth); err != nil {
			return err
		}
		t.BestSignatureTime = time.Time{}
	}
	return nil
}

// prove adds a proof about one certificate.
func (c *collector) collectRevocation(ctx context.Context, t Target, issuer *x509.Certificate, depth int) error {
	if isExempt(t.Certificate) || c.isCollected(t) {
		return nil
	}
	if c.sources.Revocation == nil {
		return fmt.Errorf("%w for %s: there is no source to ask", ades.ErrNoRevocation, ades.Identify(t.Certificate))
	}
	data, err := c.sources.Revocation.Revocation(ctx, t.Certificate, issuer, t.BestSignatureTime)
	var revoked *ades.RevokedError
	if err != nil && !errors.As(err, &revoked) {
		return err
	}
	if revoked != nil && !t.isSignedBefore(revoked) {
		return err
	}
	answer, err := c.known.work.readRevocationData(data, t.Certificate, issuer)
	switch {
	case err != nil:
		return fmt.Errorf("%w for %s: %w", ades.ErrNoRevocation, ades.Identify(t.Certificate), err)
	case answer.Revoked != nil && !t.isSignedBefore(answer.Revoked):
		return answer.Revoked
	}
	if err := t.check(answer); err != nil {
		return err
	}
	c.collected[string(t.Certificate.Raw)] = collected{t.BestSignatureTime, answer} // before its signer's, which it may be itself
	return c.add(ctx, answer, issuer, t, depth)
}

// check refuses an answer by which nobody could judge the target later.
func (t Target) check(a Answer) error {
	switch {
	case !a.coversCertificate(t.Certificate):
		return fmt.Errorf("%w for %s: the revocation data of %s says nothing of a certificate that was valid until %s", ades.ErrNoRevocation,
			ades.Identify(t.Certificate), a.ThisUpdate.UTC().Format(time.RFC3339), t.Certificate.NotAfter.UTC().Format(time.RFC3339))
	case !a.isFresh(t.Times.SigningTime):
		return fmt.Errorf("%w for %s: %w: the revocation data of %s is too old", ades.ErrNoRevocation,
			ades.Identify(t.Certificate), ades.ErrUnavailable, a.ThisUpdate.UTC().Format(time.RFC3339))
	}
	return nil
}

// isCollected reports whether there is a proof already that is new enough.
func (c *collector) isCollected(t Target) bool {
	p, ok := c.collected[string(t.Certificate.Raw)]
	return ok && !p.notBefore.Before(t.BestSignatureTime) && p.answer.isFresh(t.Times.SigningTime)
}

// isSignedBefore: what was signed before the certificate was revoked stays valid (EN
// 319 102-1 5.5.4), and BestSignatureTime is when it was signed at the latest.
func (t Target) isSignedBefore(revoked *ades.RevokedError) bool {
	return !t.BestSignatureTime.IsZero() && revoked.At.After(t.BestSignatureTime)
}

// keep adds a proof, and all about the responder that signed it. CRLs are signed by
// the issuer itself.
func (c *collector) add(ctx context.Context, a Answer, issuer *x509.Certificate, about Target, depth int) error {
	if a.RevocationData.CRL != nil {
		c.data.CRLs = c.seen.appendNew(c.data.CRLs, [][]byte{a.RevocationData.CRL})
		return nil
	}
	c.data.OCSP = c.seen.appendNew(c.data.OCSP, [][]byte{a.RevocationData.OCSP})
	if a.Signer.Equal(issuer) {
		return nil
	}
	if depth == maxResponderDepth {
		return fmt.Errorf("%w for %s: %d responders answer one about another", ades.ErrNoRevocation, ades.Identify(a.Signer), depth)
	}
	return c.collect(ctx, Target{Certificate: a.Signer, Timestamp: about.Timestamp, Times: Times{SigningTime: about.Times.SigningTime, ValidationTime: a.ProducedAt}}, depth+1)
}

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
		p := path{c.known.forTarget(t), new(Data)}
		all := p.ancestors(t.Certificate)
		chain, err := p.chain(t.Certificate, at)
		if err == nil {
			return chain, nil
		}
		below := c.nextForIssuers(all)
		if below == nil || step == maxSteps || ctx.Err() != nil {
			return nil, errors.Join(append(failures, err, ctx.Err())...)
		}
		if err := c.fetchIssuers(ctx, below); err != nil {
			failures = append(failures, fmt.Errorf("issuer of %s: %w", ades.Identify(below), err))
		}
	}
}

// nextForIssuers chooses of a certificate and its ancestors whose issuer to ask for: one
// without, else one whose issuer may have another certificate, which fits. Nobody is
// asked when no root is trusted.
func (c *collector) nextForIssuers(all []*x509.Certificate) *x509.Certificate {
	if c.sources.Issuers == nil || c.sources.Roots == nil && c.sources.TimestampRoots == nil || c.fetches == maxFetches || c.wait <= 0 {
		return nil
	}
	var other *x509.Certificate
	for _, below := range all {
		hasIssuer := slices.ContainsFunc(all, func(above *x509.Certificate) bool { return c.known.work.isIssuer(above, below) })
		switch {
		case c.issuersFetched.has(below.Raw) || isSelfSigned(below):
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
func (c *collector) fetchIssuers(ctx context.Context, cert *x509.Certificate) error {
	c.fetches++
	c.issuersFetched.add(cert.Raw)
	begin := time.Now()
	defer func() { c.wait -= time.Since(begin) }()
	limited, cancel := context.WithTimeout(ctx, c.wait)
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
