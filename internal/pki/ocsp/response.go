package ocsp

import (
	"bytes"
	"crypto"
	"crypto/sha256"
	"crypto/x509"
	"encoding/asn1"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/der"
)

// A Response is a successful OCSP response (RFC 6960 4.2.1). A time that [Parse] read may have a
// fraction of a second.
type Response struct {
	Raw          []byte // DER OCSPResponse, as embedded in validation data
	ProducedAt   time.Time
	Nonce        []byte // nil when absent
	Certificates []*x509.Certificate
	Singles      []Single

	signed        der.Signed
	responderName []byte // DER Name; nil if the ResponderID is a key hash
	responderKey  []byte // SHA-1 of the responder's public key
}

// A Single is a SingleResponse: the status of one certificate.
type Single struct {
	ID            CertID
	Status        Status
	RevokedAt     time.Time // zero unless Revoked
	Reason        int       // CRLReason (RFC 5280 5.3.1); 0 if absent
	ThisUpdate    time.Time
	NextUpdate    time.Time // zero when absent: newer information is always available
	ArchiveCutoff time.Time // zero when absent (RFC 6960 4.4.4)
}

// StatusError is the error of a response in which the responder refuses the request.
type StatusError struct{ Status Refusal }

func (e *StatusError) Error() string { return "ocsp: responder refuses: " + e.Status.String() }

// Parse reads an OCSPResponse in DER. The error is [ErrFormat], also for an unknown critical
// extension, and [*StatusError] if the responder refuses the request. The caller must not rely on a
// response before [Response.Verify] succeeds.
func Parse(encoded []byte) (*Response, error) {
	if len(encoded) > MaxSize {
		return nil, fmt.Errorf("%w: the response has %d bytes, which are too many", ErrFormat, len(encoded))
	}
	basic, err := readBasicResponse(encoded)
	if err != nil {
		return nil, err
	}
	r := &Response{Raw: encoded}
	if r.signed, err = der.ReadSigned(&basic); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	if err := r.readCertificates(basic); err != nil {
		return nil, err
	}
	if err := r.readResponseData(r.signed.ToBeSigned); err != nil {
		return nil, err
	}
	return r, nil
}

// For returns the single response for a certificate, the one with the newest ThisUpdate if there
// are several.
func (r *Response) For(cert, issuer *x509.Certificate) (*Single, bool) {
	var found *Single
	for i := range r.Singles {
		s := &r.Singles[i]
		if s.ID.Serial.Cmp(cert.SerialNumber) == 0 && s.ID.IssuedBy(issuer) &&
			(found == nil || s.ThisUpdate.After(found.ThisUpdate)) {
			found = s
		}
	}
	return found, found != nil
}

// Verify verifies the signature and checks that its signer is authorized to answer for the issuer:
// the signer is the issuer itself, or a responder whose certificate the issuer issued directly for
// this purpose (RFC 6960 4.2.2.2). The signer's certificate must be valid at ProducedAt. Verify
// returns that certificate.
//
// The errors are [ErrResponder], [ades.ErrValue] if the signature value is wrong,
// [ades.ErrAlgorithm] if its algorithm is not accepted, and [ades.ErrOutsideValidity].
func (r *Response) Verify(issuer *x509.Certificate) (responder *x509.Certificate, err error) {
	return r.VerifyWith(issuer, ades.Sources{})
}

// VerifyWith is [Response.Verify] with the cache of sources, which remembers signatures that were
// verified. It asks none of the sources.
func (r *Response) VerifyWith(issuer *x509.Certificate, sources ades.Sources) (responder *x509.Certificate, err error) {
	err = ErrResponder
	sum := sync.OnceValue(func() [sha256.Size]byte { return sha256.Sum256(r.Raw) })
	for _, c := range append([]*x509.Certificate{issuer}, r.Certificates...) {
		if !r.matchesResponderID(c) {
			continue
		}
		if err = r.verifySigner(c, issuer, sources, sum); err == nil {
			return c, nil
		}
	}
	return nil, err
}

// Responder returns the certificate that the ResponderID identifies: one of the response, or else
// the issuer. It returns nil if none matches. Responder verifies nothing.
func (r *Response) Responder(issuer *x509.Certificate) *x509.Certificate {
	all := append(slices.Clone(r.Certificates), issuer)
	if i := slices.IndexFunc(all, r.matchesResponderID); i >= 0 {
		return all[i]
	}
	return nil
}

