package validation_test

import (
	"crypto"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/tsp"
	"github.com/innsigli/innsigli/internal/pki/validation"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
)

// EN 319 102-1 5.6.2.2: what is said below an authority counts while that was not revoked, or where it is known to
// have been said before.
func TestEvidenceBelowARevokedAuthority(t *testing.T) {
	t.Parallel()
	const compromised, hold = 1, 6
	now := time.Now()
	at := func(d time.Duration) time.Time { return now.Add(d) }
	for _, test := range []struct {
		name   string
		reason int
		short  bool          // the signer's is a certificate that nobody need ask about
		proven time.Duration // since when the data is known; zero: it is not
		judged time.Duration
		want   ades.SubIndication
	}{
		{"before it was revoked", compromised, false, 0, 30 * time.Minute, ""},
		{"afterwards, and nothing proves the data", compromised, false, 0, 3 * time.Hour, ades.RevocationOutOfBoundsNoPOE},
		{"afterwards, and the data is from before", compromised, false, 30 * time.Minute, 3 * time.Hour, ""},
		{"afterwards, and the data is from later", compromised, false, 90 * time.Minute, 3 * time.Hour, ades.RevocationOutOfBoundsNoPOE},
		{"afterwards, and no data is needed", compromised, true, 0, 3 * time.Hour, ""},
		{"on hold by now", hold, false, 30 * time.Minute, 3 * time.Hour, ades.TryLater},
	} {
		s := newScene(t)
		cert := s.signer
		if test.short {
			cert = issue(t, s.ca, newKey(t), x509.Certificate{
				Subject: pkix.Name{CommonName: "Short"}, NotBefore: at(-time.Minute), NotAfter: at(24 * time.Hour),
				ExtraExtensions: []pkix.Extension{{Id: asn1.ObjectIdentifier{2, 5, 29, 56}, Value: []byte{5, 0}}},
			})
		}
		s.ca.Revoke(s.ca.Chain()[0].SerialNumber, at(time.Hour), test.reason)
		list, err := s.ca.RootCRL(at(2 * time.Hour))
		if err != nil {
			t.Fatal(err)
		}
		r := ades.SignatureReport{
			Certificate: cert, BestTime: now, Chain: append([]*x509.Certificate{cert}, s.ca.Chain()...),
			Algorithm: ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.ECDSA}, Path: make([]ades.CertificateStatus, 3),
		}
		var proven []validation.POE
		if test.proven != 0 {
			proven = append(proven, validation.POE{Data: s.data, At: at(test.proven)})
		}
		data := validation.Merge(s.data, &validation.Data{CRLs: [][]byte{list}}).ShareLimit(s.known)
		validation.Judge{Data: data, Time: at(test.judged)}.PastValidation(&r, slices.Values(proven))
		if r.SubIndication != test.want || r.Indication == "" != (test.want == "") {
			t.Errorf("%s: %s %q, want %q", test.name, r.SubIndication, r.Problems, test.want)
		}
		if r.Passed() {
			t.Errorf("%s: it passed", test.name)
		}
	}
}

// Where data is missing, later data would do, but not if what there is about the signer is from who has expired.
func TestUnprovenSinceTheResponderExpired(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	now := time.Now()
	for _, test := range []struct {
		name string
		data *validation.Data
		at   time.Time
		want ades.SubIndication
	}{
		{"in force", &validation.Data{OCSP: s.data.OCSP}, now, ades.TryLater},
		{"expired", &validation.Data{OCSP: s.data.OCSP}, now.AddDate(2, 0, 0), ades.RevocationOutOfBoundsNoPOE},
		{"expired, and nothing about the signer", &validation.Data{CRLs: s.data.CRLs}, now.AddDate(2, 0, 0), ades.TryLater},
	} {
		r := ades.SignatureReport{
			Certificate: s.signer, ClaimedTime: now, BestTime: now, Algorithm: ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.ECDSA},
		}
		validation.Judge{Data: test.data.ShareLimit(s.known), Time: test.at}.Signer(&r, s.known)
		if r.SubIndication != test.want {
			t.Errorf("%s: %s %q, want %s", test.name, r.SubIndication, r.Problems, test.want)
		}
	}
}

