package validation

import (
	"crypto/x509"
	"errors"
	"testing"

	"github.com/innsigli/innsigli/ades"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
)

// TestCheckAuthorities checks what certificates of authorities must contain, and must not (RFC 5280 4.2.1.2 and 4.2.1.3,
// RFC 9608 4).
func TestCheckAuthorities(t *testing.T) {
	root := newAuthority(t, "Root", nil)
	for name, test := range map[string]struct {
		change change
		want   error
	}{
		"authority":      {func(*x509.Certificate) {}, nil},
		"short-term":     {extended(oidShortTerm), nil},
		"no key usage":   {usage(0), ades.ErrNoChain},
		"for lists only": {usage(x509.KeyUsageCRLSign), ades.ErrNoChain},
		"ocsp-nocheck":   {extended(oidNoCheck), ades.ErrNoChain},
		"noRevAvail":     {extended(oidNoRevAvail), ades.ErrNoChain},
	} {
		ca := newAuthority(t, "CA", root, test.change)
		chain := []*x509.Certificate{newSigner(t, "A", ca).Cert, ca.Cert, root.Cert}
		if err := checkAuthorities(chain); !errors.Is(err, test.want) {
			t.Errorf("%s: got %v, want %v", name, err, test.want)
		}
		if err := checkAuthorities(chain[1:]); err != nil {
			t.Errorf("%s, as the first certificate: %v", name, err)
		}
	}
	noKeyID := *newAuthority(t, "CA", root).Cert
	noKeyID.SubjectKeyId = nil
	if err := checkAuthorities([]*x509.Certificate{nil, &noKeyID, nil}); !errors.Is(err, ades.ErrNoChain) {
		t.Errorf("no key identifier: got %v, want ErrNoChain", err)
	}
}

// TestExemption checks which certificates need no revocation data: when they are validated, and for the level of a
// signature (RFC 6960 4.2.2.2.1, RFC 9608, EN 319 412-1 5.2).
func TestExemption(t *testing.T) {
	n := newNetwork(t)
	response := respond(t, n.root, newSigner(t, "Other", n.root).Cert, n.root.Cert)
	tsa, both := purposes(x509.ExtKeyUsageTimeStamping), purposes(x509.ExtKeyUsageTimeStamping, x509.ExtKeyUsageOCSPSigning)
	for _, test := range []struct {
		name            string
		changes         []change
		validate, level bool
	}{
		{"signer", nil, false, false},
		{"signer with noRevAvail", []change{extended(oidNoRevAvail)}, true, true},
		{"signer with short-term", []change{extended(oidShortTerm)}, true, true},
		{"signer with ocsp-nocheck", []change{extended(oidNoCheck)}, false, false},
		{"responder with noRevAvail", []change{certtest.Responder, extended(oidNoRevAvail)}, false, true},
		{"responder with short-term", []change{certtest.Responder, extended(oidShortTerm)}, false, true},
		{"responder with ocsp-nocheck", []change{certtest.Responder, extended(oidNoCheck)}, true, true},
		{"timestamp authority with noRevAvail", []change{tsa, extended(oidNoRevAvail)}, false, true},
		{"timestamp authority with short-term", []change{tsa, extended(oidShortTerm)}, false, true},
		{"timestamp authority and responder with ocsp-nocheck", []change{both, extended(oidNoCheck)}, false, false},
		{"authority with all of them", []change{certtest.Authority, extended(oidNoRevAvail), extended(oidShortTerm), extended(oidNoCheck)}, false, false},
	} {
		n.requests = nil
		target := Target{Certificate: certtest.New(t, "C", n.root, test.changes...).Cert}
		if _, err := n.collect(nil, target); (err == nil) != test.validate || (n.requests == nil) != test.validate {
			t.Errorf("%s: requests %q, %v; want exempt %t", test.name, n.requests, err, test.validate)
		}
		if missing := (&Data{OCSP: [][]byte{response}}).Missing(n.known(), target); (missing == nil) != test.level {
			t.Errorf("%s: missing for the level: %q; want exempt %t", test.name, missing, test.level)
		}
	}
	if err := refuseResponder(newSigner(t, "A", n.root, extended(oidNoCheck)).Cert); !errors.Is(err, ades.ErrNoChain) {
		t.Errorf("refuseResponder with ocsp-nocheck: got %v, want ErrNoChain", err)
	}
	if err := refuseResponder(newSigner(t, "A", n.root).Cert); err != nil {
		t.Errorf("refuseResponder: %v", err)
	}
}
