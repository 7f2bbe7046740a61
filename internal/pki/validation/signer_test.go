package validation

import (
	"crypto"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/tsp"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// Lines of describe.
const (
	issuingGood    = "Innsigli Sandbox Issuing: GOOD by CRL"
	issuingUnknown = "Innsigli Sandbox Issuing: UNKNOWN"
	rootNotNeeded  = "Innsigli Sandbox Root: NOT_NEEDED"
)

// describe returns a line for each certificate of a path. A status has the times of its revocation data, if there is
// any.
func describe(t *testing.T, path []ades.CertificateStatus) (lines []string) {
	t.Helper()
	for _, s := range path {
		line := fmt.Sprintf("%s: %s", s.Certificate.Subject.CommonName, s.Revocation)
		if s.Source != "" {
			line += " by " + string(s.Source)
		}
		if !s.RevokedAt.IsZero() {
			line += fmt.Sprintf(", reason %d", s.Reason)
		}
		if s.Fetched {
			line += ", fetched"
		}
		if hasData := s.Source != ""; s.ThisUpdate.IsZero() == hasData || s.ProducedAt.IsZero() == hasData {
			t.Errorf("%s: data produced at %v, of %v", line, s.ProducedAt, s.ThisUpdate)
		}
		lines = append(lines, line)
	}
	return lines
}

// TestSigner checks the result for a signer's certificate (EN 319 102-1 5.2.6, and 5.2.8 for the claimed time).
func TestSigner(t *testing.T) {
	s, other := newScene(t), newScene(t)
	now, first, last := time.Now(), s.signer.NotBefore, s.signer.NotAfter
	lists := s.lists(t)
	s.ca.Revoke(s.signer.SerialNumber, now.Add(-time.Second), 1)
	revoked, none := s.lists(t), new(Data)
	responses, onlyLists := (&Data{OCSP: s.data.OCSP}).ShareLimit(s.known), (&Data{CRLs: s.data.CRLs}).ShareLimit(s.known)
	expired, responderExpired, issuerExpired := last.Add(time.Hour), now.AddDate(2, 0, 0), now.AddDate(16, 0, 0)
	for _, test := range []struct {
		name              string
		data              *Data
		known             *Known
		at, best, claimed time.Time
		want              ades.SubIndication
	}{
		{"good", s.data, s.known, now, time.Time{}, now, ""},
		{"another root", s.data, other.known, now, time.Time{}, now, ades.NoCertificateChainFound},
		{"no revocation data", none, s.known, now, time.Time{}, now, ades.TryLater},
		{"no list", responses, s.known, now, now, now, ades.TryLater},
		{"revoked", revoked, s.known, now, time.Time{}, now, ades.RevokedNoPOE},
		{"revoked after the POE", revoked, s.known, now, now.Add(-time.Minute), now, ""},
		{"not yet valid", s.data, s.known, first.Add(-24 * time.Hour), time.Time{}, now, ades.NotYetValid},

		{"expired, no data", none, s.known, expired, time.Time{}, now, ades.CertificateChainGeneralFailure},
		{"expired after the POE, no data", none, s.known, expired, now, now, ades.CertificateChainGeneralFailure},
		{"expired after the POE", s.data, s.known, expired, now, now, ""},
		{"expired, and the responder too", s.data, s.known, expired, time.Time{}, now, ades.OutOfBoundsNoPOE},
		{"expired, and the issuer valid", lists, s.known, expired, time.Time{}, now, ades.OutOfBoundsNotRevoked},
		{"expired, and the issuer too", lists, s.known, issuerExpired, time.Time{}, now, ades.OutOfBoundsNoPOE},
		{"responder expired", s.data, s.known, responderExpired, time.Time{}, now, ades.RevocationOutOfBoundsNoPOE},
		{"responder expired, no list", responses, s.known, responderExpired, now, now, ades.RevocationOutOfBoundsNoPOE},
		{"responder expired, no data about the signer", onlyLists, s.known, responderExpired, now, now, ades.TryLater},

		{"claimed time in the first second", s.data, s.known, now, time.Time{}, first, ""},
		{"claimed time in another time zone", s.data, s.known, now, time.Time{}, first.In(time.FixedZone("", 12*3600)), ""},
		{"claimed time in the last second", s.data, s.known, now, time.Time{}, last.Add(time.Second - 1), ""},
		{"claimed time before the validity", s.data, s.known, now, time.Time{}, first.Add(-1), ades.SigConstraintsFailure},
		{"claimed time after the validity", s.data, s.known, now, time.Time{}, last.Add(time.Second), ades.SigConstraintsFailure},
		{"no claimed time", s.data, s.known, now, time.Time{}, time.Time{}, ades.SigConstraintsFailure},
		{"claimed time before the validity, no data", none, s.known, now, time.Time{}, first.Add(-time.Hour), ades.SigConstraintsFailure},
		{"claimed time before the validity, revoked", revoked, s.known, now, time.Time{}, first.Add(-time.Hour), ades.RevokedNoPOE},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := s.report()
			r.BestTime, r.ClaimedTime = test.best, test.claimed
			Validator{Data: test.data, Time: test.at}.Signer(&r, test.known)
			if r.SubIndication != test.want || (r.Indication == "") != (test.want == "") {
				t.Errorf("got %s %s %q, want %s", r.Indication, r.SubIndication, r.Problems, test.want)
			}
		})
	}
	weak := s.report()
	weak.Algorithm.Hash = crypto.SHA1
	if (Validator{Data: s.data, Time: now}).Signer(&weak, s.known); weak.SubIndication != ades.CryptoConstraintsFailureNoPOE {
		t.Errorf("SHA-1: got %s %q, want CRYPTO_CONSTRAINTS_FAILURE_NO_POE", weak.SubIndication, weak.Problems)
	}
	var empty ades.SignatureReport
	if (Validator{Data: s.data, Time: now}).Signer(&empty, s.known); empty.Indication != "" {
		t.Errorf("no certificate: got %+v", empty)
	}
	if err := CheckClaimedTime(s.signer, last.Add(time.Hour)); !errors.Is(err, ades.ErrOutsideValidity) {
		t.Errorf("CheckClaimedTime after the validity: got %v, want ErrOutsideValidity", err)
	}
}

