package pades_test

import (
	"fmt"
	"regexp"
	"strings"

	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
)

// prepared is a document that its author made so that something in it can be exchanged later.
type prepared struct {
	catalog string
	objects []string
	before  func(*revision)
	options pades.Options
	later   func(*revision)
}

// made is the document, signed, with a revision.
func (d prepared) made(s *scene) []byte {
	r := newRevision(s.T, pdftest.Build(pdftest.Options{Catalog: d.catalog, Objects: d.objects}))
	d.before(r)
	signed := sign(s, r.written(), s.signer, d.options)
	if report := verify(s, signed, s.ca)[0]; !report.Passed() {
		s.Fatalf("the victim does not pass: %v", report.Problems)
	}
	r = newRevision(s.T, signed)
	d.later(r)
	return r.written()
}

const asForm = "/Type /XObject /Subtype /Form /BBox [0 0 100 100]"

func box(size int) string { return fmt.Sprintf("0 0 %d %d re f", size, size) }

const (
	otherLayers = "/OCGs [101 0 R 102 0 R] /D << /OFF [101 0 R] /Order [] >>"
	hiddenNote  = "<< /Type /Annot /Subtype /Text /F 2 /Rect [0 0 0 0] " + otherLayers + " >>"
)

// layered is a document with two layers, objects 101 and 102; 105 is an annotation, if it is there.
func layered(catalog string, objects []string, options pades.Options, later func(*revision)) func(*scene) []byte {
	return prepared{
		catalog: catalog, objects: append([]string{"null", "<< /Type /OCG /Name (A) >>", "<< /Type /OCG /Name (B) >>"}, objects...), options: options,
		before: func(r *revision) {
			r.replace(content, stream("", "/OC /A BDC "+box(1)+" EMC /OC /B BDC "+box(9)+" EMC"))
			r.set(page, "Resources", "<< /Properties << /A 101 0 R /B 102 0 R >> >>")
			if objects != nil && objects[2] != "null" {
				r.set(page, "Annots", "[105 0 R]")
			}
		},
		later: later,
	}.made
}

func references(first, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d 0 R ", first+i)
	}
	return b.String()
}

// manyFields are n fields, of which the first is seen, and what is seen of it.
func manyFields(n int) []string {
	objects := []string{fmt.Sprintf("<< /Type /Annot /Subtype /Widget /FT /Tx /T (0) /V (1) /P 10 0 R /F 4 /Rect [0 0 10 10] /AP << /N %d 0 R >> >>", 100+n)}
	for i := 1; i < n; i++ {
		objects = append(objects, fmt.Sprintf("<< /FT /Tx /T (%d) /V (1) >>", i))
	}
	return append(objects, stream(asForm, ""))
}

// loosely is the signed contract with a revision of nothing, written so that some readers take it for damaged.
func loosely(trailer, startxref string) func(*scene) []byte {
	return func(s *scene) []byte { return empty(s.signed(), trailer, startxref) }
}

// empty appends a revision of nothing, whose table is at AT behind that at PREV.
func empty(b []byte, trailer, startxref string) []byte {
	all := regexp.MustCompile(`startxref\s+(\d+)`).FindAllSubmatch(b, -1)
	tail := "xref\n0 0\ntrailer\n<< /Size 500 " + trailer + " >>\nstartxref" + startxref + "\n%%EOF\n"
	return append(b, strings.NewReplacer("PREV", string(all[len(all)-1][1]), "AT", fmt.Sprint(len(b))).Replace(tail)...)
}
