package pades_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/internal/pdf"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
)

// fieldShapes are documents with the empty signature field "Buyer" or "Sale.Buyer", in
// the shapes that ISO 32000-2 12.5.6.19 and 12.7.4 allow. Its objects are the field, 100,
// and what belongs to it.
var fieldShapes = []struct {
	name, field string
	widgets     []uint32
	parents     bool // the widgets have one
	ours        bool // other programs do not read it
	options     pdftest.Options
}{
	{"widget merged", "Buyer", []uint32{100}, false, false, pdftest.Options{
		Catalog: "/AcroForm << /Fields [100 0 R] /DA (/Helv 0 Tf) >>", Page: "/Annots [100 0 R]",
		Objects: []string{"<< /FT /Sig /T (Buyer) /Ff 2 /Type /Annot /Subtype /Widget /F 2 /Rect [100 100 300 160] /P 10 0 R /MK << /BC [0] >> >>"},
	}},
	{"widget a kid", "Buyer", []uint32{101}, true, false, pdftest.Options{
		Catalog: "/AcroForm 102 0 R", Page: "/Annots 103 0 R",
		Objects: []string{
			"<< /FT /Sig /T (Buyer) /Kids [101 0 R] >>",
			"<< /Parent 100 0 R /Type /Annot /Subtype /Widget /Rect [300 160 100 100] /P 10 0 R /AP << /N null /D 1 0 R >> >>",
			"<< /Fields [100 0 R] /SigFlags 1 >>", "[101 0 R]",
		},
	}},
	{"two widgets, one on no page", "Buyer", []uint32{101, 102}, true, false, pdftest.Options{
		Catalog: "/AcroForm << /Fields [100 0 R] >>", Page: "/Annots [101 0 R]",
		Objects: []string{
			"<< /FT /Sig /T (Buyer) /Kids [101 0 R 102 0 R] >>",
			"<< /Parent 100 0 R /Type /Annot /Subtype /Widget /Rect [0 0 50 50] /F 36 >>",
			"<< /Parent 100 0 R /Type /Annot /Subtype /Widget /Rect [0 0 90 20] /F 4 >>",
		},
	}},
	{"no widget", "Buyer", nil, false, false, pdftest.Options{
		Catalog: "/AcroForm << /Fields [100 0 R] /SigFlags 3 >>", Objects: []string{"<< /FT /Sig /T (Buyer) >>"},
	}},
	{"invisible widget", "Buyer", []uint32{100}, false, false, pdftest.Options{
		Catalog: "/AcroForm << /Fields [100 0 R] >>", Page: "/Annots [100 0 R]",
		Objects: []string{"<< /FT /Sig /T (Buyer) /V null /Type /Annot /Subtype /Widget /Rect [0 0 0 0] >>"},
	}},
	{"type inherited", "Sale.Buyer", []uint32{100}, false, false, pdftest.Options{
		Catalog: "/AcroForm << /Fields [101 0 R] >>", Page: "/Annots [100 0 R]",
		Objects: []string{
			"<< /T (Buyer) /Parent 101 0 R /Type /Annot /Subtype /Widget /Rect [9 9 99 99] /P 10 0 R >>",
			"<< /T (Sale) /FT /Sig /Kids [100 0 R] >>",
		},
	}},
	{"behind two references", "Buyer", []uint32{100}, false, true, pdftest.Options{
		Catalog: "/AcroForm << /Fields 102 0 R >>", Page: "/Annots [100 0 R]",
		Objects: []string{
			"<< /FT /Sig /T <FEFF00420075007900650072> /Type /Annot /Subtype /Widget /Rect [9 9 99 99] /P 10 0 R >>",
			"100 0 R", "103 0 R", "[101 0 R]",
		},
	}},
}

