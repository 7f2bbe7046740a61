package validation

import (
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/ocsp"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
)

// What says that nobody need ask about a certificate says so of one role only.
func TestExemptByRole(t *testing.T) {
	t.Parallel()
	noRevAvail, shortTerm := pkix.Extension{Id: oidNoRevAvail, Value: []byte{5, 0}}, pkix.Extension{Id: oidShortTerm, Value: []byte{5, 0}}
	w := newWorld(t)
	for _, row := range []struct {
		role  string
		usage []x509.ExtKeyUsage
		want  map[string]bool
	}{
		{"signer", nil, map[string]bool{"noRevAvail": true, "short-term": true}},
		{"responder", []x509.ExtKeyUsage{x509.ExtKeyUsageOCSPSigning}, map[string]bool{"nocheck": true}},
		{"timestamp authority", []x509.ExtKeyUsage{x509.ExtKeyUsageTimeStamping}, nil},
		{"both", []x509.ExtKeyUsage{x509.ExtKeyUsageTimeStamping, x509.ExtKeyUsageOCSPSigning}, nil},
	} {
		for name, extension := range map[string]pkix.Extension{"noRevAvail": noRevAvail, "short-term": shortTerm, "nocheck": noCheck} {
			c := w.issue("A", w.root, x509.Certificate{ExtKeyUsage: row.usage, ExtraExtensions: []pkix.Extension{extension}}).cert
			if got := isExempt(c); got != row.want[name] {
				t.Errorf("%s with %s: %v", row.role, name, got)
			}
		}
	}
}

// RFC 5280 4.2.1.2 and 4.2.1.3, RFC 9608 4: what authorities between the ends of a chain have to have, and not to
// have.
func TestAuthorities(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	plain, extended := ofAuthority(), func(e pkix.Extension) x509.Certificate {
		c := ofAuthority()
		c.ExtraExtensions = []pkix.Extension{e}
		return c
	}
	for _, row := range []struct {
		name     string
		template x509.Certificate
		want     error
	}{
		{"as it should be", plain, nil},
		{"short-term", extended(pkix.Extension{Id: oidShortTerm, Value: []byte{5, 0}}), nil},
		{"without key usage", x509.Certificate{IsCA: true}, ades.ErrNoChain},
		{"for lists only", x509.Certificate{IsCA: true, KeyUsage: x509.KeyUsageCRLSign}, ades.ErrNoChain},
		{"nocheck", extended(noCheck), ades.ErrNoChain},
		{"noRevAvail", extended(pkix.Extension{Id: oidNoRevAvail, Value: []byte{5, 0}}), ades.ErrNoChain},
	} {
		ca := w.issue("CA", w.root, row.template)
		chain := []*x509.Certificate{w.signer("A", ca).cert, ca.cert, w.root.cert}
		if err := CheckAuthorities(chain); !errors.Is(err, row.want) {
			t.Errorf("%s: %v", row.name, err)
		}
		if err := CheckAuthorities(chain[1:]); err != nil {
			t.Errorf("%s, judged itself: %v", row.name, err)
		}
	}
	nameless := *w.authority("CA", w.root).cert
	nameless.SubjectKeyId = nil
	if err := CheckAuthorities([]*x509.Certificate{nil, &nameless, nil}); !errors.Is(err, ades.ErrNoChain) {
		t.Errorf("without the identifier of its key: %v", err)
	}
	if err := CheckSigner(w.issue("A", w.root, x509.Certificate{ExtraExtensions: []pkix.Extension{noCheck}}).cert); !errors.Is(err, ades.ErrNoChain) {
		t.Errorf("a signer with nocheck: %v", err)
	}
	if err := CheckSigner(w.signer("A", w.root).cert); err != nil {
		t.Error(err)
	}
}

