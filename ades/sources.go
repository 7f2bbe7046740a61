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
	// ErrTimestamp: a timestamp authority refused, or its answer is not one to the
	// request.
	ErrTimestamp = errors.New("ades: no timestamp")
	// ErrNoRevocation: nothing that may be relied upon says whether the certificate
	// is revoked.
	ErrNoRevocation = errors.New("ades: no revocation status")
	// ErrRevoked is what a [RevokedError] is.
	ErrRevoked = errors.New("ades: certificate revoked")
	// ErrUnavailable: a source did not answer, or asks to come back. It stands beside
	// ErrTimestamp or ErrNoRevocation when the same question may get an answer later.
	ErrUnavailable = errors.New("ades: source not available now")
)

// MaxSkew is how far off ours the clock of an authority may be.
const MaxSkew = time.Minute

// Timestamper gets timestamp tokens. It is used by several goroutines.
type Timestamper interface {
	// Timestamp returns a TimeStampToken (RFC 3161 2.4.2), a DER ContentInfo, over a
	// sum of the hash given. The token answers this very request and is signed by the
	// certificate it carries for that purpose; whether that one leads to a root is left
	// to the caller. [ErrTimestamp] when there is none.
	Timestamp(ctx context.Context, h crypto.Hash, sum []byte) (token []byte, err error)
}

// RevocationData states whether a certificate is revoked: one of the two, in DER.
type RevocationData struct {
	OCSP []byte // a whole OCSPResponse (RFC 6960 4.2.1), not the BasicOCSPResponse in it
	CRL  []byte // a CertificateList (RFC 5280 5.1)
}

// Revocation gets revocation data. It is used by several goroutines.
type Revocation interface {
	// Revocation returns revocation data about cert, which issuer issued. It is signed by the issuer
	// or for it, and is in force now.
	//
	// With a notBefore, the time of a signature, it was asked for in this call and comes from no
	// cache. Its thisUpdate is that second or later, or its nextUpdate is later than notBefore:
	// responders prepare answers, and authorities publish CRLs, hours ahead. With the zero time,
	// earlier data may be returned until its nextUpdate.
	//
	// A [RevokedError] comes with its data, because a signature made before the revocation stands.
	// [ErrNoRevocation] when there is none.
	Revocation(ctx context.Context, cert, issuer *x509.Certificate, notBefore time.Time) (RevocationData, error)
}

// Issuers finds certificates that are missing between a certificate and a root. It is
// used by several goroutines.
type Issuers interface {
	// Issuers returns certificates of which one may have issued cert, in any order and
	// with others among them; none of it is verified. None, without an error, when it
	// is not known where they are.
	Issuers(ctx context.Context, cert *x509.Certificate) ([]*x509.Certificate, error)
}

// Sources are where evidence comes from. What is nil is not asked: the zero value is
// offline, and what needs a source that is absent fails.
type Sources struct {
	Time       Timestamper
	Revocation Revocation
	Issuers    Issuers
	// Roots are what the certificates of signers have to lead to. Revocation status is asked for below
	// them alone; issuers are asked for at addresses in certificates that no root vouches for yet.
	Roots *x509.CertPool
	// TimestampRoots are what the certificates of timestamp authorities have to lead to; nil: Roots.
	TimestampRoots *x509.CertPool
	// Chains, if not nil, remembers the chains that were verified, for further calls.
	Chains *Chains
}

// RevokedError says that a certificate is revoked, since when and why. It is
// [ErrRevoked].
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

// reasons are the names of RFC 5280 5.3.1; 7 is not used.
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
