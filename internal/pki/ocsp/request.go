package ocsp

import (
	"crypto"
	"crypto/x509"
	"fmt"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"
)

// Request asks about certificates (RFC 6960 4.1.1). It is not signed.
type Request struct {
	IDs   []CertID
	Nonce []byte // 1 to 128 bytes, of which 32 is the length to send (RFC 9654 2.1); nil: none
}

// NewRequest asks about one certificate. SHA-1 is the hash that every responder
// knows.
func NewRequest(cert, issuer *x509.Certificate, h crypto.Hash, nonce []byte) Request {
	return Request{IDs: []CertID{newCertID(cert, issuer, h)}, Nonce: nonce}
}

// Marshal returns the DER OCSPRequest.
func (r Request) Marshal() ([]byte, error) {
	var b cryptobyte.Builder
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) { // OCSPRequest
		b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) { // TBSRequest
			b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) { // requestList
				for _, id := range r.IDs {
					b.AddASN1(cbasn1.SEQUENCE, id.append)
				}
			})
			appendNonce(b, tagContext2, r.Nonce)
		})
	})
	return b.Bytes()
}

// ParseRequest reads a DER OCSPRequest; [ErrFormat] when it is none or has a
// critical extension that is not known here. A signature over it is not looked at:
// the status of a certificate is told to everybody.
func ParseRequest(der []byte) (Request, error) {
	if len(der) > MaxSize {
		return Request{}, fmt.Errorf("%w: request of %d bytes", ErrFormat, len(der))
	}
	s := cryptobyte.String(der)
	var request, tbs, list cryptobyte.String
	if !s.ReadASN1(&request, cbasn1.SEQUENCE) || !s.Empty() ||
		!request.ReadASN1(&tbs, cbasn1.SEQUENCE) || !request.SkipOptionalASN1(tagContext0) || !request.Empty() ||
		!readVersion(&tbs) || !tbs.SkipOptionalASN1(tagContext1) || // requestorName
		!tbs.ReadASN1(&list, cbasn1.SEQUENCE) || list.Empty() {
		return Request{}, fmt.Errorf("%w: no OCSPRequest", ErrFormat)
	}
	ids, err := readRequestList(list)
	if err != nil {
		return Request{}, err
	}
	extensions, err := readExplicitExtensions(&tbs, tagContext2, oidNonce)
	if err != nil || !tbs.Empty() {
		return Request{}, fmt.Errorf("%w: request extensions", ErrFormat)
	}
	nonce, err := nonceOf(extensions)
	return Request{ids, nonce}, err
}

func readRequestList(list cryptobyte.String) ([]CertID, error) {
	var ids []CertID
	for !list.Empty() {
		var one cryptobyte.String
		if len(ids) == maxSingles || !list.ReadASN1(&one, cbasn1.SEQUENCE) {
			return nil, fmt.Errorf("%w: request list", ErrFormat)
		}
		id, ok := readCertID(&one)
		if !ok {
			return nil, fmt.Errorf("%w: CertID", ErrFormat)
		}
		if _, err := readExplicitExtensions(&one, tagContext0); err != nil || !one.Empty() {
			return nil, fmt.Errorf("%w: request for one certificate", ErrFormat)
		}
		ids = append(ids, id)
	}
	return ids, nil
}

// readVersion reads the version, of which there is one: v1, the default.
func readVersion(s *cryptobyte.String) bool {
	var explicit cryptobyte.String
	var present bool
	var version int
	if !s.ReadOptionalASN1(&explicit, &present, tagContext0) {
		return false
	}
	return !present || explicit.ReadASN1Integer(&version) && explicit.Empty() && version == 0
}
