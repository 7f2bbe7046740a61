// Package evidence gathers what a signature needs to be validated long after: the
// certificates from each signer, timestamp authority and responder to a root, and
// for each of them a proof that it was not revoked (the validation data of EN 319
// 142-1 5.4 and EN 319 132-1 5.4). It also says, from what a document carries, what
// of it is missing.
//
//	known := evidence.NewKnown(ctx, sources, certificates...)
//	data, err := evidence.Collect(ctx, sources, known,
//		evidence.Target{Certificate: signer, Fresh: token.Time},
//		evidence.Target{Certificate: token.Certificate, Times: evidence.Times{Used: token.Time}})
//	...
//	gaps := data.Missing(known, targets...)           // none: level LT
//	err := data.ChainStatus(chain, times)             // not revoked, and known not to be
//	lacking, err := data.Lacking(known, targets...)   // what to collect to have both
//
// All follow the same rules. A chain is walked up to the first trust anchor. Every
// certificate below it needs a proof, and so does whoever signed that proof, save
// the few that are issued without revocation: see exempt. Missing looks at no times, as
// validators do that find the level of a signature; the others do.
//
// The formats embed the result each in its own way; nothing here knows of PDF or XML.
package evidence

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
	// Fresh is the time that the proof about the certificate itself has to be newer than:
	// for a signer that of the signature's timestamp, by which the chain is judged too.
	// Zero: a proof from a cache will do, as for timestamp authorities.
	Fresh time.Time
	// Timestamp: it is the certificate of a timestamp authority, which has roots of its own.
	Timestamp bool
	// Times are what the chain is judged by where Fresh is zero. A Used of zero is not
	// known, a Judged of zero is now.
	Times Times
}

// times are what the chain is judged by.
func (t Target) times(now time.Time) Times {
	switch {
	case !t.Fresh.IsZero():
		return Times{Used: t.Fresh, Judged: t.Fresh}
	case t.Times.Judged.IsZero():
		return Times{Used: t.Times.Used, Judged: now}
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

// add says whether it was new.
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
