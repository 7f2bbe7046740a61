package validation_test

import (
	"crypto"
	"crypto/elliptic"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/validation"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
)

// found is a status without its certificate and the times of its proof.
type found struct {
	Name       string
	Revocation ades.RevocationStatus
	Source     ades.RevocationSource
	Reason     int
	Revoked    bool
	Fetched    bool
}

const (
	ofIssuing = "Innsigli Sandbox Issuing"
	ofRoot    = "Innsigli Sandbox Root"
)

// root is what every path ends with.
var root = found{Name: ofRoot, Revocation: ades.RevocationNotNeeded}

// foundIn are the statuses of a path, whose proofs have their times and no others have any.
func foundIn(t *testing.T, path []ades.CertificateStatus) (all []found) {
	t.Helper()
	for _, s := range path {
		if hasProof := s.Source != ""; s.ThisUpdate.IsZero() == hasProof || s.ProducedAt.IsZero() == hasProof {
			t.Errorf("%s by %q: produced at %v, of %v", s.Revocation, s.Source, s.ProducedAt, s.ThisUpdate)
		}
		all = append(all, found{s.Certificate.Subject.CommonName, s.Revocation, s.Source, s.Reason, !s.RevokedAt.IsZero(), s.Fetched})
	}
	return all
}

// Each certificate up to the root has what was found about it, by what, and as of when. The responders who said so
// are not in the path.
func TestPathOfTheSigner(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	now := time.Now()
	before := s.lists(t)
	s.ca.Revoke(s.signer.SerialNumber, now.Add(-time.Minute), 1)
	revoked := s.lists(t)
	s.ca.Revoke(s.signer.SerialNumber, now.Add(-time.Minute), 6)
	held := s.lists(t)
	issuing := func(r ades.RevocationStatus, by ades.RevocationSource) found {
		return found{Name: ofIssuing, Revocation: r, Source: by}
	}
	const signer = "A signer"
	listed := issuing(ades.RevocationGood, ades.SourceCRL)
	for _, test := range []struct {
		name string
		data *validation.Data
		best time.Time
		want found
		rest found
	}{
		{"good, by a response", s.data, time.Time{}, found{Name: signer, Revocation: ades.RevocationGood, Source: ades.SourceOCSP}, listed},
		{"good, by a list", before, time.Time{}, found{Name: signer, Revocation: ades.RevocationGood, Source: ades.SourceCRL}, listed},
		{"revoked", revoked, time.Time{}, found{Name: signer, Revocation: ades.RevocationRevoked, Source: ades.SourceCRL, Reason: 1, Revoked: true}, listed},
		{"revoked later", revoked, now.Add(-2 * time.Minute), found{Name: signer, Revocation: ades.RevocationGood, Source: ades.SourceCRL, Reason: 1, Revoked: true}, listed},
		{"on hold", held, time.Time{}, found{Name: signer, Revocation: ades.RevocationOnHold, Source: ades.SourceCRL, Reason: 6, Revoked: true}, listed},
		{"revoked, and a list from before", validation.Merge(revoked, before), time.Time{},
			found{Name: signer, Revocation: ades.RevocationRevoked, Source: ades.SourceCRL, Reason: 1, Revoked: true}, listed},
		{"nothing", new(validation.Data), time.Time{}, found{Name: signer, Revocation: ades.RevocationUnknown}, issuing(ades.RevocationUnknown, "")},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := ades.SignatureReport{Certificate: s.signer, ClaimedTime: now, BestTime: test.best, Algorithm: ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.ECDSA}}
			at := time.Now()
			validation.Judge{Data: test.data, Time: at}.Signer(&r, s.known)
			if diff := cmp.Diff([]found{test.want, test.rest, root}, foundIn(t, r.Path)); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if !test.best.IsZero() {
				at = test.best
			}
			if !r.JudgedAt.Equal(at) {
				t.Errorf("judged at %v, want %v", r.JudgedAt, at)
			}
			if test.want.Revoked && !r.Path[0].RevokedAt.Equal(now.Add(-time.Minute).UTC().Truncate(time.Second)) {
				t.Errorf("revoked at %v", r.Path[0].RevokedAt)
			}
		})
	}
}

// Nobody is asked about what is issued without revocation, or trusted as it is. Who leads nowhere has no path.
func TestPathWithoutRevocation(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	key := certtest.NewKey(t, elliptic.P256())
	short, err := s.ca.IssueProfile(&x509.Certificate{
		Subject: pkix.Name{CommonName: "Short"}, NotBefore: time.Now().Add(-time.Minute), NotAfter: time.Now().Add(time.Hour),
		ExtraExtensions: []pkix.Extension{{Id: asn1.ObjectIdentifier{2, 5, 29, 56}, Value: []byte{5, 0}}},
	}, key.Public())
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name  string
		cert  *x509.Certificate
		known *validation.Known
		want  []found
	}{
		{"noRevAvail", short, s.known, []found{{Name: "Short", Revocation: ades.RevocationNotNeeded}, {Name: ofIssuing, Revocation: ades.RevocationGood, Source: ades.SourceCRL}, root}},
		{"a root", s.ca.Root(), s.known, []found{root}},
		{"under no root", s.signer, newScene(t).known, nil},
	} {
		r := ades.SignatureReport{Certificate: test.cert, ClaimedTime: time.Now()}
		validation.Judge{Data: s.data, Time: time.Now()}.Signer(&r, test.known)
		if diff := cmp.Diff(test.want, foundIn(t, r.Path)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
		if len(r.Path) != len(r.Chain) || r.JudgedAt.IsZero() {
			t.Errorf("%s: %d in the path, %d in the chain, at %v", test.name, len(r.Path), len(r.Chain), r.JudgedAt)
		}
	}
}

