package pades_test

import (
	"bytes"
	"crypto/x509"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/internal/test/validators"
	"github.com/innsigli/innsigli/pades"
)

// at returns a rectangle of 117 by 55 on a page, with an appearance.
func at(page int, llx, lly float64) *pades.Visible {
	return &pades.Visible{
		Page: page, Rect: pades.Rect{LLX: llx, LLY: lly, URX: llx + 117, URY: lly + 55},
		Appearance: pdftest.Build(pdftest.Options{Page: "/MediaBox [0 0 117 55]"}),
	}
}

// signVisible signs a document at each place in turn; nil is an invisible signature.
func signVisible(t *testing.T, b []byte, p person, places ...*pades.Visible) []byte {
	t.Helper()
	for _, v := range places {
		b = sign(t, b, p, pades.Options{Name: "Þórður", Visible: v})
	}
	verifyPassed(t, b, p.ca, numbered(len(places))...)
	return b
}

// visibleFiles are documents, and where they are signed one after another.
var visibleFiles = []struct {
	name    string
	options pdftest.Options
	places  []*pades.Visible // nil: an invisible one
}{
	{"one", pdftest.Options{}, []*pades.Visible{at(1, 100, 100)}},
	{"page 3 of 3", pdftest.Options{Pages: 3}, []*pades.Visible{at(3, 100, 100)}},
	{"one page after another", pdftest.Options{Pages: 3}, []*pades.Visible{at(2, 100, 100), at(1, 100, 100), at(2, 230, 100)}},
	{"between invisible ones", pdftest.Options{Pages: 2}, []*pades.Visible{nil, at(2, 100, 100), nil, at(1, 100, 100)}},
	{"annotations", pdftest.Options{
		Page: "/Annots 101 0 R", Catalog: "/AcroForm 102 0 R",
		Objects: []string{
			"<< /FT /Tx /T (Name) /V (kept) /Type /Annot /Subtype /Widget /Rect [10 10 20 20] /P 10 0 R >>",
			"[100 0 R]", "<< /Fields 103 0 R /DA (/Helv 0 Tf) >>", "[100 0 R]",
		},
	}, []*pades.Visible{at(1, 100, 100), at(1, 230, 100)}},
	{"rotated, cropped and scaled", pdftest.Options{
		Page: "/Rotate 270 /CropBox [50 60 500 700] /UserUnit 2",
	}, []*pades.Visible{at(1, 100, 100), at(1, 100, 200)}},
	{"beyond the page", pdftest.Options{}, []*pades.Visible{at(1, -2000, 5000.25)}},
}

// TestVisible adds visible signatures to files of each kind. Foreign programs accept them, and take later ones for forms
// that were filled in.
func TestVisible(t *testing.T) {
	t.Parallel()
	ca := catest.New(t)
	p := newPerson(t, ca, p256(t))
	var cases []signedCase
	for _, file := range visibleFiles {
		for _, kind := range pdftest.Kinds {
			name := file.name + "/" + string(kind)
			t.Run(name, func(t *testing.T) {
				file.options.Kind = kind
				b := signVisible(t, pdftest.Build(file.options), p, file.places...)
				cases = append(cases, signedCase{name: name, b: b, fields: numbered(len(file.places))})
			})
		}
	}
	checkForeign(t, ca, cases)
}

// TestVisibleInOtherFiles adds visible signatures to files that some foreign programs do not read.
func TestVisibleInOtherFiles(t *testing.T) {
	p := newPerson(t, catest.New(t), p256(t))
	places := []*pades.Visible{at(1, 100, 100), at(2, 100, 100)}
	for name, b := range map[string][]byte{
		"hybrid":           pdftest.Build(pdftest.Options{Kind: pdftest.Hybrid, Pages: 2}),
		"broken startxref": bytes.Replace(pdftest.Build(pdftest.Options{Pages: 2}), []byte("startxref\n"), []byte("startxref\n1"), 1),
		"references to references": pdftest.Build(pdftest.Options{
			Pages: 2, Page: "/Annots 100 0 R", Objects: []string{"101 0 R", "[]"},
		}),
	} {
		t.Run(name, func(t *testing.T) {
			if b := signVisible(t, b, p, places...); !bytes.Contains(b, []byte("q /Page Do Q")) {
				t.Error("nothing is drawn")
			}
		})
	}
}

// TestVisibleRaised extends visible signatures to level LTA.
func TestVisibleRaised(t *testing.T) {
	p := newPerson(t, catest.New(t), p256(t))
	b := signVisible(t, pdftest.Build(pdftest.Options{Pages: 2}), p, at(2, 100, 100), at(1, 100, 100))
	if !isExtended(t, extend(t, b, ades.LTA, p.ca.Sources(nil)), p.ca) {
		t.Error("the report finds more than an extension after the signatures")
	}
}

