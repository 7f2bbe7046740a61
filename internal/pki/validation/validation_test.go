package validation_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/validation"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// scene is an authority with a signer and a timestamp over something of theirs.
type scene struct {
	ca     *sandboxca.Authority
	signer *x509.Certificate
	sum    [sha256.Size]byte
	stamp  validation.Timestamp // not checked
	data   *validation.Data     // about both
	known  *validation.Known
}

func newScene(t *testing.T) scene {
	t.Helper()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	s := scene{sum: sha256.Sum256([]byte("what is timestamped"))}
	var err error
	s.ca, err = sandboxca.New(time.Now())
	must(err)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	must(err)
	s.signer, err = s.ca.Issue("A signer", "0101302989", key.Public(), time.Now())
	must(err)
	sources := s.ca.Sources(nil)
	token, err := sources.Time.Timestamp(t.Context(), crypto.SHA256, s.sum[:])
	must(err)
	s.stamp = validation.Read(ades.SignatureTimestamp, token)
	if s.stamp.Token == nil {
		t.Fatal(s.stamp.Report.Problems)
	}
	s.known = validation.NewKnown(t.Context(), sources, append(s.ca.Chain(), s.stamp.Token.Certificates...)...)
	s.stamp.Token.AddCertificates(nil)
	targets := append(validation.Targets([]validation.Timestamp{s.stamp}), validation.Target{Certificate: s.signer})
	s.data, err = validation.Collect(t.Context(), sources, s.known, targets...)
	must(err)
	return s
}

