package tsp

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"fmt"
	"math/big"
	"reflect"
	"slices"
	"time"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/cms"
	"github.com/innsigli/innsigli/internal/pki/der"
)

// Token is a TimeStampToken: an authority's word that something with the hash Sum
// existed at Time, give or take Accuracy.
type Token struct {
	Raw          []byte // the ContentInfo in DER
	Time         time.Time
	Accuracy     time.Duration // zero: not said
	Policy       asn1.ObjectIdentifier
	SerialNumber *big.Int
	Hash         crypto.Hash
	Sum          []byte
	Nonce        *big.Int // nil: none

	Certificate  *x509.Certificate   // the authority's; nil when not carried
	Certificates []*x509.Certificate // all that are carried
	Algorithm    ades.Algorithm      // of the authority's signature

	name   []byte // GeneralName of the field tsa; empty when absent
	signed *cms.SignedData
}

// ParseToken reads a ContentInfo in BER or DER. Zero bytes may follow it, as they do
// in the /Contents of a PDF. [ErrFormat] when it is no token, [ades.ErrAlgorithm]
// when it uses an algorithm that is not known here. Nothing is verified.
func ParseToken(ber []byte) (*Token, error) {
	if len(ber) > maxSize {
		return nil, fmt.Errorf("%w: token of %d bytes", ErrFormat, len(ber))
	}
	signed, err := cms.ParseEncapsulated(ber, oidTSTInfo)
	if err != nil {
		return nil, fmt.Errorf("%w: token: %w", ErrFormat, err)
	}
	t := &Token{Raw: signed.Raw, Certificates: signed.Certificates, Algorithm: signed.Algorithm(), signed: signed}
	t.Certificate, _ = signed.Signer()
	if err := t.parseInfo(signed.Content); err != nil {
		return nil, err
	}
	return t, nil
}

// Supply looks for the authority's certificate among others, where the token itself
// carries none: its client had not asked for it.
func (t *Token) Supply(others []*x509.Certificate) {
	if t.Certificate != nil {
		return
	}
	t.signed.Certificates = slices.Concat(t.Certificates, others)
	t.Certificate, _ = t.signed.Signer()
}

// VerifyOver is [Token.Verify] for a token that has to be over a sum by its Hash, else [ErrMismatch].
func (t *Token) VerifyOver(sum []byte) error {
	if !bytes.Equal(t.Sum, sum) {
		return fmt.Errorf("%w: it is over something else", ErrMismatch)
	}
	return t.Verify()
}

// Verify checks what the token proves by itself: that the authority's certificate
// signed it ([cms.ErrDigest], [ades.ErrValue], [cms.ErrNoCertificate]), that this
// certificate is named by what it signed ([cms.ErrBinding]) and is for timestamps at
// the token's time ([ErrCertificate]). Whether the certificate leads to a root and the
// algorithms are strong enough ([ades.Algorithm.Check]) is the caller's question.
//
// A critical PrivateKeyUsagePeriod of the certificate, which crypto/x509 does not
// know, is checked here and then no longer among its UnhandledCriticalExtensions.
func (t *Token) Verify() error {
	if err := t.signed.VerifyContent(); err != nil {
		return err
	}
	if err := t.signed.CheckNamed(); err != nil {
		return err
	}
	if err := checkPurpose(t.Certificate); err != nil {
		return err
	}
	if err := checkPeriods(t.Certificate, t.Time); err != nil {
		return err
	}
	return t.checkName()
}

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

var oidSubjectAltName = asn1.ObjectIdentifier{2, 5, 29, 17}

// checkName compares the field tsa, where it is present, with the names of the
// certificate (RFC 3161 2.4.2).
func (t *Token) checkName() error {
	if len(t.name) == 0 {
		return nil
	}
	if sameName(t.name, directoryName(t.Certificate.RawSubject)) {
		return nil
	}
	for rest := alternativeNames(t.Certificate); !rest.Empty(); {
		var name cryptobyte.String
		var tag cbasn1.Tag
		if !rest.ReadAnyASN1Element(&name, &tag) {
			break
		}
		if sameName(t.name, name) {
			return nil
		}
	}
	return fmt.Errorf("%w: the token names another authority", ErrCertificate)
}

// directoryName is the GeneralName of a Name (RFC 5280 4.2.1.6).
func directoryName(name []byte) []byte {
	var b cryptobyte.Builder
	b.AddASN1(tagContext4, func(b *cryptobyte.Builder) { b.AddBytes(name) })
	encoded, err := b.Bytes()
	if err != nil {
		return nil
	}
	return encoded
}

// alternativeNames are the GeneralNames of the certificate's extension.
func alternativeNames(cert *x509.Certificate) cryptobyte.String {
	var names cryptobyte.String
	if e, ok := der.ExtensionOf(cert, oidSubjectAltName); ok {
		value := cryptobyte.String(e.Value)
		value.ReadASN1(&names, cbasn1.SEQUENCE)
	}
	return names
}

// sameName compares two GeneralNames. Those of directories may be in different kinds
// of strings.
func sameName(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	first, ok := distinguishedName(a)
	second, ok2 := distinguishedName(b)
	return ok && ok2 && reflect.DeepEqual(first, second)
}

func distinguishedName(generalName cryptobyte.String) (pkix.RDNSequence, bool) {
	var name cryptobyte.String
	var rdns pkix.RDNSequence
	if !generalName.ReadASN1(&name, tagContext4) {
		return nil, false
	}
	rest, err := asn1.Unmarshal(name, &rdns)
	return rdns, err == nil && len(rest) == 0
}