// matchesResponderID reports whether the ResponderID identifies a certificate (RFC 6960 4.2.2.3).
func (r *Response) matchesResponderID(c *x509.Certificate) bool {
	if r.responderName != nil {
		return bytes.Equal(r.responderName, c.RawSubject)
	}
	return bytes.Equal(r.responderKey, sum(crypto.SHA1, publicKeyBits(c)))
}

// verifySigner checks that c is authorized and has signed the response, whose SHA-256 digest sum
// returns.
func (r *Response) verifySigner(c, issuer *x509.Certificate, sources ades.Sources, sum func() [sha256.Size]byte) error {
	if err := checkAuthorized(c, issuer, sources); err != nil {
		return fmt.Errorf("%w: %w", ErrResponder, err)
	}
	if r.ProducedAt.Before(c.NotBefore) || r.ProducedAt.After(c.NotAfter) {
		return fmt.Errorf("ocsp: %w: responder's %s at %v", ades.ErrOutsideValidity, ades.Identify(c), r.ProducedAt)
	}
	if err := sources.CheckSigned(sum, c, func() error { return r.signed.Verify(c) }); err != nil {
		return fmt.Errorf("ocsp: signature by %s: %w", ades.Identify(c), err)
	}
	return nil
}

// checkAuthorized checks the rule of RFC 6960 4.2.2.2. A certificate with the name and key of the
// issuer is the issuer's own, renewed.
func checkAuthorized(c, issuer *x509.Certificate, sources ades.Sources) error {
	if bytes.Equal(c.RawSubject, issuer.RawSubject) && bytes.Equal(c.RawSubjectPublicKeyInfo, issuer.RawSubjectPublicKeyInfo) {
		return nil
	}
	if err := sources.CheckIssuer(c, issuer); err != nil {
		return err
	}
	if !slices.Contains(c.ExtKeyUsage, x509.ExtKeyUsageOCSPSigning) {
		return fmt.Errorf("%s is not certified for OCSP signing", ades.Identify(c))
	}
	if c.KeyUsage != 0 && c.KeyUsage&(x509.KeyUsageDigitalSignature|x509.KeyUsageContentCommitment) == 0 {
		return fmt.Errorf("key usage of %s does not allow digital signatures", ades.Identify(c)) // RFC 5280 4.2.1.12
	}
	if len(c.UnhandledCriticalExtensions) > 0 {
		return fmt.Errorf("%s has unknown critical extensions: %v", ades.Identify(c), c.UnhandledCriticalExtensions)
	}
	return nil
}

// readBasicResponse returns the contents of the BasicOCSPResponse in an OCSPResponse.
func readBasicResponse(encoded []byte) (cryptobyte.String, error) {
	s := cryptobyte.String(encoded)
	var outer, explicit, bytes, octets, basic cryptobyte.String
	var oid asn1.ObjectIdentifier
	var status int
	if !s.ReadASN1(&outer, cbasn1.SEQUENCE) || !s.Empty() || !outer.ReadASN1Enum(&status) {
		return nil, fmt.Errorf("%w: not an OCSPResponse", ErrFormat)
	}
	if status != 0 {
		return nil, &StatusError{Refusal(status)}
	}
	if !outer.ReadASN1(&explicit, tagContext0) || !outer.Empty() || !explicit.ReadASN1(&bytes, cbasn1.SEQUENCE) ||
		!bytes.ReadASN1ObjectIdentifier(&oid) || !oid.Equal(oidBasic) ||
		!bytes.ReadASN1(&octets, cbasn1.OCTET_STRING) ||
		!octets.ReadASN1(&basic, cbasn1.SEQUENCE) || !octets.Empty() {
		return nil, fmt.Errorf("%w: not a BasicOCSPResponse", ErrFormat)
	}
	return basic, nil
}

