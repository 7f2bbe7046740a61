package validation

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
)

// TestMissing checks what data lacks for level LT, as validators determine it (EN 319 142-1 6.3).
func TestMissing(t *testing.T) {
	n := newNetwork(t)
	issuing, other := newAuthority(t, "Issuing", n.root), newAuthority(t, "Issuing", n.root) // two keys of one name
	a, b, self := newSigner(t, "A", issuing), newSigner(t, "B", issuing), newSigner(t, "Self-signed", nil)
	checked, exempt := newResponder(t, "R", issuing), newResponder(t, "S", issuing, extended(oidNoCheck))
	good := func(by, about *certtest.Pair) []byte { return respond(t, by, about.Cert, issuing.Cert) }
	changed := slices.Clone(good(issuing, a))
	changed[len(changed)-1] ^= 1 // a byte of the signature
	upper, lower := newList(t, n.root, time.Now()), newList(t, issuing, time.Now())
	revokedList := newList(t, issuing, time.Now(), entry(a.Cert, time.Now(), 0))
	of := func(p *certtest.Pair) []string { return []string{"no revocation data about " + ades.Identify(p.Cert)} }
	for _, test := range []struct {
		name    string
		ocsp    [][]byte
		crls    [][]byte
		targets []*certtest.Pair
		want    []string
	}{
		{"no data", nil, nil, []*certtest.Pair{a}, []string{"there is no revocation data"}},
		{"data about all", [][]byte{good(exempt, a)}, [][]byte{upper}, []*certtest.Pair{a}, nil},
		{"data about all of two signers", [][]byte{good(exempt, a), good(issuing, b)}, [][]byte{upper}, []*certtest.Pair{a, b, a}, nil},
		{"one list about both signers", nil, [][]byte{upper, lower}, []*certtest.Pair{a, b}, nil},
		{"a revoked signer", nil, [][]byte{upper, revokedList}, []*certtest.Pair{a}, nil},
		{"no data about the authority", [][]byte{good(exempt, a), good(issuing, b)}, nil, []*certtest.Pair{a, b}, of(issuing)},
		{"no data about one signer", [][]byte{good(exempt, a)}, [][]byte{upper}, []*certtest.Pair{a, b}, of(b)},
		{"no data about a responder", [][]byte{good(checked, a)}, [][]byte{upper}, []*certtest.Pair{a}, of(checked)},
		{"data about a responder", [][]byte{good(checked, a), good(exempt, checked)}, [][]byte{upper}, []*certtest.Pair{a}, nil},
		{"list of another key", nil, [][]byte{upper, newList(t, other, time.Now())}, []*certtest.Pair{a}, of(a)},
		{"response of another key", [][]byte{good(other, a)}, [][]byte{upper}, []*certtest.Pair{a}, of(a)},
		{"response with a wrong signature", [][]byte{changed}, [][]byte{upper}, []*certtest.Pair{a}, of(a)},
		{"malformed data", [][]byte{{}, []byte("no")}, [][]byte{upper, {}, []byte("no")}, []*certtest.Pair{a}, of(a)},
		{"self-signed target", nil, [][]byte{upper}, []*certtest.Pair{self}, nil},
		{"root as target", nil, [][]byte{upper}, []*certtest.Pair{n.root}, nil},
		{"target without certificate", nil, [][]byte{upper}, []*certtest.Pair{{}}, []string{"the certificate of a signer or timestamp authority is absent"}},
	} {
		data, known := &Data{OCSP: test.ocsp, CRLs: test.crls}, n.known(issuing.Cert, other.Cert)
		var targets []Target
		for _, p := range test.targets {
			targets = append(targets, Target{Certificate: p.Cert})
		}
		for range 2 { // the second result is from the cache
			if diff := cmp.Diff(test.want, data.Missing(known, targets...)); diff != "" {
				t.Errorf("%s: -want +got:\n%s", test.name, diff)
			}
		}
	}
}

