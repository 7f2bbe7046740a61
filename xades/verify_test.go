package xades_test

import (
	"crypto/x509"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/xades"
)

// summary is what a signature comes to.
type summary struct {
	Format        string
	Indication    ades.Indication
	SubIndication ades.SubIndication
	Coverage      ades.Coverage
	Intact        bool
	Stamps        []ades.TimestampType // that are trusted
}

func summarize(s ades.SignatureReport) summary {
	got := summary{Format: s.Format, Indication: s.Indication, SubIndication: s.SubIndication, Coverage: s.Coverage, Intact: s.Intact}
	for _, stamp := range s.Timestamps {
		if stamp.Trusted {
			got.Stamps = append(got.Stamps, stamp.Type)
		}
	}
	return got
}

// What is verified of each packing and level (EN 319 102-1 5, EN 319 132-1 6.3).
func TestVerify(t *testing.T) {
	t.Parallel()
	p := newPerson(t, newAuthority(t), p256(t))
	const signature, archive = ades.SignatureTimestamp, ades.ArchiveTimestamp
	wants := []summary{
		ades.B:   {"XAdES-BASELINE-B", ades.Indeterminate, ades.TryLater, ades.WholeDocument, true, nil},
		ades.T:   {"XAdES-BASELINE-T", ades.Indeterminate, ades.TryLater, ades.WholeDocument, true, nil}, // nothing is known of the authority
		ades.LT:  {"XAdES-BASELINE-LT", ades.TotalPassed, "", ades.WholeDocument, true, []ades.TimestampType{signature}},
		ades.LTA: {"XAdES-BASELINE-LTA", ades.TotalPassed, "", ades.WholeDocument, true, []ades.TimestampType{signature, archive}},
	}
	for _, k := range packings {
		for _, level := range []ades.Level{ades.B, ades.T, ades.LT, ades.LTA} {
			got := verify(t, signLevel(t, []byte(contract), p, level, k.options()), p.ca)
			if len(got) != 1 {
				t.Fatalf("%s, %v: %d signatures", k.name, level, len(got))
			}
			if diff := cmp.Diff(wants[level], summarize(got[0])); diff != "" {
				t.Errorf("%s, %v (-want +got):\n%s%q", k.name, level, diff, got[0].Problems)
			}
			if got[0].BestTime.IsZero() != (level < ades.LT) || !got[0].Certificate.Equal(p.signer.Certificate) || len(got[0].Chain) < 2 {
				t.Errorf("%s, %v: best time %v, chain of %d", k.name, level, got[0].BestTime, len(got[0].Chain))
			}
		}
	}
}

// What the signer says is reported, in whatever characters.
func TestVerifyTellsWhatTheSignerSays(t *testing.T) {
	t.Parallel()
	p := newPerson(t, newAuthority(t), p256(t))
	at := time.Now().UTC().Truncate(time.Second)
	for _, test := range []struct{ city, country, want string }{
		{"Reykjavík", "Ísland", "Reykjavík, Ísland"}, {"Reykjavík", "", "Reykjavík"}, {"", "Ísland", "Ísland"}, {"", "", ""},
	} {
		got := verify(t, sign(t, []byte(contract), p, xades.Options{City: test.city, Country: test.country, Reason: "Þinglýsing <1>", Time: at}), p.ca)[0]
		if got.Location != test.want || got.Reason != "Þinglýsing <1>" || !got.ClaimedTime.Equal(at) || got.Name == "" {
			t.Errorf("%q, %q, %v, %q; want %q", got.Location, got.Reason, got.ClaimedTime, got.Name, test.want)
		}
	}
}

// Signatures are told in the order in which they were made. One that another signs covers the document as it
// was before that.
func TestVerifyOfSeveral(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	first, second := newPerson(t, ca, p256(t)), newPerson(t, ca, p256(t))
	for _, k := range packings {
		signed := sign(t, sign(t, []byte(contract), first, k.options()), second, k.options())
		got := verify(t, signed, ca)
		if len(got) == 1 && k.base64 { // the first is in the file that the second signs
			continue
		}
		if len(got) != 2 || !got[0].Certificate.Equal(first.signer.Certificate) || !got[1].Certificate.Equal(second.signer.Certificate) {
			t.Fatalf("%s: %+v", k.name, got)
		}
		want := []ades.Coverage{ades.WholeDocument, ades.WholeDocument}
		if k.packing == xades.Enveloping {
			want[0] = ades.WholeRevision
		}
		if diff := cmp.Diff(want, []ades.Coverage{got[0].Coverage, got[1].Coverage}); diff != "" {
			t.Errorf("%s (-want +got):\n%s%q", k.name, diff, got[0].Problems)
		}
		if r := (ades.Report{Signatures: got}); !r.Passed() {
			t.Errorf("%s: %+v", k.name, got)
		}
	}
}

