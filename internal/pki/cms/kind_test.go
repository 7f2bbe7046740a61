package cms

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"encoding/asn1"
	"errors"
	"testing"

	"golang.org/x/crypto/cryptobyte"

	"github.com/innsigli/innsigli/ades"
)

// with returns what was read with another signed attribute.
func with(sd SignedData, oid asn1.ObjectIdentifier) *SignedData {
	sd.attributes = append(sd.attributes[:len(sd.attributes):len(sd.attributes)], parsedAttribute{oid, []cryptobyte.String{{5, 0}}})
	return &sd
}

// EN 319 122-1 5.2.2, EN 319 142-1 6.3, EN 319 142-2 5: what the attributes make of a signature.
func TestKinds(t *testing.T) {
	sd, err := Parse(newP256Signer(t).sign(t, []byte("x")))
	if err != nil {
		t.Fatal(err)
	}
	two, carrying := *sd, *sd
	two.oneSigner = false
	carrying.Content = make([]byte, 20)
	for name, test := range map[string]struct {
		sd                                *SignedData
		advanced, baseline, digest, carry bool
	}{
		"ours":                  {sd, true, true, true, false},
		"with a signing time":   {with(*sd, oidSigningTime), true, false, true, false},
		"with both versions":    {with(*sd, oidSigningCertificate), false, false, true, false},
		"of two signers":        {&two, false, false, true, false},
		"that carries a digest": {&carrying, false, false, false, true},
	} {
		if test.sd.IsAdvanced() != test.advanced || test.sd.IsBaseline() != test.baseline ||
			test.sd.HasDigest() != test.digest || test.sd.HasDigestContent() != test.carry {
			t.Errorf("%s: %v %v %v %v", name, test.sd.IsAdvanced(), test.sd.IsBaseline(), test.sd.HasDigest(), test.sd.HasDigestContent())
		}
	}
	if sd.HasPolicy() || sd.HasCommitment() || !with(*sd, oidSignaturePolicy).HasPolicy() || !with(*sd, oidCommitment).HasCommitment() {
		t.Error("a policy or a commitment is seen where it is not, or not where it is")
	}
	bare := *sd
	bare.Certificates, bare.unparsed = nil, [][]byte{{1}, sd.Certificates[0].Raw}
	if !sd.HasSignerCertificate() || !bare.HasSignerCertificate() {
		t.Error("the signer's certificate is not seen")
	}
	if bare.unparsed = bare.unparsed[:1]; bare.HasSignerCertificate() {
		t.Error("the signer's certificate is seen where it is not")
	}
}

// What is amiss with a signature does not keep it from being read, and does from being parsed.
func TestReadTellsWhatIsAmiss(t *testing.T) {
	good := newP256Signer(t).sign(t, []byte("x"))
	curve := []byte{0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07} // where the signature algorithm stands
	unknown := bytes.Replace(good, []byte{0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02}, curve, -1)
	for name, test := range map[string]struct {
		ber  []byte
		want error
	}{
		"nothing":              {good, nil},
		"bytes after it":       {append(bytes.Clone(good), 1), ErrFormat},
		"an unknown algorithm": {unknown, ades.ErrAlgorithm},
	} {
		sd, err := Read(test.ber)
		if sd == nil || !errors.Is(err, test.want) || !sd.HasDigest() {
			t.Errorf("%s: %v", name, err)
		}
		if parsed, err := Parse(test.ber); (parsed == nil) != (test.want != nil) || !errors.Is(err, test.want) {
			t.Errorf("%s, parsed: %v", name, err)
		}
	}
	if sd, err := Read([]byte{0x30, 0}); sd != nil || !errors.Is(err, ErrFormat) {
		t.Errorf("no SignedData: %v", err)
	}
}

// RFC 5652 5.4: what is signed is the DER of the attributes, in whatever order they stand.
func TestAttributesAreSignedInOrder(t *testing.T) {
	one, other := []byte{0x30, 1, 9}, []byte{0x30, 1, 3}
	got, err := encodeSignedAttributes(append(bytes.Clone(one), other...))
	if want := []byte{0x31, 6, 0x30, 1, 3, 0x30, 1, 9}; err != nil || !bytes.Equal(got, want) {
		t.Errorf("%x, %v", got, err)
	}
}

