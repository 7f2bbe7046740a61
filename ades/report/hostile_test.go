package report_test

import (
	"bytes"
	"regexp"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/ades/report"
)

// hostile says things that would pass for something else if they stood on a terminal as they are.
const hostile = "Jóna\u202e\u2066\u200f\r\n\n  Signature 2 of 2: X\n    Verdict     Valid.\x1b[2J\x1b]0;t\x07\u009b31m\t\u2028\u00ad\ufeff\xff\U000e0041"

// What a document says stays beside its label: it makes no lines, moves no cursor, turns nothing around and is
// not long.
func TestHostileText(t *testing.T) {
	long := strings.Repeat("x", 10_000)
	marks := "a" + strings.Repeat("\u0301", 1000)
	for name, said := range map[string]string{
		"controls": hostile, "long": long, "long and wide": strings.Repeat("漢", 5000), "marks": marks, "spaces": strings.Repeat(" ", 5000) + "x",
		"right to left": "שלום עולם", "braces": "{who} {n} {all}", "private": "\ue000\ufffe\U0010ffff", "sentences": strings.Repeat("Valid. ", 1000),
	} {
		t.Run(name, func(t *testing.T) {
			calm, loud := lines(t, reportSaying("a")), lines(t, reportSaying(said))
			if diff := cmp.Diff(labelsOf(calm), labelsOf(loud)); diff != "" {
				t.Errorf("labels (-want +got):\n%s\n%s", diff, strings.Join(loud, "\n"))
			}
			if len(loud) > 250 {
				t.Errorf("%d lines", len(loud))
			}
			for _, line := range loud {
				if strings.ContainsFunc(line, forbidden) {
					t.Errorf("%q", line)
				}
				if n := report.Width(line); n > 80 {
					t.Errorf("%d columns: %s", n, line)
				}
				if opened, closed := strings.Count(line, "\u2068"), strings.Count(line, "\u2069"); opened != closed {
					t.Errorf("isolates: %q", line)
				}
			}
		})
	}
}

// forbidden are characters that a line has none of. Isolates are the report's own.
func forbidden(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) && r != '\u2068' && r != '\u2069' || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Co)
}

// reportSaying is a report that has the same text wherever a file has a say.
func reportSaying(said string) report.Document {
	path := report.CertificateStatus{Certificate: report.Certificate{Name: said, Subject: said}, Revocation: ades.RevocationRevoked, Source: ades.SourceOCSP}
	return report.Document{File: said, Signatures: []report.Signature{{
		Name: said, Format: "PAdES-BASELINE-B", Indication: ades.TotalFailed, SubIndication: ades.HashFailure, Coverage: ades.WholeRevision,
		Signer: said, SerialNumber: said, Issuer: said, Certificate: &report.Certificate{Name: said, Subject: said, Issuer: said},
		Chain: []report.Certificate{{Name: said}}, Path: []report.CertificateStatus{path, path, path}, SignerName: "?" + said, Reason: said, Location: said, Problems: []string{said}, Warnings: []string{said},
		Timestamps: []report.Timestamp{{Type: ades.SignatureTimestamp, Name: said, Authority: said, Problems: []string{said}, Path: []report.CertificateStatus{path}}},
		Changes: []report.Change{
			{Revision: 2, Kind: ades.ChangeForm, Object: said, Where: said, Field: said, Page: 1},
			{Revision: 2, Kind: ades.ChangeForm, Object: said, Where: said, Field: said + "b", Page: 1},
		},
	}}}
}

func lines(t *testing.T, d report.Document) []string {
	t.Helper()
	var out bytes.Buffer
	if err := d.Text(&out, report.English); err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

// labelsOf are what stands where labels do, and heads.
func labelsOf(all []string) (labels []string) {
	for _, line := range all[1:] {
		if m := regexp.MustCompile(`^(?:    ([A-Z][A-Za-z ]*?)  |  (Signature \d+ of \d+|Details))`).FindStringSubmatch(line); m != nil {
			labels = append(labels, m[1]+m[2])
		}
	}
	return labels
}

// However much was changed, the text is short and has what is not permitted.
func TestManyChanges(t *testing.T) {
	s := report.Signature{Format: "PAdES-BASELINE-B", Indication: ades.TotalPassed, Intact: true, Coverage: ades.WholeRevision}
	for i := range 30_000 {
		s.Changes = append(s.Changes, report.Change{Revision: i/10 + 2, Kind: ades.ChangeForm, Page: i%500 + 1, Field: "field" + strings.Repeat("x", i%50), Permitted: true})
	}
	s.Changes = append(s.Changes, report.Change{Revision: 4000, Kind: ades.ChangeContent, Page: 7})
	got := lines(t, report.Document{Signatures: []report.Signature{s}})
	text := strings.Join(strings.Fields(strings.Join(got, " ")), " ")
	if len(got) > 500 || !strings.Contains(text, "Revision 4000: The content of page 7 was changed (not permitted)") || !strings.Contains(text, "and 2961 more") {
		t.Errorf("%d lines: %.2000s", len(got), text)
	}
}
