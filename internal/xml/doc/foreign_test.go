package doc_test

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/internal/test/validators"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

const signatures = "http://www.w3.org/2000/09/xmldsig#"

// foreignFiles are the XML documents of other projects that Parse accepts.
func foreignFiles(t *testing.T) map[string][]byte {
	t.Helper()
	files := make(map[string][]byte)
	paths, err := filepath.Glob(filepath.Join(testenv.Corpus(t, "signed/xml"), "*.xml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		source, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := xmldoc.Parse(source); err == nil {
			files[path] = source
		}
	}
	if len(files) < 100 {
		t.Fatalf("%d readable files among %d", len(files), len(paths))
	}
	return files
}

// TestForeignDocuments compares whole documents, what is left of them without their signatures,
// and the elements of signatures, which others sign and timestamp.
func TestForeignDocuments(t *testing.T) {
	t.Parallel()
	var names []string
	var requests []validators.CanonicalRequest
	for path, source := range foreignFiles(t) {
		names = append(names, filepath.Base(path))
		requests = append(requests, validators.CanonicalRequest{Document: source, Forms: foreignForms(source)})
	}
	for i, report := range validators.LibXML2(t, requests...) {
		compare(t, names[i], requests[i], report)
	}
}

// foreignForms are of all elements of a small document, and of some of a larger one, for
// libxml2 has to be told of each node whether it is asked for.
func foreignForms(source []byte) []validators.CanonicalForm {
	d, err := xmldoc.Parse(source)
	if err != nil {
		return nil
	}
	forms := variants(validators.CanonicalForm{})
	total := len(slices.Collect(elementsOf(d)))
	if total > 2000 && !testenv.Full() {
		return forms
	}
	forms = append(forms, variants(validators.CanonicalForm{Without: [][2]string{{signatures, "Signature"}}})...)
	for apex := 1; apex <= total; apex += 1 + total/20 {
		part := validators.CanonicalForm{Apex: apex, Without: [][2]string{{signatures, "Object"}}}
		forms = append(forms, variants(part)[apex%6])
	}
	return forms
}

// TestXMLLint compares with what the program prints.
func TestXMLLint(t *testing.T) {
	t.Parallel()
	files := foreignFiles(t)
	for i, path := range slices.Sorted(maps.Keys(files)) {
		if i%6 != 0 && !testenv.Full() {
			continue
		}
		d, err := xmldoc.Parse(files[path])
		if err != nil {
			t.Fatal(err)
		}
		for method := range methods {
			got, err := canonical(d, validators.CanonicalForm{Method: method, Comments: true})
			if err != nil {
				t.Errorf("%s: %v", path, err)
			}
			want, err := validators.XMLLint(t, method, path)
			if err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s, %s differs, %v", filepath.Base(path), method, err)
			}
		}
	}
}
