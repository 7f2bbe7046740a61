package cms

import (
	"cmp"
	"crypto/x509"
	"fmt"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"
)

// maxCertificates bounds the certificates of a SignedData.
const maxCertificates = 1000

// Certificates returns those of a SignedData without signers, the "certs-only"
// message (RFC 8551 3.8) in which authorities publish theirs as .p7b or .p7c files.
// What is there in signers or content does not matter. Certificates that Go cannot
// parse are left out.
func Certificates(ber []byte) ([]*x509.Certificate, error) {
	signedData, _, rest, err := open(ber)
	if err := cmp.Or(err, trailing(rest)); err != nil {
		return nil, err
	}
	var version int
	var digests, content cryptobyte.String
	if !signedData.ReadASN1Integer(&version) || !signedData.ReadASN1(&digests, cbasn1.SET) ||
		!signedData.ReadASN1(&content, cbasn1.SEQUENCE) {
		return nil, fmt.Errorf("%w: no content type", ErrFormat)
	}
	all, _, err := parseCertificates(&signedData)
	return all, err
}

// parseCertificates reads a CertificateSet (RFC 5652 10.2.3), where there is one. What Go cannot parse is
// unread.
func parseCertificates(signedData *cryptobyte.String) (all []*x509.Certificate, unread [][]byte, _ error) {
	var set cryptobyte.String
	var present bool
	if !signedData.ReadOptionalASN1(&set, &present, tagContext0) {
		return nil, nil, fmt.Errorf("%w: certificates", ErrFormat)
	}
	for n := 0; !set.Empty(); n++ {
		var raw cryptobyte.String
		var tag cbasn1.Tag
		if !set.ReadAnyASN1Element(&raw, &tag) || n == maxCertificates {
			return nil, nil, fmt.Errorf("%w: certificates", ErrFormat)
		}
		if c, err := x509.ParseCertificate(raw); err == nil {
			all = append(all, c)
		} else {
			unread = append(unread, raw)
		}
	}
	return all, unread, nil
}