// readCertificates reads the certificates after the signature. It leaves out certificates that Go
// cannot parse, because the responder's may be another one.
func (r *Response) readCertificates(s cryptobyte.String) error {
	var explicit, sequence cryptobyte.String
	var present bool
	if !s.ReadOptionalASN1(&explicit, &present, tagContext0) || !s.Empty() ||
		present && (!explicit.ReadASN1(&sequence, cbasn1.SEQUENCE) || !explicit.Empty()) {
		return fmt.Errorf("%w: certificates", ErrFormat)
	}
	for n := 0; !sequence.Empty(); n++ {
		var raw cryptobyte.String
		if n == maxCertificates || !sequence.ReadASN1Element(&raw, cbasn1.SEQUENCE) {
			return fmt.Errorf("%w: certificates", ErrFormat)
		}
		if c, err := x509.ParseCertificate(raw); err == nil {
			r.Certificates = append(r.Certificates, c)
		}
	}
	return nil
}

// readResponseData reads the ResponseData (RFC 6960 4.2.1).
func (r *Response) readResponseData(s cryptobyte.String) error {
	var answer, singles cryptobyte.String
	if !s.ReadASN1(&answer, cbasn1.SEQUENCE) || !readVersion(&answer) || !r.readResponderID(&answer) ||
		!readTime(&answer, &r.ProducedAt) || !answer.ReadASN1(&singles, cbasn1.SEQUENCE) {
		return fmt.Errorf("%w: not a ResponseData", ErrFormat)
	}
	for !singles.Empty() {
		single, ok := readSingle(&singles)
		if !ok || len(r.Singles) == maxSingles {
			return fmt.Errorf("%w: a SingleResponse is malformed, or there are too many", ErrFormat)
		}
		r.Singles = append(r.Singles, single)
	}
	extensions, err := readExplicitExtensions(&answer, tagContext1, oidNonce)
	if err != nil || !answer.Empty() {
		return fmt.Errorf("%w: responseExtensions is malformed, or data follow it", ErrFormat)
	}
	r.Nonce, err = readNonce(extensions)
	return err
}

func (r *Response) readResponderID(s *cryptobyte.String) bool {
	var explicit, id cryptobyte.String
	if s.PeekASN1Tag(tagContext1) {
		ok := s.ReadASN1(&explicit, tagContext1) && explicit.ReadASN1Element(&id, cbasn1.SEQUENCE) && explicit.Empty()
		r.responderName = id
		return ok
	}
	ok := s.ReadASN1(&explicit, tagContext2) && explicit.ReadASN1(&id, cbasn1.OCTET_STRING) && explicit.Empty()
	r.responderKey = id
	return ok
}

func readSingle(s *cryptobyte.String) (Single, bool) {
	var sequence cryptobyte.String
	var single Single
	var ok bool
	if !s.ReadASN1(&sequence, cbasn1.SEQUENCE) {
		return Single{}, false
	}
	if single.ID, ok = readCertID(&sequence); !ok {
		return Single{}, false
	}
	if !single.readStatus(&sequence) || !readTime(&sequence, &single.ThisUpdate) ||
		!readOptionalTime(&sequence, tagContext0, &single.NextUpdate) {
		return Single{}, false
	}
	// Some responders repeat the nonce here, as a critical extension.
	extensions, err := readExplicitExtensions(&sequence, tagContext1, oidArchiveCutoff, oidNonce)
	if err != nil || !sequence.Empty() {
		return Single{}, false
	}
	cutoff, present := extensionValue(extensions, oidArchiveCutoff)
	return single, !present || readTime(&cutoff, &single.ArchiveCutoff) && cutoff.Empty()
}

func (single *Single) readStatus(s *cryptobyte.String) bool {
	var contents cryptobyte.String
	var tag cbasn1.Tag
	if !s.ReadAnyASN1(&contents, &tag) {
		return false
	}
	switch tag {
	case tagGood:
		single.Status = Good
		return contents.Empty()
	case tagUnknown:
		single.Status = Unknown
		return contents.Empty()
	case tagRevoked:
		single.Status = Revoked
		return single.readRevoked(contents)
	}
	return false
}

// readRevoked reads a RevokedInfo.
func (single *Single) readRevoked(s cryptobyte.String) bool {
	var explicit cryptobyte.String
	var present bool
	return readTime(&s, &single.RevokedAt) && s.ReadOptionalASN1(&explicit, &present, tagContext0) && s.Empty() &&
		(!present || explicit.ReadASN1Enum(&single.Reason) && explicit.Empty())
}