// RFC 5035 section 5: the issuer and serial number beside the hash are compared on their own.
func TestIssuerSerial(t *testing.T) {
	s, other := newP256Signer(t), newP256Signer(t)
	der := s.sign(t, []byte("x"))
	sd, err := Parse(der)
	if err != nil || sd.CheckIssuerSerial() != nil || sd.CheckBinding() != nil {
		t.Fatal(err, sd.CheckIssuerSerial())
	}
	h, sum, rest, err := sd.firstCertID(oidSigningCertificateV2, crypto.SHA256)
	if err != nil || !h.Available() || len(sum) != h.Size() {
		t.Fatal(err)
	}
	if err := compareIssuerSerial(rest, other.Certificate); !errors.Is(err, ErrBinding) {
		t.Errorf("of another: %v", err)
	}
	if err := compareIssuerSerial(cryptobyte.String{0x30, 0}, s.Certificate); !errors.Is(err, ErrBinding) {
		t.Errorf("malformed: %v", err)
	}
	if err := compareIssuerSerial(nil, s.Certificate); err != nil {
		t.Errorf("absent: %v", err)
	}
}

// ISO 32000-1 12.8.3.3.2: what is in the attribute, and nothing of what is malformed.
func TestArchivedRevocation(t *testing.T) {
	explicit := func(n byte, der ...byte) []byte {
		return appendTLV(nil, []byte{0xa0 | n}, appendTLV(nil, []byte{0x30}, der))
	}
	list, response := []byte{0x30, 1, 1}, []byte{0x30, 1, 2}
	for name, test := range map[string]struct {
		value            []byte
		lists, responses int
	}{
		"both":      {append(explicit(0, append(list, list...)...), explicit(1, response...)...), 2, 1},
		"responses": {explicit(1, response...), 0, 1},
		"nothing":   {nil, 0, 0},
		"malformed": {explicit(0, 4, 1), 0, 0},
	} {
		sd := SignedData{attributes: []parsedAttribute{{oidRevocationArchival, []cryptobyte.String{appendTLV(nil, []byte{0x30}, test.value)}}}}
		if lists, responses := sd.ArchivedRevocation(); len(lists) != test.lists || len(responses) != test.responses {
			t.Errorf("%s: %d lists, %d responses", name, len(lists), len(responses))
		}
	}
	if lists, responses := new(SignedData).ArchivedRevocation(); lists != nil || responses != nil {
		t.Error("without the attribute")
	}
}

// ISO 32000-1 12.8.3.3.1: a digest that is carried is compared, and signed as it is.
func TestVerifyCarried(t *testing.T) {
	s := newP256Signer(t)
	content := bytes.Repeat([]byte{7}, 20)
	digest := s.Algorithm.Digest(content)
	value, err := s.key.Sign(nil, digest.Sum, s.Algorithm.SignerOpts())
	if err != nil {
		t.Fatal(err)
	}
	sd := &SignedData{
		Content: content, ContentType: oidData, Certificates: []*x509.Certificate{s.Certificate}, Value: value,
		issuer: s.Certificate.RawIssuer, serial: s.Certificate.SerialNumber, algorithm: s.Algorithm,
	}
	if err := sd.VerifyDigestContent(content); err != nil {
		t.Error(err)
	}
	if err := sd.VerifyDigestContent(bytes.Repeat([]byte{8}, 20)); !errors.Is(err, ErrDigest) {
		t.Errorf("another document: %v", err)
	}
	if sd.Content = bytes.Repeat([]byte{8}, 20); !errors.Is(sd.VerifyDigestContent(sd.Content), ades.ErrValue) {
		t.Error("another digest verifies")
	}
}

// What names a signature algorithm where a digest's belongs leaves the content unknown: that it is another one
// nobody can say.
func TestNoDigestAlgorithm(t *testing.T) {
	for _, s := range signatureOIDs {
		if _, err := hashByOID(s.oid); !errors.Is(err, ErrNoDigest) || errors.Is(err, ErrDigest) || errors.Is(err, ades.ErrAlgorithm) {
			t.Errorf("%v: %v", s.oid, err)
		}
	}
	if _, err := hashByOID(oidData); !errors.Is(err, ades.ErrAlgorithm) || errors.Is(err, ErrNoDigest) {
		t.Errorf("what is neither: %v", err)
	}
}
