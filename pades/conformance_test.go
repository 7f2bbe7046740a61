package pades_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/internal/test/validators"
	"github.com/innsigli/innsigli/pades"
	"github.com/innsigli/innsigli/stamp"
)

// A file that conforms to a profile of PDF/A (ISO 19005) or PDF/UA (ISO 14289) conforms to
// it when it is signed, when it is signed again, and when that is extended to LTA. It makes no
// difference whether a signature is shown, but for a later one in PDF/UA-1: see
// TestStructureOfSignedDocumentStays.
func TestConformanceSurvivesSigning(t *testing.T) {
	t.Parallel()
	p := newPerson(t, newAuthority(t), p256(t))
	folder := t.TempDir()
	stamped := at(1, 360, 100)
	stamped.Appearance = standardStamp(t)
	var claims []validators.VeraPDFClaim
	for name, shown := range map[string][2]*pades.Visible{
		"invisible": {nil, nil}, "visible": {at(1, 100, 100), at(1, 230, 100)}, "mixed": {nil, at(1, 100, 100)},
		"stamped": {stamped, at(1, 100, 100)},
	} {
		for _, a := range conforming() {
			b := pdftest.Archival(a)
			for signatures := range 4 {
				switch signatures {
				case 1, 2:
					b = sign(t, b, p, pades.Options{Name: "Dæmi um nafn", Reason: "Undirritun", Visible: shown[signatures-1]})
				case 3:
					b = extend(t, b, ades.LTA, p.ca.Sources(nil))
				}
				if a.Profile == "ua1" && signatures >= 2 && shown[1] != nil {
					break
				}
				path := filepath.Join(folder, fmt.Sprintf("%s-%s-%s-%d.pdf", name, a.Profile, a.Kind, signatures))
				writeFile(t, path, b)
				claims = append(claims, validators.VeraPDFClaim{Profile: a.Profile, File: path})
			}
		}
	}
	for _, r := range validators.VeraPDF(t, claims...) {
		if !r.Compliant || r.Error != "" {
			t.Errorf("%s: %q, %v", filepath.Base(r.File), r.Error, r.Failures)
		}
	}
}

// standardStamp is what the service draws, of characters from several scripts.
func standardStamp(t *testing.T) []byte {
	t.Helper()
	drawn, err := stamp.Standard(stamp.Text{
		Name: "Þórður Ægir Ελένη Юрий 北京", Kennitala: "1203894569", Time: time.Now(), Reason: "Undirritun",
	})
	if err != nil {
		t.Fatal(err)
	}
	return drawn
}

// conforming are files of each profile, with each kind of cross-reference that it allows.
func conforming() []pdftest.Archive {
	var all []pdftest.Archive
	for _, profile := range []string{"1b", "1a", "2b", "2a", "3b", "3a", "4", "ua1", "ua2"} {
		for _, kind := range pdftest.Kinds {
			if kind == pdftest.Table || !slices.Contains([]string{"1b", "1a"}, profile) {
				all = append(all, pdftest.Archive{Profile: profile, Kind: kind})
			}
		}
	}
	return all
}
