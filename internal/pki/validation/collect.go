package validation

import (
	"cmp"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/innsigli/innsigli/ades"
)

const (
	// maxResponderDepth limits the chain of OCSP responders in which each signs the status of the
	// one before.
	maxResponderDepth = 4

	// The limits for fetching issuers. Their addresses come from certificates that do not lead to a
	// root yet, so an attacker may have chosen the addresses.
	maxSteps   = 4           // fetches for one chain
	maxFetches = 16          // fetches of one collector
	maxWait    = time.Minute // for all fetches together; also for all requests of an Online
)

// Target is a certificate whose signature has to stay verifiable.
type Target struct {
	Certificate *x509.Certificate
	// BestSignatureTime is, for a signer, the time of the earliest POE for the signature (EN 319
	// 102-1 5.5.4). The chain is validated at that time. The revocation data about the certificate
	// itself has to be from that time or later, or in force then. Zero, as for timestamp
	// authorities: revocation data from a cache is accepted.
	BestSignatureTime time.Time
	// Timestamp is true for the certificate of a timestamp authority, which has roots of its own.
	Timestamp bool
	// Times are the times at which the chain is validated if BestSignatureTime is zero. A
	// SigningTime of zero is not known. A ValidationTime of zero is now.
	Times Times
}

// times returns the times at which the chain is validated.
func (t Target) times(now time.Time) Times {
	switch {
	case !t.BestSignatureTime.IsZero():
		return Times{SigningTime: t.BestSignatureTime, ValidationTime: t.BestSignatureTime}
	case t.Times.ValidationTime.IsZero():
		return Times{SigningTime: t.Times.SigningTime, ValidationTime: now}
	}
	return t.Times
}

// Collect gathers the validation data of the targets. It builds the chain of each target to a root
// from the known certificates and, where one is missing, from those that the sources find. It then
// gets revocation data for each certificate below the root, and for each OCSP responder that signed
// revocation data. The result has no duplicates, includes the roots, and is in the order of the
// targets.
//
// Collect returns either all validation data or an error: [ades.ErrNoChain] or
// [ades.ErrOutsideValidity] if a target leads to no root; [ades.ErrNoRevocation] if revocation data
// is missing or does not cover the certificate and the time, also wrapping [ades.ErrUnavailable] if
// a later attempt may succeed; and [*ades.RevokedError] if a certificate is revoked. A target that
// was revoked after its best signature time is no error: its signature remains valid, and the
// revocation data states the time.
func Collect(ctx context.Context, sources ades.Sources, known *Known, targets ...Target) (*Data, error) {
	data, err := collect(ctx, sources, known, targets)
	if err == nil {
		return data, nil
	}
	return nil, cmp.Or(known.uncollected(err), err)
}

// collect is [Collect] for a context that does not end meanwhile.
func collect(ctx context.Context, sources ades.Sources, known *Known, targets []Target) (*Data, error) {
	c := newCollector(sources, known)
	for _, t := range targets {
		if t.Certificate == nil {
			return nil, fmt.Errorf("validation: %w: a certificate is nil", ades.ErrNoChain)
		}
		if err := c.collect(ctx, t, 0); err != nil {
			return nil, fmt.Errorf("validation: validation data for %s: %w", ades.Identify(t.Certificate), err)
		}
	}
	return &c.data, nil
}

// Complete collects the validation data that have lacks for the targets, and that of the others in
// any case. The result is what to add to have, some of which have may contain; it is empty if have
// suffices.
//
// If have contains only revocation data from before a signature about its signer, as when the same
// person signed the document a moment ago, Complete asks the sources again, because the certificate
// may have been revoked since. It is no error then if they have no newer data.
func Complete(ctx context.Context, sources ades.Sources, known *Known, have *Data, targets []Target, others ...Target) (*Data, error) {
	found, err := complete(ctx, sources, known, have, targets, others)
	if interrupted := known.uncollected(err); interrupted != nil {
		return nil, interrupted
	}
	return found, err
}

// complete is [Complete] for a context that does not end meanwhile.
func complete(ctx context.Context, sources ades.Sources, known *Known, have *Data, targets, others []Target) (*Data, error) {
	lacking, _ := have.Lacking(known, targets...)
	older := have.answeredBefore(known, targets, lacking)
	found, err := collect(ctx, sources, known, append(lacking, others...))
	if err != nil {
		return nil, err
	}
	if _, err := Merge(have, found).ShareLimit(known).Lacking(known, targets...); err != nil {
		return nil, err
	}
	for _, t := range older {
		newer, err := collect(ctx, sources, known, []Target{t})
		switch {
		case errors.Is(err, ades.ErrRevoked):
			return nil, err
		case err == nil:
			found = Merge(found, newer)
		}
	}
	return found, nil
}

