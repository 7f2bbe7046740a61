package report

import (
	"cmp"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"fmt"

	"github.com/innsigli/innsigli/ades"
)

// Certificate is what names a certificate, and when it is in force.
type Certificate struct {
	Subject   string `json:"subject"` // distinguished name, as RFC 4514 has it
	Name      string `json:"name"`    // the subject's common name, else its organisation
	Issuer    string `json:"issuer"`  // distinguished name
	Number    string `json:"number"`  // the certificate's serial number, in hexadecimal
	NotBefore Time   `json:"notBefore"`
	NotAfter  Time   `json:"notAfter"`
	SHA256    string `json:"sha256"` // of the certificate, in hexadecimal
}

func certificateOf(c *x509.Certificate) Certificate {
	organisation := ""
	if len(c.Subject.Organization) > 0 {
		organisation = c.Subject.Organization[0]
	}
	number := ""
	if c.SerialNumber != nil {
		number = c.SerialNumber.Text(16)
	}
	sum := sha256.Sum256(c.Raw)
	return Certificate{
		Subject: c.Subject.String(), Name: cmp.Or(c.Subject.CommonName, organisation), Issuer: c.Issuer.String(), Number: number,
		NotBefore: Time{c.NotBefore}, NotAfter: Time{c.NotAfter}, SHA256: hex.EncodeToString(sum[:]),
	}
}

// Algorithm is what a signature was made with; each is "" where it is not known.
type Algorithm struct {
	Scheme string `json:"scheme"` // such as "ECDSA"
	Hash   string `json:"hash"`   // such as "SHA-256"
	Key    string `json:"key"`    // such as "P-256", or "3072" for the bits of an RSA key
}

func algorithmOf(s *ades.SignatureReport) (a Algorithm) {
	if s.Algorithm.Scheme != 0 {
		a.Scheme = s.Algorithm.Scheme.String()
	}
	if s.Algorithm.Hash != 0 {
		a.Hash = s.Algorithm.Hash.String()
	}
	if s.Certificate != nil {
		a.Key = keyOf(s.Certificate.PublicKey)
	}
	return a
}

func keyOf(public any) string {
	switch key := public.(type) {
	case *rsa.PublicKey:
		return fmt.Sprint(key.N.BitLen())
	case *ecdsa.PublicKey:
		return key.Params().Name
	case ed25519.PublicKey:
		return "Ed25519"
	}
	return ""
}

// String is the algorithm in a line, such as "ECDSA with SHA-256, P-256".
func (a Algorithm) String() string {
	out := a.Scheme
	if a.Scheme != "" && a.Hash != "" {
		out += " with " + a.Hash
	}
	if out != "" && a.Key != "" && a.Key != a.Scheme {
		out += ", " + a.Key
	}
	return out
}
