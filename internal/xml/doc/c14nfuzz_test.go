package doc_test

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/internal/test/validators"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// FuzzCanonicalize: a canonical form of a document, or of an element, is a document, and is its own
// canonical form.
func FuzzCanonicalize(f *testing.F) {
	for _, test := range clauses {
		f.Add([]byte(test.document), uint(test.form.Apex))
	}
	for seed := range uint64(20) {
		document, elements := generate(seed)
		f.Add([]byte(document), uint(seed)%uint(elements+1))
	}
	f.Fuzz(func(t *testing.T, source []byte, number uint) {
		d, err := xmldoc.Parse(source)
		if err != nil {
			return
		}
		for _, form := range variants(validators.CanonicalForm{Apex: int(number % 100)}) {
			checkFixed(t, d, form)
		}
	})
}

func checkFixed(t *testing.T, d *xmldoc.Document, form validators.CanonicalForm) {
	t.Helper()
	once, err := canonical(d, form)
	if errors.Is(err, xmldoc.ErrNamespace) || errors.Is(err, xmldoc.ErrLimit) {
		return
	}
	if err != nil {
		t.Fatalf("%+v: %v", form, err)
	}
	again, err := xmldoc.Parse(once)
	if err != nil {
		t.Fatalf("%+v is no document: %v\n%q", form, err, once)
	}
	form.Apex = 0
	twice, err := canonical(again, form)
	if diff := cmp.Diff(string(once), string(twice)); err != nil || diff != "" {
		t.Fatalf("%+v: %v (-once +twice):\n%s", form, err, diff)
	}
}