// TestMissingIgnoresTime checks that data whose certificates have all expired, at different times, is complete.
func TestMissingIgnoresTime(t *testing.T) {
	years := func(n int) time.Time { return time.Now().AddDate(n, 0, 0) }
	root := newAuthority(t, "Root", nil, certtest.Valid(years(-20), years(-2)))
	issuing := newAuthority(t, "Issuing", root, certtest.Valid(years(-8), years(-3)))
	signer := newSigner(t, "A", issuing, certtest.Valid(years(-9), years(-4))).Cert
	data := &Data{CRLs: [][]byte{newList(t, root, years(-5)), newList(t, issuing, years(-5))}, Certificates: []*x509.Certificate{issuing.Cert}}
	known := NewKnown(t.Context(), ades.Sources{Roots: certtest.Pool(root.Cert)})
	if missing := data.Missing(known, Target{Certificate: signer}); missing != nil {
		t.Errorf("missing: %q", missing)
	}
	answers := data.About(signer, issuing.Cert)
	if len(answers) != 1 || answers[0].Revoked != nil || answers[0].ThisUpdate.After(years(-4)) || !answers[0].Signer.Equal(issuing.Cert) {
		t.Errorf("got %+v, want the list of the issuer", answers)
	}
}

// TestPresent checks that the parts of level LT are found whether or not a root is trusted (EN 319 132-1 6.3).
func TestPresent(t *testing.T) {
	s := newScene(t)
	without := func(name string) []*x509.Certificate {
		return slices.DeleteFunc(slices.Clone(s.data.Certificates), func(c *x509.Certificate) bool { return c.Subject.CommonName == name })
	}
	var aboutOthers [][]byte
	for _, response := range s.data.OCSP {
		serial := s.signer.SerialNumber.Bytes()
		aboutOthers = append(aboutOthers, bytes.Replace(response, serial, make([]byte, len(serial)), 1))
	}
	certificates, responses, lists := s.data.Certificates, s.data.OCSP, s.data.CRLs
	trusting, noRoots := NewKnown(t.Context(), ades.Sources{Roots: s.ca.Roots()}), NewKnown(t.Context(), ades.Sources{})
	ended, end := context.WithCancel(t.Context())
	end()
	for name, test := range map[string]struct {
		certificates []*x509.Certificate
		ocsp, crls   [][]byte
		known        *Known
		want         bool
	}{
		"complete":                            {certificates, responses, lists, trusting, true},
		"no trusted root":                     {certificates, responses, lists, noRoots, true},
		"no trusted root, root absent":        {without("Innsigli Sandbox Root"), responses, lists, noRoots, false},
		"no trusted root, issuer absent":      {without("Innsigli Sandbox Issuing"), responses, lists, noRoots, false},
		"no trusted root, list absent":        {certificates, responses, nil, noRoots, false},
		"no trusted root, responses absent":   {certificates, nil, lists, noRoots, false},
		"no trusted root, one response":       {certificates, responses[:1], lists, noRoots, false},
		"no trusted root, responses of other": {certificates, aboutOthers, lists, noRoots, false},
		"no revocation data":                  {certificates, nil, nil, trusting, false},
		"context ended":                       {certificates, responses, lists, NewKnown(ended, ades.Sources{}), false},
	} {
		data := (&Data{Certificates: test.certificates, OCSP: test.ocsp, CRLs: test.crls}).ShareLimit(test.known)
		if got := data.Present(test.known, s.targets...); got != test.want {
			t.Errorf("%s: got %t, want %t", name, got, test.want)
		}
	}
	if s.data.Present(trusting, Target{}) {
		t.Error("the data of a target without certificate is present")
	}
}