// TestSignerPurpose checks that a certificate for other purposes fails the signature, and that one without
// nonRepudiation has a warning.
func TestSignerPurpose(t *testing.T) {
	s := newScene(t)
	for purpose, want := range map[x509.ExtKeyUsage]ades.SubIndication{
		x509.ExtKeyUsageClientAuth:      ades.ChainConstraintsFailure,
		x509.ExtKeyUsageEmailProtection: ades.TryLater,
	} {
		r := s.report()
		r.Certificate = s.issue(t, "A signer", purposes(purpose), usage(x509.KeyUsageDigitalSignature), certtest.Valid(s.signer.NotBefore, s.signer.NotAfter))
		Validator{Data: s.data, Time: time.Now()}.Signer(&r, s.known)
		if r.Indication != ades.Indeterminate || r.SubIndication != want || (len(r.Warnings) > 0) != (want == ades.TryLater) {
			t.Errorf("for %v: got %s %s %q with warnings %q, want %s", purpose, r.Indication, r.SubIndication, r.Problems, r.Warnings, want)
		}
	}
}

// TestChainOfOtherRoles checks that a signer or timestamp authority below an authority that may not sign certificates
// has no chain (RFC 5280 4.2.1.3), and a signer with an extension for responders has none either (RFC 6960 4.2.2.2.1).
func TestChainOfOtherRoles(t *testing.T) {
	now, root, key := time.Now(), newAuthority(t, "Root", nil), certtest.NewKey(t, elliptic.P256())
	timeStamping := pkix.Extension{Id: asn1.ObjectIdentifier{2, 5, 29, 37}, Critical: true, Value: []byte{0x30, 10, 6, 8, 0x2b, 6, 1, 5, 5, 7, 3, 8}}
	nothing := func(*x509.Certificate) {}
	for _, test := range []struct {
		name              string
		authority, signer change
		want              ades.SubIndication // of the signer
		problem           string             // of the timestamp
	}{
		{"valid roles", nothing, nothing, ades.TryLater, "no revocation status"},
		{"authority without key usage", usage(0), nothing, ades.CertificateChainGeneralFailure, "is not certified for signing certificates"},
		{"signer with ocsp-nocheck", nothing, extended(oidNoCheck), ades.CertificateChainGeneralFailure, "no revocation status"},
	} {
		ca := newAuthority(t, "Authority", root, test.authority)
		known := NewKnown(t.Context(), ades.Sources{Roots: certtest.Pool(root.Cert)}, ca.Cert)
		judge := Validator{Data: new(Data).ShareLimit(known), Time: now}
		r := ades.SignatureReport{
			Certificate: newSigner(t, "A signer", ca, test.signer).Cert, ClaimedTime: now,
			Algorithm: ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.ECDSA},
		}
		if judge.Signer(&r, known); r.SubIndication != test.want {
			t.Errorf("%s: got %s %q, want %s", test.name, r.SubIndication, r.Problems, test.want)
		}
		unit := tsp.Unit{
			Key: key, Policy: asn1.ObjectIdentifier{2, 999, 1}, Chain: []*x509.Certificate{ca.Cert},
			Certificate: certtest.NewForKey(t, "A timestamp authority", key, ca, usage(x509.KeyUsageDigitalSignature), certtest.Extended(timeStamping)).Cert,
		}
		sum := sha256.Sum256([]byte("data"))
		token, err := unit.Create(tsp.Request{Hash: crypto.SHA256, Sum: sum[:], Certificates: true}, now)
		testenv.NoError(t, err)
		stamp := Read(ades.SignatureTimestamp, token)
		stamp.Check(sum[:], nil)
		judge.Timestamp(&stamp, known, now)
		if stamp.Report.Trusted || !strings.Contains(strings.Join(stamp.Report.Problems, " "), test.problem) {
			t.Errorf("%s: the timestamp has problems %q, want %q", test.name, stamp.Report.Problems, test.problem)
		}
	}
}

