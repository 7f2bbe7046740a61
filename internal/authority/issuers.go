package authority

import (
	"bytes"
	"crypto/x509"
	"encoding/asn1"
	"slices"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"
)

// Issuers returns the certificates of [Authority.Chain] as caIssuers addresses have
// them where there are several: a SignedData that carries certificates alone, DER
// (RFC 5280 4.2.2.1, RFC 5652 5.1).
func (a *Authority) Issuers() ([]byte, error) {
	data, signedData := asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 7, 1}, asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 7, 2}
	tag := cbasn1.Tag(0).ContextSpecific().Constructed()
	none := func(*cryptobyte.Builder) {}
	certificates := a.Chain()
	// DER orders the elements of a SET OF by their encodings (X.690 11.6).
	slices.SortFunc(certificates, func(x, y *x509.Certificate) int { return bytes.Compare(x.Raw, y.Raw) })
	var b cryptobyte.Builder
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1ObjectIdentifier(signedData)
		b.AddASN1(tag, func(b *cryptobyte.Builder) {
			b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
				b.AddASN1Int64(1)
				b.AddASN1(cbasn1.SET, none) // digest algorithms
				b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) { b.AddASN1ObjectIdentifier(data) })
				b.AddASN1(tag, func(b *cryptobyte.Builder) {
					for _, c := range certificates {
						b.AddBytes(c.Raw)
					}
				})
				b.AddASN1(cbasn1.SET, none) // signers
			})
		})
	})
	return b.Bytes()
}