// TestMerge checks that the merged data has no duplicates.
func TestMerge(t *testing.T) {
	one, other := newAuthority(t, "One", nil).Cert, newAuthority(t, "Other", nil).Cert
	first := &Data{Certificates: []*x509.Certificate{one}, OCSP: [][]byte{[]byte("1"), []byte("2"), []byte("1")}}
	second := &Data{Certificates: []*x509.Certificate{other, one}, OCSP: [][]byte{[]byte("3"), []byte("2")}, CRLs: [][]byte{[]byte("4")}}
	got := Merge(nil, first, second, first)
	if diff := cmp.Diff([]string{"One", "Other"}, names(got)); diff != "" {
		t.Errorf("certificates, -want +got:\n%s", diff)
	}
	if diff := cmp.Diff([][]byte{[]byte("1"), []byte("2"), []byte("3")}, got.OCSP); diff != "" {
		t.Errorf("responses, -want +got:\n%s", diff)
	}
	if diff := cmp.Diff([][]byte{[]byte("4")}, got.CRLs); diff != "" {
		t.Errorf("lists, -want +got:\n%s", diff)
	}
	if empty := Merge(); empty.Certificates != nil || empty.OCSP != nil || empty.CRLs != nil {
		t.Errorf("nothing merged: got %+v", empty)
	}
}

// TestWorkLimit checks that the work for the data of a document, which anyone may have made, is limited.
func TestWorkLimit(t *testing.T) {
	n, now := newNetwork(t), time.Now()
	signer := newSigner(t, "A", n.root).Cert
	known := n.known()
	data := new(Data).ShareLimit(known)
	for i := range 100 { // each response differs
		data.OCSP = append(data.OCSP, respond(t, n.root, signer, n.root.Cert, revoked(now.Add(time.Duration(i)*time.Second), 1)))
	}
	if data.About(newSigner(t, "B", n.root).Cert, n.root.Cert) != nil || known.work.remaining < maxWork-answerWork*8 {
		t.Errorf("got %d of %d left after a question about another certificate", known.work.remaining, maxWork)
	}
	// enough for 50 signatures; comparing certificates takes less than half of one
	known.work.remaining = 50*(signatureWork+int64(len(data.OCSP[0]))) + signatureWork/2
	if answers := len(data.About(signer, n.root.Cert)); answers != 50 {
		t.Errorf("got %d answers, want 50", answers)
	}
	if _, err := data.Chain(known, signer, time.Now()); !errors.Is(err, ades.ErrNoChain) {
		t.Errorf("chain after the limit: got %v, want ErrNoChain", err)
	}
}

// FuzzData checks that without an answer about a certificate its revocation data is missing, and that answers are
// complete.
func FuzzData(f *testing.F) {
	n, now := newNetwork(f), time.Now()
	root := n.root.Cert
	signer := newSigner(f, "A", n.root).Cert
	f.Add(root.Raw, signer.Raw, respond(f, n.root, signer, root), newList(f, n.root, now))
	f.Add(root.Raw, signer.Raw, respond(f, newResponder(f, "R", n.root), signer, root, revoked(now, 1)), newList(f, n.root, now, entry(signer, now, 0)))
	f.Add(root.Raw, root.Raw, []byte{}, []byte{0x30, 0x80})
	f.Fuzz(func(t *testing.T, authority, end, response, list []byte) {
		issuer, err := x509.ParseCertificate(authority)
		if err != nil {
			return
		}
		cert, err := x509.ParseCertificate(end)
		if err != nil {
			return
		}
		data := &Data{OCSP: [][]byte{response}, CRLs: [][]byte{list}}
		known := NewKnown(t.Context(), ades.Sources{Roots: certtest.Pool(issuer)}, issuer, cert)
		missing := data.Missing(known, Target{Certificate: cert})
		answers := data.About(cert, issuer)
		if len(answers) == 0 && len(missing) == 0 && !isExempt(cert) && !isSelfSigned(cert) && !cert.Equal(issuer) { // issuer is a root
			t.Error("no answer, and nothing is missing")
		}
		for _, a := range answers {
			if a.Signer == nil || (a.RevocationData.OCSP == nil) == (a.RevocationData.CRL == nil) {
				t.Errorf("got %+v", a)
			}
		}
	})
}
