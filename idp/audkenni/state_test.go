package audkenni

import (
	"crypto"
	"crypto/elliptic"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/json"
	"math/big"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/idp/ciba"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
)

// FuzzState: whatever a store gives back, there is an answer, and no panic.
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
			t.Error("signed, and nobody was there")
		}
	})
}

// seeds are conversations of each phase.
func seeds(t testing.TB) (all []*conversation) {
	t.Helper()
	cert := someone(t, certtest.NewKey(t, elliptic.P256()))
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

// someone is the certificate of the person of these tests.
func someone(t testing.TB, key crypto.Signer) *x509.Certificate {
	t.Helper()
	return certtest.Issue(t, x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{SerialNumber: "0101302989", CommonName: "Jóna Prófdóttir"},
	}, key, nil, nil)
}

// A store may keep the public part as it is.
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

// States of others, and of versions to come, are refused.
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
		{"nobody's", func(s *idp.State) { *s = idp.State{} }, false},
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
