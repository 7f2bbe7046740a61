package pades_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/innsigli/innsigli/internal/pdf"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
)

// The signer declares ETSI's developer extension in files of PDF 1.7, and in no other version (ISO
// 32000-2 7.12, EN 319 142-1).
func TestExtensions(t *testing.T) {
	p := newPerson(t, catest.New(t), p256(t))
	const declared = "<< /ESIC << /Type /DeveloperExtensions /BaseVersion /1.7 /ExtensionLevel 2 >> >>"
	const adobe = "/ADBE << /BaseVersion /1.7 /ExtensionLevel 8 >>"
	tests := []struct {
		name, header, catalog string
		objects               []string
		want                  string // the value of Extensions
	}{
		{"PDF 1.7", "1.7", "", nil, declared},
		{"PDF 1.7 by the catalog", "1.4", "/Version /1.7", nil, declared},
		{"PDF 1.4", "1.4", "", nil, "null"},
		{"PDF 1.6", "1.6", "/Version /1.5", nil, "null"},
		{"PDF 2.0", "2.0", "", nil, "null"},
		{"PDF 2.0 by the catalog", "1.7", "/Version /2.0", nil, "null"},
		{"beside Adobe's", "1.7", "/Extensions << " + adobe + " >>", nil, "<< " + adobe + " " + declared[3:]},
		{"empty", "1.7", "/Extensions << >>", nil, declared},
		{"indirect", "1.7", "/Extensions 100 0 R", []string{"<< " + adobe + " >>"}, "<< " + adobe + " " + declared[3:]},
		{"level 1", "1.7", "/Extensions << /ESIC << /BaseVersion /1.7 /ExtensionLevel 1 >> " + adobe + " >>", nil,
			"<< /ESIC << /BaseVersion /1.7 /ExtensionLevel 2 >> " + adobe + " >>"},
		{"level 2", "1.7", "/Extensions << /ESIC << /BaseVersion /1.7 /ExtensionLevel 2 >> >>", nil,
			"<< /ESIC << /BaseVersion /1.7 /ExtensionLevel 2 >> >>"},
		{"level 5", "1.7", "/Extensions << /ESIC << /BaseVersion /1.7 /ExtensionLevel 5 >> >>", nil,
			"<< /ESIC << /BaseVersion /1.7 /ExtensionLevel 5 >> >>"},
		{"ETSI's indirect", "1.7", "/Extensions << /ESIC 100 0 R >>", []string{"<< /BaseVersion /1.7 /ExtensionLevel 1 >>"},
			"<< /ESIC << /BaseVersion /1.7 /ExtensionLevel 1 >> >>"},
		{"array as of PDF 2.0", "1.7", "/Extensions << /ESIC [<< /ExtensionLevel 1 >>] >>", nil, "<< /ESIC [<< /ExtensionLevel 1 >>] >>"},
		{"level is no number", "1.7", "/Extensions << /ESIC << /ExtensionLevel /1 >> >>", nil, "<< /ESIC << /ExtensionLevel /1 >> >>"},
		{"no dictionary", "1.7", "/Extensions [1]", nil, "[1]"},
	}
	for _, tt := range tests {
		for _, kind := range pdftest.Kinds {
			t.Run(tt.name+"/"+string(kind), func(t *testing.T) {
				b := pdftest.Build(pdftest.Options{Kind: kind, Catalog: tt.catalog, Objects: tt.objects})
				b = bytes.Replace(b, []byte("%PDF-1.7"), []byte("%PDF-"+tt.header), 1)
				signed := sign(t, b, p, pades.Options{})
				want, err := pdf.Parse([]byte(tt.want))
				if err != nil {
					t.Fatal(err)
				}
				file := open(t, signed)
				_, catalog, err := file.Catalog()
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(want, resolved(t, file, catalog["Extensions"])); diff != "" {
					t.Error(diff)
				}
				if got := verify(t, signed, p.ca); len(got) != 1 || !got[0].Passed() {
					t.Errorf("%+v", got)
				}
			})
		}
	}
}

// resolved returns an object with the objects that it refers to in the place of references.
func resolved(t *testing.T, file *pdf.File, o pdf.Object) pdf.Object {
	t.Helper()
	o, err := file.Resolve(o)
	if err != nil {
		t.Fatal(err)
	}
	if dict, ok := o.(pdf.Dict); ok {
		for key, value := range dict {
			dict[key] = resolved(t, file, value)
		}
	}
	return o
}

// A further signature does not declare the extension: it would change a signed catalog.
func TestExtensionsOfSignedDocumentStay(t *testing.T) {
	p := newPerson(t, catest.New(t), p256(t))
	b := pdftest.Build(pdftest.Options{Catalog: "/Version /1.6"})
	b = bytes.Replace(b, []byte("%PDF-1.7"), []byte("%PDF-1.6"), 1)
	once := sign(t, b, p, pades.Options{})
	later := appendObjects(t, once, map[int]string{}) // a revision that changes nothing
	twice := sign(t, bytes.Replace(later, []byte("%PDF-1.6"), []byte("%PDF-1.7"), 1), p, pades.Options{})
	if strings.Contains(string(twice[len(later):]), "ESIC") {
		t.Errorf("%s", twice[len(later):])
	}
}
