package pades_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
)

// lockedForm is a document with the empty fields First, which has the lock, Second, and
// Group.Third.
func lockedForm(lock string) pdftest.Options {
	field := func(name, rest string) string { return fmt.Sprintf("<< /FT /Sig /T (%s) %s >>", name, rest) }
	return pdftest.Options{
		Catalog: "/AcroForm << /Fields [100 0 R 101 0 R 102 0 R] >>",
		Objects: []string{
			field("First", "/Lock 104 0 R"), field("Second", ""), "<< /T (Group) /Kids [103 0 R] >>",
			field("Third", "/Parent 102 0 R"), lock,
		},
	}
}

// 12.8.2.4 and table 236: what the lock of a field says is part of its signature, and
// obeyed by later ones. Which field each may sign is in the table; "" is a new one.
func TestLocks(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	p := newPerson(t, ca, p256(t))
	tests := []struct {
		name, lock string
		permitted  []string
		newName    string
	}{
		{"All", "<< /Type /SigFieldLock /Action /All >>", nil, ""},
		{"Include", "<< /Action /Include /Fields [(Second)] >>", []string{"Group.Third", ""}, "Signature1"},
		{"Include a parent", "<< /Action /Include /Fields [(Group)] >>", []string{"Second", ""}, "Signature1"},
		{"Include what begins alike", "<< /Action /Include /Fields [(Sec) (Group.Thi) (Group.Third.x)] >>", []string{"Second", "Group.Third", ""}, "Signature1"},
		{"Include the next name", "<< /Action /Include /Fields [(Signature1) <FEFF005300690067006E006100740075007200650032>] >>", []string{"Second", "Group.Third", ""}, "Signature3"},
		{"Include nothing", "<< /Action /Include /Fields [] >>", []string{"Second", "Group.Third", ""}, "Signature1"},
		{"Include, with an item that is no name", "<< /Action /Include /Fields [42 null (Second)] >>", []string{"Group.Third", ""}, "Signature1"},
		{"Exclude", "<< /Action /Exclude /Fields [(Second)] >>", []string{"Second"}, ""},
		{"Exclude a parent", "<< /Action /Exclude /Fields [(Group)] >>", []string{"Group.Third"}, ""},
		{"P 1", "<< /Action /Include /Fields [] /P 1 >>", nil, ""},
		{"P 2", "<< /Action /Include /Fields [] /P 2 >>", []string{"Second", "Group.Third", ""}, "Signature1"},
		{"P 3", "<< /Action /Exclude /Fields [(Second)] /P 3 >>", []string{"Second"}, ""},
	}
	var cases []signedCase
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			signed := sign(t, pdftest.Build(lockedForm(tt.lock)), p, pades.Options{Field: "First"})
			checkPermittedFields(t, signed, p, tt.permitted)
			// The signature's own transform says the same when the lock is gone.
			checkPermittedFields(t, appendObjects(t, signed, map[int]string{100: withoutLock(t, signed)}), p, tt.permitted)
			c := signedCase{name: tt.name, b: signed, fields: []string{"First"}}
			for _, field := range tt.permitted {
				c.b = sign(t, c.b, newPerson(t, ca, p256(t)), pades.Options{Field: field})
				if field == "" {
					field = tt.newName
				}
				c.fields = append(c.fields, field)
			}
			got := make([]string, 0, len(c.fields))
			for _, s := range verify(t, c.b, ca) {
				got = append(got, s.Name)
			}
			if diff := cmp.Diff(c.fields, got); diff != "" {
				t.Error(diff)
			}
			cases = append(cases, c)
		})
	}
	checkForeign(t, ca, cases)
}

func checkPermittedFields(t *testing.T, b []byte, p person, permitted []string) {
	t.Helper()
	var got []string
	for _, field := range []string{"Second", "Group.Third", ""} {
		_, err := prepare(t, b, p.signer, pades.Options{Field: field})
		if err == nil {
			got = append(got, field)
		} else if !errors.Is(err, ades.ErrForbidden) {
			t.Errorf("%q: %v", field, err)
		}
	}
	if diff := cmp.Diff(permitted, got); diff != "" {
		t.Errorf("fields that may be signed (-want +got):\n%s", diff)
	}
}

// withoutLock is the field First without its lock.
func withoutLock(t *testing.T, b []byte) string {
	t.Helper()
	field, err := openPDF(t, b).Dict(pdf.Ref{Num: 100})
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprintf("<< /FT /Sig /T (First) /V %s >>", field["V"])
}

// A lock that nobody can obey is no reason to sign without it.
func TestUnknownLock(t *testing.T) {
	p := newPerson(t, newAuthority(t), p256(t))
	for lock, want := range map[string]error{
		"<< /Action /Some >>":                     ades.ErrForbidden,
		"<< /Action /All /P 4 >>":                 ades.ErrForbidden,
		"<< /Action /All /P -1 >>":                ades.ErrForbidden,
		"<< /Action (All) >>":                     ades.ErrUnreadable,
		"<< /Action /Include /Fields (Second) >>": ades.ErrUnreadable,
		"[/All]": ades.ErrUnreadable,
		"<< >>":  nil,
		"null":   nil,
	} {
		_, err := prepare(t, pdftest.Build(lockedForm(lock)), p.signer, pades.Options{Field: "First"})
		if !errors.Is(err, want) {
			t.Errorf("%s: %v", lock, err)
		}
	}
}

// Whatever an earlier signature refers to, nothing panics; what may forbid anything does.
func TestMalformedTransforms(t *testing.T) {
	p := newPerson(t, newAuthority(t), p256(t))
	for reference, want := range map[string]error{
		"42":     ades.ErrUnreadable,
		"[42]":   ades.ErrUnreadable,
		"[null]": ades.ErrBroken, // which says nothing; the signature is none
		"[<< /TransformParams << /Action /Frobnicate >> >>]":            ades.ErrForbidden,
		"[<< /TransformParams << /Action /All /Fields [102 0 R] >> >>]": ades.ErrForbidden,
		"[<< /TransformParams << /P (1) >> >>]":                         ades.ErrUnreadable,
		"102 0 R":                                                       ades.ErrUnreadable,
	} {
		b := pdftest.Build(pdftest.Options{
			Catalog: "/AcroForm << /Fields [100 0 R] >>",
			Objects: []string{"<< /FT /Sig /T (A) /V 101 0 R >>", "<< /Type /Sig /Reference " + reference + " >>", "<< /Circle 102 0 R >>"},
		})
		if _, err := prepare(t, b, p.signer, pades.Options{}); !errors.Is(err, want) {
			t.Errorf("%s: %v", reference, err)
		}
	}
}
