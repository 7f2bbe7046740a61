package pades_test

import (
	"bytes"
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/cms"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/internal/test/validators"
	"github.com/innsigli/innsigli/pades"
)

// TestVerifyNotices changes bytes of a signed document. TestAttacks has further values of ByteRange and Contents.
func TestVerifyNotices(t *testing.T) {
	ca := catest.New(t)
	p := newPerson(t, ca, p256(t))
	signed := sign(t, pdftest.Build(pdftest.Options{Payload: 1000}), p, pades.Options{Reason: "Undirritun"})
	replace := func(old, new string) []byte {
		if len(old) != len(new) || bytes.Count(signed, []byte(old)) != 1 {
			t.Fatalf("%q cannot be replaced by %q", old, new)
		}
		return bytes.Replace(signed, []byte(old), []byte(new), 1)
	}
	array, numbers := string(byteRangeOf.Find(signed)), byteRanges(signed)[0]
	a, b, c := numbers[0], numbers[1], numbers[2]
	ranges := func(s string) []byte { return replace(array, fmt.Sprintf("%-*s", len(array), "/ByteRange "+s)) }
	value := strings.TrimRight(string(signed[a:b-1]), "0") // ends with the signature value
	for _, tt := range []struct {
		name string
		b    []byte
		want ades.SubIndication
	}{
		{"page changed", replace("0 0 m 10 10 l S", "0 0 m 90 10 l S"), ades.HashFailure},
		{"reason changed", replace("(Undirritun)", "(Undirriton)"), ades.HashFailure},
		{"signature value changed", replace(value, flip(value)), ades.SigCryptoFailure},
		{"gap that begins after the opening delimiter", ranges(fmt.Sprintf("[0 %d %d %d]", a+1, b, c)), ades.FormatFailure},
		{"gap that ends before the closing delimiter", ranges(fmt.Sprintf("[0 %d %d %d]", a, b-1, c+1)), ades.FormatFailure},
		{"ByteRange is not an array", ranges("null"), ades.FormatFailure},
		{"end of the file is not covered", ranges(fmt.Sprintf("[0 %d %d %d]", a, b, c-10)), ades.FormatFailure},
		{"gap that begins inside of Contents", ranges(fmt.Sprintf("[0 %d %d %d]", a+2, b, c)), ades.FormatFailure},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := verifyAny(t, tt.b, ca)
			if len(got) != 1 || got[0].Indication != ades.TotalFailed || got[0].SubIndication != tt.want || got[0].Passed() {
				t.Errorf("got %+v, want %s", got, tt.want)
			}
		})
	}
}

// flip changes the last hexadecimal digit.
func flip(s string) string {
	last := "1"
	if s[len(s)-1] == '1' {
		last = "2"
	}
	return s[:len(s)-1] + last
}

// TestTrust verifies with roots or at times for which there is no valid certificate path.
func TestTrust(t *testing.T) {
	ca, other := catest.New(t), catest.New(t)
	signed := sign(t, pdftest.Build(pdftest.Options{}), newPerson(t, ca, p256(t)), pades.Options{})
	for name, row := range map[string]struct {
		options ades.VerifyOptions
		want    ades.SubIndication
	}{
		"no roots":               {ades.VerifyOptions{}, ades.NoCertificateChainFound},
		"another root":           {ades.VerifyOptions{Roots: other.Roots()}, ades.NoCertificateChainFound},
		"before the certificate": {ades.VerifyOptions{Roots: ca.Roots(), Time: time.Now().AddDate(-1, 0, 0)}, ades.CertificateChainGeneralFailure},
		"after the certificate":  {ades.VerifyOptions{Roots: ca.Roots(), Time: time.Now().AddDate(10, 0, 0)}, ades.CertificateChainGeneralFailure},
	} {
		report, err := pades.Verify(t.Context(), document(signed), row.options)
		if err != nil {
			t.Fatal(err)
		}
		s := report.Signatures[0]
		if s.Indication != ades.Indeterminate || s.SubIndication != row.want || s.Passed() || !s.Intact {
			t.Errorf("%s: got %+v, want %s", name, s, row.want)
		}
	}
}

// TestVerifyWithoutSignatures verifies a file that is not a PDF, and documents that are not signed.
func TestVerifyWithoutSignatures(t *testing.T) {
	plain := pdftest.Build(pdftest.Options{})
	for _, b := range [][]byte{[]byte("PK"), bytes.Replace(plain, []byte("startxref\n"), []byte("startxref\n1"), 1)} {
		if _, err := pades.Verify(t.Context(), document(b), ades.VerifyOptions{}); !errors.Is(err, ades.ErrUnreadable) {
			t.Errorf("got %v, want %v", err, ades.ErrUnreadable)
		}
	}
	report, err := pades.Verify(t.Context(), document(plain), ades.VerifyOptions{})
	if err != nil || len(report.Signatures) != 0 || report.Passed() {
		t.Errorf("%+v, %v", report, err)
	}
}