// uncollected returns an error if the context has ended, in place of err: data is missing that a later attempt may collect.
func (k *Known) uncollected(err error) error {
	if interrupted := k.work.interrupted(err); interrupted != nil {
		return fmt.Errorf("%w: %w", ades.ErrNoRevocation, interrupted)
	}
	return nil
}

// answeredBefore returns the targets, except those of lacking, about which the data contains only
// revocation data from before the signature. It leaves out expired certificates, whose status the
// authority need not know any more.
func (d *Data) answeredBefore(k *Known, targets, lacking []Target) (older []Target) {
	now := time.Now()
	for _, t := range targets {
		if t.BestSignatureTime.IsZero() || now.After(t.Certificate.NotAfter) || isExempt(t.Certificate) || slices.Contains(lacking, t) {
			continue
		}
		chain, err := d.Chain(k.forTarget(t), t.Certificate, t.BestSignatureTime)
		if err != nil || len(chain) == 1 {
			continue
		}
		if !slices.ContainsFunc(d.About(t.Certificate, chain[1]), func(a Answer) bool { return a.issuedSince(t.BestSignatureTime) }) {
			older = append(older, t)
		}
	}
	return older
}

// Lacking returns the targets for which validation data has to be collected, and the reasons. These
// are the targets for which [Data.Missing] reports something, and those whose [Data.ChainStatus] is
// unknown or bad, since earlier revocation data does not give the status of today.
//
// A target whose chain is not valid at the time at which it is validated is not returned for its
// status, because no revocation data would change that.
func (d *Data) Lacking(k *Known, targets ...Target) (lacking []Target, why error) {
	var reasons []error
	now := time.Now()
	for _, t := range targets {
		if err := d.suffices(k, t, now); err != nil {
			lacking, reasons = append(lacking, t), append(reasons, err)
		}
	}
	return lacking, errors.Join(reasons...)
}

func (d *Data) suffices(k *Known, t Target, now time.Time) error {
	if missing := d.Missing(k, t); len(missing) > 0 {
		return fmt.Errorf("%w: %s", ades.ErrNoRevocation, strings.Join(missing, "; "))
	}
	times := t.times(now)
	chain, err := d.Chain(k.forTarget(t), t.Certificate, times.ValidationTime)
	if err != nil || len(chain) == 1 {
		return nil
	}
	return d.ChainStatus(chain, times)
}

// FindChain builds the chain of a certificate at a time, from the known certificates and those that
// the sources find. It returns [ades.ErrNoChain] or [ades.ErrOutsideValidity] if there is none, and
// [ades.ErrUnavailable] if a later attempt may find one.
func FindChain(ctx context.Context, sources ades.Sources, known *Known, cert *x509.Certificate, at time.Time) ([]*x509.Certificate, error) {
	chain, err := newCollector(sources, known).chain(ctx, Target{Certificate: cert}, at)
	if err != nil {
		return nil, cmp.Or(known.work.interrupted(err), err)
	}
	return chain, nil
}

// collector gathers validation data for one call of [Collect] or [FindChain].
type collector struct {
	data           Data
	seen           set // the content of data
	sources        ades.Sources
	known          *Known
	now            time.Time
	fetches        int                  // of issuers
	wait           time.Duration        // that further fetches of issuers may take
	issuersFetched set                  // certificates whose issuers were fetched
	collected      map[string]collected // by certificate
}

// collected is what the sources returned for a certificate, and the notBefore that they were asked
// for.
type collected struct {
	notBefore time.Time
	answer    Answer
}

func newCollector(sources ades.Sources, known *Known) *collector {
	return &collector{
		sources: sources, known: known, now: time.Now(), wait: maxWait,
		seen: make(set), issuersFetched: make(set), collected: make(map[string]collected),
	}
}

// collect adds the chain of a target and the revocation data for it. BestSignatureTime applies to
// the target's certificate only: for the authorities above, which issue many certificates,
// revocation data from a cache is accepted.
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