// EN 319 102-1 5.5.4: with its validation data a signature outlives its certificate, as long as the timestamp
// authority's stands.
func TestVerifyLater(t *testing.T) {
	t.Parallel()
	p := newPerson(t, newAuthority(t), p256(t))
	brief := *p.signer.Certificate
	brief.NotAfter = time.Now().Add(time.Hour)
	cert, err := p.ca.IssueProfile(&brief, p.key.Public())
	if err != nil {
		t.Fatal(err)
	}
	p.signer.Certificate = cert
	stamped := verify(t, signLevel(t, []byte(contract), p, ades.LTA, xades.Options{}), p.ca)[0].Timestamps[1].Authority
	for _, test := range []struct {
		name  string
		level ades.Level
		at    time.Time
		want  ades.SubIndication
	}{
		{"B, in time", ades.B, cert.NotAfter, ades.TryLater},
		{"B, expired", ades.B, cert.NotAfter.Add(time.Hour), ades.CertificateChainGeneralFailure},
		{"T, expired", ades.T, cert.NotAfter.Add(time.Hour), ades.CertificateChainGeneralFailure},
		{"LT, expired", ades.LT, cert.NotAfter.Add(time.Hour), ""},
		{"LTA, expired", ades.LTA, cert.NotAfter.Add(time.Hour), ""},
		{"LTA, timestamp authority expired", ades.LTA, stamped.NotAfter.Add(time.Hour), ades.OutOfBoundsNoPOE},
		{"before it was made", ades.B, cert.NotBefore.Add(-time.Hour), ades.CertificateChainGeneralFailure},
	} {
		signed := signLevel(t, []byte(contract), p, test.level, xades.Options{})
		report, err := xades.Verify(t.Context(), document(signed), ades.VerifyOptions{Roots: p.ca.Roots(), Time: test.at})
		if err != nil {
			t.Fatal(err)
		}
		if got := report.Signatures[0]; got.SubIndication != test.want {
			t.Errorf("%s: %s %s %q, want %q", test.name, got.Indication, got.SubIndication, got.Problems, test.want)
		}
	}
}

// Each signature is judged by its own validation data.
func TestVerifyByItsOwnEvidence(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	first, second := newPerson(t, ca, p256(t)), newPerson(t, ca, p256(t))
	signed := signFor(t, signLevel(t, []byte(contract), first, ades.LT, xades.Options{}), second, ades.T, xades.Options{})
	got := verify(t, signed, ca)
	if got[0].Indication != ades.TotalPassed || got[1].SubIndication != ades.TryLater || got[1].Format != "XAdES-BASELINE-T" {
		t.Errorf("%+v", got)
	}
}

func TestVerifyUnsigned(t *testing.T) {
	t.Parallel()
	report, err := xades.Verify(t.Context(), document([]byte(contract)), ades.VerifyOptions{})
	if err != nil || len(report.Signatures) > 0 || report.Passed() {
		t.Errorf("%+v, %v", report, err)
	}
	for _, b := range []string{"", "no XML", "<a>", "<!DOCTYPE a><a/>", "<a/><b/>", "%PDF-1.7"} {
		if _, err := xades.Verify(t.Context(), document([]byte(b)), ades.VerifyOptions{}); !errors.Is(err, ades.ErrUnreadable) {
			t.Errorf("%q: %v", b, err)
		}
	}
}

// A certificate that was issued for something else signs no XML.
func TestPurposeOfTheCertificate(t *testing.T) {
	t.Parallel()
	p := newPerson(t, newAuthority(t), p256(t))
	template := *p.signer.Certificate
	template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	certificate, err := p.ca.IssueProfile(&template, p.key.Public())
	if err != nil {
		t.Fatal(err)
	}
	p.signer.Certificate = certificate
	document := xades.Document{ReaderAt: strings.NewReader(contract), Size: int64(len(contract))}
	if _, err := xades.Prepare(t.Context(), document, p.signer, xades.Options{}); !errors.Is(err, ades.ErrPurpose) {
		t.Error(err)
	}
}