// RFC 6960 4.2.2.2.1: a responder that is asked about speaks for its issuer while it is not revoked or on hold, and
// so does one in force alone where a time is known at which the proof existed.
func TestResponderThatIsAskedAbout(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	now := time.Now().Truncate(time.Second)
	signer, responder := w.signer("A", w.root).cert, w.responder("R", w.root)
	response := w.response(responder, signer, w.root.cert, time.Time{})
	used := now.Add(-time.Hour)
	at := Times{SigningTime: used, ValidationTime: used}
	known := func(t time.Time) Times { return Times{SigningTime: used, ValidationTime: used, POE: t} }
	// A list would be about the signer too. A reason below zero: good.
	told := func(at time.Time, reason int) []byte {
		return w.statusOf(responder.cert, func(s *ocsp.Single) {
			s.ThisUpdate, s.NextUpdate = at, at.Add(time.Hour)
			if reason >= 0 {
				s.Status, s.RevokedAt, s.Reason = ocsp.Revoked, at, reason
			}
		})
	}
	for _, row := range []struct {
		name string
		own  [][]byte
		at   Times
		want error
	}{
		{"good", [][]byte{told(now, -1)}, at, nil},
		{"nothing is known", nil, at, ades.ErrNoRevocation},
		{"on hold since the use of the key", [][]byte{told(now.Add(-time.Minute), CertificateHold)}, at, ades.ErrNoRevocation},
		{"on hold, and released", [][]byte{told(now.Add(-time.Minute), CertificateHold), told(now, -1)}, at, nil},
		{"good, and then on hold", [][]byte{told(now, -1), told(now.Add(time.Minute), CertificateHold)}, at, ades.ErrNoRevocation},
		{"revoked before it answered", [][]byte{told(now.Add(-time.Minute), 1)}, at, ades.ErrNoRevocation},
		{"revoked before it answered, which a newer answer forgets", [][]byte{told(now.Add(-time.Minute), 1), told(now, -1)}, at, ades.ErrNoRevocation},
		{"revoked after it answered", [][]byte{told(now.Add(time.Minute), 1)}, at, nil},
		{"revoked after it answered, and the answer is known since before", [][]byte{told(now.Add(20*time.Minute), 1)}, known(now.Add(time.Minute)), nil},
		{"revoked after it answered, and the answer is known since later", [][]byte{told(now.Add(20*time.Minute), 1)}, known(now.Add(30 * time.Minute)), ades.ErrNoRevocation},
		{"not valid yet when the answer is known", [][]byte{told(now, -1)}, known(responder.cert.NotBefore.Add(-time.Minute)), ades.ErrNoRevocation},
		{"expired when the answer is known", [][]byte{told(now, -1)}, known(responder.cert.NotAfter.Add(time.Minute)), ades.ErrNoRevocation},
	} {
		data := &Data{OCSP: append(row.own, response)}
		if err := data.Status(signer, w.root.cert, row.at); !errors.Is(err, row.want) {
			t.Errorf("%s: %v", row.name, err)
		}
	}
}

// A responder that is certified by SHA-1 is no reason to try later: nobody relies on what it says.
func TestResponderCertifiedWeakly(t *testing.T) {
	t.Parallel()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	now := time.Now()
	root := certtest.Issue(t, x509.Certificate{
		Subject: pkix.Name{CommonName: "Root"}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}, key, nil, nil)
	of := func(name string, a x509.SignatureAlgorithm) pair {
		k := certtest.NewKey(t, elliptic.P256())
		return pair{certtest.Issue(t, x509.Certificate{
			Subject: pkix.Name{CommonName: name}, SignatureAlgorithm: a, KeyUsage: x509.KeyUsageDigitalSignature,
			ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageOCSPSigning}, ExtraExtensions: []pkix.Extension{noCheck},
		}, k, root, key), k}
	}
	signer := certtest.Issue(t, x509.Certificate{Subject: pkix.Name{CommonName: "A"}}, certtest.NewKey(t, elliptic.P256()), root, key)
	good := func(*ocsp.Single) {}
	weak := w.responseBy(of("R", x509.SHA1WithRSA), signer, root, good)
	strong := w.responseBy(of("S", x509.SHA256WithRSA), signer, root, good)
	at := Times{SigningTime: now.Add(-time.Minute), ValidationTime: now}
	if err := (&Data{OCSP: [][]byte{weak}}).Status(signer, root, at); !errors.Is(err, ades.ErrAlgorithm) || !errors.Is(err, ades.ErrNoRevocation) {
		t.Errorf("weak: %v", err)
	}
	if err := (&Data{OCSP: [][]byte{weak, strong}}).Status(signer, root, at); err != nil {
		t.Errorf("beside a strong one: %v", err)
	}
}
