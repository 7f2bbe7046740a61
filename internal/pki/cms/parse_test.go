package cms

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"encoding/asn1"
	"errors"
	"slices"
	"testing"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/innsigli/innsigli/ades"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// TestParse parses signatures in BER, as other software writes them, and signatures with faults. Read returns what it can
// read of them together with the error.
func TestParse(t *testing.T) {
	p := newP256Signer(t).detached(t, document)
	good := mustMarshal(t, p)
	ber := indefinite(t, good)
	if der, rest, err := DER(ber); err != nil || len(rest) > 0 || !bytes.Equal(der, good) || bytes.Equal(ber, good) {
		t.Errorf("DER returns other bytes than those before, or leaves %d: %v", len(rest), err)
	}
	replaced := func(der []byte, from, to asn1.ObjectIdentifier) []byte {
		var encoded [2][]byte
		for i, oid := range []asn1.ObjectIdentifier{from, to} {
			var b cryptobyte.Builder
			b.AddASN1ObjectIdentifier(oid)
			encoded[i] = b.BytesOrPanic()
		}
		return bytes.ReplaceAll(der, encoded[0], encoded[1])
	}
	sha256, sha384, sha512 := digestOIDs[0].oid, digestOIDs[1].oid, digestOIDs[2].oid
	ecdsaSHA256, sha256RSA, curve := signatureOIDs[4].oid, signatureOIDs[0].oid, asn1.ObjectIdentifier{1, 2, 840, 10045, 3, 1, 7}

	set := cryptobyte.String(p.SignedAttributes)
	var attributes, first cryptobyte.String
	if !set.ReadASN1(&attributes, cbasn1.SET) {
		t.Fatal("signed attributes are no SET")
	}
	rest := attributes
	rest.ReadASN1Element(&first, cbasn1.SEQUENCE)
	private, err := marshalAttribute(oidTest, func(b *cryptobyte.Builder) { b.AddASN1Int64(1) })
	testenv.NoError(t, err)
	with := func(parts ...[]byte) []byte {
		changed := p
		changed.SignedAttributes = appendTLV(nil, []byte{byte(cbasn1.SET)}, slices.Concat(parts...))
		return mustMarshal(t, changed)
	}
	for _, test := range []struct {
		name string
		ber  []byte
		read bool // Read returns the signature
		want error
	}{
		{"as written", good, true, nil},
		{"with indefinite lengths", ber, true, nil},
		{"bytes after it", append(bytes.Clone(good), 0, 1), true, ErrFormat},
		{"unknown signature algorithm", replaced(good, ecdsaSHA256, curve), true, ades.ErrAlgorithm},
		{"signature algorithm as digest algorithm", replaced(good, sha256, sha256RSA), true, ErrDigest},
		{"Ed25519 with SHA-384 (RFC 8419 2.3)", replaced(mustMarshal(t, newEd25519Signer(t).detached(t, document)), sha512, sha384), true, ErrFormat},
		{"signed attribute twice", with(attributes, first), true, ErrFormat},
		{"unknown signed attribute twice", with(attributes, private, private), true, nil},
		{"empty", nil, false, ErrFormat},
		{"no ContentInfo", []byte{0x30, 0}, false, ErrFormat},
		{"truncated", good[:len(good)-1], false, ErrFormat},
		{"nested too deep", bytes.Repeat([]byte{0x30, 0x80}, 10_000), false, ErrFormat},
		{"length overflow", []byte{0x30, 0x88, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, false, ErrFormat},
	} {
		sd, err := Read(test.ber)
		if (sd != nil) != test.read || sd != nil && !sd.HasDigest() || !errors.Is(err, test.want) {
			t.Errorf("%s: Read returns %t, %v; want %t, %v", test.name, sd != nil, err, test.read, test.want)
		}
		if sd, err := Parse(test.ber); (sd == nil) != (test.want != nil) || !errors.Is(err, test.want) {
			t.Errorf("%s: Parse returns %t, %v; want %v", test.name, sd != nil, err, test.want)
		}
	}
	// The signature is over the attributes in the order of DER, in whatever order they are (RFC 5652 5.4).
	for name, b := range map[string][]byte{"attributes in another order": with(rest, first), "indefinite lengths": ber} {
		if err := mustParse(t, b).Verify(sum(crypto.SHA256, document)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCertificates reads a certs-only message of openssl, and writes it to the byte (RFC 8551 3.8).
func TestCertificates(t *testing.T) {
	o := testenv.NewOpenSSL(t)
	s := newP256Signer(t)
	want := []*x509.Certificate{s.Certificate, s.root}
	slices.SortFunc(want, func(a, b *x509.Certificate) int { return bytes.Compare(a.Raw, b.Raw) }) // DER; openssl does not sort
	o.Run("crl2pkcs7", "-nocrl", "-certfile", o.Write("certs.pem", certtest.PEM(want...)), "-outform", "DER", "-out", "bundle")
	bundle := o.Read("bundle")
	got, err := Certificates(bundle)
	if err != nil || !slices.EqualFunc(got, want, (*x509.Certificate).Equal) {
		t.Errorf("got %d certificates, %v; want those of the signer", len(got), err)
	}
	own, err := MarshalCertificates([]*x509.Certificate{s.root, s.Certificate, s.root})
	if err != nil || !bytes.Equal(own, bundle) {
		t.Errorf("got %x, %v; openssl writes %x", own, err, bundle)
	}
	for name, b := range map[string][]byte{"certificate": s.root.Raw, "empty": nil, "truncated": bundle[:len(bundle)-1]} {
		if _, err := Certificates(b); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: got %v, want ErrFormat", name, err)
		}
	}
}

// FuzzForeign reads messages of openssl in which bytes are replaced, and other bytes. The DER of what is read is the
// same message, and it verifies only with attributes that were signed.
func FuzzForeign(f *testing.F) {
	messages := opensslMessages(f)
	signed := make(map[string]bool) // signed attributes of the messages
	for i, der := range messages {
		f.Add(uint8(i), uint16(0), []byte{})
		f.Add(uint8(i), uint16(len(der)/2), []byte{0x30, 0x80, 0, 0})
		if sd, err := Read(der); err == nil {
			signed[string(sd.SignedAttributes)] = true
		}
	}
	if len(signed) == 0 {
		f.Fatal("no message of openssl can be read")
	}
	for _, b := range [][]byte{mustMarshal(f, newP256Signer(f).detached(f, []byte("x"))), {0x30, 0x80, 0, 0}, {0x24, 0x80, 4, 1, 'a', 0, 0}} {
		f.Add(uint8(len(messages)), uint16(0), b)
	}
	f.Fuzz(func(t *testing.T, which uint8, at uint16, with []byte) {
		ber := with
		if n := int(which) % (len(messages) + 1); n < len(messages) {
			ber = slices.Clone(messages[n])
			copy(ber[min(int(at), len(ber)):], with)
		}
		if certificates, err := Certificates(ber); err == nil && len(certificates) > maxCertificates {
			t.Errorf("%d certificates", len(certificates))
		}
		sd, err := Read(ber)
		if err != nil {
			return
		}
		again, err := Read(sd.Raw)
		if err != nil || !bytes.Equal(again.Raw, sd.Raw) || !bytes.Equal(again.SignedAttributes, sd.SignedAttributes) || again.Algorithm() != sd.Algorithm() {
			t.Errorf("the DER is read as another message: %v", err)
		}
		for _, token := range sd.SignatureTimestamps() {
			if len(token) > len(sd.Raw) {
				t.Errorf("a timestamp of %d bytes", len(token))
			}
		}
		h := sd.Algorithm().Hash
		if sd.Verify(make([]byte, h.Size())) == nil {
			t.Error("it verifies with a digest of zeros")
		}
		sd.CheckSingleBinding()
		sd.CheckBindings()
		verifies := sd.Verify(sum(h, document)) == nil || sd.Content != nil && sd.VerifyContent() == nil
		if verifies && !signed[string(sd.SignedAttributes)] {
			t.Errorf("attributes that were not signed verify: %x", sd.SignedAttributes)
		}
	})
}
