package pades_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/internal/pdf"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
)

// sharing has three pages without content whose annotations are one array.
func sharing(objects ...string) []byte {
	b := pdftest.Build(pdftest.Options{Pages: 3, Objects: objects})
	return bytes.ReplaceAll(b, []byte("/Contents 3 0 R"), []byte("/Annots 100 0 R"))
}

// aLink draws nothing.
const aLink = "<< /Type /Annot /Subtype /Link /Border [0 0 0] /Rect [10 10 30 30] /Contents (Kept) >>"

// 12.5.2: an annotation is on one page. What is shown on one of several pages that have one
// array of annotations is not shown on the others, and who signed earlier finds only a form
// filled in.
func TestVisibleOnPagesOfOneArray(t *testing.T) {
	ca := newAuthority(t)
	p := newPerson(t, ca, p256(t))
	var cases []signedCase
	for _, test := range []struct {
		name    string
		b       []byte
		was     int  // annotations of each page
		foreign bool // pyHanko looks at references alone, in arrays that there are
	}{
		{"link", sharing("[101 0 R]", aLink), 1, true},
		{"empty", sharing("[]"), 0, true},
		{"direct", sharing("["+aLink+" 101 0 R]", aLink), 2, false},
		{"behind two references", sharing("101 0 R", "[102 0 R]", aLink), 1, false},
		{"null", sharing("null"), 0, false},
		{"missing", sharing(), 0, false},
		{"encrypted", encrypt(t, sharing("["+aLink+"]"), "", "256"), 1, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := signedCase{name: test.name, b: test.b}
			for i, page := range []int{2, 2, 1} {
				c.b = sign(t, c.b, p, pades.Options{Visible: at(page, 100, 100+100*float64(i))})
				c.fields = append(c.fields, fmt.Sprint("Signature", i+1))
			}
			checkWidgets(t, c.b, test.was, "Signature3", "Signature1 Signature2", "")
			for _, s := range verify(t, c.b, ca) {
				if !s.Passed() {
					t.Errorf("%s: %v", s.Name, s.Problems)
				}
			}
			if test.foreign {
				cases = append(cases, c)
			}
		})
	}
	checkForeign(t, ca, cases)
}

// checkWidgets: each page has the annotations that it had, with what they say, and then the
// widgets of the fields, which name the page.
func checkWidgets(t *testing.T, b []byte, was int, want ...string) {
	t.Helper()
	file := openPDF(t, b)
	var got []string
	for i := range want {
		page, err := file.Page(i + 1)
		if err != nil {
			t.Fatal(err)
		}
		annotations, _ := file.Array(page.Dict["Annots"])
		if len(annotations) < was {
			t.Fatalf("page %d has %v", i+1, annotations)
		}
		for _, a := range annotations[:was] {
			dict, _ := file.Dict(a)
			if said, err := file.Bytes(dict["Contents"]); string(said) != "Kept" {
				t.Errorf("page %d: %v, %v", i+1, dict, err)
			}
		}
		var names []string
		for _, a := range annotations[was:] {
			dict, _ := file.Dict(a)
			name, err := file.Bytes(dict["T"])
			if dict["P"] != page.Ref || err != nil {
				t.Errorf("page %d: the widget says %v, %v", i+1, dict["P"], err)
			}
			names = append(names, pdf.Text(pdf.String(name)))
		}
		got = append(got, strings.Join(names, " "))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}
