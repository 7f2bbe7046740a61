package ocsp

import (
	"crypto/x509"
	"encoding/asn1"
	"fmt"
	"slices"
	"time"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/innsigli/innsigli/internal/pki/der"
)

// Parse reads a DER OCSPResponse: [ErrFormat] when it is none or has a critical
// extension that is not known here, [*StatusError] when the responder gives no
// answer. Nothing in it is to be believed before [Response.Verify].
func Parse(encoded []byte) (*Response, error) {
	if len(encoded) > MaxSize {
		return nil, fmt.Errorf("%w: response of %d bytes", ErrFormat, len(encoded))
	}
	basic, err := readOuter(encoded)
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
	return r, r.readAnswer(r.signed.ToBeSigned)
}

// readOuter returns the contents of the BasicOCSPResponse.
func readOuter(encoded []byte) (cryptobyte.String, error) {
	s := cryptobyte.String(encoded)
	var outer, explicit, bytes, octets, basic cryptobyte.String
	var oid asn1.ObjectIdentifier
	var status int
	if !s.ReadASN1(&outer, cbasn1.SEQUENCE) || !s.Empty() || !outer.ReadASN1Enum(&status) {
		return nil, fmt.Errorf("%w: no OCSPResponse", ErrFormat)
	}
	if status != 0 {
		return nil, &StatusError{Refusal(status)}
	}
	if !outer.ReadASN1(&explicit, tagContext0) || !outer.Empty() || !explicit.ReadASN1(&bytes, cbasn1.SEQUENCE) ||
		!bytes.ReadASN1ObjectIdentifier(&oid) || !oid.Equal(oidBasic) ||
		!bytes.ReadASN1(&octets, cbasn1.OCTET_STRING) ||
		!octets.ReadASN1(&basic, cbasn1.SEQUENCE) || !octets.Empty() {
		return nil, fmt.Errorf("%w: no BasicOCSPResponse", ErrFormat)
	}
	return basic, nil
}

// readCertificates reads the certificates after the signature. One that Go cannot
// parse is left out: it may be one of several, and not the responder's.
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

// readAnswer reads the ResponseData (RFC 6960 4.2.1).
func (r *Response) readAnswer(s cryptobyte.String) error {
	var answer, singles cryptobyte.String
	if !s.ReadASN1(&answer, cbasn1.SEQUENCE) || !readVersion(&answer) || !r.readResponderID(&answer) ||
		!readTime(&answer, &r.ProducedAt) || !answer.ReadASN1(&singles, cbasn1.SEQUENCE) {
		return fmt.Errorf("%w: no ResponseData", ErrFormat)
	}
	for !singles.Empty() {
		single, ok := readSingle(&singles)
		if !ok || len(r.Singles) == maxSingles {
			return fmt.Errorf("%w: response for one certificate", ErrFormat)
		}
		r.Singles = append(r.Singles, single)
	}
	extensions, err := readExplicitExtensions(&answer, tagContext1, oidNonce)
	if err != nil || !answer.Empty() {
		return fmt.Errorf("%w: response extensions", ErrFormat)
	}
	r.Nonce, err = nonceOf(extensions)
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

func readTime(s *cryptobyte.String, out *time.Time) bool {
	t, err := der.ReadTime(s, cbasn1.GeneralizedTime)
	*out = t
	return err == nil
}

func readOptionalTime(s *cryptobyte.String, tag cbasn1.Tag, out *time.Time) bool {
	var explicit cryptobyte.String
	var present bool
	return s.ReadOptionalASN1(&explicit, &present, tag) && (!present || readTime(&explicit, out) && explicit.Empty())
}

// The choices of CertStatus, which are implicit (RFC 6960 4.2.1).
var (
	tagGood    = cbasn1.Tag(0).ContextSpecific()
	tagRevoked = cbasn1.Tag(1).ContextSpecific().Constructed()
	tagUnknown = cbasn1.Tag(2).ContextSpecific()
)

// For finds the answer about a certificate, the newest if there are several.
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
	// Some responders repeat the nonce here, critical.
	extensions, err := readExplicitExtensions(&sequence, tagContext1, oidArchiveCutoff, oidNonce)
	if err != nil || !sequence.Empty() {
		return Single{}, false
	}
	cutoff, present := valueOf(extensions, oidArchiveCutoff)
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

func (single *Single) append(b *cryptobyte.Builder) {
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		single.ID.append(b)
		single.appendStatus(b)
		b.AddASN1GeneralizedTime(single.ThisUpdate.UTC())
		if !single.NextUpdate.IsZero() {
			b.AddASN1(tagContext0, generalizedTime(single.NextUpdate))
		}
		if !single.ArchiveCutoff.IsZero() {
			var value cryptobyte.Builder
			value.AddASN1GeneralizedTime(single.ArchiveCutoff.UTC())
			der, err := value.Bytes()
			if err != nil {
				b.SetError(err)
				return
			}
			appendExtension(b, tagContext1, oidArchiveCutoff, der)
		}
	})
}

