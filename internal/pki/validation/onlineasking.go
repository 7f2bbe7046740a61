package validation

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/innsigli/innsigli/ades"
)

// asking is the search for what one certificate lacks.
type asking struct {
	*Online
	own, data *Data // of the document, and with what was fetched
	failures  []error
}

func (a *asking) add(more *Data) {
	a.fetched = Merge(a.fetched, more)
	clear(a.supplied)
	a.data = a.data.With(more)
	a.supplied[a.own] = a.data
}

// chain builds a chain, over issuers that are asked for if need be; nil when there is none.
func (a *asking) chain(known *Known, cert *x509.Certificate, at time.Time) []*x509.Certificate {
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
func (a *asking) Issuers(ctx context.Context, cert *x509.Certificate) ([]*x509.Certificate, error) {
	found, err := a.Online.Issuers(ctx, cert)
	if err != nil {
		a.failures = append(a.failures, err)
	}
	return found, err
}

// proveAll asks about the certificates of a chain, each of which is below a root.
func (a *asking) proveAll(chain []*x509.Certificate, at Times) {
	for i := 0; i+1 < len(chain); i++ {
		a.prove(chain[i], chain[i+1], at, 0)
	}
}

// prove asks about a certificate below a root, if its status is not known, and about who answered in turn.
func (a *asking) prove(cert, issuer *x509.Certificate, at Times, responders int) {
	if a.sources.Revocation == nil || responders > maxResponders ||
		!errors.Is(a.data.Status(cert, issuer, at), ades.ErrNoRevocation) {
		return
	}
	proof, err := a.Revocation(a.ctx, cert, issuer, time.Time{})
	if err != nil && !errors.Is(err, ades.ErrRevoked) {
		a.failures = append(a.failures, err)
		return
	}
	got := &Data{OCSP: present(proof.OCSP), CRLs: present(proof.CRL)}
	answers := slices.DeleteFunc(slices.Clone(a.data.With(got).About(cert, issuer)), func(answer Answer) bool {
		return !bytes.Equal(answer.Proof.OCSP, proof.OCSP) || !bytes.Equal(answer.Proof.CRL, proof.CRL)
	})
	if len(answers) == 0 {
		a.failures = append(a.failures, fmt.Errorf("%w for %s: what was answered is no proof", ades.ErrNoRevocation, ades.Identify(cert)))
		return
	}
	a.add(got)
	for _, answer := range answers {
		if !answer.Signer.Equal(issuer) {
			a.prove(answer.Signer, issuer, Times{SigningTime: at.SigningTime, ValidationTime: answer.ProducedAt}, responders+1)
		}
	}
}

func present(der []byte) [][]byte {
	if der == nil {
		return nil
	}
	return [][]byte{der}
}
