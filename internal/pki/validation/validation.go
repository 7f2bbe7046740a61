// Package validation validates the certificates of signatures and timestamps as EN 319 102-1
// describes, for signatures of every format. It builds certificate chains, checks the revocation
// status of their certificates, decides whether a timestamp is trusted, and performs past
// certificate validation. The packages of the formats know what a signature or a timestamp covers,
// and where a document stores its validation data.
//
// A [Validator] validates by the validation data that is embedded in a document:
//
//	known := validation.NewKnown(ctx, sources, certificates...)
//	judge := validation.Validator{Data: data, Time: time}
//	judge.Timestamp(&timestamp, known, time) // 5.4: is the timestamp trusted?
//	judge.Signer(&report, known)             // 5.2.6: the certificate at the best signature time
//	judge.PastValidation(&report, poes)      // 5.6.2: does the revocation data still count?
//
// [Collect] gathers the validation data that a verifier needs long after the signature was made (EN
// 319 142-1 5.4, EN 319 132-1 5.4): the certificates from each signer, timestamp authority and OCSP
// responder to a root, and revocation data for each certificate below the root. [Data.Missing]
// reports what a document lacks for level LT. [Data.Lacking] reports what has to be collected both
// for level LT and for the revocation status, and [Complete] collects only that.
//
// All functions follow the same rules. A chain ends at the first trust anchor. Every certificate
// below it needs revocation data, and so does the OCSP responder that signed this data. The only
// exceptions are certificates that are issued without revocation: see isExempt. Missing ignores
// times, as validators do when they determine the level of a signature. The other functions check
// them.
package validation

import (
	"cmp"
	"context"
	"crypto/sha256"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/crl"
	"github.com/innsigli/innsigli/internal/pki/ocsp"
)

// Validator validates signers and timestamps at a time, by the validation data of a document and by
// data that it fetches online.
type Validator struct {
	Data   *Data     // embedded in the document
	Time   time.Time // at which the document is validated
	Online *Online   // nil: no data is fetched
}

// Known holds the trusted roots, and the certificates of a document outside of its validation data,
// such as those in its signatures and timestamps. Issuers are looked for among these certificates.
// All calls with a Known, and with the ones that [Known.With] returns, share one limit on the work.
// When the limit is reached or the context ends, no more chains and no more revocation data are
// found. [FindChain], [Collect] and [Complete] return the error of a context that has ended; after
// the methods of [Data] the caller checks the context.
//
// Calls with a Known do not change what it holds. A Known is not safe for concurrent use.
type Known struct {
	work       *work
	roots      *x509.CertPool                 // to which chains have to lead
	parent     *Known                         // whose certificates come first; nil: none
	bySubject  map[string][]*x509.Certificate // by RawSubject
	timestamps *Known                         // the result of ForTimestamps; nil: not made yet
}

// NewKnown returns the Known of one document. Of the sources it uses the roots and the cache of
// chains; without one, it caches chains for the document. Without roots, no certificate is trusted.
func NewKnown(ctx context.Context, sources ades.Sources, certificates ...*x509.Certificate) *Known {
	k := &Known{work: newWork(ctx, sources), roots: sources.Roots}
	k.bySubject = k.work.bySubject(certificates)
	return k
}

// With returns a Known that also holds the certificates.
func (k *Known) With(certificates ...*x509.Certificate) *Known {
	return &Known{work: k.work, roots: k.roots, parent: k, bySubject: k.work.bySubject(certificates)}
}

// ForTimestamps returns a Known with the same certificates and the roots of timestamp authorities.
func (k *Known) ForTimestamps() *Known {
	roots := k.work.sources.TimestampRoots
	if roots == nil || roots == k.roots {
		return k
	}
	if k.timestamps == nil {
		k.timestamps = &Known{work: k.work, roots: roots, parent: k.parent, bySubject: k.bySubject}
	}
	return k.timestamps
}

// forTarget returns a Known with the roots to which the target's certificate has to lead.
func (k *Known) forTarget(t Target) *Known {
	if t.Timestamp {
		return k.ForTimestamps()
	}
	return k
}

func (k *Known) withSubject(subject []byte) []*x509.Certificate {
	if k == nil {
		return nil
	}
	return slices.Concat(k.parent.withSubject(subject), k.bySubject[string(subject)])
}

const (
	// maxWork limits the work for one document, in bytes that are hashed or read. The verification
	// of a signature counts as signatureWork bytes.
	maxWork       = 2 << 30
	signatureWork = 256 << 10
	// answerWork is the cost of reading an Answer that is already verified.
	answerWork = 1 << 10
)

// work counts the work for one document against maxWork, and caches the results so that no
// signature is verified twice.
type work struct {
	ctx              context.Context
	sources          ades.Sources // only the roots and the cache of chains are used
	remaining        int64
	fingerprints     map[*x509.Certificate]fingerprint
	listFingerprints map[*crl.List]fingerprint
	issued           map[[2]fingerprint]bool // by certificate and issuer
	anchored         map[anchorKey]bool
	verified         map[verificationKey]verificationResult
}