// 12.7.5.5: the signature is the value of the field, and what the field and its widgets
// say otherwise stays.
func TestSignIntoNamedField(t *testing.T) {
	ca := newAuthority(t)
	var cases []signedCase
	for i, shape := range fieldShapes {
		for k, kind := range pdftest.Kinds {
			name := shape.name + "/" + string(kind)
			t.Run(name, func(t *testing.T) {
				shape.options.Kind = kind
				unsigned := pdftest.Build(shape.options)
				signed := sign(t, unsigned, newPerson(t, ca, p256(t)), pades.Options{Field: shape.field})
				if got := verify(t, signed, ca); len(got) != 1 || got[0].Name != shape.field || !got[0].Passed() {
					t.Fatalf("%+v", got)
				}
				checkFilled(t, unsigned, signed, shape.widgets)
				again := sign(t, signed, newPerson(t, ca, p256(t)), pades.Options{})
				if !shape.ours && i%2 == k { // one kind each, as each takes foreign programs seconds
					cases = append(cases, signedCase{name: name, b: again, fields: []string{shape.field, "Signature1"}, parents: shape.parents})
				}
			})
		}
	}
	checkForeign(t, ca, cases)
}

// checkFilled compares the field, 100, and its widgets with what they were.
func checkFilled(t *testing.T, unsigned, signed []byte, widgets []uint32) {
	t.Helper()
	before, after := openPDF(t, unsigned), openPDF(t, signed)
	object := func(f *pdf.File, num uint32) pdf.Dict {
		d, err := f.Dict(pdf.Ref{Num: num})
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	_, catalog, _ := after.Catalog()
	form, _ := after.Dict(catalog["AcroForm"])
	if flags, _ := after.Int(form["SigFlags"]); flags != 3 {
		t.Errorf("SigFlags %d", flags)
	}
	for _, num := range append(widgets, 100) {
		was, is := object(before, num), object(after, num)
		if (is["V"] != nil) != (num == 100) {
			t.Errorf("object %d: value %v", num, is["V"])
		}
		for key, value := range was {
			if key != "F" && key != "AP" && fmt.Sprint(value) != fmt.Sprint(is[key]) {
				t.Errorf("object %d: %s was %v and is %v", num, key, value, is[key])
			}
		}
	}
	for _, num := range widgets {
		checkWidget(t, after, object(after, num))
	}
}

// checkWidget: printed and not hidden, and drawn by a normal appearance alone, which
// PDF/A-1 asks of invisible widgets too.
func checkWidget(t *testing.T, file *pdf.File, widget pdf.Dict) {
	t.Helper()
	if flags, _ := file.Int(widget["F"]); flags&(1|2|4|32) != 4 {
		t.Errorf("flags %b", flags)
	}
	appearance, _ := file.Dict(widget["AP"])
	form, err := file.StreamObject(appearance["N"])
	if err != nil || len(appearance) != 1 || form.Dict["Subtype"] != pdf.Name("Form") {
		t.Errorf("appearance %v, %v", appearance, err)
	}
}

func openPDF(t *testing.T, b []byte) *pdf.File {
	t.Helper()
	file, err := pdf.Open(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// Fields that pyHanko makes, and signatures in them one after another.
func TestSignIntoForeignFields(t *testing.T) {
	ca := newAuthority(t)
	var cases []signedCase
	for _, kind := range pdftest.Kinds {
		b := addPyHankoFields(t, pdftest.Build(pdftest.Options{Kind: kind, Pages: 2}),
			pyHankoField{Name: "Merged", Box: []int{10, 10, 210, 60}},
			pyHankoField{Name: "Separate", Box: []int{10, 110, 210, 160}, Separate: true},
			pyHankoField{Name: "Form.Party.Invisible"},
			pyHankoField{Name: "Form.Party.Locking", Box: []int{10, 210, 210, 260}, Lock: &pyHankoLock{Action: "Include", Fields: []string{"Merged", "Separate"}}},
		)
		order := []string{"Separate", "Form.Party.Invisible", "Merged", "Form.Party.Locking"}
		for _, field := range order {
			b = sign(t, b, newPerson(t, ca, p256(t)), pades.Options{Field: field})
		}
		b = sign(t, b, newPerson(t, ca, p256(t)), pades.Options{})
		cases = append(cases, signedCase{name: string(kind), b: b, fields: append(order, "Signature1")})
	}
	checkForeign(t, ca, cases)
}

// The appearance is drawn upright in the widget's rectangle, whichever way the page is
// turned and however it is found.
func TestFieldAppearance(t *testing.T) {
	ca := newAuthority(t)
	p := newPerson(t, ca, p256(t))
	appearance := pdftest.Build(pdftest.Options{Page: "/MediaBox [0 0 100 50]"})
	var cases []signedCase
	for _, page := range []string{"/P 10 0 R", ""} {
		for _, rotate := range []int{0, 90} {
			b := pdftest.Build(pdftest.Options{
				Catalog: "/AcroForm << /Fields [100 0 R] >>", Page: fmt.Sprintf("/Annots [100 0 R] /Rotate %d", rotate),
				Objects: []string{"<< /FT /Sig /T (Buyer) /Type /Annot /Subtype /Widget /Rect [10 10 110 60] " + page + " >>"},
			})
			signed := sign(t, b, p, pades.Options{Field: "Buyer", Appearance: appearance})
			file := openPDF(t, signed)
			widget, _ := file.Dict(pdf.Ref{Num: 100})
			normal, _ := file.Dict(widget["AP"])
			form, err := file.StreamObject(normal["N"])
			if err != nil {
				t.Fatal(err)
			}
			box, _ := file.Rect(form.Dict["BBox"])
			if turned := box.URX < box.URY; turned != (rotate == 90) {
				t.Errorf("page turned by %d, found by %q: box %v", rotate, page, box)
			}
			cases = append(cases, signedCase{name: fmt.Sprint(rotate, page != ""), b: signed, fields: []string{"Buyer"}})
		}
	}
	checkForeign(t, ca, cases)
	whole := pdftest.Build(pdftest.Options{})
	if _, err := prepare(t, whole, p.signer, pades.Options{Appearance: appearance}); err == nil {
		t.Error("an appearance without a field is taken")
	}
}

func TestFieldThatCannotBeSigned(t *testing.T) {
	p := newPerson(t, newAuthority(t), p256(t))
	const widget = "/Type /Annot /Subtype /Widget /Rect [0 0 9 9]"
	tests := map[string]struct {
		objects []string // the first is the one in Fields
		says    string
	}{
		"absent":                  {[]string{"<< /FT /Sig /T (Seller) >>"}, `there is no field "Buyer"`},
		"of another type":         {[]string{"<< /FT /Tx /T (Buyer) " + widget + " >>"}, "is no signature field"},
		"without type":            {[]string{"<< /T (Buyer) >>"}, "is no signature field"},
		"signed":                  {[]string{"<< /FT /Sig /T (Buyer) /V 101 0 R >>", "<< /Type /Sig >>"}, "is signed already"},
		"value inherited":         {[]string{"<< /V 102 0 R /FT /Sig /Kids [101 0 R] >>", "<< /T (Buyer) >>", "<< >>"}, "is signed already"},
		"value no dictionary":     {[]string{"<< /FT /Sig /T (Buyer) /V (text) >>"}, "is signed already"},
		"parent of fields":        {[]string{"<< /FT /Sig /T (Buyer) /Kids [101 0 R] >>", "<< /T (First) >>"}, "is the parent of other fields"},
		"namesake signed":         {[]string{"<< /FT /Sig /Kids [101 0 R 102 0 R] >>", "<< /T (Buyer) >>", "<< /T (Buyer) /V 103 0 R >>", "<< /Type /Sig >>"}, "is signed already"},
		"namesake":                {[]string{"<< /FT /Sig /Kids [101 0 R 102 0 R] >>", "<< /T (Buyer) >>", "<< /T (Buyer) >>"}, "there are several fields"},
		"kid a direct dictionary": {[]string{"<< /FT /Sig /T (Buyer) /Kids [<< " + widget + " >>] >>"}, "is not an indirect object"},
		"field direct":            {[]string{"<< /FT /Sig /Kids [<< /T (Buyer) >>] >>"}, "is not an indirect object"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b := pdftest.Build(pdftest.Options{Catalog: "/AcroForm << /Fields [100 0 R] >>", Objects: test.objects})
			_, err := prepare(t, b, p.signer, pades.Options{Field: "Buyer"})
			if !errors.Is(err, pades.ErrField) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v", err)
			}
		})
	}
}
