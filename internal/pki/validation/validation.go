// Package validation validates the certificates of signatures and timestamps in the terms of EN 319 102-1, for signatures
// of every format: the chain of a certificate, its revocation status, the time that a timestamp proves, and past certificate
// validation. What a signature or a timestamp is over, and where validation data stands, the format knows.
//
// A [Judge] judges what a document carries:
//
//	known := validation.NewKnown(ctx, sources, certificates...)
//	judge := validation.Judge{Data: data, Time: time}
//	judge.Timestamp(&timestamp, known, time)   // 5.4: does it prove its time?
//	judge.Signer(&report, known)               // 5.2.6: the signer's certificate as of the best signature time
//	judge.Evidence(&report, poes)              // 5.6.2: does the revocation data count still?
//
// [Collect] gathers what a signature needs to be validated long after, its validation data (EN 319 142-1 5.4, EN 319 132-1
// 5.4): the certificates from each signer, timestamp authority and OCSP responder to a root, and revocation data for each
// certificate below. [Data.Missing] reports what of that a document lacks for level LT, [Data.Lacking] what has to be
// collected for both level and status, and [Complete] collects that alone.
//
// All follow the same rules. A chain is walked up to the first trust anchor. Every certificate below it needs revocation
// data, and so does the responder that signed this, save the few that are issued without revocation: see exempt. Missing
// looks at no times, as validators do that find the level of a signature; the others do.
package validation

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/crl"
	"github.com/innsigli/innsigli/internal/pki/ocsp"
)

// Judge judges by the data that a document carries, as of a time, and by what else can be had.
type Judge struct {
	Data   *Data
	Time   time.Time // of the judgement
	Online *Online   // nil: nobody is asked
}

const (
	// maxWork bounds what all questions about one document may cost together, in bytes that
	// are hashed or read through. Verifying a signature counts as so many more.
	maxWork       = 2 << 30
	signatureWork = 256 << 10
	// answerWork is for looking at an answer that was verified before.
	answerWork = 1 << 10
)

// work is what may still be done about one document, and what need not be done again.
type work struct {
	ctx          context.Context
	sources      ades.Sources // of which the roots and the chains are used
	remaining    int64
	fingerprints map[*x509.Certificate]fingerprint
	issued       map[[2]fingerprint]bool
	anchored     map[anchorKey]bool
	verified     map[verificationKey]verificationResult
	lists        map[*crl.List]fingerprint
}

// verification is whether a proof is an issuer's, or a responder's for it.
type verificationKey struct{ revocationData, issuer fingerprint }

type verificationResult struct {
	responder *x509.Certificate
	err       error
}

// anchor is a question whether a root issued a certificate.
type anchorKey struct {
	certificate fingerprint
	roots       *x509.CertPool
}

// id tells certificates apart.
type fingerprint [sha256.Size]byte

func newWork(ctx context.Context, sources ades.Sources) *work {
	return &work{
		ctx: ctx, sources: sources, remaining: maxWork, fingerprints: make(map[*x509.Certificate]fingerprint),
		issued: make(map[[2]fingerprint]bool), anchored: make(map[anchorKey]bool),
		verified: make(map[verificationKey]verificationResult), lists: make(map[*crl.List]fingerprint),
	}
}

// spend reports whether so much may still be done. Whoever asked may have gone away.
func (w *work) spend(n int64) bool {
	w.remaining -= n
	return w.remaining >= 0 && w.ctx.Err() == nil
}

func (w *work) fingerprint(c *x509.Certificate) fingerprint {
	sum, ok := w.fingerprints[c]
	if !ok {
		w.spend(int64(len(c.Raw)))
		sum = sha256.Sum256(c.Raw)
		w.fingerprints[c] = sum
	}
	return sum
}

// isIssuer reports whether the one issued the other. It is found out once.
func (w *work) isIssuer(issuer, c *x509.Certificate) bool {
	key := [2]fingerprint{w.fingerprint(issuer), w.fingerprint(c)}
	issued, ok := w.issued[key]
	if !ok && w.spend(signatureWork) {
		issued = w.sources.CheckIssuer(c, issuer) == nil
		w.issued[key] = issued
	}
	return issued
}

// verifyResponse verifies a response once for each issuer, and returns who signed it.
func (w *work) verifyResponse(r *ocsp.Response, issuer *x509.Certificate) (*x509.Certificate, error) {
	key := verificationKey{sha256.Sum256(r.Raw), w.fingerprint(issuer)}
	v, ok := w.verified[key]
	if !ok {
		if !w.spend(int64(len(r.Raw)) + signatureWork) {
			return nil, errTooMuch
		}
		v.responder, v.err = r.VerifyWith(issuer, w.sources.CheckIssuer)
		w.verified[key] = v
	}
	return v.responder, v.err
}

// verifyList verifies a list once for each issuer. It may be long, and is hashed once.
func (w *work) verifyList(l *crl.List, issuer *x509.Certificate) error {
	sum, ok := w.lists[l]
	if !ok {
		if !w.spend(int64(len(l.Raw))) {
			return errTooMuch
		}
		sum = sha256.Sum256(l.Raw)
		w.lists[l] = sum
	}
	key := verificationKey{sum, w.fingerprint(issuer)}
	v, ok := w.verified[key]
	if !ok {
		if !w.spend(int64(len(l.Raw)) + signatureWork) {
			return errTooMuch
		}
		v.err = l.Verify(issuer)
		w.verified[key] = v
	}
	return v.err
}
