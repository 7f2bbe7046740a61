package cms

import (
	"bytes"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"os/exec"
	"slices"
	"testing"

	"github.com/innsigli/innsigli/ades"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// FuzzForeign reads what openssl makes in its many forms, with bytes replaced: detached and
// with content, in pieces of indefinite length, without signers. And it reads bytes that are
// of nothing. What is read is the same in DER, and verifies only as it was signed.
func FuzzForeign(f *testing.F) {
	content := []byte("the bytes of a document")
	messages := opensslMessages(f, content)
	signed := make(map[string]bool) // attributes
	for i, der := range messages {
		f.Add(uint8(i), uint16(0), []byte{})
		f.Add(uint8(i), uint16(len(der)/2), []byte{0x30, 0x80, 0, 0})
		if sd, err := Read(der); err == nil {
			signed[string(sd.SignedAttributes)] = true
		}
	}
	if len(signed) == 0 {
		f.Fatal("nothing of openssl's can be read")
	}
	key := certtest.NewKey(f, elliptic.P256())
	for _, b := range [][]byte{newSigner(f, key, ades.Algorithm{}).sign(f, []byte("x")), {0x30, 0x80, 0, 0}, {0x24, 0x80, 4, 1, 'a', 0, 0}} {
		f.Add(uint8(len(messages)), uint16(0), b)
	}
	f.Fuzz(func(t *testing.T, which uint8, at uint16, with []byte) {
		ber := with
		if n := int(which) % (len(messages) + 1); n < len(messages) {
			ber = slices.Clone(messages[n]) // each process has its own
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
			t.Errorf("the DER of it is something else: %v", err)
		}
		for _, token := range sd.SignatureTimestamps() {
			if len(token) > len(sd.Raw) {
				t.Errorf("a timestamp of %d bytes", len(token))
			}
		}
		if sd.Verify(make([]byte, sd.Algorithm().Hash.Size())) == nil {
			t.Error("a digest of zeros verifies")
		}
		sd.CheckBinding()
		sd.CheckCertificateAttributes()
		verifies := sd.Verify(digest(sd.Algorithm().Hash, content)) == nil || sd.Content != nil && sd.VerifyContent() == nil
		if verifies && !signed[string(sd.SignedAttributes)] {
			t.Errorf("attributes that nobody signed verify: %x", sd.SignedAttributes)
		}
	})
}

// opensslMessages are signatures of one key over the content, and its certificate.
func opensslMessages(f *testing.F, content []byte) (all [][]byte) {
	f.Helper()
	openssl := testenv.Program(f, "openssl")
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		f.Fatal(err)
	}
	s := newSigner(f, key, ades.Algorithm{})
	keyDER, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		f.Fatal(err)
	}
	keyPath, certPath := writePEM(f, "key.pem", "PRIVATE KEY", keyDER), writePEM(f, "cert.pem", "CERTIFICATE", s.Certificate.Raw)
	signing := []string{"cms", "-sign", "-binary", "-outform", "DER", "-signer", certPath, "-inkey", keyPath, "-md"}
	for _, arguments := range [][]string{
		append(signing, "sha256"),
		append(signing, "sha512", "-cades", "-nosmimecap"),
		append(signing, "sha1"),
		append(signing, "sha256", "-nocerts"),
		append(signing, "sha256", "-noattr"),
		append(signing, "sha256", "-nodetach"),
		append(signing, "sha256", "-nodetach", "-stream"),
		append(signing, "sha256", "-stream"),
		append(signing, "sha256", "-keyopt", "rsa_padding_mode:pss"),
		{"crl2pkcs7", "-nocrl", "-certfile", certPath, "-outform", "DER"},
	} {
		command := exec.Command(openssl, arguments...)
		command.Stdin = bytes.NewReader(content)
		der, err := command.Output()
		if err != nil {
			f.Fatalf("openssl %s: %v", arguments, err)
		}
		all = append(all, der)
	}
	return all
}
