package report_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/ades/report"
	"github.com/innsigli/innsigli/pades"
)

// spoken is a report's text in one line.
func spoken(t *testing.T, d report.Document, l report.Language) string {
	t.Helper()
	var out bytes.Buffer
	if err := d.Text(&out, l); err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(out.String()), " ")
}

// Which package an error is of is for engineers, and is left in JSON alone. Names of files and people stay.
func TestTextWithoutPackages(t *testing.T) {
	for said, want := range map[string]string{
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
		s := report.Signature{
			Indication: ades.Indeterminate, Problems: []string{said}, Warnings: []string{said},
			Timestamps: []report.Timestamp{{Problems: []string{said}}},
		}
		for _, l := range []report.Language{report.English, report.Icelandic} {
			if got := spoken(t, report.Document{Signatures: []report.Signature{s}}, l); strings.Count(got, " "+want) != 3 {
				t.Errorf("%q: want %q in %s", said, want, got)
			}
		}
	}
	err := fmt.Errorf("%w: pdf: opening: %w", ades.ErrUnreadable, errors.New("damaged PDF"))
	if got := spoken(t, report.Unread("a.pdf", err), report.English); got != "a.pdf The document cannot be read: opening: damaged PDF" {
		t.Error(got)
	}
	if got := report.Unread("a.pdf", err).Error; got != err.Error() {
		t.Error(got)
	}
}

// A certificate that has expired did lead to a root, which the text does not deny.
func TestTrustOfTheExpired(t *testing.T) {
	t.Parallel()
	s := newScene(t, "Jóna Jónsdóttir")
	signed := s.pdf(t, ades.B, pades.Options{})
	for _, test := range []struct {
		name    string
		options ades.VerifyOptions
		en, is  string
	}{
		{"expired", ades.VerifyOptions{Time: s.signer.Certificate.NotAfter.Add(time.Hour), Roots: s.ca.Roots()},
			"Trust does not lead to a root that is trusted here by certificates that could all be relied upon on 17 June 2031, 13:00:00 UTC Signed",
			"Traust verða ekki rakin til neins sem er treyst hér með skilríkjum sem öll voru gild og traust 17. júní 2031 kl. 13:00:00 UTC Undirritað"},
		{"of nobody", ades.VerifyOptions{Time: signedAt},
			"Trust does not lead to a root that is trusted here Signed", "Traust verða ekki rakin til neins sem er treyst hér Undirritað"},
	} {
		r, err := pades.Verify(t.Context(), pdfOf(signed), test.options)
		if err != nil {
			t.Fatal(err)
		}
		for l, want := range map[report.Language]string{report.English: test.en, report.Icelandic: test.is} {
			if got := spoken(t, report.Of("a.pdf", r), l); !strings.Contains(got, want) {
				t.Errorf("%s: want %q in %s", test.name, want, got)
			}
		}
	}
}

// Nothing is said of trust where the certificate was not judged.
func TestTrustNotJudged(t *testing.T) {
	s := report.Signature{Indication: ades.TotalFailed, SubIndication: ades.FormatFailure, Certificate: &report.Certificate{Name: "Jóna"}}
	if got := spoken(t, report.Document{Signatures: []report.Signature{s}}, report.English); strings.Contains(got, "Trust") {
		t.Error(got)
	}
}

// Certificates of a day are in force from an hour to an hour.
func TestCertificateOfADay(t *testing.T) {
	day := report.Certificate{Name: "Jóna", NotBefore: report.Time{Time: signedAt}, NotAfter: report.Time{Time: signedAt.Add(time.Hour)}}
	path := []report.CertificateStatus{{Certificate: day, Revocation: ades.RevocationNotNeeded}}
	s := report.Signature{Indication: ades.TotalPassed, Certificate: &day, Path: path, Timestamps: []report.Timestamp{{Path: path}}}
	for l, want := range map[report.Language]string{
		report.English:   "in force from 17 June 2026, 12:00:00 UTC to 17 June 2026, 13:00:00 UTC; ",
		report.Icelandic: "í gildi frá 17. júní 2026 kl. 12:00:00 UTC til 17. júní 2026 kl. 13:00:00 UTC; ",
	} {
		if got := spoken(t, report.Document{Signatures: []report.Signature{s}}, l); strings.Count(got, want) != 2 {
			t.Error(got)
		}
	}
}

// What a timestamp comes to, in the words of the standard.
func TestIndicationOfTimestamps(t *testing.T) {
	for want, stamp := range map[string]ades.TimestampReport{
		"PASSED": {Intact: true, Trusted: true}, "INDETERMINATE": {Intact: true}, "FAILED": {},
	} {
		d := report.Of("a.pdf", &ades.Report{Signatures: []ades.SignatureReport{{Timestamps: []ades.TimestampReport{stamp}}}})
		if got := d.Signatures[0].Timestamps[0].Indication; got != want {
			t.Errorf("%+v: %s", stamp, got)
		}
	}
}
