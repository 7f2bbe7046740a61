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

// maxResponders is how many responders may answer one about another.
const maxResponders = 4

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
		sources: sources, known: known, now: time.Now(), waits: maxWait,
		seen: make(set), asked: make(set), proven: make(map[string]proven),
	}
}

type collector struct {
	data    Data
	seen    set // what the data has
	sources ades.Sources
	known   *Known
	now     time.Time
	fetches int
	waits   time.Duration     // that asking for issuers may still take
	asked   set               // whose issuers were asked for
	proven  map[string]proven // by certificate
}

// proven is what was asked about a certificate, and the answer.
type proven struct {
	fresh  time.Time
	answer Answer
}

// collect adds a certificate with its chain. The higher ones issue many and are
// asked about for all of those.
func (c *collector) collect(ctx context.Context, t Target, responders int) error {
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
		if err := c.prove(ctx, Target{Certificate: cert, BestSignatureTime: t.BestSignatureTime, Timestamp: t.Timestamp, Times: at}, chain[i+1], responders); err != nil {
			return err
		}
		t.BestSignatureTime = time.Time{}
	}
	return nil
}

// prove adds a proof about one certificate.
func (c *collector) prove(ctx context.Context, t Target, issuer *x509.Certificate, responders int) error {
	if exempt(t.Certificate) || c.isProven(t) {
		return nil
	}
	if c.sources.Revocation == nil {
		return fmt.Errorf("%w for %s: there is no source to ask", ades.ErrNoRevocation, ades.Identify(t.Certificate))
	}
	proof, err := c.sources.Revocation.Revocation(ctx, t.Certificate, issuer, t.BestSignatureTime)
	var revoked *ades.RevokedError
	if err != nil && !errors.As(err, &revoked) {
		return err
	}
	if revoked != nil && !t.standsDespite(revoked) {
		return err
	}
	answer, err := c.known.work.readProof(proof, t.Certificate, issuer)
	switch {
	case err != nil:
		return fmt.Errorf("%w for %s: %w", ades.ErrNoRevocation, ades.Identify(t.Certificate), err)
	case answer.Revoked != nil && !t.standsDespite(answer.Revoked):
		return answer.Revoked
	}
	if err := t.check(answer); err != nil {
		return err
	}
	c.proven[string(t.Certificate.Raw)] = proven{t.BestSignatureTime, answer} // before its signer's, which it may be itself
	return c.keep(ctx, answer, issuer, t, responders)
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

// isProven reports whether there is a proof already that is new enough.
func (c *collector) isProven(t Target) bool {
	p, ok := c.proven[string(t.Certificate.Raw)]
	return ok && !p.fresh.Before(t.BestSignatureTime) && p.answer.isFresh(t.Times.SigningTime)
}

// standsDespite: what was signed before the certificate was revoked stays valid (EN
// 319 102-1 5.5.4), and BestSignatureTime is when it was signed at the latest.
func (t Target) standsDespite(revoked *ades.RevokedError) bool {
	return !t.BestSignatureTime.IsZero() && revoked.At.After(t.BestSignatureTime)
}

// keep adds a proof, and all about the responder that signed it. CRLs are signed by
// the issuer itself.
func (c *collector) keep(ctx context.Context, a Answer, issuer *x509.Certificate, about Target, responders int) error {
	if a.Proof.CRL != nil {
		c.data.CRLs = c.seen.appendNew(c.data.CRLs, [][]byte{a.Proof.CRL})
		return nil
	}
	c.data.OCSP = c.seen.appendNew(c.data.OCSP, [][]byte{a.Proof.OCSP})
	if a.Signer.Equal(issuer) {
		return nil
	}
	if responders == maxResponders {
		return fmt.Errorf("%w for %s: %d responders answer one about another", ades.ErrNoRevocation, ades.Identify(a.Signer), responders)
	}
	return c.collect(ctx, Target{Certificate: a.Signer, Timestamp: about.Timestamp, Times: Times{SigningTime: about.Times.SigningTime, ValidationTime: a.ProducedAt}}, responders+1)
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
