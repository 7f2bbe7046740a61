package pades_test

import (
	"errors"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
)

// EN 319 142-1 6.3: the level that a signature has, and what it comes to.
func TestVerifyLevels(t *testing.T) {
	ca := newAuthority(t)
	for _, tt := range []struct {
		level      ades.Level
		format     string
		indication ades.Indication
		timestamps []ades.TimestampType
	}{
		{ades.B, "PAdES-BASELINE-B", ades.Indeterminate, nil},
		{ades.T, "PAdES-BASELINE-T", ades.Indeterminate, []ades.TimestampType{ades.SignatureTimestamp}},
		{ades.LT, "PAdES-BASELINE-LT", ades.TotalPassed, []ades.TimestampType{ades.SignatureTimestamp}},
		{ades.LTA, "PAdES-BASELINE-LTA", ades.TotalPassed, []ades.TimestampType{ades.SignatureTimestamp, ades.DocumentTimestamp}},
	} {
		t.Run(tt.level.String(), func(t *testing.T) {
			before := time.Now().Truncate(time.Second)
			signed := signLevel(t, pdftest.Build(pdftest.Options{}), newPerson(t, ca, p256(t)), tt.level)
			s := verify(t, signed, ca)[0]
			if s.Format != tt.format || s.Indication != tt.indication || !s.Passed() || len(s.Timestamps) != len(tt.timestamps) {
				t.Fatalf("%s, %s %s, %d timestamps: %v %+v", s.Format, s.Indication, s.SubIndication, len(s.Timestamps), s.Problems, s.Timestamps)
			}
			proven := tt.level >= ades.LT
			for i, stamp := range s.Timestamps {
				if stamp.Type != tt.timestamps[i] || !stamp.Intact || stamp.Trusted != proven || stamp.Authority == nil || stamp.Time.Before(before) || stamp.Time.After(time.Now()) {
					t.Errorf("%+v", stamp)
				}
			}
			if s.BestTime.IsZero() == proven {
				t.Errorf("proven at %v", s.BestTime)
			}
		})
	}
}

// Without its root, nothing of a signature is proven, and its level is that of the pieces that are there.
func TestLevelWithoutRoots(t *testing.T) {
	ca := newAuthority(t)
	signed := signLevel(t, pdftest.Build(pdftest.Options{}), newPerson(t, ca, p256(t)), ades.LTA)
	report, err := pades.Verify(t.Context(), document(signed), ades.VerifyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s := report.Signatures[0]
	if s.Format != "PAdES-BASELINE-LTA" || s.SubIndication != ades.NoCertificateChainFound || !s.BestTime.IsZero() || s.Timestamps[0].Trusted {
		t.Errorf("%+v", s)
	}
}

// EN 319 102-1 5.5.4: a signature that is proven to be from before stands.
func TestRevokedBeforeAndAfter(t *testing.T) {
	stamped, before, after := -time.Minute, -2*time.Minute, -30*time.Second
	for _, tt := range []struct {
		name    string
		level   ades.Level
		revoked time.Duration
		refused error // of the extension
		want    ades.Indication
		sub     ades.SubIndication
	}{
		{"after a timestamp that is proven", ades.LT, after, nil, ades.TotalPassed, ""},
		{"after a timestamp that is proven for long", ades.LTA, after, nil, ades.TotalPassed, ""},
		{"before the timestamp", ades.LT, before, ades.ErrRevoked, "", ""},
		{"nothing is known", ades.T, after, nil, ades.Indeterminate, ades.TryLater},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := newPerson(t, newAuthority(t), p256(t))
			b := signAt(t, pdftest.Build(pdftest.Options{}), p, tt.level, p.ca.Sources(sinceNow(stamped)))
			p.ca.Revoke(p.signer.Certificate.SerialNumber, time.Now().Add(tt.revoked), 1)
			revisions, err := pades.Extender{Sources: p.ca.Sources(nil)}.Extend(t.Context(), document(b), tt.level)
			if !errors.Is(err, tt.refused) {
				t.Fatal(err)
			}
			if tt.refused != nil {
				return
			}
			s := verify(t, appendAll(t, b, revisions), p.ca)[0]
			if s.Indication != tt.want || s.SubIndication != tt.sub {
				t.Errorf("%s %s: %v", s.Indication, s.SubIndication, s.Problems)
			}
		})
	}
}

// EN 319 102-1 5.6: long after, what proves a signature are its timestamps, for as long as
// the certificate of the last one is valid. The responder is no longer in force then, so that nobody says that
// the signer's had not been revoked (5.2.6.4).
func TestVerifyYearsLater(t *testing.T) {
	ca := newAuthority(t)
	signed := signLevel(t, pdftest.Build(pdftest.Options{}), newPerson(t, ca, p256(t)), ades.LTA)
	for years, want := range map[int]ades.SubIndication{0: "", 1: "", 4: "", 6: ades.OutOfBoundsNoPOE} {
		report, err := pades.Verify(t.Context(), document(signed), ades.VerifyOptions{Roots: ca.Roots(), Time: time.Now().AddDate(years, 0, 0)})
		if err != nil {
			t.Fatal(err)
		}
		if s := report.Signatures[0]; s.SubIndication != want {
			t.Errorf("after %d years: %s %s %v", years, s.Indication, s.SubIndication, s.Problems)
		}
	}
}

// The first signature has a timestamp from before the revocation, the second none.
func TestRevokedBetweenTwoSignatures(t *testing.T) {
	ca := newAuthority(t)
	p := newPerson(t, ca, p256(t))
	b := signAt(t, pdftest.Build(pdftest.Options{}), p, ades.T, ca.Sources(sinceNow(-time.Minute)))
	ca.Revoke(p.signer.Certificate.SerialNumber, time.Now().Add(-30*time.Second), 1)
	b = sign(t, extend(t, b, ades.LT, ca.Sources(nil)), p, pades.Options{})
	got := verify(t, b, ca)
	if s := got[0]; s.Indication != ades.TotalPassed || s.BestTime.IsZero() {
		t.Errorf("the first: %s %s %v", s.Indication, s.SubIndication, s.Problems)
	}
	if s := got[1]; s.Indication != ades.Indeterminate || s.SubIndication != ades.RevokedNoPOE || s.Passed() {
		t.Errorf("the second: %s %s %v", s.Indication, s.SubIndication, s.Problems)
	}
}
