package online

import (
	"context"
	"crypto"
	"crypto/sha256"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/crl"
)

// Revocation asks the OCSP responders that a certificate names, and when none gives
// an answer to rely on, looks into the CRLs that it names. The zero value is ready.
// It may be used by several goroutines, and keeps what it was told until the
// nextUpdate, though for a day at most. Answers of more than 1 MiB, as CRLs may be, are
// read two at a time.
type Revocation struct {
	Client *http.Client // nil: one of [NewClient], public addresses only
	// Hash is that of the CertID (RFC 6960 4.1.1); zero: SHA-1, the only one that every
	// responder knows (RFC 5019 2.1.1). It identifies and protects nothing.
	Hash crypto.Hash

	guarded guarded
	answers cache[finding]
	lists   cache[*crl.List]
	large   slots
}

// question is what is asked: [ades.Revocation] has the terms.
type question struct {
	cert, issuer *x509.Certificate
	notBefore    time.Time
}

// finding is a proof and what it says.
type finding struct {
	proof   ades.RevocationData
	revoked *ades.RevokedError // nil: good
}

// Revocation implements [ades.Revocation].
func (r *Revocation) Revocation(ctx context.Context, cert, issuer *x509.Certificate, notBefore time.Time) (ades.RevocationData, error) {
	q := question{cert, issuer, notBefore}
	var failures []error
	for _, way := range r.ways(cert) {
		found, err := way.ask(ctx, way.address, q)
		switch {
		case err == nil && found.revoked != nil:
			return found.proof, found.revoked
		case err == nil:
			return found.proof, nil
		}
		failures = append(failures, fmt.Errorf("%s: %w", redacted(way.address), err))
		if ctx.Err() != nil {
			break // whoever asked went away
		}
	}
	return ades.RevocationData{}, q.unanswered(failures)
}

// way is an address to ask, and how.
type way struct {
	address string
	ask     func(ctx context.Context, address string, q question) (finding, error)
}

// ways lists OCSP first: its answers are newer and smaller than CRLs.
func (r *Revocation) ways(cert *x509.Certificate) []way {
	var all []way
	for _, address := range firstAddresses(cert.OCSPServer) {
		all = append(all, way{address, r.byOCSP})
	}
	for _, address := range firstAddresses(cert.CRLDistributionPoints) {
		all = append(all, way{address, r.byCRL})
	}
	return all
}

func (q question) unanswered(failures []error) error {
	if len(failures) == 0 {
		return fmt.Errorf("%w for %s: it names no responder and no CRL", ades.ErrNoRevocation, ades.Identify(q.cert))
	}
	return fmt.Errorf("%w for %s: %w", ades.ErrNoRevocation, ades.Identify(q.cert), errors.Join(failures...))
}

// key names what an address says about certificates, under their issuer's.
func key(address string, certificates ...*x509.Certificate) string {
	out := address
	for _, c := range certificates {
		sum := sha256.Sum256(c.Raw)
		out += "\x00" + string(sum[:])
	}
	return out
}