// RFC 5280 4.2.1.3: an authority that is not certified for signing certificates is none, of signers or timestamps.
// RFC 6960 4.2.2.2.1: a signer is no responder.
func TestChainsOfOtherRoles(t *testing.T) {
	t.Parallel()
	now := time.Now()
	ca := func(usage x509.KeyUsage) x509.Certificate {
		return x509.Certificate{Subject: pkix.Name{CommonName: "Authority"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: usage}
	}
	rootKey, key, leafKey := certtest.NewKey(t, elliptic.P256()), certtest.NewKey(t, elliptic.P256()), certtest.NewKey(t, elliptic.P256())
	root := certtest.Issue(t, ca(x509.KeyUsageCertSign|x509.KeyUsageCRLSign), rootKey, nil, nil)
	pool := x509.NewCertPool()
	pool.AddCert(root)
	noCheck := pkix.Extension{Id: asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 48, 1, 5}, Value: []byte{5, 0}}
	purpose := pkix.Extension{Id: asn1.ObjectIdentifier{2, 5, 29, 37}, Critical: true, Value: []byte{0x30, 10, 6, 8, 0x2b, 6, 1, 5, 5, 7, 3, 8}}
	const refused = "is not certified for signing certificates"
	for _, test := range []struct {
		name   string
		usage  x509.KeyUsage
		extra  []pkix.Extension
		signer ades.SubIndication
		stamp  string // among the problems of a timestamp
	}{
		{"as it should be", x509.KeyUsageCertSign, nil, ades.TryLater, "no revocation status"},
		{"an authority without key usage", 0, nil, ades.CertificateChainGeneralFailure, refused},
		{"a signer with nocheck", x509.KeyUsageCertSign, []pkix.Extension{noCheck}, ades.CertificateChainGeneralFailure, "no revocation status"},
	} {
		above := certtest.Issue(t, ca(test.usage), key, root, rootKey)
		sources := ades.Sources{Roots: pool}
		known := validation.NewKnown(t.Context(), sources, above)
		signer := certtest.Issue(t, x509.Certificate{Subject: pkix.Name{CommonName: "A signer"}, ExtraExtensions: test.extra}, leafKey, above, key)
		r := ades.SignatureReport{Certificate: signer, ClaimedTime: now, Algorithm: ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.ECDSA}}
		judge := validation.Judge{Data: new(validation.Data).ShareLimit(known), Time: now}
		if judge.Signer(&r, known); r.SubIndication != test.signer {
			t.Errorf("%s: %s %q, want %s", test.name, r.SubIndication, r.Problems, test.signer)
		}
		unit := tsp.Unit{Key: leafKey, Policy: asn1.ObjectIdentifier{2, 999, 1}, Chain: []*x509.Certificate{above}, Certificate: certtest.Issue(t, x509.Certificate{
			Subject: pkix.Name{CommonName: "A timestamp authority"}, KeyUsage: x509.KeyUsageDigitalSignature, ExtraExtensions: []pkix.Extension{purpose},
		}, leafKey, above, key)}
		sum := sha256.Sum256([]byte("what is timestamped"))
		token, err := unit.Create(tsp.Request{Hash: crypto.SHA256, Sum: sum[:], Certificates: true}, now)
		if err != nil {
			t.Fatal(err)
		}
		stamp := validation.Read(ades.SignatureTimestamp, token)
		stamp.Check(sum[:], nil)
		judge.Timestamp(&stamp, known, now)
		if stamp.Report.Trusted || !strings.Contains(strings.Join(stamp.Report.Problems, " "), test.stamp) {
			t.Errorf("%s: timestamp %+v", test.name, stamp.Report.Problems)
		}
	}
}

// No data that comes later makes up for a digest that nobody relies on.
func TestHashesOfWhatIsSigned(t *testing.T) {
	t.Parallel()
	late, early := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2011, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		name   string
		before ades.SubIndication
		hashes []crypto.Hash
		at     time.Time
		want   ades.SubIndication
	}{
		{"relied upon", "", []crypto.Hash{crypto.SHA256, crypto.SHA512}, late, ""},
		{"one is not", "", []crypto.Hash{crypto.SHA256, crypto.SHA1}, late, ades.CryptoConstraintsFailureNoPOE},
		{"it was then", "", []crypto.Hash{crypto.SHA1}, early, ""},
		{"relied upon, and data is missing", ades.TryLater, []crypto.Hash{crypto.SHA256}, late, ades.TryLater},
		{"data is missing", ades.TryLater, []crypto.Hash{crypto.SHA1}, late, ades.CryptoConstraintsFailureNoPOE},
		{"it was revoked", ades.RevokedNoPOE, []crypto.Hash{crypto.SHA1}, late, ades.RevokedNoPOE},
	} {
		r := ades.SignatureReport{JudgedAt: test.at}
		if test.before != "" {
			r.Fail(ades.Indeterminate, test.before, "before")
		}
		if validation.CheckHashes(&r, test.hashes...); r.SubIndication != test.want {
			t.Errorf("%s: %s, want %q", test.name, r.SubIndication, test.want)
		}
	}
}
