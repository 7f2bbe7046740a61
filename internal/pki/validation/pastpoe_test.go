package validation_test

import (
	"crypto"
	"crypto/x509"
	"iter"
	"slices"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/validation"
)

// EN 319 102-1 5.6.2.3: revocation data stands while those who signed it are in force, or longer where it is
// proven to be from before.
func TestEvidenceOfTheExpired(t *testing.T) {
	s := newScene(t)
	now := time.Now()
	proven := func(all ...validation.POE) iter.Seq[validation.POE] { return slices.Values(all) }
	responderExpired, signerExpired, issuerExpired := now.AddDate(2, 0, 0), now.AddDate(6, 0, 0), now.AddDate(16, 0, 0)
	for _, test := range []struct {
		name   string
		data   *validation.Data
		at     time.Time
		proven iter.Seq[validation.POE]
		before ades.SubIndication
		want   ades.SubIndication
	}{
		{"all in force", s.data, now, proven(), "", ""},
		{"responder expired", s.data, responderExpired, proven(), "", ades.RevocationOutOfBoundsNoPOE},
		{"responder and signer expired", s.data, signerExpired, proven(), "", ades.OutOfBoundsNoPOE},
		{"responder expired, and the data is from before", s.data, responderExpired, proven(validation.POE{Data: s.data, At: now}), "", ""},
		{"responder expired, and the data is from later", s.data, responderExpired, proven(validation.POE{Data: s.data, At: signerExpired}), "", ades.RevocationOutOfBoundsNoPOE},
		{"responder expired, and other data is from before", s.data, responderExpired, proven(validation.POE{Data: new(validation.Data), At: now}), "", ades.RevocationOutOfBoundsNoPOE},
		{"lists of an authority in force", s.lists(t), responderExpired, proven(), "", ""},
		{"lists of an authority that has expired", s.lists(t), issuerExpired, proven(), "", ades.OutOfBoundsNoPOE},
		{"nothing is as good as a failure", s.data, responderExpired, proven(), ades.HashFailure, ades.HashFailure},
	} {
		r := ades.SignatureReport{
			Certificate: s.signer, BestTime: now, Chain: append([]*x509.Certificate{s.signer}, s.ca.Chain()...),
			Algorithm: ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.ECDSA},
		}
		if test.before != "" {
			r.Fail(ades.TotalFailed, test.before, "before")
		}
		test.data.ShareLimit(s.known)
		validation.Judge{Data: test.data, Time: test.at}.PastValidation(&r, test.proven)
		if r.SubIndication != test.want || (r.Indication == "") != (test.want == "") {
			t.Errorf("%s: %s %s %q, want %s", test.name, r.Indication, r.SubIndication, r.Problems, test.want)
		}
	}
}
