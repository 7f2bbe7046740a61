package validation

import (
	"crypto/sha256"
	"crypto/x509"
	"sync"
	"time"
)

// Data is validation data. Its fields are not to be changed once it was asked about
// anything. Questions come from one goroutine at a time.
type Data struct {
	Certificates []*x509.Certificate
	OCSP         [][]byte // DER OCSPResponse (RFC 6960 4.2.1)
	CRLs         [][]byte // DER CertificateList (RFC 5280 5.1)

	once  sync.Once
	index index
}

// Target is a certificate whose signature has to stay verifiable.
type Target struct {
	Certificate *x509.Certificate
	// BestSignatureTime is, for a signer, the earliest time at which a timestamp proves the signature (EN 319 102-1
	// 5.5.4). The chain is judged by it, and the revocation data about the certificate itself has to be from then or
	// later, or in force then. Zero, as for timestamp authorities: revocation data from a cache will do.
	BestSignatureTime time.Time
	// Timestamp: it is the certificate of a timestamp authority, which has roots of its own.
	Timestamp bool
	// Times are what the chain is judged by where BestSignatureTime is zero. A SigningTime of zero is not known, a
	// ValidationTime of zero is now.
	Times Times
}

// times are what the chain is judged by.
func (t Target) times(now time.Time) Times {
	switch {
	case !t.BestSignatureTime.IsZero():
		return Times{SigningTime: t.BestSignatureTime, ValidationTime: t.BestSignatureTime}
	case t.Times.ValidationTime.IsZero():
		return Times{SigningTime: t.Times.SigningTime, ValidationTime: now}
	}
	return t.Times
}

// Merge returns what all of them have, each thing once, in the order in which they
// come first. Nil is empty.
func Merge(all ...*Data) *Data {
	merged, seen := new(Data), make(set)
	for _, d := range all {
		if d == nil {
			continue
		}
		for _, c := range d.Certificates {
			if seen.add(c.Raw) {
				merged.Certificates = append(merged.Certificates, c)
			}
		}
		merged.OCSP = seen.appendNew(merged.OCSP, d.OCSP)
		merged.CRLs = seen.appendNew(merged.CRLs, d.CRLs)
	}
	return merged
}

// set is what was seen, by its hash.
type set map[[sha256.Size]byte]bool

// add reports whether it was new.
func (s set) add(der []byte) bool {
	key := sha256.Sum256(der)
	old := s[key]
	s[key] = true
	return !old
}

func (s set) has(der []byte) bool { return s[sha256.Sum256(der)] }

func (s set) appendNew(list, more [][]byte) [][]byte {
	for _, der := range more {
		if s.add(der) {
			list = append(list, der)
		}
	}
	return list
}