// TestCheckHashes checks that a hash which is not accepted replaces TRY_LATER and no other result.
func TestCheckHashes(t *testing.T) {
	for _, test := range []struct {
		name   string
		before ades.SubIndication
		hashes []crypto.Hash
		at     time.Time
		want   ades.SubIndication
	}{
		{"accepted", "", []crypto.Hash{crypto.SHA256, crypto.SHA512}, dayOf(2026, 1, 1), ""},
		{"one not accepted", "", []crypto.Hash{crypto.SHA256, crypto.SHA1}, dayOf(2026, 1, 1), ades.CryptoConstraintsFailureNoPOE},
		{"accepted at that time", "", []crypto.Hash{crypto.SHA1}, dayOf(2011, 1, 1), ""},
		{"accepted, after TRY_LATER", ades.TryLater, []crypto.Hash{crypto.SHA256}, dayOf(2026, 1, 1), ades.TryLater},
		{"not accepted, after TRY_LATER", ades.TryLater, []crypto.Hash{crypto.SHA1}, dayOf(2026, 1, 1), ades.CryptoConstraintsFailureNoPOE},
		{"not accepted, after a revocation", ades.RevokedNoPOE, []crypto.Hash{crypto.SHA1}, dayOf(2026, 1, 1), ades.RevokedNoPOE},
	} {
		r := ades.SignatureReport{JudgedAt: test.at}
		if test.before != "" {
			r.Fail(ades.Indeterminate, test.before, "before")
		}
		if CheckHashes(&r, test.hashes...); r.SubIndication != test.want {
			t.Errorf("%s: got %q, want %q", test.name, r.SubIndication, test.want)
		}
	}
}

// TestSignerPath checks the status of each certificate from the signer to the root, and the time of the result.
// Responders are not part of the path.
func TestSignerPath(t *testing.T) {
	s, now := newScene(t), time.Now()
	before, revokedAt := s.lists(t), now.Add(-time.Minute).UTC().Truncate(time.Second)
	s.ca.Revoke(s.signer.SerialNumber, revokedAt, 1)
	revoked := s.lists(t)
	s.ca.Revoke(s.signer.SerialNumber, revokedAt, CertificateHold)
	onHold := s.lists(t)
	exempt := s.issue(t, "Exempt signer", certtest.Valid(now.Add(-time.Minute), now.Add(time.Hour)), extended(oidNoRevAvail))
	for _, test := range []struct {
		name string
		cert *x509.Certificate
		data *Data
		best time.Time
		want []string
	}{
		{"good, by a response", s.signer, s.data, time.Time{}, []string{"A signer: GOOD by OCSP", issuingGood, rootNotNeeded}},
		{"good, by a list", s.signer, before, time.Time{}, []string{"A signer: GOOD by CRL", issuingGood, rootNotNeeded}},
		{"revoked", s.signer, revoked, time.Time{}, []string{"A signer: REVOKED by CRL, reason 1", issuingGood, rootNotNeeded}},
		{"revoked after the POE", s.signer, revoked, now.Add(-2 * time.Minute), []string{"A signer: GOOD by CRL, reason 1", issuingGood, rootNotNeeded}},
		{"on hold", s.signer, onHold, time.Time{}, []string{"A signer: ON_HOLD by CRL, reason 6", issuingGood, rootNotNeeded}},
		{"revoked, and an older list", s.signer, Merge(revoked, before), time.Time{}, []string{"A signer: REVOKED by CRL, reason 1", issuingGood, rootNotNeeded}},
		{"no data", s.signer, new(Data), time.Time{}, []string{"A signer: UNKNOWN", issuingUnknown, rootNotNeeded}},
		{"exempt signer", exempt, s.data, time.Time{}, []string{"Exempt signer: NOT_NEEDED", issuingGood, rootNotNeeded}},
		{"a root", s.ca.Root(), s.data, time.Time{}, []string{rootNotNeeded}},
		{"another root", newScene(t).signer, s.data, time.Time{}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := s.report()
			r.Certificate, r.BestTime = test.cert, test.best
			Validator{Data: test.data, Time: now}.Signer(&r, s.known)
			if diff := cmp.Diff(test.want, describe(t, r.Path)); diff != "" || len(r.Path) != len(r.Chain) {
				t.Errorf("chain of %d certificates; path, -want +got:\n%s", len(r.Chain), diff)
			}
			want := now
			if !test.best.IsZero() {
				want = test.best
			}
			if !r.JudgedAt.Equal(want) {
				t.Errorf("judged at %v, want %v", r.JudgedAt, want)
			}
			if len(r.Path) > 0 && !r.Path[0].RevokedAt.IsZero() && !r.Path[0].RevokedAt.Equal(revokedAt) {
				t.Errorf("revoked at %v, want %v", r.Path[0].RevokedAt, revokedAt)
			}
		})
	}
}