// TestVisibleIsNamed reads the alternate name of the field, which screen readers use (ISO 14289-1 7.18.4).
func TestVisibleIsNamed(t *testing.T) {
	p := newPerson(t, catest.New(t), p256(t))
	for _, row := range []struct {
		options pades.Options
		want    string
	}{
		{pades.Options{Name: "Þórður"}, "Digital signature"},
		{pades.Options{Name: "Þórður", Visible: at(1, 100, 100)}, "Digital signature of Þórður"},
		{pades.Options{Visible: at(1, 100, 100)}, "Digital signature"},
	} {
		file := open(t, sign(t, pdftest.Build(pdftest.Options{}), p, row.options))
		_, widgets := pageAnnotations(t, file, 1)
		widget, _ := file.Dict(widgets[0])
		name, _ := file.Bytes(widget["TU"])
		if got := pdf.Text(pdf.String(name)); got != row.want {
			t.Errorf("got %q, want %q", got, row.want)
		}
	}
}

// TestVisibleRefused has pages that the document does not have, rectangles that are empty or that PDF cannot express,
// and options that exclude each other.
func TestVisibleRefused(t *testing.T) {
	p := newPerson(t, catest.New(t), p256(t))
	b := pdftest.Build(pdftest.Options{Pages: 3})
	on := func(page int) pades.Options { return pades.Options{Visible: at(page, 100, 100)} }
	in := func(llx, lly, urx, ury float64) pades.Options {
		v := at(1, 0, 0)
		v.Rect = pades.Rect{LLX: llx, LLY: lly, URX: urx, URY: ury}
		return pades.Options{Visible: v}
	}
	empty := on(1)
	empty.Visible.Appearance = []byte{}
	for name, row := range map[string]struct {
		o    pades.Options
		want error // nil: any
		text string
	}{
		"smallest integer as page":      {on(math.MinInt), pades.ErrPage, ""},
		"page -1":                       {on(-1), pades.ErrPage, ""},
		"page 0":                        {on(0), pades.ErrPage, ""},
		"page 4 of 3":                   {on(4), pades.ErrPage, ""},
		"largest integer as page":       {on(math.MaxInt), pades.ErrPage, ""},
		"zero rectangle":                {in(0, 0, 0, 0), pades.ErrRect, "from (0, 0) to (0, 0)"},
		"no width":                      {in(100, 100, 100, 200), pades.ErrRect, "from (100, 100) to (100, 200)"},
		"no height":                     {in(100, 100, 200, 100.001), pades.ErrRect, "from (100, 100)"},
		"corners exchanged":             {in(200, 200, 100, 100), pades.ErrRect, "from (200, 200)"},
		"left beyond right":             {in(200, 100, 100, 200), pades.ErrRect, "from (200, 100)"},
		"NaN at the left":               {in(math.NaN(), 100, 200, 200), pades.ErrRect, "from (NaN"},
		"NaN at the top":                {in(100, 100, 200, math.NaN()), pades.ErrRect, "NaN)"},
		"infinite":                      {in(100, 100, math.Inf(1), 200), pades.ErrRect, "+Inf"},
		"below the smallest coordinate": {in(100, -32768, 200, 200), pades.ErrRect, "-32768"},
		"too wide":                      {in(-20000, 100, 20000, 200), pades.ErrRect, "from (-20000"},
		"beyond the largest coordinate": {in(100, 100, 32767.5, 200), pades.ErrRect, "32767.5"},
		"Visible and Field":             {pades.Options{Field: "Buyer", Visible: at(1, 100, 100)}, nil, "Visible cannot be combined with Field"},
		"two appearances":               {pades.Options{Appearance: contract(), Visible: at(1, 100, 100)}, nil, "Appearance cannot be combined with Visible"},
		"appearance of zero bytes":      {empty, pades.ErrAppearance, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := prepare(t, b, p.signer, row.o)
			if err == nil || row.want != nil && !errors.Is(err, row.want) || errors.Is(err, ades.ErrUnreadable) || !strings.Contains(err.Error(), row.text) {
				t.Errorf("got %v, want %v %q", err, row.want, row.text)
			}
		})
	}
	empty.Visible.Appearance = nil
	if _, err := pades.Prepare(t.Context(), document(b), p.signer, empty); err == nil {
		t.Error("a visible signature without an appearance is accepted")
	}
	for _, o := range []pades.Options{in(-32767, 0, 0, 32767), in(0, 0, 0.01, 0.01), on(3)} {
		sign(t, b, p, o)
	}
}

