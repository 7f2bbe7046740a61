package online

import (
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"errors"

	"github.com/innsigli/innsigli/internal/cms"
)

// maxCertificates is how many certificates of an answer are returned.
const maxCertificates = 64

var errNoCertificate = errors.New("online: no certificate found")

// parseCertificates reads what stands at a caIssuers address: one certificate in DER
// or a certs-only CMS (RFC 5280 4.2.2.1), often called .p7b. Either is also met in
// PEM. What crypto/x509 cannot parse is left out.
func parseCertificates(body []byte) ([]*x509.Certificate, error) {
	var found []*x509.Certificate
	for _, der := range unwrapPEM(body) {
		found = append(found, parseBlock(der)...)
		if len(found) >= maxCertificates {
			return found[:maxCertificates], nil
		}
	}
	if len(found) == 0 {
		return nil, errNoCertificate
	}
	return found, nil
}

// unwrapPEM returns the blocks of PEM, or the body itself where there are none.
func unwrapPEM(body []byte) [][]byte {
	if !bytes.Contains(body, []byte("-----BEGIN ")) {
		return [][]byte{body}
	}
	var blocks [][]byte
	for block, rest := pem.Decode(body); block != nil && len(blocks) < maxCertificates; block, rest = pem.Decode(rest) {
		blocks = append(blocks, block.Bytes)
	}
	return blocks
}

func parseBlock(der []byte) []*x509.Certificate {
	if c, err := x509.ParseCertificate(der); err == nil {
		return []*x509.Certificate{c}
	}
	found, _ := cms.Certificates(der) // without any, parseCertificates says so
	return found
}
