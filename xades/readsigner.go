package xades

import (
	"bytes"
	"crypto/x509"
	"encoding/asn1"
	"errors"
	"math/big"
	"slices"
	"strings"

	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
	xmldsig "github.com/innsigli/innsigli/internal/xml/dsig"
)

// maxNamed limits the certificates that are read from SigningCertificate(V2), and those that are
// tried as the signer's.
const maxNamed = 16

// maxDigest limits a digest, in bytes.
const maxDigest = 64

// maxIssuerSerial limits an IssuerSerialV2, in bytes.
const maxIssuerSerial = 16 << 10

var (
	// errNoCertificate: the document does not have the certificate to verify the value with.
	errNoCertificate = errors.New("the signer's certificate is missing or cannot be read")
	// errNoSigner: the document has certificates, SigningCertificate(V2) is absent, and the value
	// verifies with none of them.
	errNoSigner = errors.New("no certificate of the signature verifies the value")
	// errOtherCertificate: the value verifies with a certificate, but SigningCertificate(V2) names
	// others.
	errOtherCertificate = errors.New("the signer's certificate is not the one that SigningCertificate names")
)

// certificateDigest is the digest by which a Cert element names a certificate.
type certificateDigest struct {
	method string // URI
	sum    []byte // nil: none
}

// issuerSerial is the ASN.1 type IssuerSerial of RFC 5035 section 5 and RFC 5755 4.1.
type issuerSerial struct {
	Issuer []asn1.RawValue // GeneralNames
	Serial *big.Int
	UID    asn1.BitString `asn1:"optional"`
}

// findSigner finds the signer's certificate among those of KeyInfo and of the validation data (EN
// 319 102-1 5.2.3). The order in KeyInfo means nothing, because KeyInfo need not be signed; the
// signed property SigningCertificate(V2) names the certificate (EN 319 132-1 5.2.2).
func (s *signature) findSigner() {
	named := s.namedCertificates()
	s.signerNamed = len(named) > 0
	if !s.signerNamed {
		s.signer = s.firstVerifying(s.candidates())
		return
	}
	if s.signer = s.firstVerifying(named); s.signer == nil {
		s.signer = named[0]
	}
}

// candidates returns the certificates among which the signer's is looked for. A certificate in an
// Object is content, and a RetrievalMethod is not followed.
func (s *signature) candidates() []*x509.Certificate {
	return slices.Concat(s.Certificates, s.validationData.Certificates)
}

// firstVerifying returns the first certificate with which the value verifies, or nil.
func (s *signature) firstVerifying(certificates []*x509.Certificate) *x509.Certificate {
	for _, c := range certificates[:min(len(certificates), maxNamed)] {
		if s.VerifyValue(c) == nil {
			return c
		}
	}
	return nil
}

// namedCertificates returns the candidates that SigningCertificate(V2) names by their digests, in
// its order. It ignores IssuerSerial(V2), which adds nothing to the digest: see
// [signatureValidation.warnOfIssuerSerial].
func (s *signature) namedCertificates() []*x509.Certificate {
	var named []*x509.Certificate
	candidates := s.candidates()
	for _, cert := range certificateNames(s.properties) {
		d := digestOf(cert)
		if i := slices.IndexFunc(candidates, func(c *x509.Certificate) bool { return d.matches(c.Raw) }); i >= 0 {
			named = append(named, candidates[i])
		}
	}
	return named
}

// checkSigner verifies the value, and checks that the signer's certificate is one that
// SigningCertificate(V2) names, if that property is present.
func (s *signature) checkSigner() error {
	names := signingCertificate(s.properties) != none
	switch {
	case s.signer == nil && (names || len(s.candidates()) == 0):
		return errNoCertificate
	case s.signer == nil:
		return errNoSigner
	}
	if err := s.VerifyValue(s.signer); err != nil {
		return err
	}
	if names && !s.signerNamed {
		return errOtherCertificate
	}
	return nil
}

