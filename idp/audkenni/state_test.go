package audkenni

import (
	"crypto"
	"crypto/elliptic"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/ciba"
	"github.com/innsigli/innsigli/idp/idptest"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
)

// FuzzState checks that a State of any content has either an event or an error.
func FuzzState(f *testing.F) {
	for _, c := range seeds(f) {
		s, err := c.state()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(s.Public, s.Secret)
	}
	f.Add([]byte(`{"person":{"method":"IdpSim"},"phase":"signing"}`), []byte(`{"auth_req_id":"x","tokens":{}}`))
	p := unreachable(f, Options{Ping: true})
	f.Fuzz(func(t *testing.T, public, secret []byte) {
		s := idp.State{Provider: providerName, Version: stateVersion, Key: "k", Public: public, Secret: secret, Expires: time.Now().Add(time.Minute)}
		digest := p.Traits(idp.App).Algorithm.Digest(nil)
		for _, digests := range [][]ades.Digest{nil, {{}}, {digest}, {p.Traits(idp.SIM).Algorithm.Digest(nil)}} {
			if _, event, err := p.Sign(t.Context(), s, digests); (event == nil) == (err == nil) {
				t.Errorf("Sign: %v and %v", event, err)
			}
		}
		state, event, err := p.Poll(t.Context(), s)
		if (event == nil) == (err == nil) {
			t.Errorf("Poll: %v and %v", event, err)
		}
		if need, ok := event.(idp.NeedDigest); ok && need.Certificate == nil {
			if c, err := resume(state); err != nil || !c.CMS {
				t.Errorf("a digest for no certificate: %v", err)
			}
		}
		if _, signed := event.(idp.Signed); signed {
			t.Error("signed without a person")
		}
	})
}

// seeds returns conversations in each phase.
func seeds(t testing.TB) (all []*conversation) {
	t.Helper()
	cert := testCertificate(t, certtest.NewKey(t, elliptic.P256()))
	for _, m := range []idp.Method{idp.App, idp.SIM} {
		for _, phase := range []phase{choosing, learning, ready, signing} {
			c := &conversation{key: "k", expires: time.Now().Add(time.Minute)}
			c.public = public{
				Person: idp.Person{Method: m, Kennitala: "0101302989", Phone: "6990001"}, Document: "leiga.pdf",
				Phase: phase, Interval: 5 * time.Second, Code: "0042", Certificate: cert.Raw, Digest: make([]byte, 32),
			}
			c.secret = secret{AuthReqID: "request", Tokens: &ciba.Tokens{Access: "a", ID: "b"}, Notification: "aw.secret"}
			all = append(all, c)
		}
	}
	return all
}

// testCertificate returns a certificate of the person of these tests.
func testCertificate(t testing.TB, key crypto.Signer) *x509.Certificate {
	t.Helper()
	return certtest.Issue(t, x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{SerialNumber: "0101302989", CommonName: "Jóna Prófdóttir"},
	}, key, nil, nil)
}

// TestTokensAreSecret checks that the public part of a State contains no token.
func TestTokensAreSecret(t *testing.T) {
	for _, c := range seeds(t) {
		s, err := c.state()
		if err != nil {
			t.Fatal(err)
		}
		var all map[string]any
		if err := json.Unmarshal(s.Public, &all); err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"auth_req_id", "tokens", "notification"} {
			if all[name] != nil {
				t.Errorf("%s is public in %s", name, c.Phase)
			}
		}
	}
}