// TestSignaturesOfABrokenDocument verifies a document with a broken cross-reference. Its signatures fail, and are
// reported because viewers show them (EN 319 102-1 5.2.2).
func TestSignaturesOfABrokenDocument(t *testing.T) {
	t.Parallel()
	ca := catest.New(t)
	p := newPerson(t, ca, p256(t))
	reasons := []string{"Fyrst", "Svo"}
	signed := pdftest.Build(pdftest.Options{})
	for _, reason := range reasons {
		signed = sign(t, signed, p, pades.Options{Reason: reason})
	}
	for name, b := range map[string][]byte{
		"startxref of another place":  bytes.ReplaceAll(signed, []byte("startxref\n"), []byte("startxref\n1")),
		"startxref outside of file":   bytes.ReplaceAll(signed, []byte("startxref\n"), []byte("startxref\n99999")),
		"catalog not at its position": bytes.Replace(signed, []byte("\n1 0 obj"), []byte("\n  1 0 obj"), 1),
	} {
		report, err := pades.Verify(t.Context(), document(b), ades.VerifyOptions{Roots: ca.Roots()})
		if err != nil || len(report.Signatures) != len(reasons) || report.Passed() {
			t.Errorf("%s: %+v, %v", name, report, err)
			continue
		}
		for i, s := range report.Signatures {
			if s.Indication != ades.TotalFailed || s.SubIndication != ades.FormatFailure || s.Format != "PAdES-BASELINE-B" ||
				s.Coverage != ades.Partial || s.Intact || s.Reason != reasons[i] || !s.Certificate.Equal(p.signer.Certificate) {
				t.Errorf("%s: %+v", name, s)
			}
		}
	}
}

// TestForeignCMS verifies CMS that openssl made: attributes that are missing decide the format, and algorithms that
// are not supported are no failure of the signature.
func TestForeignCMS(t *testing.T) {
	ca := catest.New(t)
	ecdsaPerson, rsaPerson := newPerson(t, ca, p256(t)), newPerson(t, ca, certtest.NewRSAKey(t, 2048))
	for _, tt := range []struct {
		name   string
		p      person
		flags  []string
		format string
		sub    ades.SubIndication
		intact bool
	}{
		{"signing time", ecdsaPerson, []string{"-cades"}, "PAdES-BES", ades.TryLater, true},
		{"no signing certificate", ecdsaPerson, nil, "PDF-NOT-ETSI", ades.SigConstraintsFailure, true},
		{"subject key identifier", ecdsaPerson, []string{"-cades", "-keyid"}, "PAdES-BES", ades.TryLater, true},
		{"RSASSA-PSS", rsaPerson, []string{"-cades", "-keyopt", "rsa_padding_mode:pss"}, "PAdES-BES", ades.TryLater, true},
		{"RSASSA-PSS with two hashes", rsaPerson, []string{"-cades", "-keyopt", "rsa_padding_mode:pss", "-keyopt", "rsa_mgf1_md:sha512"}, "PAdES-BES", ades.CryptoConstraintsFailureNoPOE, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := replaceCMS(t, sign(t, pdftest.Build(pdftest.Options{}), tt.p, pades.Options{}), tt.p, tt.flags)
			s := verify(t, b, ca)[0]
			if s.Format != tt.format || s.Indication != ades.Indeterminate || s.SubIndication != tt.sub || s.Intact != tt.intact {
				t.Errorf("%+v", s)
			}
		})
	}
}

// replaceCMS replaces the CMS in a document by one that openssl makes.
func replaceCMS(t *testing.T, b []byte, p person, flags []string) []byte {
	t.Helper()
	r := byteRanges(b)[0]
	at, end := r[0]+1, r[1]-1
	key, cert := writeKey(t, p)
	args := append([]string{"cms", "-sign", "-binary", "-nosmimecap", "-md", "sha256", "-outform", "DER",
		"-in", tempFile(t, "content", append(bytes.Clone(b[:r[0]]), b[r[1]:]...)),
		"-signer", cert, "-inkey", key, "-certfile", writePEM(t, "CERTIFICATE", p.signer.Chain[0].Raw),
	}, flags...)
	der, err := exec.CommandContext(t.Context(), testenv.Program(t, "openssl"), args...).Output()
	if err != nil {
		t.Fatalf("openssl: %v", err)
	}
	if hex.EncodedLen(len(der)) > end-at {
		t.Fatalf("a CMS of %d bytes does not fit into %d", len(der), (end-at)/2)
	}
	out := bytes.Clone(b)
	copy(out[at:end], bytes.Repeat([]byte{'0'}, end-at))
	hex.Encode(out[at:end], der)
	return out
}

