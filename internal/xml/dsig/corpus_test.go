package dsig

import (
	"errors"
	"iter"
	"os"
	"path/filepath"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/internal/test/validators"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// departures are the first signatures of foreign files on which XML Security Library has another opinion, with
// what is said of them here (nil: they verify).
var departures = map[string]error{
	// It follows the references of a Manifest, to files that are not there. Here the list alone is signed.
	"Signature-X-CZ_SEF-5.xml":         nil,
	"X-E-ERS-MANIFEST.xml":             nil,
	"XSW-enveloping-fake-manifest.xml": nil, // by itself the signature is sound; what it signs is another matter
	// It evaluates any expression.
	"Signature-X-AT-1.xml":     ErrTransform,
	"qes-xades111-filter2.xml": ErrTransform,
	// It leaves the signature out of an element that the signature is not in.
	"XSW-enveloped-fake-content-misplaced.xml": ErrReference,
}

// Signatures of many others verify as XML Security Library has it, each of them with the key of its first
// certificate, counter-signatures too.
func TestForeignSignatures(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testenv.Corpus(t, "signed/xml"), "*.xml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files: %v", err)
	}
	good, bad := 0, 0
	for i, report := range validators.XMLSec(t, nil, files...) {
		source, err := os.ReadFile(files[i])
		if err != nil {
			t.Fatal(err)
		}
		d, err := xmldoc.Parse(source)
		if (err != nil) != (report.Error != "") {
			t.Errorf("%s: read: %v; xmlsec: %s", filepath.Base(files[i]), err, report.Error)
		}
		if err != nil {
			continue
		}
		g, b := compare(t, filepath.Base(files[i]), d, report.Signatures)
		good, bad = good+g, bad+b
	}
	t.Logf("%d signatures verify, %d do not", good, bad)
	if good < 50 || bad < 20 {
		t.Errorf("%d signatures verify and %d do not: this is not the corpus", good, bad)
	}
}

func compare(t *testing.T, name string, d *xmldoc.Document, theirs []validators.XMLSecSignature) (good, bad int) {
	t.Helper()
	for element := range elements(d) {
		if !element.Is(Namespace, "Signature") {
			continue
		}
		if good+bad == len(theirs) {
			t.Errorf("%s: xmlsec has %d signatures, and there are more", name, len(theirs))
			break
		}
		their, err := theirs[good+bad], verifyElement(t, d, element)
		if want, departs := departures[name]; departs && good+bad == 0 {
			if !errors.Is(err, want) || (want == nil) == their.Valid {
				t.Errorf("%s: %v, want %v; xmlsec: valid %v", name, err, want, their.Valid)
			}
		} else if their.Valid != (err == nil) {
			t.Errorf("%s, signature %d: %v; xmlsec: valid %v %s", name, good+bad, err, their.Valid, their.Error)
		}
		if err == nil {
			good++
		} else {
			bad++
		}
	}
	return good, bad
}

func verifyElement(t *testing.T, d *xmldoc.Document, element xmldoc.Node) error {
	s, err := Read(d, element)
	if err != nil {
		return err
	}
	return verifySignature(t.Context(), s)
}

// elements are those of a document, in their order.
func elements(d *xmldoc.Document) iter.Seq[xmldoc.Node] {
	return func(yield func(xmldoc.Node) bool) {
		if !yield(d.Root()) {
			return
		}
		for n := range d.Root().Descendants() {
			if !yield(n) {
				return
			}
		}
	}
}
