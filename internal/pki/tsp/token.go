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

var (
	oidExtKeyUsage           = asn1.ObjectIdentifier{2, 5, 29, 37}
	oidPrivateKeyUsagePeriod = asn1.ObjectIdentifier{2, 5, 29, 16}
)

// A Token is a TimeStampToken. The authority states that data with the hash Sum existed at Time,
// within plus or minus Accuracy.
type Token struct {
	Raw          []byte // the ContentInfo in DER
	Time         time.Time
	Accuracy     time.Duration // zero when absent
	Policy       asn1.ObjectIdentifier
	SerialNumber *big.Int
	Hash         crypto.Hash
	Sum          []byte
	Nonce        *big.Int // nil when absent

	Certificate  *x509.Certificate   // the authority's; nil if the token does not contain it
	Certificates []*x509.Certificate // all that the token contains
	Algorithm    ades.Algorithm      // of the authority's signature

	tsa    []byte // GeneralName; empty when absent
	signed *cms.SignedData
}

// ParseToken reads a ContentInfo in BER or DER. Zero bytes may follow it, as in the Contents entry
// of a PDF. The error is [ErrFormat] if the bytes are not a token, and [ades.ErrAlgorithm] for an
// unknown algorithm. ParseToken verifies nothing.
func ParseToken(ber []byte) (*Token, error) {
	if len(ber) > maxSize {
		return nil, fmt.Errorf("%w: the token has %d bytes, which are too many", ErrFormat, len(ber))
	}
	signed, err := cms.ParseEncapsulated(ber, oidTSTInfo)
	if err != nil {
		return nil, fmt.Errorf("%w: the token is not CMS with a TSTInfo: %w", ErrFormat, err)
	}
	t := &Token{Raw: signed.Raw, Certificates: signed.Certificates, Algorithm: signed.Algorithm(), signed: signed}
	t.Certificate, _ = signed.Signer()
	if err := t.parseInfo(signed.Content); err != nil {
		return nil, err
	}
	return t, nil
}

// AddCertificates looks for the authority's certificate in others if the token does not contain it.
// A token has no certificates if its request did not ask for them (certReq). The token keeps a copy
// of the certificate, because [Token.Verify] changes it and others may be shared.
func (t *Token) AddCertificates(others []*x509.Certificate) {
	if t.Certificate != nil {
		return
	}
	t.signed.Certificates = slices.Concat(t.Certificates, others)
	if authority, err := t.signed.Signer(); err == nil {
		own := *authority
		t.Certificate = &own
	}
}

// VerifyOver is [Token.Verify] for a token that must be over sum, a digest by its Hash. The error is
// [ErrMismatch] if it is over another digest.
func (t *Token) VerifyOver(sum []byte) error {
	if !bytes.Equal(t.Sum, sum) {
		return fmt.Errorf("%w: the token's messageImprint is the digest of other data", ErrMismatch)
	}
	return t.Verify()
}

// Verify checks that the authority's certificate signed the token ([cms.ErrDigest],
// [ades.ErrValue], [cms.ErrNoCertificate]), that the signing-certificate attribute identifies this
// certificate ([cms.ErrBinding]), and that it is a certificate for timestamps, valid at the time of
// the token, of the authority in the field tsa ([ErrCertificate]). The caller checks the chain to a
// root and the strength of the algorithms ([ades.Algorithm.Check]).
//
// Verify also checks a PrivateKeyUsagePeriod extension of the certificate, which crypto/x509 does
// not know, and removes it from UnhandledCriticalExtensions.
func (t *Token) Verify() error {
	if err := t.signed.VerifyContent(); err != nil {
		return err
	}
	if err := t.signed.CheckBindings(); err != nil {
		return err
	}
	if err := checkPurpose(t.Certificate); err != nil {
		return err
	}
	if err := checkPeriods(t.Certificate, t.Time); err != nil {
		return err
	}
	return t.checkTSA()
}

// checkPurpose checks that the certificate is for timestamps only: the extended key usage is
// critical and has that purpose alone (RFC 3161 2.3), and the key usage, if present, permits
// signatures (RFC 5280 4.2.1.12).
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

// checkPeriods checks that the time is within the validity of the certificate and within its
// PrivateKeyUsagePeriod, if present (RFC 3280 4.2.1.4).
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

// checkTSA compares the field tsa, if present, with the subject and the subjectAltName of the
// certificate (RFC 3161 2.4.2).
func (t *Token) checkTSA() error {
	if len(t.tsa) == 0 {
		return nil
	}
	if equalGeneralNames(t.tsa, directoryName(t.Certificate.RawSubject)) {
		return nil
	}
	for rest := alternativeNames(t.Certificate); !rest.Empty(); {
		var name cryptobyte.String
		var tag cbasn1.Tag
		if !rest.ReadAnyASN1Element(&name, &tag) {
			break
		}
		if equalGeneralNames(t.tsa, name) {
			return nil
		}
	}
	return fmt.Errorf("%w: the token names another authority", ErrCertificate)
}

// directoryName returns the GeneralName of a Name (RFC 5280 4.2.1.6).
func directoryName(name []byte) []byte {
	var b cryptobyte.Builder
	b.AddASN1(tagContext4, func(b *cryptobyte.Builder) { b.AddBytes(name) })
	encoded, err := b.Bytes()
	if err != nil {
		return nil
	}
	return encoded
}

// alternativeNames returns the GeneralNames of the subjectAltName extension.
func alternativeNames(cert *x509.Certificate) cryptobyte.String {
	var names cryptobyte.String
	if e, ok := der.ExtensionOf(cert, oidSubjectAltName); ok {
		value := cryptobyte.String(e.Value)
		value.ReadASN1(&names, cbasn1.SEQUENCE)
	}
	return names
}

// equalGeneralNames compares two GeneralNames. Equal directoryNames may use different string types.
func equalGeneralNames(a, b []byte) bool {
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
