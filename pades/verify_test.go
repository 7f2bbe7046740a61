package pades_test

import (
	"bytes"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
)

// Each row changes a signed document in a way that a validator has to notice.
func TestVerifyNotices(t *testing.T) {
	ca := newAuthority(t)
	p := newPerson(t, ca, p256(t))
	signed := sign(t, pdftest.Build(pdftest.Options{Payload: 1000}), p, pades.Options{Reason: "Undirritun"})
	replace := func(old, new string) []byte {
		if len(old) != len(new) || bytes.Count(signed, []byte(old)) != 1 {
			t.Fatalf("%q cannot be replaced by %q", old, new)
		}
		return bytes.Replace(signed, []byte(old), []byte(new), 1)
	}
	array := string(regexp.MustCompile(`/ByteRange \[[^\]]*\] *`).Find(signed))
	var a, b, c int
	if _, err := fmt.Sscanf(array, "/ByteRange [0 %d %d %d]", &a, &b, &c); err != nil {
		t.Fatal(err)
	}
	ranges := func(s string) []byte { return replace(array, fmt.Sprintf("%-*s", len(array), "/ByteRange "+s)) }
	value := strings.TrimRight(string(signed[a:b-1]), "0") // ends with the signature value
	tests := []struct {
		name string
		b    []byte
		want ades.SubIndication
	}{
		{"a byte of a page", replace("0 0 m 10 10 l S", "0 0 m 90 10 l S"), ades.HashFailure},
		{"the reason", replace("(Undirritun)", "(Undirriton)"), ades.HashFailure},
		{"the signature value", replace(value, flip(value)), ades.SigCryptoFailure},
		{"a gap that is wider than the signature", ranges(fmt.Sprintf("[0 %d %d %d]", a-1, b, c)), ades.FormatFailure},
		{"a gap without the opening delimiter", ranges(fmt.Sprintf("[0 %d %d %d]", a+1, b, c)), ades.FormatFailure},
		{"a gap without the closing delimiter", ranges(fmt.Sprintf("[0 %d %d %d]", a, b-1, c+1)), ades.FormatFailure},
		{"a gap that begins in the signature", ranges(fmt.Sprintf("[0 %d %d %d]", a+2, b, c)), ades.FormatFailure},
		{"the end left out", ranges(fmt.Sprintf("[0 %d %d %d]", a, b, c-10)), ades.FormatFailure},
		{"more than there is", ranges(fmt.Sprintf("[0 %d %d %d]", a, b, c+1)), ades.FormatFailure},
		{"the beginning left out", ranges(fmt.Sprintf("[9 %d %d %d]", a-9, b, c)), ades.FormatFailure},
		{"no array", ranges("null"), ades.FormatFailure},
		{"an integer too large", ranges("[0 1 2 9223372036854775807]"), ades.FormatFailure},
		{"bytes appended", append(bytes.Clone(signed), "hidden"...), ades.FormatFailure},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			report, err := pades.Verify(t.Context(), document(tt.b), ades.VerifyOptions{Roots: ca.Roots()})
			if err != nil {
				t.Fatal(err)
			}
			if report.Passed() {
				t.Fatal("the document passes")
			}
			if tt.name == "bytes appended" { // the signature itself is as good as before
				return
			}
			if len(report.Signatures) != 1 || report.Signatures[0].Indication != ades.TotalFailed || report.Signatures[0].SubIndication != tt.want {
				t.Errorf("%+v", report.Signatures)
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

// What is appended to a signed document has not been signed: a second revision
// that replaces a page leaves the signature intact and the document not passed.
func TestIncrementAfterTheSignature(t *testing.T) {
	ca := newAuthority(t)
	signed := sign(t, pdftest.Build(pdftest.Options{}), newPerson(t, ca, p256(t)), pades.Options{})
	start := bytes.LastIndex(signed, []byte("startxref"))
	previous, err := strconv.Atoi(string(bytes.Fields(signed[start:])[1]))
	if err != nil {
		t.Fatal(err)
	}
	shadow := fmt.Sprintf("3 0 obj\n<< /Length 3 >>\nstream\nq Q\nendstream\nendobj\nxref\n3 1\n%010d 00000 n \ntrailer\n<< /Size 200 /Root 1 0 R /Prev %d >>\nstartxref\n%d\n%%%%EOF\n",
		len(signed), previous, len(signed)+len("3 0 obj\n<< /Length 3 >>\nstream\nq Q\nendstream\nendobj\n"))
	grown := append(bytes.Clone(signed), shadow...)
	report, err := pades.Verify(t.Context(), document(grown), ades.VerifyOptions{Roots: ca.Roots()})
	if err != nil {
		t.Fatal(err)
	}
	s := report.Signatures[0]
	if s.Coverage != ades.WholeRevision || !s.Intact || report.Passed() {
		t.Errorf("passed %v: %+v", report.Passed(), s)
	}
}

func TestTrust(t *testing.T) {
	ca, other := newAuthority(t), newAuthority(t)
	signed := sign(t, pdftest.Build(pdftest.Options{}), newPerson(t, ca, p256(t)), pades.Options{})
	tests := []struct {
		name    string
		options ades.VerifyOptions
		want    ades.SubIndication
	}{
		{"no anchors", ades.VerifyOptions{}, ades.NoCertificateChainFound},
		{"another root", ades.VerifyOptions{Roots: other.Roots()}, ades.NoCertificateChainFound},
		{"before the certificate", ades.VerifyOptions{Roots: ca.Roots(), Time: time.Now().AddDate(-1, 0, 0)}, ades.CertificateChainGeneralFailure},
		{"after the certificate", ades.VerifyOptions{Roots: ca.Roots(), Time: time.Now().AddDate(10, 0, 0)}, ades.CertificateChainGeneralFailure},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			report, err := pades.Verify(t.Context(), document(signed), tt.options)
			if err != nil {
				t.Fatal(err)
			}
			s := report.Signatures[0]
			if s.Indication != ades.Indeterminate || s.SubIndication != tt.want || s.Passed() || !s.Intact {
				t.Errorf("%+v", s)
			}
		})
	}
}

func TestVerifyOfWhatIsNoSignedPDF(t *testing.T) {
	if _, err := pades.Verify(t.Context(), document([]byte("PK")), ades.VerifyOptions{}); !errors.Is(err, ades.ErrUnreadable) {
		t.Error(err)
	}
	report, err := pades.Verify(t.Context(), document(pdftest.Build(pdftest.Options{})), ades.VerifyOptions{})
	if err != nil || len(report.Signatures) != 0 || report.Passed() {
		t.Errorf("%+v, %v", report, err)
	}
}
