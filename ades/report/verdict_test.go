package report_test

import (
	"strings"
	"testing"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/ades/report"
)

// What is most serious leads, and the signatures that it is about are named.
func TestVerdictOnTheDocument(t *testing.T) {
	sound := ades.SignatureReport{Format: "PAdES-BASELINE-LT", Indication: ades.TotalPassed, Intact: true, Coverage: ades.WholeDocument}
	with := func(change func(*ades.SignatureReport)) ades.SignatureReport {
		s := sound
		change(&s)
		return s
	}
	failed := with(func(s *ades.SignatureReport) { s.Indication, s.SubIndication = ades.TotalFailed, ades.HashFailure })
	unconfirmed := with(func(s *ades.SignatureReport) {
		s.Indication, s.SubIndication = ades.Indeterminate, ades.NoCertificateChainFound
	})
	later := with(func(s *ades.SignatureReport) { s.Indication, s.SubIndication = ades.Indeterminate, ades.TryLater })
	changed := with(func(s *ades.SignatureReport) { s.Changes = []ades.Change{{Revision: 2, Kind: ades.ChangePages}} })
	partial := with(func(s *ades.SignatureReport) { s.Coverage = ades.Partial })
	earlier := with(func(s *ades.SignatureReport) { s.Coverage = ades.WholeRevision })
	counter := with(func(s *ades.SignatureReport) { s.Coverage, s.CounterSignature = ades.Partial, true })
	for _, test := range []struct {
		name       string
		signatures []ades.SignatureReport
		en, is     string
	}{
		{"one", []ades.SignatureReport{sound}, "The document is signed. Its signature is valid.", "Skjalið er undirritað. Undirskriftin er gild."},
		{"several", []ades.SignatureReport{earlier, sound}, "All of its signatures are valid.", "Allar undirskriftirnar eru gildar."},
		{"a counter-signature", []ades.SignatureReport{sound, counter}, "All of its signatures are valid.", "Allar undirskriftirnar eru gildar."},
		{"one without revocation data", []ades.SignatureReport{earlier, later}, "Nothing speaks against its signatures", "Ekkert mælir gegn undirskriftunum"},
		{"one failed", []ades.SignatureReport{failed}, "its signature is not valid.", "undirskriftin er ógild."},
		{"the second failed, the first was changed", []ades.SignatureReport{changed, failed}, "signature 2 is not valid.", "undirskrift 2 er ógild."},
		{"three failed", []ades.SignatureReport{failed, failed, failed, sound}, "signatures 1–3 are not valid.", "undirskriftir 1–3 eru ógildar."},
		{"one was changed, another not confirmed", []ades.SignatureReport{unconfirmed, changed}, "it was changed after signature 2,", "því var breytt eftir undirskrift 2,"},
		{"one not confirmed, another partial", []ades.SignatureReport{partial, unconfirmed}, "signature 2 is not confirmed.", "undirskrift 2 er óstaðfest."},
		{"partial", []ades.SignatureReport{sound, partial}, "signature 2 covers only a part of it.", "undirskrift 2 nær aðeins yfir hluta þess."},
		{"none covers the end", []ades.SignatureReport{earlier}, "something was added after its signature.", "einhverju var bætt við eftir undirskriftina."},
	} {
		t.Run(test.name, func(t *testing.T) {
			d := report.Of("a.pdf", &ades.Report{Signatures: test.signatures})
			for l, want := range map[report.Language]string{report.English: test.en, report.Icelandic: test.is} {
				if got := verdictOf(t, d, l); !strings.Contains(got, want) {
					t.Errorf("%q does not say %q", got, want)
				}
				if good := strings.Contains(verdictOf(t, d, report.English), "The document is signed."); good != d.Passed {
					t.Errorf("the document passed: %v, and the verdict is %q", d.Passed, verdictOf(t, d, report.English))
				}
			}
		})
	}
}

// verdictOf is what stands between the name of the file and the first signature.
func verdictOf(t *testing.T, d report.Document, l report.Language) string {
	t.Helper()
	var out strings.Builder
	if err := d.Text(&out, l); err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(out.String(), "\n")
	verdict, _, _ := strings.Cut(rest, "\n\n")
	return strings.Join(strings.Fields(verdict), " ")
}