// A timestamp's authority is judged like a signer, as of the time at which the timestamp is known to have existed.
func TestPathOfATimestamp(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	later := time.Now().Add(time.Minute)
	tsa := s.stamp.Token.Certificate.Subject.CommonName
	for _, test := range []struct {
		name string
		sum  []byte
		data *validation.Data
		want []found
		at   time.Time
	}{
		{"good", s.sum[:], s.data, []found{{Name: tsa, Revocation: ades.RevocationGood, Source: ades.SourceOCSP}, {Name: ofIssuing, Revocation: ades.RevocationGood, Source: ades.SourceCRL}, root}, later},
		{"nothing", s.sum[:], new(validation.Data), []found{{Name: tsa, Revocation: ades.RevocationUnknown}, {Name: ofIssuing, Revocation: ades.RevocationUnknown}, root}, later},
		{"over something else", make([]byte, len(s.sum)), s.data, nil, time.Time{}},
	} {
		stamp := s.stamp
		stamp.Check(test.sum, nil)
		validation.Judge{Data: test.data, Time: later}.Timestamp(&stamp, s.known, later)
		if diff := cmp.Diff(test.want, foundIn(t, stamp.Report.Path)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
		if !stamp.Report.JudgedAt.Equal(test.at) {
			t.Errorf("%s: judged at %v", test.name, stamp.Report.JudgedAt)
		}
	}
}

// What was fetched is told from what the document carries.
func TestPathByWhatWasFetched(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	lists := s.lists(t)
	const response, list = ades.SourceOCSP, ades.SourceCRL
	for _, test := range []struct {
		name            string
		data            *validation.Data
		by              ades.RevocationSource
		signer, issuing bool // whether it was fetched
	}{
		{"nothing is carried", new(validation.Data), response, true, true},
		{"a list of the root is carried", &validation.Data{CRLs: lists.CRLs[1:]}, response, true, false},
		{"all is carried", lists, list, false, false},
	} {
		want := []found{
			{Name: "A signer", Revocation: ades.RevocationGood, Source: test.by, Fetched: test.signer},
			{Name: ofIssuing, Revocation: ades.RevocationGood, Source: list, Fetched: test.issuing}, root,
		}
		r := ades.SignatureReport{Certificate: s.signer, ClaimedTime: time.Now(), Algorithm: ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.ECDSA}}
		judge := validation.Judge{Data: test.data.ShareLimit(s.known), Time: time.Now(), Online: validation.NewOnline(t.Context(), s.ca.Sources(nil))}
		judge.Signer(&r, s.known)
		if diff := cmp.Diff(want, foundIn(t, r.Path)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
		judge.PastValidation(&r, slices.Values[[]validation.POE](nil))
		if diff := cmp.Diff(want, foundIn(t, r.Path)); diff != "" || r.Indication != "" {
			t.Errorf("%s, afterwards %s %q (-want +got):\n%s", test.name, r.Indication, r.Problems, diff)
		}
		stamp := s.stamp
		stamp.Check(s.sum[:], nil)
		judge.Timestamp(&stamp, s.known, judge.Time)
		want[0].Name = s.stamp.Token.Certificate.Subject.CommonName
		if diff := cmp.Diff(want, foundIn(t, stamp.Report.Path)); diff != "" {
			t.Errorf("%s, timestamp (-want +got):\n%s", test.name, diff)
		}
	}
}

// A proof whose signer has expired counts for what it is proven for, or is replaced by one that is fetched.
func TestPathByWhatLasts(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	signed := time.Now()
	expired := signed.AddDate(2, 0, 0) // the responder's
	if _, err := s.ca.Renew(expired); err != nil {
		t.Fatal(err)
	}
	online := func() *validation.Online {
		return validation.NewOnline(t.Context(), s.ca.Sources(func() time.Time { return expired }))
	}
	for _, test := range []struct {
		name   string
		online *validation.Online
		proven []validation.POE
		want   found
		sub    ades.SubIndication
	}{
		{"nothing proves it", nil, nil, found{Revocation: ades.RevocationUnknown}, ades.RevocationOutOfBoundsNoPOE},
		{"it is proven", nil, []validation.POE{{Data: s.data, At: signed}}, found{Revocation: ades.RevocationGood, Source: ades.SourceOCSP}, ""},
		{"fetched anew", online(), nil, found{Revocation: ades.RevocationGood, Source: ades.SourceOCSP, Fetched: true}, ""},
	} {
		r := ades.SignatureReport{
			Certificate: s.signer, ClaimedTime: signed, BestTime: signed, Algorithm: ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.ECDSA},
		}
		judge := validation.Judge{Data: s.data.ShareLimit(s.known), Time: expired, Online: test.online}
		judge.Signer(&r, s.known)
		judge.PastValidation(&r, slices.Values(test.proven))
		test.want.Name = "A signer"
		want := []found{test.want, {Name: ofIssuing, Revocation: ades.RevocationGood, Source: ades.SourceCRL}, root}
		if diff := cmp.Diff(want, foundIn(t, r.Path)); diff != "" || r.SubIndication != test.sub {
			t.Errorf("%s: %s %q (-want +got):\n%s", test.name, r.SubIndication, r.Problems, diff)
		}
		if !r.JudgedAt.Equal(signed) {
			t.Errorf("%s: judged at %v", test.name, r.JudgedAt)
		}
	}
}
