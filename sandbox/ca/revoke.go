package ca

import (
	"crypto/rand"
	"crypto/x509"
	"fmt"
	"math/big"
	"time"
)

const (
	// answerLife is how long an answer of the responder is good for, listLife a list.
	answerLife = time.Hour
	listLife   = 6 * time.Hour
)

// revocation is a certificate that was revoked. It is stored.
type revocation struct {
	Serial *big.Int  `json:"serial"`
	At     time.Time `json:"at"`
	Reason int       `json:"reason"` // CRLReason, RFC 5280 5.3.1
}

// Revoke revokes the certificate with the serial number, from a time on and for a
// reason of RFC 5280 5.3.1 (6 is on hold). What is said about an earlier time does
// not change. Revoking again replaces time and reason. The authority has to be
// stored again.
func (a *Authority) Revoke(serial *big.Int, at time.Time, reason int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	r := revocation{new(big.Int).Set(serial), at.UTC(), reason}
	for i := range a.revoked {
		if a.revoked[i].Serial.Cmp(serial) == 0 {
			a.revoked[i] = r
			return
		}
	}
	a.revoked = append(a.revoked, r)
}

// revocationOf finds the revocation of a serial number as of a time.
func (a *Authority) revocationOf(serial *big.Int, now time.Time) (revocation, bool) {
	for _, r := range a.revoked {
		if r.Serial.Cmp(serial) == 0 && !r.At.After(now) {
			return r, true
		}
	}
	return revocation{}, false
}

// CRL returns the DER list of the issuing authority as of a time (RFC 5280 5).
func (a *Authority) CRL(now time.Time) ([]byte, error) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.list(a.issuing, now)
}

// RootCRL returns the DER list of the root: it says whether the issuing authority's
// certificate is revoked.
func (a *Authority) RootCRL(now time.Time) ([]byte, error) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return a.list(a.root, now)
}

func (a *Authority) list(issuer pair, now time.Time) ([]byte, error) {
	var entries []x509.RevocationListEntry
	for _, r := range a.revoked {
		if a.issued(issuer.certificate, r.Serial) && !r.At.After(now) {
			entries = append(entries, x509.RevocationListEntry{SerialNumber: r.Serial, RevocationTime: r.At, ReasonCode: r.Reason})
		}
	}
	der, err := x509.CreateRevocationList(rand.Reader, &x509.RevocationList{
		RevokedCertificateEntries: entries,
		Number:                    big.NewInt(now.Unix()), // grows with every list, 5.2.3
		ThisUpdate:                now.UTC(),
		NextUpdate:                now.Add(listLife).UTC(),
	}, issuer.certificate, issuer.key)
	if err != nil {
		return nil, fmt.Errorf("ca: signing a revocation list: %w", err)
	}
	return der, nil
}
