package tsp

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"encoding/asn1"
	"fmt"
	"math/big"
	"slices"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/cms"
)

// Token is a TimeStampToken: an authority's word that something with the hash Sum
// existed at Time, give or take Accuracy.
type Token struct {
	Raw          []byte // the ContentInfo in DER
	Time         time.Time
	Accuracy     time.Duration // zero: not said
	Policy       asn1.ObjectIdentifier
	SerialNumber *big.Int
	Hash         crypto.Hash
	Sum          []byte
	Nonce        *big.Int // nil: none

	Certificate  *x509.Certificate   // the authority's; nil when not carried
	Certificates []*x509.Certificate // all that are carried
	Algorithm    ades.Algorithm      // of the authority's signature

	name   []byte // GeneralName of the field tsa; empty when absent
	signed *cms.SignedData
}

// ParseToken reads a ContentInfo in BER or DER. Zero bytes may follow it, as they do
// in the /Contents of a PDF. [ErrFormat] when it is no token, [ades.ErrAlgorithm]
// when it uses an algorithm that is not known here. Nothing is verified.
func ParseToken(ber []byte) (*Token, error) {
	if len(ber) > maxSize {
		return nil, fmt.Errorf("%w: token of %d bytes", ErrFormat, len(ber))
	}
	signed, err := cms.ParseEncapsulated(ber, oidTSTInfo)
	if err != nil {
		return nil, fmt.Errorf("%w: token: %w", ErrFormat, err)
	}
	t := &Token{Raw: signed.Raw, Certificates: signed.Certificates, Algorithm: signed.Algorithm(), signed: signed}
	t.Certificate, _ = signed.Signer()
	if err := t.parseInfo(signed.Content); err != nil {
		return nil, err
	}
	return t, nil
}

// Supply looks for the authority's certificate among others, where the token itself
// carries none: its client had not asked for it.
func (t *Token) Supply(others []*x509.Certificate) {
	if t.Certificate != nil {
		return
	}
	t.signed.Certificates = slices.Concat(t.Certificates, others)
	t.Certificate, _ = t.signed.Signer()
}

// VerifyOver is [Token.Verify] for a token that has to be over a sum by its Hash, else [ErrMismatch].
func (t *Token) VerifyOver(sum []byte) error {
	if !bytes.Equal(t.Sum, sum) {
		return fmt.Errorf("%w: it is over something else", ErrMismatch)
	}
	return t.Verify()
}

// Verify checks what the token proves by itself: that the authority's certificate
// signed it ([cms.ErrDigest], [ades.ErrValue], [cms.ErrNoCertificate]), that this
// certificate is named by what it signed ([cms.ErrBinding]) and is for timestamps at
// the token's time ([ErrCertificate]). Whether the certificate leads to a root and the
// algorithms are strong enough ([ades.Algorithm.Check]) is the caller's question.
//
// A critical PrivateKeyUsagePeriod of the certificate, which crypto/x509 does not
// know, is checked here and then no longer among its UnhandledCriticalExtensions.
func (t *Token) Verify() error {
	if err := t.signed.VerifyContent(); err != nil {
		return err
	}
	if err := t.signed.CheckNamed(); err != nil {
		return err
	}
	if err := checkPurpose(t.Certificate); err != nil {
		return err
	}
	if err := checkPeriods(t.Certificate, t.Time); err != nil {
		return err
	}
	return t.checkName()
}
