package pades_test

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
)

// at shows a signature of 117 by 55 on a page, with a drawing in it.
func at(page int, llx, lly float64) *pades.Visible {
	return &pades.Visible{
		Page: page, Rect: pades.Rect{LLX: llx, LLY: lly, URX: llx + 117, URY: lly + 55},
		Appearance: pdftest.Build(pdftest.Options{Page: "/MediaBox [0 0 117 55]"}),
	}
}

// shownFiles are documents, and where signatures are shown in them one after another.
var shownFiles = []struct {
	name    string
	options pdftest.Options
	shown   []*pades.Visible // nil: an invisible one
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

// 12.7.5.5: a new field is where it was asked for, in files of each kind, and foreign
// programs find nothing amiss: a later one is to earlier signatures a form filled in.
func TestVisible(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	p := newPerson(t, ca, p256(t))
	var cases []signedCase
	for _, file := range shownFiles {
		for _, kind := range pdftest.Kinds {
			c := signedCase{name: file.name + "/" + string(kind)}
			t.Run(c.name, func(t *testing.T) {
				file.options.Kind = kind
				c.b = pdftest.Build(file.options)
				for i, v := range file.shown {
					c.b = sign(t, c.b, p, pades.Options{Name: "Þórður", Visible: v})
					c.fields = append(c.fields, fmt.Sprint("Signature", i+1))
				}
				for _, s := range verify(t, c.b, ca) {
					if !s.Passed() {
						t.Errorf("%s: %v", s.Name, s.Problems)
					}
				}
			})
			cases = append(cases, c)
		}
	}
	checkForeign(t, ca, cases)
}

// A signature that is shown may be raised to LTA, and an invisible one may follow it.
func TestVisibleRaised(t *testing.T) {
	p := newPerson(t, newAuthority(t), p256(t))
	b := pdftest.Build(pdftest.Options{Pages: 2})
	for i := range 2 {
		b = sign(t, b, p, pades.Options{Visible: at(2-i, 100, 100)})
	}
	if !isExtended(t, extend(t, b, ades.LTA, p.ca.Sources(nil)), p.ca) {
		t.Error("not extended than proof")
	}
}

// Files that not all foreign programs read.
func TestVisibleInOtherFiles(t *testing.T) {
	p := newPerson(t, newAuthority(t), p256(t))
	files := map[string][]byte{
		"hybrid":       pdftest.Build(pdftest.Options{Kind: pdftest.Hybrid, Pages: 2}),
		"to be mended": bytes.Replace(pdftest.Build(pdftest.Options{Pages: 2}), []byte("startxref\n"), []byte("startxref\n1"), 1),
		"annotations behind two references": pdftest.Build(pdftest.Options{
			Pages: 2, Page: "/Annots 100 0 R", Objects: []string{"101 0 R", "[]"},
		}),
	}
	for name, arguments := range encryptions {
		files[name] = encrypt(t, pdftest.Build(pdftest.Options{Kind: pdftest.Stream, Pages: 2}), "", arguments...)
	}
	for name, b := range files {
		t.Run(name, func(t *testing.T) {
			for i := range 2 {
				b = sign(t, b, p, pades.Options{Name: "Þórður", Visible: at(i+1, 100, 100)})
			}
			if _, secret := encryptions[name]; secret == bytes.Contains(b, []byte("q /Page Do Q")) {
				t.Errorf("encrypted %t, and what is drawn is the contrary", secret)
			}
			for _, s := range verify(t, b, p.ca) {
				if !s.Passed() {
					t.Errorf("%s: %v", s.Name, s.Problems)
				}
			}
		})
	}
}

// ISO 14289-1 7.18.4: what a screen reader says of the field.
func TestVisibleIsNamed(t *testing.T) {
	p := newPerson(t, newAuthority(t), p256(t))
	for want, o := range map[string]pades.Options{
		"Digital signature":           {Name: "Þórður"},
		"Digital signature of Þórður": {Name: "Þórður", Visible: at(1, 100, 100)},
		" Digital signature":          {Visible: at(1, 100, 100)},
	} {
		file := openPDF(t, sign(t, pdftest.Build(pdftest.Options{}), p, o))
		page, err := file.Page(1)
		if err != nil {
			t.Fatal(err)
		}
		annotations, _ := file.Array(page.Dict["Annots"])
		widget, _ := file.Dict(annotations[0])
		said, _ := file.Bytes(widget["TU"])
		if got := pdf.Text(pdf.String(said)); got != strings.TrimSpace(want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestVisibleWithoutAPage(t *testing.T) {
	p := newPerson(t, newAuthority(t), p256(t))
	b := pdftest.Build(pdftest.Options{Pages: 3})
	for page, want := range map[int]error{
		math.MinInt: pades.ErrPage, -1: pades.ErrPage, 0: pades.ErrPage,
		1: nil, 3: nil, 4: pades.ErrPage, math.MaxInt: pades.ErrPage,
	} {
		o := pades.Options{Visible: at(page, 100, 100)}
		if _, err := prepare(t, b, p.signer, o); !errors.Is(err, want) || errors.Is(err, ades.ErrUnreadable) {
			t.Errorf("page %d: %v", page, err)
		}
	}
}

// Options that contradict themselves, and what is said of them.
func TestVisibleOptions(t *testing.T) {
	p := newPerson(t, newAuthority(t), p256(t))
	empty := at(1, 100, 100)
	empty.Appearance = []byte{}
	tests := map[string]struct {
		o    pades.Options
		says string
	}{
		"and a field":            {pades.Options{Field: "Buyer", Visible: at(1, 100, 100)}, "Visible cannot be combined with Field"},
		"and another appearance": {pades.Options{Appearance: contract(), Visible: at(1, 100, 100)}, "Appearance cannot be combined with Visible"},
		"an empty appearance":    {pades.Options{Visible: empty}, pades.ErrAppearance.Error()},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := prepare(t, form(), p.signer, test.o)
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v, want %q", err, test.says)
			}
		})
	}
	empty.Appearance = nil
	if _, err := pades.Prepare(t.Context(), document(form()), p.signer, pades.Options{Visible: empty}); err == nil {
		t.Error("a signature is to be seen, and nothing is drawn")
	}
}
