package validation

import (
	"context"
	"crypto/sha256"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/crl"
	"github.com/innsigli/innsigli/internal/pki/ocsp"
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

// index is what a Data has, parsed, and what was found out about it.
type index struct {
	work            *work
	certificates    map[string][]*x509.Certificate // by RawSubject
	responses       map[string][]*ocsp.Response    // by the serial numbers they are about
	lists           []*crl.List
	answers         map[[2]fingerprint][]Answer
	algorithmErrors map[[2]fingerprint]error // proofs that are no answers because of what they are signed by
	chains          map[chainKey]chainResult
	levelChecks     map[chainKey]*levelCheck
}

// ChargeTo has all questions to the data cost of what may be done about the document as a
// whole, and returns the data. It comes before the first question; without it the data has
// a bound of its own.
func (d *Data) ChargeTo(k *Known) *Data {
	d.index.work = k.work
	return d
}

// read parses the proofs, once. What cannot be read proves nothing and is left out.
func (d *Data) read() *index {
	d.once.Do(func() { d.index.build(d) })
	return &d.index
}

func (x *index) build(d *Data) {
	if x.work == nil {
		x.work = newWork(context.Background(), ades.Sources{})
	}
	x.responses = make(map[string][]*ocsp.Response)
	x.add(d)
	x.resetCaches(d)
}

// begin makes room for what is found out.
func (x *index) resetCaches(d *Data) {
	x.certificates = x.work.bySubject(d.Certificates)
	x.answers, x.algorithmErrors = make(map[[2]fingerprint][]Answer), make(map[[2]fingerprint]error)
	x.chains = make(map[chainKey]chainResult)
	x.levelChecks = make(map[chainKey]*levelCheck)
}

func (x *index) add(d *Data) {
	for _, der := range d.OCSP {
		if r, err := ocsp.Parse(der); err == nil {
			x.addResponse(r)
		}
	}
	for _, der := range d.CRLs {
		if l, err := crl.Parse(der); err == nil {
			x.lists = append(x.lists, l)
		}
	}
}

// With returns the data with more, and reads nothing again that was read.
func (d *Data) With(more *Data) *Data {
	old := d.read()
	all := &Data{
		Certificates: slices.Concat(d.Certificates, more.Certificates),
		OCSP:         slices.Concat(d.OCSP, more.OCSP),
		CRLs:         slices.Concat(d.CRLs, more.CRLs),
	}
	all.once.Do(func() {
		x := &all.index
		x.work, x.lists, x.responses = old.work, slices.Clip(old.lists), make(map[string][]*ocsp.Response)
		for serial, responses := range old.responses {
			x.responses[serial] = slices.Clip(responses)
		}
		x.add(more)
		x.resetCaches(all)
	})
	return all
}

func (x *index) addResponse(r *ocsp.Response) {
	seen := make(map[string]bool)
	for _, single := range r.Singles {
		if serial := single.ID.Serial.String(); !seen[serial] {
			seen[serial] = true
			x.responses[serial] = append(x.responses[serial], r)
		}
	}
}

// About returns what the proofs say about a certificate that the issuer issued, each
// of them verified: its signature, and that who signed it may speak for the issuer.
// Nothing is fetched, and time is not looked at.
func (d *Data) About(cert, issuer *x509.Certificate) []Answer {
	x := d.read()
	key := [2]fingerprint{x.work.fingerprint(cert), x.work.fingerprint(issuer)}
	answers, ok := x.answers[key]
	if !ok {
		answers = x.find(cert, issuer)
		x.answers[key] = answers
	}
	return answers
}

func (x *index) find(cert, issuer *x509.Certificate) []Answer {
	var found []Answer
	note := func(a Answer, err error) {
		switch {
		case err == nil:
			found = append(found, a)
		case isAlgorithmError(err):
			x.algorithmErrors[[2]fingerprint{x.work.fingerprint(cert), x.work.fingerprint(issuer)}] = err
		}
	}
	for _, r := range x.responses[cert.SerialNumber.String()] {
		if !x.work.spend(answerWork) {
			break
		}
		note(x.work.readResponse(r, cert, issuer))
	}
	for _, l := range x.lists {
		note(x.work.readList(l, cert, issuer))
	}
	return found
}

// isAlgorithmError reports whether a proof, or the certificate of who signed it, is by an algorithm that nobody relies on.
func isAlgorithmError(err error) bool {
	var insecure x509.InsecureAlgorithmError
	return errors.Is(err, ades.ErrAlgorithm) || errors.As(err, &insecure)
}

// unreliable is why a proof about a certificate does not count that has nothing else against it: nil when there is
// none. Callers have asked About it.
func (d *Data) algorithmError(cert, issuer *x509.Certificate) error {
	x := d.read()
	if err := x.algorithmErrors[[2]fingerprint{x.work.fingerprint(cert), x.work.fingerprint(issuer)}]; err != nil {
		return fmt.Errorf("%w: %w", ades.ErrAlgorithm, err)
	}
	return nil
}
