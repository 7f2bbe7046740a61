package validation

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// passed returns the report of a signature that has passed all checks before past validation.
func (s scene) passed(cert *x509.Certificate) ades.SignatureReport {
	r := s.report()
	r.Certificate, r.BestTime, r.Chain = cert, time.Now(), append([]*x509.Certificate{cert}, s.ca.Chain()...)
	return r
}

// TestPastValidation checks that revocation data counts while its signer is valid, or with a POE from before
// (EN 319 102-1 5.6.2.3).
func TestPastValidation(t *testing.T) {
	s, now := newScene(t), time.Now()
	lists := s.lists(t)
	responderExpired, signerExpired, issuerExpired := now.AddDate(2, 0, 0), now.AddDate(6, 0, 0), now.AddDate(16, 0, 0)
	for _, test := range []struct {
		name   string
		data   *Data
		at     time.Time
		poes   []POE
		before ades.SubIndication // of an earlier check that failed
		want   ades.SubIndication
	}{
		{"all valid", s.data, now, nil, "", ""},
		{"responder expired", s.data, responderExpired, nil, "", ades.RevocationOutOfBoundsNoPOE},
		{"responder and signer expired", s.data, signerExpired, nil, "", ades.OutOfBoundsNoPOE},
		{"POE before the responder expired", s.data, responderExpired, []POE{{s.data, now}}, "", ""},
		{"POE after the responder expired", s.data, responderExpired, []POE{{s.data, signerExpired}}, "", ades.RevocationOutOfBoundsNoPOE},
		{"POE for other data", s.data, responderExpired, []POE{{new(Data), now}}, "", ades.RevocationOutOfBoundsNoPOE},
		{"lists of a valid issuer", lists, responderExpired, nil, "", ""},
		{"lists of an expired issuer", lists, issuerExpired, nil, "", ades.OutOfBoundsNoPOE},
		{"signature that has failed", s.data, responderExpired, nil, ades.HashFailure, ades.HashFailure},
	} {
		r := s.passed(s.signer)
		if test.before != "" {
			r.Fail(ades.TotalFailed, test.before, "before")
		}
		Validator{Data: test.data.ShareLimit(s.known), Time: test.at}.PastValidation(&r, slices.Values(test.poes))
		if r.SubIndication != test.want || (r.Indication == "") != (test.want == "") {
			t.Errorf("%s: got %s %s %q, want %s", test.name, r.Indication, r.SubIndication, r.Problems, test.want)
		}
	}
}

// TestPastValidationOfRevokedIssuer checks that data below an authority counts until the authority is revoked, or later
// with a POE from before (EN 319 102-1 5.6.2.2).
func TestPastValidationOfRevokedIssuer(t *testing.T) {
	now := time.Now()
	at := func(minutes time.Duration) time.Time { return now.Add(minutes * time.Minute) }
	for _, test := range []struct {
		name      string
		reason    int           // of the revocation after 60 minutes
		exempt    bool          // the signer needs no revocation data
		poe       time.Duration // minutes until the POE for the data; 0: no POE
		validated time.Duration // minutes
		want      ades.SubIndication
	}{
		{"validated before the revocation", 1, false, 0, 30, ""},
		{"no POE", 1, false, 0, 180, ades.RevocationOutOfBoundsNoPOE},
		{"POE before the revocation", 1, false, 30, 180, ""},
		{"POE after the revocation", 1, false, 90, 180, ades.RevocationOutOfBoundsNoPOE},
		{"exempt signer", 1, true, 0, 180, ""},
		{"on hold", CertificateHold, false, 30, 180, ades.TryLater},
	} {
		s := newScene(t)
		cert := s.signer
		if test.exempt {
			cert = s.issue(t, "Exempt signer", certtest.Valid(at(-1), at(24*60)), extended(oidNoRevAvail))
		}
		s.ca.Revoke(s.ca.Chain()[0].SerialNumber, at(60), test.reason)
		list, err := s.ca.RootCRL(at(120))
		testenv.NoError(t, err)
		r := s.passed(cert)
		r.Path = make([]ades.CertificateStatus, len(r.Chain))
		var poes []POE
		if test.poe != 0 {
			poes = append(poes, POE{s.data, at(test.poe)})
		}
		data := Merge(s.data, &Data{CRLs: [][]byte{list}}).ShareLimit(s.known)
		Validator{Data: data, Time: at(test.validated)}.PastValidation(&r, slices.Values(poes))
		if r.SubIndication != test.want || (r.Indication == "") != (test.want == "") {
			t.Errorf("%s: got %s %s %q, want %s", test.name, r.Indication, r.SubIndication, r.Problems, test.want)
		}
	}
}

// issue issues another certificate of the authority of signers.
func (s scene) issue(t *testing.T, name string, changes ...change) *x509.Certificate {
	t.Helper()
	template := x509.Certificate{Subject: pkix.Name{CommonName: name}, BasicConstraintsValid: true}
	for _, change := range changes {
		change(&template)
	}
	cert, err := s.ca.IssueProfile(&template, s.signer.PublicKey)
	testenv.NoError(t, err)
	return cert
}

// TestPastValidationPath checks the path of a signer whose responder has expired: the data counts with a POE, and
// otherwise newer data is fetched.
func TestPastValidationPath(t *testing.T) {
	s, signed := newScene(t), time.Now()
	expired := signed.AddDate(2, 0, 0)
	if _, err := s.ca.Renew(expired); err != nil {
		t.Fatal(err)
	}
	online := NewOnline(t.Context(), s.ca.Sources(func() time.Time { return expired }))
	for _, test := range []struct {
		name   string
		online *Online
		poes   []POE
		signer string
		want   ades.SubIndication
	}{
		{"no POE", nil, nil, "A signer: UNKNOWN", ades.RevocationOutOfBoundsNoPOE},
		{"POE", nil, []POE{{s.data, signed}}, "A signer: GOOD by OCSP", ""},
		{"newer data", online, nil, "A signer: GOOD by OCSP, fetched", ""},
	} {
		r := s.report()
		r.BestTime = signed
		judge := Validator{Data: s.data.ShareLimit(s.known), Time: expired, Online: test.online}
		judge.Signer(&r, s.known)
		judge.PastValidation(&r, slices.Values(test.poes))
		want := []string{test.signer, issuingGood, rootNotNeeded}
		if diff := cmp.Diff(want, describe(t, r.Path)); diff != "" || r.SubIndication != test.want || !r.JudgedAt.Equal(signed) {
			t.Errorf("%s: got %s %q at %v, want %s at %v; path, -want +got:\n%s",
				test.name, r.SubIndication, r.Problems, r.JudgedAt, test.want, signed, diff)
		}
	}
}
