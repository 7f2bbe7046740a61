package validation

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/innsigli/innsigli/ades"
)

// maxRequests limits the number of certificates whose revocation data one verification fetches, and
// the number of those whose issuers it fetches.
const maxRequests = 64

// Online fetches the validation data that a document lacks: issuers where no chain leads to a root,
// and revocation data for the certificates of a chain. In one verification it fetches each once for
// a certificate, and revocation data once more if the certificate is also a signer's and the data
// may be from a cache. A nil Online fetches nothing.
//
// The fetched data is not known to have existed before it was fetched. It is no POE for a later
// verification, and does not count for the level of the document. Current revocation data also
// gives the status at earlier times, since it states the time of a revocation. It can therefore be
// used to validate at a time in the past (EN 319 102-1 5.2.5.4 requires that it be no older than
// that time). It does not cover a certificate that had expired when the data was issued, unless the
// authority keeps the status of expired certificates.
type Online struct {
	ctx         context.Context
	sources     ades.Sources
	wait        time.Duration // that further requests may take
	fetched     *Data
	uncached    *Data           // the revocation data in fetched that is not from a cache, about signers
	combined    map[*Data]*Data // by the data of a document: that data and all that was fetched
	revocations map[revocationKey]fetchedRevocation
	issuers     map[fingerprint]fetchedIssuers
}

type revocationKey struct {
	certificate fingerprint
	uncached    bool // see [Uncached]
}

type fetchedRevocation struct {
	data ades.RevocationData
	err  error
}

type fetchedIssuers struct {
	found []*x509.Certificate
	err   error
}

// NewOnline returns an Online that fetches from the Revocation and the Issuers of the sources, for
// certificates below the Roots. It returns nil if both sources are nil.
func NewOnline(ctx context.Context, sources ades.Sources) *Online {
	if sources.Revocation == nil && sources.Issuers == nil {
		return nil
	}
	return &Online{
		ctx: ctx, sources: sources, wait: maxWait, fetched: new(Data), uncached: new(Data),
		combined:    make(map[*Data]*Data),
		revocations: make(map[revocationKey]fetchedRevocation), issuers: make(map[fingerprint]fetchedIssuers),
	}
}

// Revocation implements [ades.Revocation]. If the certificate is revoked, it returns the revocation
// data together with an error.
func (o *Online) Revocation(_ context.Context, cert, issuer *x509.Certificate, notBefore time.Time) (ades.RevocationData, error) {
	key := revocationKey{sha256.Sum256(cert.Raw), !notBefore.IsZero()}
	r, ok := o.revocations[key]
	if !ok {
		r.err = o.request(len(o.revocations), func(ctx context.Context) (err error) {
			r.data, err = o.sources.Revocation.Revocation(ctx, cert, issuer, notBefore)
			return err
		})
		o.revocations[key] = r
	}
	return r.data, r.err
}

// Issuers implements [ades.Issuers].
func (o *Online) Issuers(_ context.Context, cert *x509.Certificate) ([]*x509.Certificate, error) {
	key := fingerprint(sha256.Sum256(cert.Raw))
	i, ok := o.issuers[key]
	if !ok {
		i.err = o.request(len(o.issuers), func(ctx context.Context) (err error) {
			i.found, err = o.sources.Issuers.Issuers(ctx, cert)
			return err
		})
		o.issuers[key] = i
	}
	return i.found, i.err
}

var (
	_ ades.Revocation = (*Online)(nil)
	_ ades.Issuers    = (*Online)(nil)
)

// request calls fetch within the limits, after the given number of earlier requests of the same
// kind.
func (o *Online) request(before int, fetch func(context.Context) error) error {
	if before >= maxRequests || o.wait <= 0 {
		return fmt.Errorf("%w: the limit of requests for this document is reached", ades.ErrNoRevocation)
	}
	began := time.Now()
	defer func() { o.wait -= time.Since(began) }()
	ctx, cancel := context.WithTimeout(o.ctx, o.wait)
	defer cancel()
	return fetch(ctx)
}

// fetchMissing fetches what the data lacks for the validation of a certificate, and returns it
// together with the data. The error joins the failed requests; the data is valid beside it. A
// certificate that has expired at the time of validation is validated at the end of its validity.
// notBefore is that of [ades.Revocation] for the certificate itself; see [Uncached].
func (o *Online) fetchMissing(data *Data, known *Known, cert *x509.Certificate, at Times, notBefore time.Time) (*Data, error) {
	if o == nil || cert == nil || at.ValidationTime.Before(cert.NotBefore) {
		return data, nil
	}
	if at.ValidationTime.After(cert.NotAfter) {
		at = Times{ValidationTime: cert.NotAfter}
	}
	if chain, err := data.Chain(known, cert, at.ValidationTime); err == nil && !errors.Is(data.ChainStatus(chain, at), ades.ErrNoRevocation) {
		return data, nil
	}
	l := lookup{Online: o, document: data, data: o.withFetched(data)}
	l.fetchRevocations(l.chain(known, cert, at.ValidationTime), at, notBefore)
	return l.data, errors.Join(l.failures...)
}

// fetchNewer fetches revocation data for the certificates of a signer's chain whose revocation data
// in the document does not count any more, and returns it together with the data.
func (o *Online) fetchNewer(data *Data, chain []*x509.Certificate, at Times) *Data {
	l := lookup{Online: o, document: data, data: o.withFetched(data)}
	l.fetchRevocations(chain, at, Uncached(chain[0]))
	return l.data
}

