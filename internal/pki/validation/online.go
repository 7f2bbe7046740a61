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

// maxRequests bounds the certificates whose status one verification asks for, whatever is in the document, and those whose
// issuer it asks for.
const maxRequests = 64

// Online asks for what a document lacks, about each certificate once in one verification: for issuers where
// no chain leads to a root, and for the status of what has one. nil asks nobody.
//
// What it gets exists since now, and proves nothing to anybody later: it is for the judgement alone, and no part
// of the document's level. A status of today tells of earlier times too, since it says since when a
// certificate is revoked, so that it is as good for a judgement as of a time in the past (EN 319 102-1 5.2.5.4
// asks that it be no older than that). It says nothing of a certificate that has expired before it was issued,
// unless the authority keeps the status of these.
type Online struct {
	ctx         context.Context
	sources     ades.Sources
	wait        time.Duration // that asking may still take
	fetched     *Data
	combined    map[*Data]*Data // data of the document, with all that was fetched
	revocations map[fingerprint]fetchedRevocation
	issuers     map[fingerprint]fetchedIssuers
}

type fetchedRevocation struct {
	data ades.RevocationData
	err  error
}

type fetchedIssuers struct {
	found []*x509.Certificate
	err   error
}

// NewOnline returns what asks the Revocation and the Issuers of the sources, below the Roots; nil when there is
// nobody to ask.
func NewOnline(ctx context.Context, sources ades.Sources) *Online {
	if sources.Revocation == nil && sources.Issuers == nil {
		return nil
	}
	return &Online{
		ctx: ctx, sources: sources, wait: maxWait, fetched: new(Data),
		combined:    make(map[*Data]*Data),
		revocations: make(map[fingerprint]fetchedRevocation), issuers: make(map[fingerprint]fetchedIssuers),
	}
}

// supply returns the data with what it lacks to judge a certificate, as far as that is to be had. The error is
// what was asked for in vain. A certificate that is not valid at the time of judgement is looked at as it was last.
func (o *Online) fetchMissing(data *Data, known *Known, cert *x509.Certificate, at Times) (*Data, error) {
	if o == nil || cert == nil || at.ValidationTime.Before(cert.NotBefore) {
		return data, nil
	}
	if at.ValidationTime.After(cert.NotAfter) {
		at = Times{ValidationTime: cert.NotAfter}
	}
	if chain, err := data.Chain(known, cert, at.ValidationTime); err == nil && !errors.Is(data.ChainStatus(chain, at), ades.ErrNoRevocation) {
		return data, nil
	}
	a := lookup{Online: o, document: data, data: o.withFetched(data)}
	a.fetchRevocations(a.chain(known, cert, at.ValidationTime), at)
	return a.data, errors.Join(a.failures...)
}

// renew returns the data with new proofs about a chain, where those that there are count no more.
func (o *Online) fetchNewer(data *Data, chain []*x509.Certificate, at Times) *Data {
	a := lookup{Online: o, document: data, data: o.withFetched(data)}
	a.fetchRevocations(chain, at)
	return a.data
}

// with returns data of the document with all that was fetched.
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

// Revocation implements [ades.Revocation]. A proof comes with the error that says what is in it.
func (o *Online) Revocation(_ context.Context, cert, issuer *x509.Certificate, notBefore time.Time) (ades.RevocationData, error) {
	key := fingerprint(sha256.Sum256(cert.Raw))
	s, asked := o.revocations[key]
	if !asked {
		s.err = o.request(len(o.revocations), func(ctx context.Context) (err error) {
			s.data, err = o.sources.Revocation.Revocation(ctx, cert, issuer, notBefore)
			return err
		})
		o.revocations[key] = s
	}
	return s.data, s.err
}

// Issuers implements [ades.Issuers].
func (o *Online) Issuers(_ context.Context, cert *x509.Certificate) ([]*x509.Certificate, error) {
	key := fingerprint(sha256.Sum256(cert.Raw))
	i, asked := o.issuers[key]
	if !asked {
		i.err = o.request(len(o.issuers), func(ctx context.Context) (err error) {
			i.found, err = o.sources.Issuers.Issuers(ctx, cert)
			return err
		})
		o.issuers[key] = i
	}
	return i.found, i.err
}