// fingerprint is the SHA-256 digest of a DER encoding: of a certificate or of revocation data.
type fingerprint [sha256.Size]byte

// parsedCertificate identifies a certificate together with the number of its critical extensions
// that no code has handled. [tsp.Token.Verify] handles one and removes it, and a certificate has no
// chain before that.
type parsedCertificate struct {
	fingerprint
	unhandled int
}

// anchorKey identifies the question whether one of the roots issued a certificate.
type anchorKey struct {
	certificate parsedCertificate
	roots       *x509.CertPool
}

// verificationKey identifies the question whether an issuer, or a responder that it authorized,
// signed revocation data.
type verificationKey struct{ revocationData, issuer fingerprint }

type verificationResult struct {
	responder *x509.Certificate // nil for a CRL
	err       error
}

func newWork(ctx context.Context, sources ades.Sources) *work {
	sources.Chains = cmp.Or(sources.Chains, new(ades.Chains))
	return &work{
		ctx: ctx, sources: sources, remaining: maxWork,
		fingerprints:     make(map[*x509.Certificate]fingerprint),
		listFingerprints: make(map[*crl.List]fingerprint),
		issued:           make(map[[2]fingerprint]bool),
		anchored:         make(map[anchorKey]bool),
		verified:         make(map[verificationKey]verificationResult),
	}
}

// spend subtracts n from the remaining work. It reports whether the work may be done: false when
// too little remains, or when the context has ended.
func (w *work) spend(n int64) bool {
	w.remaining -= n
	return w.remaining >= 0 && w.ctx.Err() == nil
}

// interrupted returns an error if the context has ended, in place of err, the error of the work until then or nil. Chains
// and revocation data that exist may not have been found, so err does not count, unless a source was unavailable.
func (w *work) interrupted(err error) error {
	ended := w.ctx.Err()
	switch {
	case ended == nil:
		return nil
	case errors.Is(err, ades.ErrUnavailable):
		return fmt.Errorf("validation: interrupted: %w: %w", ended, err)
	}
	return fmt.Errorf("validation: interrupted: %w: %w", ades.ErrUnavailable, ended)
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

func (w *work) parsed(c *x509.Certificate) parsedCertificate {
	return parsedCertificate{w.fingerprint(c), len(c.UnhandledCriticalExtensions)}
}

// bySubject returns the certificates by RawSubject, without duplicates.
func (w *work) bySubject(certificates []*x509.Certificate) map[string][]*x509.Certificate {
	named, seen := make(map[string][]*x509.Certificate), make(map[fingerprint]bool)
	for _, c := range certificates {
		if key := w.fingerprint(c); !seen[key] {
			seen[key] = true
			named[string(c.RawSubject)] = append(named[string(c.RawSubject)], c)
		}
	}
	return named
}

// isIssuedBy reports whether issuer issued c. It verifies the signature once.
func (w *work) isIssuedBy(c, issuer *x509.Certificate) bool {
	key := [2]fingerprint{w.fingerprint(c), w.fingerprint(issuer)}
	issued, ok := w.issued[key]
	if !ok && w.spend(signatureWork) {
		issued = w.sources.CheckIssuer(c, issuer) == nil
		w.issued[key] = issued
	}
	return issued
}

// verifyResponse verifies an OCSP response once for each issuer, and returns the certificate that
// signed it.
func (w *work) verifyResponse(r *ocsp.Response, issuer *x509.Certificate) (*x509.Certificate, error) {
	key := verificationKey{sha256.Sum256(r.Raw), w.fingerprint(issuer)}
	v, ok := w.verified[key]
	if !ok {
		if !w.spend(int64(len(r.Raw)) + signatureWork) {
			return nil, errTooMuch
		}
		v.responder, v.err = r.VerifyWith(issuer, w.sources)
		w.verified[key] = v
	}
	return v.responder, v.err
}

// verifyList verifies a CRL once for each issuer. It hashes the CRL only once, because a CRL may be
// long.
func (w *work) verifyList(l *crl.List, issuer *x509.Certificate) error {
	sum, ok := w.listFingerprints[l]
	if !ok {
		if !w.spend(int64(len(l.Raw))) {
			return errTooMuch
		}
		sum = sha256.Sum256(l.Raw)
		w.listFingerprints[l] = sum
	}
	key := verificationKey{sum, w.fingerprint(issuer)}
	v, ok := w.verified[key]
	if !ok {
		if !w.spend(int64(len(l.Raw)) + signatureWork) {
			return errTooMuch
		}
		v.err = w.sources.CheckSigned(func() [sha256.Size]byte { return sum }, issuer, func() error { return l.Verify(issuer) })
		w.verified[key] = v
	}
	return v.err
}
