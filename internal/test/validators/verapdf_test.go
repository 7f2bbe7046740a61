package validators

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
)

// The files that tests start from conform to what they claim, and veraPDF can say no: it
// names the clause that a file breaks.
func TestVeraPDF(t *testing.T) {
	folder := t.TempDir()
	var claims []VeraPDFClaim
	claim := func(profile, name string, content []byte) {
		path := filepath.Join(folder, name+".pdf")
		writeFile(t, path, content)
		claims = append(claims, VeraPDFClaim{profile, path})
	}
	claim("1b", "1b", pdftest.Archival(pdftest.Archive{Profile: "1b"}))
	claim("1a", "1a", pdftest.Archival(pdftest.Archive{Profile: "1a"}))
	for _, profile := range []string{"2b", "2a", "3b", "3a", "4", "ua1", "ua2"} {
		for _, kind := range pdftest.Kinds {
			claim(profile, profile+string(kind), pdftest.Archival(pdftest.Archive{Profile: profile, Kind: kind}))
		}
	}
	good := len(claims)
	claim("2b", "no claim", pdftest.Build(pdftest.Options{}))
	claim("1b", "stream", pdftest.Archival(pdftest.Archive{Profile: "1b", Kind: pdftest.Stream}))
	claim("ua1", "not tagged", pdftest.Archival(pdftest.Archive{Profile: "2b"}))
	claim("2b", "not a PDF", []byte("PK\x03\x04"))
	claim("9z", "no such profile", pdftest.Archival(pdftest.Archive{Profile: "2b"}))
	reports := VeraPDF(t, claims...)
	for _, r := range reports[:good] {
		if !r.Compliant || r.Error != "" || len(r.Failures) > 0 {
			t.Errorf("%s: %q, %v", filepath.Base(r.File), r.Error, r.Failures)
		}
	}
	for i, clause := range []string{"6.6.2.1", "6.1.4", "7.1"} {
		r := reports[good+i]
		broken := slices.ContainsFunc(r.Failures, func(f VeraPDFFailure) bool { return f.Clause == clause })
		if r.Compliant || !broken {
			t.Errorf("%s: clause %s is not among %v", filepath.Base(r.File), clause, r.Failures)
		}
	}
	for _, r := range reports[good+3:] {
		if r.Error == "" || r.Compliant {
			t.Errorf("%s: %+v", filepath.Base(r.File), r)
		}
	}
	if !strings.Contains(reports[len(reports)-1].Error, "9z") {
		t.Errorf("%q", reports[len(reports)-1].Error)
	}
}
