package pades_test

import (
	"bytes"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
)

// appendObjects appends a revision that sets objects, as anybody can, to a file with
// a cross-reference table.
func appendObjects(t *testing.T, b []byte, objects map[int]string) []byte {
	t.Helper()
	start := bytes.LastIndex(b, []byte("startxref"))
	previous, err := strconv.Atoi(string(bytes.Fields(b[start:])[1]))
	if err != nil {
		t.Fatal(err)
	}
	out := bytes.NewBuffer(bytes.Clone(b))
	var sections bytes.Buffer
	for n, body := range objects {
		fmt.Fprintf(&sections, "%d 1\n%010d 00000 n \n", n, out.Len())
		fmt.Fprintf(out, "%d 0 obj\n%s\nendobj\n", n, body)
	}
	at := out.Len()
	fmt.Fprintf(out, "xref\n%strailer\n<< /Size 1000 /Root 1 0 R /Prev %d >>\nstartxref\n%d\n%%%%EOF\n", sections.Bytes(), previous, at)
	return out.Bytes()
}

// signatureObject finds the object of the only signature dictionary.
func signatureObject(t *testing.T, b []byte) (number int, body string) {
	t.Helper()
	m := regexp.MustCompile(`(?s)(\d+) 0 obj\n(<< /Type /Sig .*?>>)\nendobj`).FindSubmatch(b)
	if m == nil {
		t.Fatal("no signature dictionary")
	}
	number, err := strconv.Atoi(string(m[1]))
	if err != nil {
		t.Fatal(err)
	}
	return number, string(m[2])
}

// What a signature says is what was signed: a dictionary that is written again later
// does not speak for it, even with the same ByteRange and Contents.
func TestSignatureDictionaryWrittenAgain(t *testing.T) {
	ca := newAuthority(t)
	p := newPerson(t, ca, p256(t))
	signed := sign(t, pdftest.Build(pdftest.Options{}), p, pades.Options{Reason: "Read and agreed"})
	number, body := signatureObject(t, signed)
	forged := appendObjects(t, signed, map[int]string{number: string(bytes.Replace([]byte(body), []byte("Read and agreed"), []byte("I owe a million"), 1))})
	got := verify(t, forged, ca)
	if len(got) != 1 || got[0].SubIndication != ades.FormatFailure || got[0].Intact {
		t.Errorf("%+v", got)
	}
	if _, err := prepare(t, forged, p.signer, pades.Options{}); !errors.Is(err, ades.ErrBroken) {
		t.Errorf("it can be signed again: %v", err)
	}
}

func TestOneSignatureInTwoFields(t *testing.T) {
	ca := newAuthority(t)
	signed := sign(t, pdftest.Build(pdftest.Options{}), newPerson(t, ca, p256(t)), pades.Options{})
	number, _ := signatureObject(t, signed)
	twice := appendObjects(t, signed, map[int]string{
		500: fmt.Sprintf("<< /FT /Sig /T (Another) /V %d 0 R >>", number),
		1:   fmt.Sprintf("<< /Type /Catalog /Pages 2 0 R /AcroForm << /Fields [%d 0 R 500 0 R] /SigFlags 3 >> >>", number+1),
	})
	got := verifyAny(t, twice, ca)
	if len(got) != 2 || got[0].Intact == got[1].Intact || got[0].Passed() || got[1].Passed() { // the second field came later
		t.Errorf("%+v", got)
	}
}

// spec 3.10: what permits no changes is refused, and so is a file
// whose last signature is broken.
func TestPrepareObeysEarlierSignatures(t *testing.T) {
	ca := newAuthority(t)
	p := newPerson(t, ca, p256(t))
	signed := sign(t, pdftest.Build(pdftest.Options{}), p, pades.Options{})
	number, _ := signatureObject(t, signed)
	array := regexp.MustCompile(`/ByteRange \[0 (\d+) (\d+) (\d+)\]`).FindSubmatch(signed)
	last, _ := strconv.Atoi(string(array[3]))
	short := bytes.Replace(signed, array[0], fmt.Appendf(nil, "/ByteRange [0 %s %s %d]", array[1], array[2], last-10), 1)
	if len(short) != len(signed) {
		t.Fatal("the length has changed")
	}
	tests := []struct {
		name string
		b    []byte
		want error
	}{
		{"locked by its field", appendObjects(t, signed, map[int]string{
			number + 1: fmt.Sprintf("<< /FT /Sig /T (Signature1) /V %d 0 R /Lock << /Type /SigFieldLock /Action /All /P 1 >> >>", number),
		}), ades.ErrForbidden},
		{"FieldMDP with P 1", pdftest.Build(pdftest.Options{
			Catalog: "/AcroForm << /Fields [100 0 R] >>",
			Objects: []string{"<< /FT /Sig /T (A) /V 101 0 R >>", "<< /Type /Sig /Reference [<< /TransformMethod /FieldMDP /TransformParams << /Action /All /P 1 >> >>] >>"},
		}), ades.ErrForbidden},
		{"last signature does not cover its revision", short, ades.ErrBroken},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := prepare(t, tt.b, p.signer, pades.Options{}); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

func TestNameBelowANamelessParentIsTaken(t *testing.T) {
	ca := newAuthority(t)
	b := pdftest.Build(pdftest.Options{
		Catalog: "/AcroForm << /Fields [100 0 R] /SigFlags 1.0 >>",
		Objects: []string{"<< /Kids [101 0 R] >>", "<< /Parent 100 0 R /FT /Tx /T (Signature1) >>"},
	})
	signed := sign(t, b, newPerson(t, ca, p256(t)), pades.Options{})
	if got := verify(t, signed, ca); len(got) != 1 || got[0].Name != "Signature2" {
		t.Errorf("%+v", got)
	}
}

// References to references are followed before anything is patched.
func TestArraysBehindTwoReferences(t *testing.T) {
	ca := newAuthority(t)
	b := pdftest.Build(pdftest.Options{
		Catalog: "/AcroForm 100 0 R",
		Page:    "/Annots 102 0 R",
		Objects: []string{"101 0 R", "<< /Fields [] >>", "103 0 R", "[]"},
	})
	if got := verify(t, sign(t, b, newPerson(t, ca, p256(t)), pades.Options{}), ca); len(got) != 1 || !got[0].Passed() {
		t.Errorf("%+v", got)
	}
}

// CMS that other software makes: what it lacks decides the format, and what this
// package does not know is no failure of the signature.
func TestForeignCMS(t *testing.T) {
	openssl := testenv.Program(t, "openssl")
	ca := newAuthority(t)
	ecdsaPerson, rsaPerson := newPerson(t, ca, p256(t)), newPerson(t, ca, rsaKey(t, 2048))
	tests := []struct {
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
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := replaceCMS(t, openssl, sign(t, pdftest.Build(pdftest.Options{}), tt.p, pades.Options{}), tt.p, tt.flags)
			s := verify(t, b, ca)[0]
			if s.Format != tt.format || s.Indication != ades.Indeterminate || s.SubIndication != tt.sub || s.Intact != tt.intact {
				t.Errorf("%+v", s)
			}
		})
	}
}