// Uncached returns the notBefore with which [ades.Revocation] gets the status of a signer past every
// cache and accepts any current answer. Any time but zero bypasses the caches, and the beginning of
// the certificate's validity is before the end of every current answer. A certificate may be valid
// since the zero time: then Uncached returns a later time of long ago.
func Uncached(signer *x509.Certificate) (notBefore time.Time) {
	if signer.NotBefore.IsZero() {
		return time.Unix(1, 0)
	}
	return signer.NotBefore
}

// withFetched returns the data of a document together with all that was fetched.
func (o *Online) withFetched(data *Data) *Data {
	if o == nil {
		return data
	}
	all, ok := o.combined[data]
	if !ok {
		all = data.With(o.fetched)
		o.combined[data] = all
	}
	return all
}

// lookup fetches what is missing for one certificate.
type lookup struct {
	*Online
	document *Data // embedded in the document
	data     *Data // document and what was fetched
	failures []error
}

func (l *lookup) add(more *Data) {
	l.fetched = Merge(l.fetched, more)
	clear(l.combined)
	l.data = l.data.With(more)
	l.combined[l.document] = l.data
}

// chain builds a chain, and fetches issuers if the known certificates are not enough. It returns
// nil if there is no chain.
func (l *lookup) chain(known *Known, cert *x509.Certificate, at time.Time) []*x509.Certificate {
	chain, err := l.data.Chain(known, cert, at)
	if err == nil || l.sources.Issuers == nil {
		return chain
	}
	sources := ades.Sources{Roots: l.sources.Roots, TimestampRoots: l.sources.TimestampRoots, Issuers: l}
	if chain, err = FindChain(l.ctx, sources, known.With(l.data.Certificates...), cert, at); err == nil {
		l.add(&Data{Certificates: chain})
	}
	return chain
}

// dropCached drops what was fetched about a signer and may be from a cache.
func (l *lookup) dropCached(signer, issuer *x509.Certificate) {
	kept := l.fetched
	for _, answer := range l.data.About(signer, issuer) {
		if p := answer.RevocationData; !l.document.contains(p) && !l.uncached.contains(p) {
			kept = kept.without(p)
		}
	}
	if kept == l.fetched {
		return
	}
	l.fetched = kept
	clear(l.combined)
	l.data = l.withFetched(l.document)
}

// Issuers implements [ades.Issuers], and keeps the error of a failed request.
func (l *lookup) Issuers(ctx context.Context, cert *x509.Certificate) ([]*x509.Certificate, error) {
	found, err := l.Online.Issuers(ctx, cert)
	if err != nil {
		l.failures = append(l.failures, err)
	}
	return found, err
}

// fetchRevocations fetches revocation data for a chain. notBefore is for its first certificate, and
// is not zero if that is a signer's: revocation data about the authorities above may come from a
// cache.
func (l *lookup) fetchRevocations(chain []*x509.Certificate, at Times, notBefore time.Time) {
	if !notBefore.IsZero() && len(chain) > 1 {
		l.dropCached(chain[0], chain[1])
	}
	for i := 0; i+1 < len(chain); i++ {
		l.fetchRevocation(chain[i], chain[i+1], at, notBefore, 0)
		notBefore = time.Time{}
	}
}

// fetchRevocation fetches revocation data about a certificate below a root if its status is not
// known, and then about the OCSP responder that signed it.
func (l *lookup) fetchRevocation(cert, issuer *x509.Certificate, at Times, notBefore time.Time, depth int) {
	if l.sources.Revocation == nil || depth > maxResponderDepth ||
		!errors.Is(l.data.Status(cert, issuer, at), ades.ErrNoRevocation) {
		return
	}
	fetched, err := l.Revocation(l.ctx, cert, issuer, notBefore)
	if err != nil && !errors.Is(err, ades.ErrRevoked) {
		l.failures = append(l.failures, err)
		return
	}
	more := &Data{OCSP: appendNonNil(nil, fetched.OCSP), CRLs: appendNonNil(nil, fetched.CRL)}
	answers := slices.DeleteFunc(slices.Clone(l.data.With(more).About(cert, issuer)), func(answer Answer) bool {
		return !bytes.Equal(answer.RevocationData.OCSP, fetched.OCSP) || !bytes.Equal(answer.RevocationData.CRL, fetched.CRL)
	})
	if len(answers) == 0 {
		l.failures = append(l.failures, fmt.Errorf("%w for %s: the answer is not about the certificate", ades.ErrNoRevocation, ades.Identify(cert)))
		return
	}
	if !notBefore.IsZero() {
		l.uncached = Merge(l.uncached, more)
	}
	l.add(more)
	for _, answer := range answers {
		if !answer.Signer.Equal(issuer) {
			l.fetchRevocation(answer.Signer, issuer, Times{SigningTime: at.SigningTime, ValidationTime: answer.ProducedAt}, time.Time{}, depth+1)
		}
	}
}

// unavailableWarning returns the warning for failed requests.
func unavailableWarning(err error) string {
	return fmt.Sprintf("Some data that the document lacks could not be fetched: %s.", strings.ReplaceAll(err.Error(), "\n", "; "))
}
