package pades_test

import (
	"bytes"
	"path/filepath"
	"strings"
	"testing"

	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
)

// None of the judges is blind: each finds what only it looks for in a file that was harmed,
// and none finds anything in one that was signed.
func TestJudgesFindHarm(t *testing.T) {
	judges := newJudges(t)
	original := pdftest.Build(pdftest.Options{
		Catalog: "/AcroForm << /Fields [100 0 R] >> /Outlines 101 0 R",
		Objects: []string{
			"<< /FT /Tx /T (Name) /V (kept) >>",
			"<< /Type /Outlines /First 102 0 R /Last 102 0 R /Count 1 >>",
			"<< /Title (Chapter) /Parent 101 0 R /Dest [10 0 R /Fit] >>",
		},
	})
	signed := sign(t, original, newPerson(t, newAuthority(t), p256(t)), pades.Options{})
	last := bytes.LastIndex(signed, []byte("startxref\n"))
	for _, test := range []struct {
		name, judge string
		after       []byte
	}{
		{"nothing", "", signed},
		{"unsigned", "pdfsig", original},
		{"a byte of what is signed", "pdfsig", bytes.Replace(signed, []byte("/Page "), []byte("/page "), 1)},
		{"startxref", "qpdf", append(bytes.Clone(signed[:last]), "startxref\n7\n%%EOF\n"...)},
		{"a line on the page", "mutool", bytes.Replace(signed, []byte("10 10 l"), []byte("90 90 l"), 1)},
		{"size of the page", "pdfinfo", bytes.Replace(signed, []byte("595 842"), []byte("842 595"), 1)},
		{"value of a field", "pdfcpu", bytes.Replace(signed, []byte("(kept)"), []byte("(lost)"), 1)},
		{"a field", "pdfcpu", bytes.ReplaceAll(signed, []byte("/Fields [100 0 R"), []byte("/Fields [       "))},
		{"a bookmark", "pdfcpu", bytes.Replace(signed, []byte("(Chapter)"), []byte("(Chaptre)"), 1)},
	} {
		t.Run(test.name, func(t *testing.T) {
			folder := t.TempDir()
			f := &corpusFile{path: filepath.Join(folder, "original.pdf")}
			path := filepath.Join(folder, "after.pdf")
			writeFile(t, f.path, original)
			writeFile(t, path, test.after)
			judges.compare(t, f, path)
			found := strings.Join(f.faults, "\n")
			if test.judge == "" && found != "" || !strings.Contains(found, test.judge) || len(f.unjudged) > 0 {
				t.Errorf("found %q, no judgement by %v", found, f.unjudged)
			}
		})
	}
}
