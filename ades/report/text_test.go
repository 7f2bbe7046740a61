package report

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/pades"
)

var languages = []Language{English, Icelandic}

// randomID matches the random identifiers of elements.
var randomID = regexp.MustCompile(`signature-[A-Z2-7]{26}`)

// TestText compares texts with golden files, which INNSIGLI_GOLDEN=1 writes.
func TestText(t *testing.T) {
	all := reports(t)
	for _, l := range languages {
		var texts []string
		for _, d := range all {
			texts = append(texts, randomID.ReplaceAllString(textOf(t, d, l), "signature-"+strings.Repeat("A", 26)))
		}
		path := filepath.Join("testdata", "text."+string(l)+".txt")
		compareGolden(t, path, strings.Join(texts, "\n\n"))
	}
}

// TestHandbook compares the samples in docs/verifying.md with the texts, which INNSIGLI_GOLDEN=1 writes.
func TestHandbook(t *testing.T) {
	path := filepath.Join(testenv.Root(t), "docs", "verifying.md")
	d := newScene(t).contract()
	samples := []string{textOf(t, d, English), textOf(t, d, Icelandic)}
	n := 0
	page := regexp.MustCompile("(?ms)^```text\n.*?^```$").ReplaceAllStringFunc(string(testenv.ReadFile(t, path)), func(block string) string {
		if n++; n > len(samples) {
			return block
		}
		return "```text\n" + samples[n-1] + "```"
	})
	if n != len(samples) {
		t.Errorf("%d samples, want %d", n, len(samples))
	}
	compareGolden(t, path, page)
}