// signingCertificate returns the property SigningCertificateV2, or else SigningCertificate, or else
// none.
func signingCertificate(properties xmldoc.Node) xmldoc.Node {
	about := elementAt(properties, "SignedSignatureProperties")
	if property := elementAt(about, "SigningCertificateV2"); property != none {
		return property
	}
	return elementAt(about, "SigningCertificate")
}

// certificateNames returns the Cert elements of that property.
func certificateNames(properties xmldoc.Node) (all []xmldoc.Node) {
	for cert := range signingCertificate(properties).Elements() {
		if all = append(all, cert); len(all) == maxNamed {
			break
		}
	}
	return all
}

// digestOf reads the CertDigest of a Cert element.
func digestOf(cert xmldoc.Node) certificateDigest {
	n := elementAt(cert, "CertDigest")
	method, err := onlyChild(n, xmldsig.Namespace, "DigestMethod")
	if err != nil || method == none {
		return certificateDigest{}
	}
	uri, _ := method.Attr("", "Algorithm")
	value, err := onlyChild(n, xmldsig.Namespace, "DigestValue")
	if err != nil {
		return certificateDigest{}
	}
	sum, _ := decode(value, maxDigest)
	return certificateDigest{uri, sum}
}

func (d certificateDigest) matches(der []byte) bool {
	h := xmldsig.Hash(d.method)
	if h == 0 || !h.Available() {
		return false
	}
	sum := h.New()
	sum.Write(der)
	return bytes.Equal(sum.Sum(nil), d.sum)
}

// warnOfIssuerSerial warns if SigningCertificate(V2) gives, beside the digest of the signer's
// certificate, another issuer or serial number (EN 319 132-1 5.2.2). Only the digest decides.
func (v *signatureValidation) warnOfIssuerSerial() {
	own := func(cert xmldoc.Node) bool { return digestOf(cert).matches(v.signer.Raw) }
	all := certificateNames(v.properties)
	if i := slices.IndexFunc(all, own); i >= 0 {
		if err := compareIssuerSerial(all[i], v.signer); err != nil {
			v.warn("SigningCertificate has the digest of the signer's certificate, but names another certificate: %v.", err)
		}
	}
}

// compareIssuerSerial compares a certificate with the IssuerSerial(V2) of a Cert element, if it has
// one.
func compareIssuerSerial(cert xmldoc.Node, c *x509.Certificate) error {
	if n := elementAt(cert, "IssuerSerialV2"); n != none {
		der, _ := decode(n, maxIssuerSerial)
		return compareIssuerSerialV2(der, c)
	}
	n := elementAt(cert, "IssuerSerial")
	if n == none {
		return nil
	}
	return compareSerial(n, c)
}

// compareIssuerSerialV2 requires the issuer's name as a directoryName that is byte for byte the
// issuer of the certificate.
func compareIssuerSerialV2(der []byte, c *x509.Certificate) error {
	var named issuerSerial
	if rest, err := asn1.Unmarshal(der, &named); err != nil || len(rest) > 0 || len(named.Issuer) == 0 {
		return errors.New("IssuerSerialV2 cannot be read")
	}
	name := named.Issuer[0]
	switch {
	case name.Class != asn1.ClassContextSpecific || name.Tag != 4 || !bytes.Equal(name.Bytes, c.RawIssuer):
		return errors.New("another issuer")
	case named.Serial.Cmp(c.SerialNumber) != 0:
		return errors.New("another serial number")
	}
	return nil
}

// compareSerial compares only the serial number: the same name has many valid forms as text (RFC
// 4514).
func compareSerial(n xmldoc.Node, c *x509.Certificate) error {
	text, err := onlyChild(n, xmldsig.Namespace, "X509SerialNumber")
	if err != nil || text == none {
		return errors.New("X509SerialNumber is missing")
	}
	number, ok := new(big.Int).SetString(strings.TrimSpace(text.Text()), 10)
	switch {
	case !ok:
		return errors.New("X509SerialNumber cannot be read")
	case number.Cmp(c.SerialNumber) != 0:
		return errors.New("another serial number")
	}
	return nil
}
