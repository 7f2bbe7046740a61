package tsp

import (
	"crypto/x509"
	"encoding/asn1"
	"fmt"
	"slices"
	"time"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/innsigli/innsigli/internal/pki/der"
)

var (
	oidExtKeyUsage           = asn1.ObjectIdentifier{2, 5, 29, 37}
	oidPrivateKeyUsagePeriod = asn1.ObjectIdentifier{2, 5, 29, 16}
)

// checkPurpose checks that the certificate is for timestamps and nothing else: the
// extended key usage is critical and names that purpose alone (RFC 3161 2.3), and the
// key usage, where there is one, is for signatures (RFC 5280 4.2.1.12).
func checkPurpose(cert *x509.Certificate) error {
	usage, ok := der.ExtensionOf(cert, oidExtKeyUsage)
	switch {
	case !ok || !slices.Equal(cert.ExtKeyUsage, []x509.ExtKeyUsage{x509.ExtKeyUsageTimeStamping}) || len(cert.UnknownExtKeyUsage) > 0:
		return fmt.Errorf("%w: extended key usage is not timeStamping alone", ErrCertificate)
	case !usage.Critical:
		return fmt.Errorf("%w: extended key usage is not critical", ErrCertificate)
	case cert.KeyUsage != 0 && cert.KeyUsage&(x509.KeyUsageDigitalSignature|x509.KeyUsageContentCommitment) == 0:
		return fmt.Errorf("%w: key usage is not for signatures", ErrCertificate)
	}
	return nil
}

// checkPeriods checks that the time is within the certificate's validity and, where
// it is limited further, within the time in which the key is used (RFC 3280 4.2.1.4).
func checkPeriods(cert *x509.Certificate, at time.Time) error {
	if at.Before(cert.NotBefore) || at.After(cert.NotAfter) {
		return fmt.Errorf("%w: not valid at %v", ErrCertificate, at)
	}
	period, ok := der.ExtensionOf(cert, oidPrivateKeyUsagePeriod)
	if !ok {
		return nil
	}
	if err := checkUsagePeriod(period.Value, at); err != nil {
		return err
	}
	cert.UnhandledCriticalExtensions = slices.DeleteFunc(slices.Clone(cert.UnhandledCriticalExtensions), oidPrivateKeyUsagePeriod.Equal)
	return nil
}

// checkUsagePeriod compares with a PrivateKeyUsagePeriod.
func checkUsagePeriod(extension cryptobyte.String, at time.Time) error {
	var sequence cryptobyte.String
	if !extension.ReadASN1(&sequence, cbasn1.SEQUENCE) || !extension.Empty() {
		return fmt.Errorf("%w: malformed private key usage period", ErrCertificate)
	}
	for _, limit := range []struct {
		tag     cbasn1.Tag
		outside func(limit time.Time) bool
	}{
		{cbasn1.Tag(0).ContextSpecific(), at.Before}, // notBefore
		{cbasn1.Tag(1).ContextSpecific(), at.After},  // notAfter
	} {
		if !sequence.PeekASN1Tag(limit.tag) {
			continue
		}
		t, err := readTime(&sequence, limit.tag)
		if err != nil || limit.outside(t) {
			return fmt.Errorf("%w: key used at %v, outside its usage period", ErrCertificate, at)
		}
	}
	if !sequence.Empty() {
		return fmt.Errorf("%w: malformed private key usage period", ErrCertificate)
	}
	return nil
}
