package validation

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"errors"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/ocsp"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// TestStatusAfterRevocation checks that a newer list without an entry releases a certificate that was on hold, and no
// other one (RFC 5280 5.3.1).
func TestStatusAfterRevocation(t *testing.T) {
	root := newAuthority(t, "Root", nil)
	signer, now := newSigner(t, "A", root).Cert, time.Now()
	for name, test := range map[string]struct {
		reason    int
		validated time.Time
		want      error
	}{
		"on hold":                         {CertificateHold, now, nil},
		"key compromise":                  {1, now, ades.ErrRevoked},
		"no reason":                       {0, now, ades.ErrRevoked},
		"key compromise after validation": {1, now.Add(-20 * time.Minute), nil},
	} {
		earlier := now.Add(-10 * time.Minute)
		data := &Data{CRLs: [][]byte{newList(t, root, earlier, entry(signer, earlier, test.reason)), newList(t, root, now.Add(-time.Minute))}}
		at := Times{SigningTime: now.Add(-time.Hour), ValidationTime: test.validated}
		if err := data.Status(signer, root.Cert, at); !errors.Is(err, test.want) {
			t.Errorf("%s: got %v, want %v", name, err, test.want)
		}
	}
}

// TestArchiveCutoff checks that the status of a certificate which expired before the response counts only if the
// authority states that it keeps the status (RFC 6960 4.4.4).
func TestArchiveCutoff(t *testing.T) {
	n, now := newNetwork(t), time.Now()
	expired := newSigner(t, "A", n.root, certtest.Valid(now.Add(-time.Hour), now.Add(-time.Minute))).Cert
	target := Target{Certificate: expired, BestSignatureTime: now.Add(-30 * time.Minute)}
	for name, test := range map[string]struct {
		cutoff time.Time
		want   error
	}{
		"no archive cutoff":       {time.Time{}, ades.ErrNoRevocation},
		"before the expiry":       {now.AddDate(-7, 0, 0), nil},
		"in the second of expiry": {expired.NotAfter, nil},
		"after the expiry":        {now.Add(-time.Second), ades.ErrNoRevocation},
	} {
		response := respond(t, n.root, expired, n.root.Cert, func(s *ocsp.Single) { s.ArchiveCutoff = test.cutoff })
		n.answer("A", ades.RevocationData{OCSP: response})
		if _, err := n.collect(nil, target); !errors.Is(err, test.want) {
			t.Errorf("%s: Collect returns %v, want %v", name, err, test.want)
		}
		lacking, err := (&Data{OCSP: [][]byte{response}}).Lacking(n.known(), target)
		if !errors.Is(err, test.want) || (len(lacking) == 0) != (test.want == nil) {
			t.Errorf("%s: Lacking returns %d targets, %v; want %v", name, len(lacking), err, test.want)
		}
	}
}

// TestLacking checks that the data about a signer or timestamp authority has to be from after the use of the key, or in
// force then.
func TestLacking(t *testing.T) {
	n, now := newNetwork(t), time.Now()
	signer := newSigner(t, "A", n.root).Cert
	used := now.Add(-10 * time.Minute)
	bySignature, byTimestamp := Target{Certificate: signer, BestSignatureTime: used}, Target{Certificate: signer, Times: Times{SigningTime: used}}
	list := func(at time.Time) *Data { return &Data{CRLs: [][]byte{newList(t, n.root, at)}} }
	response := func(at time.Time) *Data {
		return &Data{OCSP: [][]byte{respond(t, n.root, signer, n.root.Cert, since(at))}}
	}
	for name, of := range map[string]func(time.Time) *Data{"list": list, "response": response} {
		for _, test := range []struct {
			at     time.Time
			target Target
			want   error
		}{
			{now.Add(-time.Minute), bySignature, nil},
			{used, bySignature, nil},
			{now.Add(-20 * time.Minute), bySignature, nil}, // in force
			{now.Add(-75 * time.Minute), bySignature, ades.ErrNoRevocation},
			{now.Add(-time.Minute), byTimestamp, nil},
			{now.Add(-20 * time.Minute), byTimestamp, nil},
			{now.Add(-75 * time.Minute), byTimestamp, ades.ErrNoRevocation},
		} {
			lacking, err := of(test.at).Lacking(n.known(), test.target)
			if !errors.Is(err, test.want) || (len(lacking) == 0) != (test.want == nil) {
				t.Errorf("%s of %v for a key used at %v: got %d targets, %v; want %v", name, test.at, used, len(lacking), err, test.want)
			}
		}
	}
}