func (single *Single) appendStatus(b *cryptobyte.Builder) {
	switch single.Status {
	case Good:
		b.AddASN1(tagGood, func(*cryptobyte.Builder) {})
	case Revoked:
		b.AddASN1(tagRevoked, func(b *cryptobyte.Builder) {
			b.AddASN1GeneralizedTime(single.RevokedAt.UTC())
			if single.Reason != 0 { // "unspecified" is left out (RFC 5280 5.3.1)
				b.AddASN1(tagContext0, func(b *cryptobyte.Builder) { b.AddASN1Enum(int64(single.Reason)) })
			}
		})
	default:
		b.AddASN1(tagUnknown, func(*cryptobyte.Builder) {})
	}
}

func generalizedTime(t time.Time) cryptobyte.BuilderContinuation {
	return func(b *cryptobyte.Builder) { b.AddASN1GeneralizedTime(t.UTC()) }
}

// readExplicitExtensions reads optional extensions behind an explicit tag and
// refuses a critical one that is not among those known (RFC 6960 4.4).
func readExplicitExtensions(s *cryptobyte.String, tag cbasn1.Tag, known ...asn1.ObjectIdentifier) ([]der.Extension, error) {
	var explicit cryptobyte.String
	var present bool
	if !s.ReadOptionalASN1(&explicit, &present, tag) {
		return nil, fmt.Errorf("%w: extensions", ErrFormat)
	}
	if !present {
		return nil, nil
	}
	all, err := der.ReadExtensions(&explicit)
	if err != nil || !explicit.Empty() {
		return nil, fmt.Errorf("%w: extensions", ErrFormat)
	}
	for _, e := range all {
		if e.Critical && !slices.ContainsFunc(known, e.ID.Equal) {
			return nil, fmt.Errorf("%w: critical extension %v", ErrFormat, e.ID)
		}
	}
	return all, nil
}

// valueOf returns what the extension contains, if it is there.
func valueOf(extensions []der.Extension, id asn1.ObjectIdentifier) (cryptobyte.String, bool) {
	for _, e := range extensions {
		if e.ID.Equal(id) {
			return e.Value, true
		}
	}
	return nil, false
}

// nonceOf returns the nonce, nil when there is none. It is an OCTET STRING in the
// extension (RFC 9654 2.1); RFC 2560 did not say so, and old messages have the bare
// bytes there.
func nonceOf(extensions []der.Extension) ([]byte, error) {
	value, ok := valueOf(extensions, oidNonce)
	if !ok {
		return nil, nil
	}
	var nonce cryptobyte.String
	if inner := value; !inner.ReadASN1(&nonce, cbasn1.OCTET_STRING) || !inner.Empty() {
		nonce = value
	}
	if len(nonce) == 0 || len(nonce) > MaxNonce {
		return nil, fmt.Errorf("%w: nonce of %d bytes", ErrFormat, len(nonce))
	}
	return nonce, nil
}

// appendNonce writes extensions of which the nonce is the only one; none without a
// nonce.
func appendNonce(b *cryptobyte.Builder, tag cbasn1.Tag, nonce []byte) {
	if nonce == nil {
		return
	}
	if len(nonce) == 0 || len(nonce) > MaxNonce {
		b.SetError(fmt.Errorf("ocsp: nonce of %d bytes", len(nonce)))
		return
	}
	var value cryptobyte.Builder
	value.AddASN1OctetString(nonce)
	appendExtension(b, tag, oidNonce, value.BytesOrPanic()) // at most 131 bytes
}

// appendExtension writes extensions of which there is one, behind an explicit tag.
func appendExtension(b *cryptobyte.Builder, tag cbasn1.Tag, id asn1.ObjectIdentifier, value []byte) {
	b.AddASN1(tag, func(b *cryptobyte.Builder) {
		b.AddASN1(cbasn1.SEQUENCE, der.Extension{ID: id, Value: value}.Append)
	})
}
