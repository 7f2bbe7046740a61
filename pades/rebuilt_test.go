package pades_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/innsigli/innsigli/ades"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
)

// A broken cross-reference is rebuilt, and nothing else is a reason to do so: the new
// section replaces what other readers go by.
func TestRebuildOnlyForABrokenCrossReference(t *testing.T) {
	ca := newAuthority(t)
	p := newPerson(t, ca, p256(t))
	plain := pdftest.Build(pdftest.Options{})
	signed := sign(t, plain, p, pades.Options{})
	broken := func(b []byte) []byte {
		return bytes.Replace(b, []byte("startxref\n"), []byte("startxref\n1"), -1)
	}
	tests := []struct {
		name string
		b    []byte
		want error
	}{
		{"wrong startxref", broken(plain), nil},
		{"an entry leads elsewhere", bytes.Replace(plain, []byte("\n10 0 obj"), []byte("\n  10 0 obj"), 1), nil},
		{"a page that cannot be read, and an older one that can",
			appendObjects(t, plain, map[int]string{10: "<< /Type /Page /Parent 2 0 R /X 1.2.3 >>"}), ades.ErrUnreadable},
		{"wrong startxref, and signed", broken(signed), ades.ErrUnreadable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := prepare(t, tt.b, p.signer, pades.Options{})
			if !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

// What cannot be read may be a signature, and what it locks is not known then.
func TestSignatureThatCannotBeRead(t *testing.T) {
	p := newPerson(t, newAuthority(t), p256(t))
	const quirk = "/X 1.2.3"
	for name, objects := range map[string][]string{
		"signature": {"<< /FT /Sig /T (A) /V 101 0 R >>", "<< /Type /Sig " + quirk + " >>"},
		"field":     {"<< /FT /Sig /T (A) /V 101 0 R " + quirk + " >>", "<< /Type /Sig >>"},
		"kid":       {"<< /T (A) /Kids [101 0 R] >>", "<< /FT /Sig " + quirk + " >>"},
	} {
		b := pdftest.Build(pdftest.Options{Catalog: "/AcroForm << /Fields [100 0 R] >>", Objects: objects})
		if _, err := prepare(t, b, p.signer, pades.Options{}); !errors.Is(err, ades.ErrUnreadable) {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := pades.Verify(t.Context(), document(b), ades.VerifyOptions{}); !errors.Is(err, ades.ErrUnreadable) {
			t.Errorf("%s, verifying: %v", name, err)
		}
	}
}

func TestLocksInOddForms(t *testing.T) {
	p := newPerson(t, newAuthority(t), p256(t))
	signature := func(parameters string) []string {
		return []string{"<< /FT /Sig /T (A) /V 101 0 R >>",
			fmt.Sprintf("<< /Type /Sig /Reference [<< /TransformMethod /DocMDP /TransformParams << %s >> >>] >>", parameters)}
	}
	tests := []struct {
		name    string
		objects []string
		field   string
		want    error
	}{
		{"a permission with a fraction", signature("/P 1.0"), "", ades.ErrForbidden},
		{"a permission that is none", signature("/P /No"), "", ades.ErrUnreadable},
		{"a lock without an action", []string{"<< /FT /Sig /T (A) /Lock << /P 1 >> /SV << /Ff 128 /LockDocument /true >> >>"}, "A", ades.ErrForbidden},
		{"a broken document timestamp", []string{"<< /FT /Sig /T (A) /V 101 0 R >>",
			"<< /Type /DocTimeStamp /SubFilter /ETSI.RFC3161 /ByteRange [0 1 2 3] /Contents <00> >>"}, "", ades.ErrBroken},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			b := pdftest.Build(pdftest.Options{Catalog: "/AcroForm << /Fields [100 0 R] >>", Objects: tt.objects})
			_, err := prepare(t, b, p.signer, pades.Options{Field: tt.field})
			if !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}
