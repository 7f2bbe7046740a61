package ocsp

import (
	"crypto/x509"
	"encoding/asn1"
	"fmt"
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