// replaceCMS puts a CMS that openssl makes in place of the one in a document.
func replaceCMS(t *testing.T, openssl string, b []byte, p person, flags []string) []byte {
	t.Helper()
	at := bytes.LastIndex(b, []byte("/Contents <")) + len("/Contents <")
	end := at + bytes.IndexByte(b[at:], '>')
	folder := t.TempDir()
	path := func(name string, content []byte) string {
		path := filepath.Join(folder, name)
		if err := os.WriteFile(path, content, 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	key, err := x509.MarshalPKCS8PrivateKey(p.key)
	if err != nil {
		t.Fatal(err)
	}
	args := append([]string{"cms", "-sign", "-binary", "-nosmimecap", "-md", "sha256", "-outform", "DER",
		"-in", path("content", append(bytes.Clone(b[:at-1]), b[end+1:]...)),
		"-signer", path("cert.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.signer.Certificate.Raw})),
		"-inkey", path("key.pem", pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key})),
		"-certfile", path("chain.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.signer.Chain[0].Raw})),
	}, flags...)
	der, err := exec.Command(openssl, args...).Output()
	if err != nil {
		t.Fatalf("openssl: %v", err)
	}
	if hex.EncodedLen(len(der)) > end-at {
		t.Fatalf("a CMS of %d bytes for a place of %d", len(der), (end-at)/2)
	}
	out := bytes.Clone(b)
	digits := out[at:end]
	copy(digits, bytes.Repeat([]byte{'0'}, len(digits)))
	hex.Encode(digits, der)
	return out
}

// A reference to an object that does not exist is null, and stays so: it must not come
// to mean the signature.
func TestReferencesToNothingStaySo(t *testing.T) {
	ca := newAuthority(t)
	b := pdftest.Build(pdftest.Options{Catalog: "/Outlines 11 0 R", Page: "/Annots [12 0 R]", Trailer: "/Info 13 0 R"})
	signed := sign(t, b, newPerson(t, ca, p256(t)), pades.Options{})
	file, err := pdf.Open(bytes.NewReader(signed), int64(len(signed)))
	if err != nil {
		t.Fatal(err)
	}
	for _, num := range []uint32{11, 12, 13} {
		if o, err := file.Object(pdf.Ref{Num: num}); o != nil || err != nil {
			t.Errorf("object %d is %v, %v", num, o, err)
		}
	}
	if got := verify(t, signed, ca); len(got) != 1 || !got[0].Passed() {
		t.Errorf("%+v", got)
	}
}

// One array may be both the annotations of the page and the fields of the form.
func TestOneArrayForFieldsAndAnnotations(t *testing.T) {
	ca := newAuthority(t)
	b := pdftest.Build(pdftest.Options{Catalog: "/AcroForm << /Fields 100 0 R >>", Page: "/Annots 100 0 R", Objects: []string{"[]"}})
	signed := sign(t, b, newPerson(t, ca, p256(t)), pades.Options{})
	file, err := pdf.Open(bytes.NewReader(signed), int64(len(signed)))
	if err != nil {
		t.Fatal(err)
	}
	if array, err := file.Array(pdf.Ref{Num: 100}); err != nil || len(array) != 1 {
		t.Errorf("%v, %v", array, err)
	}
}

// A form that makes a reader look at one large object again and again is given up.
func TestWorkIsBounded(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	p := newPerson(t, ca, p256(t))
	field := "<< /FT /Sig /T 100 0 R >> "
	b := pdftest.Build(pdftest.Options{
		Catalog: "/AcroForm << /Fields [" + strings.Repeat(field, 10_000) + "] >>",
		Objects: []string{"(" + strings.Repeat("x", 1<<20) + ")"},
	})
	if _, err := prepare(t, b, p.signer, pades.Options{}); !errors.Is(err, ades.ErrUnreadable) {
		t.Errorf("signing: %v", err)
	}
	if _, err := pades.Verify(t.Context(), document(b), ades.VerifyOptions{}); !errors.Is(err, ades.ErrUnreadable) {
		t.Errorf("verifying: %v", err)
	}
}
