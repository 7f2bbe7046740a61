package report_test

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/ades/report"
	"github.com/innsigli/innsigli/pades"
)

// documents are reports on files that were signed here, and one of values that need no file.
func documents(t *testing.T) []report.Document {
	t.Helper()
	s := newScene(t, "Jóna Jónsdóttir")
	proven := s.pdf(t, ades.LTA, pades.Options{Name: "Jóna Jónsdóttir", Reason: "Samþykki", Location: "Reykjavík"})
	plain := s.pdf(t, ades.B, pades.Options{Name: "Somebody Else"})
	broken := bytes.Replace(plain, []byte("842"), []byte("841"), 1)
	return []report.Document{
		report.Of("proven.pdf", s.judgedPDF(t, proven, true)),
		report.Of("untrusted.pdf", s.judgedPDF(t, proven, false)),
		report.Of("plain.pdf", s.judgedPDF(t, plain, true)),
		report.Of("broken.pdf", s.judgedPDF(t, broken, true)),
		report.Of("twice.xml", s.judgedXML(t)),
		report.Of("contract.pdf", contract(s)),
		report.Of("changed.pdf", changed(s)),
		report.Of("unsigned.pdf", &ades.Report{}),
		report.Unread("letter.txt", errors.New("neither a PDF nor XML")),
	}
}

// changed is a report on a document that much was done to after it was signed.
func changed(s scene) *ades.Report {
	first := ades.SignatureReport{
		Name: "Signature1", Format: "PAdES-BASELINE-LT", Indication: ades.TotalPassed, Intact: true, Coverage: ades.WholeRevision, CoveredBytes: 1000,
		Certificate: s.signer.Certificate, Chain: s.ca.Chain(), Path: s.path(), ClaimedTime: signedAt,
		BestTime: signedAt.Add(time.Second), JudgedAt: signedAt.Add(time.Second),
		Timestamps: []ades.TimestampReport{{Type: ades.SignatureTimestamp, Time: signedAt.Add(time.Second), Intact: true, Trusted: true, Authority: s.ca.Root()}},
		Warnings:   []string{"The key is weak by the standards of tomorrow."},
		Changes: []ades.Change{
			{Revision: 2, Kind: ades.ChangeValidationData, Object: "20 0 R", Permitted: true},
			{Revision: 3, Kind: ades.ChangeForm, Object: "21 0 R", Field: "Kaupandi", Page: 1, Permitted: true},
			{Revision: 3, Kind: ades.ChangeForm, Object: "22 0 R", Field: "Verð", Page: 1, Permitted: true},
			{Revision: 3, Kind: ades.ChangeSignature, Object: "23 0 R", Field: "Signature2", Page: 3, Permitted: true},
			{Revision: 4, Kind: ades.ChangeContent, Object: "24 0 R", Where: "/Pages/Kids/1/Contents", Page: 2},
			{Revision: 4, Kind: ades.ChangeAnnotation, Object: "25 0 R", Page: 3},
			{Revision: 4, Kind: ades.ChangeAnnotation, Object: "26 0 R", Page: 4},
			{Revision: 4, Kind: ades.ChangeAnnotation, Object: "27 0 R", Page: 5},
			{Revision: 4, Kind: ades.ChangeAnnotation, Object: "28 0 R", Page: 7},
			{Revision: 4, Kind: ades.ChangeHidden, Object: "29 0 R"},
		},
	}
	second := first
	second.Name, second.Changes, second.Warnings, second.Timestamps, second.BestTime = "Signature2", first.Changes[4:], nil, nil, time.Time{}
	second.Indication, second.SubIndication, second.Format = ades.Indeterminate, ades.RevokedNoPOE, "PKCS7-B"
	second.JudgedAt, second.Path = signedAt.Add(time.Hour), s.path()
	second.Path[0].Revocation, second.Path[0].RevokedAt, second.Path[0].Reason = ades.RevocationRevoked, signedAt.Add(30*time.Minute), 1
	second.Path[0].Fetched = true
	second.Problems = []string{"The certificate is revoked."}
	return &ades.Report{Signatures: []ades.SignatureReport{first, second}}
}

// path is one from the signer to the root, by a response and a list.
func (s scene) path() []ades.CertificateStatus {
	by := func(kind ades.RevocationSource, c *x509.Certificate) ades.CertificateStatus {
		return ades.CertificateStatus{Certificate: c, Revocation: ades.RevocationGood, Source: kind, ProducedAt: signedAt, ThisUpdate: signedAt}
	}
	issuing, root := s.ca.Chain()[0], s.ca.Root()
	return []ades.CertificateStatus{
		by(ades.SourceOCSP, s.signer.Certificate), by(ades.SourceCRL, issuing), {Certificate: root, Revocation: ades.RevocationNotNeeded},
	}
}

// made are identifiers of elements, which are random.
var made = regexp.MustCompile(`signature-[A-Z2-7]{26}`)

// contract is one on a document with one page that was changed.
func contract(s scene) *ades.Report {
	r := changed(s)
	r.Signatures = r.Signatures[:1]
	one := &r.Signatures[0]
	one.Changes, one.Warnings = one.Changes[:5], nil
	one.Algorithm = ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.ECDSA}
	return r
}

// What the reports say, word for word. INNSIGLI_GOLDEN=1 writes the files.
func TestText(t *testing.T) {
	all := documents(t)
	for _, l := range []report.Language{report.English, report.Icelandic} {
		var got bytes.Buffer
		for i, d := range all {
			if i > 0 {
				got.WriteString("\n\n")
			}
			if err := d.Text(&got, l); err != nil {
				t.Fatal(err)
			}
		}
		text := made.ReplaceAllString(got.String(), "signature-AAAAAAAAAAAAAAAAAAAAAAAAAA")
		golden := filepath.Join("testdata", "text."+string(l)+".txt")
		if os.Getenv("INNSIGLI_GOLDEN") == "1" {
			if err := os.WriteFile(golden, []byte(text), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(golden)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(text, "\n")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", l, diff)
		}
	}
}
