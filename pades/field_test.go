package pades_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/internal/pdf"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
)

// TestNewField adds a signature field to forms of all shapes. What they had stays, and the new field is the last one
// of the form and of the page.
func TestNewField(t *testing.T) {
	ca := catest.New(t)
	const field = "<< /FT /Tx /T (Signature1) /V (kept) /Type /Annot /Subtype /Widget /Rect [10 10 20 20] /P 10 0 R >>"
	for _, row := range []struct {
		name, catalog, page, want string
		objects                   []string
	}{
		{"form and arrays direct", "/AcroForm << /DA (/Helv 0 Tf) /Fields [100 0 R] /NeedAppearances false >>", "/Annots [100 0 R]", "Signature2", []string{field}},
		{"form indirect", "/AcroForm 101 0 R", "/Annots [100 0 R]", "Signature2", []string{field, "<< /Fields [100 0 R] /DA (/Helv 0 Tf) /SigFlags 1 >>"}},
		{"arrays indirect", "/AcroForm 101 0 R", "/Annots 102 0 R", "Signature2", []string{field, "<< /Fields 103 0 R /DA (/Helv 0 Tf) >>", "[100 0 R]", "[100 0 R]"}},
		{"array in a direct form", "/AcroForm << /Fields 101 0 R /DA (/Helv 0 Tf) >>", "/Annots [100 0 R]", "Signature2", []string{field, "[ 100 0 R % a comment\n ]"}},
		{"SigFlags complete", "/AcroForm 101 0 R", "/Annots 102 0 R", "Signature2", []string{field, "<< /Fields 103 0 R /SigFlags 3 /DA (/Helv 0 Tf) >>", "[100 0 R]", "[100 0 R]"}},
		{"name used below a parent without a name", "/AcroForm << /Fields [100 0 R] /SigFlags 1.0 >>", "", "Signature2", []string{"<< /Kids [101 0 R] >>", "<< /Parent 100 0 R /FT /Tx /T (Signature1) >>"}},
		{"references to references", "/AcroForm 100 0 R", "/Annots 102 0 R", "Signature1", []string{"101 0 R", "<< /Fields [] >>", "103 0 R", "[]"}},
		{"one array for fields and annotations", "/AcroForm << /Fields 100 0 R >>", "/Annots 100 0 R", "Signature1", []string{"[]"}},
	} {
		for _, kind := range pdftest.Kinds {
			t.Run(row.name+"/"+string(kind), func(t *testing.T) {
				b := pdftest.Build(pdftest.Options{Kind: kind, Catalog: row.catalog, Page: row.page, Objects: row.objects})
				signed := sign(t, b, newPerson(t, ca, p256(t)), pades.Options{})
				verifyPassed(t, signed, ca, row.want)
				checkAdded(t, open(t, b), open(t, signed), row.want)
			})
		}
	}
}

// checkAdded compares the form and the annotations of the page before and after a field is added.
func checkAdded(t *testing.T, before, after *pdf.File, name string) {
	t.Helper()
	was, is := dictAt(t, before, "AcroForm"), dictAt(t, after, "AcroForm")
	flags, _ := after.Int(is["SigFlags"])
	if flags != 3 || is["DA"] != was["DA"] {
		t.Errorf("SigFlags %d, want 3; DA %v, want %v", flags, is["DA"], was["DA"])
	}
	_, annotationsBefore := pageAnnotations(t, before, 1)
	_, annotationsAfter := pageAnnotations(t, after, 1)
	fieldsBefore, _ := before.Array(was["Fields"])
	fieldsAfter, _ := after.Array(is["Fields"])
	for _, change := range [][2]pdf.Array{{annotationsBefore, annotationsAfter}, {fieldsBefore, fieldsAfter}} {
		n := len(change[0])
		if len(change[1]) != n+1 || !slices.Equal(change[1][:n], change[0]) {
			t.Fatalf("got %v, want %v and one more", change[1], change[0])
		}
		if added, err := after.Dict(change[1][n]); err != nil || added["T"] != pdf.String(name) {
			t.Errorf("the new field is %v, %v", added, err)
		}
	}
	if len(fieldsBefore) > 0 {
		old, _ := before.Dict(fieldsBefore[0])
		if kept, err := after.Dict(fieldsAfter[0]); err != nil || fmt.Sprint(kept) != fmt.Sprint(old) {
			t.Errorf("the field %v became %v, %v", old, kept, err)
		}
	}
}

// TestMissingObjectsStayNull has references to objects that do not exist. They are null, and their numbers are not
// used for new objects.
func TestMissingObjectsStayNull(t *testing.T) {
	ca := catest.New(t)
	b := pdftest.Build(pdftest.Options{Catalog: "/Outlines 11 0 R", Page: "/Annots [12 0 R]", Trailer: "/Info 13 0 R"})
	signed := sign(t, b, newPerson(t, ca, p256(t)), pades.Options{})
	for _, num := range []uint32{11, 12, 13} {
		if o, err := open(t, signed).Object(pdf.Ref{Num: num}); o != nil || err != nil {
			t.Errorf("object %d is %v, %v", num, o, err)
		}
	}
	verifyPassed(t, signed, ca, "Signature1")
}