// unavailableWarning is a sentence about what was asked for.
func unavailableWarning(err error) string {
	return fmt.Sprintf("Not all that the document lacks was to be had: %s.", strings.ReplaceAll(err.Error(), "\n", "; "))
}

// ask asks within the bounds, so many having been asked before.
func (o *Online) request(before int, fetch func(context.Context) error) error {
	if before >= maxRequests || o.wait <= 0 {
		return fmt.Errorf("%w: enough was asked for this document", ades.ErrNoRevocation)
	}
	began := time.Now()
	defer func() { o.wait -= time.Since(began) }()
	ctx, cancel := context.WithTimeout(o.ctx, o.wait)
	defer cancel()
	return fetch(ctx)
}

var (
	_ ades.Revocation = (*Online)(nil)
	_ ades.Issuers    = (*Online)(nil)
)

// lookup is the search for what one certificate lacks.
type lookup struct {
	*Online
	document, data *Data // of the document, and with what was fetched
	failures       []error
}

func (a *lookup) add(more *Data) {
	a.fetched = Merge(a.fetched, more)
	clear(a.combined)
	a.data = a.data.With(more)
	a.combined[a.document] = a.data
}

// chain builds a chain, over issuers that are asked for if need be; nil when there is none.
func (a *lookup) chain(known *Known, cert *x509.Certificate, at time.Time) []*x509.Certificate {
	chain, err := a.data.Chain(known, cert, at)
	if err == nil || a.sources.Issuers == nil {
		return chain
	}
	sources := ades.Sources{Roots: a.sources.Roots, TimestampRoots: a.sources.TimestampRoots, Issuers: a}
	if chain, err = FindChain(a.ctx, sources, known.With(a.data.Certificates...), cert, at); err == nil {
		a.add(&Data{Certificates: chain})
	}
	return chain
}

// Issuers implements [ades.Issuers], and notes what was asked in vain.
func (a *lookup) Issuers(ctx context.Context, cert *x509.Certificate) ([]*x509.Certificate, error) {
	found, err := a.Online.Issuers(ctx, cert)
	if err != nil {
		a.failures = append(a.failures, err)
	}
	return found, err
}

// fetchRevocations asks about the certificates of a chain, each of which is below a root.
func (a *lookup) fetchRevocations(chain []*x509.Certificate, at Times) {
	for i := 0; i+1 < len(chain); i++ {
		a.fetchRevocation(chain[i], chain[i+1], at, 0)
	}
}

// prove asks about a certificate below a root, if its status is not known, and about who answered in turn.
func (a *lookup) fetchRevocation(cert, issuer *x509.Certificate, at Times, depth int) {
	if a.sources.Revocation == nil || depth > maxResponderDepth ||
		!errors.Is(a.data.Status(cert, issuer, at), ades.ErrNoRevocation) {
		return
	}
	fetched, err := a.Revocation(a.ctx, cert, issuer, time.Time{})
	if err != nil && !errors.Is(err, ades.ErrRevoked) {
		a.failures = append(a.failures, err)
		return
	}
	more := &Data{OCSP: appendNonNil(nil, fetched.OCSP), CRLs: appendNonNil(nil, fetched.CRL)}
	answers := slices.DeleteFunc(slices.Clone(a.data.With(more).About(cert, issuer)), func(answer Answer) bool {
		return !bytes.Equal(answer.RevocationData.OCSP, fetched.OCSP) || !bytes.Equal(answer.RevocationData.CRL, fetched.CRL)
	})
	if len(answers) == 0 {
		a.failures = append(a.failures, fmt.Errorf("%w for %s: the answer is not about the certificate", ades.ErrNoRevocation, ades.Identify(cert)))
		return
	}
	a.add(more)
	for _, answer := range answers {
		if !answer.Signer.Equal(issuer) {
			a.fetchRevocation(answer.Signer, issuer, Times{SigningTime: at.SigningTime, ValidationTime: answer.ProducedAt}, depth+1)
		}
	}
}