// lists are the revocation lists of the authority as they are now.
func (s scene) lists(t *testing.T) *validation.Data {
	t.Helper()
	issued, err := s.ca.CRL(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	ofRoot, err := s.ca.RootCRL(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return &validation.Data{CRLs: [][]byte{issued, ofRoot}}
}

// EN 319 102-1 5.4: what keeps a timestamp from proving its time.
func TestTimestamps(t *testing.T) {
	s := newScene(t)
	stranger := newScene(t)
	other := sha256.Sum256([]byte("something else"))
	now := time.Now()
	for name, test := range map[string]struct {
		sum             []byte
		data            *validation.Data
		known           *validation.Known
		at              time.Time
		intact, trusted bool
	}{
		"good":                    {s.sum[:], s.data, s.known, now, true, true},
		"over something else":     {other[:], s.data, s.known, now, false, false},
		"under no root":           {s.sum[:], s.data, stranger.known, now, true, false},
		"without revocation data": {s.sum[:], new(validation.Data), s.known, now, true, false},
		"of the future":           {s.sum[:], s.data, s.known, now.Add(-time.Hour), true, false},
	} {
		t.Run(name, func(t *testing.T) {
			stamp := s.stamp
			stamp.Check(test.sum, nil)
			validation.Judge{Data: test.data, Time: now}.Timestamp(&stamp, test.known, test.at)
			r := stamp.Report
			if r.Intact != test.intact || r.Trusted != test.trusted || test.trusted != (len(r.Problems) == 0) {
				t.Errorf("%+v", r)
			}
			later := now.Add(time.Hour)
			if proven := stamp.POETime(later); proven.Equal(r.Time) != test.trusted || !test.trusted && !proven.Equal(later) {
				t.Errorf("proven at %v, stamped at %v", proven, r.Time)
			}
			if proven := stamp.POETime(r.Time.Add(-time.Hour)); !proven.Equal(r.Time.Add(-time.Hour)) {
				t.Errorf("a later timestamp makes it %v", proven)
			}
		})
	}
}

func TestUnreadableTimestamp(t *testing.T) {
	s := newScene(t)
	bad := validation.Read(ades.DocumentTimestamp, []byte("none"))
	if bad.Token != nil || len(bad.Report.Problems) != 1 || bad.Report.Type != ades.DocumentTimestamp {
		t.Errorf("%+v", bad)
	}
	both := []validation.Timestamp{bad, s.stamp}
	if n := len(validation.ReadableTimestamps(both)); n != 1 {
		t.Errorf("%d can be read", n)
	}
	if n := len(validation.Targets(both)); n != 1 {
		t.Errorf("%d authorities", n)
	}
	if n := len(validation.Certificates(both)); n != len(s.stamp.Token.Certificates) {
		t.Errorf("%d certificates", n)
	}
}

// EN 319 102-1 5.2.6: what the signer's certificate comes to, as of a time.
func TestSigners(t *testing.T) {
	s, stranger := newScene(t), newScene(t)
	s.ca.Revoke(s.signer.SerialNumber, time.Now().Add(-time.Second), 1)
	revoked := s.lists(t)
	now := time.Now()
	good := ades.SignatureReport{Certificate: s.signer, ClaimedTime: now, Algorithm: ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.ECDSA}}
	for name, test := range map[string]struct {
		data  *validation.Data
		known *validation.Known
		at    time.Time
		best  time.Time
		want  ades.SubIndication
	}{
		"good":                       {s.data, s.known, now, time.Time{}, ""},
		"under no root":              {s.data, stranger.known, now, time.Time{}, ades.NoCertificateChainFound},
		"without revocation data":    {new(validation.Data), s.known, now, time.Time{}, ades.TryLater},
		"revoked":                    {revoked, s.known, now, time.Time{}, ades.RevokedNoPOE},
		"revoked, but proven before": {revoked, s.known, now, now.Add(-time.Minute), ""},
		"before it was valid":        {s.data, s.known, s.signer.NotBefore.Add(-24 * time.Hour), time.Time{}, ades.NotYetValid},
		"expired":                    {new(validation.Data), s.known, s.signer.NotAfter.Add(time.Hour), time.Time{}, ades.CertificateChainGeneralFailure},
		"expired since it is proven": {new(validation.Data), s.known, s.signer.NotAfter.Add(time.Hour), now, ades.CertificateChainGeneralFailure},
		"expired, but proven before": {s.data, s.known, s.signer.NotAfter.Add(time.Hour), now, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := good
			r.BestTime = test.best
			validation.Judge{Data: test.data, Time: test.at}.Signer(&r, test.known)
			if r.SubIndication != test.want || (test.want == "") != (r.Indication == "") {
				t.Errorf("%s %s: %v", r.Indication, r.SubIndication, r.Problems)
			}
		})
	}
	weak := good
	weak.Algorithm.Hash = crypto.SHA1
	validation.Judge{Data: s.data, Time: now}.Signer(&weak, s.known)
	if weak.SubIndication != ades.CryptoConstraintsFailureNoPOE {
		t.Errorf("SHA-1: %s %v", weak.SubIndication, weak.Problems)
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for usage, want := range map[x509.ExtKeyUsage]ades.SubIndication{x509.ExtKeyUsageClientAuth: ades.ChainConstraintsFailure, x509.ExtKeyUsageEmailProtection: ades.TryLater} {
		template, r := *s.signer, good
		template.ExtKeyUsage, template.KeyUsage = []x509.ExtKeyUsage{usage}, x509.KeyUsageDigitalSignature
		if r.Certificate, err = s.ca.IssueProfile(&template, key.Public()); err != nil {
			t.Fatal(err)
		}
		validation.Judge{Data: s.data, Time: now}.Signer(&r, s.known)
		if r.Indication != ades.Indeterminate || r.SubIndication != want || (len(r.Warnings) > 0) != (want == ades.TryLater) {
			t.Errorf("for %v: %s %s: %q %q", usage, r.Indication, r.SubIndication, r.Problems, r.Warnings)
		}
	}
	none := ades.SignatureReport{}
	if (validation.Judge{Data: s.data, Time: now}).Signer(&none, s.known); none.Indication != "" {
		t.Errorf("without a certificate: %+v", none)
	}
}
