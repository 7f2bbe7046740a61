package doc_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/internal/test/validators"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

var methods = map[string]xmldoc.Method{"1.0": xmldoc.C14N10, "1.1": xmldoc.C14N11, "exclusive": xmldoc.Exclusive}

// variants are the six canonicalizations of a part of a document.
func variants(part validators.CanonicalForm) (forms []validators.CanonicalForm) {
	for _, method := range []string{"1.0", "1.1", "exclusive"} {
		for _, comments := range []bool{false, true} {
			part.Method, part.Comments = method, comments
			forms = append(forms, part)
		}
	}
	return forms
}

// canonical is a canonical form by this package.
func canonical(d *xmldoc.Document, form validators.CanonicalForm) ([]byte, error) {
	c := xmldoc.Canonicalization{Method: methods[form.Method], Comments: form.Comments, Prefixes: form.Prefixes}
	s := xmldoc.Subset{Apex: apex(d, form.Apex)}
	if form.Without != nil {
		s.Without = func(e xmldoc.Node) bool {
			return slices.Contains(form.Without, [2]string{e.Name().Space, e.Name().Local})
		}
	}
	var out bytes.Buffer
	err := d.Canonicalize(&out, c, s)
	return out.Bytes(), err
}

// apex is the element of a number in document order; none for 0.
func apex(d *xmldoc.Document, number int) xmldoc.Node {
	for e := range elementsOf(d) {
		if number--; number == 0 {
			return e
		}
	}
	return xmldoc.Node{}
}

func elementsOf(d *xmldoc.Document) func(yield func(xmldoc.Node) bool) {
	return func(yield func(xmldoc.Node) bool) {
		if !yield(d.Root()) {
			return
		}
		for e := range d.Root().Descendants() {
			if !yield(e) {
				return
			}
		}
	}
}

// rootless are forms that libxml2 has wrong: where the root is left out, it takes what comes after it
// for what comes before, though the order of the document is not that of what is written (Canonical
// XML 1.1, 2.3, of processing instructions).
func rootless(d *xmldoc.Document, form validators.CanonicalForm) bool {
	root := d.Root().Name()
	return form.Apex == 0 && slices.Contains(form.Without, [2]string{root.Space, root.Local})
}

// compare fails the test where a form differs from libxml2's.
func compare(t *testing.T, name string, request validators.CanonicalRequest, libxml2 validators.CanonicalReport) {
	t.Helper()
	if libxml2.Error != "" {
		t.Errorf("%s: libxml2: %s", name, libxml2.Error)
		return
	}
	d, err := xmldoc.Parse(request.Document)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	for i, form := range request.Forms {
		got, err := canonical(d, form)
		if rootless(d, form) {
			continue
		}
		if err != nil {
			t.Errorf("%s, %+v: %v", name, form, err)
		} else if !bytes.Equal(got, libxml2.Forms[i]) {
			t.Errorf("%s, %+v (-libxml2 +got):\n%s", name, form, cmp.Diff(string(libxml2.Forms[i]), string(got)))
		}
	}
}

// TestGeneratedDocuments compares all variants of 10,000 documents, and of an element of each with
// something left out, and with prefixes to be treated as in inclusive canonicalization.
func TestGeneratedDocuments(t *testing.T) {
	t.Parallel()
	const documents, batch = 10_000, 500
	for first := uint64(0); first < documents; first += batch {
		var requests []validators.CanonicalRequest
		for seed := first; seed < first+batch; seed++ {
			document, elements := generate(seed)
			requests = append(requests, validators.CanonicalRequest{
				Document: []byte(document),
				Forms:    append(variants(validators.CanonicalForm{}), someForms(seed, elements)...),
			})
		}
		for i, report := range validators.LibXML2(t, requests...) {
			compare(t, fmt.Sprintf("document %d", first+uint64(i)), requests[i], report)
		}
		if t.Failed() {
			return
		}
	}
}

// someForms are of parts of the generated document of a seed.
func someForms(seed uint64, elements int) []validators.CanonicalForm {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 13))}
	var without [][2]string
	if g.chance(2) {
		without = [][2]string{{"", "e"}, {"urn:z", "é"}, {"urn:y", "Signature"}}
	}
	names := pick(g, nil, []string{"", "a"}, []string{"b", "c", "b", "unbound"}, []string{"é", ""})
	return []validators.CanonicalForm{
		{Method: "1.0", Comments: g.chance(2), Apex: g.IntN(elements + 1), Without: without},
		{Method: "1.1", Comments: g.chance(2), Apex: g.IntN(elements + 1)},
		{Method: "exclusive", Comments: g.chance(2), Apex: g.IntN(elements + 1), Without: without, Prefixes: names},
	}
}
