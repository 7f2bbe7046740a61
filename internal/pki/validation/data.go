package validation

import (
	"bytes"
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

// Data is validation data. The caller sets its fields before the first call of a method, and does
// not change them afterwards. A Data is not safe for concurrent use.
type Data struct {
	Certificates []*x509.Certificate
	OCSP         [][]byte // DER OCSPResponse (RFC 6960 4.2.1)
	CRLs         [][]byte // DER CertificateList (RFC 5280 5.1)

	once  sync.Once
	index index
}

// index is the parsed content of a Data, with the results of earlier calls.
type index struct {
	work            *work
	certificates    map[string][]*x509.Certificate // by RawSubject
	responses       map[string][]*ocsp.Response    // by the serial numbers of the certificates in them
	lists           []*crl.List
	answers         map[[2]fingerprint][]Answer // by certificate and issuer
	algorithmErrors map[[2]fingerprint]error    // by certificate and issuer: see algorithmError
	chains          map[chainKey]chainResult
	levelChecks     map[chainKey]*levelCheck
}

// chainKey identifies a certificate at a time, together with the certificates and roots that are
// known.
type chainKey struct {
	known *Known
	cert  parsedCertificate
	at    time.Time
}

// keyOf returns the key of a chain. Equal times give equal keys: they are in UTC, without the
// monotonic clock.
func (x *index) keyOf(k *Known, c *x509.Certificate, at time.Time) chainKey {
	return chainKey{k, x.work.parsed(c), at.UTC().Round(0)}
}

// Merge returns the content of all data without duplicates, in the order of the first occurrence. A
// nil Data counts as empty.
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

// With returns the content of both. It does not parse again what d has parsed.
func (d *Data) With(more *Data) *Data {
	old := d.indexed()
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

// ShareLimit makes all work with the data count against the limit of the document that k belongs to,
// and returns the data. The caller calls it before any other method. Without ShareLimit, the data has
// a limit of its own.
func (d *Data) ShareLimit(k *Known) *Data {
	d.index.work = k.work
	return d
}

// About returns what the revocation data states about a certificate that the issuer issued. About
// verifies for each Answer that it is signed, and that its signer is the issuer or authorized by
// it. About fetches nothing and compares no times.
func (d *Data) About(cert, issuer *x509.Certificate) []Answer {
	index := d.indexed()
	key := [2]fingerprint{index.work.fingerprint(cert), index.work.fingerprint(issuer)}
	answers, ok := index.answers[key]
	if !ok {
		answers = index.find(cert, issuer)
		index.answers[key] = answers
	}
	return answers
}

// algorithmError returns why revocation data about a certificate was rejected whose only fault is
// an algorithm; nil if there is none. The caller has called About before.
func (d *Data) algorithmError(cert, issuer *x509.Certificate) error {
	index := d.indexed()
	if err := index.algorithmErrors[[2]fingerprint{index.work.fingerprint(cert), index.work.fingerprint(issuer)}]; err != nil {
		return fmt.Errorf("%w: %w", ades.ErrAlgorithm, err)
	}
	return nil
}

func (d *Data) certificatesOf(subject []byte) []*x509.Certificate {
	return d.indexed().certificates[string(subject)]
}

// contains reports whether the revocation data p is part of the data.
func (d *Data) contains(p ades.RevocationData) bool {
	all, der := d.OCSP, p.OCSP
	if p.CRL != nil {
		all, der = d.CRLs, p.CRL
	}
	return slices.ContainsFunc(all, func(one []byte) bool { return bytes.Equal(one, der) })
}

// without returns the content of d except the revocation data p.
func (d *Data) without(p ades.RevocationData) *Data {
	rest := func(all [][]byte, der []byte) [][]byte {
		return slices.DeleteFunc(slices.Clone(all), func(one []byte) bool { return bytes.Equal(one, der) })
	}
	return &Data{Certificates: d.Certificates, OCSP: rest(d.OCSP, p.OCSP), CRLs: rest(d.CRLs, p.CRL)}
}

// indexed returns the index of the data. It parses the revocation data once, and leaves out what it
// cannot parse.
func (d *Data) indexed() *index {
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

func (x *index) addResponse(r *ocsp.Response) {
	seen := make(map[string]bool)
	for _, single := range r.Singles {
		if serial := single.ID.Serial.String(); !seen[serial] {
			seen[serial] = true
			x.responses[serial] = append(x.responses[serial], r)
		}
	}
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

// isAlgorithmError reports whether the revocation data, or the certificate of its signer, is signed
// with an algorithm that is not accepted.
func isAlgorithmError(err error) bool {
	var insecure x509.InsecureAlgorithmError
	return errors.Is(err, ades.ErrAlgorithm) || errors.As(err, &insecure)
}

// set is a set of DER encodings.
type set map[fingerprint]bool

// add adds an encoding, and reports whether the set did not have it before.
func (s set) add(der []byte) bool {
	key := sha256.Sum256(der)
	old := s[key]
	s[key] = true
	return !old
}

func (s set) has(der []byte) bool { return s[sha256.Sum256(der)] }

// appendNew adds the encodings to the set, and appends those to list that the set did not have.
func (s set) appendNew(list, more [][]byte) [][]byte {
	for _, der := range more {
		if s.add(der) {
			list = append(list, der)
		}
	}
	return list
}

func appendNonNil(list [][]byte, der []byte) [][]byte {
	if der == nil {
		return list
	}
	return append(list, der)
}