// TestForeignSchemes verifies what pyHanko signs by RSASSA-PSS, with another length of the salt than ours, and by
// Ed25519. EU DSS returns the same.
func TestForeignSchemes(t *testing.T) {
	ca := catest.New(t)
	key := certtest.NewRSAKey(t, 2048)
	_, ed25519Key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	var paths []string
	var own []ades.SignatureReport
	for _, row := range []struct {
		key          crypto.Signer
		scheme, hash string
		want         ades.Algorithm
	}{
		{key, "pss", "sha256", ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.PSS, Salt: 256 - 32 - 2}},
		{key, "pss", "sha512", ades.Algorithm{Hash: crypto.SHA512, Scheme: ades.PSS, Salt: 256 - 64 - 2}},
		{ed25519Key, "ed25519", "sha512", ades.Algorithm{Hash: crypto.SHA512, Scheme: ades.Ed25519}},
	} {
		key, cert := writeKey(t, newPerson(t, ca, row.key))
		after := filepath.Join(t.TempDir(), "after.pdf")
		python(t, nil, filepath.Join("testdata", "schemes.py"), key, cert, row.scheme, row.hash, tempFile(t, "before.pdf", contract()), after)
		b, err := os.ReadFile(after)
		if err != nil {
			t.Fatal(err)
		}
		s := verify(t, b, ca)[0]
		if s.Algorithm != row.want || !s.Intact {
			t.Errorf("%s: got %+v, want %v", row.scheme, s, row.want)
		}
		paths, own = append(paths, after), append(own, s)
	}
	for i, report := range validators.DSS(t, validators.DSSOptions{Roots: []*x509.Certificate{ca.Root()}}, paths...) {
		s := report.Signatures[0]
		if s.Intact != own[i].Intact || s.Indication != string(own[i].Indication) || s.SubIndication != string(own[i].SubIndication) {
			t.Errorf("EU DSS: %+v\npades: %+v", s, own[i])
		}
	}
}

// TestIssuerSerialOfAnother has an IssuerSerial that is not that of the certificate whose digest is beside it (RFC 5035
// section 5). The digest decides, and the report warns, as that of EU DSS does.
func TestIssuerSerialOfAnother(t *testing.T) {
	t.Parallel()
	ca := catest.New(t)
	p := newPerson(t, ca, p256(t))
	same := p.signer.Certificate.SerialNumber
	for name, serial := range map[string]*big.Int{"same": same, "other": new(big.Int).Xor(same, big.NewInt(1))} {
		signed := signCMS(t, crypto.SHA256, pades.Options{}, func(sum []byte) []byte { return cmsNaming(t, p, serial, sum) })
		s := verify(t, signed, ca)[0]
		warned := len(s.Warnings) == 1 && strings.Contains(s.Warnings[0], "its issuer and serial number are not")
		if !s.Intact || s.SubIndication != ades.TryLater || warned != (name == "other") || len(s.Warnings) > 1 {
			t.Errorf("%s: %s %s %q %q", name, s.Indication, s.SubIndication, s.Problems, s.Warnings)
		}
		t.Run("EU DSS/"+name, func(t *testing.T) {
			options := validators.DSSOptions{RevocationOptional: true, Roots: []*x509.Certificate{ca.Root()}}
			s := validators.DSS(t, options, tempFile(t, "signed.pdf", signed))[0].Signatures[0]
			warned := false
			for _, w := range s.Warnings {
				warned = warned || strings.HasPrefix(w.Key, "BBB_ICS_AIDNASNE")
			}
			if s.Indication != string(ades.TotalPassed) || warned != (name == "other") {
				t.Errorf("%+v", s)
			}
		})
	}
}

// cmsNaming returns a CMS whose signing-certificate attribute has the serial number.
func cmsNaming(t *testing.T, p person, serial *big.Int, sum []byte) []byte {
	t.Helper()
	named := *p.signer.Certificate
	named.SerialNumber = serial
	algorithm := ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.ECDSA}
	attributes, err := cms.SignedAttributes(&named, algorithm, sum)
	if err != nil {
		t.Fatal(err)
	}
	value, err := p.key.Sign(nil, algorithm.Digest(attributes).Sum, algorithm.SignerOpts())
	if err != nil {
		t.Fatal(err)
	}
	der, err := cms.Marshal(cms.Parts{
		Certificate: p.signer.Certificate, Chain: p.signer.Chain, Algorithm: algorithm, SignedAttributes: attributes, Value: value,
	})
	if err != nil {
		t.Fatal(err)
	}
	return der
}