// compareGolden compares a text with a file, or writes it with INNSIGLI_GOLDEN=1.
func compareGolden(t *testing.T, path, text string) {
	t.Helper()
	if os.Getenv("INNSIGLI_GOLDEN") == "1" {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(strings.Split(string(testenv.ReadFile(t, path)), "\n"), strings.Split(text, "\n")); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// TestVerdict checks the sentence about the document: the most serious problem, and the numbers of the
// signatures that have it.
func TestVerdict(t *testing.T) {
	with := func(indication ades.Indication, sub ades.SubIndication, coverage ades.Coverage, changes ...ades.Change) ades.SignatureReport {
		return ades.SignatureReport{Format: "PAdES-BASELINE-LT", Indication: indication, SubIndication: sub, Intact: true, Coverage: coverage, Changes: changes}
	}
	sound := with(ades.TotalPassed, "", ades.WholeDocument)
	failed := with(ades.TotalFailed, ades.HashFailure, ades.WholeDocument)
	unconfirmed := with(ades.Indeterminate, ades.NoCertificateChainFound, ades.WholeDocument)
	later := with(ades.Indeterminate, ades.TryLater, ades.WholeDocument)
	changed := with(ades.TotalPassed, "", ades.WholeDocument, ades.Change{Revision: 2, Kind: ades.ChangePages})
	partial, earlier := with(ades.TotalPassed, "", ades.Partial), with(ades.TotalPassed, "", ades.WholeRevision)
	counter := partial
	counter.CounterSignature = true
	for name, row := range map[string]struct {
		signatures []ades.SignatureReport
		en, is     string
	}{
		"one valid":                    {[]ades.SignatureReport{sound}, "The document is signed. Its signature is valid.", "Skjalið er undirritað. Undirskriftin er gild."},
		"several valid":                {[]ades.SignatureReport{earlier, sound}, "All of its signatures are valid.", "Allar undirskriftirnar eru gildar."},
		"counter-signature":            {[]ades.SignatureReport{sound, counter}, "All of its signatures are valid.", "Allar undirskriftirnar eru gildar."},
		"no revocation data":           {[]ades.SignatureReport{earlier, later}, "No fault was found in its signatures", "Ekkert fannst að undirskriftunum"},
		"one failed":                   {[]ades.SignatureReport{failed}, "its signature is not valid.", "undirskriftin er ógild."},
		"one changed, one failed":      {[]ades.SignatureReport{changed, failed}, "signature 2 is not valid.", "undirskrift 2 er ógild."},
		"three failed":                 {[]ades.SignatureReport{failed, failed, failed, sound}, "signatures 1–3 are not valid.", "undirskriftir 1–3 eru ógildar."},
		"one unconfirmed, one changed": {[]ades.SignatureReport{unconfirmed, changed}, "it was changed after signature 2,", "því var breytt eftir undirskrift 2,"},
		"one partial, one unconfirmed": {[]ades.SignatureReport{partial, unconfirmed}, "signature 2 is not confirmed.", "undirskrift 2 er óstaðfest."},
		"one partial":                  {[]ades.SignatureReport{sound, partial}, "signature 2 covers only a part of it.", "undirskrift 2 nær aðeins yfir hluta þess."},
		"content after the last":       {[]ades.SignatureReport{earlier}, "something was added after its signature.", "einhverju var bætt við eftir undirskriftina."},
	} {
		d := New("a.pdf", &ades.Report{Signatures: row.signatures})
		for i, want := range []string{row.en, row.is} {
			verdict, _, _ := strings.Cut(textOf(t, d, languages[i]), "\n\n")
			got := oneLine(verdict)
			if !strings.Contains(got, want) || i == 0 && strings.Contains(got, "The document is signed.") != d.Passed {
				t.Errorf("%s: got %q, want %q; passed: %t", name, got, want, d.Passed)
			}
		}
	}
}

// TestMessages checks that messages have no prefixes of packages, and that names of files and people are
// not taken for such prefixes.
func TestMessages(t *testing.T) {
	for message, want := range map[string]string{
		"ades: no certificate chain":                         "no certificate chain",
		"The response of CN=A: ocsp: the status is unknown.": "The response of CN=A: the status is unknown.",
		"pades: value: pdf: object 101 0: damaged PDF":       "value: object 101 0: damaged PDF",
		"xades: xmldsig: digest differs":                     "digest differs",
		"ades: one\nades: another":                           "one another",
		"cms: digest differs; tsp: no time":                  "digest differs; no time",
		"open pdf: no such file":                             "open pdf: no such file",
		"open /a/pades: no such file":                        "open /a/pades: no such file",
		"Owner of pades: Jóna":                               "Owner of pades: Jóna",
		"pdf:x":                                              "pdf:x",
	} {
		s := Signature{
			Indication: ades.Indeterminate, Problems: []string{message}, Warnings: []string{message}, Timestamps: []Timestamp{{Problems: []string{message}}},
		}
		for _, l := range languages {
			if got := oneLine(textOf(t, Document{Signatures: []Signature{s}}, l)); strings.Count(got, " "+want) != 3 {
				t.Errorf("%q: want %q three times in %s", message, want, got)
			}
		}
	}
	err := fmt.Errorf("%w: pdf: opening: %w", ades.ErrUnreadable, errors.New("damaged PDF"))
	unread := Unreadable("a.pdf", err)
	if got := oneLine(textOf(t, unread, English)); got != "a.pdf The document cannot be read: opening: damaged PDF" || unread.Error != err.Error() {
		t.Errorf("unread: got %q and %q", got, unread.Error)
	}
}

// TestTrust checks the sentence about the certificate: expired at the time of the validation, without a
// root, and not validated; and the validity period of certificates for an hour.
func TestTrust(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	signed := s.pdf(t, ades.B, pades.Options{})
	verified := func(o ades.VerifyOptions) Document {
		r, err := pades.Verify(t.Context(), pdfOf(signed), o)
		if err != nil {
			t.Fatal(err)
		}
		return New("a.pdf", r)
	}
	notValidated := Signature{Indication: ades.TotalFailed, SubIndication: ades.FormatFailure, Certificate: &Certificate{Name: "Jóna"}}
	hour := Certificate{Name: "Jóna", NotBefore: Time{signedAt}, NotAfter: Time{signedAt.Add(time.Hour)}}
	path := []CertificateStatus{{Certificate: hour, Revocation: ades.RevocationNotNeeded}}
	forHour := Signature{Indication: ades.TotalPassed, Certificate: &hour, Path: path, Timestamps: []Timestamp{{Path: path}}}
	for name, row := range map[string]struct {
		d      Document
		en, is string
		times  int
	}{
		"expired": {verified(ades.VerifyOptions{Time: s.signer.Certificate.NotAfter.Add(time.Hour), Roots: s.ca.Roots()}),
			"Trust does not lead to a root that is trusted here through certificates that were all valid and trusted on 17 June 2031, 13:00:00 UTC Signed",
			"Traust verða ekki rakin til neins sem er treyst hér með skilríkjum sem öll voru gild og traust 17. júní 2031 kl. 13:00:00 UTC Undirritað", 1},
		"no roots": {verified(ades.VerifyOptions{Time: signedAt}),
			"Trust does not lead to a root that is trusted here Signed", "Traust verða ekki rakin til neins sem er treyst hér Undirritað", 1},
		"not validated": {Document{Signatures: []Signature{notValidated}}, "Trust", "Traust", 0},
		"valid for an hour": {Document{Signatures: []Signature{forHour}}, "valid from 17 June 2026, 12:00:00 UTC to 17 June 2026, 13:00:00 UTC; ",
			"í gildi frá 17. júní 2026 kl. 12:00:00 UTC til 17. júní 2026 kl. 13:00:00 UTC; ", 2},
	} {
		for i, want := range []string{row.en, row.is} {
			if got := oneLine(textOf(t, row.d, languages[i])); strings.Count(got, want) != row.times {
				t.Errorf("%s: want %q %d times in %s", name, want, row.times, got)
			}
		}
	}
}

// TestHostileContent checks that content of a document stays beside its label: it adds no lines with
// labels, moves no cursor, changes no direction of text, and is not long.
func TestHostileContent(t *testing.T) {
	const controls = "Jóna\u202e\u2066\u200f\r\n\n  Signature 2 of 2: X\n    Verdict     Valid.\x1b[2J\x1b]0;t\x07\u009b31m\t\u2028\u00ad\ufeff\xff\U000e0041"
	labels := regexp.MustCompile(`(?m)^(?:    ([A-Z][A-Za-z ]*?)  |  (Signature \d+ of \d+|Details))`)
	want := labels.FindAllString(textOf(t, filledWith("a"), English), -1)
	forbidden := func(r rune) bool { // the report adds isolates
		return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) && r != '\u2068' && r != '\u2069' || unicode.In(r, unicode.Zl, unicode.Zp, unicode.Co)
	}
	for name, content := range map[string]string{
		"control characters": controls, "long": strings.Repeat("x", 10_000), "long and wide": strings.Repeat("漢", 5000),
		"combining marks": "a" + strings.Repeat("\u0301", 1000), "spaces": strings.Repeat(" ", 5000) + "x", "right to left": "שלום עולם",
		"names in braces": "{who} {n} {all}", "private use": "\ue000\ufffe\U0010ffff", "sentences": strings.Repeat("Valid. ", 1000),
	} {
		text := strings.TrimSuffix(textOf(t, filledWith(content), English), "\n")
		if diff := cmp.Diff(want, labels.FindAllString(text, -1)); diff != "" {
			t.Errorf("%s: labels (-want +got):\n%s\n%s", name, diff, text)
		}
		lines := strings.Split(text, "\n")
		if len(lines) > 250 {
			t.Errorf("%s: %d lines, want at most 250", name, len(lines))
		}
		for _, line := range lines {
			isolated := strings.Count(line, firstStrongIsolate) == strings.Count(line, popIsolate)
			if strings.ContainsFunc(line, forbidden) || widthOf(line) > columns || !isolated {
				t.Errorf("%s: %d columns: %q", name, widthOf(line), line)
			}
		}
	}
}

// filledWith is a report in which all texts from a document are the same.
func filledWith(text string) Document {
	certificate := Certificate{Name: text, Subject: text, Issuer: text}
	path := CertificateStatus{Certificate: certificate, Revocation: ades.RevocationRevoked, Source: ades.SourceOCSP}
	return Document{File: text, Signatures: []Signature{{
		Name: text, Format: "PAdES-BASELINE-B", Indication: ades.TotalFailed, SubIndication: ades.HashFailure, Coverage: ades.WholeRevision,
		Signer: text, SerialNumber: text, Issuer: text, Certificate: &certificate, Chain: []Certificate{certificate},
		Path: []CertificateStatus{path, path, path}, SignerName: "?" + text, Reason: text, Location: text, Problems: []string{text}, Warnings: []string{text},
		Timestamps: []Timestamp{{Type: ades.SignatureTimestamp, Name: text, Authority: text, Problems: []string{text}, Path: []CertificateStatus{path}}},
		Changes: []Change{
			{Revision: 2, Kind: ades.ChangeForm, Object: text, Where: text, Field: text, Page: 1},
			{Revision: 2, Kind: ades.ChangeForm, Object: text, Where: text, Field: text + "b", Page: 1},
		},
	}}}
}

// TestManyChanges checks that the text stays short, and contains the one change that is not permitted.
func TestManyChanges(t *testing.T) {
	s := Signature{Format: "PAdES-BASELINE-B", Indication: ades.TotalPassed, Intact: true, Coverage: ades.WholeRevision}
	for i := range 30_000 {
		s.Changes = append(s.Changes, Change{Revision: i/10 + 2, Kind: ades.ChangeForm, Page: i%500 + 1, Field: "field" + strings.Repeat("x", i%50), Permitted: true})
	}
	s.Changes = append(s.Changes, Change{Revision: 4000, Kind: ades.ChangeContent, Page: 7})
	text := textOf(t, Document{Signatures: []Signature{s}}, English)
	if lines := strings.Count(text, "\n"); lines > 500 {
		t.Errorf("%d lines, want at most 500", lines)
	}
	for _, want := range []string{"Revision 4000: The content of page 7 was changed (not permitted)", "and 2961 more"} {
		if !strings.Contains(oneLine(text), want) {
			t.Errorf("no %q in %.2000s", want, text)
		}
	}
}

func textOf(t *testing.T, d Document, l Language) string {
	t.Helper()
	var out bytes.Buffer
	if err := d.Text(&out, l); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// oneLine joins the words of a text by single spaces.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