// TestVisibleAfterCertification adds visible signatures after a certification that permits signatures (ISO 32000-2
// table 257). EU DSS and pdfsig accept a new field then, and pyHanko does with the policy in certified.py, as Acrobat
// is documented to.
func TestVisibleAfterCertification(t *testing.T) {
	ca := catest.New(t)
	p := newPerson(t, ca, p256(t))
	var cases []signedCase
	var paths []string
	for _, permission := range []pades.Permission{pades.FormFilling, pades.Annotations} {
		for name, first := range map[string]*pades.Visible{"invisible": nil, "visible": at(1, 100, 300)} {
			b := sign(t, pdftest.Build(pdftest.Options{Pages: 2}), p, pades.Options{Certify: permission, Visible: first})
			for page := 1; page <= 2; page++ {
				b = sign(t, b, p, pades.Options{Visible: at(page, 100, 100)})
			}
			path := tempFile(t, fmt.Sprintf("%s-%d.pdf", name, permission), b)
			paths = append(paths, path)
			cases = append(cases, signedCase{name: path, path: path, fields: numbered(3)})
		}
	}
	roots := []*x509.Certificate{ca.Root()}
	for i, report := range validators.DSS(t, validators.DSSOptions{Roots: roots, RevocationOptional: true}, paths...) {
		cases[i].checkDSS(t, report)
		cases[i].checkPDFSig(t, roots)
	}
	out := python(t, nil, append([]string{filepath.Join("testdata", "certified.py"), writePEM(t, "CERTIFICATE", ca.Root().Raw)}, paths...)...)
	want := strings.Repeat("Signature1 FORM_FILLING True, Signature2 FORM_FILLING True, Signature3 NONE True\n", len(paths))
	if diff := cmp.Diff(want, string(out)); diff != "" {
		t.Error(diff)
	}
}

// TestPagesThatShareAnnotations signs on pages that have one array of annotations. An annotation is on one page (ISO
// 32000-2 12.5.2), so a signature on one of the pages is not visible on the others, and the earlier signatures permit it.
func TestPagesThatShareAnnotations(t *testing.T) {
	ca := catest.New(t)
	p := newPerson(t, ca, p256(t))
	const link = "<< /Type /Annot /Subtype /Link /Border [0 0 0] /Rect [10 10 30 30] /Contents (Kept) >>"
	sharing := func(objects ...string) []byte {
		b := pdftest.Build(pdftest.Options{Pages: 3, Objects: objects})
		return bytes.ReplaceAll(b, []byte("/Contents 3 0 R"), []byte("/Annots 100 0 R"))
	}
	var cases []signedCase
	for _, test := range []struct {
		name    string
		b       []byte
		links   int  // on each page
		foreign bool // pyHanko requires an array that exists, of references
	}{
		{"link", sharing("[101 0 R]", link), 1, true},
		{"empty", sharing("[]"), 0, true},
		{"direct", sharing("["+link+" 101 0 R]", link), 2, false},
		{"references to references", sharing("101 0 R", "[102 0 R]", link), 1, false},
		{"null", sharing("null"), 0, false},
		{"missing", sharing(), 0, false},
		{"encrypted", nil, 1, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			if test.b == nil {
				test.b = encrypt(t, sharing("["+link+"]"), "", "256")
			}
			b := signVisible(t, test.b, p, at(2, 100, 100), at(2, 100, 200), at(1, 100, 300))
			checkWidgets(t, open(t, b), test.links, [][]string{{"Signature3"}, {"Signature1", "Signature2"}, nil})
			if test.foreign {
				cases = append(cases, signedCase{name: test.name, b: b, fields: numbered(3)})
			}
		})
	}
	checkForeign(t, ca, cases)
}

// checkWidgets fails the test unless each page has its links, and then the widgets of the fields, which name the page.
func checkWidgets(t *testing.T, file *pdf.File, links int, want [][]string) {
	t.Helper()
	for i, fields := range want {
		page, array := pageAnnotations(t, file, i+1)
		var got []string
		for k, a := range array {
			dict, _ := file.Dict(a)
			key := pdf.Name("T")
			if k < links {
				key = "Contents"
			} else if dict["P"] != page.Ref {
				t.Errorf("page %d: the widget names %v", i+1, dict["P"])
			}
			text, err := file.Bytes(dict[key])
			if err != nil {
				t.Error(err)
			}
			got = append(got, pdf.Text(pdf.String(text)))
		}
		if all := append(slices.Repeat([]string{"Kept"}, links), fields...); !slices.Equal(got, all) {
			t.Errorf("page %d: got %q, want %q", i+1, got, all)
		}
	}
}
