package validation_test

import (
	"crypto"
	"errors"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/validation"
)

// EN 319 102-1 5.2.8: nobody signs at a time at which the certificate is not valid. Revocation decides before
// that, and data that is still to arrive does not mend it.
func TestClaimedTimes(t *testing.T) {
	s := newScene(t)
	s.ca.Revoke(s.signer.SerialNumber, time.Now().Add(-time.Second), 1)
	revoked := s.lists(t)
	now := time.Now()
	first, last := s.signer.NotBefore, s.signer.NotAfter
	for name, test := range map[string]struct {
		claimed time.Time
		data    *validation.Data
		want    ades.SubIndication
	}{
		"now":                      {now, s.data, ""},
		"the first second":         {first, s.data, ""},
		"elsewhere":                {first.In(time.FixedZone("", 12*3600)), s.data, ""},
		"the last second":          {last.Add(time.Second - 1), s.data, ""},
		"before":                   {first.Add(-1), s.data, ades.SigConstraintsFailure},
		"after":                    {last.Add(time.Second), s.data, ades.SigConstraintsFailure},
		"never":                    {time.Time{}, s.data, ades.SigConstraintsFailure},
		"before, and without data": {first.Add(-time.Hour), new(validation.Data), ades.SigConstraintsFailure},
		"before, and revoked":      {first.Add(-time.Hour), revoked, ades.RevokedNoPOE},
	} {
		r := ades.SignatureReport{Certificate: s.signer, ClaimedTime: test.claimed, Algorithm: ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.ECDSA}}
		validation.Judge{Data: test.data, Time: now}.Signer(&r, s.known)
		if r.SubIndication != test.want || r.Passed() && test.want != "" {
			t.Errorf("%s: %s %s %q, want %s", name, r.Indication, r.SubIndication, r.Problems, test.want)
		}
	}
	if err := validation.CheckClaimedTime(s.signer, last.Add(time.Hour)); !errors.Is(err, ades.ErrOutsideValidity) {
		t.Errorf("after: %v", err)
	}
}
