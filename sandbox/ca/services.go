package ca

import (
	"crypto/rand"
	"crypto/x509"
	"encoding/asn1"
	"fmt"
	"math/big"
	"slices"
	"sync"
	"time"

	"github.com/innsigli/innsigli/internal/pki/cms"
	"github.com/innsigli/innsigli/internal/pki/ocsp"
	"github.com/innsigli/innsigli/internal/pki/tsp"
)

const (
	ocspValidity = time.Hour     // from thisUpdate to nextUpdate of an OCSP response
	crlValidity  = 6 * time.Hour // of a revocation list
)

// revocation is the revocation of one certificate, as it is stored.
type revocation struct {
	Serial *big.Int  `json:"serial"`
	At     time.Time `json:"at"`
	Reason int       `json:"reason"` // CRLReason, RFC 5280 5.3.1
}

// Revoke revokes the certificate with the serial number from the given time on, with a reason code of RFC 5280
// 5.3.1 (6 is certificateHold). Answers as of an earlier time do not change. Revoking a certificate again replaces
// time and reason. The caller has to store the authority again.
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

// revocationAt returns the revocation of a serial number as of a time.
func (a *Authority) revocationAt(serial *big.Int, now time.Time) (revocation, bool) {
	for _, r := range a.revoked {
		if r.Serial.Cmp(serial) == 0 && !r.At.After(now) {
			return r, true
		}
	}
	return revocation{}, false
}

// CRL returns the revocation list of the issuing authority as of a time, in DER (RFC 5280 5).
func (a *Authority) CRL(now time.Time) ([]byte, error) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	return createCRL(a.issuing, a.entries(a.issuing, now), now)
}

// RootCRL returns the revocation list of the root as of a time, in DER. It states whether the certificate of the
// issuing authority is revoked.
func (a *Authority) RootCRL(now time.Time) ([]byte, error) { return a.rootCRL(now, time.Time{}) }

// rootCRL is RootCRL with a list that was not issued before a time.
func (a *Authority) rootCRL(now, notBefore time.Time) ([]byte, error) {
	a.mu.RLock()
	defer a.mu.RUnlock()
	entries := a.entries(a.root, now)
	return a.lists.list(entries, now, notBefore, func() ([]byte, error) { return createCRL(a.root, entries, now) })
}

// keptLists keeps the last revocation list of the root, whose signature takes longer than that of a user.
type keptLists struct {
	mu      sync.Mutex
	der     []byte
	issued  time.Time
	entries []x509.RevocationListEntry
}

// listKept is for how long a list is returned again, while it would have the same entries.
const listKept = time.Minute

// list returns the kept list if it has these entries and was issued shortly before now and not before notBefore, or else
// creates one.
func (k *keptLists) list(entries []x509.RevocationListEntry, now, notBefore time.Time, create func() ([]byte, error)) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	fits := !k.issued.Before(notBefore) && !now.Before(k.issued) && now.Before(k.issued.Add(listKept))
	if k.der != nil && fits && slices.EqualFunc(k.entries, entries, sameEntry) {
		return slices.Clone(k.der), nil
	}
	der, err := create()
	if err == nil {
		k.der, k.issued, k.entries = slices.Clone(der), now.Truncate(time.Second), entries
	}
	return der, err
}

func sameEntry(a, b x509.RevocationListEntry) bool {
	return a.SerialNumber.Cmp(b.SerialNumber) == 0 && a.RevocationTime.Equal(b.RevocationTime) && a.ReasonCode == b.ReasonCode
}

// entries returns the revoked certificates of an issuer as of a time.
func (a *Authority) entries(issuer keyPair, now time.Time) (entries []x509.RevocationListEntry) {
	for _, r := range a.revoked {
		if a.issued(issuer.certificate, r.Serial) && !r.At.After(now) {
			entries = append(entries, x509.RevocationListEntry{SerialNumber: r.Serial, RevocationTime: r.At, ReasonCode: r.Reason})
		}
	}
	return entries
}

func createCRL(issuer keyPair, entries []x509.RevocationListEntry, now time.Time) ([]byte, error) {
	der, err := x509.CreateRevocationList(rand.Reader, &x509.RevocationList{
		RevokedCertificateEntries: entries,
		Number:                    big.NewInt(now.Unix()), // increases with every list, 5.2.3
		ThisUpdate:                now.UTC(),
		NextUpdate:                now.Add(crlValidity).UTC(),
	}, issuer.certificate, issuer.key)
	if err != nil {
		return nil, fmt.Errorf("ca: signing a revocation list: %w", err)
	}
	return der, nil
}

// OCSP answers a DER OCSPRequest as of a time with a DER OCSPResponse (RFC 6960 2.2): good, revoked, or unknown for
// a certificate that the authority did not issue. A malformed request is answered too. The response contains the
// request's nonce, and its times have whole seconds.
func (a *Authority) OCSP(request []byte, now time.Time) []byte {
	r, err := ocsp.ParseRequest(request)
	if err != nil {
		return ocsp.Refuse(ocsp.MalformedRequest)
	}
	a.mu.RLock()
	defer a.mu.RUnlock()
	response := ocsp.Response{ProducedAt: now, Nonce: r.Nonce}
	issuer, responder := a.issuing, a.responder
	if r.IDs[0].IssuedBy(a.root.certificate) {
		issuer, responder = a.root, a.root // the root signs its own responses, 4.2.2.2
	} else {
		response.Certificates = []*x509.Certificate{responder.certificate}
	}
	for _, id := range r.IDs {
		response.Singles = append(response.Singles, a.status(id, issuer.certificate, now))
	}
	der, err := ocsp.Create(response, responder.certificate, responder.key)
	if err != nil {
		return ocsp.Refuse(ocsp.InternalError)
	}
	return der
}

// status returns the status of one certificate. A response is signed for one issuer; the status of another issuer's
// certificate is unknown.
func (a *Authority) status(id ocsp.CertID, issuer *x509.Certificate, now time.Time) ocsp.Single {
	s := ocsp.Single{ID: id, ThisUpdate: now, NextUpdate: now.Add(ocspValidity)}
	if !id.IssuedBy(issuer) || !a.issued(issuer, id.Serial) {
		s.Status = ocsp.Unknown
	} else if r, ok := a.revocationAt(id.Serial, now); ok {
		s.Status, s.RevokedAt, s.Reason = ocsp.Revoked, r.At, r.Reason
	}
	return s
}

// timestampPolicy is below the arc for examples (X.660 A.2.9), since the sandbox has no timestamp policy.
var timestampPolicy = asn1.ObjectIdentifier{2, 999, 3161}

// Timestamp answers a DER TimeStampReq as of a time with a DER TimeStampResp (RFC 3161 2.4). A malformed request is
// answered too.
func (a *Authority) Timestamp(request []byte, now time.Time) []byte {
	chain := a.Chain()
	a.mu.RLock()
	unit := tsp.Unit{Certificate: a.timestamping.certificate, Chain: chain, Key: a.timestamping.key, Policy: timestampPolicy}
	a.mu.RUnlock()
	return unit.Respond(request, now)
}

// Issuers returns the certificates of [Authority.Chain] in the format that a caIssuers address with several
// certificates has: a certs-only DER SignedData (RFC 5280 4.2.2.1).
func (a *Authority) Issuers() ([]byte, error) { return cms.MarshalCertificates(a.Chain()) }
