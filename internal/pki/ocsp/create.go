package ocsp

import (
	"crypto"
	"crypto/x509"
	"fmt"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/innsigli/innsigli/internal/pki/der"
)

// A Refusal is the OCSPResponseStatus by which a responder refuses a request (RFC 6960 4.2.1).
type Refusal int

const (
	MalformedRequest Refusal = 1
	InternalError    Refusal = 2
	TryLater         Refusal = 3
	SigRequired      Refusal = 5
	Unauthorized     Refusal = 6
)

// String returns the name that RFC 6960 gives the refusal, such as "tryLater".
func (r Refusal) String() string {
	switch r {
	case MalformedRequest:
		return "malformedRequest"
	case InternalError:
		return "internalError"
	case TryLater:
		return "tryLater"
	case SigRequired:
		return "sigRequired"
	case Unauthorized:
		return "unauthorized"
	}
	return fmt.Sprintf("Refusal(%d)", int(r))
}

// Create returns the OCSPResponse in DER with the ProducedAt, Nonce, Singles and Certificates of r,
// signed with the responder's key. The ResponderID is the hash of that key. Create writes times in
// whole seconds. The responder's certificate must be among r.Certificates unless the responder is
// the issuer.
func Create(r Response, responder *x509.Certificate, key crypto.Signer) ([]byte, error) {
	answer, err := r.marshalResponseData(responder)
	if err != nil {
		return nil, err
	}
	signed, err := der.Sign(answer, key)
	if err != nil {
		return nil, err
	}
	var basic cryptobyte.Builder
	basic.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		signed.Append(b)
		if len(r.Certificates) > 0 {
			b.AddASN1(tagContext0, func(b *cryptobyte.Builder) {
				b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
					for _, c := range r.Certificates {
						b.AddBytes(c.Raw)
					}
				})
			})
		}
	})
	encoded, err := basic.Bytes()
	if err != nil {
		return nil, err
	}
	return marshalResponse(encoded)
}

// Refuse returns the OCSPResponse in DER of a refusal. It is not signed.
func Refuse(why Refusal) []byte {
	return []byte{byte(cbasn1.SEQUENCE), 3, byte(cbasn1.ENUM), 1, byte(why)}
}

// marshalResponseData returns the ResponseData.
func (r *Response) marshalResponseData(responder *x509.Certificate) ([]byte, error) {
	var b cryptobyte.Builder
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1(tagContext2, func(b *cryptobyte.Builder) {
			b.AddASN1OctetString(sum(crypto.SHA1, publicKeyBits(responder)))
		})
		b.AddASN1GeneralizedTime(r.ProducedAt.UTC())
		b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
			for i := range r.Singles {
				r.Singles[i].append(b)
			}
		})
		appendNonce(b, tagContext1, r.Nonce)
	})
	return b.Bytes()
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
			if single.Reason != 0 { // RFC 5280 5.3.1: "unspecified" should be absent
				b.AddASN1(tagContext0, func(b *cryptobyte.Builder) { b.AddASN1Enum(int64(single.Reason)) })
			}
		})
	default:
		b.AddASN1(tagUnknown, func(*cryptobyte.Builder) {})
	}
}

// marshalResponse returns the successful OCSPResponse with a BasicOCSPResponse.
func marshalResponse(basic []byte) ([]byte, error) {
	var b cryptobyte.Builder
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1Enum(0)
		b.AddASN1(tagContext0, func(b *cryptobyte.Builder) {
			b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
				b.AddASN1ObjectIdentifier(oidBasic)
				b.AddASN1OctetString(basic)
			})
		})
	})
	return b.Bytes()
}