// TestForeignStates checks that States of other providers and of later versions are refused.
func TestForeignStates(t *testing.T) {
	p := unreachable(t, Options{})
	good, err := seeds(t)[2].state() // of the app, ready
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name   string
		change func(*idp.State)
		ok     bool
	}{
		{"ours", func(*idp.State) {}, true},
		{"another provider's", func(s *idp.State) { s.Provider = "sandbox" }, false},
		{"another provider's", func(s *idp.State) { *s = idp.State{} }, false},
		{"of version 0", func(s *idp.State) { s.Version = 0 }, false},
		{"of version 2", func(s *idp.State) { s.Version = 2 }, false},
		{"without its secret", func(s *idp.State) { s.Secret = nil }, false},
		{"without its public part", func(s *idp.State) { s.Public = nil }, false},
		{"of no method", func(s *idp.State) { s.Public = []byte(`{"phase":"ready"}`) }, false},
		{"of no phase", func(s *idp.State) { s.Public = []byte(`{"person":{"method":"IdpApp"},"phase":"begun"}`) }, false},
		{"ready for no certificate", func(s *idp.State) { s.Public = []byte(`{"person":{"method":"IdpApp"},"phase":"ready"}`) }, false},
		{"waiting for nothing", func(s *idp.State) {
			s.Public, s.Secret = []byte(`{"person":{"method":"IdpApp"},"phase":"signing"}`), []byte(`{}`)
		}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := good
			test.change(&s)
			if _, event, err := p.Poll(t.Context(), s); (err == nil) != test.ok {
				t.Errorf("%v, %v", event, err)
			}
		})
	}
}

// TestGoldenStates checks that States of version 1 in each phase are read without loss. TestConformance checks that
// their conversations continue.
func TestGoldenStates(t *testing.T) {
	for folder, isCMS := range map[string]bool{"testdata/state-1": false, "testdata/state-1-cms": true} {
		for _, old := range idptest.Golden(t, folder, func() []idptest.Stored { return phases(t, isCMS) }) {
			t.Run(folder+"/"+old.Name, func(t *testing.T) {
				c, err := resume(old.State)
				if err != nil {
					t.Fatal(err)
				}
				again, err := c.state()
				if err != nil {
					t.Fatal(err)
				}
				idptest.SameState(t, old.State, again)
			})
		}
	}
}

// phases returns conversations in each phase, with an answer and without, of a person whose certificate does not
// expire.
func phases(t *testing.T, isCMS bool) (all []idptest.Stored) {
	t.Helper()
	certificate := certtest.Issue(t, x509.Certificate{
		Subject:   pkix.Name{SerialNumber: "PNOIS-0101302989", CommonName: "Jóna Prófdóttir"},
		NotBefore: time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC),
	}, openidtest.RSAKey(), nil, nil)
	p := unreachable(t, Options{SIM: SIMOptions{CMS: isCMS}})
	moments := []struct {
		method idp.Method
		phase  phase
	}{{idp.App, choosing}, {idp.App, ready}, {idp.App, signing}, {idp.SIM, learning}, {idp.SIM, ready}, {idp.SIM, signing}}
	if isCMS {
		moments = moments[4:]
	}
	for _, at := range moments {
		c := &conversation{key: "conversation", expires: time.Date(2026, 1, 1, 0, 10, 0, 0, time.UTC)}
		c.public = public{
			Person: idp.Person{Account: "account", Method: at.method, Kennitala: "0101302989", Phone: "+354 555 0101"}, Document: "Samningur um leigu.pdf",
			Phase: at.phase, CMS: isCMS, Interval: 5 * time.Second,
		}
		c.secret = secret{AuthReqID: "1c266114-a1be-4252-8ad1-04986c5b9ac1", Notification: "Y29udmVyc2F0aW9u.random"}
		s := idptest.Stored{Name: strings.ToLower(string(at.method) + "-" + string(at.phase)), Person: c.Person}
		if !isCMS && (at.phase == ready || at.phase == signing) {
			c.Certificate, s.Certificate = certificate.Raw, certificate.Raw
		}
		if at.phase == signing {
			digest := p.Traits(at.method).Algorithm.Digest([]byte("Samningur um leigu"))
			c.Digest, s.Signs = digest.Sum, []ades.Digest{digest}
			c.Code = VerificationCode(digest.Sum)
		}
		if at.method == idp.SIM {
			c.Code, c.Renewals = "0042", 1
		} else if at.phase != choosing {
			c.Device = "DEVICE-1"
		}
		s.Code = c.Code
		all = append(all, keep(t, s, c))
		if at.phase != ready {
			s.Name += "-answered"
			c.Tokens = &ciba.Tokens{Access: "access", ID: "header.claims.signature", Received: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
			all = append(all, keep(t, s, c))
		}
	}
	return all
}

func keep(t *testing.T, s idptest.Stored, c *conversation) idptest.Stored {
	t.Helper()
	var err error
	if s.State, err = c.state(); err != nil {
		t.Fatal(err)
	}
	return s
}
