package validation_test

import (
	"crypto"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/validation"
)

// EN 319 102-1 5.2.6.4: a certificate that has expired is known not to be revoked while who says so is in force.
func TestExpiredAndWhatIsKnown(t *testing.T) {
	s := newScene(t)
	now := time.Now()
	expired := s.signer.NotAfter.Add(time.Hour)
	for name, test := range map[string]struct {
		data *validation.Data
		at   time.Time
		want ades.SubIndication
	}{
		"nothing is known":                      {new(validation.Data), expired, ades.CertificateChainGeneralFailure},
		"by a responder that has expired":       {s.data, expired, ades.OutOfBoundsNoPOE},
		"by an authority in force":              {s.lists(t), expired, ades.OutOfBoundsNotRevoked},
		"by an authority that has expired":      {s.lists(t), now.AddDate(16, 0, 0), ades.OutOfBoundsNoPOE},
		"in force, by what is no longer enough": {s.data, now.AddDate(2, 0, 0), ades.RevocationOutOfBoundsNoPOE},
	} {
		r := ades.SignatureReport{Certificate: s.signer, ClaimedTime: now, Algorithm: ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.ECDSA}}
		validation.Judge{Data: test.data, Time: test.at}.Signer(&r, s.known)
		if r.SubIndication != test.want || r.Passed() {
			t.Errorf("%s: %s %s %q, want %s", name, r.Indication, r.SubIndication, r.Problems, test.want)
		}
	}
}
