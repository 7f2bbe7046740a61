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

// checkNames warns where SigningCertificate(V2) says of the signer's certificate, beside its digest, that another
// authority issued it or by another serial number (EN 319 132-1 5.2.2). The digest alone decides.
func (v *verification) checkNames() {
	own := func(cert xmldoc.Node) bool { return digestOf(cert).fits(v.signer.Raw) }
	all := certificateNames(v.properties)
	if i := slices.IndexFunc(all, own); i >= 0 {
		if err := compareIssuerSerial(all[i], v.signer); err != nil {
			v.warn("SigningCertificate names the signer's certificate by its digest, and beside that another one: %v.", err)
		}
	}
}

// maxIssuerSerial bounds an IssuerSerialV2 in bytes.
const maxIssuerSerial = 16 << 10

// compareIssuerSerial compares a certificate with what an element Cert says of it, if it says anything.
func compareIssuerSerial(cert xmldoc.Node, c *x509.Certificate) error {
	if n := at(cert, "IssuerSerialV2"); n != none {
		der, _ := decode(n, maxIssuerSerial)
		return compareIssuerSerialV2(der, c)
	}
	n := at(cert, "IssuerSerial")
	if n == none {
		return nil
	}
	return compareSerial(n, c)
}

// issuerSerial is the IssuerSerial of RFC 5035 section 5 and RFC 5755 4.1.
type issuerSerial struct {
	Issuer []asn1.RawValue // GeneralNames
	Serial *big.Int
	UID    asn1.BitString `asn1:"optional"`
}

// compareIssuerSerialV2 wants the issuer's name in a directoryName, which is that of the certificate alone.
func compareIssuerSerialV2(der []byte, c *x509.Certificate) error {
	var named issuerSerial
	if rest, err := asn1.Unmarshal(der, &named); err != nil || len(rest) > 0 || len(named.Issuer) == 0 {
		return errors.New("its IssuerSerialV2 cannot be read")
	}
	name := named.Issuer[0]
	switch {
	case name.Class != asn1.ClassContextSpecific || name.Tag != 4 || !bytes.Equal(name.Bytes, c.RawIssuer):
		return errors.New("the issuer is another")
	case named.Serial.Cmp(c.SerialNumber) != 0:
		return errors.New("the serial number is another")
	}
	return nil
}

// compareSerial compares the number alone: a name has many forms as text (RFC 4514), of which none is wrong.
func compareSerial(n xmldoc.Node, c *x509.Certificate) error {
	text, err := only(n, xmldsig.Namespace, "X509SerialNumber")
	if err != nil || text == none {
		return errors.New("its X509SerialNumber is not there")
	}
	number, ok := new(big.Int).SetString(strings.TrimSpace(text.Text()), 10)
	switch {
	case !ok:
		return errors.New("its X509SerialNumber cannot be read")
	case number.Cmp(c.SerialNumber) != 0:
		return errors.New("the serial number is another")
	}
	return nil
}