// collectRevocation adds revocation data about one certificate.
func (c *collector) collectRevocation(ctx context.Context, t Target, issuer *x509.Certificate, depth int) error {
	if isExempt(t.Certificate) || c.isCollected(t) {
		return nil
	}
	if c.sources.Revocation == nil {
		return fmt.Errorf("%w for %s: no source of revocation data", ades.ErrNoRevocation, ades.Identify(t.Certificate))
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
	// Before the signer of the revocation data is collected, which may be the target itself.
	c.collected[string(t.Certificate.Raw)] = collected{t.BestSignatureTime, answer}
	return c.add(ctx, answer, issuer, t, depth)
}

// isCollected reports whether the collector already has revocation data that is new enough for the
// target.
func (c *collector) isCollected(t Target) bool {
	p, ok := c.collected[string(t.Certificate.Raw)]
	return ok && !p.notBefore.Before(t.BestSignatureTime) && p.answer.isFresh(t.Times.SigningTime)
}

// isSignedBefore reports whether BestSignatureTime, the latest possible time of the signature, is
// before the revocation. Then the signature remains valid (EN 319 102-1 5.5.4).
func (t Target) isSignedBefore(revoked *ades.RevokedError) bool {
	return !t.BestSignatureTime.IsZero() && revoked.At.After(t.BestSignatureTime)
}

// check returns an error if a later validation of the target cannot use the Answer.
func (t Target) check(a Answer) error {
	switch {
	case !a.coversCertificate(t.Certificate):
		return fmt.Errorf("%w for %s: the revocation data of %s does not cover a certificate that was valid until %s", ades.ErrNoRevocation,
			ades.Identify(t.Certificate), a.ThisUpdate.UTC().Format(time.RFC3339), t.Certificate.NotAfter.UTC().Format(time.RFC3339))
	case !a.isFresh(t.Times.SigningTime):
		return fmt.Errorf("%w for %s: %w: the revocation data of %s is too old", ades.ErrNoRevocation,
			ades.Identify(t.Certificate), ades.ErrUnavailable, a.ThisUpdate.UTC().Format(time.RFC3339))
	}
	return nil
}

// add adds revocation data, and the validation data of the OCSP responder that signed it. A CRL is
// signed by the issuer itself.
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
		return fmt.Errorf("%w for %s: a chain of %d responders", ades.ErrNoRevocation, ades.Identify(a.Signer), depth)
	}
	return c.collect(ctx, Target{Certificate: a.Signer, Timestamp: about.Timestamp, Times: Times{SigningTime: about.Times.SigningTime, ValidationTime: a.ProducedAt}}, depth+1)
}

// chain builds the chain of a target's certificate. While there is no chain, it fetches one missing
// issuer after the other, until there is a chain or nothing more to fetch.
func (c *collector) chain(ctx context.Context, t Target, at time.Time) ([]*x509.Certificate, error) {
	var failures []error
	for step := 0; ; step++ {
		b := chainBuilder{c.known.forTarget(t), new(Data)}
		chain, err := b.build(t.Certificate, at)
		if err == nil {
			return chain, nil
		}
		below := c.nextForIssuers(b.ancestors(t.Certificate))
		if below == nil || step == maxSteps || ctx.Err() != nil {
			return nil, errors.Join(append(failures, err)...)
		}
		if err := c.fetchIssuers(ctx, below); err != nil {
			failures = append(failures, fmt.Errorf("issuer of %s: %w", ades.Identify(below), err))
		}
	}
}

// nextForIssuers chooses the certificate whose issuers to fetch next, among a certificate and its
// ancestors. It prefers one without a known issuer. Otherwise it chooses one whose authority may
// have another certificate, which fits. It returns nil if nothing may be fetched, also if there are
// no roots.
func (c *collector) nextForIssuers(all []*x509.Certificate) *x509.Certificate {
	if c.sources.Issuers == nil || c.sources.Roots == nil && c.sources.TimestampRoots == nil || c.fetches == maxFetches || c.wait <= 0 {
		return nil
	}
	var other *x509.Certificate
	for _, below := range all {
		hasIssuer := slices.ContainsFunc(all, func(issuer *x509.Certificate) bool { return c.known.work.isIssuedBy(below, issuer) })
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

// fetchIssuers fetches certificates, and keeps those that issued cert. It discards all others, so
// that their addresses are never used.
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
	c.known = c.known.With(chainBuilder{among, new(Data)}.issuers(cert, c.known.work.isIssuedBy, &checks)...)
	return nil
}
