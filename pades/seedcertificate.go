package pades

import (
	"crypto/x509"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
)

// Bounds on the work that the certificates in a seed value can cause.
const (
	maxSeedCertificates     = 64
	maxSeedCertificateBytes = 16 << 10
)

// certificate checks the signer's certificate against the certificate seed value dictionary (ISO
// 32000-2 table 238).
func (s seed) certificate() (string, error) {
	dict, err := s.file.Dict(s.dict["Cert"])
	if err != nil {
		return "", err
	}
	if noSigner(s.signer) {
		return "", nil
	}
	if s.signer.Certificate == nil && dict["Ff"] != nil {
		return "Cert: the signer's certificate is not known beforehand", nil
	}
	return s.check(dict, "Cert/", []seedConstraint{
		{"Subject", 1, seed.subject},
		{"Issuer", 2, seed.issuer},
		{"OID", 3, func(s seed, value pdf.Object) (string, error) {
			if dict["Issuer"] == nil { // table 238: OID "shall only be used" with Issuer
				return "", nil
			}
			return s.policies(value)
		}},
		{"SubjectDN", 4, seed.subjectName},
		{"KeyUsage", 6, seed.keyUsage},
		{"URL", 7, func(s seed, value pdf.Object) (string, error) { return s.credentialServer(value, dict["URLType"]) }},
	})
}

// subject checks that the certificate is one of those listed.
func (s seed) subject(value pdf.Object) (string, error) {
	return s.listsCertificate(value, func(c *x509.Certificate) bool { return c.Equal(s.signer.Certificate) }, "the signer's certificate is not among those listed")
}

// issuer checks that one of the listed authorities issued the certificate, or a certificate above
// it in the chain.
func (s seed) issuer(value pdf.Object) (string, error) {
	path := append([]*x509.Certificate{s.signer.Certificate}, s.signer.Chain...)
	return s.listsCertificate(value, func(issuer *x509.Certificate) bool {
		return slices.ContainsFunc(path, func(c *x509.Certificate) bool {
			return ades.CheckIssuer(c, issuer) == nil
		})
	}, "the signer's certificate leads to none of those listed")
}

// listsCertificate returns the problem unless a certificate in an array of DER values matches. It
// passes over a value that is no certificate.
func (s seed) listsCertificate(value pdf.Object, match func(*x509.Certificate) bool, problem string) (string, error) {
	items, err := s.items(value)
	if err != nil || value == nil {
		return "", err
	}
	if len(items) > maxSeedCertificates {
		return "", fmt.Errorf("%w: more than %d certificates", pdf.ErrLimit, maxSeedCertificates)
	}
	for _, o := range items {
		der, err := s.file.Bytes(o)
		if err != nil {
			return "", err
		}
		if len(der) > maxSeedCertificateBytes {
			continue
		}
		if c, err := x509.ParseCertificate(der); err == nil && match(c) {
			return "", nil
		}
	}
	return problem, nil
}

// policies checks that the certificate has every certificate policy in a list of object
// identifiers.
func (s seed) policies(value pdf.Object) (string, error) {
	required, err := s.texts(value)
	if err != nil {
		return "", err
	}
	for _, oid := range required {
		if !slices.ContainsFunc(s.signer.Certificate.Policies, func(p x509.OID) bool { return p.String() == oid }) {
			return fmt.Sprintf("the signer's certificate is not of the policy %.64q", oid), nil
		}
	}
	return "", nil
}

// subjectName checks that the subject of the certificate has all attributes of all dictionaries in
// an array.
func (s seed) subjectName(value pdf.Object) (string, error) {
	items, err := s.items(value)
	if err != nil {
		return "", err
	}
	for _, o := range items {
		attributes, err := s.file.Dict(o)
		if err != nil {
			return "", err
		}
		for _, key := range slices.Sorted(maps.Keys(attributes)) {
			text, err := s.file.Bytes(attributes[key])
			if err != nil {
				return "", err
			}
			if !hasAttribute(s.signer.Certificate, string(key), pdf.Text(pdf.String(text))) {
				return fmt.Sprintf("the signer's name lacks the required %.32q", string(key)), nil
			}
		}
	}
	return "", nil
}

func hasAttribute(c *x509.Certificate, key, value string) bool {
	oid := attributeOID(key)
	for _, a := range c.Subject.Names {
		if text, ok := a.Value.(string); ok && text == value && a.Type.String() == oid {
			return true
		}
	}
	return false
}

// attributeOID returns the object identifier for the short name of an attribute (RFC 4519, RFC
// 2985). It returns any other name unchanged, because a name may be an object identifier itself.
func attributeOID(name string) string {
	switch strings.ToLower(name) {
	case "cn":
		return "2.5.4.3"
	case "sn":
		return "2.5.4.4"
	case "serialnumber":
		return "2.5.4.5"
	case "c":
		return "2.5.4.6"
	case "l":
		return "2.5.4.7"
	case "st":
		return "2.5.4.8"
	case "o":
		return "2.5.4.10"
	case "ou":
		return "2.5.4.11"
	case "title":
		return "2.5.4.12"
	case "givenname":
		return "2.5.4.42"
	case "e", "email", "emailaddress":
		return "1.2.840.113549.1.9.1"
	}
	return name
}

// keyUsage checks the key usage of the certificate against a list of patterns, one of which has to
// fit. The characters of a pattern stand for the bits of RFC 5280 4.2.1.3, in order: 1 is set, 0 is
// not set. Any other character, or a missing one, stands for either.
func (s seed) keyUsage(value pdf.Object) (string, error) {
	patterns, err := s.texts(value)
	usage := s.signer.Certificate.KeyUsage
	if err != nil || value == nil || slices.ContainsFunc(patterns, func(p string) bool { return fitsKeyUsage(p, usage) }) {
		return "", err
	}
	return "the signer's certificate has another key usage", nil
}

func fitsKeyUsage(pattern string, usage x509.KeyUsage) bool {
	for i, c := range []byte(pattern[:min(9, len(pattern))]) {
		set := usage&(1<<i) != 0
		if c == '1' && !set || c == '0' && set {
			return false
		}
	}
	return true
}

// credentialServer checks the server from which the signer's credential has to come. A URL of type
// Browser, the default, is no requirement, whatever Ff says: it is a page for a signer who has no
// credential yet.
func (s seed) credentialServer(url, urlType pdf.Object) (string, error) {
	kind, err := s.file.Name(urlType)
	if err != nil || url == nil || kind == "" || kind == "Browser" {
		return "", err
	}
	return fmt.Sprintf("the signer's credential has to come from a server of type %.32q", string(kind)), nil
}