// TestResponderStatus checks when an OCSP responder that is not exempt speaks for its issuer: while it is neither
// revoked nor on hold (RFC 6960 4.2.2.2.1), and is valid at the time of a POE for its response.
func TestResponderStatus(t *testing.T) {
	root := newAuthority(t, "Root", nil)
	signer, responder := newSigner(t, "A", root).Cert, newResponder(t, "R", root)
	now := time.Now().Truncate(time.Second)
	minutes := func(n time.Duration) time.Time { return now.Add(n * time.Minute) }
	used := minutes(-60)
	response := respond(t, responder, signer, root.Cert)
	status := func(edits ...func(*ocsp.Single)) []byte { return respond(t, root, responder.Cert, root.Cert, edits...) }
	good := status(since(now))
	bad := func(at time.Time, reason int) []byte { return status(since(at), revoked(at, reason)) }
	for _, test := range []struct {
		name string
		own  [][]byte  // responses about the responder
		poe  time.Time // of its response; zero: none
		want error
	}{
		{"good", [][]byte{good}, time.Time{}, nil},
		{"unknown", nil, time.Time{}, ades.ErrNoRevocation},
		{"on hold", [][]byte{bad(minutes(-1), CertificateHold)}, time.Time{}, ades.ErrNoRevocation},
		{"on hold, and released", [][]byte{bad(minutes(-1), CertificateHold), good}, time.Time{}, nil},
		{"good, and on hold later", [][]byte{good, bad(minutes(1), CertificateHold)}, time.Time{}, ades.ErrNoRevocation},
		{"revoked before its response", [][]byte{bad(minutes(-1), 1)}, time.Time{}, ades.ErrNoRevocation},
		{"revoked before its response, and good in newer data", [][]byte{bad(minutes(-1), 1), good}, time.Time{}, ades.ErrNoRevocation},
		{"revoked after its response", [][]byte{bad(minutes(1), 1)}, time.Time{}, nil},
		{"revoked after the POE", [][]byte{bad(minutes(20), 1)}, minutes(1), nil},
		{"revoked before the POE", [][]byte{bad(minutes(20), 1)}, minutes(30), ades.ErrNoRevocation},
		{"not yet valid at the POE", [][]byte{good}, responder.Cert.NotBefore.Add(-time.Minute), ades.ErrNoRevocation},
		{"expired at the POE", [][]byte{good}, responder.Cert.NotAfter.Add(time.Minute), ades.ErrNoRevocation},
	} {
		data := &Data{OCSP: append(test.own, response)}
		if err := data.Status(signer, root.Cert, Times{SigningTime: used, ValidationTime: used, POE: test.poe}); !errors.Is(err, test.want) {
			t.Errorf("%s: got %v, want %v", test.name, err, test.want)
		}
	}
}

// TestResponderWithSHA1 checks that the response of a responder whose certificate is signed with SHA-1 does not count,
// and that this is the error.
func TestResponderWithSHA1(t *testing.T) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	testenv.NoError(t, err)
	root := certtest.NewForKey(t, "Root", key, nil, certtest.Authority)
	signer := newSigner(t, "A", root).Cert
	by := func(a x509.SignatureAlgorithm) []byte {
		return respond(t, newResponder(t, "R", root, extended(oidNoCheck), func(c *x509.Certificate) { c.SignatureAlgorithm = a }), signer, root.Cert)
	}
	weak, strong := by(x509.SHA1WithRSA), by(x509.SHA256WithRSA)
	at := Times{SigningTime: time.Now().Add(-time.Minute), ValidationTime: time.Now()}
	if err := (&Data{OCSP: [][]byte{weak}}).Status(signer, root.Cert, at); !errors.Is(err, ades.ErrAlgorithm) || !errors.Is(err, ades.ErrNoRevocation) {
		t.Errorf("got %v, want ErrAlgorithm and ErrNoRevocation", err)
	}
	if err := (&Data{OCSP: [][]byte{weak, strong}}).Status(signer, root.Cert, at); err != nil {
		t.Errorf("beside a response of another responder: %v", err)
	}
}
