package ades

import (
	"context"
	"crypto"
	"crypto/x509"
	"errors"
	"fmt"
	"time"
)

// Errors of [Sources].
var (
	// ErrTimestamp: a timestamp authority refused the request, or its response does not answer it.
	ErrTimestamp = errors.New("ades: no timestamp")
	// ErrNoRevocation: no reliable revocation data states whether the certificate is revoked.
	ErrNoRevocation = errors.New("ades: no revocation status")
	// ErrRevoked is the sentinel that a [RevokedError] wraps.
	ErrRevoked = errors.New("ades: certificate revoked")
	// ErrUnavailable: a source did not answer, or asks the caller to try again later. An error
	// wraps it beside ErrTimestamp or ErrNoRevocation when the same request may succeed later.
	ErrUnavailable = errors.New("ades: source not available now")
)

// MaxSkew is the greatest difference between the clock of an authority and the local clock.
const MaxSkew = time.Minute

// Timestamper gets timestamp tokens. Several goroutines may use it at once.
type Timestamper interface {
	// Timestamp returns a TimeStampToken (RFC 3161 2.4.2), a DER ContentInfo, over a digest made
	// with the given hash. The token answers this request, and it is signed by the certificate for
	// timestamping that is embedded in it. The caller checks whether that certificate leads to a
	// trusted root. If there is no token, the error is [ErrTimestamp].
	Timestamp(ctx context.Context, h crypto.Hash, sum []byte) (token []byte, err error)
}

// RevocationData is one OCSP response or one CRL, in DER. One of the fields is set.
type RevocationData struct {
	OCSP []byte // a whole OCSPResponse (RFC 6960 4.2.1), not the BasicOCSPResponse in it
	CRL  []byte // a CertificateList (RFC 5280 5.1)
}

// Revocation gets revocation data. Several goroutines may use it at once.
type Revocation interface {
	// Revocation returns revocation data about cert, which issuer issued. The data is signed by the
	// issuer or by its delegate, and is valid now.
	//
	// With a notBefore, the time of a signature, the data is fetched by this call and never comes
	// from a cache. Its thisUpdate is not before that second, or its nextUpdate is later than
	// notBefore: OCSP responders prepare responses, and authorities publish CRLs, hours ahead. With
	// a zero notBefore, Revocation may return earlier data until its nextUpdate. A verification,
	// which accepts all data that is valid now, passes the beginning of the validity of a signer's
	// certificate, or another time of long ago, only to get data that is not from a cache.
	//
	// A [RevokedError] comes with its data, because a signature made before the revocation remains
	// valid. If there is no data, the error is [ErrNoRevocation].
	Revocation(ctx context.Context, cert, issuer *x509.Certificate, notBefore time.Time) (RevocationData, error)
}

// Issuers finds the certificates that are missing between a certificate and a root. Several
// goroutines may use it at once.
type Issuers interface {
	// Issuers returns certificates of which one may have issued cert, in any order. Others may be
	// among them, and none is verified. If no source for them is known, it returns none and no
	// error.
	Issuers(ctx context.Context, cert *x509.Certificate) ([]*x509.Certificate, error)
}

// Sources are the sources of timestamps, revocation data and certificates. A nil source is not
// used, and an operation that needs it fails. The zero value is offline. Package ades/online has
// sources that ask timestamp authorities and the addresses in certificates over HTTP.
type Sources struct {
	Time       Timestamper
	Revocation Revocation
	Issuers    Issuers
	// Roots are the trusted roots for the certificates of signers. Revocation is asked only about
	// certificates below them. Issuers is also asked about certificates that are not yet known to
	// lead to a root.
	Roots *x509.CertPool
	// TimestampRoots are the trusted roots for the certificates of timestamp authorities; nil:
	// Roots.
	TimestampRoots *x509.CertPool
	// Chains, if not nil, caches verified chains for later calls. A later call finds the chains of
	// the same pools in Roots and TimestampRoots only.
	Chains *Chains
}

// SourceKind is the kind of a source on the network.
type SourceKind string

const (
	TimestampAuthority SourceKind = "timestamp authority"
	OCSPResponder      SourceKind = "OCSP responder"
	CRLServer          SourceKind = "CRL"
	IssuerCertificate  SourceKind = "issuer's certificate"
)

// SourceFailure is how a source failed.
type SourceFailure string

const (
	SourceUnreachable SourceFailure = "unreachable" // no connection, or no whole answer in time
	SourceRefused     SourceFailure = "refused"     // an HTTP status other than 200, or a refusal in the protocol of the source
	SourceInvalid     SourceFailure = "invalid"     // an answer that does not verify, or does not answer the request
)

// SourceError states that a source failed, and how. The errors of the sources in package ades/online wrap one for each
// source that was asked.
type SourceError struct {
	Kind    SourceKind
	Address string // URL, without user information and query
	Failure SourceFailure
	Err     error // the cause
}

func (e *SourceError) Error() string { return e.Address + ": " + e.Err.Error() }

func (e *SourceError) Unwrap() error { return e.Err }

// RevokedError states that a certificate is revoked, since when and why. It wraps [ErrRevoked].
type RevokedError struct {
	Certificate *x509.Certificate
	At          time.Time
	Reason      int // CRLReason (RFC 5280 5.3.1); 0, unspecified, when none is given
}

func (e *RevokedError) Error() string {
	return fmt.Sprintf("%v: %s since %s, %s", ErrRevoked,
		Identify(e.Certificate), e.At.UTC().Format(time.RFC3339), reasonName(e.Reason))
}

func (e *RevokedError) Unwrap() error { return ErrRevoked }

// reasons are the names of the CRLReason values (RFC 5280 5.3.1). Value 7 is not used.
var reasons = [...]string{
	"unspecified", "keyCompromise", "cACompromise", "affiliationChanged", "superseded",
	"cessationOfOperation", "certificateHold", "", "removeFromCRL", "privilegeWithdrawn", "aACompromise",
}

func reasonName(reason int) string {
	if reason < 0 || reason >= len(reasons) || reasons[reason] == "" {
		return fmt.Sprintf("reason %d", reason)
	}
	return reasons[reason]
}