// fieldShapes are documents with the empty signature field "Buyer" or "Sale.Buyer", in
// the shapes that ISO 32000-2 12.5.6.19 and 12.7.4 allow. Object 100 is the field.
var fieldShapes = []struct {
	name, field string
	widgets     []uint32
	parents     bool // the widgets have one
	unread      bool // by foreign programs
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
	{"two widgets, one of them not on a page", "Buyer", []uint32{101, 102}, true, false, pdftest.Options{
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
	{"references to references", "Buyer", []uint32{100}, false, true, pdftest.Options{
		Catalog: "/AcroForm << /Fields 102 0 R >>", Page: "/Annots [100 0 R]",
		Objects: []string{
			"<< /FT /Sig /T <FEFF00420075007900650072> /Type /Annot /Subtype /Widget /Rect [9 9 99 99] /P 10 0 R >>",
			"100 0 R", "103 0 R", "[101 0 R]",
		},
	}},
}

// TestSignIntoNamedField signs a field that the document has. The signature is its value (ISO 32000-2 12.7.5.5), and
// its other entries and those of its widgets stay.
func TestSignIntoNamedField(t *testing.T) {
	ca := catest.New(t)
	var cases []signedCase
	for i, shape := range fieldShapes {
		for k, kind := range pdftest.Kinds {
			name := shape.name + "/" + string(kind)
			t.Run(name, func(t *testing.T) {
				shape.options.Kind = kind
				unsigned := pdftest.Build(shape.options)
				signed := sign(t, unsigned, newPerson(t, ca, p256(t)), pades.Options{Field: shape.field})
				verifyPassed(t, signed, ca, shape.field)
				checkFilled(t, open(t, unsigned), open(t, signed), shape.widgets)
				again := sign(t, signed, newPerson(t, ca, p256(t)), pades.Options{})
				if !shape.unread && i%2 == k { // one kind each, because foreign programs take seconds for each
					cases = append(cases, signedCase{name: name, b: again, fields: []string{shape.field, "Signature1"}, parents: shape.parents})
				}
			})
		}
	}
	checkForeign(t, ca, cases)
}

// checkFilled compares the field, object 100, and its widgets before and after the field is signed. A widget is to be
// printed and not hidden, and has nothing but a normal appearance, which PDF/A-1 requires of invisible widgets too.
func checkFilled(t *testing.T, before, after *pdf.File, widgets []uint32) {
	t.Helper()
	if flags, _ := after.Int(dictAt(t, after, "AcroForm")["SigFlags"]); flags != 3 {
		t.Errorf("SigFlags %d, want 3", flags)
	}
	for _, num := range append(widgets, 100) {
		was, _ := before.Dict(pdf.Ref{Num: num})
		is, err := after.Dict(pdf.Ref{Num: num})
		if err != nil || (is["V"] != nil) != (num == 100) {
			t.Errorf("object %d: value %v, %v", num, is["V"], err)
		}
		for key, value := range was {
			if key != "F" && key != "AP" && fmt.Sprint(value) != fmt.Sprint(is[key]) {
				t.Errorf("object %d: %s was %v and is %v", num, key, value, is[key])
			}
		}
		if !slices.Contains(widgets, num) {
			continue
		}
		if flags, _ := after.Int(is["F"]); flags&(1|2|4|32) != 4 {
			t.Errorf("object %d: flags %b", num, flags)
		}
		appearance, _ := after.Dict(is["AP"])
		form, err := after.StreamObject(appearance["N"])
		if err != nil || len(appearance) != 1 || form.Dict["Subtype"] != pdf.Name("Form") {
			t.Errorf("object %d: appearance %v, %v", num, appearance, err)
		}
	}
}

// pyHankoField is an empty signature field for pyHanko to add: .ci/pyhanko/fields.py.
type pyHankoField struct {
	Name     string       `json:"name"`
	Box      []int        `json:"box,omitempty"`
	Separate bool         `json:"separate,omitempty"`
	Lock     *pyHankoLock `json:"lock,omitempty"`
	Seed     pyHankoSeed  `json:"seed,omitempty"`
}

type pyHankoLock struct {
	Action     string   `json:"action"`
	Fields     []string `json:"fields,omitempty"`
	Permission int      `json:"permission,omitempty"`
}

// pyHankoSeed is a seed value: "flags", and one key for each constraint.
type pyHankoSeed map[string]any

// addPyHankoFields has pyHanko add fields to a document.
func addPyHankoFields(t *testing.T, b []byte, fields ...pyHankoField) []byte {
	t.Helper()
	specification, err := json.Marshal(fields)
	if err != nil {
		t.Fatal(err)
	}
	after := filepath.Join(t.TempDir(), "after.pdf")
	python(t, specification, filepath.Join(testenv.Root(t), ".ci", "pyhanko", "fields.py"), tempFile(t, "before.pdf", b), after)
	made, err := os.ReadFile(after)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// TestSignIntoForeignFields signs fields that pyHanko added, one after another.
func TestSignIntoForeignFields(t *testing.T) {
	ca := catest.New(t)
	var cases []signedCase
	for _, kind := range pdftest.Kinds {
		b := addPyHankoFields(t, pdftest.Build(pdftest.Options{Kind: kind, Pages: 2}),
			pyHankoField{Name: "Merged", Box: []int{10, 10, 210, 60}},
			pyHankoField{Name: "Separate", Box: []int{10, 110, 210, 160}, Separate: true},
			pyHankoField{Name: "Form.Party.Invisible"},
			pyHankoField{Name: "Form.Party.Locking", Box: []int{10, 210, 210, 260}, Lock: &pyHankoLock{Action: "Include", Fields: []string{"Merged", "Separate"}}},
		)
		c := signedCase{name: string(kind), fields: []string{"Separate", "Form.Party.Invisible", "Merged", "Form.Party.Locking", "Signature1"}}
		for _, field := range c.fields {
			b = sign(t, b, newPerson(t, ca, p256(t)), pades.Options{Field: strings.TrimPrefix(field, "Signature1")})
		}
		c.b = b
		cases = append(cases, c)
	}
	checkForeign(t, ca, cases)
}

// TestFieldAppearance draws an appearance in the widget of a field. It is upright on a page that is displayed rotated,
// also if the widget does not name its page.
func TestFieldAppearance(t *testing.T) {
	ca := catest.New(t)
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
			file := open(t, signed)
			widget, _ := file.Dict(pdf.Ref{Num: 100})
			normal, _ := file.Dict(widget["AP"])
			form, err := file.StreamObject(normal["N"])
			if err != nil {
				t.Fatal(err)
			}
			box, _ := file.Rect(form.Dict["BBox"])
			if turned := box.URX < box.URY; turned != (rotate == 90) {
				t.Errorf("page rotated by %d, widget with %q: box %v", rotate, page, box)
			}
			cases = append(cases, signedCase{name: fmt.Sprint(rotate, page != ""), b: signed, fields: []string{"Buyer"}})
		}
	}
	checkForeign(t, ca, cases)
	if _, err := prepare(t, contract(), p.signer, pades.Options{Appearance: appearance}); err == nil {
		t.Error("an appearance without a field is accepted")
	}
}

// TestFieldThatCannotBeSigned names a field that is not an empty signature field, or not the only one of its name.
func TestFieldThatCannotBeSigned(t *testing.T) {
	p := newPerson(t, catest.New(t), p256(t))
	const widget = "/Type /Annot /Subtype /Widget /Rect [0 0 9 9]"
	tests := map[string]struct {
		objects []string // the first is the one in Fields
		want    string   // in the error
	}{
		"absent":                             {[]string{"<< /FT /Sig /T (Seller) >>"}, `the form has no field "Buyer"`},
		"of another type":                    {[]string{"<< /FT /Tx /T (Buyer) " + widget + " >>"}, "is not a signature field"},
		"without type":                       {[]string{"<< /T (Buyer) >>"}, "is not a signature field"},
		"signed":                             {[]string{"<< /FT /Sig /T (Buyer) /V 101 0 R >>", "<< /Type /Sig >>"}, "is signed already"},
		"value inherited":                    {[]string{"<< /V 102 0 R /FT /Sig /Kids [101 0 R] >>", "<< /T (Buyer) >>", "<< >>"}, "is signed already"},
		"value that is not a dictionary":     {[]string{"<< /FT /Sig /T (Buyer) /V (text) >>"}, "is signed already"},
		"parent of fields":                   {[]string{"<< /FT /Sig /T (Buyer) /Kids [101 0 R] >>", "<< /T (First) >>"}, "is the parent of other fields"},
		"two fields of the name, one signed": {[]string{"<< /FT /Sig /Kids [101 0 R 102 0 R] >>", "<< /T (Buyer) >>", "<< /T (Buyer) /V 103 0 R >>", "<< /Type /Sig >>"}, "is signed already"},
		"two fields of the name":             {[]string{"<< /FT /Sig /Kids [101 0 R 102 0 R] >>", "<< /T (Buyer) >>", "<< /T (Buyer) >>"}, "there are several fields"},
		"widget that is a direct object":     {[]string{"<< /FT /Sig /T (Buyer) /Kids [<< " + widget + " >>] >>"}, "is not an indirect object"},
		"field that is a direct object":      {[]string{"<< /FT /Sig /Kids [<< /T (Buyer) >>] >>"}, "is not an indirect object"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b := pdftest.Build(pdftest.Options{Catalog: "/AcroForm << /Fields [100 0 R] >>", Objects: test.objects})
			checkPrepare(t, b, p.signer, pades.Options{Field: "Buyer"}, pades.ErrField, test.want)
		})
	}
}
