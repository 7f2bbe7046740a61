package ocsp

import (
	"crypto"
	"crypto/x509"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/innsigli/innsigli/internal/pki/der"
)

// Create returns the DER OCSPResponse with the ProducedAt, Nonce, Singles and
// Certificates of r, signed with the key of the responder, which is named by its
// key. Of times the whole seconds are written. The responder's own certificate has
// to be among r.Certificates unless it is the issuer.
func Create(r Response, responder *x509.Certificate, key crypto.Signer) ([]byte, error) {
	answer, err := r.marshalAnswer(responder)
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
	return wrap(encoded)
}

// Refuse returns the DER OCSPResponse that gives no answer. It is not signed.
func Refuse(why Refusal) []byte {
	return []byte{byte(cbasn1.SEQUENCE), 3, byte(cbasn1.ENUM), 1, byte(why)}
}

// marshalAnswer writes the ResponseData.
func (r *Response) marshalAnswer(responder *x509.Certificate) ([]byte, error) {
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

// wrap puts a BasicOCSPResponse into the OCSPResponse of a success.
func wrap(basic []byte) ([]byte, error) {
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
