package pades_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
)

// 12.8.2.2 and 12.8.6: the certification says what is permitted and is named in the
// catalog. Approvals follow where they may.
func TestCertify(t *testing.T) {
	ca := newAuthority(t)
	catalogs := map[string]pdftest.Options{
		"no permissions":       {},
		"permissions direct":   {Catalog: "/Perms << /UR3 100 0 R >>", Objects: []string{"<< /Type /Sig >>"}},
		"permissions indirect": {Catalog: "/Perms 101 0 R", Objects: []string{"<< /Type /Sig >>", "<< /UR3 100 0 R >>"}},
	}
	var cases []signedCase
	for name, options := range catalogs {
		for _, kind := range pdftest.Kinds {
			for _, p := range []pades.Permission{pades.NoChanges, pades.FormFilling, pades.Annotations} {
				name := fmt.Sprintf("%s/%s/%d", name, kind, p)
				t.Run(name, func(t *testing.T) {
					options.Kind = kind
					signed := sign(t, pdftest.Build(options), newPerson(t, ca, p256(t)), pades.Options{Certify: p})
					checkCertified(t, signed, p, options.Catalog != "")
					c := signedCase{name: name, b: signed, fields: []string{"Signature1"}}
					_, err := prepare(t, signed, newPerson(t, ca, p256(t)).signer, pades.Options{})
					if p == pades.NoChanges {
						if !errors.Is(err, ades.ErrForbidden) {
							t.Errorf("an approval after it: %v", err)
						}
					} else {
						c.b = sign(t, signed, newPerson(t, ca, p256(t)), pades.Options{})
						c.fields = append(c.fields, "Signature2")
					}
					if options.Catalog == "" { // the usage rights here are none that others read
						cases = append(cases, c)
					}
				})
			}
		}
	}
	checkForeign(t, ca, cases)
}

func checkCertified(t *testing.T, b []byte, p pades.Permission, usageRights bool) {
	t.Helper()
	file := openPDF(t, b)
	_, catalog, _ := file.Catalog()
	permissions, _ := file.Dict(catalog["Perms"])
	if (permissions["UR3"] != nil) != usageRights {
		t.Errorf("permissions %v", permissions)
	}
	signature, _ := file.Dict(permissions["DocMDP"])
	references, _ := file.Array(signature["Reference"])
	if len(references) != 1 {
		t.Fatalf("references %v", references)
	}
	reference, _ := file.Dict(references[0])
	parameters, _ := file.Dict(reference["TransformParams"])
	if reference["TransformMethod"] != pdf.Name("DocMDP") || parameters["P"] != pdf.Integer(p) {
		t.Errorf("reference %v", reference)
	}
}

// 12.8.2.2.1: a certification is the first signature and the only one of its kind.
func TestCertificationComesFirst(t *testing.T) {
	ca := newAuthority(t)
	p := newPerson(t, ca, p256(t))
	whole := pdftest.Build(pdftest.Options{})
	timestamped := pdftest.Build(pdftest.Options{
		Catalog: "/AcroForm << /Fields [100 0 R] >>",
		Objects: []string{"<< /FT /Sig /T (T) /V << /Type /DocTimeStamp /SubFilter /ETSI.RFC3161 >> >>"},
	})
	named := pdftest.Build(pdftest.Options{Catalog: "/Perms << /DocMDP << /Type /Sig >> >>"})
	for name, b := range map[string][]byte{
		"signed":      sign(t, whole, p, pades.Options{}),
		"certified":   sign(t, whole, p, pades.Options{Certify: pades.Annotations}),
		"timestamped": timestamped,
		"named":       named,
	} {
		_, err := prepare(t, b, p.signer, pades.Options{Certify: pades.FormFilling})
		if !errors.Is(err, ades.ErrForbidden) || !strings.Contains(err.Error(), "has to come first") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, permission := range []pades.Permission{-1, 4} {
		if _, err := prepare(t, whole, p.signer, pades.Options{Certify: permission}); err == nil {
			t.Errorf("permission %d is taken", permission)
		}
	}
}

// Usage rights are noticed, and remembered over the signature's encoding.
func TestUsageRights(t *testing.T) {
	p := newPerson(t, newAuthority(t), p256(t))
	for catalog, want := range map[string]bool{
		"":                               false,
		"/Perms << >>":                   false,
		"/Perms << /UR3 null >>":         false,
		"/Perms << /UR3 100 0 R >>":      true,
		"/Perms << /UR << /V /2.2 >> >>": true,
	} {
		b := pdftest.Build(pdftest.Options{Catalog: catalog, Objects: []string{"<< /Type /Sig >>"}})
		pending, err := pades.Prepare(t.Context(), document(b), p.signer, pades.Options{})
		if err != nil {
			t.Fatal(err)
		}
		encoded, err := pending.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		var again pades.Pending
		if err := again.UnmarshalBinary(encoded); err != nil {
			t.Fatal(err)
		}
		if pending.UsageRights() != want || again.UsageRights() != want {
			t.Errorf("%q: %t, decoded %t", catalog, pending.UsageRights(), again.UsageRights())
		}
	}
}
